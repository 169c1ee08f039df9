"""The problem's entry among all problems."""

from __future__ import annotations

from dlsched.models.hadar.aggregate import AGGREGATE
from dlsched.models.hadar.hall import HALL
from dlsched.models.hadar.instance import Instance
from dlsched.models.hadar.p1 import P1, P1_ADMISSION
from dlsched.models.hadar.p2 import P2, P3
from dlsched.models.hadar.plot import plot, save_plot, use
from dlsched.models.hadar.presets import PRESETS
from dlsched.models.hadar.response import RESPONSE
from dlsched.models.hadar.round import ROUND
from dlsched.models.hadar.schedule import Schedule, check, exact_utility, measures
from dlsched.models.problem import Problem

PROBLEM = Problem(
    "hadar",
    "gang-scheduled jobs on machines with several device types",
    Instance,
    Schedule,
    check,
    exact_utility,
    PRESETS,
    (P1, P1_ADMISSION, P2, P3, RESPONSE, ROUND, AGGREGATE, HALL),
    save_plot,
    plot,
    measures,
    capacities=lambda data: [machine["devices"] for machine in data["machines"]],
    use=use,
)
