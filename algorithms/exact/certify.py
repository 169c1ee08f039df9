"""Certification of a mixed-integer program's optimum by two routes.

A solver's word for "optimal" is not taken: HiGHS 1.15.1 returns a wrong optimum with gap 0 on a model of 221 rows. A
route is one way to solve the model; it gives a bound and usually a point. Every point is rounded to integers and
checked on the rows, and one that passes is worth what the objective says at it. A route whose bound is beaten by any
point that passed is refuted. A value is proved if a checked point has it, two routes that are not refuted have bounds
that agree with it, and no other standing route claims an optimum that differs. What a route shows without floats needs
no second one, and a point beyond it is none: it breaks a row by less than is looked for.
"""

from __future__ import annotations

import importlib.util
import math
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from fractions import Fraction
from typing import Any

import numpy as np

from dlsched.algorithms.exact.result import Note
from dlsched.arguments import at_least, checked
from dlsched.halt import over, polled
from dlsched.models.numbers import agree, exceeds
from dlsched.models.parameters import expect_current
from dlsched.solvers.matrix import Floats, Matrix, compile_model
from dlsched.solvers.solution import ResidualError, Status
from dlsched.solvers.solve import solve_matrix
from dlsched.tolerances import TOLERANCE


class Route(Enum):
    """A way to solve a mixed-integer program.

    Examples
    --------
    >>> from dlsched.algorithms.exact import Route, certify
    >>> from dlsched.models import build, hadar
    >>> routes = (Route.HIGHS, Route.HIGHS_WITHOUT_PRESOLVE)
    >>> certify(build("hadar/aggregate", hadar.random(0)), routes, value=34.0).proved
    True
    """

    HIGHS = "HiGHS"
    HIGHS_WITHOUT_PRESOLVE = "HiGHS without presolve, another seed"
    SCIP = "SCIP"
    HIGHS_REORDERED = "HiGHS, a third seed"
    SCIP_WITHOUT_PRESOLVE = "SCIP without presolve, another seed"


@dataclass(frozen=True, slots=True, eq=False)
class Certificate:
    """What routes have shown.

    Attributes
    ----------
    value : float or None
        The best objective of a checked point, or the value that was passed; None where there is neither.
    bound : float or None
        The best bound that is not refuted and that is exact or a second route confirms; without such, the weakest of
        the bounds that are not refuted; None where there is none.
    proved : bool
        Two unrefuted routes, or an exact one, agree with the value within the tolerance.
    infeasible : bool
        Two routes, or an exact one, say that there is no point, and none was found.
    point : ndarray or None
        The checked point of that value, None where the value was passed and no route matches it.
    evidence : tuple of Note
        A line a route.
    seconds : float

    Examples
    --------
    >>> from dlsched.algorithms.exact import certify
    >>> from dlsched.models import build, hadar
    >>> found = certify(build("hadar/aggregate", hadar.random(0)), value=34.0)
    >>> found.proved, found.infeasible, len(found.evidence)
    (True, False, 2)
    """

    value: float | None
    bound: float | None
    proved: bool
    infeasible: bool
    point: Floats | None
    evidence: tuple[Note, ...]
    seconds: float


@dataclass(frozen=True, slots=True, eq=False)
class Finding:
    """What one route returned.

    Attributes
    ----------
    route : str
    bound : float or None
        Nothing better exists, it says; None where it says nothing.
    x : ndarray or None
    infeasible : bool
        It says that there is no point at all.
    attained : bool
        It says that the bound is the optimum, not only that nothing is better.
    exact : bool
        It was shown without floats: a point beyond it is one within a solver's tolerances, and none at all.
    """

    route: str
    bound: float | None
    x: Floats | None
    infeasible: bool = False
    attained: bool = False
    exact: bool = False


Runner = Callable[[Matrix, float | None, float | None], Finding]
"""Called with the matrix, an objective cutoff (only better points matter) and seconds; returns a `Finding`."""

_SETTINGS: dict[Route, dict[str, Any]] = {
    Route.HIGHS: {"solver": "highs", "presolve": True, "seed": 0},
    Route.HIGHS_WITHOUT_PRESOLVE: {"solver": "highs", "presolve": False, "seed": 7},
    Route.SCIP: {"solver": "scip"},
    Route.HIGHS_REORDERED: {"solver": "highs", "presolve": True, "seed": 3},
    Route.SCIP_WITHOUT_PRESOLVE: {"solver": "scip", "presolve": False, "seed": 7},
}


def default_routes() -> tuple[Route, ...]:
    """Return the routes that the installed packages allow, the likeliest first; SCIP needs the extra ``certify``.

    Two that end are enough; the others are there for where one of these fails.
    """
    scip = (Route.SCIP,) if importlib.util.find_spec("pyscipopt") else ()
    last = (Route.SCIP_WITHOUT_PRESOLVE,) if scip else ()
    return (Route.HIGHS, Route.HIGHS_WITHOUT_PRESOLVE, *scip, Route.HIGHS_REORDERED, *last)


@checked
def certify(
    problem: Any,
    routes: Sequence[Route | Runner | Finding] | None = None,
    *,
    value: float | None = None,
    time_limit: float | None = None,
) -> Certificate:
    """Prove the optimum of a mixed-integer program by two routes.

    Where the work is over (`dlsched.halt`), the routes so far are heard.

    Parameters
    ----------
    problem : Matrix or pyomo.environ.ConcreteModel
        A model is compiled first.
    routes : sequence of Route, callables or Finding, optional
        Tried in order until two agree; all that are installed by default. A finding is what a route has shown before.
    value : float, optional
        Objective of a point that somebody else has checked (a schedule, say). The routes then only have to show that
        nothing is better by more than the tolerance, which is faster.
    time_limit : float, optional
        Seconds for each route.

    Returns
    -------
    Certificate

    Raises
    ------
    StaleModelError
        If a Param of the model was changed that it does not follow; a ValueError.

    Examples
    --------
    >>> import pyomo.environ as pyo
    >>> from dlsched.algorithms.exact import certify
    >>> m = pyo.ConcreteModel()
    >>> m.x = pyo.Var([1, 2], domain=pyo.Binary)
    >>> m.room = pyo.Constraint(expr=2 * m.x[1] + 3 * m.x[2] <= 4)
    >>> m.worth = pyo.Objective(expr=5 * m.x[1] + 4 * m.x[2], sense=pyo.maximize)
    >>> found = certify(m)
    >>> found.proved, found.value, found.point.tolist()
    (True, 5.0, [1.0, 0.0])
    """
    at_least(0, time_limit=time_limit)
    if not isinstance(problem, Matrix):
        expect_current(problem)
    matrix = problem if isinstance(problem, Matrix) else compile_model(problem)
    start = time.perf_counter()
    court = _Court(matrix, value)
    for route in default_routes() if routes is None else routes:
        if over():
            break
        court.hear(_run(route, matrix, court.cutoff if value is not None else None, time_limit))
        if court.proved or court.infeasible:
            break
    return court.verdict(time.perf_counter() - start)


def _run(route: Route | Runner | Finding, matrix: Matrix, cutoff: float | None, time_limit: float | None) -> Finding:
    if isinstance(route, Finding):
        return route
    if not isinstance(route, Route):
        return route(matrix, cutoff, time_limit)
    try:
        raw = solve_matrix(matrix, cutoff=cutoff, time_limit=time_limit, threads=1, **_SETTINGS[route])
    except ResidualError as error:
        return Finding(f"{route.value} ({error})", None, None)
    name = f"{route.value} {raw.summary.version}"
    if raw.summary.status is not Status.INFEASIBLE:
        return Finding(name, raw.summary.bound, raw.x, attained=raw.summary.status is Status.OPTIMAL)
    return Finding(name, cutoff, None, infeasible=cutoff is None)


class _Court:
    """Findings so far; objectives are compared as if maximising."""

    def __init__(self, matrix: Matrix, value: float | None) -> None:
        self.matrix = matrix
        self.sign = -float(matrix.sense)
        self.findings: list[Finding] = []
        self._points: list[tuple[float, Floats | None]] = [] if value is None else [(value, None)]

    @property
    def _best(self) -> tuple[float | None, Floats | None]:
        return max(self._points, key=lambda point: self.sign * point[0], default=(None, None))

    @property
    def value(self) -> float | None:
        """The best objective of a checked point, or what was passed."""
        return self._best[0]

    @property
    def point(self) -> Floats | None:
        """The point of that value."""
        return self._best[1]

    @property
    def cutoff(self) -> float | None:
        """What a point that matters is at least worth."""
        if self.value is None:
            return None
        return self.value + self.sign * 0.5 * TOLERANCE * max(self.matrix.unit, abs(self.value))

    def hear(self, finding: Finding) -> None:
        """Check a finding's point and take it in."""
        x = finding.x
        if x is not None:
            x = np.where(self.matrix.integer, np.round(x), x)
            value = self.matrix.value(x)
            if not self.matrix.residual(x) <= TOLERANCE:
                finding = replace(finding, route=f"{finding.route}, point breaks the model", x=None, attained=False)
            elif any(self._exceeds(value, exact) for exact in self._exact):
                finding = replace(
                    finding, route=f"{finding.route}, point within tolerances only", x=None, attained=False
                )
            else:
                self._points.append((value, x))
        self.findings.append(finding)
        if finding.exact:
            self._points = [(v, x) for v, x in self._points if x is None or not self._exceeds(v, finding)]

    def refuted(self, finding: Finding) -> bool:
        """Tell whether a checked point is beyond what a finding allows."""
        return self.value is not None and self._exceeds(self.value, finding)

    def _exceeds(self, value: float, finding: Finding) -> bool:
        """Tell whether a value is beyond what a finding allows."""
        if finding.infeasible:
            return True
        return finding.bound is not None and exceeds(
            self.sign * value, self.sign * finding.bound, unit=self.matrix.unit
        )

    @property
    def _exact(self) -> list[Finding]:
        """What was shown without floats, and is not refuted."""
        return [finding for finding in self.findings if finding.exact and not self.refuted(finding)]

    @property
    def _standing(self) -> list[float]:
        """Bounds that are not refuted, as if maximising, least first."""
        return sorted(self.sign * f.bound for f in self.findings if f.bound is not None and not self.refuted(f))

    @property
    def infeasible(self) -> bool:
        """Two routes say that there is no point, or an exact one."""
        exact = any(f.infeasible for f in self._exact)
        return self.value is None and (exact or sum(f.infeasible for f in self.findings) >= 2)

    @property
    def proved(self) -> bool:
        """Two standing bounds agree with the value, or an exact one, and nobody claims a better optimum."""
        if self.value is None:
            return False
        value, unit = self.sign * self.value, self.matrix.unit
        if any(f.bound is not None and agree(self.sign * f.bound, value, unit=unit) for f in self._exact):
            return True
        if any(exceeds(self.sign * bound, value, unit=unit) for bound in self._claimed):
            return False
        return sum(agree(bound, value, unit=unit) for bound in self._standing) >= 2

    @property
    def _claimed(self) -> list[float]:
        """Optima that routes claim and that no point refutes."""
        return [f.bound for f in self.findings if f.attained and f.bound is not None and not self.refuted(f)]

    def verdict(self, seconds: float) -> Certificate:
        """Return the certificate."""
        confirmed = min((self.sign * f.bound for f in self._exact if f.bound is not None), default=None)
        if confirmed is None and (standing := self._standing):
            confirmed = standing[min(1, len(standing) - 1)]
        bound = None if confirmed is None else self.sign * confirmed
        return Certificate(
            self.value, bound, self.proved, self.infeasible, self.point, tuple(map(self._line, self.findings)), seconds
        )

    def _line(self, finding: Finding) -> Note:
        if finding.infeasible:
            said: tuple[str | float, ...] = ("infeasible",)
        elif finding.bound is None:
            said = ("no bound",)
        else:
            said = ("nothing better than ", finding.bound)
        if self.value is not None and self.refuted(finding):
            said = (*said, ", refuted (", self.value, " is feasible)")
        return Note(f"{finding.route}: ", *said)


_BITS = 60
"""Multipliers are rounded to multiples of 2^-60, or of as small a part of the largest one where that is below 1, so
that most of the work is in whole numbers. Any others will do, but cost the bound what they are off by."""


def dual_bound(matrix: Matrix, duals: Floats) -> Fraction | None:
    """Return a bound on the objective that weak duality gives, whatever the multipliers; None for none.

    Parameters
    ----------
    matrix : Matrix
        Taken as it stands: a float is the rational that it is.
    duals : ndarray of shape (rows,)
        A multiplier of each row, as HiGHS returns them: the change of the objective for one more unit of its side.

    Notes
    -----
    With d = c - A'y every point is worth ``sum_i y_i (Ax)_i + sum_j d_j x_j``, where each term is at most (maximising)
    what the sides of the row, or the bounds of the column, allow. A multiplier of a side that is infinite counts 0.
    """
    sign = -matrix.sense
    one = 1 << (_BITS - min(0, math.frexp(float(np.abs(duals).max(initial=0.0)))[1]))
    total = sign * Fraction(matrix.offset) * one
    loads: dict[int, int | Fraction] = defaultdict(int)
    for row in polled(duals.nonzero()[0].tolist()):
        y = sign * round(Fraction(float(duals[row])) * one)
        side = float(matrix.row_upper[row] if y > 0 else matrix.row_lower[row])
        if side in (float("inf"), -float("inf")):
            continue
        total += y * Fraction(side)
        start, end = matrix.A.indptr[row : row + 2].tolist()
        columns, values = matrix.A.indices[start:end].tolist(), matrix.A.data[start:end].tolist()
        for column, value in zip(columns, values, strict=True):
            loads[column] += y * (int(value) if value.is_integer() else Fraction(value))
    bounds = zip(matrix.c.tolist(), matrix.lower.tolist(), matrix.upper.tolist(), strict=True)
    for column, (cost, low, high) in enumerate(polled(bounds)):
        reduced = sign * Fraction(cost) * one - loads.get(column, 0)
        end = high if reduced > 0 else low
        if reduced and end in (float("inf"), -float("inf")):
            return None
        total += reduced * Fraction(end) if reduced else 0
    return Fraction(sign * total, one)
