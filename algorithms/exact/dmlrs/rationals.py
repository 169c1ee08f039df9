"""DMLRS over the rationals: `dmlrs/schedules`, R-DMLRS (8)-(9), over the schedules that no other one dominates.

A program over whole schedules has few columns on small clusters and a strong bound: on the instances that claims are
checked on, at most 300 columns, and 1 to 13 nodes on average, where `dmlrs/compact-milp` takes 14 to 940.

No other schedule is needed. A *placement* is what a job has in a slot, by (2) and (4), in the thesis (3.2), (3.4) and
(3.5); `dlsched.models.dmlrs.schedules.placements` lists those on the empty cluster. Work beyond V counts as V.

1. A placement that uses no more of any resource of any machine and does no less work takes the other's place in any
   schedule: capacities hold, the job is done with the same slots or fewer. Of placements that are alike in both the
   first stays; so each one has a place-taker among those kept, of which no two use the same.
2. Where a schedule of kept placements still does all the work with one of them left out, or with a smaller one in its
   place, that schedule uses no more, ends no later, and is worth no less, as u_i never increases. Step by step (each
   makes a slot's use smaller) that ends, with one in which no step is possible: those are listed. They end in the slot
   in which the work is done, as a slot after it could be left out.
3. A schedule that is worth nothing takes room in vain.

So every plan has one of listed schedules that is worth no less. Conversely a choice by (8) and (9) is a plan.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from operator import le

from dlsched.algorithms.exact.certificates.program import ExactProgram, ProgramBuilder, TooLargeError
from dlsched.algorithms.pd_ors.prices import last_earning
from dlsched.halt import poll, polled
from dlsched.models.dmlrs.instance import Instance
from dlsched.models.dmlrs.job import AsyncJob, Job
from dlsched.models.dmlrs.schedules import Column, Counts, placements
from dlsched.models.numbers import to_integers

MAX_PLACEMENTS = 500
"""Of a job in a slot, that are listed before dominated ones go. Arbitrary: sixteen times those of claims' instances,
and found to be too many in a fraction of a second."""

MAX_STEPS = 50_000
"""Of the search for the schedules of one job. Arbitrary: it takes a fraction of a second."""


def program(instance: Instance) -> ExactProgram:
    """Return `dmlrs/schedules` over the schedules that no other one dominates: its optimum is that of the instance.

    Source: PD-ORS, (8)-(9); PD-ORS thesis, (3.8)-(3.9).

    Raises
    ------
    TooLargeError
        If there are too many placements or schedules to list.
    """
    builder = ProgramBuilder("dmlrs/schedules")
    used: dict[tuple[str, str, int], list[tuple[int, Fraction]]] = {}
    for job in instance.jobs:
        own = []
        for k, schedule in enumerate(undominated(instance, job)):
            own.append(builder.binary(f"chosen[{job.name},{k}]", cost=schedule.utility))
            for place, amount in schedule.usage(instance).items():
                used.setdefault(place, []).append((own[-1], amount))
        if own:
            builder.row(f"once[{job.name}]", [(column, 1) for column in own], upper=1)
    for (h, r, t), terms in used.items():
        builder.row(f"capacity[{h},{r},{t}]", terms, upper=instance.machine(h).capacity_of(r))
    return builder.program()


@dataclass(frozen=True, slots=True)
class _Choice:
    """A placement.

    Attributes
    ----------
    counts : dict
    use : tuple of Fraction
        By machine and resource.
    done : int
        Work, in the unit of the job.
    spare : int
        The least work that is lost where it is left out, or a smaller one takes its place.
    """

    counts: Counts
    use: tuple[Fraction, ...]
    done: int
    spare: int


def undominated(instance: Instance, job: Job | AsyncJob) -> list[Column]:
    """Return the schedules of a job that are worth something and that no other one dominates; the module says why.

    Raises
    ------
    TooLargeError
        If there are too many to list.
    """
    choices, work = _choices(instance, job)
    found = []
    for slots in _searched(job, choices, work, job.arrival + last_earning(instance, job)):
        completion = slots[-1][0]
        worth = job.utility.exact(completion - job.arrival)
        if worth > 0:
            placed = tuple((t, choice.counts) for t, choice in slots)
            found.append(Column(job=job.name, completion=completion, utility=worth, slots=placed))
    return found


def _choices(instance: Instance, job: Job | AsyncJob) -> tuple[list[_Choice], int]:
    """Return the placements that no other one dominates, and all the work, in one unit."""
    try:
        listed = placements(instance, job, limit=MAX_PLACEMENTS)
    except ValueError as error:
        raise TooLargeError(str(error)) from None
    (work, *done), _ = to_integers([job.work, *(job.progress(counts) for counts in listed)])
    best: dict[tuple[Fraction, ...], tuple[int, Counts]] = {}
    for counts, amount in zip(listed, done, strict=True):
        uses = {h: job.uses(*pair) for h, pair in counts.items()}
        use = tuple(uses.get(h.name, {}).get(r, Fraction(0)) for h in instance.machines for r in instance.resources)
        if use not in best or best[use][0] < min(amount, work):
            best[use] = min(amount, work), counts
    kept: list[_Choice] = []
    # A smaller one, or one that does more of the same use, comes first.
    for use, (amount, counts) in polled(sorted(best.items(), key=lambda item: sum(item[0]))):
        smaller = [other for other in kept if all(map(le, other.use, use))]
        if all(other.done < amount for other in smaller):
            kept.append(_Choice(counts, use, amount, min([amount, *(amount - other.done for other in smaller)])))
    return kept, work


def _searched(
    job: Job | AsyncJob, choices: list[_Choice], work: int, last: int
) -> Iterator[tuple[tuple[int, _Choice], ...]]:
    """Yield the ways to do all the work up to the last slot of which no slot can be left out or made smaller."""
    fastest = max((choice.done for choice in choices), default=0)
    stack: list[tuple[int, int, int, tuple[tuple[int, _Choice], ...]]] = [(job.arrival, work, work, ())]
    steps = 0
    while stack:
        poll()
        t, left, spare, slots = stack.pop()
        if left <= 0 and -left < spare:
            yield slots
        elif 0 < left <= fastest * (last - t + 1):
            steps += 1 + len(choices)
            if steps > MAX_STEPS:
                raise TooLargeError(f"job {job.name} has too many schedules to list (over {MAX_STEPS} steps)")
            stack.append((t + 1, left, spare, slots))
            stack += [(t + 1, left - c.done, min(spare, c.spare), (*slots, (t, c))) for c in choices]
