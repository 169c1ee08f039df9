"""The certified optimum of an instance of any problem."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

from dlsched.algorithms.exact.result import Optimum, Progress
from dlsched.models.arguments import checked, expect

_PROBLEMS = ("hadar", "smd", "dmlrs", "ddljs")
_RATIONAL = "smd"
"""The problem whose method compares values in rationals, in any unit."""


@checked
def optimum(
    instance: Any,
    *,
    time_limit: float | None = None,
    progress: Progress | None = None,
    stop: Callable[[], bool] | None = None,
) -> Optimum:
    """Return the certified optimum of an instance, or what is known of it when time is up.

    Parameters
    ----------
    instance : Instance
        Of any problem with an exact method: Hadar, SMD, DMLRS, DDLJS.
    time_limit : float, optional
        Seconds in all; without one the method runs until it has a proof.
    progress : callable, optional
        Called with (phase, value of the best schedule, least upper bound).
    stop : callable, optional
        Asked often; where it tells True, the method ends as if time were up.

    Returns
    -------
    Optimum
        Its schedule passed the problem's checker and its bound is valid, whether or not it is proved.

    Raises
    ------
    TypeError
        If it is no instance of a problem with an exact method.
    InputError
        If the time limit is negative or not a number.
    """
    kinds = {importlib.import_module(f"dlsched.models.{problem}").Instance: problem for problem in _PROBLEMS}
    expect("instance", instance, *kinds)
    problem = next(problem for kind, problem in kinds.items() if isinstance(instance, kind))
    return _solved(problem, instance, {"time_limit": time_limit, "progress": progress, "stop": stop})


def _solved(problem: str, instance: Any, settings: dict[str, Any]) -> Optimum:
    method = importlib.import_module(f"dlsched.algorithms.exact.{problem}")
    if problem == _RATIONAL:
        result: Optimum = method.solve(instance, **settings)
        return result
    from dlsched.algorithms.exact.units import solved_in_own_unit

    utility = importlib.import_module(f"dlsched.models.{problem}").exact_utility
    return solved_in_own_unit(method.solve, utility, instance, **settings)
