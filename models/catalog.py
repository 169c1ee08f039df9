"""The catalog of formulations: tests, benchmarks, the command line and the documentation iterate it."""

from __future__ import annotations

from typing import Any

from dlsched.arguments import checked, named
from dlsched.models.formulation import Formulation as Formulation
from dlsched.models.formulation import Kind as Kind
from dlsched.models.problem import problems


def catalog() -> tuple[Formulation[Any], ...]:
    """Return the formulations of all problems."""
    return tuple(entry for problem in problems() for entry in problem.formulations)


def formulation(name: str) -> Formulation[Any]:
    """Return the formulation of that name.

    Raises
    ------
    InputError
        If there is none; the message lists those there are.
    """
    return named("formulation", name, {entry.name: entry for entry in catalog()})


@checked
def build(name: str, instance: Any, **data: Any) -> Any:
    """Return the Pyomo model of an instance in the formulation of that name.

    Parameters
    ----------
    name : str
        As in `catalog`, e.g. ``"hadar/p1"``.
    instance : Instance
        Of the formulation's problem.
    **data
        What the formulation takes beside the instance; see `Formulation.data`.

    Raises
    ------
    TypeError
        If the instance is of another problem, or the formulation does not take an argument of `data`.
    InputError
        If there is no formulation of that name.
    """
    return formulation(name).build(instance, **data)
