"""The certified optimum of an instance of any problem."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dlsched.algorithms.algorithm import exact_method
from dlsched.algorithms.exact import general
from dlsched.algorithms.exact.result import Optimum, Progress
from dlsched.algorithms.exact.units import solved_in_own_unit
from dlsched.arguments import at_least, checked
from dlsched.models.problem import problem_of


@checked
def optimum(
    instance: Any,
    *,
    time_limit: float | None = None,
    progress: Progress | None = None,
    stop: Callable[[], bool] | None = None,
) -> Optimum:
    """Return the certified optimum of an instance, or what is known of it when time is up.

    A problem's own exact method finds it, or else its exact formulation and the general certifier.

    Parameters
    ----------
    instance : Instance
        Of any problem.
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
        If it is no instance of a problem.
    InputError
        If the time limit is negative or not a number, or the problem has neither an exact method nor an exact linear
        formulation with a reader.
    """
    at_least(0, time_limit=time_limit)
    problem = problem_of(instance)
    method = exact_method(problem.name)
    if method is None:
        return general.solve(problem, instance, time_limit=time_limit, progress=progress, stop=stop)
    if not method.own_unit:
        return method.solve(instance, time_limit=time_limit, progress=progress, stop=stop)
    return solved_in_own_unit(
        method.solve, problem.utility, instance, time_limit=time_limit, progress=progress, stop=stop
    )
