"""The tree of an exact certificate: floating-point linear programs propose, integers decide.

Branch and bound from the optimum's value, which another method has found: a node ends where multipliers, rounded to
rationals, show that nothing in it is better (`Duality.limit`). What the solver says is never taken for true: where its
multipliers do not show it, the node is split further, or the search gives up. What to branch on is looked up in linear
programs until a column's losses are known (reliability branching: Achterberg, Koch and Martin 2005).

The method is that of safe bounds (Neumaier and Shcherbina 2004; Jansson 2004), in rationals instead of directed
rounding, as exact branch and bound uses them (Cook, Koch, Steffy and Wolter 2013; Cheung, Gleixner and Steffy 2017).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from dlsched.algorithms.exact.certificates.certificate import MAX_NODES, Bounded, Branching, Empty, Node, Tree
from dlsched.algorithms.exact.certificates.check import Duality
from dlsched.algorithms.exact.certificates.program import Bounds, ExactProgram, Side
from dlsched.halt import poll
from dlsched.lazy import sp
from dlsched.models.numbers import size_of
from dlsched.solvers.highs import Session
from dlsched.solvers.matrix import Floats
from dlsched.solvers.scaling import INFINITE
from dlsched.solvers.solution import SolverError
from dlsched.tolerances import CLOSED, LEAST_DROPPED, LEAST_LOSS, TIGHT, WHOLE

_BITS = 44
"""Multipliers are rounded to multiples of 2^-44, relative to the largest cost and the row: as exact as a solver's."""

_SIMPLE = 1000
"""Denominators up to this are tried for multipliers: small ones prove a bound without any error. Arbitrary."""

_RELIABLE = 4
"""Linear programs a column, after which its losses are known. Measured, with the next three: ``docs/methods.md``."""

_ASKED = 8
"""Columns of a node that linear programs are asked about, at most."""

_AHEAD = 0.75
"""Of the linear programs that there may be: so many are for this at most."""

_WORSE = 2
"""Columns in a row that are no better than the best, after which no other is looked at."""

_FIRST_LEAF = 0.25
"""Of the linear programs that there may be: where they find no leaf, all of them hardly ever find a tree."""

_FEW = 32
"""Linear programs that are solved in any case before that counts: two columns' at each of some nodes."""


class GaveUp(Exception):
    """No tree was found within the limits; the message says why.

    Examples
    --------
    >>> from dlsched.algorithms.exact.certificates import GaveUp, prove_exactly
    >>> from dlsched.algorithms.hadar import run
    >>> from dlsched.models import hadar
    >>> instance = hadar.random(18)
    >>> try:
    ...     prove_exactly(instance, run(instance).schedule, work=0)
    ... except GaveUp as reason:
    ...     print(str(reason).split(" after ")[0])
    no tree
    """


class Beaten(Exception):
    """The program has a point that is worth more than the value.

    Parameters
    ----------
    point : tuple of Fraction
        By column.
    worth : Fraction
        Of that point; of a cost, less.

    Examples
    --------
    >>> from dlsched.algorithms.exact.certificates import Beaten, prove_exactly
    >>> from dlsched.algorithms.baselines.hadar.las import run
    >>> from dlsched.models import hadar
    >>> instance = hadar.random(0)
    >>> try:
    ...     prove_exactly(instance, run(instance).schedule)
    ... except Beaten as better:
    ...     print(run(instance).utility, "but", better)
    17.0 but the program has a point worth 34
    """

    def __init__(self, point: tuple[Fraction, ...], worth: Fraction) -> None:
        super().__init__(f"the program has a point worth {size_of(worth)}")
        self.point, self.worth = point, worth


def prove(program: ExactProgram, value: Fraction | None, *, work: int) -> Tree:
    """Return a tree that shows that nothing is better than a value, or by `CLOSED` of the unit at most.

    Parameters
    ----------
    program : ExactProgram
    value : Fraction or None
        Of a point; None where there is said to be none.
    work : int
        Coefficients of the program, times linear programs, that the search may take.

    Raises
    ------
    GaveUp
        If none was found.
    Beaten
        If there is something better.
    Halt
        If the work (`dlsched.halt`) is over.
    """
    try:
        return _Search(program, value, work).run()
    except (SolverError, ValueError, OverflowError) as error:
        raise GaveUp(str(error)) from None


_Found = tuple[float, Floats, Floats]
"""Objective, point and multipliers of a linear program."""


@dataclass(slots=True, eq=False)
class _Box:
    """A node's part: bounds of the columns, exactly and as a solver takes them, and what it found once it was asked."""

    lower: Bounds
    upper: Bounds
    low: Floats
    high: Floats
    asked: bool = False
    found: _Found | None = None
    ray: Floats | None = None

    def at_most(self, column: int, value: int) -> _Box:
        """Return the part in which a column is at most a value."""
        upper, high = self.upper.copy(), self.high.copy()
        upper[column] = high[column] = value
        return _Box(self.lower, upper, self.low, high)

    def at_least(self, column: int, value: int) -> _Box:
        """Return the part in which a column is at least a value."""
        lower, low = self.lower.copy(), self.low.copy()
        lower[column] = low[column] = value
        return _Box(lower, self.upper, low, self.high)

    def parts(self, column: int, at: int) -> list[_Box]:
        """Return the part in which a column is above a value, and that in which it is not."""
        return [self.at_least(column, at + 1), self.at_most(column, at)]


@dataclass(frozen=True, slots=True)
class _Goal:
    """What leaves with points have to show, as if maximising.

    Attributes
    ----------
    value : Fraction
        That nothing is worth more than this.
    most : Fraction
        Or than this: slightly more.
    lattice : Fraction or None
        To whose multiples bounds are rounded: None where there is none, or it is finer than what `most` allows.
    """

    value: Fraction
    most: Fraction
    lattice: Fraction | None

    @classmethod
    def of(cls, program: ExactProgram, value: Fraction) -> _Goal:
        slack = CLOSED * max([abs(value), *(abs(column.cost) for column in program.columns)])
        lattice = _lattice(program)
        return cls(value, value + slack, lattice if lattice is not None and lattice > slack else None)

    @property
    def unrounded(self) -> Fraction:
        """What a bound that is not rounded yet may be."""
        return self.most + (self.lattice or 0)


class _Search:
    """The search; objectives are compared as if maximising."""

    def __init__(self, program: ExactProgram, value: Fraction | None, work: int) -> None:
        self.program = program
        size = 1 + len(program.columns) + sum(len(row.terms) for row in program.rows)
        self.most = 1 + work // size
        self.solved = self.ahead = 0
        self.sign = 1 if program.sense == "maximize" else -1
        self.goal = None if value is None else _Goal.of(program, self.sign * value)
        self.lattice = None if self.goal is None else self.goal.lattice
        self.duality = duality = Duality(program, self.lattice)
        self.lp = _Relaxation(duality)
        low = np.array([side_of(bound, -1) for bound in duality.lower])
        high = np.array([side_of(bound, 1) for bound in duality.upper])
        self.root = _Box(duality.lower, duality.upper, low, high)
        self.shown: list[Fraction] = []
        self.losses = _Losses(len(program.columns))
        self.integer = np.array([column.integer for column in program.columns], dtype=bool)

    @cached_property
    def elastic(self) -> _Relaxation:
        """What shows that a part has no point."""
        return _Relaxation(self.duality, elastic=True)

    def run(self) -> Tree:
        nodes: list[Node] = []
        open_ = [self.root]
        leaves = 0
        while open_:
            poll()
            most = self.most if leaves else max(_FIRST_LEAF * self.most, min(_FEW, self.most))
            if self.solved > most or len(nodes) + len(open_) > MAX_NODES:
                raise GaveUp(f"no tree after {self.solved} linear programs")
            node, parts = self._node(open_.pop())
            nodes.append(node)
            open_ += parts
            leaves += not parts
        bound = None if self.goal is None else self.sign * max([self.goal.value, *self.shown])
        return Tree(tuple(nodes), bound, self.lattice)

    def _node(self, box: _Box) -> tuple[Node, list[_Box]]:
        """Return a node, and the parts that it leaves, the last one to be looked at first."""
        found = self._solve(box)
        if found is None:
            return self._empty(box), []
        objective, x, y = found
        if self.goal is not None and self.lp.above(objective, self.goal.unrounded) <= TIGHT:
            leaf = self._bounded(self.goal, y, box)
            if leaf is not None:
                return leaf, []
        if not (self.integer & (box.low < box.high)).any():
            return self._settled(box), []
        column, at, parts = self._branching(objective, x, box)
        return Branching(column=column, at=at), parts

    def _solve(self, box: _Box) -> _Found | None:
        """Return what the linear program finds in a part; None where there is no point."""
        if not box.asked:
            box.found, box.asked = self.lp.solve(box), True
            self.solved += 1
            if box.found is None:
                box.ray = self.lp.ray()
        return box.found

    def _empty(self, box: _Box) -> Empty:
        y = {} if box.ray is None else self.lp.multipliers(box.ray)
        if not self._shows(y, box):
            found = self.elastic.solve(box)
            self.solved += 1
            y = {} if found is None else self.elastic.multipliers(found[2])
            if not self._shows(y, box):
                raise GaveUp("a part without points is not shown to have none")
        return Empty(farkas=y)

    def _shows(self, y: dict[int, Fraction], box: _Box) -> bool:
        """Tell whether multipliers show that a part has no point."""
        limit = self.duality.limit(y, box.lower, box.upper, farkas=True)
        return limit is not None and limit < 0

    def _bounded(self, goal: _Goal, y: Floats, box: _Box) -> Bounded | None:
        """Return a leaf if the multipliers show enough; short fractions where only these show it without any error."""
        best: tuple[Fraction, dict[int, Fraction]] | None = None
        for longest in (None, _SIMPLE):
            multipliers = self.lp.multipliers(y, longest, sign=self.sign)
            limit = self.duality.limit(multipliers, box.lower, box.upper, farkas=False)
            if limit is not None:
                if limit <= goal.most and (best is None or limit < best[0]):
                    best = limit, multipliers
                if limit <= goal.value:
                    break
        if best is None:
            return None
        self.shown.append(best[0])
        return Bounded(multipliers=best[1])

    def _settled(self, box: _Box) -> Bounded | Empty:
        """Return the leaf of a part in which all integers are fixed, and which the solver does not show to be one.

        It takes a point for one of the program that breaks a row by less than it sees, or for a better one.
        """
        if box.lower == box.upper:
            point = tuple(Fraction(bound or 0) for bound in box.lower)
            worth = self.program.worth(point)
            if worth is None:
                for i, (terms, low, high, _) in enumerate(self.duality.rows):
                    activity = sum(a * point[j] for j, a in terms)
                    if high is not None and activity > high:
                        return Empty(farkas={i: Fraction(1)})
                    if low is not None and activity < low:
                        return Empty(farkas={i: Fraction(-1)})
            elif self.goal is None or self.sign * worth > self.goal.most:
                raise Beaten(point, worth)
            else:
                self.shown.append(self.sign * worth)
                return Bounded(multipliers={})
        raise GaveUp("a part with all integers fixed is not shown to have nothing better")

    def _branching(self, objective: float, x: Floats, box: _Box) -> tuple[int, int, list[_Box]]:
        """Return what to branch on, and the two parts: a fractional column, one that costs something if there is any.

        Where no column of integers is fractional, one that is not fixed yet.
        """
        off = np.where(self.integer, np.abs(x - np.round(x)), 0.0)
        fractional = np.flatnonzero(off > WHOLE)
        if len(fractional):
            paid = fractional[self.lp.weights[fractional] > 0]
            dear = off * (1.0 + self.lp.weights)
            candidates = sorted((paid if len(paid) else fractional).tolist(), key=lambda j: (-float(dear[j]), j))
            return self._best(candidates, objective, x, box)
        free = self.integer & (box.low < box.high)
        column = int(free.argmax())
        at = int(min(np.round(x[column]), box.high[column] - 1))
        return column, at, box.parts(column, at)

    def _best(self, candidates: list[int], objective: float, x: Floats, box: _Box) -> tuple[int, int, list[_Box]]:
        """Return the fractional column from which the bound falls most in both parts, and these.

        What it falls by is looked up in linear programs until it is known how much that is for the column, then it is
        taken from what it was there. Only of the likeliest columns, and until several in a row were no better.
        """
        split = {j: math.floor(x[j]) for j in candidates}
        if len(candidates) == 1 or self.goal is None:
            column = candidates[0]
            return column, split[column], box.parts(column, split[column])
        gap = max(TIGHT, self.lp.above(objective, self.goal.unrounded))
        score = {j: self.losses.score(j, float(x[j]) - split[j], gap) for j in candidates}
        candidates.sort(key=lambda j: -score[j])
        best, most, asked, worse = candidates[0], -1.0, 0, 0
        parts: list[_Box] = []
        for j in candidates:
            made = box.parts(j, split[j])
            if asked < _ASKED and self.ahead < _AHEAD * self.most and not self.losses.known(j):
                asked += 1
                score[j] = self._loss(j, made, objective, float(x[j]) - split[j], gap)
            if score[j] > most:
                best, most, worse, parts = j, score[j], 0, made
            else:
                worse += 1
            if worse == _WORSE:
                break
        return best, split[best], parts

    def _loss(self, column: int, parts: list[_Box], objective: float, share: float, gap: float) -> float:
        """Return how good it is to branch on a column, by the linear programs of both parts, and keep it in mind."""
        found = [self._solve(part) for part in reversed(parts)]
        self.ahead += len(found)
        down, up = (gap if each is None else min(gap, max(0.0, objective - each[0])) for each in found)
        self.losses.add(column, down / share, up / (1 - share))
        return _product(down, up, gap)


class _Losses:
    """By how much bounds have fallen where a column was rounded down and up, a unit: pseudo-costs."""

    def __init__(self, columns: int) -> None:
        self._known = [0] * columns
        self._sums = [(0.0, 0.0)] * columns
        self._all, self._total = 0, (0.0, 0.0)

    def known(self, column: int) -> bool:
        """Tell whether linear programs have been asked often enough."""
        return self._known[column] >= _RELIABLE

    def add(self, column: int, down: float, up: float) -> None:
        """Take what the bound fell by, a unit."""
        both = self._sums[column], self._total
        self._sums[column], self._total = ((before[0] + down, before[1] + up) for before in both)
        self._known[column] += 1
        self._all += 1

    def score(self, column: int, share: float, gap: float) -> float:
        """Return how good it is to branch where a column is that much above an integer; by the average if unknown."""
        times, sums = self._known[column], self._sums[column]
        if not times:
            times, sums = max(1, self._all), self._total
        return _product(sums[0] / times * share, sums[1] / times * (1 - share), gap)


def _product(down: float, up: float, gap: float) -> float:
    """Return how good it is that a bound falls so much in two parts, where to fall by the gap ends them."""
    least = LEAST_LOSS * gap
    return max(min(down, gap), least) * max(min(up, gap), least)


def _lattice(program: ExactProgram) -> Fraction | None:
    """Return the greatest number whose multiples all values of the objective differ by; None where there is none."""
    paid = [column for column in program.columns if column.cost]
    if not paid or not all(column.integer for column in paid):
        return None
    unit = math.lcm(*(column.cost.denominator for column in paid))
    return Fraction(math.gcd(*(int(column.cost * unit) for column in paid)), unit)


class _Relaxation:
    """The linear program in floats, each row and the objective brought near 1 by a power of two of its own.

    Parameters
    ----------
    duality : Duality
    elastic : bool
        Let rows be broken, and maximise minus by how much: the multipliers show why there is no point.

    Attributes
    ----------
    weights : ndarray of shape (columns,)
        The costs by size, the largest between 1 and 2.
    """

    def __init__(self, duality: Duality, *, elastic: bool = False) -> None:
        self._duality = duality
        self._objective = 0
        if not elastic:
            self._objective = max(map(abs, duality.costs), default=0).bit_length() - duality.unit.bit_length()
        own = np.array([0.0 if elastic else _float(c, duality.unit, self._objective) for c in duality.costs])
        self.weights: Floats = np.abs(own)
        self._shifts = [max((abs(a) for _, a in terms), default=1).bit_length() - 1 for terms, *_ in duality.rows]
        self._elastic = elastic
        self._session = Session(-1, TIGHT)
        costs = np.concatenate([own, np.full(2 * len(self._shifts) if elastic else 0, -1.0)])
        self._session.add_columns(costs, np.full(len(costs), np.inf), sp.csc_array((0, len(costs))))
        self._low: Floats = np.zeros(len(own))
        self._high: Floats = np.full(len(own), np.inf)
        if duality.rows:
            self._session.add_rows(*self._rows())

    def _rows(self) -> tuple[Floats, Floats, Any]:
        """Return sides and coefficients; those that a solver would not keep are left out."""
        values: list[float] = []
        columns: list[int] = []
        ends, lower, upper = [0], [], []
        for shift, (terms, low, high, _) in zip(self._shifts, self._duality.rows, strict=True):
            for j, a in terms:
                value = _float(a, 1, shift)
                if abs(value) > LEAST_DROPPED:
                    columns.append(j)
                    values.append(value)
            ends.append(len(columns))
            lower.append(side_of(None if low is None else _float(low, 1, shift), -1))
            upper.append(side_of(None if high is None else _float(high, 1, shift), 1))
        n = len(self.weights)
        A = sp.csr_array((np.array(values), np.array(columns, dtype=np.int64), np.array(ends)), (len(lower), n))
        if self._elastic:
            A = sp.csr_array(sp.hstack([A, sp.eye_array(len(lower)), -sp.eye_array(len(lower))]))
        return np.array(lower), np.array(upper), A

    def solve(self, box: _Box) -> tuple[float, Floats, Floats] | None:
        """Return objective, point and multipliers of a node; None where there is no point."""
        if not len(self.weights) and not self._elastic:
            return 0.0, np.zeros(0), np.zeros(len(self._shifts))
        changed = np.flatnonzero((box.low != self._low) | (box.high != self._high)).astype(np.int32)
        self._session.bound_columns(box.high[changed], box.low[changed], changed)
        self._low, self._high = box.low, box.high
        return self._session.solve()

    def ray(self) -> Floats | None:
        """Return multipliers by which the last node has no point, the largest 1; None where the solver has none."""
        ray = self._session.ray()
        most = 0.0 if ray is None else float(np.abs(ray).max(initial=0.0))
        return None if ray is None or not most else ray / most

    def above(self, objective: float, most: Fraction) -> float:
        """Return by how much what a node allows exceeds a number, in floats; the objective is without its constant."""
        limit = most - self._duality.constant
        return objective - _float(limit.numerator, limit.denominator, self._objective)

    def multipliers(self, y: Floats, longest: int | None = None, *, sign: int = 1) -> dict[int, Fraction]:
        """Return multipliers of the program's rows, as in a leaf, that are rational and go with finite sides.

        Parameters
        ----------
        y : ndarray of shape (rows,)
            As the solver returns them.
        longest : int, optional
            The largest denominator, in the units of the program; else they are rounded in those of the solver.
        sign : int
            Of the program's objective, as in a leaf with points.
        """
        found = {}
        for i in np.flatnonzero(y).tolist():
            _, low, high, scale = self._duality.rows[i]
            multiple = round(float(y[i]) * (1 << _BITS)) * scale
            if not multiple or (high if multiple > 0 else low) is None:
                continue
            shift = _BITS + self._shifts[i] - self._objective
            value = Fraction(sign * multiple, 1 << shift) if shift >= 0 else Fraction(sign * multiple << -shift)
            found[i] = value if longest is None else value.limit_denominator(longest)
        return found


def _float(number: int, unit: int, shift: int) -> float:
    """Return ``number / unit / 2**shift``."""
    return number / (unit << shift) if shift >= 0 else (number << -shift) / unit


def side_of(value: Side | float, sign: int) -> float:
    """Return a bound, or the side of a row, as a solver takes it: infinite where there is none or it cannot hold it.

    Raises
    ------
    OverflowError
        If it is beyond the floats.
    """
    side = sign * np.inf if value is None else float(value)
    return side if abs(side) < INFINITE else float(np.copysign(np.inf, side))
