"""Durations, end and utilisation of a schedule of DMLRS."""

from __future__ import annotations

from collections import defaultdict
from fractions import Fraction

from dlsched.models.dmlrs.instance import Instance
from dlsched.models.dmlrs.schedule import Schedule, completions
from dlsched.models.measures import Measures, mean_share


def measures(instance: Instance, schedule: Schedule) -> Measures:
    """Return the measures of a feasible schedule; a job takes from the start of slot a_i to the end of slot t~_i."""
    finished = completions(instance, schedule)
    last = max(finished.values(), default=0)
    used: dict[str, Fraction] = defaultdict(Fraction)
    for name, _, placement in schedule.items():
        for counts in placement.values():
            for r, amount in instance.job(name).uses(*counts).items():
                used[r] += amount
    shares = (used[r] / (capacity * last) for r, capacity in instance.capacity.items() if capacity and last)
    return Measures(
        "slots",
        {name: Fraction(t - instance.job(name).arrival + 1) for name, t in finished.items()},
        Fraction(last) if finished else None,
        mean_share(shares),
    )
