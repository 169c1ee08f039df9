"""Solvers in a process of their own, which can be ended whatever they are doing.

HiGHS and SCIP ask only now and then whether to stop, and not at all while they presolve a large model or solve the
linear program at the root of a tree: minutes. Their process can be ended at any moment, and it tells what it has found
as it goes.
"""

from __future__ import annotations

import json
import os
import queue
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from importlib.util import find_spec
from typing import IO, Any

import numpy as np

from dlsched.halt import held, until
from dlsched.lazy import sp
from dlsched.solvers.matrix import Floats, Matrix
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

_MAIN = "import json, sys; sys.path[:] = json.loads(sys.argv[1]); from dlsched.solvers.apart import serve; serve()"
_SIDES = ("c", "row_lower", "row_upper", "lower", "upper", "integer")

Message = tuple[dict[str, Any], dict[str, Any]]
"""Plain data and arrays, by name."""

Box = queue.SimpleQueue[Message | None]
"""Messages in order; None is the last."""


def is_long(matrix: Matrix, solver: str) -> bool:
    """Tell whether a solver may go on for long with a matrix before it asks whether to stop."""
    if not sys.executable:
        return False
    if solver == "scip":
        return find_spec("pyscipopt") is not None
    return bool(matrix.A.nnz >= (INTEGRAL if matrix.integer.any() else LINEAR))


def solve_apart(
    matrix: Matrix, solver: str, settings: dict[str, Any], stop: Callable[[], bool], time_limit: float | None
) -> RawSolution:
    """Solve a matrix in another process, which is ended soon after it is to stop; what it has told by then is kept.

    Parameters
    ----------
    matrix : Matrix
    solver : str
    settings : dict
        As `dlsched.solvers.solve.solve_here` takes them.
    stop : callable
    time_limit : float or None
        Seconds.
    """
    end = float("inf") if time_limit is None else time.perf_counter() + time_limit
    settings = settings | {"solver": solver, "time_limit": time_limit}
    process: Process = held(Process)
    try:
        process.start()
    except OSError:  # there may be no more processes
        return solve_here(matrix, **settings)
    return process.solve(matrix, settings, lambda: stop() or time.perf_counter() > end)


class Process:
    """A process that solves one matrix after the other; started for the first, and again after it was ended."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._inbox: Box = queue.SimpleQueue()
        self._outbox: Box = queue.SimpleQueue()

    def solve(self, matrix: Matrix, settings: dict[str, Any], stop: Callable[[], bool]) -> RawSolution:
        """Solve a matrix."""
        start = time.perf_counter()
        try:
            known = self._answer(matrix, settings, stop)
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
        return RawSolution(Solution(status, None, data.get("bound"), None, seconds, 0, settings["solver"], ""), x)

    def _answer(self, matrix: Matrix, settings: dict[str, Any], stop: Callable[[], bool]) -> Message:
        """Return the answer; where it did not come, what was told."""
        told: Message = {}, {}
        A = matrix.A
        arrays = {name: getattr(matrix, name) for name in _SIDES} | {"a": A.data, "i": A.indices, "p": A.indptr}
        self._outbox.put((settings | {"sense": matrix.sense, "offset": matrix.offset}, arrays))
        asked = None
        while True:
            try:
                message = self._inbox.get(timeout=_OFTEN)
            except queue.Empty:
                if asked is None and stop():
                    asked = time.perf_counter()
                    self._outbox.put(({"stop": True}, {}))
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

    def start(self) -> None:
        """Start the process where it does not run; Ctrl-C is not for it: it ends with its input."""
        if self._process is not None:
            return
        process = subprocess.Popen(
            [sys.executable, "-c", _MAIN, json.dumps(list(map(str, sys.path)))],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,
        )
        self._process, self._inbox, self._outbox = process, queue.SimpleQueue(), queue.SimpleQueue()
        threading.Thread(target=collect, args=(process.stdout, self._inbox), daemon=True).start()
        threading.Thread(target=_deliver, args=(process.stdin, self._outbox), daemon=True).start()

    def close(self) -> None:
        """End the process."""
        process, self._process = self._process, None
        if process is not None:
            self._outbox.put(None)
            process.kill()
            process.wait()
            for stream in (process.stdin, process.stdout):
                if stream is not None:
                    _close(stream)


def _close(stream: Any) -> None:
    try:
        stream.close()
    except OSError:
        return


def _deliver(stream: IO[bytes], outbox: Box) -> None:
    """Write messages, up to None: a process that has just started reads nothing yet, and pipes are short."""
    try:
        while (message := outbox.get()) is not None:
            _write(stream, *message)
    except (OSError, ValueError):
        return


def collect(stream: IO[bytes], inbox: Box) -> None:
    """Put messages into the inbox, and None behind the last."""
    try:
        while (message := _read(stream)) is not None:
            inbox.put(message)
    except (OSError, ValueError):
        pass
    inbox.put(None)


def _write(stream: IO[bytes], data: dict[str, Any], arrays: dict[str, Any]) -> None:
    solid = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
    shapes = [[name, array.dtype.str, array.size] for name, array in solid.items()]
    stream.write(json.dumps([data, shapes]).encode() + b"\n")
    for array in solid.values():
        stream.write(array.tobytes())
    stream.flush()


def _read(stream: IO[bytes]) -> Message | None:
    """Return the next message, None where there is no more."""
    line = stream.readline()
    if not line.endswith(b"\n"):
        return None
    data, shapes = json.loads(line)
    arrays = {}
    for name, kind, size in shapes:
        dtype = np.dtype(kind)
        content = stream.read(size * dtype.itemsize)
        if len(content) < size * dtype.itemsize:
            return None
        arrays[name] = np.frombuffer(content, dtype=dtype)
    return data, arrays


def serve() -> None:
    """Solve what comes on standard input, until it ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # Solvers' own messages must not come between ours.
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    jobs: queue.SimpleQueue[Message] = queue.SimpleQueue()
    stop = threading.Event()
    threading.Thread(target=_listen, args=(jobs, stop), daemon=True).start()
    while True:
        data, arrays = jobs.get()
        try:
            with until(stop.is_set):
                found = _solved(data, arrays, answers)
        except Exception as error:
            _write(answers, {"error": f"{type(error).__name__}: {error}"}, {})
            continue
        summary = {name: getattr(found.summary, name) for name in Solution.__slots__}
        duals = {"x": found.x, "row_duals": found.row_duals, "reduced_costs": found.reduced_costs}
        _write(answers, {"summary": summary}, {name: array for name, array in duals.items() if array is not None})


def _listen(jobs: queue.SimpleQueue[Message], stop: threading.Event) -> None:
    while (message := _read(sys.stdin.buffer)) is not None:
        if "stop" in message[0]:
            stop.set()
        else:
            stop.clear()
            jobs.put(message)
    os._exit(0)


def _solved(data: dict[str, Any], arrays: dict[str, Any], answers: IO[bytes]) -> RawSolution:
    sides = {name: arrays[name] for name in _SIDES}
    shape = len(sides["row_lower"]), len(sides["c"])
    matrix = Matrix(
        offset=data.pop("offset"),
        sense=data.pop("sense"),
        A=sp.csr_array((arrays["a"], arrays["i"], arrays["p"]), shape=shape),
        **sides,
    )
    return solve_here(matrix, tell=_News(answers, matrix.sense).tell, **data)


class _News:
    """What a solver has found so far, told as it gets better."""

    def __init__(self, answers: IO[bytes], sense: int) -> None:
        self._answers, self._sense = answers, sense
        self._bound = -np.inf

    def tell(self, bound: float, x: Floats | None) -> None:
        """Tell a bound and a point, where they are better than the last ones."""
        better = np.isfinite(bound) and self._sense * bound > self._bound
        if better:
            self._bound = self._sense * bound
        if better or x is not None:
            _write(self._answers, {"bound": float(bound)} if better else {}, {} if x is None else {"x": x})
