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

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dlsched.arguments import at_least, checked, expect, floats, positive, vector
from dlsched.arithmetic import dot
from dlsched.errors import InputError
from dlsched.halt import Halt
from dlsched.relaxations.master import Bools, Column, Master
from dlsched.solvers.matrix import Floats
from dlsched.tolerances import AS_GOOD, FEASIBLE, TOLERANCE, ZERO


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

    Examples
    --------
    >>> import numpy as np
    >>> from dlsched.relaxations import Column, Master, Priced, generate_columns
    >>> plans = [Column(0, n, value, np.array([float(n)]), n) for n, value in enumerate([0.0, 5.0, 8.0, 10.0])]
    >>> def price(prices):
    ...     worth = [plan.value - prices @ plan.rows for plan in plans]
    ...     return Priced(np.array([max(worth)]), [plans[int(np.argmax(worth))]])
    >>> print(price(np.array([2.5])).best, price(np.array([2.5])).columns[0].data)
    [3.] 2
    >>> print(round(generate_columns(Master(np.array([2.0]), blocks=1, penalty=100.0), price).bound, 6))
    8.0
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

    Examples
    --------
    >>> import numpy as np
    >>> from dlsched.relaxations import Column, Master, Priced, generate_columns
    >>> plans = [Column(0, 2, 8.0, np.array([2.0]), "both"), Column(1, 1, 3.0, np.array([1.0]), "one")]
    >>> def price(prices):
    ...     return Priced(np.array([plan.value - prices @ plan.rows for plan in plans]), plans)
    >>> found = generate_columns(Master(np.array([1.0]), blocks=2, penalty=100.0), price)
    >>> print(round(found.value, 6), round(found.bound, 6), found.finished)
    4.0 4.0 True
    >>> print([(data, round(share, 6)) for data, share in found.recover()])
    [('both', 0.5)]
    """

    bound: float
    duals: Floats
    best: Floats
    value: float
    columns: tuple[Column, ...]
    x: Floats
    finished: bool
    rounds: int

    def recover(self, tolerance: float = ZERO) -> list[tuple[Any, float]]:
        """Return (data, weight) of every column that the LP's optimum uses."""
        return [(self.columns[k].data, float(self.x[k])) for k in np.flatnonzero(self.x > tolerance)]


@checked
def generate_columns(
    master: Master,
    pricing: Pricing | Sequence[Pricing],
    *,
    start: Floats | None = None,
    grid: float | None = None,
    smoothing: float = 0.3,
    gap: float = FEASIBLE,
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
        Prices to try first, for instance those of a similar problem, not negative; the last rows' may be left out, and
        are 0.
    grid : float, optional
        Prices are rounded to multiples of it before pricing. With a power of 2 and data that are multiples of it too,
        sums of prices are exact in floats, and so is the bound where pricing is.
    smoothing : float
        Weight of the best prices known, in [0, 1); 0 is plain column generation.
    gap : float
        Finish where bound and LP value agree within ``gap * max(unit, |bound|)``; the unit is 1, or the largest value
        of a column where that is less.
    rounds : int, optional
        Pricing calls after which no step is begun; a step makes two at most.
    stop : callable, optional
        Called with (bound, value of the LP) after each pricing; True ends it.

    Returns
    -------
    Generated

    Raises
    ------
    InputError
        If a number is out of range; if what a pricing callable returns is of other blocks or linking rows, is no
        number, has the key of another column and other numbers, or is worth more than the `best` that comes with it.
    SolverError
        If no columns of the master keep its linking rows: it is to be given some that do, where 0 breaks a row.
    Halt
        If the work (`dlsched.halt`) is over before the first linear program is solved; if it is later, what is
        known then is returned.

    Examples
    --------
    >>> import numpy as np
    >>> from dlsched.relaxations import Column, Master, Priced, generate_columns
    >>> worth = {"bert": [0, 5, 8, 10], "vit": [0, 4, 8, 12], "gpt": [0, 2, 4, 9]}  # of so many devices
    >>> def price(prices):
    ...     best, columns = [], []
    ...     for job, values in enumerate(worth.values()):
    ...         n = max(range(4), key=lambda n: values[n] - n * prices[0])
    ...         best.append(values[n] - n * prices[0])
    ...         columns.append(Column(job, n, values[n], np.array([float(n)]), (list(worth)[job], n)))
    ...     return Priced(np.array(best), columns)
    >>> found = generate_columns(Master(np.array([7.0]), blocks=3, penalty=100.0), price)
    >>> print(round(found.bound, 6), [(data, round(share, 6)) for data, share in found.recover()])
    26.0 [(('vit', 3), 1.0), (('gpt', 3), 0.666667), (('bert', 2), 1.0)]
    """
    at_least(0, gap=gap)
    at_least(1, rounds=rounds)
    positive(grid=grid)
    if not 0 <= smoothing < 1:
        raise InputError(f"smoothing: {smoothing} is not in [0, 1)")
    callables = [pricing] if callable(pricing) else list(pricing)
    state = _State(master, callables, start, grid, smoothing)
    finished, value, x = False, -np.inf, np.zeros(0)
    while not finished and (rounds is None or state.rounds < rounds):
        try:
            value, x, prices, block_duals = master.solve()
            added, finished = state.step(value, prices, block_duals, gap)
        except Halt:
            if value == -np.inf:
                raise
            break
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
        self.largest = max((abs(float(column.value)) for column in master.columns), default=0.0)
        self.duals = np.zeros(len(master.rhs))
        self.best = np.zeros(master.blocks)
        if start is not None:
            self.try_prices(master.padded(_start(start, len(master.rhs))))

    def try_prices(self, prices: Floats) -> list[_Offer]:
        self.rounds += 1
        if self.grid is not None:
            prices = np.round(prices / self.grid) * self.grid
        best: Floats = np.zeros(self.master.blocks)
        offers: list[_Offer] = []
        for price in self.pricing:
            priced = price(prices)
            expect("pricing", priced, Priced)
            columns = list(priced.columns)
            self.master.expect(columns)
            offers.append(_Offer(columns, len(prices)))
            best = best + _best(priced, self.master.blocks, prices, offers[-1])
        bound = self.master.bound(prices, best)
        if bound < self.bound:
            self.bound, self.duals, self.best = bound, prices, best
        return offers

    def step(self, value: float, prices: Floats, block_duals: Floats, gap: float) -> tuple[int, bool]:
        """Price at smoothed, then at plain duals; return columns added and whether bound and value agree."""
        trials = [prices]
        if self.smoothing and np.isfinite(self.bound):
            trials.insert(0, self.smoothing * self.duals + (1 - self.smoothing) * prices)
        added = 0
        for trial in trials:
            offers = self.try_prices(trial)
            self.largest = max([self.largest, *(float(np.abs(offer.values).max(initial=0.0)) for offer in offers)])
            unit = min(1.0, self.largest) or 1.0
            scale = AS_GOOD * max(unit, abs(value))
            added = self.master.extend([c for offer in offers for c in offer.above(scale, prices, block_duals)])
            if self.bound < np.inf and self.bound - value <= gap * max(unit, abs(self.bound)):
                return added, True
            if added:
                break
        return added, False


class _Offer:
    """The columns of one pricing, and their numbers side by side."""

    def __init__(self, columns: list[Column], rows: int) -> None:
        self.columns = columns
        self.block = np.array([c.block for c in columns], dtype=np.int64)
        self.values = np.array([c.value for c in columns], dtype=float)
        self.rows = np.array([c.rows for c in columns], dtype=float).reshape(len(columns), rows)

    def worth(self, prices: Floats) -> Floats:
        """Return what each column is worth at some prices."""
        worth: Floats = self.values - dot(self.rows, prices)
        return worth

    def above(self, least: float, prices: Floats, block_duals: Floats) -> list[Column]:
        """Return the columns worth more than the duals of their blocks, and those that the master is to refuse."""
        gain = self.worth(prices) - block_duals[self.block]
        return [self.columns[k] for k in np.flatnonzero(~((gain > -np.inf) & (gain <= least))).tolist()]


def _start(prices: Floats, most: int) -> Floats:
    """Return prices, of which negative ones would give a bound that is none."""
    given = floats("start", prices)
    if given.ndim != 1 or len(given) > most:
        raise InputError(f"start: has shape {given.shape}, for {most} linking rows")
    if not (given >= 0).all():
        raise InputError("start: prices must be numbers that are not negative")
    return given


def _best(priced: Priced, blocks: int, prices: Floats, offer: _Offer) -> Floats:
    """Return the best of each block, which is no less than what a column is worth that comes with it."""
    best = vector("best", priced.best, blocks)
    if np.isnan(best).any():
        raise InputError(f"best: that of block {int(np.isnan(best).argmax())} is not a number")
    worth, at = offer.worth(prices), best[offer.block]
    for k in np.flatnonzero(worth > at).tolist():
        size = abs(offer.values[k]) + float(dot(np.abs(offer.rows[k]), prices))
        if worth[k] - at[k] > TOLERANCE * size:
            raise InputError(
                f"best: that of block {offer.block[k]} is {at[k]:.9g}, but columns[{k}] is worth {worth[k]:.9g}"
            )
    return best


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
