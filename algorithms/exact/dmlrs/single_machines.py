"""The exact program over single machines that solvers get, with machines that are alike in order.

Machines that are alike may trade places in any slot, and a solver looks at all of these. In order, each slot has its
first job at home on an earlier machine than the first job that is at home on the next one, and machines where none is
at home come last. So a job has its home on a machine only where a job before it has one on the machine before. These
rows have as many terms as there are pairs of jobs, slots and machines: small programs have them alone.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from dlsched.lazy import pyo
from dlsched.models.catalog import build
from dlsched.models.dmlrs import Instance
from dlsched.models.dmlrs.instance import identical
from dlsched.models.formulation import write_rows

_SMALL = 3000
"""Jobs times slots times machines. Of 120 instances in the paper's own ranges, up to 1200, thirteen are not proved in
12 s by the sum of machines without rows for single ones, and eleven of these by such programs within three minutes;
3000 is a guess. With 100 jobs, 60 machines and 20 slots the order takes two thirds of 25 s to build."""


def is_small(instance: Instance) -> bool:
    """Tell whether the program is small enough to be tried before branch and price, and to have machines in order."""
    return len(instance.jobs) * instance.slots * len(instance.machines) <= _SMALL


def single_machines(instance: Instance) -> Any:
    """Return the strongest exact program over single machines that holds for an instance, without disjunctions.

    `dmlrs/compact-milp`, with machines in order where it is small; where a job's external rate is above its internal
    rate, `dmlrs/compact` or `dmlrs/async`.
    """
    if all(job.external_rate <= job.internal_rate for job in instance.jobs):
        model = build("dmlrs/compact-milp", instance)
        if is_small(instance):
            _order(model, instance)
        return model
    model = build("dmlrs/async" if instance.asynchronous else "dmlrs/compact", instance)
    write_rows(model)
    return model


def _order(m: Any, instance: Instance) -> None:
    """Add the order of machines that are alike."""
    before = {later: earlier for group in identical(instance) for earlier, later in pairwise(group.machines)}
    names = [job.name for job in instance.jobs]

    def first(m: Any, i: str, t: int, c: str) -> Any:
        others = [(j, t, before[c]) for j in names[: names.index(i)]]
        return m.home[i, t, c] <= sum(m.home[other] for other in others if other in m.home_at)

    m.order = pyo.Constraint([itc for itc in m.home_at if itc[2] in before], rule=first, doc="machines in order")
