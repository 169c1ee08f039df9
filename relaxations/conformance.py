"""Whether a transformation keeps to the contract `Transformed`: on models with known optima, every way of using it.

The author of a transformation says what it promises, and runs all checks. A check that fails raises an
`AssertionError` that says which transformation, on which case, breaks what.

Examples
--------
>>> from dlsched.relaxations import conformance, relax
>>> refused = {conformance.Trait.LOGIC, conformance.Trait.SOS, conformance.Trait.GAPS, conformance.Trait.OUTSIDE}
>>> mine = conformance.Transformation(relax, relation=conformance.Relation.BOUND, refuses=frozenset(refused))
>>> conformance.check_all(mine, conformance.cases(conformance.Kind.MODEL)[:6])
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

import numpy as np
import pyomo.environ as pyo
from pyomo.gdp import Disjunct

from dlsched.arguments import checked
from dlsched.arithmetic import dot, sparse_product
from dlsched.errors import noting
from dlsched.once import computing_once
from dlsched.relaxations.charnes_cooper import charnes_cooper
from dlsched.relaxations.conformance_cases import Case, Kind, Trait, cases
from dlsched.relaxations.contract import Point, TransformationRefused, Transformed
from dlsched.relaxations.tree import constants
from dlsched.solvers.matrix import Floats, InfeasibleError, Matrix, NotLinearError, compile_model
from dlsched.solvers.solution import SolverError, Status
from dlsched.solvers.solve import solve_to_optimality
from dlsched.tolerances import TOLERANCE

__all__ = ["Case", "Kind", "Relation", "Trait", "Transformation", "cases", "check", "check_all"]

_DUAL_STATUS = {
    Status.OPTIMAL: {Status.OPTIMAL},
    Status.INFEASIBLE: {Status.INFEASIBLE, Status.UNBOUNDED},
    Status.UNBOUNDED: {Status.INFEASIBLE},
}

_HARD = frozenset(Trait) - {Trait.INTEGER, Trait.PLACED}
"""What keeps a model from being solved as a linear program, where a transformation leaves it in."""


class Relation(StrEnum):
    """How the optimum of the new model, read as the source's value, relates to the source's optimum.

    Examples
    --------
    >>> from dlsched.relaxations import relax
    >>> from dlsched.relaxations.conformance import Relation, Transformation, cases, check
    >>> knapsack = next(case for case in cases() if case.name == "knapsack")
    >>> check(Transformation(relax, relation=Relation.BOUND), knapsack)
    >>> check(Transformation(relax, relation=Relation.EQUAL), knapsack)
    Traceback (most recent call last):
        ...
    AssertionError: relax on knapsack (value): the optimum is 220, the new model's is worth 240.0
    """

    EQUAL = "equal"
    """They are the same, and so are the statuses."""
    BOUND = "bound"
    """It is no worse: at least the optimum of a maximisation, at most that of a minimisation; and it is no looser than
    the continuous relaxation, where a case says what that is worth. What is recovered satisfies the source but for
    integrality."""
    WITHIN = "within a factor"
    """The recovered point's value is within `Transformation.factor` of the source's optimum, a positive minimum."""


@dataclass(frozen=True, slots=True, eq=False)
class _Solution:
    """A solved model.

    Attributes
    ----------
    status : Status
    objective : float
        NaN without an optimum.
    values, duals : ComponentMap
        Of variables and rows; `duals` is None where there are none, as for integer programs.
    """

    status: Status
    objective: float
    values: Any
    duals: Any


def _solve_linear(model: Any) -> _Solution:
    """Solve a linear Pyomo model; a row without variables or crossing bounds make it infeasible, too."""
    nothing = _Solution(Status.INFEASIBLE, np.nan, pyo.ComponentMap(), None)
    for variable in model.component_data_objects(pyo.Var, active=True):
        lower, upper = variable.bounds
        if not variable.fixed and lower is not None and upper is not None and lower > upper:
            return nothing
    try:
        matrix = compile_model(model)
    except InfeasibleError:
        return nothing
    continuous = not matrix.integer.any()
    try:
        found = solve_to_optimality(matrix, duals=continuous)
    except SolverError:
        anywhere = solve_to_optimality(replace(matrix, c=np.zeros_like(matrix.c)))
        return nothing if anywhere is None else replace(nothing, status=Status.UNBOUNDED)
    if found is None:
        return nothing
    values = constants(model, matrix)
    values.update(zip(matrix.columns, found.x.tolist(), strict=True))
    duals = None
    if found.row_duals is not None and continuous:
        duals = pyo.ComponentMap(zip(matrix.rows, found.row_duals.tolist(), strict=True))
    return _Solution(Status.OPTIMAL, found.value, values, duals)


def _solve_fractional(model: Any) -> _Solution:
    """Solve a linear-fractional Pyomo model."""
    linear = charnes_cooper(model)
    solved = _solve_linear(linear.model)
    return replace(solved, values=linear.recover(solved.values).values, duals=None)


@dataclass(frozen=True, slots=True)
class Transformation:
    """A transformation and what it promises.

    Attributes
    ----------
    transform : callable
        From a model to a `Transformed`.
    name : str
        By default that of the callable.
    takes : Kind
    relation : Relation
    factor : float
        Of `Relation.WITHIN`.
    refuses : frozenset of Trait
        What it refuses with a `TransformationRefused`; all else it must transform.
    dualises : bool
        Whether the new model is a dual: its duals are the source's point.
    duals : bool
        Whether recovered duals prove a recovered point of a linear source optimal; the reduced costs that come with
        them are held against their definition.
    worth : callable
        From the source's sense (1 or -1) and the optimum of the new model to the source's value.
    fractional : bool
        Whether the new model is linear-fractional; else it is linear.
    pyomo_name : str
        Its name at the TransformationFactory, if any.
    in_place : bool
        Whether its ``apply_to`` works.

    Examples
    --------
    >>> from dlsched.relaxations import standard_form
    >>> from dlsched.relaxations.conformance import Transformation, cases, check
    >>> negates = Transformation(standard_form, worth=lambda sense, value: sense * value)
    >>> for case in cases():
    ...     if case.name in ("wyndor", "transportation", "ranges"):
    ...         check(negates, case)
    >>> check(Transformation(standard_form), cases()[0])
    Traceback (most recent call last):
        ...
    AssertionError: standard_form on wyndor (value): the optimum is 36, the new model's is worth -36.0
    """

    transform: Callable[[Any], Transformed]
    name: str = ""
    takes: Kind = Kind.MODEL
    relation: Relation = Relation.EQUAL
    factor: float = 1.0
    refuses: frozenset[Trait] = frozenset(Trait) - {Trait.INTEGER, Trait.OBJECTIVES}
    dualises: bool = False
    duals: bool = True
    worth: Callable[[int, float], float] = lambda sense, value: value
    fractional: bool = False
    pyomo_name: str = ""
    in_place: bool = False

    def __str__(self) -> str:
        return self.name or self.transform.__name__


@checked
def check_all(transformation: Transformation, among: Iterable[Case] | None = None) -> None:
    """Check a transformation on every case that it takes, and that it refuses what it says it refuses.

    Parameters
    ----------
    transformation : Transformation
    among : iterable of Case, optional
        By default `cases`.

    Raises
    ------
    AssertionError
        That says what it breaks, on which case.

    Examples
    --------
    >>> from dlsched.relaxations import lift_bounds
    >>> from dlsched.relaxations.conformance import Trait, Transformation, check_all
    >>> refused = {Trait.LOGIC, Trait.SOS, Trait.GAPS, Trait.OUTSIDE}
    >>> check_all(Transformation(lift_bounds, refuses=frozenset(refused)))
    """
    for case in cases(transformation.takes) if among is None else among:
        check(transformation, case)


@checked
@computing_once()  # most checks solve the same new model
def check(transformation: Transformation, case: Case) -> None:
    """Check a transformation on one case; errors as for `check_all`.

    Examples
    --------
    >>> import pyomo.environ as pyo
    >>> from dlsched.relaxations import lift_bounds
    >>> from dlsched.relaxations.conformance import Transformation, cases, check
    >>> def careless(model):
    ...     model.del_component(next(model.component_objects(pyo.Constraint)))
    ...     return lift_bounds(model)
    >>> check(Transformation(lift_bounds), cases()[0])
    >>> check(Transformation(careless), cases()[0])
    Traceback (most recent call last):
        ...
    AssertionError: careless on wyndor (source unchanged): the source is changed
    """
    refused = case.traits & transformation.refuses
    for one in [_check_refused] if refused else _checks(transformation):
        try:
            with noting(f"{transformation} on {case.name}"):
                one(transformation, case)
        except AssertionError as error:
            what = one.__name__.removeprefix("_check_").replace("_", " ")
            raise AssertionError(f"{transformation} on {case.name} ({what}): {error}") from error
        except TransformationRefused as error:
            raise AssertionError(f"{transformation} refuses {case.name}: {error}") from error


Check = Callable[[Transformation, Case], None]


def _checks(transformation: Transformation) -> Iterator[Check]:
    """Yield the checks that a transformation is to pass on what it does not refuse."""
    yield from (_check_result, _check_source_unchanged, _check_value, _check_recovered, _check_loaded)
    if transformation.takes is Kind.MODEL:
        yield _check_twice
    if transformation.pyomo_name:
        yield _check_pyomo_names


def _require(condition: object, message: str) -> None:
    """Raise an AssertionError where a condition does not hold, under ``python -O`` too, which leaves asserts out."""
    if not condition:
        raise AssertionError(message)


def _check_refused(transformation: Transformation, case: Case) -> None:
    """It refuses the case, names what it cannot take, and leaves the model as it was."""
    source = case.build()
    before = _snapshot(source)
    refusal = _refusal(lambda: transformation.transform(source))
    _require(refusal, f"it has {', '.join(case.traits & transformation.refuses)}, but is not refused")
    _require(case.culprit in refusal, f"the refusal does not name {case.culprit!r}: {refusal}")
    _require(_snapshot(source) == before, "refusing changes the model")


def _check_result(transformation: Transformation, case: Case) -> None:
    """The result is frozen, with a model of its own and a `recover` as the contract has it."""
    source = case.build()
    result = transformation.transform(source)
    _require(isinstance(result, Transformed), "the result lacks model, source or recover")
    for name in ("model", "source"):
        try:
            setattr(result, name, None)
        except AttributeError:
            continue
        raise AssertionError(f"the result is not frozen: its {name} can be set")
    _require(result.model is result.model, "each look at .model builds another")
    _require(result.model is not result.source, "the new model is the source")
    _require(case.kind is Kind.RINGS or result.source is source, "its source is not the model that was given")
    contract = [(p.name, p.kind, p.default) for p in inspect.signature(Transformed.recover).parameters.values()]
    own = [(p.name, p.kind, p.default) for p in inspect.signature(type(result).recover).parameters.values()]
    _require(own == contract, f"recover takes {own}")
    stranger = pyo.ConcreteModel()
    stranger.x = pyo.Var()
    try:
        result.recover(pyo.ComponentMap([(stranger.x, 1.0)]))
    except ValueError:
        return
    _require(not _variables(result.model), "recover takes the values of another model's variables")


def _check_source_unchanged(transformation: Transformation, case: Case) -> None:
    """Transforming, solving the result and recovering leave the source as it was."""
    source = case.build()
    before = _snapshot(source)
    result = transformation.transform(source)
    solved = _solved(transformation, case, result.model)
    if solved.status is Status.OPTIMAL:
        result.recover(solved.values, solved.duals)
    _require(_snapshot(source) == before, "the source is changed")


def _check_value(transformation: Transformation, case: Case) -> None:
    """The optimum is related to the source's as promised; where the source has none, the statuses correspond.

    Nothing is known of a source that is not linear, if the case has no optimum.
    """
    result = transformation.transform(case.build())
    origin, new = result.source, _solved(transformation, case, result.model)
    if new.status is Status.NO_SOLUTION:
        return
    if case.optimum is not None:
        status, optimum = Status.OPTIMAL, case.optimum
    else:
        try:
            known = _solve_linear(origin)
        except NotLinearError:
            return
        status, optimum = known.status, known.objective
    if transformation.dualises:
        _require(new.status in _DUAL_STATUS[status], f"the source is {status}, the dual {new.status}")
    elif transformation.relation is not Relation.BOUND:
        _require(new.status is status, f"the source is {status}, the new model {new.status}")
    elif status is not Status.INFEASIBLE:
        _require(new.status is not Status.INFEASIBLE, f"the source is {status}, what bounds it infeasible")
    if not status is new.status is Status.OPTIMAL or transformation.relation is Relation.WITHIN:
        return
    value, sense = transformation.worth(_sense_of(origin), new.objective), _sense_of(origin)
    if transformation.relation is Relation.EQUAL:
        _require(_close(value, optimum), f"the optimum is {optimum}, the new model's is worth {value}")
        return
    _require(sense * (value - optimum) <= TOLERANCE * max(1.0, abs(optimum)), f"{value} does not bound {optimum}")
    if case.optimum is not None:
        relaxed = case.optimum if case.relaxed is None else case.relaxed
        looser = sense * (relaxed - value) > TOLERANCE * max(1.0, abs(relaxed))
        _require(not looser, f"the relaxed optimum is {relaxed}, not {value}")


def _check_recovered(transformation: Transformation, case: Case) -> None:
    """The recovered point satisfies the source and has the value promised; recovered duals prove it optimal, and the
    recovered reduced costs are those of these duals.
    """
    result = transformation.transform(case.build())
    origin, solved = result.source, _solved(transformation, case, result.model)
    if solved.status is not Status.OPTIMAL:
        return
    point = result.recover(solved.values, solved.duals)
    _assert_recovered(transformation, case, origin, point, solved)
    if not transformation.dualises:
        for variable, value in solved.values.items():
            variable.set_value(value, skip_validation=True)
        loaded = result.recover(duals=solved.duals).values
        same = all(_close(loaded.get(v, np.nan), value) for v, value in point.values.items())
        _require(same, "loaded values give another point")
    matrix = _compiled(origin)
    if matrix is not None and solved.duals is not None and transformation.duals and not matrix.integer.any():
        _assert_optimal(matrix, point)


def _assert_recovered(t: Transformation, case: Case, origin: Any, point: Point, solved: _Solution) -> None:
    where, excess = _worst(origin, point.values, whole=t.relation is not Relation.BOUND)
    _require(excess <= TOLERANCE, f"the recovered point breaks {where} by {excess:.3g}")
    value = _value_at(origin, point.values)
    if t.relation is Relation.WITHIN:
        if case.optimum is None:
            raise AssertionError("the case has no known optimum")
        least, most = (1 - TOLERANCE) * case.optimum, (1 + TOLERANCE) * t.factor * case.optimum
        _require(least <= value <= most, f"{value} is not within {t.factor} of {case.optimum}")
    else:
        worth = t.worth(_sense_of(origin), solved.objective)
        _require(_close(value, worth), f"the recovered point is worth {value}, the new model's optimum {worth}")


def _check_loaded(transformation: Transformation, case: Case) -> None:
    """``load=True`` sets the source's variables to the recovered values and nothing else."""
    result = transformation.transform(case.build())
    solved = _solved(transformation, case, result.model)
    if solved.status is not Status.OPTIMAL:
        return
    before = {id(v): (v.fixed, v.value) for v in _variables(result.source)}
    point = result.recover(solved.values, solved.duals, load=True)
    for variable in _variables(result.source):
        was_fixed, old = before[id(variable)]
        expected = old if was_fixed else point.values.get(variable, old)
        _require(variable.fixed == was_fixed, f"loading changes whether {variable.name} is fixed")
        _require(variable.value == expected, f"loading sets {variable.name} to {variable.value}, not {expected}")


def _check_twice(transformation: Transformation, case: Case) -> None:
    """Transforming the result again, as any user's model, keeps its optimum."""
    once = transformation.transform(case.build()).model
    twice = transformation.transform(once).model
    first, second = _solved(transformation, case, once), _solved(transformation, case, twice)
    if first.status is Status.OPTIMAL:
        _require(second.status is Status.OPTIMAL, f"transformed twice, the model is {second.status}")
        value = transformation.worth(_sense_of(once), second.objective)
        _require(_close(value, first.objective), f"transformed twice, {first.objective} becomes {value}")


def _check_pyomo_names(transformation: Transformation, case: Case) -> None:
    """The registered transformation gives the function's model, out of place and, if it can, in place."""
    source = case.build()
    before, expected = _snapshot(source), _snapshot(transformation.transform(source).model)
    registered = pyo.TransformationFactory(transformation.pyomo_name)
    _require(registered is not None, f"Pyomo knows no {transformation.pyomo_name}")
    created = registered.create_using(source)
    _require(_snapshot(created) == expected, "create_using gives another model than the function")
    _require(_snapshot(source) == before, "create_using changes the source")
    solved = _solved(transformation, case, created)
    if solved.status is Status.OPTIMAL:
        point = registered.recover(created, solved.values, solved.duals)
        _assert_recovered(transformation, case, source, point, solved)
    copy = source.clone()
    if transformation.in_place:
        registered.apply_to(copy)
        _require(_snapshot(copy) == expected, "apply_to gives another model than the function")
        return
    refusal = _refusal(lambda: registered.apply_to(copy))
    _require("create_using" in refusal, "apply_to, which is not promised, does not refuse and name create_using")
    _require(_snapshot(copy) == _snapshot(source), "apply_to refuses, but changes the model")


def _refusal(call: Callable[[], Any]) -> str:
    """Return what a call is refused with, nothing where it is not."""
    try:
        call()
    except TransformationRefused as error:
        return str(error)
    return ""


def _solved(transformation: Transformation, case: Case, model: Any) -> _Solution:
    """Solve the new model, where the source's form lets it be one that can be solved; else it has no solution."""
    try:
        return _solve_fractional(model) if transformation.fractional else _solve_linear(model)
    except ValueError as error:
        if not case.traits & _HARD:
            raise AssertionError(f"the new model cannot be solved: {error}") from error
        return _Solution(Status.NO_SOLUTION, np.nan, pyo.ComponentMap(), None)


def _sense_of(model: Any) -> int:
    """Return 1 where the model minimises, -1 where it maximises."""
    return int(_objective(model).sense)


def _value_at(model: Any, values: Any) -> float:
    """Return the objective's value at a point; variables without a value count 0."""
    with_values = _evaluated(model, values, lambda: pyo.value(_objective(model)))
    return float(with_values)


def _worst(model: Any, values: Any, *, whole: bool) -> tuple[str, float]:
    """Return the name of the row or variable that a point breaks most, and by how much, relative to its side.

    Parameters
    ----------
    model : pyomo.environ.ConcreteModel
    values : ComponentMap
        Variables without a value count 0.
    whole : bool
        Whether integer variables have to be whole.
    """

    def excesses() -> Iterator[tuple[float, str]]:
        yield 0.0, ""
        for row in model.component_data_objects(pyo.Constraint, active=True, descend_into=True):
            yield _excess(pyo.value(row.body), row.lb, row.ub), row.name
        for variable in model.component_data_objects(pyo.Var, active=True, descend_into=True):
            if not variable.fixed:
                yield _excess(variable.value, *variable.bounds), variable.name
                if whole and not variable.is_continuous():
                    yield abs(variable.value - round(variable.value)), variable.name

    excess, name = _evaluated(model, values, lambda: max(excesses()))
    return name, excess


def _excess(value: float, lower: float | None, upper: float | None) -> float:
    over = [(side, sign * (value - side)) for side, sign in ((lower, -1), (upper, 1)) if side is not None]
    return max((excess / max(1.0, abs(side)) for side, excess in over if np.isfinite(side)), default=0.0)


def _evaluated(model: Any, values: Any, evaluate: Callable[[], Any]) -> Any:
    """Return what a function says of the model while its variables have values; they get their own back."""
    old = [(variable, variable.value) for variable in _variables(model.model())]
    try:
        for variable, _ in old:
            if not variable.fixed:
                variable.set_value(values.get(variable, 0.0), skip_validation=True)
        return evaluate()
    finally:
        for variable, value in old:
            variable.set_value(value, skip_validation=True)


def _assert_optimal(matrix: Matrix, point: Point) -> None:
    """Hold a primal-dual pair against the conditions of optimality: signs, complementary slackness, equal values."""
    for column in matrix.columns:
        _require(column in point.values, f"the recovered point has no value of {column.name}")
    x = np.array([point.values[column] for column in matrix.columns])
    y = np.array([point.duals.get(row, 0.0) for row in matrix.rows])
    value = matrix.offset
    for prices, activity, lower, upper in (
        (y, sparse_product(matrix.A, x), matrix.row_lower, matrix.row_upper),
        (matrix.c - sparse_product(matrix.A.T, y), x, matrix.lower, matrix.upper),
    ):
        priced = np.abs(prices) > TOLERANCE
        side = np.where(matrix.sense * prices > 0, lower, upper)[priced]
        _require(np.isfinite(side).all(), "a recovered dual prices a side that does not exist")
        gap = np.abs(activity[priced] - side) / np.maximum(1.0, np.abs(side))
        _require((gap <= TOLERANCE).all(), "a recovered dual prices a side that is not tight")
        value += float(dot(prices[priced], side))
    _require(_close(value, matrix.value(x), 10 * TOLERANCE), f"recovered duals prove {value}, not {matrix.value(x)}")
    _assert_reduced(matrix, y, point.reduced_costs)


def _assert_reduced(matrix: Matrix, y: Floats, given: Any) -> None:
    """Hold the reduced costs that are known against their definition: cost less what the column costs at the duals."""
    scales = np.abs(matrix.c) + sparse_product(abs(matrix.A).T, np.abs(y))
    for column, cost, scale in zip(matrix.columns, matrix.c - sparse_product(matrix.A.T, y), scales, strict=True):
        found = given.get(column, cost)
        same = abs(found - cost) <= TOLERANCE * max(1.0, scale)
        _require(same, f"the recovered reduced cost of {column.name} is {found}, not {cost}")


def _compiled(model: Any) -> Matrix | None:
    try:
        return compile_model(model)
    except NotLinearError:
        return None


def _snapshot(model: Any) -> Any:
    """Return everything that a transformation could change in a model, block by block; of other data, these."""
    if not hasattr(model, "block_data_objects"):
        return model
    state: dict[str, Any] = {}
    for block in model.block_data_objects(active=None, descend_into=(pyo.Block, Disjunct)):
        own = list(block.component_objects(descend_into=False))
        state[f"block {block.name}"] = (block.active, sorted(vars(block)), [component.name for component in own])
        for component in own:
            state[f"component {component.name}"] = (component.ctype, component.doc, component.active)
            if component.ctype is pyo.Suffix:
                state[f"suffix {component.name}"] = [(str(k), v) for k, v in component.items()]
            elif component.ctype in (pyo.Set, pyo.RangeSet) and not component.is_indexed():
                state[f"datum {component.name}"] = list(component)
            elif component.ctype not in (pyo.Block, Disjunct):
                for datum in component.values():
                    state[f"datum {getattr(datum, 'name', component.name)}"] = _state(component, datum)
    return state


def _state(component: Any, datum: Any) -> Any:
    if component.ctype is pyo.Var:
        sides = (str(datum.lower), str(datum.upper), datum.bounds)
        return (str(datum.domain), *sides, datum.value, datum.fixed, datum.stale)
    if component.ctype in (pyo.Constraint, pyo.Objective):
        return (str(datum.expr), datum.active, getattr(datum, "sense", None))
    if component.ctype is pyo.Expression:
        return str(datum.expr)
    if component.ctype is pyo.Set:
        return list(datum)
    return str(pyo.value(datum, exception=False)) if component.ctype is pyo.Param else str(datum)


def _objective(model: Any) -> Any:
    return next(model.component_data_objects(pyo.Objective, active=True, descend_into=True))


def _variables(model: Any) -> list[Any]:
    return list(model.component_data_objects(pyo.Var, active=None, descend_into=(pyo.Block, Disjunct)))


def _close(a: float, b: float, tolerance: float = TOLERANCE) -> bool:
    return abs(a - b) <= tolerance * max(1.0, abs(a), abs(b))
