"""The worker counts that one slot allows, and the offline optimum by dynamic programming over cumulative counts.

All in whole numbers and rationals, without a solver; for small instances. A ring stays a ring, and loads no link more,
when workers leave it, so the counts of a slot can be lowered. Hence only the largest counts of each slot matter, and a
job that has been given z worker-slots can be taken to use the best number up to z: no assumption on utilities.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction

from dlsched.algorithms.exact.ddljs.horizon import values
from dlsched.algorithms.exact.ddljs.options import Enumeration, TooLargeError, Usage, minimal
from dlsched.models.ddljs.instance import Instance
from dlsched.models.ddljs.requests import RingProblem, unpriced_problem

Counts = tuple[int, ...]


def count_vectors(problem: RingProblem, *, most: int = 5_000) -> frozenset[Counts]:
    """Return V[t]: the vectors of ring sizes, in the order of the requests, that can be embedded together.

    Parameters
    ----------
    problem : RingProblem
        Its profits do not matter; 0 is a size of every request.
    most : int
        The most embeddings of one request, and of all together, that are looked at.

    Raises
    ------
    TooLargeError
        If there are more.
    """
    enumeration = Enumeration(problem, most)
    states: dict[Counts, list[Usage]] = {(): [(0,) * len(enumeration.limits)]}
    for number in range(len(problem.requests)):
        options = enumeration.options(number)
        extended: dict[Counts, list[Usage]] = {}
        looked = 0
        for sizes, usages in states.items():
            extended[*sizes, 0] = usages
            for size, choices in options.items():
                pairs = len(usages) * len(choices)
                looked += pairs
                if pairs > most or looked > 10 * most:
                    raise TooLargeError(f"request {number + 1}: more than {most} pairs of embeddings")
                together = _together(usages, choices, enumeration.limits)
                if together:
                    extended[*sizes, size] = together
        states = extended
    return frozenset(states)


def _together(usages: list[Usage], choices: list[Usage], limits: Usage) -> list[Usage]:
    sums = (tuple(a + b for a, b in zip(usage, choice, strict=True)) for usage in usages for choice in choices)
    return minimal(total for total in sums if all(a <= limit for a, limit in zip(total, limits, strict=True)))


def maximal(vectors: Iterable[Counts]) -> list[Counts]:
    """Return the vectors that are not at most another one in every entry."""
    return [tuple(-n for n in vector) for vector in minimal(tuple(-n for n in vector) for vector in vectors)]


def best_value(instance: Instance, *, most: int = 5_000) -> Fraction | None:
    """Return the optimum of (2)-(9), corrected; None where no schedule has finite utility.

    Parameters
    ----------
    instance : Instance
    most : int
        The most embeddings, and states in a slot, that are looked at.

    Raises
    ------
    TooLargeError
        If there are more.
    """
    tops = [_running_best(values(instance, job)) for job in instance.jobs]
    ends = [max(best, default=0) for best in tops]
    known: dict[object, list[Counts]] = {}
    reached: list[Counts] = [(0,) * len(instance.jobs)]
    for slot in range(1, instance.slots + 1):
        problem = unpriced_problem(instance, slot)
        key = problem.shares, tuple(request.name for request in problem.requests)
        if key not in known:
            known[key] = _on_all_jobs(instance, problem, maximal(count_vectors(problem, most=most)))
        if len(reached) * len(known[key]) > most:
            raise TooLargeError(f"slot {slot}: more than {most} counts")
        reached = maximal(
            tuple(min(a + b, end) for a, b, end in zip(z, y, ends, strict=True)) for z in reached for y in known[key]
        )
    found = [total for z in reached if (total := _total(tops, z)) is not None]
    return max(found, default=None)


def _running_best(points: Mapping[int, Fraction]) -> dict[int, Fraction]:
    """Return the numbers of worker-slots that beat all smaller ones, with their utility."""
    best: dict[int, Fraction] = {}
    for n in sorted(points):
        if not best or points[n] > max(best.values()):
            best[n] = points[n]
    return best


def _on_all_jobs(instance: Instance, problem: RingProblem, vectors: list[Counts]) -> list[Counts]:
    names = [request.name for request in problem.requests]
    tables = [dict(zip(names, vector, strict=True)) for vector in vectors]
    return [tuple(table.get(job.name, 0) for job in instance.jobs) for table in tables]


def _total(tops: list[dict[int, Fraction]], counts: Counts) -> Fraction | None:
    total = Fraction(0)
    for best, n in zip(tops, counts, strict=True):
        within = [value for k, value in best.items() if k <= n]
        if not within:
            return None
        total += within[-1]
    return total
