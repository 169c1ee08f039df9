"""The contract of all transformations: what they return, and the point that comes back.

A transformation is a function from a model (or other data) to a frozen result that keeps to `Transformed`. `Recovery`
gives a class that ``recover``; `dlsched.relaxations.conformance` checks a transformation against the contract.

Duals are shadow prices throughout, for either sense of the objective: the change of the optimal objective value per
unit of a row's right-hand side. This is what HiGHS reports.

===========  ==================  ==================  ===========
objective    dual of a >= row    dual of a <= row    dual of =
===========  ==================  ==================  ===========
minimise     >= 0                <= 0                free
maximise     <= 0                >= 0                free
===========  ==================  ==================  ===========

A range row has one dual, the sum over its two sides. A variable's reduced cost is its objective coefficient minus what
its column costs at the duals, which is the sum of the duals of its two bounds.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Generic, Protocol, TypeVar, runtime_checkable

import numpy as np

from dlsched.arguments import checked, described, finite, vector
from dlsched.errors import InputError, shown
from dlsched.lazy import pyo
from dlsched.solvers.matrix import Floats


class TransformationRefused(ValueError):
    """A transformation cannot handle the model; the message names the component, the reason and the remedy.

    Examples
    --------
    >>> import pyomo.environ as pyo
    >>> from dlsched.models import solve
    >>> from dlsched.relaxations import TransformationRefused, dual, relax
    >>> m = pyo.ConcreteModel()
    >>> m.x = pyo.Var([1, 2], domain=pyo.Binary)
    >>> m.room = pyo.Constraint(expr=3 * m.x[1] + 4 * m.x[2] <= 5)
    >>> m.worth = pyo.Objective(expr=3 * m.x[1] + 2 * m.x[2], sense=pyo.maximize)
    >>> try:
    ...     result = dual(m)
    ... except TransformationRefused as refusal:
    ...     print(refusal)
    ...     result = dual(relax(m).model)
    variable 'x[1]' is not continuous: apply relax first
    >>> print(round(solve(result.model).objective, 6))
    4.0
    """


@dataclass(frozen=True, slots=True, eq=False)
class Point:
    """A point of a model, as far as it was given.

    Attributes
    ----------
    values : ComponentMap
        Variable to value.
    duals : ComponentMap
        Constraint to its dual, a shadow price. Rows that the transformation left out have dual 0: rows without
        variables and rows without a finite side.
    reduced_costs : ComponentMap
        Variable to its reduced cost, where the transformation knows it.

    Examples
    --------
    >>> import pyomo.environ as pyo
    >>> from dlsched.models import solve
    >>> from dlsched.relaxations import relax
    >>> m = pyo.ConcreteModel()
    >>> m.x = pyo.Var([1, 2], domain=pyo.Binary)
    >>> m.room = pyo.Constraint(expr=3 * m.x[1] + 4 * m.x[2] <= 5)
    >>> m.worth = pyo.Objective(expr=3 * m.x[1] + 2 * m.x[2], sense=pyo.maximize)
    >>> relaxation = relax(m)
    >>> solution = solve(relaxation.model)
    >>> point = relaxation.recover()
    >>> print(m.x[2].value, round(point.values[m.x[2]], 6))
    None 0.5
    >>> point.load()
    >>> print(round(m.x[2].value, 6), round(pyo.value(m.worth), 6))
    0.5 4.0
    """

    values: Any = field(default_factory=lambda: pyo.ComponentMap())
    duals: Any = field(default_factory=lambda: pyo.ComponentMap())
    reduced_costs: Any = field(default_factory=lambda: pyo.ComponentMap())

    def load(self) -> None:
        """Set the variables to the values, unchecked: a relaxed value need not lie in the variable's domain."""
        for variable, value in self.values.items():
            if not variable.fixed:
                variable.set_value(value, skip_validation=True)


P = TypeVar("P", bound=Point, covariant=True)


@runtime_checkable
class Transformed(Protocol):
    """What a transformation returns: the new model, and the way back.

    Attributes
    ----------
    model : pyomo.environ.ConcreteModel
        The new model; built when first asked for where the method works on arrays.
    source : pyomo.environ.ConcreteModel
        The model it was made from, unchanged; where the method takes other data, the model that these stand for, built
        when first asked for.

    Examples
    --------
    >>> import pyomo.environ as pyo
    >>> from dlsched.models import solve
    >>> from dlsched.relaxations import Transformed, lift_bounds, relax
    >>> def bound(result: Transformed) -> float:
    ...     solve(result.model)
    ...     result.recover(load=True)
    ...     return round(pyo.value(next(result.source.component_data_objects(pyo.Objective))), 6)
    >>> m = pyo.ConcreteModel()
    >>> m.x = pyo.Var(domain=pyo.Integers, bounds=(0, 2.5))
    >>> m.worth = pyo.Objective(expr=3 * m.x + 1, sense=pyo.maximize)
    >>> print(bound(lift_bounds(m)), bound(relax(m)))
    7.0 8.5
    """

    @property
    def model(self) -> Any:
        """The new model."""

    @property
    def source(self) -> Any:
        """The model that points are recovered to."""

    def recover(self, x: Any = None, duals: Any = None, *, load: bool = False) -> Point:
        """Map a point and duals of the new model back to the source.

        Parameters
        ----------
        x : ComponentMap, optional
            Value of each variable of `model`; by default the values loaded in it. Where the method works on arrays,
            also an ndarray of shape (columns,).
        duals : ComponentMap, optional
            Dual of each constraint of `model`, as shadow prices; a Pyomo Suffix is such a map. Where the method works
            on arrays, also an ndarray of shape (rows,).
        load : bool
            Also set the source's variables to the values, which may be fractional; fixed ones stay as they are.

        Returns
        -------
        Point
            Of the source, as far as `x` and `duals` tell.

        Raises
        ------
        InputError
            If nothing is loaded: the new model was not solved. If no point of the source corresponds, or `x` or `duals`
            say nothing of the new model's components, have what is no finite number, or another shape.
        """


class Recovery(ABC, Generic[P]):
    """Gives a result ``recover``, with the arguments of `Transformed.recover` checked; a subclass maps the point.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> import pyomo.environ as pyo
    >>> from dlsched.models import solve
    >>> from dlsched.relaxations import Point, Recovery
    >>> @dataclass(frozen=True)
    ... class Minimised(Recovery[Point]):
    ...     model: pyo.ConcreteModel
    ...     source: pyo.ConcreteModel
    ...
    ...     def _recovered(self, x, duals):
    ...         own = self.model.component_data_objects(pyo.Var)
    ...         pairs = ((self.source.find_component(v), v.value if x is None else x[v]) for v in own)
    ...         return Point(pyo.ComponentMap(pairs))
    >>> m = pyo.ConcreteModel()
    >>> m.x = pyo.Var(bounds=(0, 4))
    >>> m.worth = pyo.Objective(expr=3 * m.x, sense=pyo.maximize)
    >>> copy = m.clone()
    >>> copy.worth.set_value(-copy.worth.expr)
    >>> copy.worth.sense = pyo.minimize
    >>> solution = solve(copy)
    >>> point = Minimised(copy, m).recover(load=True)
    >>> print(m.x.value, pyo.value(m.worth))
    4.0 12.0
    """

    @checked
    def recover(
        self,
        x: Floats | pyo.ComponentMap | None = None,
        duals: Floats | pyo.ComponentMap | None = None,
        *,
        load: bool = False,
    ) -> P:
        """Map a point and duals of the new model back to the source: `Transformed.recover`."""
        point = self._recovered(x, duals)
        if load:
            point.load()
        return point

    @abstractmethod
    def _recovered(self, x: Any, duals: Any) -> P:
        """Return the point of the source."""


def expect_known(name: str, given: Any, known: Iterable[Any]) -> None:
    """Refuse what is no map, and a map that says nothing of the transformed model, as one of the source's does.

    Raises
    ------
    TypeError, InputError
    """
    if given is None:
        return
    if not isinstance(given, pyo.ComponentMap):
        raise TypeError(f"{name}: expected a ComponentMap or None, got {described(given)}")
    if given and not any(component in given for component in known):
        first = next(iter(given), None)
        raise InputError(f"{name}: '{getattr(first, 'name', first)}' is not of the transformed model, nor is any other")


def number_of(name: str, component: Any, value: Any) -> float:
    """Return a value of a component as a float.

    Raises
    ------
    InputError
        If it is no finite number.
    """
    with suppress(TypeError, ValueError, OverflowError):
        if math.isfinite(number := float(value)):
            return number
    raise InputError(f"{name}: {component.name} has the value {shown(value)}, which is no finite number")


def expect_duals(model: Any, duals: Any) -> None:
    """Refuse duals of another model, and what is no number; errors as for `values_of`."""
    if duals is not None:
        values_of(model.component_data_objects(pyo.Constraint, descend_into=True), duals, "duals")


def values_of(
    components: Iterable[Any], x: Any, name: str = "x", is_fixed: Callable[[Any], bool] = lambda v: bool(v.fixed)
) -> Any:
    """Return component to number, from `x` or else the values that are loaded; what has none is left out.

    Parameters
    ----------
    components : iterable
    x : ComponentMap or None
    name : str
        Of the argument.
    is_fixed : callable
        Tells of a variable whether it had its value before the transformed model was solved.

    Raises
    ------
    InputError
        If nothing is loaded: the transformed model was not solved. If `x` says nothing of its components, or a value
        is no finite number.
    """
    known = list(components)
    expect_known(name, x, known)
    pairs = ((v, v.value if x is None else x.get(v)) for v in known)
    found = pyo.ComponentMap((v, number_of(name, v, value)) for v, value in pairs if value is not None)
    if x is None and (free := [v for v in known if not is_fixed(v)]) and not any(v in found for v in free):
        raise InputError("no variable of the transformed model has a value: solve it, or pass a map from its variables")
    return found


def array_of(name: str, given: Any, size: int, components: Callable[[], Sequence[Any]]) -> Floats:
    """Return an array, a map from components or the values loaded in them as an array of shape (size,).

    Parameters
    ----------
    name : str
        Of the argument.
    given : ndarray, ComponentMap or None
    size : int
    components : callable
        Returns the Pyomo components in the array's order, None where there is none.
    """
    if given is not None and not isinstance(given, pyo.ComponentMap):
        return finite(name, vector(name, given, size))
    ordered = components()
    values = values_of((component for component in ordered if component is not None), given, name)
    return np.array([values.get(component, 0.0) for component in ordered], dtype=float)
