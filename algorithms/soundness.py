"""What a method returned, looked at as if somebody else had written it: a plug-in's was written by somebody else."""

from __future__ import annotations

from typing import Any

from dlsched.arguments import expect
from dlsched.models.document import Document
from dlsched.models.numbers import agree
from dlsched.models.problem import Problem
from dlsched.solvers.solution import SolverError


class UnsoundError(SolverError):
    """A method or formulation, a plug-in's for instance, returned what cannot be: the message says which, and what."""


def unit_of_agreement(instance: Any) -> float:
    """Return the unit in which two values of an instance are compared."""
    return float(getattr(instance, "greatest_utility", 1)) or 1.0


def sound_value(
    method: str,
    problem: Problem[Any, Any],
    instance: Document,
    schedule: Document,
    value: float | None,
) -> float:
    """Return the value that a method gives to its schedule, once that keeps the rules and is worth so much.

    Raises
    ------
    UnsoundError
        The message names the method.
    TypeError
        If it is no schedule of the problem.
    """
    expect(f"schedule of {method}", schedule, problem.schedule)
    if violations := problem.violations(instance, schedule):
        raise UnsoundError(f"{method}: its schedule breaks a rule: {violations[0]}")
    worth = problem.worth(instance, schedule)
    if value is None or not agree(worth, value, unit=unit_of_agreement(instance)):
        raise UnsoundError(f"{method}: its value is {value}, and its schedule is worth {float(worth)}")
    return value
