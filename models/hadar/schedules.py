"""All feasible schedules of one job (the set S_j of P2), for small instances."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import product

from dlsched.models.hadar.instance import Instance, Job
from dlsched.models.hadar.schedule import Allocation, bottleneck

MAX_SCHEDULES = 200_000


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


def gangs(instance: Instance, job: Job) -> list[Allocation]:
    """Return every way to put the job's gang W_j on the cluster's devices on which it makes progress."""
    places = [
        (h.name, r, min(h.count(r), job.gang))
        for h in instance.machines
        for r in instance.device_types
        if h.count(r) and job.rate_on(r)
    ]
    found = []
    for counts in product(*(range(limit + 1) for _, _, limit in places)):
        if sum(counts) == job.gang:
            allocation: Allocation = {}
            for (h, r, _), n in zip(places, counts, strict=True):
                if n:
                    allocation.setdefault(h, {})[r] = n
            found.append(allocation)
    return found


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
        The most schedules of one job.

    Raises
    ------
    ValueError
        If there are more than `limit`.
    """
    options = [
        (allocation, bottleneck(job, allocation) * job.gang * instance.slot_seconds)
        for allocation in gangs(instance, job)
    ]
    columns = []
    for slots in _searched(instance, job, options, job.arrival, job.iterations, ()):
        if minimal and not _is_minimal(job, slots):
            continue
        completion = slots[-1][0]
        columns.append(
            Column(
                job=job.name,
                completion=completion,
                utility=job.utility.exact(completion - job.arrival),
                slots=tuple((t, allocation) for t, allocation, _ in slots),
            )
        )
        if len(columns) > limit:
            raise ValueError(f"job {job.name} has more than {limit} schedules: too many to enumerate")
    return columns


_Partial = tuple[tuple[int, Allocation, Fraction], ...]


def _searched(
    instance: Instance, job: Job, options: list[tuple[Allocation, Fraction]], t: int, left: Fraction, partial: _Partial
) -> Iterator[_Partial]:
    """Yield the ways to do the work that is left from slot t on, ending in the slot that completes it.

    Slots used after the work is done are never needed: dropping them finishes earlier.
    """
    if left <= 0:
        yield partial
        return
    if t > instance.slots:
        return
    yield from _searched(instance, job, options, t + 1, left, partial)
    for allocation, work in options:
        yield from _searched(instance, job, options, t + 1, left - work, (*partial, (t, allocation, work)))


def _is_minimal(job: Job, slots: _Partial) -> bool:
    done = sum((work for _, _, work in slots), Fraction(0))
    return all(done - work < job.iterations for _, _, work in slots)
