"""Theorem 4 where (8) is left out: x~ is then an optimum over Omega as (12) has it, x >= 0, and may be below 1.

Everywhere else x~ >= 1, which is (8) without integrality. In print (12) has x >= 0, on which the ratios of (9) have no
maximum and Algorithm 1 no grid; but (9) has optima there, with positive workers and servers, and they can be rounded.
"""

from __future__ import annotations

import math
from fractions import Fraction

from dlsched.bounds.claim import Expectation, Premise, Subject, Undecided, always, stated
from dlsched.bounds.comparison import Relation
from dlsched.bounds.facts import refused_otherwise
from dlsched.bounds.smd.inner import BY_TIME, LETTER, STEP_2
from dlsched.bounds.smd.packing import PackingFacts, Timed, promised
from dlsched.bounds.smd.sources import OMEGA
from dlsched.rounding import outcome_distribution

MAX_WORKERS = 20_000
"""Numbers of workers that are looked through for the least time, at most. Arbitrary: a limit counts work."""


class TimedFacts(PackingFacts):
    """What rounding an optimum of (9) over x >= 0 costs.

    Parameters
    ----------
    instance : Timed
    seed : int
        Not used: nothing is drawn.
    """

    instance: Timed

    def time(self, w: Fraction | int, p: Fraction | int) -> Fraction:
        """Return (9) at a point above 0."""
        theta = self.instance.theta
        return theta[0] * w + theta[1] * p + theta[2] + theta[3] * w / p + theta[4] / w

    @property
    def optimal(self) -> bool:
        """Whether x~ > 0 is an optimum over Omega, by one row at most.

        In (ln w, ln p) time and rows are sums of exponentials, hence convex: a stationary point is an optimum, and so
        is one where a row that is full has the opposite slope.
        """
        w, p = self.instance.point
        if not (w and p):
            return False
        theta = self.instance.theta
        by_w, by_p = theta[0] * w + theta[3] * w / p - theta[4] / w, theta[1] * p - theta[3] * w / p
        if not (by_w or by_p):
            return True
        return any(
            a * w + b * p == limit and by_w * b * p == by_p * a * w and max(by_w, by_p) <= 0
            for (a, b), limit in zip(self.instance.rows, self.instance.limits, strict=True)
        )

    @property
    def least(self) -> Fraction | None:
        """The least time of a worker and a server or more that keep the rows; None where there are none.

        For given workers it is convex in the servers: the best are beside sqrt(theta^4 w/theta^2), or the most.
        """
        theta, workers = self.instance.theta, self._most(0, 1)
        if workers > MAX_WORKERS:
            raise Undecided(f"{workers} numbers of workers; {MAX_WORKERS} are looked through")
        times = []
        for w in range(1, workers + 1):
            most = self._most(1, w)
            best = math.isqrt(math.floor(theta[3] * w / theta[1])) if theta[1] else most
            times += [self.time(w, p) for p in {min(max(best + more, 1), most) for more in (0, 1)} if p]
        return min(times, default=None)

    def _most(self, kind: int, other: int) -> int:
        """Return how many workers (0), or servers (1), keep the rows beside so many of the others."""
        rows, limits = self.instance.rows, self.instance.limits
        room = (((b - row[1 - kind] * other) / row[kind]) for row, b in zip(rows, limits, strict=True) if row[kind])
        return max(0, math.floor(min(room)))

    def feasible(self, w: int, p: int) -> bool:
        """Tell whether a point keeps (7) and (8)."""
        rows, limits = self.instance.rows, self.instance.limits
        return min(w, p) >= 1 and all(row[0] * w + row[1] * p <= b for row, b in zip(rows, limits, strict=True))

    @property
    def cheap(self) -> Fraction:
        """The probability that the first feasible rounding takes (24/M + 4)/delta times the least time at most."""
        gain = Fraction(self.printed.gain)
        law = outcome_distribution([gain * x for x in self.instance.point])
        chances = {
            (w, p): chance
            for (w, p), chance in zip(law.points.tolist(), law.probabilities, strict=True)
            if self.feasible(w, p)
        }
        if self.least is None or not chances:
            return Fraction(0)
        most = promised(3, gain, self.instance.delta) * self.least
        return sum((p for x, p in chances.items() if self.time(*x) <= most), Fraction(0)) / sum(chances.values())


OVER_OMEGA = Subject[Timed, TimedFacts](
    problem="smd",
    instance=Timed,
    facts=TimedFacts,
    sources=(OMEGA,),
    premises=(
        Premise("B, b, theta >= 0", refused_otherwise, "Section III-A and (9)"),
        Premise(
            "x~ > 0 is an optimum of (9) over Omega = {A x <= C, x >= 0}",
            lambda facts: facts.optimal,
            "Section IV, (12) and below Algorithm 1",
        ),
        Premise("a worker and a server fit", lambda facts: facts.least is not None, "(7) and (8)"),
    ),
)
"""What claims about Theorem 4 over Omega as printed are about."""

THEOREM_4_OMEGA = OVER_OMEGA.derived(
    "smd/theorem-4-omega",
    paper="SMD, Section IV-A, Theorem 4, over Omega as (12) has it",
    statement=(
        "with x~ an optimum over x >= 0, with probability above 1 - delta Algorithm 2 has an approximation ratio of at "
        "most (24/M + 4)/delta"
    ),
    quantity="the probability of such a time of the first feasible point, against 1 - delta",
    measure=lambda facts: facts.cheap,
    relation=Relation.AT_LEAST,
    bound=lambda facts: 1 - facts.instance.delta,
    expectation=Expectation.FALSE,
    open=f"{BY_TIME}; {LETTER}",
    counterexamples=("smd-theorem-4-omega-few-workers",),
)

THEOREM_4_ROW_OMEGA = OVER_OMEGA.derived(
    "smd/theorem-4-row-omega",
    paper="SMD, Section IV-A, Theorem 4, over Omega as (12) has it",
    statement="with x~ an optimum over x >= 0, Pr{LHS of (7) > v^r} <= delta/(2r) for each of r resources",
    quantity="the greatest probability that a row of (7) breaks over delta/(2r), against 1",
    measure=lambda facts: max(facts.printed.rows) / facts.promise,
    relation=Relation.AT_MOST,
    bound=always(1),
    expectation=Expectation.FALSE,
    open=STEP_2,
    counterexamples=("smd-theorem-4-row-omega-four-resources",),
)

CLAIMS = stated(globals())
