"""All feasible schedules of one job (the set Pi_i of R-DMLRS), for small instances."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import islice

from dlsched.errors import InputError
from dlsched.halt import polled
from dlsched.models.dmlrs.frame import fitting, servers_needed
from dlsched.models.dmlrs.instance import Instance
from dlsched.models.dmlrs.job import AsyncJob, Job
from dlsched.models.listed import MAX_SCHEDULES, STEPS, Listed, listed
from dlsched.models.numbers import to_integers

Counts = dict[str, tuple[int, int]]
"""Machine to (workers, servers)."""


@dataclass(frozen=True, slots=True)
class Column(Listed[Counts]):
    """One schedule pi of one job i.

    `completion` is t~_pi, `utility` u_i(t~_pi - a_i), and `slots` has machine to (workers, servers) by slot.
    """

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
    InputError
        If there are more than `limit`.
    """
    partial: list[Counts] = [{}]
    enough = servers_needed(job)
    # The thesis's job may need more where its servers are on several machines, but no more than it has workers (3.5).
    allowed = job.most_workers if isinstance(job, AsyncJob) else enough
    for machine in instance.machines:
        most_workers = min(job.most_workers, fitting(machine, job.worker, job.most_workers))
        most_servers = min(allowed, fitting(machine, job.server, enough))
        room = [
            (w, s)
            for w in range(most_workers + 1)
            for s in range(most_servers + 1)
            if all(amount <= machine.capacity_of(r) for r, amount in job.uses(w, s).items())
        ]
        more = (
            {**chosen, machine.name: counts} if any(counts) else chosen
            for chosen in partial
            for counts in room
            if sum(w for w, _ in chosen.values()) + counts[0] <= job.most_workers
        )
        partial = list(islice(polled(more), STEPS * limit + 1))
        if len(partial) > STEPS * limit:
            raise InputError(f"job {job.name} has too many placements to enumerate")
    kept = [placement for placement in partial if _useful(job, placement)]
    if len(kept) > limit:
        raise InputError(f"job {job.name} has more than {limit} placements: too many to enumerate")
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
    InputError
        If there are too many to enumerate.
    """
    found = placements(instance, job, limit=limit)
    (work, *done), _ = to_integers([job.work, *(job.progress(placement) for placement in found)])
    return listed(Column, job, zip(found, done, strict=True), work, instance.slots, limit=limit)
