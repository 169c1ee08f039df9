"""First schedules: what GADGET and the schedulers that it is compared with find."""

from __future__ import annotations

from collections.abc import Iterator

from dlsched.algorithms.baselines.ddljs import drf, fifo, las
from dlsched.algorithms.gadget import run as gadget
from dlsched.models.ddljs.instance import Instance
from dlsched.models.ddljs.schedule import Schedule


def first_schedules(instance: Instance) -> Iterator[Schedule]:
    """Yield feasible schedules; none where some utility is minus infinity at 0."""
    for run in (gadget, las.run, drf.run, fifo.run):
        try:
            yield run(instance, seed=0).schedule
        except (ArithmeticError, RuntimeError, ValueError):
            # A start only saves time: one that fails is none.
            continue
