"""The master of column generation: columns found so far, linking rows, and the warm LP over them."""

from __future__ import annotations

import itertools
import numbers
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from dlsched.arguments import at_least, called, checked, expect, floats, positive, vector
from dlsched.arithmetic import dot, exact_product, sparse_product
from dlsched.errors import InputError, shown
from dlsched.lazy import sp
from dlsched.solvers.highs import Session
from dlsched.solvers.matrix import Floats
from dlsched.solvers.scaling import LARGE, SMALL
from dlsched.solvers.solution import SolverError
from dlsched.tolerances import TOLERANCE, UNSEEN

Bools = npt.NDArray[np.bool_]
Ints = npt.NDArray[np.int64]


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

    Examples
    --------
    >>> import numpy as np
    >>> from dlsched.relaxations import Column, Master
    >>> plans = [Column(0, "fast", 8.0, np.array([3.0])), Column(0, "slow", 5.0, np.array([1.0]))]
    >>> master = Master(np.array([4.0]), blocks=2, penalty=100.0)
    >>> added = master.add([*plans, Column(1, "only", 6.0, np.array([2.0]))])
    >>> value, x, prices, _ = master.solve()
    >>> print({column.key: share for column, share in zip(master.columns, x.round(6).tolist())})
    {'fast': 0.5, 'slow': 0.5, 'only': 1.0}
    >>> print(prices.round(6).tolist(), [round(plan.value - prices @ plan.rows, 6).item() for plan in plans])
    [1.5] [3.5, 3.5]
    """

    block: int
    key: Hashable
    value: float
    rows: Floats
    data: Any = None


class Master:
    """The LP over the columns found so far; it stays warm over calls, new rows and bans.

    Parameters
    ----------
    rhs : ndarray of shape (linking rows,)
        b.
    blocks : int
        At least 1.
    penalty : float
        Cost of leaving a required block empty; more than any objective value.

    Raises
    ------
    TypeError
        If `blocks` or `penalty` is no number.
    InputError
        If there is no block, a right-hand side is not finite, or the penalty is not positive and finite.

    Notes
    -----
    HiGHS judges rows and costs by absolute tolerances, so it gets each linking row in units of its right-hand side, or
    of its largest coefficient where the side is 0 and those that there are are far from 1; and values multiplied by a
    power of two where the penalty, which is above them, is below 1.

    Examples
    --------
    >>> import numpy as np
    >>> from dlsched.relaxations import Column, Master
    >>> master = Master(np.array([4.0]), blocks=2, penalty=100.0)
    >>> added = master.add([Column(0, "fast", 8.0, np.array([3.0])), Column(0, "slow", 5.0, np.array([1.0]))])
    >>> print(round(master.solve()[0], 6))
    8.0
    >>> added = master.add([Column(1, "only", 6.0, np.array([2.0])), Column(0, "slow", 5.0, np.array([1.0]))])
    >>> value, _, prices, _ = master.solve()
    >>> print(added, round(value, 6), prices.round(6).tolist())
    1 12.5 [1.5]
    """

    @checked
    def __init__(self, rhs: Floats, blocks: int, penalty: float) -> None:
        at_least(1, blocks=blocks)
        positive(penalty=penalty)
        self.rhs = floats("rhs", rhs)
        if self.rhs.ndim != 1 or not np.isfinite(self.rhs).all():
            raise InputError(f"rhs: must be a vector of finite numbers, not {shown(rhs)}")
        self.blocks = blocks
        self.columns: list[Column] = []
        self.required = np.zeros(blocks, dtype=bool)
        self._keys: dict[tuple[int, Hashable], int] = {}
        self._allowed = np.ones(0, dtype=bool)
        self._session = Session(-1)
        self._session.add_rows(np.full(blocks, -np.inf), np.ones(blocks), sp.csr_array((blocks, 0)))
        self._factor = 1.0 if penalty >= 1.0 else LARGE / float(_unit(np.array(penalty)))
        costs = np.full(blocks, -penalty * self._factor)
        self._session.add_columns(costs, np.zeros(blocks), sp.eye_array(blocks, format="csc"))
        self._units, self._largest = np.empty(0), np.empty(0)
        self._append(self.rhs, sp.csr_array((len(self.rhs), blocks)))

    def _append(self, rhs: Floats, rows: Any) -> None:
        """Give the session more linking rows, each divided by the power of two next to its right-hand side."""
        largest = abs(rows).max(axis=1).toarray().ravel() if rows.shape[1] else np.zeros(len(rhs))
        units = _unit(np.where(rhs == 0.0, largest, np.abs(rhs)))
        self._units = np.concatenate([self._units, units])
        self._largest = np.concatenate([self._largest, largest])
        self._session.add_rows(
            np.full(len(rhs), -np.inf), rhs / units, _seen(sparse_product(sp.diags_array(1.0 / units), rows))
        )

    def add(self, columns: Sequence[Column]) -> int:
        """Add the columns that are new; return how many were.

        Raises
        ------
        InputError
            As for `expect`.
        """
        self.expect(columns)
        return self.extend(columns)

    def extend(self, columns: Iterable[Column]) -> int:
        """Do as `add`, of columns that `expect` has looked at."""
        known: dict[tuple[int, Hashable], Column] = {}
        for column in columns:
            at = column.block, column.key
            first = self.columns[self._keys[at]] if at in self._keys else known.setdefault(at, column)
            if first is not column:
                _expect_same(first, column)
        fresh = list(known.values())
        if fresh:
            values = np.array([c.value for c in fresh], dtype=float)
            rows = np.array([c.rows for c in fresh], dtype=float).reshape(len(fresh), -1)
            _expect_numbers(fresh, values, rows)
            self._measure(rows)
            entries = np.zeros((len(fresh), self.blocks + len(self.rhs)))
            entries[:, self.blocks :] = rows / self._units
            entries[np.abs(entries) <= UNSEEN] = 0.0
            entries[range(len(fresh)), [c.block for c in fresh]] = 1.0
            at_column, row = np.nonzero(entries)
            starts = np.searchsorted(at_column, np.arange(len(fresh) + 1))
            limits = np.full(len(fresh), np.inf)
            self._session.add_columns_of(values * self._factor, limits, starts, row, entries[at_column, row])
            self._keys.update(zip(known, itertools.count(len(self.columns))))
            self.columns += fresh
            self._allowed = np.concatenate([self._allowed, np.ones(len(fresh), dtype=bool)])
        return len(fresh)

    def _measure(self, rows: Floats) -> None:
        """Give linking rows whose side is 0 units in which the largest coefficients, with some more, are ordinary."""
        self._largest = np.maximum(self._largest, np.abs(rows).max(axis=0))
        in_units = self._largest / self._units
        is_odd = (in_units > 0.0) & ((in_units < SMALL) | (in_units > LARGE))
        for row in np.flatnonzero((self.rhs == 0.0) & is_odd).tolist():
            self._units[row] = _unit(self._largest[row])
            for k, column in enumerate(self.columns, start=self.blocks):
                if column.rows[row]:
                    entry = column.rows[row] / self._units[row]
                    self._session.set_coefficient(self.blocks + row, k, entry if abs(entry) > UNSEEN else 0.0)

    def expect(self, columns: Sequence[Column]) -> None:
        """Refuse what is no column of a block that there is, with a key, a value and coefficients of the linking rows.

        Numbers that are none, such as NaN, are refused when the column is added.

        Raises
        ------
        TypeError, InputError
        """
        for k, column in enumerate(columns):
            place = f"columns[{k}]"
            expect(place, column, Column)
            if not (_is_whole(column.block) and 0 <= column.block < self.blocks):
                raise InputError(f"{place}: block {column.block} is not one of 0..{self.blocks - 1}")
            if np.shape(column.rows) != self.rhs.shape:
                raise InputError(f"{place}: rows has shape {np.shape(column.rows)}, not {self.rhs.shape}")
            if not _are_numbers(column.value, column.rows):
                raise TypeError(f"{place}: value and rows must be numbers")
            try:
                hash(column.key)
            except TypeError:
                raise TypeError(
                    f"{place}: key must be hashable, as a tuple is; it is {called(type(column.key))}"
                ) from None

    def add_rows(self, rhs: Floats, coefficients: Floats) -> None:
        """Add linking rows; `coefficients` has shape (new rows, columns) for the columns of the master."""
        self.rhs = np.concatenate([self.rhs, rhs])
        padded = sp.hstack([sp.csr_array((len(rhs), self.blocks)), sp.csr_array(coefficients)])
        self._append(np.asarray(rhs, dtype=float), padded)
        if self.columns:
            rows = np.hstack([[c.rows for c in self.columns], np.asarray(coefficients, dtype=float).T])
            self.columns = [Column(c.block, c.key, c.value, r, c.data) for c, r in zip(self.columns, rows, strict=True)]

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
            self.rhs, self._units, self._largest = self.rhs[mask], self._units[mask], self._largest[mask]
            self.columns = [Column(c.block, c.key, c.value, c.rows[mask], c.data) for c in self.columns]

    def padded(self, prices: Floats) -> Floats:
        """Return prices with a 0 for each linking row that was added since."""
        return np.append(prices, np.zeros(len(self.rhs) - len(prices)))

    def trim(self, prices: Floats, most: int) -> None:
        """Where there are more than `most` columns, forget those that are worth least beside the best of their block.

        As many as half of `most` are kept: what is dropped is found again where it is needed.
        """
        if len(self.columns) > most:
            rows = np.array([c.rows for c in self.columns])
            reduced = np.array([c.value for c in self.columns]) - exact_product(rows, self.padded(prices))
            block = np.array([c.block for c in self.columns])
            best = np.full(self.blocks, -np.inf)
            np.maximum.at(best, block, reduced)
            mask = np.zeros(len(self.columns), dtype=bool)
            mask[np.argsort(best[block] - reduced, kind="stable")[: most // 2]] = True
            self.keep_columns(mask)

    def restrict(self, allowed: Bools, required: Bools) -> None:
        """Allow only some columns, and require some blocks; columns added later are allowed.

        Raises
        ------
        InputError
            If there is not one answer for each column, and for each block.
        """
        for name, given, size in (("allowed", allowed, len(self.columns)), ("required", required, self.blocks)):
            if np.shape(given) != (size,):
                raise InputError(f"{name}: has shape {np.shape(given)}, not ({size},)")
        if not np.array_equal(allowed, self._allowed) or not np.array_equal(required, self.required):
            artificial = np.where(required, 1.0, 0.0)
            self._session.bound_columns(np.concatenate([artificial, np.where(allowed, np.inf, 0.0)]))
            changed = np.flatnonzero(required != self.required).astype(np.int32)
            lower = np.where(required[changed], 1.0, -np.inf)
            self._session.bound_rows(changed, lower, np.ones(len(changed)))
            self._allowed, self.required = allowed.copy(), required.copy()

    def basis(self) -> Any:
        """Return the basis of the last LP, for `start_from`."""
        return self._session.basis()

    def start_from(self, basis: Any) -> None:
        """Start the next LP from the basis of an earlier one; since then, columns may have been added, no rows."""
        self._session.start_from(basis)

    def solve(self) -> tuple[float, Floats, Floats, Floats]:
        """Return the value, x, the prices of the linking rows (not negative) and the blocks' duals."""
        solved = self._session.solve()
        if solved is None:
            raise SolverError("no columns of the master keep its linking rows: add some that do")
        value, x, duals = solved[0] / self._factor, solved[1], solved[2] / self._factor
        return value, x[self.blocks :], np.maximum(duals[self.blocks :], 0.0) / self._units, duals[: self.blocks]

    def bound(self, prices: Floats, best: Floats) -> float:
        """Return the Lagrangian bound of prices, not negative, and the pricing values they have.

        Raises
        ------
        InputError
            If there is not one price for each linking row, or one is negative or NaN: it would be no bound.
        """
        prices = vector("prices", prices, len(self.rhs))
        if not (prices >= 0.0).all():
            raise InputError("prices: must not be negative, for less of a row is no loss")
        return float(dot(prices, self.rhs)) + float(np.where(self.required, best, np.maximum(best, 0.0)).sum())


class ColumnArrays:
    """Integers of a master's columns, side by side; of columns that were looked at before nothing is done again.

    Parameters
    ----------
    master : Master
    of : callable
        Takes the data of some columns, and returns arrays whose first axis is theirs.
    """

    def __init__(self, master: Master, of: Callable[[list[Any]], tuple[Ints, ...]]) -> None:
        self._master, self._of = master, of
        self._looked_at: list[Column] = []
        self._arrays = of([])

    def __call__(self) -> tuple[Ints, ...]:
        """Return the arrays for all columns: the master makes another list where columns go, and appends new ones."""
        columns = self._master.columns
        if columns is not self._looked_at:
            self._looked_at, self._arrays = columns, self._of([])
        known = len(self._arrays[0])
        if known < len(columns):
            fresh = self._of([c.data for c in columns[known:]])
            self._arrays = tuple(np.concatenate(pair) for pair in zip(self._arrays, fresh, strict=True))
        return self._arrays


def _is_whole(number: Any) -> bool:
    return type(number) is int or (isinstance(number, numbers.Integral) and not isinstance(number, bool))


def _are_numbers(value: Any, rows: Any) -> bool:
    return (type(value) is float or isinstance(value, numbers.Real)) and np.asarray(rows).dtype.kind not in "SU"


def _expect_same(first: Column, second: Column) -> None:
    """Refuse a column that has the key of another of its block, and other numbers: it would be taken for the other."""
    rows = np.array([first.rows, second.rows], dtype=float)
    values = np.array([first.value, second.value], dtype=float)
    if any(
        not np.ptp(given, axis=0).max(initial=0.0) <= TOLERANCE * np.abs(given).max(initial=0.0)
        for given in (values, rows)
    ):
        raise InputError(f"columns: two of block {first.block} have the key {shown(first.key)} and other numbers")


def _expect_numbers(columns: Sequence[Column], values: Floats, rows: Floats) -> None:
    bad = ~np.isfinite(np.column_stack([values, rows]))
    if bad.any():
        k, i = (int(at) for at in np.argwhere(bad)[0])
        what, number = (f"rows[{i - 1}]", rows[k, i - 1]) if i else ("value", values[k])
        raise InputError(
            f"columns: that of block {columns[k].block} with the key {shown(columns[k].key)} has the {what} {number}, "
            "which is not a finite number"
        )


def _unit(size: Floats) -> Floats:
    """Return the powers of two above some sizes, and 2 where one is 0."""
    found: Floats = np.ldexp(1.0, np.frexp(np.where(size == 0.0, 1.0, size))[1])
    return found


def _seen(rows: Any) -> Any:
    """Leave out what is lost beside the right-hand sides; bounds are computed from the columns themselves."""
    rows.data = np.where(np.abs(rows.data) > UNSEEN, rows.data, 0.0)
    rows.eliminate_zeros()
    return rows
