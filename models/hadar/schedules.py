"""All feasible schedules of one job (the set S_j of P2), for small instances."""

from __future__ import annotations

from dataclasses import dataclass

from dlsched.arguments import at_least, checked
from dlsched.errors import InputError
from dlsched.models.hadar.instance import Instance, Job
from dlsched.models.hadar.schedule import Allocation, bottleneck
from dlsched.models.listed import MAX_SCHEDULES, Listed, listed
from dlsched.models.numbers import to_integers


@dataclass(frozen=True, slots=True)
class Column(Listed[Allocation]):
    """One schedule s of one job j.

    `completion` is f_js, `utility` U_j(f_js - a_j), and `slots` has w_jh^rs(t) by slot.
    """

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
    InputError
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
            raise InputError(f"job {job.name} has more than {limit} gangs: too many to enumerate")
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
    InputError
        If there are too many to enumerate.

    Examples
    --------
    >>> from dlsched.models.hadar import enumerate_schedules, random
    >>> instance = random(0)
    >>> found = enumerate_schedules(instance, instance.jobs[1])
    >>> len(found), sorted({(column.completion, float(column.utility)) for column in found})
    (9, [(3, 17.0)])
    """
    at_least(1, limit=limit)
    found = gangs(instance, job, limit=limit)
    done = [bottleneck(job, allocation) * job.gang * instance.slot_seconds for allocation in found]
    (iterations, *works), _ = to_integers([job.iterations, *done])
    options = zip(found, works, strict=True)
    return listed(Column, job, options, iterations, instance.slots, minimal=minimal, limit=limit)
