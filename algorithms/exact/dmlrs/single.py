"""Exact programs over single machines."""

from __future__ import annotations

from typing import Any

from dlsched.halt import polled
from dlsched.lazy import gdp, pyo
from dlsched.models import build
from dlsched.models.dmlrs import Instance

_AT_A_TIME = 5
"""Disjunctions that are transformed together."""


def single_machines(instance: Instance) -> Any:
    """Return the strongest exact program that holds for an instance, without disjunctions.

    `dmlrs/compact-milp`; where a job's external rate is above its internal rate, `dmlrs/compact` or `dmlrs/async`.
    """
    if all(job.external_rate <= job.internal_rate for job in instance.jobs):
        return build("dmlrs/compact-milp", instance)
    model = build("dmlrs/async" if instance.asynchronous else "dmlrs/compact", instance)
    relax_disjunctions(model)
    return model


def relax_disjunctions(model: Any) -> None:
    """Write the disjunctions of a model by big-M, some at a time: Pyomo asks nothing while it does."""
    bigm = pyo.TransformationFactory("gdp.bigm")
    waiting = list(model.component_data_objects(gdp.Disjunction, active=True))
    from pyomo.common.gc_manager import PauseGC

    with PauseGC():
        for first in polled(range(0, len(waiting), _AT_A_TIME)):
            bigm.apply_to(model, targets=waiting[first : first + _AT_A_TIME])
