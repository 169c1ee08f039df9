"""The problem's entry among all problems."""

from __future__ import annotations

from dlsched.models.ddljs.circulation import OFFLINE_CIRCULATION, SLOT_CIRCULATION
from dlsched.models.ddljs.gvne import GVNE, GVNE_PRINTED
from dlsched.models.ddljs.gvne_lp import GVNE_AUGMENTED, GVNE_PLAIN
from dlsched.models.ddljs.instance import Instance
from dlsched.models.ddljs.offline import OFFLINE, OFFLINE_MILP, OFFLINE_PRINTED
from dlsched.models.ddljs.plot import plot, save_plot, use
from dlsched.models.ddljs.presets import PRESETS
from dlsched.models.ddljs.schedule import Schedule, check, exact_utility, measures
from dlsched.models.ddljs.slot import SLOT, SLOT_PRINTED
from dlsched.models.problem import Problem

PROBLEM = Problem(
    "ddljs",
    "jobs whose workers form rings in a network, over slots",
    Instance,
    Schedule,
    check,
    exact_utility,
    PRESETS,
    (
        OFFLINE,
        OFFLINE_MILP,
        OFFLINE_CIRCULATION,
        OFFLINE_PRINTED,
        SLOT,
        SLOT_PRINTED,
        SLOT_CIRCULATION,
        GVNE,
        GVNE_PRINTED,
        GVNE_PLAIN,
        GVNE_AUGMENTED,
    ),
    save_plot,
    plot,
    measures,
    capacities=lambda data: [node["capacity"] for node in data["nodes"]],
    use=use,
)
