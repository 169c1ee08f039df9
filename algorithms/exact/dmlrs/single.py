"""Exact programs over single machines."""

from __future__ import annotations

from typing import Any

from dlsched.models import build
from dlsched.models.dmlrs import Instance
from dlsched.models.formulation import write_rows


def single_machines(instance: Instance) -> Any:
    """Return the strongest exact program that holds for an instance, without disjunctions.

    `dmlrs/compact-milp`; where a job's external rate is above its internal rate, `dmlrs/compact` or `dmlrs/async`.
    """
    if all(job.external_rate <= job.internal_rate for job in instance.jobs):
        return build("dmlrs/compact-milp", instance)
    model = build("dmlrs/async" if instance.asynchronous else "dmlrs/compact", instance)
    write_rows(model)
    return model
