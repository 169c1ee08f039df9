"""The certified optimum of one slot's embedding problem (12)-(19), with floors and all simple paths.

Three steps, each of which may settle it. Embeddings of the ring sizes that an exact knapsack over amounts alone chooses
are optimal where they have its value (no solver). Else a program that leaves out how rings run through the network's
core gives a bound and servers; where a way through the core is found for them, they are optimal. Else the whole program
decides. What a solver says is confirmed by a second route.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial

from dlsched.algorithms.exact.anytime import Anytime
from dlsched.algorithms.exact.certify import Finding, certify, default_routes
from dlsched.algorithms.exact.ddljs.count_bound import count_bound, first_embeddings
from dlsched.algorithms.exact.ddljs.network import Network
from dlsched.algorithms.exact.ddljs.slot_program import SlotProgram, slot_program
from dlsched.algorithms.exact.result import unit_of
from dlsched.algorithms.rings import Occupancy, Substrate, embedded, join
from dlsched.arguments import at_least, checked
from dlsched.halt import grace, left, over, poll
from dlsched.models.ddljs.requests import RingProblem, RingRequest
from dlsched.models.ddljs.rings import Arc, Embedding, broken_ring
from dlsched.solvers.matrix import Floats
from dlsched.solvers.solution import ResidualError, Status
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
        Value and bound agree within `dlsched.tolerances.TOLERANCE`; where a solver gave the bound, a second route
        says so too.
    evidence : tuple of str
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
    evidence: tuple[str, ...]
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
    at_least(0, time_limit=time_limit)
    at_least(1, node_limit=node_limit)
    search = SlotSearch(problem, node_limit)
    found = search.known.run(search.steps, time_limit=time_limit, stop=stop)
    scale = float(search.unit)
    embeddings = found.schedule or {}
    value = float(checked_value(problem, embeddings))
    return SlotOptimum(
        value=value,
        bound=value if found.bound is None else max(value, found.bound * scale),
        embeddings=embeddings,
        proved=found.proved,
        evidence=found.times(scale).evidence,
        seconds_found=found.seconds_found,
        seconds_proved=found.seconds_proved,
    )


def _most(problem: RingProblem) -> float:
    """Return what all requests are worth at their best."""
    return float(sum(max(0, max(request.profit.values(), default=0)) for request in problem.requests))


def _profit(problem: RingProblem, embeddings: dict[str, Embedding]) -> Fraction | None:
    """Return what embeddings are worth, None where they do not fit."""
    return checked_value(problem, embeddings) if fits(problem, embeddings) else None


class SlotSearch:
    """The steps of `embed`, one by one.

    Parameters
    ----------
    problem : RingProblem
    node_limit : int, optional
        As for `embed`.

    Attributes
    ----------
    problem : RingProblem
        In units of `unit`.
    unit : Fraction
        Of profit.
    known : Anytime
        What is known of that problem.
    """

    def __init__(self, problem: RingProblem, node_limit: int | None = None) -> None:
        profits = (abs(profit) for request in problem.requests for profit in request.profit.values())
        self.unit = unit_of(max(profits, default=Fraction(0)))
        requests = tuple(
            replace(request, profit={k: profit / self.unit for k, profit in request.profit.items()})
            for request in problem.requests
        )
        self.problem, self.node_limit = replace(problem, requests=requests), node_limit
        self.known = Anytime[dict[str, Embedding]](
            partial(_profit, self.problem), lambda embeddings: (), upper=_most(self.problem)
        )
        self._decided: tuple[SlotProgram, str] | None = None

    @property
    def bound(self) -> Fraction:
        """The least upper bound known on the profit."""
        return Fraction(self.known.upper) * self.unit

    def steps(self) -> bool:
        """Take both steps; tell whether value and bound are proved to agree."""
        self.first()
        return self.confirmed()

    def first(self) -> None:
        """Find embeddings and a bound by one route."""
        with grace():
            self.known.take({})
            bound = count_bound(self.problem)
            self.known.bound(float(bound.value), "exact knapsack over ring sizes")
            self.known.take(first_embeddings(self.problem, bound))
        if self.known.closed():
            self.known.note("exact knapsack over ring sizes: the embeddings reach its bound")
            return
        if mostly_outside_core(self.problem):
            self._solve(slot_program(self.problem, core=False), "without the core")
            if self.known.closed():
                return
        self._solve(slot_program(self.problem), "whole network")

    def _solve(self, program: SlotProgram, name: str) -> None:
        poll()
        self._decided = program, name
        try:
            raw = solve_matrix(program.matrix, threads=1, seed=0, cutoff=self._cutoff, nodes=self.node_limit)
        except ResidualError as error:
            self.known.note(f"HiGHS, {name}: {error}")
            return
        bound = self._cutoff if raw.summary.status is Status.INFEASIBLE else raw.summary.bound
        if bound is not None:
            self.known.bound(bound, f"HiGHS {raw.summary.version}, {name}")
            self.known.note(f"HiGHS {raw.summary.version}, {name}: nothing better than ", bound)
        if raw.x is not None:
            self._take(program, raw.x)

    @property
    def _cutoff(self) -> float:
        """What embeddings that are better are worth at least."""
        return self.known.value + 0.5 * TOLERANCE * max(1.0, abs(self.known.value))

    def _take(self, program: SlotProgram, x: Floats) -> None:
        embeddings = embeddings_at(self.problem, program, x)
        if embeddings is not None:
            self.known.take(embeddings)

    def confirmed(self) -> bool:
        """Confirm by a second route that nothing is above the value, where a solver gave the bound."""
        if self._decided is None:
            return self.known.closed()
        program, name = self._decided
        self.known.found()
        if not self.known.closed() or over():
            return False
        shown, routes = Finding(f"HiGHS, {name}", self.known.upper, None), default_routes()[1:]
        limit = left(1 / len(routes))
        certificate = certify(program.matrix, [shown, *routes], value=self.known.value, time_limit=limit)
        self.known.evidence += certificate.evidence[1:]
        if certificate.point is not None:
            self._take(program, certificate.point)
        return certificate.proved and self.known.closed()


def mostly_outside_core(problem: RingProblem) -> bool:
    """Tell whether most servers hang off the core, so that a program without the core is worth its time."""
    network = Network.of(problem.nodes, problem.arcs)
    plain = all(request.allowed is None for request in problem.requests)
    inside = set(network.core).intersection(problem.servers)
    return plain and len(network.core) > 1 and 2 * len(inside) <= len(problem.servers)


def embeddings_at(problem: RingProblem, program: SlotProgram, x: Floats) -> dict[str, Embedding] | None:
    """Return embeddings that fit with the workers of a point; None where no rings were found for them.

    The point may be of a program without the core: then rings are sought one by one, those with the most bandwidth
    first.
    """
    for found in (_routed(problem, program.workers(x)), program.try_read(x)):
        if found is not None and fits(problem, found):
            return found
    return None


def _routed(problem: RingProblem, workers: Mapping[str, Mapping[str, int]]) -> dict[str, Embedding] | None:
    if any(problem.request(name).allowed is not None for name in workers):
        return None
    substrate = Substrate.of(problem)
    occupancy = Occupancy(substrate)
    found: dict[str, Embedding] = {}
    for name in sorted(workers, key=lambda name: -problem.request(name).bandwidth):
        counts = {substrate.number[u]: n for u, n in workers[name].items()}
        ring = join(occupancy, substrate.needs[name], [*counts])
        if ring is None:
            return None
        found[name] = embedded(occupancy, counts, ring)
        occupancy.take(substrate.needs[name], found[name])
    return found


def checked_value(problem: RingProblem, embeddings: Mapping[str, Embedding]) -> Fraction:
    """Return the profit of embeddings (12).

    Raises
    ------
    ValueError
        If they break (13)-(19), or a ring has a size that is not offered; the message says where.
    """
    value = Fraction(0)
    for name, embedding in embeddings.items():
        request = problem.request(name)
        if embedding.size not in request.profit:
            raise ValueError(f"request {name}: a ring of {embedding.size} is not offered")
        value += request.profit[embedding.size]
        _check_ring(problem, request, embedding)
    _check_nodes(problem, embeddings)
    _check_links(problem, embeddings)
    return value


def fits(problem: RingProblem, embeddings: Mapping[str, Embedding]) -> bool:
    """Tell whether embeddings pass `checked_value`."""
    try:
        checked_value(problem, embeddings)
    except ValueError:
        return False
    return True


def _check_ring(problem: RingProblem, request: RingRequest, embedding: Embedding) -> None:
    place = f"request {request.name}"
    servers = set(problem.servers)
    if any(n < 1 or u not in servers for u, n in embedding.workers.items()):
        raise ValueError(f"{place}: workers {embedding.workers} where no worker can be")
    fault = broken_ring(embedding, request.allowed)
    if fault:
        raise ValueError(f"{place}: {fault}")


def _check_nodes(problem: RingProblem, embeddings: Mapping[str, Embedding]) -> None:
    used: dict[tuple[str, str], Fraction] = {}
    for name, embedding in embeddings.items():
        for u, n in embedding.workers.items():
            for r, need in problem.request(name).demand.items():
                used[u, r] = used.get((u, r), Fraction(0)) + n * need
    for (u, r), amount in used.items():
        if amount > problem.nodes[u].get(r, 0):
            raise ValueError(f"node {u}, resource {r}: {amount} exceeds {problem.nodes[u].get(r, 0)}")


def _check_links(problem: RingProblem, embeddings: Mapping[str, Embedding]) -> None:
    used: dict[Arc, Fraction] = {}
    for name, embedding in embeddings.items():
        for arc, times in embedding.loads().items():
            if arc not in problem.capacity:
                raise ValueError(f"request {name}: there is no link {' -> '.join(arc)}")
            used[arc] = used.get(arc, Fraction(0)) + times * problem.request(name).bandwidth
    for arcs, limit in problem.shares:
        amount = sum((used.get(arc, Fraction(0)) for arc in arcs), Fraction(0))
        if amount > limit:
            raise ValueError(f"link {' -> '.join(arcs[0])}: {amount} exceeds {limit}")
