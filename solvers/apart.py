"""Solvers in a process of their own, which can be ended whatever they are doing.

HiGHS and SCIP ask only now and then whether to stop, and not at all while they presolve a large model or solve the
linear program at the root of a tree: minutes. Their process can be ended at any moment, and it tells what it has found
as it goes.
"""

from __future__ import annotations

import queue
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import asdict
from importlib.util import find_spec
from typing import Any

import numpy as np

from dlsched.child import Arrays, Child, Message, Parent
from dlsched.halt import held, until
from dlsched.lazy import sp
from dlsched.solvers.matrix import Floats, Matrix
from dlsched.solvers.options import SolverOptions
from dlsched.solvers.solution import RawSolution, Solution, SolverError, Status
from dlsched.solvers.solve import solve_here

INTEGRAL = 5_000
"""Nonzeros of a mixed-integer program from which HiGHS was seen not to ask for a second on the programs of the
formulations. Below, it is not worth a process, which takes half a second to start."""

LINEAR = 300_000
"""The same for linear programs."""

_OFTEN = 0.05
"""Seconds between two questions whether to stop: nobody notices them, and they cost nothing."""

PATIENCE = 0.4
"""Seconds that a solver is given to end by itself, so that a stop takes less than one."""

_SIDES = ("c", "row_lower", "row_upper", "lower", "upper", "integer")


def is_long(matrix: Matrix, solver: str) -> bool:
    """Tell whether a solver may go on for long with a matrix before it asks whether to stop.

    With integers without bounds HiGHS 1.15.1 asks late whatever the size: .6 x - .4 y = .1 took 3 of 2 seconds.
    """
    if not sys.executable:
        return False
    if solver == "scip":
        return find_spec("pyscipopt") is not None
    integer = matrix.integer
    if (integer & ~(np.isfinite(matrix.lower) & np.isfinite(matrix.upper))).any():
        return True
    return bool(matrix.A.nnz >= (INTEGRAL if integer.any() else LINEAR))


def solve_apart(matrix: Matrix, asked: SolverOptions, stop: Callable[[], bool]) -> RawSolution:
    """Solve a matrix in another process, which is ended soon after it is to stop; what it has told by then is kept.

    Parameters
    ----------
    matrix : Matrix
    asked : SolverOptions
    stop : callable
    """
    end = float("inf") if asked.time_limit is None else time.perf_counter() + asked.time_limit
    process: Process = held(Process)
    try:
        process.start()
    except OSError:  # there may be no more processes
        return solve_here(matrix, asked)
    return process.solve(matrix, asked, lambda: stop() or time.perf_counter() > end)


class Process:
    """A process that solves one matrix after the other; started for the first, and again after it was ended."""

    def __init__(self) -> None:
        self._child = Child(__name__, "serve")

    def start(self) -> None:
        """Start the process where it does not run."""
        self._child.start()

    def close(self) -> None:
        """End the process."""
        self._child.close()

    def solve(self, matrix: Matrix, asked: SolverOptions, stop: Callable[[], bool]) -> RawSolution:
        """Solve a matrix."""
        start = time.perf_counter()
        try:
            known = self._answer(matrix, asked, stop)
        except BaseException:
            self.close()
            raise
        data, arrays = known
        x = arrays.get("x")
        if "summary" in data:
            summary = Solution(**data["summary"] | {"status": Status(data["summary"]["status"])})
            return RawSolution(summary, x, arrays.get("row_duals"), arrays.get("reduced_costs"))
        status = Status.NO_SOLUTION if x is None else Status.FEASIBLE
        seconds = time.perf_counter() - start
        return RawSolution(Solution(status, None, data.get("bound"), None, seconds, 0, asked.solver, ""), x)

    def _answer(self, matrix: Matrix, options: SolverOptions, stop: Callable[[], bool]) -> Message:
        """Return the answer; where it did not come, what was told."""
        told: Message = {}, {}
        A = matrix.A
        arrays = {name: getattr(matrix, name) for name in _SIDES} | {"a": A.data, "i": A.indices, "p": A.indptr}
        self._child.send(asdict(options) | {"sense": matrix.sense, "offset": matrix.offset}, arrays)
        asked = None
        while True:
            try:
                message = self._child.inbox.get(timeout=_OFTEN)
            except queue.Empty:
                if asked is None and stop():
                    asked = time.perf_counter()
                    self._child.send({"stop": True})
                if asked is not None and time.perf_counter() - asked > PATIENCE:
                    self.close()
                    return told
                continue
            if message is None:
                self.close()
                return told
            data, arrays = message
            if "error" in data:
                raise SolverError(data["error"])
            if "summary" in data:
                return message
            told = told[0] | data, told[1] | arrays


def serve() -> None:
    """Solve what comes from the process that has started this one, until it ends."""
    parent = Parent()
    jobs: queue.SimpleQueue[Message] = queue.SimpleQueue()
    stop = threading.Event()
    threading.Thread(target=_listen, args=(parent, jobs, stop), daemon=True).start()
    while True:
        data, arrays = jobs.get()
        try:
            with until(stop.is_set):
                found = _solved(data, arrays, parent)
        except Exception as error:
            parent.send({"error": f"{type(error).__name__}: {error}"})
            continue
        summary = {name: getattr(found.summary, name) for name in Solution.__slots__}
        duals = {"x": found.x, "row_duals": found.row_duals, "reduced_costs": found.reduced_costs}
        parent.send({"summary": summary}, {name: array for name, array in duals.items() if array is not None})


def _listen(parent: Parent, jobs: queue.SimpleQueue[Message], stop: threading.Event) -> None:
    for message in parent.messages():
        if "stop" in message[0]:
            stop.set()
        else:
            stop.clear()
            jobs.put(message)


def _solved(data: dict[str, Any], arrays: Arrays, parent: Parent) -> RawSolution:
    sides: dict[str, Any] = {name: arrays[name] for name in _SIDES}
    shape = len(sides["row_lower"]), len(sides["c"])
    matrix = Matrix(
        offset=data.pop("offset"),
        sense=data.pop("sense"),
        A=sp.csr_array((arrays["a"], arrays["i"], arrays["p"]), shape=shape),
        **sides,
    )
    return solve_here(matrix, SolverOptions(**data), _News(parent, matrix.sense).tell)


class _News:
    """What a solver has found so far, told as it gets better."""

    def __init__(self, parent: Parent, sense: int) -> None:
        self._parent, self._sense = parent, sense
        self._bound = -np.inf

    def tell(self, bound: float, x: Floats | None) -> None:
        """Tell a bound and a point, where they are better than the last ones."""
        better = np.isfinite(bound) and self._sense * bound > self._bound
        if better:
            self._bound = self._sense * bound
        if better or x is not None:
            self._parent.send({"bound": float(bound)} if better else {}, {} if x is None else {"x": x})
