"""The problem's entry among all problems."""

from __future__ import annotations

from dlsched.models.hadar.formulations import FORMULATIONS
from dlsched.models.hadar.instance import Instance
from dlsched.models.hadar.measures import measures
from dlsched.models.hadar.plot import plot, save_plot
from dlsched.models.hadar.presets import PRESETS
from dlsched.models.hadar.schedule import Schedule, check, exact_utility
from dlsched.models.problem import Problem

PROBLEM = Problem(
    "hadar",
    "gang-scheduled jobs on machines with several device types",
    Instance,
    Schedule,
    check,
    exact_utility,
    PRESETS,
    FORMULATIONS,
    save_plot,
    plot,
    measures,
)
