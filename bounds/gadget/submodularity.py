"""F on sets of allocations: how far it is from submodular, and how the sizes of maximal schedules differ."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from dlsched.bounds.gadget.horizon import Counts, Horizon
from dlsched.models.ddljs import Instance

Allocation = tuple[int, Counts]


@dataclass(frozen=True, slots=True)
class Curvature:
    """The greatest excess of a gain at a larger set over that at a smaller one, and where it is."""

    excess: Fraction
    smaller: tuple[Allocation, ...] = ()
    added: tuple[Allocation, ...] = ()
    allocation: Allocation | None = None

    def dump(self) -> dict[str, Any]:
        """Return plain JSON data: (slot, workers of each job) of the allocations."""
        return {
            "A": [[slot, list(counts)] for slot, counts in self.smaller],
            "B without A": [[slot, list(counts)] for slot, counts in self.added],
            "v": None if self.allocation is None else [self.allocation[0], list(self.allocation[1])],
        }


def total(elements: Iterable[Allocation], jobs: int) -> Counts:
    """Return the worker-slots of each job that some allocations give together."""
    together = [0] * jobs
    for _, counts in elements:
        together = [a + b for a, b in zip(together, counts, strict=True)]
    return tuple(together)


def curvature(ground: Sequence[Allocation], horizon: Horizon) -> Curvature:
    """Return the greatest excess over A, B = A + w and v; F is submodular exactly if it is at most 0."""
    jobs, value = len(horizon.instance.jobs), horizon.value
    worst: Curvature | None = None
    for size in range(len(ground) - 1):
        for smaller in itertools.combinations(ground, size):
            base = total(smaller, jobs)
            for v, w in itertools.combinations([e for e in ground if e not in smaller], 2):
                one, other, both = (total([(0, base), *more], jobs) for more in ([v], [w], [v, w]))
                excess = value(both) - value(other) - value(one) + value(base)
                if worst is None or excess > worst.excess:
                    worst = Curvature(excess, smaller, (w,), v)
    return worst or Curvature(Fraction(0))


def uneven(ground: Sequence[Allocation], instance: Instance, *, budgets: bool) -> Fraction:
    """Return p: the greatest ratio of the sizes of two maximal schedules within the same set of allocations.

    B is maximal in the union of A and B if it holds an allocation of a slot, or has no room by (3), for whatever is in
    A; p is the greatest |A|/|B| over such pairs.

    Parameters
    ----------
    ground : sequence of allocations
    instance : Instance
    budgets : bool
        Whether (3) is a constraint of schedules.
    """
    jobs = len(instance.jobs)
    most = [job.budget_slots if budgets else None for job in instance.jobs]

    def affordable(elements: Sequence[Allocation]) -> bool:
        return all(limit is None or n <= limit for n, limit in zip(total(elements, jobs), most, strict=True))

    by_slot = [list(group) for _, group in itertools.groupby(sorted(ground), key=lambda e: e[0])]
    choices = itertools.product(*([None, *elements] for elements in by_slot))
    schedules = [tuple(e for e in choice if e is not None) for choice in choices]
    schedules = [s for s in schedules if affordable(s)]
    p = Fraction(1)
    for small in schedules:
        taken = {slot for slot, _ in small}
        left_out = {e for group in by_slot for e in group if e[0] in taken or not affordable([*small, e])}
        for large in schedules:
            if len(large) > len(small) * p and left_out.issuperset(large):
                p = Fraction(len(large), len(small))
    return p
