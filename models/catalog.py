"""The catalog of formulations: tests, benchmarks, the command line and the documentation iterate it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, overload

from dlsched.arguments import checked, expect_model, named
from dlsched.models.formulation import Formulation as Formulation
from dlsched.models.formulation import Kind as Kind
from dlsched.models.formulation import built_by
from dlsched.models.problem import PROBLEMS, problems

if TYPE_CHECKING:
    from dlsched.models import ddljs, dmlrs, hadar, smd
    from dlsched.models.names import DdljsFormulation, DmlrsFormulation, HadarFormulation, SmdFormulation


def catalog() -> tuple[Formulation[Any], ...]:
    """Return the formulations of all problems.

    Examples
    --------
    >>> from dlsched.models import catalog
    >>> [entry.name for entry in catalog() if entry.disjunctive and entry.kind == "exact"]
    ['ddljs/offline', 'dmlrs/compact', 'dmlrs/async', 'hadar/p1-admission']
    """
    return tuple(entry for problem in problems() for entry in problem.formulations)


def formulation(name: str) -> Formulation[Any]:
    """Return the formulation of that name.

    Raises
    ------
    InputError
        If there is none; the message lists those there are.
    """
    # Its problem alone first: the others are imported only to say what there is.
    likely = PROBLEMS.some(name.partition("/")[0]).values()
    known = {entry.name: entry for problem in likely for entry in problem.formulations}
    return known.get(name) or named("formulation", name, {entry.name: entry for entry in catalog()})


@overload
def build(name: HadarFormulation, instance: hadar.Instance, **data: Any) -> Any: ...
@overload
def build(name: DmlrsFormulation, instance: dmlrs.Instance, **data: Any) -> Any: ...
@overload
def build(name: SmdFormulation, instance: smd.Instance, **data: Any) -> Any: ...
@overload
def build(name: DdljsFormulation, instance: ddljs.Instance, **data: Any) -> Any: ...
@overload
def build(name: str, instance: Any, **data: Any) -> Any: ...
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

    Examples
    --------
    >>> from dlsched.models import build, hadar, solve
    >>> model = build("hadar/hall", hadar.random(0))
    >>> solve(model).objective
    34.0
    >>> build("hadar/p5", hadar.random(0))
    Traceback (most recent call last):
        ...
    dlsched.arguments.UnknownName: unknown formulation 'hadar/p5'; of 42, the nearest are hadar/p3, hada...
    """
    return formulation(name).build(instance, **data)


@checked
def read(model: Any, instance: Any) -> Any:
    """Return the schedule that a solved model of some formulation stands for; see `Formulation.read`.

    Parameters
    ----------
    model : pyomo.environ.ConcreteModel
        As `build` returns it, also after ``gdp.bigm`` or ``gdp.hull``, with the values of a solution.
    instance : Instance
        What it was built from.

    Raises
    ------
    TypeError
        If `model` is no Pyomo model, or the instance is of another problem.
    UnreadableModel
        As `Formulation.read`, and if no formulation has built the model; a ValueError.

    Examples
    --------
    >>> from dlsched.models import build, hadar, read, solve
    >>> instance = hadar.random(0)
    >>> model = build("hadar/hall", instance)
    >>> solve(model).objective
    34.0
    >>> schedule = read(model, instance)
    >>> hadar.check(instance, schedule), hadar.utility(instance, schedule), list(schedule.jobs)
    ([], 34.0, ['job2', 'job3'])
    """
    expect_model(model)
    return formulation(built_by(model)).read(model, instance)
