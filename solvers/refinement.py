"""A linear program's optimum made as good as floats are, by solving for what the solver's point and prices still lack.

HiGHS forgives 1e-7 (`FEASIBLE`) in every row, bound and reduced cost, whatever the size of the numbers there: beside a
cost of 6e4 a bound that is broken by 1e-8 is worth 6e-4. What is left of the sides at the point, and of the costs at
the prices, is a linear program with the same matrix; multiplied until what is lacking is near 1, its optimum corrects
both (iterative refinement: Gleixner, Steffy and Wolter, INFORMS Journal on Computing 28, 2016). The basis stays, so
where it is the right one nothing is pivoted.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from dlsched.arithmetic import sparse_product
from dlsched.lazy import sp
from dlsched.solvers.matrix import Floats, Matrix
from dlsched.solvers.scaling import INFINITE
from dlsched.tolerances import FEASIBLE, ROUNDING

_ROUNDS = 5
"""At most: one is enough for most programs, and each gains four digits or more of the sixteen that there are."""

_MOST_EXPONENT = 30
"""By how much each round magnifies more than the last one, as a power of two: the nine digits that HiGHS sees."""


@dataclass(frozen=True, slots=True, eq=False)
class LinearOptimum:
    """What a solver takes for the optimum of a linear program, and what it lacks of one.

    Attributes
    ----------
    x : ndarray, shape (n,)
    row_duals : ndarray, shape (m,)
    reduced_costs : ndarray, shape (n,)
        ``c - A' y``.
    primal : float
        The most by which a row or bound is broken; 0 where it is no more than rounding.
    dual : float
        The largest price of a row or bound that is not reached; 0 where it is no more than rounding.
    worth : float
        About what both may be worth, in units of the objective.
    """

    x: Floats
    row_duals: Floats
    reduced_costs: Floats
    primal: float
    dual: float
    worth: float

    @classmethod
    def of(cls, matrix: Matrix, x: Floats, row_duals: Floats) -> LinearOptimum:
        """Return the optimum that a point and row duals are taken for."""
        A = matrix.A
        of_row = matrix.entry_rows
        sums, priced = A.data * x[A.indices], A.data * row_duals[of_row]
        activity, terms = _sums(of_row, sums, A.shape[0]), _sums(of_row, np.abs(sums), A.shape[0])
        costs = matrix.c - _sums(A.indices, priced, A.shape[1])
        prices = np.abs(matrix.c) + _sums(A.indices, np.abs(priced), A.shape[1])
        points, dear = _ordinary(x), _ordinary(matrix.c)
        lacks = (
            _lacks(
                activity,
                matrix.row_lower,
                matrix.row_upper,
                terms + points,
                matrix.sense * row_duals,
                np.abs(row_duals) + dear,
            ),
            _lacks(x, matrix.lower, matrix.upper, np.abs(x) + points, matrix.sense * costs, prices + dear),
        )
        primal, dual, lost = (max(part) for part in zip(*lacks, strict=True))
        return cls(x, row_duals, costs, primal, dual, primal * (float(np.abs(matrix.c).max(initial=0.0)) or 1.0) + lost)


def refined(
    matrix: Matrix, found: LinearOptimum, again: Callable[[Matrix], tuple[Floats, Floats] | None]
) -> LinearOptimum:
    """Return the optimum, or one that lacks less, where there is any.

    Parameters
    ----------
    matrix : Matrix
        A linear program.
    found : Optimum
    again : callable
        Solves a program of equations, `with_slacks`, with other costs, sides and bounds: the point and the row duals of
        its optimum, or None.
    """
    if found.worth == 0.0:
        return found
    wide = with_slacks(matrix)
    slacks = sparse_product(matrix.A, found.x)[slack_rows(matrix)]
    best = LinearOptimum.of(wide, np.concatenate([found.x, slacks]), found.row_duals)
    primal = dual = 0
    for _ in range(_ROUNDS):
        primal, dual = _exponent(best.primal, primal), _exponent(best.dual, dual)
        activity = sparse_product(wide.A, best.x)
        step = again(
            replace(
                wide,
                c=np.ldexp(best.reduced_costs, dual),
                offset=0.0,
                row_lower=_magnified(wide.row_lower - activity, primal),
                row_upper=_magnified(wide.row_upper - activity, primal),
                lower=_magnified(wide.lower - best.x, primal),
                upper=_magnified(wide.upper - best.x, primal),
            )
        )
        if step is None:
            break
        x, row_duals = best.x + np.ldexp(step[0], -primal), best.row_duals + np.ldexp(step[1], -dual)
        better = LinearOptimum.of(wide, np.clip(x, wide.lower, wide.upper), row_duals)
        if better.worth >= best.worth:
            break
        best = better
        if best.worth == 0.0:
            break
    corrected = LinearOptimum.of(matrix, best.x[: len(found.x)], best.row_duals)
    return corrected if corrected.worth < found.worth else found


def is_better_ray(matrix: Matrix, ray: Floats) -> bool:
    """Tell whether one may go along a direction for ever, and the objective gets better by more than rounding."""
    A, of_row = matrix.A, matrix.entry_rows
    steps, worth = A.data * ray[A.indices], matrix.sense * matrix.c * ray
    drift, terms = _sums(of_row, steps, A.shape[0]), _sums(of_row, np.abs(steps), A.shape[0])
    return bool(
        math.fsum(worth) < -FEASIBLE * math.fsum(np.abs(worth))
        and _stays(drift, matrix.row_lower, matrix.row_upper, FEASIBLE * terms)
        and _stays(ray, matrix.lower, matrix.upper, ROUNDING * np.full(len(ray), np.abs(ray).max(initial=0.0)))
    )


def _stays(drift: Floats, lower: Floats, upper: Floats, allowed: Floats) -> bool:
    return not (((drift < -allowed) & np.isfinite(lower)) | ((drift > allowed) & np.isfinite(upper))).any()


def slack_rows(matrix: Matrix) -> npt.NDArray[np.int64]:
    """Return the rows that are no equations."""
    return np.flatnonzero(matrix.row_lower != matrix.row_upper)


def with_slacks(matrix: Matrix) -> Matrix:
    """Return the same program in equations: each other row less a column of its own that has the row's sides is 0.

    Prices of rows can be moved into the costs of such a program, as what its rows add up to is constant.
    """
    rows = slack_rows(matrix)
    count = len(rows)
    ones = sp.csr_array((-np.ones(count), (rows, np.arange(count))), shape=(len(matrix.row_lower), count))
    zeros = np.zeros(count)
    sides = np.where(matrix.row_lower == matrix.row_upper, matrix.row_lower, 0.0)
    return replace(
        matrix,
        c=np.concatenate([matrix.c, zeros]),
        A=sp.csr_array(sp.hstack([matrix.A, ones])),
        row_lower=sides,
        row_upper=sides,
        lower=np.concatenate([matrix.lower, matrix.row_lower[rows]]),
        upper=np.concatenate([matrix.upper, matrix.row_upper[rows]]),
        integer=np.concatenate([matrix.integer, zeros.astype(bool)]),
        column_names=(),
    )


def _exponent(lack: float, last: int) -> int:
    """Return the power of two that makes 1 of what is lacking, as far as one round may go beyond the last."""
    return last if lack == 0.0 else max(0, min(last + _MOST_EXPONENT, -int(np.frexp(lack)[1])))


def _magnified(sides: Floats, exponent: int) -> Floats:
    """Return what is left of sides or bounds; what is then infinite to a solver is far from being reached."""
    found: Floats = np.ldexp(sides, exponent)
    return np.where(np.abs(found) < INFINITE, found, np.copysign(np.inf, found))


def _sums(at: npt.NDArray[np.int64], values: Floats, count: int) -> Floats:
    return np.bincount(at, values, count).astype(float)


def _ordinary(values: Floats) -> float:
    """Return the size of numbers beside which what should be 0 is rounding: 1, or the largest where it is less."""
    return min(1.0, float(np.abs(values).max(initial=0.0)))


def _lacks(
    values: Floats, lower: Floats, upper: Floats, sizes: Floats, prices: Floats, price_sizes: Floats
) -> tuple[float, float, float]:
    """Return the most by which sides are broken, the largest price of one not reached, and what the latter is worth."""
    below, above = values - lower, upper - values
    broken = np.maximum(np.maximum(-below, -above), 0.0)
    slack = np.maximum(np.where(prices > 0, below, above), 0.0)
    paid = np.where((slack > ROUNDING * sizes) & (np.abs(prices) > ROUNDING * price_sizes), np.abs(prices), 0.0)
    return (
        float(np.where(broken > ROUNDING * sizes, broken, 0.0).max(initial=0.0)),
        float(paid.max(initial=0.0)),
        float((paid * np.minimum(slack, 1.0)).max(initial=0.0)),
    )
