"""The problem's entry among all problems."""

from __future__ import annotations

from dlsched.models.dmlrs.formulations import FORMULATIONS
from dlsched.models.dmlrs.instance import Instance
from dlsched.models.dmlrs.measures import measures
from dlsched.models.dmlrs.plot import plot, save_plot
from dlsched.models.dmlrs.presets import PRESETS
from dlsched.models.dmlrs.schedule import Schedule, check, exact_utility
from dlsched.models.problem import Problem

PROBLEM = Problem(
    "dmlrs",
    "jobs with workers and parameter servers on machines, over slots",
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
