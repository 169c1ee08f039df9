"""Upper bounds and plans over worker-slots: what all slots together can embed, in weighted workers.

For any weights w >= 0 the worker-slots y_ic that job i gets in slots of class c obey w y_c <= m_c z_c(w), m_c the
number of its slots and z_c(w) the most weighted workers that one of them can embed. A linear program over the vectors
of counts that slots can embed, by column generation, gives the weights that matter; a small program in y and the
utilities, with these rows, gives an upper bound and a plan: how many worker-slots each job should get.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from dlsched.algorithms.exact.ddljs.blocks import Terms
from dlsched.algorithms.exact.ddljs.horizon import alike, is_concave, values
from dlsched.algorithms.exact.ddljs.slot_class import Need, SlotClass, Weights
from dlsched.arithmetic import dot, integer_product
from dlsched.halt import poll
from dlsched.models.ddljs.instance import Instance
from dlsched.solvers.builder import Builder
from dlsched.solvers.matrix import Floats, Matrix
from dlsched.solvers.solve import solve_matrix

_SCALE = 10**7
_EPSILON = 1e-7
_SMOOTH = 0.4

Row = tuple[int, int]
"""A cut and a class, by number."""


@dataclass(frozen=True, slots=True, eq=False)
class Cut:
    """w y_c <= m_c z_c(w) for every class c.

    Attributes
    ----------
    weights : ndarray of int, shape (J,)
    worth : tuple of int
        z_c(w).
    """

    weights: Weights
    worth: tuple[int, ...]


@dataclass
class Worked:
    """Cuts and columns of an instance.

    Attributes
    ----------
    classes : list of SlotClass
    points : list of dict of int to float
        By job: utility of each number of worker-slots.
    concave : list of bool
        By job: whether mixtures of numbers of worker-slots never pay.
    cuts : list of Cut
    columns : list of set of tuple of int
        By class: count vectors that were found to fit.
    upper : float
        The least upper bound on the utility so far.
    """

    classes: list[SlotClass]
    points: list[dict[int, float]]
    concave: list[bool]
    cuts: list[Cut] = field(default_factory=list)
    columns: list[set[tuple[int, ...]]] = field(default_factory=list)
    upper: float = float("inf")

    @classmethod
    def of(cls, instance: Instance) -> Worked:
        """Prepare an instance, all of whose utilities at 0 are finite."""
        classes = [SlotClass(instance, slots) for slots in alike(instance)]
        points = [values(instance, job) for job in instance.jobs]
        return cls(
            classes,
            [{n: float(value) for n, value in own.items()} for own in points],
            [is_concave(own) for own in points],
            columns=[set() for _ in classes],
        )

    @property
    def counts(self) -> list[int]:
        """m_c, the slots of each class."""
        return [len(c.slots) for c in self.classes]

    def price(self, weights: Floats, counts: Sequence[int] = ()) -> Cut:
        """Add the cut of some weights, and the columns found on the way.

        Where `counts` are given, classes of which there are none left get a weak but valid z_c.
        """
        whole = np.round(weights * (_SCALE / max(weights.max(), _EPSILON))).astype(np.int64)
        worth = []
        for c, count in zip(self.classes, counts or self.counts, strict=True):
            priced = c.price(whole) if count else c.unsolved(whole)
            worth.append(priced.bound)
            if priced.counts is not None:
                self._keep(c, priced.counts)
        cut = Cut(whole, tuple(worth))
        self.cuts.append(cut)
        return cut

    def _keep(self, found: SlotClass, counts: Weights) -> None:
        """Keep a column for its class, and for those with the same links in which fewer jobs are present."""
        for c, columns in zip(self.classes, self.columns, strict=True):
            if c.problem.shares == found.problem.shares and not (c.present & ~found.present).any():
                columns.add(tuple(np.where(c.present, counts, 0).tolist()))

    def linear_bound(self) -> None:
        """Generate columns and cuts until the linear program over all count vectors is solved; lower the bound.

        Weights are priced between the last duals and those of the best bound so far: fewer rounds are needed.
        """
        duals = np.array([max(0.0, *points.values()) / max(1, max(points)) for points in self.points])
        centre, least, value = duals, float("inf"), 0.0
        while True:
            poll()
            before = sum(map(len, self.columns))
            for weights in (_SMOOTH * centre + (1 - _SMOOTH) * duals, duals):
                bound = self._lagrangian(weights, self.price(weights))
                if bound < least:
                    centre, least = weights, bound
                    self.upper = min(self.upper, bound)
                if least - value <= _EPSILON * max(1.0, abs(value)):
                    return
                if sum(map(len, self.columns)) > before:
                    break
            else:
                return
            raw = solve_matrix(self._master(), threads=1)
            if raw.row_duals is None or raw.summary.objective is None:
                return
            jobs, value = len(self.points), raw.summary.objective
            duals = np.abs(raw.row_duals[jobs : 2 * jobs])

    def _lagrangian(self, weights: Floats, cut: Cut) -> float:
        """Return the upper bound on the utility that a price a worker-slot gives."""
        scale = max(float(weights.max()), _EPSILON) / _SCALE
        prices: list[float] = (scale * cut.weights).tolist()
        free = sum(
            max(value - price * n for n, value in points.items())
            for points, price in zip(self.points, prices, strict=True)
        )
        return free + scale * sum(m * z for m, z in zip(self.counts, cut.worth, strict=True))

    def _master(self) -> Matrix:
        """Return the linear program over columns and worker-slots by job."""
        program = Builder(-1)
        chosen = self._utilities(program, whole=False)
        for terms in chosen:
            program.row([(column, 1) for column, _ in terms], 1, 1)
        self._cover(program, [[(column, -n) for column, n in terms] for terms in chosen], [0] * len(chosen))
        return program.matrix()

    def _utilities(self, program: Builder, *, whole: bool) -> list[Terms]:
        """Add a column for every number of worker-slots of every job; return (column, number) by job."""
        return [
            [(program.column(1.0, cost=value, integer=whole and not concave), n) for n, value in points.items()]
            for points, concave in zip(self.points, self.concave, strict=True)
        ]

    def _cover(self, program: Builder, extra: Sequence[Terms], least: Sequence[int], used: Sequence[int] = ()) -> None:
        """Add a column for each count vector, rows that cover `least` per job, and rows that count slots."""
        rows: list[Terms] = [list(terms) for terms in extra]
        slots: list[Terms] = []
        for columns in self.columns:
            own: Terms = []
            for vector in columns:
                column = program.column()
                own.append((column, 1))
                for row, n in zip(rows, vector, strict=True):
                    if n:
                        row.append((column, n))
            slots.append(own)
        for row, n in zip(rows, least, strict=True):
            program.row(row, lower=n)
        for own, count in zip(slots, used or self.counts, strict=True):
            program.row(own, upper=count)

    def plan(self) -> Weights | None:
        """Lower the bound; return the worker-slots by job that reach it, None where time was up."""
        raw = solve_matrix(self.relaxation(), threads=1, seed=0)
        if raw.summary.bound is not None:
            self.upper = min(self.upper, raw.summary.bound)
        if raw.x is None:
            return None
        numbers, start = [], 0
        for points in self.points:
            chosen = raw.x[start : start + len(points)]
            numbers.append(round(float(dot(chosen, list(points)))))
            start += len(points)
        return np.array(numbers, dtype=np.int64)

    def relaxation(self, rows: Sequence[Row] | None = None, slack: float = 0.0) -> Matrix:
        """Return the program in worker-slots by job and class.

        Parameters
        ----------
        rows : sequence of (int, int), optional
            The cuts and classes whose rows it has, at the end and in this order; all by default.
        slack : float
            By what part the right-hand sides are raised.
        """
        program = Builder(-1)
        chosen = self._utilities(program, whole=True)
        got = [
            [program.column(m * most, integer=True) if most else None for most in c.most.tolist()]
            for c, m in zip(self.classes, self.counts, strict=True)
        ]
        for i, terms in enumerate(chosen):
            program.row([(column, 1) for column, _ in terms], 1, 1)
            parts = [(column, 1) for own in got if (column := own[i]) is not None]
            program.row([*parts, *((column, -n) for column, n in terms)], 0, 0)
        for k, c in self.rows if rows is None else rows:
            cut = self.cuts[k]
            scale = 1 / max(1, cut.weights.max())
            loads = zip(got[c], cut.weights.tolist(), strict=True)
            upper = self.counts[c] * cut.worth[c] * scale * (1 + slack)
            program.row([(column, w * scale) for column, w in loads if column is not None and w], upper=upper)
        return program.matrix()

    @property
    def rows(self) -> list[Row]:
        """All cuts and classes, those left out that say nothing."""
        return [
            (k, c)
            for k, cut in enumerate(self.cuts)
            for c, own in enumerate(self.classes)
            if (cut.weights[own.present] > 0).any()
        ]

    def covers(self, wanted: Weights, counts: Sequence[int]) -> bool:
        """Tell whether slots, `counts` of each class, can embed worker-slots in the mean; a cut is added if not.

        A mean of count vectors covers `wanted`: necessary for a schedule, mostly sufficient.
        """
        while True:
            poll()
            program = Builder(-1)
            missing: list[Terms] = [[(program.column(cost=-1.0), 1)] for _ in wanted]
            self._cover(program, missing, wanted.tolist(), counts)
            raw = solve_matrix(program.matrix(), threads=1)
            if raw.row_duals is None or raw.summary.objective is None:
                return False
            if raw.summary.objective > -_EPSILON:
                return True
            before = sum(map(len, self.columns))
            cut = self.price(np.abs(raw.row_duals[: len(wanted)]), counts)
            if int(integer_product(cut.weights, wanted)) > sum(m * z for m, z in zip(counts, cut.worth, strict=True)):
                return False
            if sum(map(len, self.columns)) == before:
                return False

    def needs(self, wanted: Weights, counts: Sequence[int]) -> list[Need]:
        """Return what one more slot must embed so that `counts` of each class can embed the rest of `wanted`."""
        rest = (sum(m * z for m, z in zip(counts, cut.worth, strict=True)) for cut in self.cuts)
        least = [int(integer_product(cut.weights, wanted)) - most for cut, most in zip(self.cuts, rest, strict=True)]
        return [Need(cut.weights, n) for cut, n in zip(self.cuts, least, strict=True) if n > 0]
