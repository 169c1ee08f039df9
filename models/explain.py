"""Why a model has no point, and what holds its optimum where it is: in the names and equation numbers of its parts.

Of a model without a point: constraints, bounds and, where needed, integrality that cannot hold together, so that
without any one of them there is a point (see `dlsched.solvers.infeasible`); that variables are nonnegative, or binary,
is taken for granted. Of one with a point: the rows that bind at
its optimum, with their duals, and variables at their bounds, with their reduced costs; integers are fixed at their
optimal values first, as a program with integers has no duals.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from dlsched.arguments import at_least, checked, expect_model
from dlsched.arithmetic import dot
from dlsched.errors import InputError
from dlsched.models.inspect import described, is_disjunctive, source_of, unindexed
from dlsched.models.parameters import expect_current
from dlsched.models.solve import is_crossed, unused_variables
from dlsched.models.words import place_of
from dlsched.readable import Readable, Section
from dlsched.solvers.infeasible import InfeasibleSubsystem, contradiction, enough, infeasible_subsystem
from dlsched.solvers.matrix import (
    Floats,
    InfeasibleError,
    Matrix,
    compile_model,
    constant,
    constant_excess,
    is_constant,
)
from dlsched.solvers.propagation import Step, refutation
from dlsched.solvers.solution import SolverError, Status
from dlsched.solvers.solve import OptimalPoint, solve_matrix, solve_to_optimality
from dlsched.tolerances import FEASIBLE, TOLERANCE

_WHOLE = 3
"""Rows of one component that are written out; of more the names are told. Arbitrary: a conflict fits a screen."""

_SOLVED = 40
"""Members of a conflict for whose limits it is asked what would do, a solve each. Arbitrary: more are not read."""

_STEPS = 12
"""Steps of a story that is told. Arbitrary: a longer one explains nothing."""

_SYMBOL = re.compile(r"^\S+, ")
"""The paper's symbol at the start of a variable's ``doc``."""

_TERMS = 8
"""Terms of a row that are written out; arbitrary: they fit a line or two."""


@dataclass(frozen=True, slots=True)
class Side:
    """One side of a constraint, or a bound of a variable.

    Attributes
    ----------
    name : str
        Of the constraint or variable, with its index; of a row that a GDP transformation wrote, of its source.
    equation, text : str
        The paper's number and the rest of the component's ``doc``; empty where it has none.
    sense : {">=", "<="}
    limit : float
    algebra : str
        The row written out, or the variable.
    reach : float or None
        Of a member of a conflict: how far the left side can go towards the limit within the bounds of its variables,
        other rows left aside; None where they leave it unbounded.
    dual : float or None
        Of a side that binds at an optimum: the change of the objective for each unit that the limit is raised.
    place : str
        What its index stands for in the words of the model's Sets: ``job a, slot 2``.
    enough : float or None
        Of a member of a conflict: the nearest limit with which there is a point, the other members as they are.

    Examples
    --------
    >>> import pyomo.environ as pyo
    >>> from dlsched.models import explain
    >>> m = pyo.ConcreteModel()
    >>> m.x = pyo.Var(domain=pyo.NonNegativeReals)
    >>> m.room = pyo.Constraint(expr=2 * m.x <= 7, doc="(1d) devices")
    >>> m.total = pyo.Objective(expr=3 * m.x, sense=pyo.maximize)
    >>> (side,) = explain(m).binding
    >>> side.equation, side.text, side.algebra, side.sense, side.limit, side.dual
    ('(1d)', 'devices', '2 x', '<=', 7.0, 1.5)
    """

    name: str
    equation: str
    text: str
    sense: str
    limit: float
    algebra: str
    reach: float | None = None
    dual: float | None = None
    place: str = ""
    enough: float | None = None

    @property
    def named(self) -> str:
        """Equation number and name."""
        return " ".join(filter(None, (self.equation, self.name)))

    def __str__(self) -> str:
        told = f"{self.named}: {self.text}: " if self.text else f"{self.named}: "
        told += f"{self.algebra} {self.sense} {self.limit:.9g}"
        notes = []
        if self.reach is not None and self.algebra != self.name:
            notes.append(f"alone it could be {self.reach:.9g}")
        if self.enough is not None:
            notes.append(f"{self.enough:.9g} would do")
        if notes:
            told += f" ({'; '.join(notes)})"
        if self.dual is not None:
            told += f" (dual {self.dual:.9g})"
        return told


@dataclass(frozen=True, slots=True)
class Conflict(Readable):
    """Sides and bounds that no point keeps all.

    Attributes
    ----------
    sides : tuple of Side
    integers : tuple of str
        Variables in them that have to be whole, where that is needed: with fractions there is a point.
    irreducible : bool
        Whether it is shown that there is a point without any one of them.
    story : tuple of str
        What follows from them one by one, up to one that cannot hold, where that shows it; and what they come to added
        up, where whole numbers are not needed.

    Examples
    --------
    >>> import pyomo.environ as pyo
    >>> from dlsched.models import explain
    >>> m = pyo.ConcreteModel()
    >>> m.x = pyo.Var(bounds=(0, 9))
    >>> m.least = pyo.Constraint(expr=2 * m.x >= 8, doc="(1) work")
    >>> m.most = pyo.Constraint(expr=m.x <= 3, doc="(2) devices")
    >>> m.total = pyo.Objective(expr=m.x)
    >>> conflict = explain(m).conflict
    >>> [(side.equation, side.name) for side in conflict.sides], conflict.irreducible
    ([('(1)', 'least'), ('(2)', 'most')], True)
    """

    sides: tuple[Side, ...]
    integers: tuple[str, ...]
    irreducible: bool
    story: tuple[str, ...] = ()

    def _sections(self) -> Iterable[Section]:
        what = "; without any one of them there is a point:" if self.irreducible else ":"
        whole = [f"whole numbers: {_listed(self.integers)}"] if self.integers else []
        yield _list(f"These cannot hold together{what}", [*_grouped(self.sides), *whole])
        if self.story:
            yield _list("In words:", self.story)


@dataclass(frozen=True, slots=True)
class Raised:
    """What becomes of an optimum with more of something, found by solving again.

    Attributes
    ----------
    name : str
        Of the constraints whose upper limits are 1 higher.
    objective : float or None
        None where the model has no point any more.
    change : float or None
        Against the optimum before.

    Examples
    --------
    >>> import pyomo.environ as pyo
    >>> from dlsched.models import explain
    >>> m = pyo.ConcreteModel()
    >>> m.x = pyo.Var(domain=pyo.NonNegativeIntegers)
    >>> m.room = pyo.Constraint(expr=2 * m.x <= 7)
    >>> m.total = pyo.Objective(expr=3 * m.x, sense=pyo.maximize)
    >>> (more,) = explain(m, raised=["room"]).raised
    >>> more.name, more.objective, more.change
    ('room', 12.0, 3.0)
    """

    name: str
    objective: float | None
    change: float | None

    def __str__(self) -> str:
        if self.objective is None or self.change is None:
            return f"with 1 more in {self.name}: no point"
        return f"with 1 more in {self.name}: {self.objective:.9g}, a change of {self.change:.9g}"


@dataclass(frozen=True, slots=True)
class Explanation(Readable):
    """What `explain` finds.

    Attributes
    ----------
    conflict : Conflict or None
        Of a model without a point.
    objective : float or None
        Of the optimum; None without one.
    binding : tuple of Side
        Constraints that hold with equality at the optimum, and have a dual other than 0; those with the greatest first.
    bounds : tuple of Side
        Likewise of variables, with reduced costs; integers, which are fixed, are left out.
    raised : tuple of Raised
        What more of something is worth, integers free, for the constraints that were asked for.

    Examples
    --------
    >>> import pyomo.environ as pyo
    >>> from dlsched.models import explain
    >>> m = pyo.ConcreteModel()
    >>> m.x = pyo.Var(domain=pyo.NonNegativeReals)
    >>> m.room = pyo.Constraint(expr=2 * m.x <= 7, doc="(1d) devices")
    >>> m.total = pyo.Objective(expr=3 * m.x, sense=pyo.maximize)
    >>> found = explain(m)
    >>> found.conflict, found.objective, [(side.name, side.dual) for side in found.binding]
    (None, 10.5, [('room', 1.5)])
    """

    conflict: Conflict | None = None
    objective: float | None = None
    binding: tuple[Side, ...] = ()
    bounds: tuple[Side, ...] = ()
    raised: tuple[Raised, ...] = ()

    def _sections(self) -> Iterable[Section]:
        if self.conflict is not None:
            yield from self.conflict._sections()
            return
        yield Section(f"The optimum is {self.objective:.9g}.")
        held = (*self.binding, *self.bounds)
        yield _list(_WHAT_BINDS if held else _NOTHING_BINDS, [*_grouped(held), *map(str, self.raised)])

    def dump(self) -> dict[str, Any]:
        """Return plain JSON data."""
        return asdict(self)


def _list(title: str, lines: Iterable[str]) -> Section:
    return Section(title, [(line,) for line in lines])


_WHAT_BINDS = """\
What binds, integers fixed as they are; a dual, or a reduced cost of a bound, is
the change of the optimum for each unit that the limit is raised:"""
_NOTHING_BINDS = "With its integers fixed as they are, no limit changes it."


def _grouped(sides: Sequence[Side]) -> Iterator[str]:
    """Yield the lines of some sides: those of one component whole where they are few, else their names."""
    groups: dict[tuple[str, str], list[Side]] = {}
    for side in sides:
        groups.setdefault((unindexed(side.name), side.sense), []).append(side)
    for (name, _), mine in groups.items():
        if len(mine) <= _WHOLE:
            yield from map(str, mine)
        else:
            about = " ".join(filter(None, (mine[0].equation, name)))
            text = f": {mine[0].text}" if mine[0].text else ""
            limits = {side.limit for side in mine}
            limit = f"{limits.pop():.9g} each" if len(limits) == 1 else "their limits"
            names = _listed([side.name for side in mine])
            yield f"{about}{text}: {len(mine)} of them {mine[0].sense} {limit}, {names}"


@checked
def explain(model: Any, *, raised: Sequence[str] = (), nodes: int | None = 10_000) -> Explanation:
    """Tell why a model has no point or, where it has one, what holds its optimum.

    Parameters
    ----------
    model : pyomo.environ.ConcreteModel
        Linear, with or without integers and disjunctions (which are written by big-M in a copy). It is left as it is.
    raised : sequence of str
        Constraints, one or all of a component, whose upper limits are raised by 1, all of a name at once, to see what
        that is worth: of the capacity of a type in each slot, one more device.
    nodes : int, optional
        Of the search tree, in each solve that asks whether something can be left out of a conflict.

    Raises
    ------
    TypeError
        If it is no Pyomo model.
    InputError
        If no constraint with an upper limit has a name of `raised`; if the model is abstract or unbounded, or a Param
        was changed that it does not follow.
    ValueError
        If the model is not linear, or has several objectives.
    SolverError
        If no solver decides whether the model has a point.

    Examples
    --------
    >>> import pyomo.environ as pyo
    >>> from dlsched.models import explain
    >>> m = pyo.ConcreteModel()
    >>> m.x = pyo.Var([1, 2], domain=pyo.Binary)
    >>> m.need = pyo.Constraint(expr=2 * m.x[1] + 3 * m.x[2] >= 4, doc="(1) work to be done")
    >>> m.room = pyo.Constraint(expr=m.x[1] + m.x[2] <= 1, doc="(2) devices")
    >>> m.total = pyo.Objective(expr=m.x[1], sense=pyo.maximize)
    >>> print(explain(m))
    These cannot hold together; without any one of them there is a point:
      (1) need: work to be done: 2 x[1] + 3 x[2] >= 4 (alone it could be 5; 3 would
        do)
      (2) room: devices: x[1] + x[2] <= 1 (alone it could be 0; 1.5 would do)
    In words:
      x[1]: at least 0.5, by (1) need
      x[2]: at least 0.666666667, by (1) need
      devices: at least 1.16666667 needed, 1 there, by (2) room
      added up: 2 needed, by 0.5 times (1) need; 1.5 there, by (2) room and the
        bounds
    """
    expect_model(model)
    at_least(1, nodes=nodes)
    expect_current(model)
    linear = _linear(model)
    try:
        matrix = compile_model(linear)
    except InfeasibleError:
        return Explanation(Conflict(tuple(_impossible(model)), (), True))
    for variable in filter(is_crossed, unused_variables(linear, matrix)):
        return Explanation(_crossed(variable))
    found = infeasible_subsystem(matrix, nodes=nodes)
    sides = _Sides(linear, matrix)
    if found is None:
        return _at_optimum(sides, raised)
    # Where integrality is needed, bounds are taken for granted; here they are all there is.
    for variable in filter(is_crossed, matrix.columns if found.integral else ()):
        return Explanation(_crossed(variable))
    return Explanation(sides.conflict(found, nodes))


def _linear(model: Any) -> Any:
    """Return the model, or a copy with its either-or as rows and an objective where it has none."""
    import pyomo.environ as pyo
    from pyomo.common.modeling import unique_component_name
    from pyomo.gdp import GDP_Error

    from dlsched.models.clone import clone

    disjunctive = is_disjunctive(model)
    aimless = next(model.component_data_objects(pyo.Objective, active=True, descend_into=True), None) is None
    if not (disjunctive or aimless):
        return model
    copy, _ = clone(model)
    if aimless:
        copy.add_component(unique_component_name(copy, "no_objective"), pyo.Objective(expr=0.0))
    if disjunctive:
        try:
            pyo.TransformationFactory("gdp.bigm").apply_to(copy)
        except GDP_Error as error:
            raise ValueError(f"the either-or cannot be written as rows: {' '.join(str(error).split())}") from None
    return copy


def _impossible(model: Any) -> Iterator[Side]:
    """Yield the first constraint without free variables that does not hold."""
    import pyomo.environ as pyo

    for constraint in model.component_data_objects(pyo.Constraint, active=True, descend_into=True):
        if is_constant(constraint) and constant_excess(constraint) > TOLERANCE:
            body, lower, upper = constant(constraint), constraint.lb, constraint.ub
            sense, limit = (">=", lower) if lower is not None and body < lower else ("<=", upper)
            equation, text = described(constraint.parent_component())
            yield Side(constraint.name, equation, text, sense, float(limit), f"{body:.9g}", float(body))
            return


def _crossed(variable: Any) -> Conflict:
    """Return the bounds of a variable without a value; that it is an integer counts where a fraction fits between."""
    named = variable.name, *described(variable.parent_component())
    lower, upper = variable.bounds
    sides = tuple(
        Side(*named, sense, float(limit), variable.name, None, None, place_of(variable))
        for sense, limit in ((">=", lower), ("<=", upper))
    )
    return Conflict(sides, (variable.name,) if lower <= upper else (), True)


class _Sides:
    """The sides of a matrix's rows and columns in the names of the model."""

    def __init__(self, model: Any, matrix: Matrix) -> None:
        from pyomo.gdp import Disjunct, Disjunction

        self.matrix = matrix
        either_or = model.component_data_objects(Disjunction, descend_into=(model.ctype, Disjunct))
        self._either_or = {id(choice.algebraic_constraint): choice for choice in either_or}

    def conflict(self, found: InfeasibleSubsystem, nodes: int | None) -> Conflict:
        rows, bounds = ((False, found.lower), (True, found.upper)), ((False, found.least), (True, found.most))
        sides = [self.row(row, upper=upper) for upper, some in rows for row in some]
        sides += [self.bound(column, upper=upper) for upper, some in bounds for column in some]
        used = {int(n) for row in found.rows for n in self._entries(row)[0]} if found.integral else set()
        integers = tuple(self.matrix.column(n) for n in sorted(used) if self.matrix.integer[n])
        return Conflict(
            tuple(self._with_enough(found, sides, nodes)), integers, found.irreducible, tuple(self._story(found))
        )

    def _with_enough(self, found: InfeasibleSubsystem, sides: list[Side], nodes: int | None) -> Iterator[Side]:
        """Yield the sides with the limits that would do; not of an either-or, whose rows are not the user's."""
        members = [(row, upper) for upper, some in ((False, found.lower), (True, found.upper)) for row in some]
        for k, side in enumerate(sides):
            if k >= len(members) or len(sides) > _SOLVED or self.matrix.rows[members[k][0]].name != side.name:
                yield side
            else:
                yield replace(side, enough=enough(self.matrix, found, *members[k], nodes=nodes))

    def _story(self, found: InfeasibleSubsystem) -> Iterator[str]:
        shown = refutation(found.within(self.matrix))
        if shown is not None and len({(step.column, step.upper) for step in shown.steps}) == len(shown.steps) <= _STEPS:
            side = self.row(shown.row, upper=shown.upper)
            for step in shown.steps:
                yield f"{self._bounded(step)}, by {self.row(step.row, upper=False).named}"
            reach, limit = f"{shown.reach:.9g}", f"{side.limit:.9g}"
            about = ": ".join(filter(None, (side.place, side.text or side.name)))
            end = f"at least {reach} needed, {limit} there" if shown.upper else f"{limit} needed, at most {reach} there"
            yield f"{about}: {end}{f', by {side.named}' if side.text else ''}"
        total = contradiction(self.matrix, found)
        if total is not None and total.there >= 0:
            need, leave = self._weighted(total.lower, upper=False), self._weighted(total.upper, upper=True)
            within = " and ".join(filter(None, (leave, "the bounds" if abs(total.bounds) > FEASIBLE else "")))
            yield f"added up: {total.needed:.9g} needed, by {need}; {total.there:.9g} there, by {within}"

    def _weighted(self, weights: Mapping[int, float], *, upper: bool) -> str:
        """Return the rows whose limit is not 0 with their weights; the others only link these."""
        limits = self.matrix.row_upper if upper else self.matrix.row_lower
        told = ((weight, self.row(row, upper=upper).named) for row, weight in weights.items() if limits[row])
        return _listed([name if f"{weight:.6g}" == "1" else f"{weight:.6g} times {name}" for weight, name in told])

    def _bounded(self, step: Step) -> str:
        variable = self.matrix.columns[step.column]
        text = _SYMBOL.sub("", described(variable.parent_component())[1])
        about = f"{place_of(variable)}: {text}" if text and place_of(variable) else variable.name
        return f"{about}: at {'most' if step.upper else 'least'} {step.bound:.9g}"

    def row(self, row: int, *, upper: bool, dual: float | None = None) -> Side:
        matrix, (columns, entries) = self.matrix, self._entries(row)
        # Towards an upper limit the least that the left side can be counts, towards a lower one the most.
        towards = np.where((entries > 0) == upper, matrix.lower[columns], matrix.upper[columns])
        reach = float(dot(entries, towards)) if dual is None and np.isfinite(towards).all() else None
        limit = float((matrix.row_upper if upper else matrix.row_lower)[row])
        source = self._either_or.get(id(matrix.rows[row])) or source_of(matrix.rows[row])
        algebra = _algebra([matrix.column(n) for n in columns], entries.tolist())
        named = source.name, *described(source.parent_component())
        return Side(*named, "<=" if upper else ">=", limit, algebra, reach, dual, place_of(source))

    def bound(self, column: int, *, upper: bool, dual: float | None = None) -> Side:
        matrix, variable = self.matrix, self.matrix.columns[column]
        limit = float((matrix.upper if upper else matrix.lower)[column])
        named = variable.name, *described(variable.parent_component())
        return Side(*named, "<=" if upper else ">=", limit, variable.name, None, dual, place_of(variable))

    def _entries(self, row: int) -> tuple[Any, Floats]:
        start, end = self.matrix.A.indptr[row : row + 2]
        return self.matrix.A.indices[start:end], self.matrix.A.data[start:end]


def _algebra(names: Sequence[str], entries: Sequence[float]) -> str:
    terms: list[str] = []
    for name, entry in list(zip(names, entries, strict=True))[:_TERMS]:
        sign = "-" if entry < 0 else "+" if terms else ""
        size = "" if abs(entry) == 1 else f"{abs(entry):.9g} "
        terms.append(f"{sign} {size}{name}".strip() if terms else f"{sign}{size}{name}")
    if len(names) > _TERMS:
        terms.append(f"+ ... ({len(names) - _TERMS} more terms)")
    return " ".join(terms) or "0"


def _listed(names: Sequence[str]) -> str:
    told = ", ".join(names[:_TERMS])
    return told if len(names) <= _TERMS else f"{told} and {len(names) - _TERMS} more"


def _at_optimum(sides: _Sides, raised: Sequence[str]) -> Explanation:
    matrix = sides.matrix
    best = _best(matrix)
    raw = solve_matrix(matrix.fixed(np.round(best.x)))
    if raw.x is None or raw.row_duals is None or raw.reduced_costs is None:
        raise InputError("the linear program that is left with its integers fixed was not solved")
    rows = [
        sides.row(row, upper=_is_upper(matrix.row_lower[row], matrix.row_upper[row], dual * matrix.sense), dual=dual)
        for row, dual in enumerate(raw.row_duals.tolist())
        if abs(dual) > FEASIBLE
    ]
    bounds = [
        sides.bound(n, upper=_is_upper(matrix.lower[n], matrix.upper[n], cost * matrix.sense), dual=cost)
        for n, cost in enumerate(raw.reduced_costs.tolist())
        if abs(cost) > FEASIBLE and not matrix.integer[n]
    ]
    more = tuple(_raised(sides, name, best.value) for name in raised)
    return Explanation(None, best.value, tuple(_greatest(rows)), tuple(_greatest(bounds)), more)


def _best(matrix: Matrix) -> OptimalPoint:
    """Return an optimum of a matrix that has a point."""
    try:
        best = solve_to_optimality(matrix)
    except SolverError:
        if solve_matrix(matrix).summary.status is not Status.UNBOUNDED:
            raise
        raise InputError("the model has points, and no best one: it is unbounded") from None
    if best is None:
        raise SolverError("solvers find a point of the model without its objective, and none with it")
    return best


def _raised(sides: _Sides, name: str, before: float) -> Raised:
    """Return the optimum with 1 more in the rows of a name; where it is an equation, both of its sides move."""
    matrix = sides.matrix
    known = [sides.row(row, upper=True).name for row in range(len(matrix.rows))]
    chosen = np.array([own == name or unindexed(own) == name for own in known]) & np.isfinite(matrix.row_upper)
    if not chosen.any():
        raise InputError(f"no constraint with an upper limit is called {name}")
    moved = chosen & (matrix.row_lower == matrix.row_upper)
    best = solve_to_optimality(replace(matrix, row_upper=matrix.row_upper + chosen, row_lower=matrix.row_lower + moved))
    return Raised(name, None, None) if best is None else Raised(name, best.value, best.value - before)


def _is_upper(lower: float, upper: float, push: float) -> bool:
    """Tell which of two sides binds: an upper one keeps a minimum from falling, which its negative dual says."""
    if not np.isfinite(lower):
        return True
    return bool(np.isfinite(upper)) and push < 0


def _greatest(sides: list[Side]) -> list[Side]:
    return sorted(sides, key=lambda side: -abs(side.dual or 0.0))
