"""Linear-fractional programs in any dimension by warm linear programs: the oracle of Algorithm 1 beyond the plane.

The Charnes-Cooper substitution y = t x, t = 1/(c x + d) makes each of them a linear program over the cone of the
polytope. With a column for each numerator N_j = a_j y + q_j t and each denominator D_j = c_j y + d_j t, programs differ
little: D_J is fixed at 1 and N_J minimised, and a cap on ratio j is one coefficient, N_j / nu_j - D_j <= 0.

A solver's tolerances are absolute. So variables are first moved to [0, 1], and rows, numerators and denominators
divided by their largest coefficient: no choice of units changes what is found.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product

import numpy as np

from dlsched.arithmetic import dot
from dlsched.models.ratio import Floats, FractionalSum, Polytope
from dlsched.relaxations.contract import TransformationRefused
from dlsched.relaxations.ratio_grid import Sweep
from dlsched.solvers.highs import Session
from dlsched.tolerances import CANCELLED, POSITIVE, ROUNDING, TIGHT


class LinearProgram:
    """The oracle for any number of variables.

    Parameters
    ----------
    problem : FractionalSum

    Raises
    ------
    TransformationRefused
        If the polytope is empty or unbounded, or a denominator is not positive on it.

    Examples
    --------
    >>> import numpy as np
    >>> from dlsched.models import FractionalSum, Polytope, Ratio
    >>> from dlsched.relaxations import LinearProgram, sum_of_ratios
    >>> eye = np.eye(3)
    >>> box = Polytope(np.ones((1, 3)), np.array([-np.inf]), np.array([9.0]), np.ones(3), np.full(3, 6.0))
    >>> ratios = tuple(Ratio(eye[j], 0.0, eye[(j + 1) % 3], 1.0) for j in range(3))
    >>> problem = FractionalSum(ratios, box)
    >>> least, greatest = LinearProgram(problem).bounds()
    >>> print(least.round(3), greatest.round(3))
    [0.143 0.143 0.143] [3. 3. 3.]
    >>> found = sum_of_ratios(problem, epsilon=0.1, oracle=LinearProgram)
    >>> print(f"{found.bound:.2f} <= {found.value:.2f}")
    1.39 <= 1.53
    """

    def __init__(self, problem: FractionalSum) -> None:
        self._problem = problem
        self._n = len(problem.polytope.lower)
        self._ratios = len(problem.ratios)
        self._columns = self._n + 1 + 2 * self._ratios
        self._free = np.full(self._columns, -np.inf), np.full(self._columns, np.inf)
        self._free[0][: self._n + 1] = 0.0
        self._origin, self._width = _box(problem.polytope)
        self._session = Session(1, TIGHT)
        self._load()
        for j, ratio in enumerate(problem.ratios):
            least = dot(self._least(self._below(j), 1.0, self._n), ratio.denominator) + ratio.denominator_constant
            if not least > POSITIVE * self._scale[1, j]:
                raise TransformationRefused(
                    f"the denominator of ratio {j} is {least:.6g} somewhere: it must be positive"
                )
        self._lower, self._upper = self._extremes()

    def bounds(self) -> tuple[Floats, Floats]:
        """Return l_j and phi_j, the least and the greatest value of each ratio."""
        return self._lower.copy(), self._upper.copy()

    def sweep(self, last: int, grids: Sequence[Floats]) -> Sweep:
        """Return the least sum of caps and of ratio `last` over the grid of caps on the other ratios.

        Parameters
        ----------
        last : int
            J.
        grids : sequence of ndarray
            The steps of the other ratios, ascending, in their order.
        """
        others = [j for j in range(self._ratios) if j != last]
        rows = list(range(self._cone, self._cone + len(others)))
        for j in others:
            columns = np.array([self._above(j), self._below(j)], dtype=np.int32)
            self._session.add_row(-np.inf, 0.0, columns, np.array([0.0, -1.0]))
        self._aim(self._above(last), self._steepness(last), self._below(last))
        target, best, previous = self._problem.ratios[last], Sweep(), [np.nan] * len(others)
        for caps in _snake(grids):
            for row, j, cap, before in zip(rows, others, caps, previous, strict=True):
                if cap != before:
                    self._session.set_coefficient(row, self._above(j), self._weight(j, cap))
            previous = caps
            x = self._solve()
            if x is not None:
                best = best.joined(Sweep(sum(caps) + float(target(x)), x, 1))
        self._session.delete_rows(np.array(rows, dtype=np.int32))
        return best

    def _extremes(self) -> tuple[Floats, Floats]:
        found = [
            [float(ratio(self._least(self._above(j), sign, self._below(j)))) for sign in (1.0, -1.0)]
            for j, ratio in enumerate(self._problem.ratios)
        ]
        ends = np.array(found).reshape(-1, 2)
        return ends[:, 0], ends[:, 1]

    def _above(self, j: int) -> int:
        return self._n + 1 + 2 * j

    def _below(self, j: int) -> int:
        return self._n + 2 + 2 * j

    def _load(self) -> None:
        """Load the cone of the polytope in scaled variables, and the definitions of numerators and denominators."""
        cone = _scaled_rows(self._problem.polytope, self._origin, self._width)
        above = [(ratio.numerator, ratio.numerator_constant) for ratio in self._problem.ratios]
        below = [(ratio.denominator, ratio.denominator_constant) for ratio in self._problem.ratios]
        defined = np.array(
            [
                np.append(a * self._width, dot(a, self._origin) + q)
                for pair in zip(above, below, strict=True)
                for a, q in pair
            ]
        ).reshape(-1, self._n + 1)
        sizes = _sizes(defined)
        self._scale = sizes.reshape(-1, 2).T
        self._session.add_columns(
            np.zeros(self._columns), self._free[1], np.zeros((0, self._columns)), lower=self._free[0]
        )
        pad = np.zeros((len(cone), 2 * self._ratios))
        self._session.add_rows(np.full(len(cone), -np.inf), np.zeros(len(cone)), np.hstack([_cleared(cone), pad]))
        zero = np.zeros(len(defined))
        self._session.add_rows(zero, zero, np.hstack([_cleared(defined / sizes[:, None]), -np.eye(len(defined))]))
        self._cone = len(cone) + len(defined)

    def _weight(self, j: int, cap: float) -> float:
        """Return the coefficient of N_j in the row of its cap; 0 where every point keeps the cap."""
        allowed = cap * (1 + ROUNDING)
        return 0.0 if allowed >= self._upper[j] else float(self._scale[0, j] / (self._scale[1, j] * allowed))

    def _steepness(self, j: int) -> float:
        """Return the factor of N_j in the objective: its least value is 1, or its greatest one a million."""
        least, most = self._lower[j], self._upper[j]
        return self._scale[0, j] / (self._scale[1, j] * max(least, most / 1e6)) if most > 0 else 1.0

    def _least(self, column: int, cost: float, unit: int) -> Floats:
        """Return where a multiple of a column is least while another is 1."""
        self._aim(column, cost, unit)
        x = self._solve()
        if x is None:
            raise RuntimeError("HiGHS found no optimum of a bounded linear program")
        return x

    def _solve(self) -> Floats | None:
        solved = self._session.solve()
        if solved is None:
            return None
        z = np.clip(solved[1][: self._n] / solved[1][self._n], 0.0, 1.0)
        return np.asarray(self._origin + self._width * z)

    def _aim(self, column: int, cost: float, unit: int) -> None:
        """Minimise a multiple of a column where another is 1."""
        lower, upper = self._free[0].copy(), self._free[1].copy()
        lower[unit] = upper[unit] = 1.0
        costs = np.zeros(self._columns)
        costs[column] = cost
        self._session.bound_columns(upper, lower)
        self._session.set_costs(costs)


def _box(polytope: Polytope) -> tuple[Floats, Floats]:
    """Return the lower corner and the widths of a box around a polytope.

    Raises
    ------
    TransformationRefused
        If the polytope is empty or unbounded.
    """
    n = len(polytope.lower)
    if not n:  # HiGHS solves no program without columns
        if polytope.excess(np.zeros(0)) > 0:
            raise TransformationRefused("the region is empty")
        return np.zeros(0), np.zeros(0)
    sizes = _sizes(polytope.A)
    session = Session(1, TIGHT)
    session.add_columns(np.zeros(n), polytope.upper, np.zeros((0, n)), lower=polytope.lower)
    session.add_rows(polytope.row_lower / sizes, polytope.row_upper / sizes, _cleared(polytope.A / sizes[:, None]))
    if session.solve() is None:
        raise TransformationRefused("the region is empty")
    ends = np.array([polytope.lower, polytope.upper])
    for i in range(n):
        for end, sign in enumerate((1.0, -1.0)):
            if np.isinf(ends[end, i]):
                session.set_costs(sign * np.eye(n)[i])
                solved = session.solve()
                if solved is None:
                    raise TransformationRefused(
                        f"the region is unbounded: nothing bounds variable {polytope.name(i)}; give it bounds"
                    )
                ends[end, i] = solved[1][i]
    return ends[0], np.maximum(ends[1] - ends[0], 0.0)


def _scaled_rows(polytope: Polytope, origin: Floats, width: Floats) -> Floats:
    """Return rows (a, b) of a y + b t <= 0, the cone of the polytope in variables from 0 to 1."""
    n = len(origin)
    rows, shift = polytope.A * width, dot(polytope.A, origin)
    low, high = polytope.row_lower - shift, polytope.row_upper - shift
    at_most = np.column_stack([rows, -high])[np.isfinite(high)]
    at_least = np.column_stack([-rows, low])[np.isfinite(low)]
    size = np.maximum(_sizes(rows), CANCELLED * (dot(np.abs(polytope.A), np.abs(origin))))[:, None]
    box = np.column_stack([np.eye(n), -np.ones(n)])
    return np.vstack([at_most / size[np.isfinite(high)], at_least / size[np.isfinite(low)], box])


def _sizes(rows: Floats) -> Floats:
    """Return the largest coefficient of each row, 1 where all are 0."""
    sizes = np.abs(rows).max(axis=1, initial=0.0)
    return np.asarray(np.where(sizes > 0, sizes, 1.0))


def _cleared(rows: Floats) -> Floats:
    """Return rows, whose largest coefficient is about 1, without their noise."""
    return np.asarray(np.where(np.abs(rows) <= ROUNDING, 0.0, rows))


def _snake(grids: Sequence[Floats]) -> Iterator[list[float]]:
    """Yield the grid's points so that one changes to the next by one step of one coordinate, wherever possible."""
    *outer, inner = [list(map(float, grid)) for grid in grids] or [[]]
    if not grids:
        yield []
        return
    for k, caps in enumerate(product(*outer)):
        for value in inner if k % 2 == 0 else reversed(inner):
            yield [*caps, value]
