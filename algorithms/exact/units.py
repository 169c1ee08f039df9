"""Instances in a unit of utility of their own: the greatest utility of a job is 100.

Solvers and searches compare with absolute tolerances. In its own unit an instance is the same, to the last bit, in
whatever unit its utilities were written, and so is what is found and proved.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

from dlsched.algorithms.exact.result import Optimum, Progress

_GREATEST = 100
"""A size that tolerances of 1e-6 to 1e-9 suit; benchmark families draw utilities up to it."""


def unit_of(greatest: Fraction) -> Fraction:
    """Return the unit in which a greatest value is 100; 1 where it is 0."""
    return greatest / _GREATEST or Fraction(1)


def solved_in_own_unit(
    solve: Callable[..., Optimum],
    utility: Callable[[Any, Any], Fraction | float],
    instance: Any,
    *,
    time_limit: float | None,
    progress: Progress | None,
    stop: Callable[[], bool] | None,
) -> Optimum:
    """Return what a method finds on an instance in its own unit, told in the unit that it is written in.

    Parameters
    ----------
    solve : callable
        The method.
    utility : callable
        Called with the instance and a schedule.
    instance : Instance
    time_limit, progress, stop
        As for `dlsched.algorithms.optimum`.
    """
    unit = unit_of(instance.greatest_utility)
    scale = float(unit)
    jobs = tuple(job.model_copy(update={"utility": job.utility.times(1 / unit)}) for job in instance.jobs)

    def report(phase: str, value: float, bound: float) -> None:
        if progress is not None:
            progress(phase, value * scale, bound * scale)

    found = solve(instance.model_copy(update={"jobs": jobs}), time_limit=time_limit, progress=report, stop=stop)
    found = found.times(scale)
    if found.schedule is None or found.bound is None:
        return found
    value = float(utility(instance, found.schedule))
    return replace(found, value=value, bound=max(value, found.bound))
