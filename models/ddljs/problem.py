"""The problem's entry among all problems."""

from __future__ import annotations

from dlsched.models.ddljs.formulations import FORMULATIONS
from dlsched.models.ddljs.instance import Instance
from dlsched.models.ddljs.measures import measures
from dlsched.models.ddljs.plot import plot, save_plot
from dlsched.models.ddljs.presets import PRESETS
from dlsched.models.ddljs.schedule import Schedule, check, exact_utility
from dlsched.models.problem import Problem

PROBLEM = Problem(
    "ddljs",
    "jobs whose workers form rings in a network, over slots",
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
