"""The tree of an exact certificate: floating-point linear programs propose, integers decide.

Branch and bound from the optimum's value, which another method has found: a node ends where multipliers, rounded to
rationals, show that nothing in it is better (`Duality.limit`). What the solver says is never taken for true: where its
multipliers do not show it, the node is split further, or the search gives up.

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
from dlsched.tolerances import CLOSED, LEAST_DROPPED, TIGHT, WHOLE

_BITS = 44
"""Multipliers are rounded to multiples of 2^-44, relative to the largest cost and the row: as exact as a solver's."""

_SIMPLE = 1000
"""Denominators up to this are tried for multipliers: small ones prove a bound without any error. Arbitrary."""


class GaveUp(Exception):
    """No tree was found within the limits; the message says why."""


class Beaten(Exception):
    """The program has a point that is worth more than the value.

    Parameters
    ----------
    point : tuple of Fraction
        By column.
    worth : Fraction
        Of that point; of a cost, less.
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
        Coefficients of the program, times nodes, that the search may take.

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
        return _Search(program, value).run(work)
    except (SolverError, ValueError, OverflowError) as error:
        raise GaveUp(str(error)) from None


@dataclass(frozen=True, slots=True, eq=False)
class _Box:
    """The bounds of a node's columns, exactly and as a solver takes them."""

    lower: Bounds
    upper: Bounds
    low: Floats
    high: Floats

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

    def __init__(self, program: ExactProgram, value: Fraction | None) -> None:
        self.program = program
        self.size = 1 + len(program.columns) + sum(len(row.terms) for row in program.rows)
        self.sign = 1 if program.sense == "maximize" else -1
        self.goal = None if value is None else _Goal.of(program, self.sign * value)
        self.lattice = None if self.goal is None else self.goal.lattice
        self.duality = duality = Duality(program, self.lattice)
        self.lp = _Relaxation(duality)
        low = np.array([side_of(bound, -1) for bound in duality.lower])
        high = np.array([side_of(bound, 1) for bound in duality.upper])
        self.root = _Box(duality.lower, duality.upper, low, high)
        self.shown: list[Fraction] = []
        self.integer = np.array([column.integer for column in program.columns], dtype=bool)

    @cached_property
    def elastic(self) -> _Relaxation:
        """What shows that a part has no point."""
        return _Relaxation(self.duality, elastic=True)

    def run(self, work: int) -> Tree:
        nodes: list[Node] = []
        open_ = [self.root]
        while open_:
            poll()
            if len(nodes) + len(open_) > min(MAX_NODES, 1 + work // self.size):
                raise GaveUp(f"no tree of {len(nodes)} nodes")
            box = open_.pop()
            node = self._node(box)
            nodes.append(node)
            if isinstance(node, Branching):
                open_ += [box.at_least(node.column, node.at + 1), box.at_most(node.column, node.at)]
        bound = None if self.goal is None else self.sign * max([self.goal.value, *self.shown])
        return Tree(tuple(nodes), bound, self.lattice)

    def _node(self, box: _Box) -> Node:
        found = self.lp.solve(box)
        if found is None:
            return self._empty(box)
        objective, x, y = found
        if self.goal is not None and self.lp.may_be_below(objective, self.goal.unrounded):
            leaf = self._bounded(self.goal, y, box)
            if leaf is not None:
                return leaf
        return self._branching(x, box)

    def _empty(self, box: _Box) -> Empty:
        found = self.elastic.solve(box)
        y = {} if found is None else self.elastic.multipliers(found[2])
        limit = self.duality.limit(y, box.lower, box.upper, farkas=True)
        if limit is None or limit >= 0:
            raise GaveUp("a part without points is not shown to have none")
        return Empty(farkas=y)

    def _bounded(self, goal: _Goal, y: Floats, box: _Box) -> Bounded | None:
        """Return a leaf if the multipliers show enough; short fractions where only these show it without any error."""
        best: tuple[Fraction, dict[int, Fraction]] | None = None
        for longest in (None, _SIMPLE):
            multipliers = self.lp.multipliers(y, longest)
            limit = self.duality.limit(multipliers, box.lower, box.upper, farkas=False)
            if limit is not None:
                if limit <= goal.most and (best is None or limit < best[0]):
                    best = limit, multipliers
                if limit <= goal.value:
                    break
        if best is None:
            return None
        self.shown.append(best[0])
        return Bounded(multipliers={row: self.sign * value for row, value in best[1].items()})

    def _branching(self, x: Floats, box: _Box) -> Branching:
        """Return what to branch on: fractional columns that cost something first, the dearer the better.

        Where no column of integers is fractional, one that is not fixed yet.
        """
        off = np.where(self.integer, np.abs(x - np.round(x)), 0.0)
        if off.max(initial=0.0) > WHOLE:
            costs = self.lp.weights
            column = int(np.where(off > WHOLE, np.where(costs > 0, 1.0 + off * costs, off), -1.0).argmax())
            return Branching(column=column, at=int(np.floor(x[column])))
        free = self.integer & (box.low < box.high)
        if not free.any():
            point = tuple(Fraction(bound or 0) for bound in box.lower)
            worth = self.program.worth(point) if box.lower == box.upper else None
            if worth is None:
                raise GaveUp("a part with all integers fixed is not shown to have nothing better")
            raise Beaten(point, worth)
        column = int(free.argmax())
        return Branching(column=column, at=int(min(np.round(x[column]), box.high[column] - 1)))


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
        self._slacks = np.full(2 * len(self._shifts) if elastic else 0, np.inf)
        self._session = Session(-1, TIGHT)
        costs = np.concatenate([own, np.full(len(self._slacks), -1.0)])
        self._session.add_columns(costs, np.full(len(costs), np.inf), sp.csc_array((0, len(costs))))
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
        if len(self._slacks):
            A = sp.csr_array(sp.hstack([A, sp.eye_array(len(lower)), -sp.eye_array(len(lower))]))
        return np.array(lower), np.array(upper), A

    def solve(self, box: _Box) -> tuple[float, Floats, Floats] | None:
        """Return objective, point and multipliers of a node; None where there is no point."""
        if not len(self.weights) and not len(self._slacks):
            return 0.0, np.zeros(0), np.zeros(len(self._shifts))
        low, high = np.zeros(len(self._slacks)), self._slacks
        self._session.bound_columns(np.concatenate([box.high, high]), np.concatenate([box.low, low]))
        return self._session.solve()

    def may_be_below(self, objective: float, most: Fraction) -> bool:
        """Tell whether what a node allows may be at most a number, in floats; the objective is without its constant."""
        limit = most - self._duality.constant
        return objective <= _float(limit.numerator, limit.denominator, self._objective) + TIGHT

    def multipliers(self, y: Floats, longest: int | None = None) -> dict[int, Fraction]:
        """Return multipliers of the program's rows that are rational and go with finite sides.

        Parameters
        ----------
        y : ndarray of shape (rows,)
            As the solver returns them.
        longest : int, optional
            The largest denominator, in the units of the program; else they are rounded in those of the solver.
        """
        found = {}
        for i in np.flatnonzero(y).tolist():
            _, low, high, scale = self._duality.rows[i]
            multiple = round(float(y[i]) * (1 << _BITS)) * scale
            if not multiple or (high if multiple > 0 else low) is None:
                continue
            shift = _BITS + self._shifts[i] - self._objective
            value = Fraction(multiple, 1 << shift) if shift >= 0 else Fraction(multiple << -shift)
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
