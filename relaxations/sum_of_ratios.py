"""Sums of linear ratios over a polytope to within a factor: Algorithm 1 of the SMD paper, printed and corrected."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyomo.environ as pyo
from pyomo.common.collections import ComponentMap

from dlsched.arguments import checked, positive
from dlsched.errors import InputError
from dlsched.models.clone import clone, free_name, members
from dlsched.models.ratio import Floats, FractionalSum, Ratio
from dlsched.models.solve import nearest_to_zero
from dlsched.once import once
from dlsched.relaxations.contract import Point, Recovery, TransformationRefused, values_of
from dlsched.relaxations.fractional import continuous_sum
from dlsched.relaxations.planar import Planar
from dlsched.relaxations.ratio_grid import Grid, Oracle, size, steps, widest
from dlsched.relaxations.ratio_lp import LinearProgram
from dlsched.tolerances import LOST, NO_START, ON_CAP


@dataclass(frozen=True, slots=True, eq=False)
class SumOfRatios(Recovery[Point]):
    """What Algorithm 1 found.

    Attributes
    ----------
    x : ndarray of shape (n,), or None
        x~; None where no grid point has a feasible program, which the printed grid allows.
    cost : float
        Psi at its grid point, an upper bound on `value`; infinite without a point.
    value : float
        The sum of the ratios at x~.
    bound : float
        Not above the least sum: cost / (1 + eps) of the corrected grid, and at least the sum of the l_j.
    lower, upper : ndarray of shape (J,)
        l_j and phi_j, the least and the greatest value of each ratio.
    last : int
        Index of the ratio that is minimised and not gridded: the one with the largest phi/l.
    grids : tuple of ndarray
        Steps of the other ratios, in their order.
    points : int
        Grid points: the programs that Algorithm 1 solves.
    feasible : int
        Grid points whose program is feasible.
    seconds : float
    model : pyomo.environ.ConcreteModel or None
        The program (15) whose optimum x~ is, a linear-fractional copy of the model that was given, with x~ loaded;
        None where arrays were given, or no point was found.
    source : pyomo.environ.ConcreteModel or None
        The model that was given.

    Examples
    --------
    >>> import pyomo.environ as pyo
    >>> from dlsched.relaxations import sum_of_ratios
    >>> m = pyo.ConcreteModel()
    >>> m.workers, m.servers = pyo.Var(bounds=(1, 8)), pyo.Var(bounds=(1, 8))
    >>> m.time = pyo.Objective(expr=12 / m.workers + (m.workers + 2) / m.servers + m.servers / 4)
    >>> found = sum_of_ratios(m, epsilon=0.1)
    >>> print(found.points, found.feasible, found.lower.round(2), found.upper.round(2))
    529 529 [0.25 1.5  0.38] [ 2. 12. 10.]
    >>> point = found.recover(load=True)
    >>> print(round(pyo.value(m.time), 2), round(found.value, 2))
    4.66 4.66
    >>> print(round(found.value / found.bound, 2))
    1.1
    """

    x: Floats | None
    cost: float
    value: float
    bound: float
    lower: Floats
    upper: Floats
    last: int
    grids: tuple[Floats, ...]
    points: int
    feasible: int
    seconds: float
    model: Any = None
    source: Any = None
    _to_source: Any = None

    def _recovered(self, x: Any, duals: Any) -> Point:
        """Return the values; a sum of ratios has no duals.

        Raises
        ------
        InputError
            If arrays were given and no model, or no point was found.
        """
        if self.source is None:
            raise InputError("the problem was given as arrays: there is no model to recover to")
        if self.x is None:
            raise InputError("no grid point has a feasible program: there is no point to recover")
        values = values_of(members(self.model, pyo.Var), x)
        return Point(values=ComponentMap((self._to_source[v], value) for v, value in values.items()))


def _asked(
    problem: Any, *, epsilon: float, variant: str | Grid = Grid.CORRECTED, oracle: object = None
) -> tuple[object, ...] | None:
    """Return all that decides what is found, of a problem of arrays."""
    if oracle is not None or not isinstance(problem, FractionalSum):
        return None
    return problem.numbers, epsilon, Grid(variant)


@checked
@once(_asked)
def sum_of_ratios(
    problem: Any,
    *,
    epsilon: float,
    variant: str | Grid = Grid.CORRECTED,
    oracle: Callable[[FractionalSum], Oracle] | None = None,
) -> SumOfRatios:
    """Minimise a sum of linear ratios over a polytope to within the factor 1 + epsilon.

    All ratios but one are capped by the values of a geometric grid, and the last one is minimised under the caps, a
    linear-fractional program each. The grid grows exponentially in the number of ratios.

    Parameters
    ----------
    problem : FractionalSum or pyomo.environ.ConcreteModel
        Arrays, or a continuous model that minimises a sum of linear terms and ratios of linear expressions.
    epsilon : float
        Positive.
    variant : {"corrected", "printed"}
        The printed grid rounds down: it may have no feasible program at all, or lose the optimum by any factor.
    oracle : callable, optional
        What solves the programs, made from the problem: `Planar` for at most two variables, else `LinearProgram`.

    Returns
    -------
    SumOfRatios

    Raises
    ------
    TransformationRefused
        If the region is empty or unbounded, a denominator is not positive on it, two ratios can be 0 or one negative
        (a geometric grid cannot start there), or the model is not of this form.
    InputError
        If epsilon is not positive, the grid is too large, or a coefficient is not a number.

    References
    ----------
    SMD, (12) to (15) and Algorithm 1, printed and corrected (the top cell added, the region bounded).

    Examples
    --------
    >>> import pyomo.environ as pyo
    >>> from dlsched.relaxations import sum_of_ratios
    >>> m = pyo.ConcreteModel()
    >>> m.workers, m.servers = pyo.Var(bounds=(1, 8)), pyo.Var(bounds=(1, 8))
    >>> m.devices = pyo.Constraint(expr=2 * m.workers + m.servers <= 12)
    >>> m.time = pyo.Objective(expr=12 / m.workers + m.workers / m.servers)
    >>> found = sum_of_ratios(m, epsilon=0.01)
    >>> print(f"{found.bound:.3f} <= {found.value:.3f} <= {1.01 * found.bound:.3f}")
    3.960 <= 4.000 <= 4.000
    """
    positive(epsilon=epsilon)
    start = time.perf_counter()
    variables: tuple[Any, ...] = ()
    source = None
    if not isinstance(problem, FractionalSum):
        source = problem
        variables, problem = continuous_sum(source)
    if not problem.ratios:
        raise TransformationRefused("the objective is identically 0: every point is optimal")
    _refuse_no_numbers(problem)
    if oracle is None:
        oracle = Planar if len(problem.polytope.lower) <= 2 else LinearProgram
    solver = oracle(problem)
    lower, upper = _without_noise(*solver.bounds())
    last = widest(lower, upper)
    _refuse_without_start(lower, upper, last)
    others = [j for j in range(len(problem.ratios)) if j != last]
    grids = tuple(steps(float(lower[j]), float(upper[j]), epsilon, Grid(variant)) for j in others)
    points = size(grids)
    best = solver.sweep(last, grids)
    value = math.inf if best.x is None else float(problem(best.x))
    bound = float(lower.sum())
    if Grid(variant) is Grid.CORRECTED:
        bound = max(bound, best.cost / (1 + epsilon))
    model, to_source = None, None
    if source is not None and best.x is not None:
        caps = _caps(problem, others, grids, best.x)
        model, to_source = capped_model(source, variables, problem.ratios, last, caps, best.x)
    return SumOfRatios(
        x=best.x,
        cost=best.cost,
        value=value,
        bound=bound,
        lower=lower,
        upper=upper,
        last=last,
        grids=grids,
        points=points,
        feasible=best.feasible,
        seconds=time.perf_counter() - start,
        model=model,
        source=source,
        _to_source=to_source,
    )


def _caps(problem: FractionalSum, others: list[int], grids: tuple[Floats, ...], x: Floats) -> list[float]:
    """Return the least step of each grid that allows the point, by which it is the optimum of its program too."""
    caps = []
    for j, grid in zip(others, grids, strict=True):
        step = int(np.searchsorted(grid, float(problem.ratios[j](x)) * (1 - ON_CAP)))
        caps.append(float(grid[min(step, len(grid) - 1)]))
    return caps


def _refuse_no_numbers(problem: FractionalSum) -> None:
    region = problem.polytope
    for j, ratio in enumerate(problem.ratios):
        values = (*ratio.numerator, ratio.numerator_constant, *ratio.denominator, ratio.denominator_constant)
        if not np.isfinite(values).all():
            raise InputError(f"ratio {j} has a coefficient that is not a finite number")
    bounds = np.concatenate([region.row_lower, region.row_upper, region.lower, region.upper])
    if not np.isfinite(region.A).all() or np.isnan(bounds).any():
        raise InputError("the polytope has a coefficient or a bound that is not a number")


def _without_noise(lower: Floats, upper: Floats) -> tuple[Floats, Floats]:
    """Return l and phi, l exactly 0 where it only misses it by rounding.

    A ratio that is nowhere more than rounding of the others stands at its greatest value, which caps nothing: at 0 it
    could leave no point.
    """
    nothing = np.maximum(np.abs(lower), np.abs(upper)) <= LOST * np.abs(upper).sum()
    upper = np.where(nothing, np.maximum(upper, 0.0), upper)
    return np.where(nothing, upper, np.where(np.abs(lower) <= NO_START * np.abs(upper), 0.0, lower)), upper


def _refuse_without_start(lower: Floats, upper: Floats, last: int) -> None:
    for j, (least, most) in enumerate(zip(lower.tolist(), upper.tolist(), strict=True)):
        if least < 0:
            raise TransformationRefused(
                f"ratio {j} is negative, {least:.6g}, somewhere: a factor of its sum says nothing"
            )
        if least == 0 < most and j != last:
            raise TransformationRefused(f"ratio {j} is 0 somewhere, so its geometric grid has no first point")


def capped_model(
    source: Any, variables: Sequence[Any], ratios: Sequence[Ratio], last: int, caps: Sequence[float], x: Floats
) -> tuple[Any, Any]:
    """Return a copy of a model whose objective is one ratio and whose other ratios are capped, and the map back.

    Parameters
    ----------
    source : pyomo.environ.ConcreteModel
    variables : sequence of n Var
        Of the source, in the order of the ratios' coefficients.
    ratios : sequence of Ratio
        With positive denominators.
    last : int
        J, the ratio that is minimised.
    caps : sequence of float
        nu_j of the others, in their order.
    x : ndarray of shape (n,)
        The optimum, which is loaded.

    Returns
    -------
    model : pyomo.environ.ConcreteModel
        A linear-fractional program, which `charnes_cooper` makes linear. Its new rows are ``cap[j]``.
    to_source : ComponentMap
        From each of its variables and constraints to the source's.

    References
    ----------
    SMD, (15).
    """
    copy, to_source = clone(source)
    own = ComponentMap((original, twin) for twin, original in to_source.items())
    columns = [own[variable] for variable in variables]
    for variable in members(copy, pyo.Var):
        if not variable.fixed:
            variable.set_value(nearest_to_zero(variable), skip_validation=True)
    for column, value in zip(columns, x.tolist(), strict=True):
        column.set_value(value, skip_validation=True)
    others = [j for j in range(len(ratios)) if j != last]
    objective = next(copy.component_data_objects(pyo.Objective, active=True, descend_into=True))
    above, below = _parts(ratios[last], columns)
    objective.set_value(above / below)
    cap = pyo.Constraint(others, doc="(15) the other ratios stay below their grid point's values")
    copy.add_component(free_name("cap", copy), cap)
    for j, limit in zip(others, caps, strict=True):
        above, below = _parts(ratios[j], columns)
        # As the oracles allow: a cap that is the least value of its ratio but for rounding would leave no point.
        kept = float(limit) if ratios[j](x) <= limit else float(limit) * (1 + ON_CAP)
        relation = above - kept * below <= 0
        cap.add(j, relation if not isinstance(relation, bool) else pyo.Constraint.Feasible)
    return copy, to_source


def _parts(ratio: Ratio, columns: list[Any]) -> tuple[Any, Any]:
    """Return numerator and denominator as expressions."""
    return (
        _linear(ratio.numerator, ratio.numerator_constant, columns),
        _linear(ratio.denominator, ratio.denominator_constant, columns),
    )


def _linear(coefficients: Floats, constant: float, columns: list[Any]) -> Any:
    return sum((float(a) * y for a, y in zip(coefficients, columns, strict=True) if a), float(constant))
