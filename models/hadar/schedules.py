"""All feasible schedules of one job (the set S_j of P2), for small instances."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from dlsched.arguments import at_least, checked
from dlsched.models.hadar.instance import Instance, Job
from dlsched.models.hadar.schedule import Allocation, bottleneck
from dlsched.models.numbers import to_integers

MAX_SCHEDULES = 20_000
"""Of one job; ways to place it in a slot. Arbitrary: each is a column of a model, and their number grows
exponentially."""

_STEPS = 20
"""Steps of the search for each schedule that may be found. Arbitrary: one that finds fewer in as many does not end
soon."""


@dataclass(frozen=True, slots=True)
class Column:
    """One schedule s of one job j.

    Attributes
    ----------
    job : str
    completion : int
        f_js, its last slot.
    utility : Fraction
        U_j(f_js - a_j).
    slots : tuple of (int, Allocation)
        w_jh^rs(t), by ascending slot.
    """

    job: str
    completion: int
    utility: Fraction
    slots: tuple[tuple[int, Allocation], ...]

    def usage(self) -> dict[tuple[str, str, int], int]:
        """Return devices by (machine, type, slot)."""
        return {
            (h, r, t): n
            for t, allocation in self.slots
            for h, devices in allocation.items()
            for r, n in devices.items()
        }


def gangs(instance: Instance, job: Job, *, limit: int = MAX_SCHEDULES) -> list[Allocation]:
    """Return every way to put the job's gang W_j on the cluster's devices on which it makes progress.

    Raises
    ------
    ValueError
        If there are more than `limit`.
    """
    places = [(h.name, r, h.count(r)) for h in instance.machines for r in instance.device_types if job.rate_on(r)]
    partial: list[tuple[int, Allocation]] = [(job.gang, {})]
    for i, (h, r, count) in enumerate(places):
        after = sum(n for _, _, n in places[i + 1 :])
        partial = [
            (left - n, {**chosen, h: {**chosen.get(h, {}), r: n}} if n else chosen)
            for left, chosen in partial
            for n in range(max(0, left - after), min(left, count) + 1)
        ]
        if len(partial) > limit:
            raise ValueError(f"job {job.name} has more than {limit} gangs: too many to enumerate")
    return [chosen for left, chosen in partial if left == 0]


@checked
def enumerate_schedules(
    instance: Instance, job: Job, *, minimal: bool = True, limit: int = MAX_SCHEDULES
) -> list[Column]:
    """Return the schedules that do all iterations of a job (1a) with a gang or nothing in each slot (1e).

    Parameters
    ----------
    instance : Instance
    job : Job
    minimal : bool
        Leave out schedules in which a slot can be dropped: another schedule then uses fewer devices and finishes no
        later, so neither the optimum nor the LP bound of P2 changes.
    limit : int
        About the most schedules of one job: the search stops after twenty times as many steps.

    Raises
    ------
    ValueError
        If there are too many to enumerate.
    """
    at_least(1, limit=limit)
    found = gangs(instance, job, limit=limit)
    done = [bottleneck(job, allocation) * job.gang * instance.slot_seconds for allocation in found]
    (iterations, *works), _ = to_integers([job.iterations, *done])
    columns = []
    for slots in _searched(instance, job, list(zip(found, works, strict=True)), iterations, limit):
        if not minimal or _is_minimal(iterations, slots):
            completion = slots[-1][0]
            columns.append(
                Column(
                    job=job.name,
                    completion=completion,
                    utility=job.utility.exact(completion - job.arrival),
                    slots=tuple((t, allocation) for t, allocation, _ in slots),
                )
            )
    return columns


_Partial = tuple[tuple[int, Allocation, int], ...]


def _searched(
    instance: Instance, job: Job, options: list[tuple[Allocation, int]], iterations: int, limit: int
) -> Iterator[_Partial]:
    """Yield the ways to do all the work, in scaled integers, each ending in the slot that completes it.

    Slots used after the work is done are never needed: dropping them finishes earlier. Partial schedules that cannot
    do their work by the last slot are dropped.
    """
    fastest = max((work for _, work in options), default=0)
    stack: list[tuple[int, int, _Partial]] = [(job.arrival, iterations, ())]
    steps = 0
    while stack:
        t, left, partial = stack.pop()
        if left <= 0:
            yield partial
        elif left <= fastest * (instance.slots - t + 1):
            steps += 1 + len(options)
            if steps > _STEPS * limit:
                raise ValueError(f"job {job.name} has too many schedules to enumerate (over {_STEPS * limit} steps)")
            stack.append((t + 1, left, partial))
            stack.extend((t + 1, left - work, (*partial, (t, allocation, work))) for allocation, work in options)


def _is_minimal(iterations: int, slots: _Partial) -> bool:
    return sum(work for _, _, work in slots) - min(work for _, _, work in slots) < iterations
