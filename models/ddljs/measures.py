"""Utilisation of a schedule of DDLJS, whose jobs train for as long as they are given workers and have no end."""

from __future__ import annotations

from collections import defaultdict
from fractions import Fraction

from dlsched.models.ddljs.instance import Instance
from dlsched.models.ddljs.schedule import Schedule
from dlsched.models.measures import Measures, mean_share


def measures(instance: Instance, schedule: Schedule) -> Measures:
    """Return the measures of a feasible schedule; what is in use is told of all slots."""
    used: dict[str, Fraction] = defaultdict(Fraction)
    for name, _, embedding in schedule.items():
        for r, need in instance.job(name).worker.items():
            used[r] += need * embedding.size
    total = {r: sum((node.capacity_of(r) for node in instance.servers), Fraction(0)) for r in instance.resources}
    shares = (used[r] / (capacity * instance.slots) for r, capacity in total.items() if capacity)
    return Measures("slots", {}, None, mean_share(shares))
