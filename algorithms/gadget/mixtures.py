"""From the linear programs of a slot to what each job may be rounded to.

``colocated`` solves the program over classes of servers, which is exact for the plain and the augmented linear program
where any worker may be on any server with room for it; ``augmented`` solves them in full and decomposes, and is for
jobs whose workers have places of their own. With (5) it also heeds bandwidth.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from functools import partial

from dlsched import relaxations
from dlsched.algorithms.gadget.classes import evenly, server_classes, spread, weights
from dlsched.algorithms.gadget.events import Selection
from dlsched.errors import InputError
from dlsched.models.ddljs import RingMapping, RingProblem, RingRequest
from dlsched.models.ddljs.rings import Arc
from dlsched.models.numbers import exceeds, rational
from dlsched.rounding.decomposition import WeightedMapping, at_most_one, decompose
from dlsched.rounding.placement_mix import PlacementMix, placement_mix
from dlsched.tolerances import ZERO

MOST_COLUMNS = 2_000_000
"""The largest augmented program that is solved, in columns: four times that of 50 servers and 20 jobs. Arbitrary."""

EASY_COLUMNS = 20_000
"""The largest augmented program that ``auto`` solves where the mix over classes overloads a link on average, in
columns: HiGHS takes about a second for it."""


class Relaxation(StrEnum):
    """Which linear program is solved."""

    AUTO = "auto"
    """``colocated`` where it can be, else ``augmented``."""

    COLOCATED = "colocated"
    AUGMENTED = "augmented"


class Vertex(StrEnum):
    """Which optimum of the linear programs is rounded, where the print does not say."""

    CAPPED = "capped"
    """(5), a constraint of (10), is a row: a server holds no more of a ring than fits there alone."""

    COLOCATED = "colocated"
    """Without (5), every ring on one server, which is an optimum always."""

    SPREAD = "spread"
    """Without (5), rings over as many servers as hold a part of them, where links carry that on average."""


@dataclass(frozen=True, slots=True)
class Fractional:
    """A fractional solution of a slot, decomposed.

    Attributes
    ----------
    value : float
        Of the linear program that was decomposed.
    mappings : dict of str to tuple of WeightedMapping
    selection : Selection or None
    """

    value: float
    mappings: dict[str, tuple[WeightedMapping, ...]]
    selection: Selection | None = None


def joint(problem: RingProblem, relaxation: Relaxation) -> Fractional:
    """Return a solution over sizes and mappings together, with constraint (5): no ring selection.

    Colocated, workers that no usable links join are left out of the mappings.
    """
    if not _colocated(problem, relaxation):
        return _decomposed(problem, cap=True)
    value, mix = _mix(problem, cap=True)
    return Fractional(value, mix.mappings)


def selected(
    problem: RingProblem, relaxation: Relaxation, vertex: Vertex = Vertex.CAPPED, *, itself: bool = False
) -> Fractional:
    """Return a ring size for each job by one program, and a solution of the augmented program of those, decomposed.

    Parameters
    ----------
    problem : RingProblem
    relaxation : Relaxation
    vertex : Vertex
        Jobs with a placement of their own take any optimum, with or without (5).
    itself : bool
        Sizes are selected by the augmented program itself, which Lemma 7 needs; else as printed, by the plain one.

    References
    ----------
    GADGET, Algorithm 2, steps 3-6, with kappa_i = argmax pi_ik chi_ik (the print writes max); of equals the
    smallest.
    """
    if itself:
        whole = rounded_optimum(problem, relaxation, vertex)
        chi: dict[tuple[str, int], float] = defaultdict(float)
        for name, several in whole.mappings.items():
            for one in several:
                chi[name, one.size] += float(one.weight)
        value = whole.value
    elif _colocated(problem, relaxation):
        found, value = weights(problem, server_classes(problem), cap=vertex is Vertex.CAPPED)
        chi = {key: math.fsum(x.values()) for key, x in found.items()}
    else:
        _refuse_large(problem)
        plain = relaxations.plain_vne(problem, cap=vertex is Vertex.CAPPED).solve()
        chi, value = {key: weight for key, weight in plain.weights.items() if weight > ZERO}, plain.value
    sizes = relaxations.select_rings(problem, chi)
    rest = problem.keeping(r.only(sizes[r.name]) for r in problem.requests if r.name in sizes)
    reduced = rounded_optimum(rest, relaxation, vertex)
    return Fractional(reduced.value, reduced.mappings, Selection(value, sizes))


def rounded_optimum(problem: RingProblem, relaxation: Relaxation, vertex: Vertex) -> Fractional:
    """Return an optimum of the augmented program over the requests' sizes and mappings, decomposed.

    The mix over classes is one where links carry it on average. Where they do not, ``auto`` solves the program itself,
    unless that is large; the spread vertex is none then, and rings are on one server.
    """
    if not _colocated(problem, relaxation):
        return _decomposed(problem, cap=vertex is Vertex.CAPPED)
    if vertex is not Vertex.COLOCATED:
        value, mix = _mix(problem, cap=vertex is Vertex.CAPPED)
        if carried(problem, mix) or (vertex is Vertex.CAPPED and not _easy(problem, relaxation)):
            return Fractional(value, mix.mappings)
        if vertex is Vertex.CAPPED:
            return _decomposed(problem, cap=True)
    classes = server_classes(problem)
    found, value = weights(problem, classes, cap=False)
    return Fractional(value, _together(spread(problem, classes, found, cap=False)))


def _colocated(problem: RingProblem, relaxation: Relaxation) -> bool:
    placed = next((request.name for request in problem.requests if request.allowed is not None), None)
    if relaxation is Relaxation.COLOCATED and placed is not None:
        raise InputError(f"job {placed}: a job with placement needs the augmented relaxation")
    return relaxation is not Relaxation.AUGMENTED and placed is None


def _easy(problem: RingProblem, relaxation: Relaxation) -> bool:
    return relaxation is Relaxation.AUTO and sum(map(partial(_columns, problem), problem.requests)) <= EASY_COLUMNS


def _mix(problem: RingProblem, *, cap: bool) -> tuple[float, PlacementMix]:
    """Return the value of the program over classes, and its placements; without (5), on all servers of a class."""
    classes = server_classes(problem)
    found, value = weights(problem, classes, cap=cap)
    placed = spread(problem, classes, found, cap=cap) if cap else evenly(classes, found)
    names = {name for name, _ in placed}
    return value, placement_mix(problem.keeping(r for r in problem.requests if r.name in names), placed)


def carried(problem: RingProblem, mix: PlacementMix) -> bool:
    """Tell whether links join all placements of a mix, and carry it on average."""
    if any(mix.unrouted.values()):
        return False
    load: dict[Arc, Fraction] = defaultdict(Fraction)
    for name, several in mix.mappings.items():
        bandwidth = problem.request(name).bandwidth
        for one in several:
            for arc, times in one.mapping.loads().items():
                load[arc] += one.weight * times * bandwidth
    used = ((arcs, limit) for arcs, limit in problem.shares if not load.keys().isdisjoint(arcs))
    return not any(
        exceeds(sum((load[arc] for arc in arcs if arc in load), Fraction(0)), limit, unit=0.0) for arcs, limit in used
    )


def _decomposed(problem: RingProblem, *, cap: bool) -> Fractional:
    """Solve the augmented program and decompose it."""
    _refuse_large(problem)
    program = relaxations.augmented_vne(problem, cap=cap)
    solution = program.solve()
    return Fractional(solution.value, decompose(program.recover(solution.point)))


def _refuse_large(problem: RingProblem) -> None:
    columns = sum(_columns(problem, request) for request in problem.requests)
    if columns > MOST_COLUMNS:
        raise InputError(
            f"the augmented program of a slot has {columns} columns, more than {MOST_COLUMNS}; "
            f"take away the placements, or take the exact embedding"
        )


def _columns(problem: RingProblem, request: RingRequest) -> int:
    """Return how many columns the augmented program has for a request; with placements, at most."""
    nodes, arcs = len(problem.hosts(request)), len(problem.usable(request))
    return sum(nodes * (1 + (k - 1) * nodes + (k * arcs if k > 1 else 0)) for k in request.sizes)


def _together(placed: Mapping[tuple[str, int], Mapping[str, float]]) -> dict[str, tuple[WeightedMapping, ...]]:
    """Return, for each share of a ring on a server, all of the ring there."""
    shares: dict[str, list[tuple[int, str, Fraction]]] = defaultdict(list)
    for (name, k), parts in placed.items():
        shares[name] += [(k, node, rational(part / k)) for node, part in parts.items()]
    return {
        name: tuple(
            WeightedMapping(weight, k, RingMapping((node,) * k, ((node,),) * (k if k > 1 else 0)))
            for (k, node, _), weight in zip(several, at_most_one([part for *_, part in several]), strict=True)
        )
        for name, several in shares.items()
    }
