"""Exact probabilities of rounding G x-bar: that it costs too much, breaks packing rows, fails cover rows."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Sequence
from enum import Enum
from fractions import Fraction
from typing import Generic, TypedDict, TypeVar

from dlsched.arithmetic import expm1, log, log1p
from dlsched.bounds.claim import Undecided, always
from dlsched.bounds.comparison import Interval, Relation, Value
from dlsched.bounds.optima import exactly
from dlsched.bounds.pd_ors.mixed import MixedProgram
from dlsched.models.numbers import to_integers
from dlsched.rounding import joint_violation_probability

MAX_TERMS = 2_000
"""Most variables of a row, over all copies, whose sum is convolved. Arbitrary: limits count work and not seconds, so
that verdicts are the same everywhere."""


_MOST_NEED = 1e100
"""Its square, which the start of Newton's steps takes, is still a float."""


F = TypeVar("F")


class Judged(TypedDict, Generic[F]):
    """What a claim that bounds a probability says: what it measures, also at its worst, is at most 1."""

    measure: Callable[[F], Value]
    relation: Relation
    bound: Callable[[F], Value]
    worst: Callable[[F], Value]


def judged(ratio: Callable[[F], Value]) -> Judged[F]:
    """Return that a probability over what is promised is at most 1; where the event is impossible, nothing is said."""

    def worst(facts: F) -> float:
        return math.inf if Interval.of(ratio(facts)).high > 0 else 0.0

    return {"measure": ratio, "relation": Relation.AT_MOST, "bound": always(1), "worst": worst}


class Excess(Enum):
    """Where the eps of a packing threshold b (1 + eps) G comes from."""

    PRINTED = "printed"
    THESIS = "thesis"
    EXACT = "exact"


def excess(rule: Excess, gain: float, width: float, rows: int, delta: float) -> float:
    """Return eps such that a packing row exceeds b (1 + eps) G with probability at most delta / (3 rows).

    Printed: sqrt(3 l / (G W_b)), l = ln(3 rows / delta), whose tail bound needs eps <= 1. Thesis: the same without l.
    Exact: G W_b ((1 + eps) ln(1 + eps) - eps) = l, the Chernoff bound itself.

    References
    ----------
    PD-ORS, (39); thesis, Lemma 1.
    """
    need = log(3 * rows / delta) / (gain * width)
    if need > _MOST_NEED:
        raise Undecided(f"G W_b is {gain * width:g}: its thresholds are beyond floating point")
    if rule is Excess.PRINTED:
        return math.sqrt(3 * need)
    if rule is Excess.THESIS:
        return math.sqrt(3 / (gain * width))
    # (1 + e) ln(1 + e) - e is convex and, by Bernstein's inequality, above `need` at the start: Newton's steps fall
    above, eps = math.inf, need / 3 + math.sqrt(need * need / 9 + 2 * need)
    while eps < above:
        above, eps = eps, eps - ((1 + eps) * log1p(eps) - eps - need) / log1p(eps)
    return above


def shortfall(gain: float, width: float, rows: int, delta: float) -> float:
    """Return eps such that a cover row falls to a (1 - eps) G with probability at most delta / (3 rows).

    sqrt(2 ln(3 rows / delta) / (G W_a)); above 1 the threshold is negative and says nothing.

    References
    ----------
    PD-ORS, (36).
    """
    return math.sqrt(2 * log(3 * rows / delta) / (gain * width))


class Law:
    """The independent rounding of G x-bar, in every copy of the program.

    Parameters
    ----------
    program : MixedProgram
    gain : float
        G.
    """

    def __init__(self, program: MixedProgram, gain: float) -> None:
        self.program = program
        self.gain = gain
        scaled = tuple(Fraction(gain) * x for x in program.point)
        self._point = program.spread(scaled)
        self._known: dict[Hashable, Fraction] = {}

    def dearer(self) -> Fraction:
        """Return Pr{c x^ > (3G/delta) c x-bar}."""
        program = self.program
        most = 3 * Fraction(self.gain) / program.delta * program.total(program.cost) * program.copies
        row = program.spread(program.cost)
        if program.copies * sum(c * math.ceil(x) for c, x in zip(row, self._point, strict=True)) <= most:
            return Fraction(0)
        terms = program.copies * len(row)
        if terms > MAX_TERMS:
            raise Undecided(f"the cost has {terms} terms; sums of at most {MAX_TERMS} are convolved")
        return self._breaks([row * program.copies], [most], program.copies)

    def packing_exceeds(self, factor: float = 1.0) -> tuple[Fraction, ...]:
        """Return Pr{(B x^)_i > factor b_i} of each packing row of a copy."""
        rows = [self._packing(i, factor) for i in range(len(self.program.packing))]
        return tuple(self._breaks([row], [side]) for row, side in rows)

    def some_packing_exceeds(self, factor: float = 1.0) -> Fraction | float:
        """Return Pr{(B x^)_i > factor b_i for some row of some copy}."""
        rows = [self._packing(i, factor) for i in range(len(self.program.packing))]
        return self._in_some_copy(self._breaks([row for row, _ in rows], [side for _, side in rows]))

    def cover_falls(self, factor: float = 1.0) -> tuple[Fraction, ...]:
        """Return Pr{(A x^)_i <= factor a_i} of each cover row of a copy."""
        rows = [self._cover(i, factor) for i in range(len(self.program.cover))]
        return tuple(self._breaks([row], [side]) for row, side in rows)

    def some_cover_falls(self, factor: float = 1.0) -> Fraction | float:
        """Return Pr{(A x^)_i <= factor a_i for some row of some copy}."""
        rows = [self._cover(i, factor) for i in range(len(self.program.cover))]
        return self._in_some_copy(self._breaks([row for row, _ in rows], [side for _, side in rows]))

    def feasible(self) -> Fraction | float:
        """Return Pr{A x^ >= a and B x^ <= b}, over all copies."""
        program = self.program
        rows = [program.spread(row) for row in program.packing]
        rows += [[-a for a in program.spread(row)] for row in program.cover]
        broken = self._breaks(rows, [*program.limits, *(-a for a in program.needs)])
        return 1 - self._in_some_copy(broken)

    def _packing(self, i: int, factor: float) -> tuple[list[Fraction], Fraction]:
        return self.program.spread(self.program.packing[i]), Fraction(factor) * self.program.limits[i]

    def _cover(self, i: int, factor: float) -> tuple[list[Fraction], Fraction]:
        """Return a cover row's threshold as a <= row that breaks where the cover row is at the threshold or below."""
        row = self.program.spread(self.program.cover[i])
        _, scale = to_integers(row)
        above = math.floor(Fraction(factor) * self.program.needs[i] * scale) + 1
        return [-a for a in row], -Fraction(above, scale)

    def _breaks(self, rows: Sequence[list[Fraction]], sides: Sequence[Fraction], copies: int = 1) -> Fraction:
        """Return the probability that some row, over so many copies, exceeds its side."""
        key = tuple(map(tuple, rows)), tuple(sides)
        if key not in self._known:
            self._known[key] = exactly(lambda: joint_violation_probability(rows, self._point * copies, sides))
        return self._known[key]

    def _in_some_copy(self, once: Fraction) -> Fraction | float:
        """Return 1 - (1 - once)^copies, rounded once where there are several: its digits multiply with the copies."""
        return once if self.program.copies == 1 or once == 1 else -expm1(self.program.copies * log1p(-once))
