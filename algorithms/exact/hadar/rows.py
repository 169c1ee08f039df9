"""Rows that couple the jobs in a slot: Hall rows, and inequalities of their integer hulls.

Let z_jl(t) = 1 where job j runs in slot t at option l, with types E_jl. Fitting gangs into a slot is a transportation
problem; by Gale and Hall it can be done iff for every union S of sets E

    ``sum_{(j,l): E_jl within S} W_j z_jl <= C(S)``

(C(S): devices of the types in S); the data are integral, so devices are then whole. All slots have the same cluster,
so a valid inequality of one slot is valid in each. Unions are of sets that overlap one after the other
(`dlsched.models.hadar.hall`), or types that no job mixes would have 2^types rows.

*Hull inequalities.* With y_j = sum_{l: E_jl within S} z_jl, a Hall row is a knapsack in binaries (a job has one option
in a slot). `Separator` finds, for a fractional y, an inequality ``sum alpha_j y_j <= beta`` that all its 0/1 points
satisfy and y does not, or tells that y is a mixture of such points: it prices configurations by the knapsack's dynamic
program. Coefficients are rounded to integers and beta is recomputed as their exact maximum by the same program in
integers, so that validity never rests on the LP. This closes most of the gap of the column-generation bound: gangs
of 8 and 4 cannot be mixed in 8 devices, and LP solutions do nothing else.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from dlsched.algorithms.exact.hadar.problem import Ints, Options
from dlsched.arithmetic import dot
from dlsched.errors import InputError
from dlsched.lazy import sp
from dlsched.models.hadar.hall import unions
from dlsched.solvers.highs import Session
from dlsched.solvers.matrix import Floats
from dlsched.solvers.solution import SolverError
from dlsched.tolerances import AS_GOOD, CLEAR

_DENOMINATORS = range(1, 121)
"""Tried for coefficients of an inequality: facets of knapsacks of this size have small ones; 120 has many divisors."""

_FINEST = 10_000
"""Coefficients with no such denominator are rounded down to multiples of one over this, and beta found anew."""

_CUTS_AN_ITEM = 20
"""Configurations that one separation may find an item, before it is given up; it takes two or three."""

_KNOWN = 300
"""Configurations in a separation's LP from which on the next point gets a new one; by trial: more make it slow."""

_TABLE = 10_000
"""Largest capacity that a knapsack is solved for by a table over all loads; above, only loads that can be are kept."""

_MOST_LOADS = 20_000
"""Of those, at most: a separation then takes a tenth of a second, and there are hundreds."""

_MOST_IN_ALL = 2**40
"""Gangs together, in their greatest common divisor: products with coefficients up to `_FINEST` stay below 2**63."""


@dataclass(frozen=True, slots=True, eq=False)
class Hall:
    """One union S of type sets.

    Attributes
    ----------
    types : int
        Bit mask of S.
    devices : int
        C(S), in units of the greatest common divisor of all gangs.
    member : ndarray of bool, shape (options, jobs)
        Whether the types of the job's option lie within S.
    weight : ndarray of int, shape (jobs,)
        Gangs, in the same units.
    """

    types: int
    devices: int
    member: npt.NDArray[np.bool_]
    weight: Ints

    def fits(self, levels: Ints) -> bool:
        """Tell whether every slot has the devices for jobs at options by (job, slot), -1 where one does not run."""
        job, slot = np.nonzero(levels >= 0)
        load = np.zeros(levels.shape[1], dtype=np.int64)
        np.add.at(load, slot, np.where(self.member[levels[job, slot], job], self.weight[job], 0))
        return bool((load <= self.devices).all())


def needed(sets: tuple[Hall, ...], options: int, jobs: int) -> Ints:
    """Return what each option takes of the Hall rows, shape (options, jobs, rows)."""
    need = np.zeros((options, jobs, len(sets)), dtype=np.int64)
    for k, hall in enumerate(sets):
        need[:, :, k] = np.where(hall.member, hall.weight, 0)
    return need


def hall_sets(jobs: tuple[Options, ...], capacity: tuple[int, ...]) -> tuple[Hall, ...]:
    """Return the Hall rows that can bind: those whose members' gangs exceed the devices.

    Parameters
    ----------
    jobs : tuple of Options
    capacity : tuple of int
        Devices of each type, in the order of the masks' bits.

    Raises
    ------
    InputError
        If a row that can bind has gangs of more than 2**40 devices in all.
    """
    unit = math.gcd(*(o.gang for o in jobs)) or 1
    most = max((len(o.types) for o in jobs), default=1)
    found = []
    for union in sorted(unions(mask for o in jobs for mask in o.types)):
        member = [[k < len(o.types) and o.types[k] | union == union for o in jobs] for k in range(most)]
        devices = sum(c for i, c in enumerate(capacity) if union >> i & 1)
        if sum(o.gang for o, *within in zip(jobs, *member, strict=True) if any(within)) > devices:
            _refuse_crowds(jobs, unit)
            weight = np.array([o.gang // unit for o in jobs], dtype=np.int64)
            found.append(Hall(union, devices // unit, np.array(member), weight))
    return tuple(found)


def _refuse_crowds(jobs: tuple[Options, ...], unit: int) -> None:
    total = sum(o.gang for o in jobs) // unit
    if total > _MOST_IN_ALL:
        largest = max(jobs, key=lambda o: o.gang)
        raise InputError(
            f"job {largest.name}: gang: {largest.gang} devices, and {total * unit} of all jobs together, are more than "
            f"{_MOST_IN_ALL} times the greatest common divisor of the gangs, {unit}"
        )


@dataclass(frozen=True, slots=True, eq=False)
class Inequality:
    """``sum coefficient[l, j] z_jl <= rhs`` in every slot; integers.

    Attributes
    ----------
    coefficient : ndarray of int, shape (options, jobs)
    rhs : int
    hall : int
        Number of the Hall row it is an inequality of.
    """

    coefficient: Ints
    rhs: int
    hall: int

    @property
    def key(self) -> tuple[bytes, int]:
        """Tells inequalities apart."""
        return self.coefficient.tobytes(), self.rhs


def hall_inequality(sets: tuple[Hall, ...], number: int) -> Inequality:
    """Return a Hall row itself, divided by the greatest common divisor of its gangs."""
    hall = sets[number]
    coefficient = np.where(hall.member, hall.weight, 0)
    divisor = int(np.gcd.reduce(coefficient[coefficient > 0]))
    return Inequality(coefficient // divisor, hall.devices // divisor, number)


class TooManyLoads(Exception):
    """A knapsack has too many different sums of weights."""


@dataclass(frozen=True, slots=True, eq=False)
class _Table:
    """The best values of some items within each capacity from 0 on."""

    values: Ints | Floats

    def within(self, capacity: int) -> Any:
        return self.values[capacity]

    def with_item(self, value: Any, weight: int) -> _Table:
        values = self.values.copy()
        if weight < len(values):
            np.maximum(values[weight:], self.values[: len(values) - weight] + value, out=values[weight:])
        return _Table(values)


@dataclass(frozen=True, slots=True, eq=False)
class _Loads:
    """The loads of some items that no lighter one is as good as, ascending, and their best values."""

    loads: Ints
    values: Ints | Floats
    capacity: int

    def within(self, capacity: int) -> Any:
        return self.values[np.searchsorted(self.loads, capacity, side="right") - 1]

    def with_item(self, value: Any, weight: int) -> _Loads:
        fits = self.loads + weight <= self.capacity
        loads = np.append(self.loads, self.loads[fits] + weight)
        values = np.append(self.values, self.values[fits] + value)
        order = np.lexsort((-values, loads))
        most = np.maximum.accumulate(values[order])
        kept = order[np.append(True, most[1:] > most[:-1])]
        if len(kept) > _MOST_LOADS:
            raise TooManyLoads
        return _Loads(loads[kept], values[kept], self.capacity)


def _nothing(capacity: int, dtype: npt.DTypeLike) -> _Table | _Loads:
    """Return the values of no items within a capacity."""
    if capacity > _TABLE:
        return _Loads(np.zeros(1, dtype=np.int64), np.zeros(1, dtype=dtype), capacity)
    return _Table(np.zeros(capacity + 1, dtype=dtype))


def _after_each(alpha: Ints | Floats, weight: Ints, items: Ints, capacity: int) -> list[_Table | _Loads]:
    """Return the best values of no items, and after each item more."""
    best = [_nothing(capacity, alpha.dtype)]
    for i in items:
        best.append(best[-1].with_item(alpha[i], int(weight[i])))
    return best


def knapsack(alpha: Ints | Floats, weight: Ints, items: Ints, capacity: int) -> tuple[float, Ints]:
    """Return the best value of items within a capacity, and which items have it (0/1 over all jobs).

    Raises
    ------
    TooManyLoads
        If the capacity is too large for a table, and so is the number of loads that no lighter one is as good as.
    """
    best = _after_each(alpha, weight, items, capacity)
    chosen, left = np.zeros(len(alpha), dtype=np.int64), capacity
    for i, (after, before) in zip(items[::-1], pairwise(best[::-1]), strict=True):
        if after.within(left) > before.within(left):
            chosen[i] = 1
            left -= int(weight[i])
    return best[-1].within(capacity), chosen


def by_gang(hall: Hall, y: Floats | Ints) -> Ints:
    """Return the jobs sorted by gang, then by y, largest first.

    A Hall row's hull does not change when jobs of the same gang are exchanged, so a valid inequality is still valid
    after its coefficients are sorted like this and given to the jobs in the order of another y.
    """
    return np.lexsort((-y, -hall.weight))


def suspicious(y: Floats) -> bool:
    """Tell whether a point of a Hall row may be outside its integer hull; False is a proof that it is not.

    Whole points are inside, and so are points of total at most 1: mixtures of single jobs and none.
    """
    return bool(((y > CLEAR) & (y < 1 - CLEAR)).any()) and float(y.sum()) > 1 + CLEAR


class Separator:
    """Finds inequalities of a Hall row's integer hull, for any number of points: its linear program stays warm.

    The hull does not change when jobs of the same gang are exchanged. So of the inequalities ``alpha y <= 1`` that a
    point breaks, one that it breaks most has coefficients that fall, in each gang, as the point's shares do; and of the
    configurations with the same number of jobs of each gang, those of the largest shares are all that it must be
    checked against. With alpha the sums of falls beta_gk >= 0 behind the k largest shares of gang g, the program is

        ``max sum Y_gk beta_gk``  subject to  ``sum min(n_g, k) beta_gk <= 1`` for the numbers n of all configurations,

    Y_gk the sum of these k shares. A point changes the costs alone, and numbers that were found stay.

    Parameters
    ----------
    hall : Hall
    """

    def __init__(self, hall: Hall) -> None:
        self.hall = hall
        gangs, first = np.unique(-np.sort(-hall.weight), return_index=True)
        self._first = np.sort(first)
        self._gang = -np.sort(-gangs)
        sizes = np.diff([*self._first, len(hall.weight)])
        self._which = np.repeat(np.arange(len(sizes)), sizes)
        self._rank = np.arange(len(hall.weight)) - self._first[self._which] + 1
        self._session: Session | None = None
        self._rows = 0

    def separate(self, y: Floats) -> tuple[Ints, int] | None:
        """Return (alpha, beta) of an inequality of the hull that y breaks; None where none is found.

        None is found where y is in the hull, where its LP fails, and where too many sums of gangs differ.

        Parameters
        ----------
        y : ndarray of shape (jobs,)
            Between 0 and 1; 0 for jobs that are not members.
        """
        hall, items = self.hall, np.flatnonzero(y > CLEAR)
        try:
            alpha = self._facet(y, items)
            if alpha is None:
                return None
            whole = _integers(alpha)
            best = _after_each(whole, hall.weight, items, hall.devices)[-1]
            beta = int(best.within(hall.devices))
            if float(dot(whole, y)) <= beta * (1 + CLEAR):
                return None
            return _lifted(hall, whole, best, items), beta
        except TooManyLoads:
            return None

    def _facet(self, y: Floats, items: Ints) -> Floats | None:
        """Maximise alpha y over alpha with alpha v <= 1 for all configurations v, added as they are broken."""
        order = by_gang(self.hall, y)
        shown = y[order] > CLEAR
        total = np.append(0.0, np.cumsum(y[order]))
        prefix = total[1:] - total[self._first][self._which]
        lp = self._program()
        lp.set_costs(np.where(shown, prefix, 0.0))
        for _ in range(_CUTS_AN_ITEM * len(items)):
            try:
                solved = lp.solve()
            except SolverError:  # no inequality is found, and none is needed
                self._session = None
                return None
            if solved is None or solved[0] <= 1 + CLEAR:
                return None
            alpha = np.zeros(len(y))
            alpha[order] = self._sums(np.where(shown, np.maximum(solved[1], 0.0), 0.0))
            best, chosen = knapsack(alpha, self.hall.weight, items, self.hall.devices)
            if best <= 1 + AS_GOOD:
                return alpha
            self._add(lp, np.bincount(self._which[chosen[order] > 0], minlength=len(self._first)))
        return None

    def _sums(self, falls: Floats) -> Floats:
        """Return the coefficients with such falls, in the order of `by_gang`."""
        behind = np.append(np.cumsum(falls[::-1])[::-1], 0.0)
        last = np.append(self._first[1:], len(falls))
        sums: Floats = behind[:-1] - behind[last][self._which]
        return np.maximum(sums, 0.0)

    def _program(self) -> Session:
        """Return the linear program; at first the configurations are those of one job, so that it is bounded."""
        if self._session is None or self._rows > _KNOWN:
            self._session, self._rows = Session(-1), 0
            jobs = len(self._which)
            self._session.add_columns(np.zeros(jobs), np.full(jobs, np.inf), sp.csc_array((0, jobs)))
            for number in np.eye(len(self._first), dtype=np.int64):
                self._add(self._session, number)
        return self._session

    def _add(self, lp: Session, number: Ints) -> None:
        taken = np.minimum(number[self._which], self._rank)
        columns = np.flatnonzero(taken).astype(np.int32)
        lp.add_row(-np.inf, 1.0, columns, taken[columns].astype(float))
        self._rows += 1


def _integers(alpha: Floats) -> Ints:
    """Scale to small integers where that is possible up to rounding, else round down on a fine grid."""
    for scale in _DENOMINATORS:
        whole = np.round(alpha * scale)
        if np.abs(whole - alpha * scale).max() < CLEAR:
            return whole.astype(np.int64)
    return np.floor(alpha * _FINEST).astype(np.int64)


def _lifted(hall: Hall, alpha: Ints, best: _Table | _Loads, items: Ints) -> Ints:
    """Give the jobs beside some items of best values the largest coefficients, one by one, heavy ones first."""
    alpha, beta = alpha.copy(), best.within(hall.devices)
    for i in np.argsort(-hall.weight, kind="stable"):
        if i not in items and hall.member[:, i].any() and hall.weight[i] <= hall.devices:
            alpha[i] = beta - best.within(hall.devices - int(hall.weight[i]))
            best = best.with_item(alpha[i], int(hall.weight[i]))
    return alpha
