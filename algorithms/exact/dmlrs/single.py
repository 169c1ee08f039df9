"""Exact programs over single machines, and the schedule that a point of theirs stands for."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import numpy as np

from dlsched.halt import polled
from dlsched.lazy import gdp, pyo
from dlsched.models import build
from dlsched.models.dmlrs import Instance, Schedule, completions
from dlsched.models.dmlrs.groups import singletons
from dlsched.relaxations.aggregation import Aggregation, place, trimmed
from dlsched.solvers.matrix import Floats, Matrix

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


def read(instance: Instance, model: Any, matrix: Matrix, x: Floats) -> Schedule:
    """Return the schedule of a point, without the jobs that do not finish in it.

    Parameters
    ----------
    instance : Instance
    model : pyomo.environ.ConcreteModel
        As `single_machines` returns it.
    matrix : Matrix
        Compiled from it.
    x : ndarray
        A point of the matrix.
    """
    for variable in matrix.columns:
        variable.set_value(None)
    for variable, value in zip(matrix.columns, np.asarray(x).tolist(), strict=True):
        variable.set_value(value, skip_validation=True)
    schedule = _homes(instance, model) if hasattr(model, "home") else _placed(model)
    finished = completions(instance, schedule)
    return schedule.without(name for name in schedule.jobs if name not in finished)


def _homes(instance: Instance, model: Any) -> Schedule:
    groups = singletons(instance)
    contents = trimmed(instance, Aggregation(model, instance, groups).contents())
    packed = place(instance, groups, contents, nodes=0)
    return packed.schedule or Schedule.of({})


def _placed(model: Any) -> Schedule:
    placements: dict[str, dict[int, dict[str, tuple[int, int]]]] = defaultdict(lambda: defaultdict(dict))
    for i, t, h in model.placed:
        workers, servers = (round(v[i, t, h].value or 0) for v in (model.workers, model.servers))
        if workers or servers:
            placements[i][t][h] = (workers, servers)
    return Schedule.of(placements)
