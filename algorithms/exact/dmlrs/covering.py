"""Prices that show of vectors of levels that the machines do not hold them.

What machines hold is a mixture of contents of theirs (`patterns`). Where no mixture covers what a vector needs, things
have prices at which the vector costs more than the machines can hold, by duality; and so do most others that cost as
much. Linear programs propose prices, whole numbers decide: rounded, they are valid whatever the program was.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from dlsched.algorithms.exact.dmlrs.packing import Bools
from dlsched.algorithms.exact.dmlrs.patterns import Patterns
from dlsched.algorithms.exact.dmlrs.slots import Ints, Slots
from dlsched.arithmetic import integer_product
from dlsched.lazy import sp
from dlsched.solvers.highs import Session
from dlsched.solvers.matrix import Floats
from dlsched.solvers.solution import SolverError
from dlsched.tolerances import CLEAR

_PARTS = 720_720
"""Of what the machines hold, for prices: divided by all numbers to 16, as prices of a vertex mostly are fractions."""


@dataclass(frozen=True, slots=True, eq=False)
class Prices:
    """What levels cost, and the machines hold.

    Attributes
    ----------
    costs : ndarray of shape (jobs, levels + 1)
        In the cheapest way.
    most : int
        What the machines hold at most.
    """

    costs: Ints
    most: int

    def refute(self, levels: npt.NDArray[np.integer]) -> Bools:
        """Tell which vectors, shape (vectors, jobs), cost more: these do not fit."""
        refuted: Bools = self.costs[np.arange(len(self.costs)), levels].sum(axis=-1) > self.most
        return refuted


class Covering:
    """The linear program that covers a vector by as small a multiple of the machines as it can; it stays warm.

    Parameters
    ----------
    slots : Slots

    Raises
    ------
    TooLarge
        Where the machines have too many contents.
    """

    def __init__(self, slots: Slots) -> None:
        patterns = Patterns(slots)
        self._machines, self._contents = patterns.machines, patterns.contents
        jobs, groups, kinds = len(slots.jobs), len(patterns.machines), len(patterns.kinds)
        self._needs = [
            [[patterns.needed(i, c) for c in level] for level in job.alternatives] for i, job in enumerate(slots.jobs)
        ]
        self._levels = slots.most_levels
        # Columns: the multiple, how often each content is there, and the alternatives of the levels.
        multiple = np.concatenate([-np.array(self._machines, dtype=float), np.zeros(kinds + jobs)])[:, None]
        there = sp.block_array(
            [
                [sp.block_diag([np.ones((1, len(rows))) for rows in self._contents])],
                [sp.csr_array(np.concatenate(self._contents).T)],
                [sp.csr_array((jobs, sum(map(len, self._contents))))],
            ]
        )
        self._of: list[list[list[int]]] = []
        taken: list[Floats] = []
        for i, levels in enumerate(self._needs):
            self._of.append([])
            for choices in levels:
                self._of[i].append(list(range(len(taken), len(taken) + len(choices))))
                taken += [np.concatenate([np.zeros(groups), -need, np.eye(jobs)[i]]) for need in choices]
        self._kinds, self._jobs = slice(groups, groups + kinds), groups + kinds + np.arange(jobs, dtype=np.int32)
        A = sp.hstack([sp.csc_array(multiple), there, sp.csc_array(np.array(taken).T)])
        self._alternatives = np.arange(A.shape[1] - len(taken), A.shape[1], dtype=np.int32)
        costs = np.zeros(A.shape[1])
        costs[0] = 1.0
        self._program = Session(1)
        self._program.add_columns(costs, np.full(len(costs), np.inf), sp.csc_array((0, len(costs))))
        upper = np.concatenate([np.zeros(groups), np.full(kinds + jobs, np.inf)])
        self._program.add_rows(np.where(upper > 0, 0.0, -np.inf), upper, A)

    def refute(self, vector: Sequence[int]) -> Prices | None:
        """Return prices that refute a vector; None where there are none, or the linear program fails."""
        upper = np.zeros(len(self._alternatives))
        for i, level in enumerate(vector):
            if level:
                upper[self._of[i][level - 1]] = np.inf
        self._program.bound_columns(upper, columns=self._alternatives)
        running = np.array(vector, dtype=float) > 0
        self._program.bound_rows(self._jobs, running.astype(float), np.full(len(running), np.inf))
        try:
            solved = self._program.solve()
        except SolverError:
            return None
        if solved is None or solved[0] <= 1 + CLEAR:
            return None
        prices = self._prices(solved[2][self._kinds])
        return prices if prices.refute(np.array(vector)) else None

    def _prices(self, duals: Floats) -> Prices:
        """Round prices, and raise those of what the vector has nothing of as far as the machines hold no more by it."""
        price: Ints = np.round(np.maximum(duals, 0.0) * _PARTS).astype(np.int64)
        most = [int(integer_product(rows, price).max()) for rows in self._contents]
        for k in np.flatnonzero(price == 0).tolist():
            has = [rows[rows[:, k] > 0] for rows in self._contents]
            left = [(held - integer_product(rows, price)) // rows[:, k] for held, rows in zip(most, has, strict=True)]
            price[k] = min((int(each.min()) for each in left if len(each)), default=0)
        costs: Ints = np.zeros((len(self._needs), self._levels + 1), dtype=np.int64)
        for i, levels in enumerate(self._needs):
            for level, choices in enumerate(levels, 1):
                costs[i, level] = min(int(integer_product(need, price)) for need in choices)
        return Prices(costs, sum(count * held for count, held in zip(self._machines, most, strict=True)))
