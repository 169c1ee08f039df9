"""All feasible schedules of one job (the set Pi_i of R-DMLRS), for small instances."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from dlsched.models.dmlrs.frame import fitting, servers_needed
from dlsched.models.dmlrs.instance import Instance
from dlsched.models.dmlrs.job import AsyncJob, Job
from dlsched.models.numbers import to_integers

MAX_SCHEDULES = 20_000
"""Of one job; ways to place it in a slot. Arbitrary: each is a column of a model, and their number grows
exponentially."""

_STEPS = 20
"""Steps of the search for each schedule that may be found. Arbitrary: one that finds fewer in as many does not end
soon."""

Counts = dict[str, tuple[int, int]]
"""Machine to (workers, servers)."""


@dataclass(frozen=True, slots=True)
class Column:
    """One schedule pi of one job i.

    Attributes
    ----------
    job : str
    completion : int
        t~_pi, its last slot.
    utility : Fraction
        u_i(t~_pi - a_i).
    slots : tuple of (int, dict)
        Machine to (workers, servers), by ascending slot.
    """

    job: str
    completion: int
    utility: Fraction
    slots: tuple[tuple[int, Counts], ...]

    def usage(self, instance: Instance) -> dict[tuple[str, str, int], Fraction]:
        """Return alpha w + beta s by (machine, resource, slot), where it is not 0."""
        job = instance.job(self.job)
        return {
            (h, r, t): amount
            for t, placement in self.slots
            for h, (workers, servers) in placement.items()
            for r, amount in job.uses(workers, servers).items()
        }


def placements(instance: Instance, job: Job | AsyncJob, *, limit: int = MAX_SCHEDULES) -> list[Counts]:
    """Return the ways to place workers and servers of a job in one slot of the empty cluster.

    A placement with more than it needs is left out: one from which a server can be taken without breaking a rule or
    losing work.

    Raises
    ------
    ValueError
        If there are more than `limit`.
    """
    partial: list[Counts] = [{}]
    for machine in instance.machines:
        most_workers = fitting(machine, job.worker, job.most_workers)
        most_servers = fitting(machine, job.server, servers_needed(job))
        room = [
            (w, s)
            for w in range(most_workers + 1)
            for s in range(most_servers + 1)
            if all(amount <= machine.capacity_of(r) for r, amount in job.uses(w, s).items())
        ]
        partial = [
            {**chosen, machine.name: counts} if any(counts) else chosen
            for chosen in partial
            for counts in room
            if sum(w for w, _ in chosen.values()) + counts[0] <= job.most_workers
        ]
        if len(partial) > _STEPS * limit:
            raise ValueError(f"job {job.name} has too many placements to enumerate")
    kept = [placement for placement in partial if _useful(job, placement)]
    if len(kept) > limit:
        raise ValueError(f"job {job.name} has more than {limit} placements: too many to enumerate")
    return kept


def _useful(job: Job | AsyncJob, placement: Counts) -> bool:
    done = job.progress(placement)
    if not done or job.server_shortage(placement):
        return False
    for h, (workers, servers) in placement.items():
        fewer = {**placement, h: (workers, servers - 1)}
        if servers and not job.server_shortage(fewer) and job.progress(fewer) >= done:
            return False
    return True


def enumerate_schedules(instance: Instance, job: Job | AsyncJob, *, limit: int = MAX_SCHEDULES) -> list[Column]:
    """Return the schedules of a job in which no slot can be dropped.

    With a slot dropped another schedule uses less and finishes no later, so neither the optimum nor the LP bound of
    R-DMLRS changes. In the journal all of (2)-(4) and (7) hold, in the thesis (3.1), (3.2), (3.4), (3.5) and (3.7).

    Parameters
    ----------
    instance : Instance
    job : Job or AsyncJob
    limit : int
        About the most schedules of one job: the search stops after twenty times as many steps.

    Raises
    ------
    ValueError
        If there are too many to enumerate.
    """
    found = placements(instance, job, limit=limit)
    (work, *done), _ = to_integers([job.work, *(job.progress(placement) for placement in found)])
    options = list(zip(found, done, strict=True))
    columns = []
    for slots in _searched(instance, job, options, work, limit):
        if sum(n for _, _, n in slots) - min(n for _, _, n in slots) < work:
            completion = slots[-1][0]
            columns.append(
                Column(
                    job=job.name,
                    completion=completion,
                    utility=job.utility.exact(completion - job.arrival),
                    slots=tuple((t, placement) for t, placement, _ in slots),
                )
            )
    return columns


_Partial = tuple[tuple[int, Counts, int], ...]


def _searched(
    instance: Instance, job: Job | AsyncJob, options: list[tuple[Counts, int]], work: int, limit: int
) -> Iterator[_Partial]:
    """Yield the ways to do all the work, in scaled integers, each ending in the slot that completes it."""
    fastest = max((done for _, done in options), default=0)
    stack: list[tuple[int, int, _Partial]] = [(job.arrival, work, ())]
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
            stack.extend((t + 1, left - done, (*partial, (t, placement, done))) for placement, done in options)
