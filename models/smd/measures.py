"""Durations and utilisation of a schedule of SMD, whose jobs all begin together."""

from __future__ import annotations

from fractions import Fraction

from dlsched.models.measures import Measures, mean_share
from dlsched.models.smd.instance import Instance
from dlsched.models.smd.schedule import Schedule, completion_times


def measures(instance: Instance, schedule: Schedule) -> Measures:
    """Return the measures of a feasible schedule; what jobs use counts, not what they reserve."""
    times = completion_times(instance, schedule)
    used = dict.fromkeys(instance.resources, Fraction(0))
    for name, entry in schedule.jobs.items():
        for r, amount in instance.job(name).uses(entry.workers, entry.servers).items():
            used[r] += amount
    shares = (amount / instance.capacity_of(r) for r, amount in used.items() if instance.capacity_of(r))
    return Measures("time", times, max(times.values(), default=None), mean_share(shares))
