"""The certified optimum of an instance of any problem."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import Any

from dlsched.algorithms.algorithm import ExactMethod, exact_method
from dlsched.algorithms.exact import general
from dlsched.algorithms.exact.certificates.make import WORK, bound_exactly, prove_exactly
from dlsched.algorithms.exact.certificates.tree import Beaten, GaveUp
from dlsched.algorithms.exact.race import raced
from dlsched.algorithms.exact.result import Note, Optimum, Progress, unit_of
from dlsched.algorithms.soundness import UnsoundError, sound_value, unit_of_agreement
from dlsched.arguments import at_least, checked
from dlsched.halt import Halt, ended_by, grace, until
from dlsched.models.formulation import UnreadableModel
from dlsched.models.numbers import agree, slack
from dlsched.models.problem import Problem, problem_of


@checked
def optimum(
    instance: Any,
    *,
    time_limit: float | None = None,
    jobs: int = 1,
    work: int = WORK,
    progress: Progress | None = None,
    stop: Callable[[], bool] | None = None,
) -> Optimum:
    """Return the certified optimum of an instance, or what is known of it when time is up.

    A problem's own exact method finds it, or else its exact formulation and the general certifier. Where the problem
    has a program over the rationals, a tree over it then proves it exactly, within limits.

    Parameters
    ----------
    instance : Instance
        Of any problem.
    time_limit : float, optional
        Seconds in all; without one the method runs until it has a proof, or nothing left to try.
    jobs : int
        Processes: beside this one, others take other routes of the problem's method at the same time, as many as it
        has, and all share what they find. The value is the same wherever it is proved.
    work : int
        What that tree may take: the linear programs for it times the coefficients of the program.
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
        If the time limit, the work or the jobs are too small or no numbers, or the problem has neither an exact method
        nor an exact linear formulation with a reader.
    SolverError
        If a plug-in's exact method returns a schedule that breaks a rule or is worth another value, or a bound that is
        none.

    Examples
    --------
    >>> from dlsched.algorithms import optimum
    >>> from dlsched.models import hadar
    >>> instance = hadar.random(0)
    >>> best = optimum(instance)
    >>> best.value, best.proved
    (34.0, True)
    >>> best.schedule.save("best.json")
    >>> optimum(hadar.preset("benchmark", 0), time_limit=0).proved
    False
    """
    at_least(0, time_limit=time_limit, work=work)
    at_least(1, jobs=jobs)
    problem = problem_of(instance)
    method = exact_method(problem.name) or ExactMethod("exact", problem.name, "its exact formulation")
    start, stop = time.perf_counter(), _latched(stop)
    solve = method.solve or partial(general.solve, problem)
    if jobs > 1 and method.elsewhere:
        solve = partial(raced, solve, method, jobs - 1)
    if method.own_unit and method.solve is not None and hasattr(instance, "greatest_utility"):
        found = _in_own_unit(solve, problem.utility, instance, time_limit=time_limit, progress=progress, stop=stop)
    else:
        found = solve(instance, time_limit=time_limit, progress=progress, stop=stop)
    if method.solve is not None:
        _refuse_unsound(problem, method, instance, found)
    if method.program is None:
        return found
    with until(stop, None if time_limit is None else max(0.0, start + time_limit - time.perf_counter())):
        return _proved(instance, found, work)


def _refuse_unsound(problem: Problem[Any, Any], method: ExactMethod, instance: Any, found: Optimum) -> None:
    """Look at what a method returned as if somebody else had written it."""
    name = f"exact method '{method.name}' of {problem.name}"
    if found.schedule is None:
        if found.value is not None:
            raise UnsoundError(f"{name}: its value {found.value} has no schedule")
        return
    value = sound_value(name, problem, instance, found.schedule, found.value)
    unit = unit_of_agreement(instance)
    sign = 1 if problem.sense == "maximize" else -1
    if found.bound is not None and not sign * found.bound >= sign * value - slack(value, unit=unit):
        raise UnsoundError(f"{name}: its schedule is worth {value}, beyond its bound {found.bound}")
    if found.proved and (found.bound is None or not agree(found.bound, value, unit=unit)):
        raise UnsoundError(f"{name}: it calls {value} proved, and its bound is {found.bound}")


def _in_own_unit(
    solve: Callable[..., Optimum],
    utility: Callable[[Any, Any], Fraction | float],
    instance: Any,
    *,
    time_limit: float | None,
    progress: Progress | None,
    stop: Callable[[], bool] | None,
) -> Optimum:
    """Return what a method finds on an instance in its own unit, told in the unit that it is written in.

    Solvers and searches compare with absolute tolerances. In its own unit, in which the greatest utility of a job is
    100, an instance is the same, to the last bit, in whatever unit its utilities were written.

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


def _latched(stop: Callable[[], bool] | None) -> Callable[[], bool] | None:
    """Return the same question, which is not asked again once the answer was yes."""
    if stop is None:
        return None
    asked = False

    def once() -> bool:
        nonlocal asked
        asked = asked or stop()
        return asked

    return once


def _proved(instance: Any, found: Optimum, work: int) -> Optimum:
    """Return what was found with a proof over the rationals, where one is found within limits."""
    if found.schedule is None and not found.proved:
        return _without_certificate(found, "no schedule is known")
    start = time.perf_counter()

    def after(**changes: Any) -> Optimum:
        return replace(found, seconds_proved=found.seconds_proved + time.perf_counter() - start, **changes)

    try:
        proof = prove_exactly(instance, found.schedule, work=work)
    except Halt:
        return _without_certificate(after(), ended_by())
    except GaveUp as reason:
        return _without_certificate(after(), str(reason))
    except Beaten as beaten:
        evidence = (*found.evidence, f"refuted: {beaten}")
        stands = found.bound is not None and found.bound >= float(beaten.worth)
        known = after(bound=found.bound if stands else math.inf, proved=False, evidence=evidence)
        better = _better(instance, known, beaten)
        if better is not None:
            return _proved(instance, better, work)
        with suppress(GaveUp, Halt):
            least = float(bound_exactly(instance, beaten.worth, work=work))
            told = Note("exact: a tree over the rationals: nothing better than ", least)
            known = after(bound=least, proved=False, evidence=(*evidence, told))
        return known
    bound = None if proof.tree.bound is None else float(proof.tree.bound)
    route = f"exact: a tree of {len(proof.tree.nodes)} nodes over the rationals: "
    said = Note(route, "no schedule") if bound is None else Note(route, "nothing better than ", bound)
    return after(bound=bound, proved=True, evidence=(*found.evidence, said), exact=proof)


def _without_certificate(found: Optimum, reason: str) -> Optimum:
    return replace(found, evidence=(*found.evidence, f"not exact: {reason}"))


def _better(instance: Any, found: Optimum, beaten: Beaten) -> Optimum | None:
    """Return what was found with the schedule of a better point, where that can be read and keeps the rules."""
    problem = problem_of(instance)
    method = exact_method(problem.name)
    if method is None or method.read is None:
        return None
    try:
        with grace():
            schedule = method.read(instance, beaten.point)
    except (UnreadableModel, Halt):
        return None
    if schedule is None or problem.violations(instance, schedule):
        return None
    value = problem.utility(instance, schedule)
    return None if value < beaten.worth else replace(found, value=float(value), schedule=schedule)
