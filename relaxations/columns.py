"""Column generation with a bound that is valid at any time, and fixing by reduced costs.

The problem is ``max sum c_k x_k`` over columns k in blocks, with linking rows ``sum a_k x_k <= b`` and, in every block,
``sum x_k <= 1`` (or ``= 1`` where the block is required). Columns are not listed: a pricing callable, given prices
``lambda >= 0`` of the linking rows, returns for each block the best ``c_k - lambda a_k`` of all its columns and some
columns worth adding. For any prices at all,

    ``bound(lambda) = lambda b + sum over blocks of max(0, best)``   (required blocks: ``best``)

is an upper bound on the problem and on its restriction to integral x: the Lagrangian relaxation of the linking rows.
`generate_columns` minimises it by Kelley's method on the LP of the columns found so far, smoothed between the best
prices known and the LP's duals (Wentges 1997). `keep` is fixing by reduced cost: a column (or a part that
columns share, such as an arc of a pricing network) that cannot be in a solution better than an incumbent is dropped.

Nothing here knows a problem: a minimisation is passed with its costs negated.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from dlsched.models.matrix import Floats, Session

Bools = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class Column:
    """One column.

    Attributes
    ----------
    block : int
    key : hashable
        Tells columns of a block apart.
    value : float
        c_k.
    rows : ndarray of shape (linking rows,)
        a_k, dense.
    data : object
        What it stands for; given back by `Generated.recover`.
    """

    block: int
    key: Hashable
    value: float
    rows: Floats
    data: Any = None


@dataclass(frozen=True, slots=True, eq=False)
class Priced:
    """What a pricing callable returns.

    Attributes
    ----------
    best : ndarray of shape (blocks,)
        At least max_k c_k - lambda a_k over the block's columns; -inf where the block has none. Blocks that another
        callable prices are 0.
    columns : sequence of Column
        Any number, best ones first.
    """

    best: Floats
    columns: Sequence[Column]


Pricing = Callable[[Floats], Priced]


@dataclass(frozen=True, slots=True, eq=False)
class Generated:
    """A bound by column generation.

    Attributes
    ----------
    bound : float
        The least Lagrangian bound seen; an upper bound on the problem whether or not generation was finished.
    duals : ndarray of shape (linking rows,)
        The prices that give it.
    best : ndarray of shape (blocks,)
        The pricing values at those prices.
    value : float
        The optimum of the LP over `columns`; below `bound` where generation was cut short.
    columns : tuple of Column
        All columns of the master.
    x : ndarray of shape (columns,)
        The LP's optimum.
    finished : bool
        Whether no column could be added, or value and bound agree.
    rounds : int
        Pricing calls.
    """

    bound: float
    duals: Floats
    best: Floats
    value: float
    columns: tuple[Column, ...]
    x: Floats
    finished: bool
    rounds: int

    def recover(self, tolerance: float = 1e-9) -> list[tuple[Any, float]]:
        """Return (data, weight) of every column that the LP's optimum uses."""
        return [(self.columns[k].data, float(self.x[k])) for k in np.flatnonzero(self.x > tolerance)]


class Master:
    """The LP over the columns found so far; it stays warm over calls, new rows and bans.

    Parameters
    ----------
    rhs : ndarray of shape (linking rows,)
        b.
    blocks : int
    penalty : float
        Cost of leaving a required block empty; more than any objective value.
    """

    def __init__(self, rhs: Floats, blocks: int, penalty: float) -> None:
        self.rhs = np.asarray(rhs, dtype=float)
        self.blocks = blocks
        self.columns: list[Column] = []
        self.required = np.zeros(blocks, dtype=bool)
        self._keys: dict[tuple[int, Hashable], int] = {}
        self._allowed = np.ones(0, dtype=bool)
        self._session = Session(-1)
        self._session.add_rows(np.full(blocks, -np.inf), np.ones(blocks), sp.csr_array((blocks, 0)))
        self._session.add_columns(np.full(blocks, -penalty), np.zeros(blocks), sp.eye_array(blocks, format="csc"))
        none = sp.csr_array((len(self.rhs), blocks))
        self._session.add_rows(np.full(len(self.rhs), -np.inf), self.rhs, none)

    def add(self, columns: Sequence[Column]) -> int:
        """Add the columns that are new; return how many were."""
        fresh = []
        for column in columns:
            if (column.block, column.key) not in self._keys:
                self._keys[column.block, column.key] = len(self.columns) + len(fresh)
                fresh.append(column)
        if fresh:
            block = sp.csc_array(
                (np.ones(len(fresh)), ([c.block for c in fresh], range(len(fresh)))), shape=(self.blocks, len(fresh))
            )
            rows = sp.csc_array(np.array([c.rows for c in fresh]).T.reshape(len(self.rhs), len(fresh)))
            values = np.array([c.value for c in fresh], dtype=float)
            self._session.add_columns(values, np.full(len(fresh), np.inf), sp.vstack([block, rows]))
            self.columns += fresh
            self._allowed = np.concatenate([self._allowed, np.ones(len(fresh), dtype=bool)])
        return len(fresh)

    def add_rows(self, rhs: Floats, coefficients: Floats) -> None:
        """Add linking rows; `coefficients` has shape (new rows, columns) for the columns of the master."""
        self.rhs = np.concatenate([self.rhs, rhs])
        padded = sp.hstack([sp.csr_array((len(rhs), self.blocks)), sp.csr_array(coefficients)])
        self._session.add_rows(np.full(len(rhs), -np.inf), np.asarray(rhs, dtype=float), padded)
        self.columns = [
            Column(c.block, c.key, c.value, np.append(c.rows, coefficients[:, k]), c.data)
            for k, c in enumerate(self.columns)
        ]

    def keep_columns(self, mask: Bools) -> None:
        """Forget the columns outside the mask."""
        gone = np.flatnonzero(~mask)
        if len(gone):
            self._session.delete_columns((gone + self.blocks).astype(np.int32))
            self.columns = [c for c, kept in zip(self.columns, mask, strict=True) if kept]
            self._keys = {(c.block, c.key): k for k, c in enumerate(self.columns)}
            self._allowed = self._allowed[mask]

    def keep_rows(self, mask: Bools) -> None:
        """Forget the linking rows outside the mask."""
        gone = np.flatnonzero(~mask)
        if len(gone):
            self._session.delete_rows((gone + self.blocks).astype(np.int32))
            self.rhs = self.rhs[mask]
            self.columns = [Column(c.block, c.key, c.value, c.rows[mask], c.data) for c in self.columns]

    def restrict(self, allowed: Bools, required: Bools) -> None:
        """Allow only some columns, and require some blocks; columns added later are allowed."""
        if not np.array_equal(allowed, self._allowed) or not np.array_equal(required, self.required):
            artificial = np.where(required, 1.0, 0.0)
            self._session.bound_columns(np.concatenate([artificial, np.where(allowed, np.inf, 0.0)]))
            changed = np.flatnonzero(required != self.required).astype(np.int32)
            lower = np.where(required[changed], 1.0, -np.inf)
            self._session.bound_rows(changed, lower, np.ones(len(changed)))
            self._allowed, self.required = allowed.copy(), required.copy()

    def solve(self) -> tuple[float, Floats, Floats, Floats]:
        """Return the value, x, the prices of the linking rows (not negative) and the blocks' duals."""
        solved = self._session.solve()
        if solved is None:
            raise RuntimeError("the master LP has no optimum")
        value, x, duals = solved
        return value, x[self.blocks :], np.maximum(duals[self.blocks :], 0.0), duals[: self.blocks]

    def bound(self, prices: Floats, best: Floats) -> float:
        """Return the Lagrangian bound of prices and the pricing values they have."""
        return float(prices @ self.rhs) + float(np.where(self.required, best, np.maximum(best, 0.0)).sum())


def generate_columns(
    master: Master,
    pricing: Pricing | Sequence[Pricing],
    *,
    start: Floats | None = None,
    grid: float | None = None,
    smoothing: float = 0.3,
    gap: float = 1e-7,
    rounds: int | None = None,
    stop: Callable[[float, float], bool] | None = None,
) -> Generated:
    """Minimise the Lagrangian bound by column generation.

    Parameters
    ----------
    master : Master
        Changed: it gets the columns found.
    pricing : callable or sequence of callables
        Each takes prices of shape (linking rows,) and returns `Priced`.
    start : ndarray, optional
        Prices to try first, for instance those of a similar problem.
    grid : float, optional
        Prices are rounded to multiples of it before pricing. With a power of 2 and data that are multiples of it too,
        sums of prices are exact in floats, and so is the bound where pricing is.
    smoothing : float
        Weight of the best prices known, in [0, 1); 0 is plain column generation.
    gap : float
        Finish where bound and LP value agree within ``gap * max(1, |bound|)``.
    rounds : int, optional
        Most pricing calls.
    stop : callable, optional
        Called with (bound, value of the LP) after each pricing; True ends it.

    Returns
    -------
    Generated
    """
    callables = [pricing] if callable(pricing) else list(pricing)
    state = _State(master, callables, start, grid, smoothing)
    finished = False
    while not finished and (rounds is None or state.rounds < rounds):
        value, x, prices, block_duals = master.solve()
        added, finished = state.step(value, prices, block_duals, gap)
        if stop is not None and stop(state.bound, value):
            break
        finished = finished or not added
    return Generated(
        state.bound, state.duals, state.best, value, tuple(master.columns[: len(x)]), x, finished, state.rounds
    )


class _State:
    def __init__(
        self, master: Master, pricing: list[Pricing], start: Floats | None, grid: float | None, smoothing: float
    ) -> None:
        self.master, self.pricing, self.grid, self.smoothing = master, pricing, grid, smoothing
        self.bound, self.rounds = np.inf, 0
        self.duals = np.zeros(len(master.rhs))
        self.best = np.zeros(master.blocks)
        if start is not None:
            self.try_prices(start)

    def try_prices(self, prices: Floats) -> list[Column]:
        self.rounds += 1
        if self.grid is not None:
            prices = np.round(prices / self.grid) * self.grid
        best, columns = np.zeros(self.master.blocks), []
        for price in self.pricing:
            priced = price(prices)
            best = best + priced.best
            columns += priced.columns
        bound = self.master.bound(prices, best)
        if bound < self.bound:
            self.bound, self.duals, self.best = bound, prices, best
        return columns

    def step(self, value: float, prices: Floats, block_duals: Floats, gap: float) -> tuple[int, bool]:
        """Price at smoothed, then at plain duals; return columns added and whether bound and value agree."""
        trials = [prices]
        if self.smoothing and np.isfinite(self.bound):
            trials.insert(0, self.smoothing * self.duals + (1 - self.smoothing) * prices)
        added = 0
        for trial in trials:
            columns = self.try_prices(trial)
            scale = 1e-9 * max(1.0, abs(value))
            added = self.master.add(
                [c for c in columns if c.value - float(prices @ c.rows) - block_duals[c.block] > scale]
            )
            if self.bound - value <= gap * max(1.0, abs(self.bound)):
                return added, True
            if added:
                break
        return added, False


def keep(reduced: Floats, bound: float, incumbent: float) -> Bools:
    """Return which columns (or parts of columns) can be in a solution better than an incumbent.

    Parameters
    ----------
    reduced : ndarray
        For each, the best reduced value at the prices of `bound` of a column that has it, less the block's part of
        the bound: 0 where the best column has it, negative elsewhere.
    bound : float
        The Lagrangian bound of those prices.
    incumbent : float
        Solutions not better than this may be lost.

    Notes
    -----
    A solution with the column is worth at most ``bound + reduced``: in the Lagrangian relaxation its block loses
    ``-reduced`` and no other block gains.
    """
    return bound + reduced > incumbent
