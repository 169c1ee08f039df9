"""The problem's entry among all problems."""

from __future__ import annotations

from dlsched.models.dmlrs.aggregate import AGGREGATE, COMPACT_MILP
from dlsched.models.dmlrs.asynchronous import ASYNC
from dlsched.models.dmlrs.compact import COMPACT, COMPACT_PRINTED
from dlsched.models.dmlrs.instance import Instance
from dlsched.models.dmlrs.plot import plot, save_plot, use
from dlsched.models.dmlrs.presets import PRESETS
from dlsched.models.dmlrs.reformulated import DUAL, SCHEDULES
from dlsched.models.dmlrs.response import CHEAPEST, ONE_SLOT, RESPONSE
from dlsched.models.dmlrs.schedule import Schedule, check, exact_utility, measures
from dlsched.models.dmlrs.slot import (
    ASYNC_EXTERNAL_SLOT,
    ASYNC_EXTERNAL_SLOT_PRINTED,
    EXTERNAL_SLOT,
    EXTERNAL_SLOT_PRINTED,
    INTERNAL_SLOT,
    INTERNAL_SLOT_PRINTED,
)
from dlsched.models.problem import Problem

PROBLEM = Problem(
    "dmlrs",
    "jobs with workers and parameter servers on machines, over slots",
    Instance,
    Schedule,
    check,
    exact_utility,
    PRESETS,
    (
        *(COMPACT, COMPACT_PRINTED, ASYNC, COMPACT_MILP, AGGREGATE, SCHEDULES, DUAL),
        *(RESPONSE, CHEAPEST, ONE_SLOT, INTERNAL_SLOT, INTERNAL_SLOT_PRINTED),
        *(EXTERNAL_SLOT, EXTERNAL_SLOT_PRINTED, ASYNC_EXTERNAL_SLOT, ASYNC_EXTERNAL_SLOT_PRINTED),
    ),
    save_plot,
    plot,
    measures,
    capacities=lambda data: [machine["capacity"] for machine in data["machines"]],
    use=use,
)
