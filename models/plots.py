"""Pictures of schedules of any problem: several beside each other, and how much of the cluster they use over time."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from dlsched.arguments import checked
from dlsched.errors import InputError
from dlsched.models import picture
from dlsched.models.document import Document
from dlsched.models.problem import Problem, problem_of

_SIZE = (8.0, 3.0)
"""Inches of a picture of curves. Arbitrary: a page is as wide."""


@checked
def plot_schedules(
    instance: Document,
    schedules: Mapping[str, Any],
    *,
    size: tuple[float, float] | None = None,
    columns: int = 2,
    judge: Problem[Any, Any] | None = None,
) -> Any:
    """Draw schedules of an instance side by side, each under its name, with the same axis of time.

    Parameters
    ----------
    instance : Instance
        Of any problem that has a picture.
    schedules : mapping of str to Schedule
        By what they are called; each passes the problem's checker.
    size : (float, float), optional
        Width and height of each, in inches; as large as the largest wants to be where it is left out.
    columns : int
        Pictures side by side, before the next stand below them.
    judge : Problem, optional
        Who draws them, where they are of an algorithm's own kind (`Algorithm.judge`).

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    InputError
        If there is no schedule, one breaks a rule, or the problem has no picture of schedules.
    MissingExtra
        If matplotlib is not installed.

    Examples
    --------
    >>> from dlsched.algorithms import hadar
    >>> from dlsched.models import hadar as problem, plot_schedules
    >>> instance = problem.random(0)
    >>> plans = {mode: hadar.run(instance, mode=mode).schedule for mode in ("commit", "rounds")}
    >>> [ax.get_title() for ax in plot_schedules(instance, plans).axes]
    ['commit: utility 34, 2 of 3 jobs', 'rounds: utility 34, 2 of 3 jobs']
    """
    problem = judge or problem_of(instance)
    if problem.plot is None:
        raise InputError(f"{problem.name} has no picture of schedules")
    draws = {name: partial(problem.plot, instance, schedule) for name, schedule in _some(schedules).items()}
    if size is None:
        sizes = [draw().figure.get_size_inches() for draw in draws.values()]
        size = max(float(width) for width, _ in sizes), max(float(height) for _, height in sizes)
    return picture.panels(draws, *size, columns=min(columns, len(draws)))


@checked
def plot_use(instance: Document, schedules: Mapping[str, Any], *, judge: Problem[Any, Any] | None = None) -> Any:
    """Draw the shares of the cluster that schedules use over time, one schedule below the other.

    Parameters
    ----------
    instance : Instance
        Of a problem whose schedules have slots.
    schedules : mapping of str to Schedule
        By what they are called.
    judge : Problem, optional
        Who tells what they use, where they are of an algorithm's own kind (`Algorithm.judge`).

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    InputError
        If there is no schedule, or the problem does not tell what is in use when.
    MissingExtra
        If matplotlib is not installed.

    Examples
    --------
    >>> from dlsched.algorithms import hadar
    >>> from dlsched.models import hadar as problem, plot_use
    >>> instance = problem.random(0)
    >>> figure = plot_use(instance, {"hadar": hadar.run(instance).schedule})
    >>> figure.axes[0].get_ylabel()
    'share in use'
    """
    problem = judge or problem_of(instance)
    if problem.use is None:
        raise InputError(f"{problem.name} does not tell what is in use when")
    draws = {name: partial(_use, problem, instance, schedule) for name, schedule in _some(schedules).items()}
    return picture.panels(draws, *_SIZE)


def _some(schedules: Mapping[str, Any]) -> Mapping[str, Any]:
    if not schedules:
        raise InputError("schedules: there is none to draw")
    return schedules


def _use(problem: Problem[Any, Any], instance: Any, schedule: Any, ax: Any) -> None:
    picture.refuse_broken(problem.violations(instance, schedule))
    shares = problem.use(instance, schedule) if problem.use is not None else {}
    last = max((len(values) for values in shares.values()), default=1)
    picture.curves(shares, 1, last, getattr(instance, "slot_seconds", None), ax)
    head = picture.headline(problem.worth(instance, schedule), len(schedule.jobs), len(instance.jobs))
    ax.set(ylabel="share in use", ylim=(0, 1.05), title=head)
