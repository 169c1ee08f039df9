"""From the linear programs of a slot to what each job may be rounded to.

``colocated`` solves the program over classes of servers, which is exact for the plain and the augmented linear program
where any worker may be on any server with room for it; ``augmented`` solves them in full and decomposes, and is for
jobs whose workers have places of their own. With (5) it also heeds bandwidth.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from dlsched import relaxations
from dlsched.algorithms.gadget.classes import server_classes, spread, weights
from dlsched.algorithms.gadget.events import Selection
from dlsched.models.ddljs import RingMapping, RingProblem, RingRequest
from dlsched.models.document import InputError
from dlsched.models.numbers import rational
from dlsched.rounding.decomposition import WeightedMapping, at_most_one, decompose
from dlsched.rounding.placement_mix import placement_mix
from dlsched.tolerances import ZERO

MOST_COLUMNS = 2_000_000
"""The largest augmented program that is solved, in columns: four times that of 50 servers and 20 jobs. Arbitrary."""


class Relaxation(StrEnum):
    """Which linear program is solved."""

    AUTO = "auto"
    """``colocated`` where it can be, else ``augmented``."""

    COLOCATED = "colocated"
    AUGMENTED = "augmented"


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
    classes = server_classes(problem)
    found, value = weights(problem, classes, cap=True)
    placed = spread(problem, classes, found, cap=True)
    names = {name for name, _ in placed}
    some = problem.keeping(request for request in problem.requests if request.name in names)
    return Fractional(value, placement_mix(some, placed).mappings)


def selected(problem: RingProblem, relaxation: Relaxation) -> Fractional:
    """Return a solution as printed: a ring size for each job by the plain program, then the augmented one, decomposed.

    (5) is not enforced, so that a ring may be mapped to a server that holds fewer workers; colocated, all rings are
    mapped to one server, as some optimum of the augmented program always does.

    Source: GADGET, Algorithm 2, steps 3-6, with kappa_i = argmax pi_ik chi_ik (the print writes max); of equals the
    smallest.
    """
    if not _colocated(problem, relaxation):
        _refuse_large(problem)
        plain = relaxations.plain_vne(problem).solve()
        sizes = relaxations.select_rings(problem, {key: chi for key, chi in plain.weights.items() if chi > ZERO})
        fractional = _decomposed(_only(problem, sizes), cap=False)
        return Fractional(fractional.value, fractional.mappings, Selection(plain.value, sizes))
    classes = server_classes(problem)
    found, value = weights(problem, classes, cap=False)
    sizes = relaxations.select_rings(problem, {key: math.fsum(x.values()) for key, x in found.items()})
    rest = _only(problem, sizes)
    kept, reduced = weights(rest, classes, cap=False)
    return Fractional(reduced, _together(spread(rest, classes, kept, cap=False)), Selection(value, sizes))


def _colocated(problem: RingProblem, relaxation: Relaxation) -> bool:
    placed = next((request.name for request in problem.requests if request.allowed is not None), None)
    if relaxation is Relaxation.COLOCATED and placed is not None:
        raise InputError(f"job {placed}: a job with placement needs the augmented relaxation")
    return relaxation is not Relaxation.AUGMENTED and placed is None


def _only(problem: RingProblem, sizes: Mapping[str, int]) -> RingProblem:
    return problem.keeping(request.only(sizes[request.name]) for request in problem.requests if request.name in sizes)


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
    """Return, for each share of a ring on a server, all of the ring there; each name has one ring size."""
    mappings = {}
    for (name, k), parts in placed.items():
        shares = at_most_one([rational(part / k) for part in parts.values()])
        mappings[name] = tuple(
            WeightedMapping(share, k, RingMapping((node,) * k, ((node,),) * (k if k > 1 else 0)))
            for node, share in zip(parts, shares, strict=True)
        )
    return mappings
