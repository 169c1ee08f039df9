"""Linear-fractional programs in any dimension by warm linear programs: the oracle of Algorithm 1 beyond the plane.

The Charnes-Cooper substitution y = t x, t = 1/(c x + d) makes each of them a linear program over the cone of the
polytope. With a column for each numerator N_j = a_j y + q_j t and each denominator D_j = c_j y + d_j t, programs differ
little: D_J is fixed at 1 and N_J minimised, and a cap on ratio j is one coefficient, N_j - nu_j D_j <= 0.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product

import numpy as np

from dlsched.models.ratio import Floats, FractionalSum
from dlsched.models.session import Session
from dlsched.relaxations.refusals import TransformationRefused
from dlsched.relaxations.sweep import Sweep

_POSITIVE = 1e-9


class LinearProgram:
    """The oracle for any number of variables.

    Parameters
    ----------
    problem : FractionalSum

    Raises
    ------
    TransformationRefused
        If the polytope is empty or unbounded, or a denominator is not positive on it.
    """

    def __init__(self, problem: FractionalSum) -> None:
        self._n = len(problem.polytope.lower)
        self._ratios = len(problem.ratios)
        self._columns = self._n + 1 + 2 * self._ratios
        self._session = Session(1)
        self._load(problem)
        self._validate()

    def bounds(self) -> tuple[Floats, Floats]:
        """Return l_j and phi_j, the least and the greatest value of each ratio."""
        found = np.array([self._extremes(self._above(j), self._below(j)) for j in range(self._ratios)])
        return found[:, 0], found[:, 1]

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
            self._session.add_row(-np.inf, 0.0, columns, np.array([1.0, -1.0]))
        self._aim(self._above(last), 1.0, self._below(last))
        best, previous = Sweep(), [np.nan] * len(others)
        for caps in _snake(grids):
            for row, j, cap, before in zip(rows, others, caps, previous, strict=True):
                if cap != before:
                    self._session.set_coefficient(row, self._below(j), -cap)
            previous = caps
            solved = self._session.solve()
            if solved is not None:
                cost = sum(caps) + solved[0]
                t = solved[1][self._n]
                best = best.joined(Sweep(cost, solved[1][: self._n] / t, 1))
        self._session.delete_rows(np.array(rows, dtype=np.int32))
        return best

    def _above(self, j: int) -> int:
        return self._n + 1 + 2 * j

    def _below(self, j: int) -> int:
        return self._n + 2 + 2 * j

    def _load(self, problem: FractionalSum) -> None:
        polytope, n = problem.polytope, self._n
        rows = np.vstack([polytope.A, np.eye(n)])
        low = np.concatenate([polytope.row_lower, polytope.lower])
        high = np.concatenate([polytope.row_upper, polytope.upper])
        at_most = np.column_stack([rows, -high])[np.isfinite(high)]
        at_least = np.column_stack([-rows, low])[np.isfinite(low)]
        cone = np.vstack([at_most, at_least])
        defined = np.vstack(
            [
                row
                for ratio in problem.ratios
                for row in (
                    np.append(ratio.numerator, ratio.numerator_constant),
                    np.append(ratio.denominator, ratio.denominator_constant),
                )
            ]
        )
        self._free = np.full(self._columns, -np.inf), np.full(self._columns, np.inf)
        self._free[0][n] = 0.0
        self._session.add_columns(
            np.zeros(self._columns), self._free[1], np.zeros((0, self._columns)), lower=self._free[0]
        )
        pad = np.zeros((len(cone), 2 * self._ratios))
        self._session.add_rows(np.full(len(cone), -np.inf), np.zeros(len(cone)), np.hstack([cone, pad]))
        zero = np.zeros(len(defined))
        self._session.add_rows(zero, zero, np.hstack([defined, -np.eye(len(defined))]))
        self._cone = len(cone) + len(defined)

    def _validate(self) -> None:
        self._aim(0, 0.0, self._n)
        if self._session.solve() is None:
            raise TransformationRefused("the region is empty")
        for i in range(self._n):
            if np.isinf(self._extremes(i, self._n)).any():
                raise TransformationRefused(f"the region is unbounded: nothing bounds variable {i}")
        for j in range(self._ratios):
            least = self._extremes(self._below(j), self._n)[0]
            if not least > _POSITIVE:
                raise TransformationRefused(
                    f"the denominator of ratio {j} is {least:.6g} somewhere: it must be positive"
                )

    def _extremes(self, column: int, unit: int) -> tuple[float, float]:
        """Return the least and the greatest value of a column where another is 1; infinite where there is none."""
        found = []
        for sign in (1.0, -1.0):
            self._aim(column, sign, unit)
            solved = self._session.solve()
            found.append(-sign * np.inf if solved is None else sign * solved[0])
        return found[0], found[1]

    def _aim(self, column: int, cost: float, unit: int) -> None:
        """Minimise a multiple of a column where another is 1."""
        lower, upper = self._free[0].copy(), self._free[1].copy()
        lower[unit] = upper[unit] = 1.0
        costs = np.zeros(self._columns)
        costs[column] = cost
        self._session.bound_columns(upper, lower)
        self._session.set_costs(costs)


def _snake(grids: Sequence[Floats]) -> Iterator[list[float]]:
    """Yield the grid's points so that one changes to the next by one step of one coordinate, wherever possible."""
    *outer, inner = [list(map(float, grid)) for grid in grids] or [[]]
    if not grids:
        yield []
        return
    for k, caps in enumerate(product(*outer)):
        for value in inner if k % 2 == 0 else reversed(inner):
            yield [*caps, value]
