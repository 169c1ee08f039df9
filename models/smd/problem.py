"""The problem's entry among all problems."""

from __future__ import annotations

from dlsched.models.problem import Problem
from dlsched.models.smd.instance import Instance
from dlsched.models.smd.knapsack import KNAPSACK
from dlsched.models.smd.milp import MILP, MILP_LAYERS
from dlsched.models.smd.minlp import MINLP
from dlsched.models.smd.plot import plot, save_plot
from dlsched.models.smd.presets import PRESETS
from dlsched.models.smd.schedule import Schedule, check, exact_utility, measures
from dlsched.models.smd.single import INNER
from dlsched.models.smd.sum_of_ratios import RATIO_BOX, RATIO_CAPS

PROBLEM = Problem(
    "smd",
    "jobs whose speed depends on their workers and servers, on one cluster",
    Instance,
    Schedule,
    check,
    exact_utility,
    PRESETS,
    (MINLP, MILP, MILP_LAYERS, INNER, RATIO_BOX, RATIO_CAPS, KNAPSACK),
    save_plot,
    plot,
    measures,
    capacities=lambda data: [data["capacity"]],
)
