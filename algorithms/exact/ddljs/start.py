"""First schedules: what GADGET and the schedulers that it is compared with find."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from dlsched.algorithms.baselines.ddljs import drf, fifo, las
from dlsched.algorithms.gadget import run as gadget
from dlsched.models.ddljs.instance import Instance
from dlsched.models.ddljs.schedule import Schedule


def first_schedules(instance: Instance, late: Callable[[], bool]) -> Iterator[Schedule]:
    """Yield feasible schedules; none where some utility is minus infinity at 0.

    Parameters
    ----------
    instance : Instance
    late : callable
        Where it tells True, no further one is looked for.
    """
    yield Schedule.of({})
    for run in (gadget, las.run, drf.run, fifo.run):
        if late():
            return
        try:
            yield run(instance, seed=0).schedule
        except (ArithmeticError, RuntimeError, ValueError):
            # A start only saves time: one that fails is none.
            continue
