"""What a model is made of: components with the paper's equation, size and largest big-M, and the data."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any

from dlsched.errors import InputError
from dlsched.models.parameters import expect_current, is_derived_from
from dlsched.readable import Readable, Section
from dlsched.solvers.components import valueless, without_number
from dlsched.tolerances import FEASIBLE, TOLERANCE, WHOLE

_EQUATION = re.compile(r"^((?:\([^()]*\)\s*)+)")
_INDEX = re.compile(r"\[.*?\](?=[._]|$)")


@dataclass(frozen=True, slots=True)
class Component:
    """One constraint, objective or disjunction of a model.

    Attributes
    ----------
    equation : str
        The paper's numbers at the start of its ``doc``; empty where it has none.
    name : str
        Without indices; a constraint inside disjuncts as ``disjunct.constraint``.
    text : str
        The rest of its ``doc``.
    rows : int
        Rows (a disjunction counts its either-ors, which are no rows until it is transformed).
    binary, integer, continuous : int
        Distinct variables in it, by kind.
    nonzeros : int
    big_m : float or None
        Largest big-M in absolute value, where the either-or is (or would be) written with ``gdp.bigm``.
    least, most : float or None
        Absolute value of the smallest and the largest coefficient; None where nothing in it is linear.
    spread : float or None
        The largest ratio of two coefficients of one row.
    """

    equation: str
    name: str
    text: str
    rows: int
    binary: int
    integer: int
    continuous: int
    nonzeros: int
    big_m: float | None
    least: float | None = None
    most: float | None = None
    spread: float | None = None


class Updates(StrEnum):
    """What becomes of a model when one of its data is changed.

    Examples
    --------
    >>> from dlsched.models import Updates, build, hadar, inspect
    >>> parameters = inspect(build("hadar/p1", hadar.random(0))).parameters
    >>> [parameter.name for parameter in parameters if parameter.updates is Updates.FOLLOWS]
    ['utility']
    >>> [parameter.name for parameter in parameters if parameter.updates == "rebuild"]
    ['count']
    """

    FOLLOWS = "follows"
    REBUILD = "rebuild"
    FIXED = "fixed"


@dataclass(frozen=True, slots=True)
class Parameter:
    """Data of a model.

    Attributes
    ----------
    name : str
    text : str
        Its ``doc``: symbol, what it is and, in brackets, the unit.
    values : int
        How many numbers it has.
    least, most : float or None
        None where it has no numbers.
    updates : Updates
        What follows a change of a value: the model does; it is refused and to be built anew; or it cannot be changed.

    Examples
    --------
    >>> from dlsched.models import build, hadar, inspect
    >>> for parameter in inspect(build("hadar/p1", hadar.random(0))).parameters:
    ...     print(parameter.name, parameter.values, parameter.most, parameter.updates)
    arrival 3 3 fixed
    gang 3 3 fixed
    rate 6 1.0 fixed
    utility 6 19.0 follows
    count 4 2 rebuild
    """

    name: str
    text: str
    values: int
    least: float | None
    most: float | None
    updates: Updates


@dataclass(frozen=True, slots=True)
class Inspection(Readable):
    """The parts of a model and its sizes.

    Attributes
    ----------
    model : str
    components : tuple of Component
    rows, nonzeros : int
        Of the constraints.
    binary, integer, continuous : int
        Variables of the model, by kind.
    disjunctions : int
        Either-ors that are still to be transformed.
    big_m : float or None
        The largest of all.
    parameters : tuple of Parameter
        The data that are in the model as Params.
    big_m_at : str
        The constraint that has it.
    big_m_binds : tuple of str
        Constraints of alternatives that were not taken which, with their M, hold with equality at the values in the
        model: a smaller one would cut the point off. Of a model after ``gdp.bigm``, solved.
    warnings : tuple of str
        What solvers find hard in its numbers.

    Examples
    --------
    >>> import pyomo.environ as pyo
    >>> from dlsched.models import inspect
    >>> m = pyo.ConcreteModel("knapsack")
    >>> m.x = pyo.Var([1, 2], domain=pyo.Binary)
    >>> m.room = pyo.Constraint(expr=2 * m.x[1] + 300 * m.x[2] <= 4, doc="(1d) devices")
    >>> m.total = pyo.Objective(expr=m.x[1] + m.x[2], sense=pyo.maximize)
    >>> sizes = inspect(m)
    >>> sizes.rows, sizes.nonzeros, sizes.binary, [part.name for part in sizes.components]
    (1, 2, 2, ['room', 'total'])
    """

    model: str
    components: tuple[Component, ...]
    rows: int
    nonzeros: int
    binary: int
    integer: int
    continuous: int
    disjunctions: int
    big_m: float | None
    parameters: tuple[Parameter, ...]
    big_m_at: str = ""
    big_m_binds: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()

    def dump(self) -> dict[str, Any]:
        """Return plain JSON data."""
        return asdict(self)

    def _sections(self) -> Iterable[Section]:
        rows = [
            (c.equation, c.name, c.rows, c.binary, c.integer, c.continuous, c.nonzeros, c.big_m)
            for c in self.components
        ]
        rows.append(("", "in all", self.rows, self.binary, self.integer, self.continuous, self.nonzeros, self.big_m))
        columns = ("equation", "component", "rows", "binary", "integer", "real", "nonzeros", "big-M")
        yield Section(self.model, rows, columns)
        ranges = [(c.name, c.least, c.most, c.spread) for c in self.components if c.least is not None]
        yield Section("Coefficients", ranges, ("component", "least", "most", "most in a row by least"))
        if self.big_m_binds:
            binding = [(", ".join(self.big_m_binds),)]
            yield Section(f"The largest big-M is of {self.big_m_at}; at this point big-M binds in", binding)
        if self.warnings:
            yield Section("Warnings", [(text,) for text in self.warnings])
        data = [(p.name, p.values, p.least, p.most, p.text) for p in self.parameters]
        if data:
            yield Section("Data", data, ("parameter", "values", "least", "most", "what it is"))


def inspect(model: Any) -> Inspection:
    """Describe a Pyomo model, its disjunctions included.

    Parameters
    ----------
    model : pyomo.environ.ConcreteModel

    Returns
    -------
    Inspection

    Raises
    ------
    TypeError
        If it is no Pyomo model.
    InputError
        If it is abstract, a Param was changed that it does not follow, or a coefficient has no value: 1/p where p is 0.

    Examples
    --------
    >>> import pyomo.environ as pyo
    >>> from dlsched.models import inspect
    >>> m = pyo.ConcreteModel("knapsack")
    >>> m.x = pyo.Var([1, 2], domain=pyo.Binary)
    >>> m.room = pyo.Constraint(expr=2 * m.x[1] + 300 * m.x[2] <= 4, doc="(1d) devices")
    >>> m.total = pyo.Objective(expr=m.x[1] + m.x[2], sense=pyo.maximize)
    >>> print(inspect(m))
    knapsack
      equation  component  rows  binary  integer  real  nonzeros  big-M
      (1d)      room          1       2        0     0         2
                total         1       2        0     0         2
                in all        1       2        0     0         2
    Coefficients
      component  least  most  most in a row by least
      room           2   300                     150
      total          1     1                       1
    """
    import pyomo.environ as pyo
    from pyomo.gdp import Disjunct, Disjunction

    expect_current(model)
    tallies: dict[str, _Tally] = {}
    largest, at, binding = _largest_m(model)
    with naming_numbers(model):
        for data in model.component_data_objects(
            (pyo.Objective, pyo.Constraint), active=True, descend_into=(pyo.Block, Disjunct)
        ):
            parent = source_of(data).parent_component()
            tally = tallies.setdefault(_name(parent), _Tally(parent, pyo))
            tally.add(data, largest.get(str(data.name)))
    disjunctions = 0
    for data in model.component_data_objects(Disjunction, active=True, descend_into=(pyo.Block, Disjunct)):
        parent = data.parent_component()
        tallies.setdefault(_name(parent), _Tally(parent, pyo)).rows += 1
        disjunctions += 1
    kinds = _kinds(model, pyo, Disjunct)
    components = tuple(tally.frozen(name) for name, tally in tallies.items())
    counted = [tally for tally in tallies.values() if tally.component.ctype is pyo.Constraint]
    return Inspection(
        model=model.name,
        components=components,
        rows=sum(tally.rows for tally in counted),
        nonzeros=sum(tally.nonzeros for tally in counted),
        binary=kinds["binary"],
        integer=kinds["integer"],
        continuous=kinds["continuous"],
        disjunctions=disjunctions,
        big_m=max(largest.values(), default=None),
        parameters=tuple(
            _parameter(param) for param in model.component_objects(pyo.Param, descend_into=(pyo.Block, Disjunct))
        ),
        big_m_at=at,
        big_m_binds=binding,
        warnings=tuple(_warnings(components)),
    )


class _Tally:
    """Counts for one component while the model is walked."""

    def __init__(self, component: Any, pyo: Any) -> None:
        self.component = component
        self.rows = 0
        self.nonzeros = 0
        self.big_m: float | None = None
        self.least, self.most, self.spread = math.inf, 0.0, 1.0
        self.variables: dict[int, Any] = {}
        self._is_constraint = component.ctype is pyo.Constraint

    def add(self, data: Any, big_m: float | None) -> None:
        from pyomo.core.expr.visitor import identify_variables

        body = data.body if self._is_constraint else data.expr
        found = list(identify_variables(body, include_fixed=False))
        self.rows += 1
        self.nonzeros += len(found)
        self.variables.update((id(v), v) for v in found)
        if big_m is not None:
            self.big_m = max(big_m, self.big_m or 0.0)
        terms = linear_terms(body)
        sizes = [] if terms is None else [size for size in (abs(float(c)) for c in terms.linear_coefs) if size]
        if sizes:
            self.least, self.most = min(self.least, *sizes), max(self.most, *sizes)
            self.spread = max(self.spread, max(sizes) / min(sizes))

    def frozen(self, name: str) -> Component:
        equation, text = described(self.component)
        kinds = [_kind(v) for v in self.variables.values()]
        return Component(
            equation=equation,
            name=name,
            text=text,
            rows=self.rows,
            binary=kinds.count("binary"),
            integer=kinds.count("integer"),
            continuous=kinds.count("continuous"),
            nonzeros=self.nonzeros,
            big_m=self.big_m,
            least=self.least if self.most else None,
            most=self.most or None,
            spread=self.spread if self.most else None,
        )


def described(component: Any) -> tuple[str, str]:
    """Return the paper's numbers at the start of a component's ``doc``, and the rest; empty where it has none."""
    doc = component.doc or ""
    match = _EQUATION.match(doc)
    return (match.group(1).strip(), doc[match.end() :]) if match else ("", doc)


def _parameter(param: Any) -> Parameter:
    import pyomo.environ as pyo

    # A Param that is yet to be set has no value, and extract_values() refuses it.
    mutable = param.mutable
    values = (
        [pyo.value(data, exception=False) for data in param.values()] if mutable else param.extract_values().values()
    )
    numbers = [value for value in values if isinstance(value, int | float)]
    updates = Updates.REBUILD if is_derived_from(param) else Updates.FOLLOWS if mutable else Updates.FIXED
    least, most = (min(numbers), max(numbers)) if numbers else (None, None)
    return Parameter(_name(param), param.doc or "", len(param), least, most, updates)


def _name(component: Any) -> str:
    """Return the component's name without any index: of the blocks around it, or in the names that Pyomo makes up."""
    parts = [component.local_name]
    block = component.parent_block()
    while block is not None and block.parent_block() is not None:
        parts.append(block.parent_component().local_name)
        block = block.parent_block()
    return unindexed(".".join(reversed(parts)))


def unindexed(name: str) -> str:
    """Return a name without any index."""
    return _INDEX.sub("", name)


def _kind(variable: Any) -> str:
    if variable.is_binary():
        return "binary"
    return "integer" if variable.is_integer() else "continuous"


def _kinds(model: Any, pyo: Any, disjunct: Any) -> dict[str, int]:
    counts = {"binary": 0, "integer": 0, "continuous": 0}
    for variable in model.component_data_objects(pyo.Var, descend_into=(pyo.Block, disjunct)):
        counts[_kind(variable)] += 1
    return counts


def source_of(data: Any) -> Any:
    """Return the constraint of a disjunct that a GDP transformation wrote this row for, else the row itself."""
    from pyomo.gdp import GDP_Error
    from pyomo.gdp.util import get_src_constraint

    try:
        return get_src_constraint(data)
    except (GDP_Error, KeyError, AttributeError):
        return data


def is_disjunctive(model: Any) -> bool:
    """Tell whether a model has either-or that is still to be transformed."""
    from pyomo.gdp import Disjunction

    return next(model.component_data_objects(Disjunction, active=True, descend_into=True), None) is not None


def expect_values(expression: Any) -> None:
    """Refuse an expression in which a Param, a variable that is fixed, or a named expression has no value.

    Raises
    ------
    InputError
    """
    missing = valueless(expression)
    if missing:
        raise InputError(missing)


@contextmanager
def naming_numbers(model: Any) -> Iterator[None]:
    """Name the place in a model at which a division by 0, or a number that no float holds, ends the block.

    Raises
    ------
    InputError
    """
    try:
        yield
    except ArithmeticError:
        if said := without_number(model):
            raise InputError(said) from None
        raise


def linear_terms(expression: Any, *, values: bool = True) -> Any:
    """Return an expression as a constant, linear terms, and the rest; None where Pyomo does not take it apart.

    Without `values`, coefficients and constants are expressions of mutable Params.
    """
    from pyomo.repn import generate_standard_repn

    try:
        return generate_standard_repn(expression, quadratic=False, compute_values=values)
    except ValueError:
        return None
    except (AttributeError, TypeError):  # the former of a named expression without one
        expect_values(expression)
        return None


def _warnings(components: Iterable[Component]) -> Iterator[str]:
    """Yield what solvers find hard: rows of numbers of very different size, and a big-M that forgives too much."""
    for component in components:
        if component.least is None:
            continue
        if component.spread is not None and component.spread * FEASIBLE > 1:
            yield (
                f"{component.name}: coefficients of one row differ {component.spread:.3g} times: what a solver "
                f"forgives in the largest term hides the smallest; choose other units"
            )
        if component.big_m is not None and component.big_m * TOLERANCE > component.least:
            yield (
                f"{component.name}: big-M is {component.big_m:.9g}: an indicator that is {TOLERANCE:g} off, which "
                f"solvers take for whole, forgives more than the smallest coefficient, {component.least:.6g}; tighten "
                f"the bounds of its variables, or use gdp.hull"
            )


def _largest_m(model: Any) -> tuple[dict[str, float], str, tuple[str, ...]]:
    """Return the largest absolute M of each constraint of a disjunct, by name, which has it, and which of them bind.

    A clone stands in for a plain GDP. Where a constraint is unbounded, there is no M.
    """
    import pyomo.environ as pyo
    from pyomo.gdp import GDP_Error

    bigm = pyo.TransformationFactory("gdp.bigm")
    disjunctive = is_disjunctive(model)
    try:
        written = bigm.create_using(model) if disjunctive else model
    except GDP_Error:
        return {}, "", ()
    ms = list(_ms(bigm, written))
    at = max(ms, key=lambda one: one[1])[0].name if ms else ""
    if disjunctive:
        return {str(constraint.name): m for constraint, m in ms}, at, ()
    rows = [(constraint, row, m) for constraint, m in ms for row in bigm.get_transformed_constraints(constraint)]
    binding = dict.fromkeys(str(constraint.name) for constraint, row, _ in rows if _binds(constraint, row))
    return {str(row.name): m for _, row, m in rows}, at, tuple(binding)


def _binds(constraint: Any, row: Any) -> bool:
    """Tell whether a row that was written with an M holds with equality though its alternative was not taken."""
    import pyomo.environ as pyo

    taken = constraint.parent_block().binary_indicator_var.value
    body = pyo.value(row.body, exception=False)
    if taken is None or body is None or taken > WHOLE:
        return False
    return any(side is not None and abs(body - side) <= TOLERANCE * max(1.0, abs(side)) for side in (row.lb, row.ub))


def _ms(bigm: Any, model: Any) -> Iterator[tuple[Any, float]]:
    """Yield the constraints of disjuncts that were written with an M, and the largest of each."""
    try:
        values = bigm.get_all_M_values_by_constraint(model)
    except (AttributeError, KeyError):
        return
    for constraint, ms in values.items():
        yield constraint, max(abs(m) for m in ms if m is not None)
