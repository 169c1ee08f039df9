"""The certified optimum of one slot's embedding problem (12)-(19), with floors and all simple paths.

Three steps, each of which may settle it. Embeddings found quickly are optimal where they reach a bound from amounts
alone (exact, without a solver). Else a program that leaves out how rings run through the network's core gives a bound
and servers; where a way through the core is found for them, they are optimal. Else the whole program decides. What a
solver says is confirmed by a second route.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction

from dlsched.algorithms.exact.bracket import Bracket
from dlsched.algorithms.exact.certify import Finding, Route, certify, default_routes
from dlsched.algorithms.exact.ddljs.checked import checked_value, fits
from dlsched.algorithms.exact.ddljs.count_bound import count_bound
from dlsched.algorithms.exact.ddljs.greedy import greedy_embeddings, rounded_embeddings
from dlsched.algorithms.exact.ddljs.routing import embeddings_at, mostly_outside_core
from dlsched.algorithms.exact.ddljs.slot_program import SlotProgram, slot_program
from dlsched.algorithms.exact.result import Note
from dlsched.algorithms.exact.units import unit_of
from dlsched.arguments import at_least, checked
from dlsched.halt import Halt, grace, over, poll, until
from dlsched.models.ddljs.requests import RingProblem
from dlsched.models.ddljs.rings import Embedding
from dlsched.solvers.failure import ResidualError
from dlsched.solvers.solution import Status
from dlsched.solvers.solve import solve_matrix
from dlsched.tolerances import TOLERANCE


@dataclass(frozen=True, slots=True)
class SlotOptimum:
    """The optimum of a slot's embedding problem, or what is known of it.

    Attributes
    ----------
    value : float
        The profit of `embeddings`, checked in exact rationals.
    bound : float
        The least upper bound known.
    embeddings : dict of str to Embedding
        Of the requests that get one.
    proved : bool
        Value and bound agree within `dlsched.models.numbers.TOLERANCE`; where a solver gave the bound, a second route
        says so too.
    evidence : tuple of Note
        The routes.
    seconds_found : float
        Until the value was found and first proved (or time was up).
    seconds_proved : float
        Spent on the second route after that.
    """

    value: float
    bound: float
    embeddings: dict[str, Embedding]
    proved: bool
    evidence: tuple[Note, ...]
    seconds_found: float
    seconds_proved: float


@checked
def embed(
    problem: RingProblem,
    *,
    time_limit: float | None = None,
    node_limit: int | None = None,
    stop: Callable[[], bool] | None = None,
) -> SlotOptimum:
    """Return the certified optimum of a slot's embedding problem, or what is known when a limit is reached.

    Parameters
    ----------
    problem : RingProblem
        Profits may have any sign and shape; a request may have fixed places for its ring nodes (`allowed`).
    time_limit : float, optional
        Seconds in all.
    node_limit : int, optional
        Branch-and-bound nodes of each first solve; with it and without `time_limit`, the same on any machine.
    stop : callable, optional
        Asked often; where it tells True, the method ends as if time were up.
    """
    profits = (abs(profit) for request in problem.requests for profit in request.profit.values())
    at_least(0, time_limit=time_limit)
    at_least(1, node_limit=node_limit)
    unit = unit_of(max(profits, default=Fraction(0)))
    requests = tuple(
        replace(request, profit={k: profit / unit for k, profit in request.profit.items()})
        for request in problem.requests
    )
    start = time.perf_counter()
    deadline = start + (float("inf") if time_limit is None else time_limit)
    with until(stop, deadline):
        found = _Embed(replace(problem, requests=requests), start, deadline, node_limit).run()
    scale = float(unit)
    value = float(checked_value(problem, found.embeddings))
    evidence = tuple(note.times(scale) for note in found.evidence)
    return replace(found, value=value, bound=max(value, found.bound * scale), evidence=evidence)


class _Embed:
    def __init__(self, problem: RingProblem, start: float, deadline: float, node_limit: int | None) -> None:
        self.problem, self.start, self.deadline, self.node_limit = problem, start, deadline, node_limit
        self.best: dict[str, Embedding] = {}
        most = sum(max(0, max(request.profit.values(), default=0)) for request in problem.requests)
        self.known = Bracket(float(checked_value(problem, self.best)), float(most))
        self.evidence: list[Note] = []

    def run(self) -> SlotOptimum:
        """Take the steps until value and bound agree, or the work is over."""
        try:
            return self._steps()
        except Halt:
            return self._conclude(False, time.perf_counter() - self.start)

    def _steps(self) -> SlotOptimum:
        with grace():
            self._take(greedy_embeddings(self.problem))
            self.known.bound(float(count_bound(self.problem)), "exact knapsack over ring sizes")
        if not self.known.closed():
            # Without these, which only save time, the programs decide all the same.
            with suppress(ArithmeticError, RuntimeError, ValueError):
                self._take(rounded_embeddings(self.problem))
        if self.known.closed():
            self.evidence.append(Note("exact knapsack over ring sizes: the embeddings reach its bound"))
            return self._conclude(True, time.perf_counter() - self.start)
        if mostly_outside_core(self.problem):
            program = slot_program(self.problem, core=False)
            self._solve(program, "without the core")
            if self.known.closed():
                return self._certified(program, "without the core")
        program = slot_program(self.problem)
        self._solve(program, "whole network")
        return self._certified(program, "whole network")

    def _solve(self, program: SlotProgram, name: str) -> None:
        poll()
        try:
            raw = solve_matrix(
                program.matrix,
                time_limit=self._left(),
                threads=1,
                seed=0,
                cutoff=self._cutoff,
                nodes=self.node_limit,
            )
        except ResidualError as error:
            self.evidence.append(Note(f"HiGHS, {name}: {error}"))
            return
        bound = self._cutoff if raw.summary.status is Status.INFEASIBLE else raw.summary.bound
        if bound is not None:
            self.known.bound(bound, f"HiGHS {raw.summary.version}, {name}")
            self.evidence.append(Note(f"HiGHS {raw.summary.version}, {name}: nothing better than ", bound))
        if raw.x is not None:
            self._take(embeddings_at(self.problem, program, raw.x))

    @property
    def _cutoff(self) -> float:
        """What embeddings that are better are worth at least."""
        return self.known.value + 0.5 * TOLERANCE * max(1.0, abs(self.known.value))

    def _take(self, embeddings: dict[str, Embedding] | None) -> None:
        if embeddings is None or not fits(self.problem, embeddings):
            return
        if self.known.raise_to(float(checked_value(self.problem, embeddings))):
            self.best = embeddings

    def _certified(self, program: SlotProgram, name: str) -> SlotOptimum:
        """Confirm by a second route that nothing is above the value."""
        found = time.perf_counter() - self.start
        if not self.known.closed() or over():
            return self._conclude(False, found)
        first = self.known.upper

        def before(*_: object) -> Finding:
            return Finding(f"HiGHS, {name}", first, None)

        left = self._left()
        certificate = certify(
            program.matrix,
            [before, *_second_routes()],
            value=self.known.value,
            time_limit=None if left is None else left / len(_second_routes()),
        )
        self.evidence += certificate.evidence[1:]
        if certificate.point is not None:
            self._take(embeddings_at(self.problem, program, certificate.point))
        return self._conclude(certificate.proved, found)

    def _conclude(self, proved: bool, found: float) -> SlotOptimum:
        seconds = time.perf_counter() - self.start - found
        proved = proved and self.known.closed()
        evidence = (*self.evidence, *self.known.refuted)
        return SlotOptimum(self.known.value, self.known.upper, self.best, proved, evidence, found, seconds)

    def _left(self) -> float | None:
        return None if self.deadline == float("inf") else max(0.0, self.deadline - time.perf_counter())


def _second_routes() -> tuple[Route, ...]:
    return default_routes()[1:]
