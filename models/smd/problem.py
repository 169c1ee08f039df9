"""The problem's entry among all problems."""

from __future__ import annotations

from dlsched.models.problem import Problem
from dlsched.models.smd.formulations import FORMULATIONS
from dlsched.models.smd.instance import Instance
from dlsched.models.smd.measures import measures
from dlsched.models.smd.plot import plot, save_plot
from dlsched.models.smd.presets import PRESETS
from dlsched.models.smd.schedule import Schedule, check, exact_utility

PROBLEM = Problem(
    "smd",
    "jobs whose speed depends on their workers and servers, on one cluster",
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
