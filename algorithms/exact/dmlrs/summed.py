"""The optimum of identical machines summed, and plans of that value that fit the single machines.

1. `dmlrs/aggregate` is solved: an upper bound, and a plan of that value for the sum.
2. The plan's slots are packed onto the machines. Where that fails, rows that single machines keep and the plan does not
   (`holding`) are added, and the program is solved again, as long as there are such rows.
3. The program is solved with the completion slots of the plan, for plans that leave part of every slot free: those pack
   easily.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from dlsched.algorithms.exact.dmlrs.holding import Holding, Row, holdings
from dlsched.halt import grace, poll, polled
from dlsched.lazy import pyo
from dlsched.models.dmlrs import Instance, Schedule, check, exact_utility
from dlsched.models.dmlrs.aggregate import load
from dlsched.relaxations.aggregation import Aggregation, aggregate_machines
from dlsched.solvers.matrix import Floats, Matrix, compile_model
from dlsched.solvers.solution import RawSolution
from dlsched.solvers.solve import solve_matrix
from dlsched.tolerances import AS_GOOD, FEASIBLE

_FULLEST = (0.85, 0.9, 0.94, 0.97)
"""How full a slot may be, by attempts: fuller plans pack less often; the steps are arbitrary."""

_LEVEL_SECONDS = 10.0
"""Of one attempt; arbitrary."""

_LEVEL_GAP = 0.1
"""How far from the emptiest an attempt's plan may be; arbitrary, as it has to pack and no more."""

_PACKING_NODES = 300
"""Of the feasibility program of a slot, on up to ten machines; arbitrary."""


@dataclass(slots=True, eq=False)
class Summed:
    """The relaxation and what it has given so far.

    Attributes
    ----------
    aggregation : Aggregation
    matrix : Matrix
        Of the relaxation, for a second route.
    upper : float
        No schedule is worth more.
    best : Schedule
        The best schedule found on the machines.
    value : float
        Its utility.
    finished : bool
        The relaxation was solved to optimality.
    rows : list of (Holding, Row)
        By which the relaxation was tightened, in all slots, and whose machines keep them.
    """

    instance: Instance
    aggregation: Aggregation
    matrix: Matrix
    upper: float
    best: Schedule
    value: float = 0.0
    finished: bool = False
    rows: list[tuple[Holding, Row]] = field(default_factory=list)
    _holdings: tuple[Holding, ...] | None = None

    @classmethod
    def of(cls, instance: Instance) -> Summed:
        """Build the relaxation."""
        aggregation = aggregate_machines(instance)
        matrix = _loosened(compile_model(aggregation.model))
        most = sum(max(0.0, job.utility(0)) for job in instance.jobs)
        return cls(instance, aggregation, matrix, most, Schedule.of({}))

    def solve(self, seconds: float | None = None, nodes: int | None = None) -> None:
        """Solve the relaxation, with so many nodes at most, and pack its plan."""
        raw = _solved(self.matrix, seconds, nodes=nodes)
        if raw.summary.bound is not None:
            self.upper = min(self.upper, max(raw.summary.bound, 0.0))
        self.finished = raw.summary.status.value == "optimal"
        if raw.x is not None:
            _load(self.matrix, raw.x)
            self._pack()

    def tighten(self) -> bool:
        """Add rows that single machines keep and the plan that is loaded does not; tell whether there are any."""
        model = self.aggregation.model
        if self._holdings is None:
            self._holdings = holdings(self.aggregation)
            model.held = pyo.ConstraintList(doc="(5) what single machines hold")
        slots = range(1, self.instance.slots + 1)
        found = [
            (holding, row)
            for t in polled(slots)
            for holding in self._holdings
            if (row := holding.refute(holding.counts(model, t))) is not None
        ]
        for holding, row in found:
            for t in slots:
                if (kept := holding.keeps(model, row, t)) is not None:
                    model.held.add(kept)
        if found:
            self.rows += found
            self.matrix = _loosened(compile_model(model))
        return bool(found)

    def confirmed(self) -> bool:
        """Tell whether a second route, too, finds what single machines hold at most, as the rows say."""
        return all(holding.confirms(row) for holding, row in polled(self.rows))

    def thin_out(self) -> Iterator[float]:
        """Look for plans that leave room in every slot; yield the value of the best after each attempt.

        First with the completion slots of the relaxation's plan, then for the most utility, from little to much room.
        """
        model = self.aggregation.model
        _measure_load(model)
        for it in model.IT:
            model.completion[it].fix(round(model.completion[it].value or 0))
        yield from self._at_levels(_FULLEST)
        model.completion.unfix()
        model.total_load.deactivate()
        model.total_utility.activate()
        yield from self._at_levels(_FULLEST[::-1])

    def _at_levels(self, levels: tuple[float, ...]) -> Iterator[float]:
        model = self.aggregation.model
        for level in levels:
            poll()
            for t in model.load_of:
                model.load_of[t].setub(level)
            matrix = compile_model(model)
            raw = _solved(matrix, _LEVEL_SECONDS, _LEVEL_GAP)
            if raw.x is not None:
                _load(matrix, raw.x)
                packed = self._pack()
                yield self.value
                if packed:
                    return

    def _pack(self) -> bool:
        """Pack the plan in the model's variables; tell whether that went."""
        nodes = _PACKING_NODES if len(self.instance.machines) <= 10 else 0
        with grace():
            packed = self.aggregation.recover(nodes=nodes)
        if packed.schedule is None or check(self.instance, packed.schedule):
            return False
        value = float(exact_utility(self.instance, packed.schedule))
        if value > self.value:
            self.best, self.value = packed.schedule, value
        return True


def _loosened(matrix: Matrix) -> Matrix:
    """Return a relaxation in which rows with fractions have as much more room as a solver may be off by.

    Where needs are 1 +- 1e-7, HiGHS cuts off what fills a machine to the last bit, and its bound is below the optimum.
    """
    largest = np.zeros(len(matrix.row_lower))
    np.maximum.at(largest, matrix.entry_rows, np.abs(matrix.A.data))
    fractions = np.zeros(len(largest), dtype=bool)
    fractions[matrix.entry_rows[matrix.A.data % 1 != 0]] = True
    fractions &= matrix.row_lower < matrix.row_upper

    def room(side: Floats) -> Floats:
        return FEASIBLE * fractions * np.maximum(largest, np.where(np.isfinite(side), np.abs(side), 0.0))

    return replace(
        matrix,
        row_lower=matrix.row_lower - room(matrix.row_lower),
        row_upper=matrix.row_upper + room(matrix.row_upper),
    )


def _solved(matrix: Matrix, seconds: float | None, gap: float = AS_GOOD, nodes: int | None = None) -> RawSolution:
    return solve_matrix(matrix, threads=1, seed=0, time_limit=seconds, gap=gap, nodes=nodes)


def _load(matrix: Matrix, x: Any) -> None:
    for variable, value in zip(matrix.columns, np.round(x).tolist(), strict=True):
        variable.set_value(value, skip_validation=True)


def _measure_load(m: Any) -> None:
    """Replace the objective by the sum of how full each slot is in its scarcest resource."""
    slots = sorted({t for _, _, t in m.used})
    m.load_of = pyo.Var(slots, bounds=(0, 1), doc="how full the fullest group and resource of a slot is")
    m.fullest = pyo.Constraint(
        m.used,
        rule=lambda m, c, r, t: load(m, c, r, t) <= m.load_of[t] * m.room[c, r].value,
        doc="(5) how full a group and resource is",
    )
    m.total_utility.deactivate()
    m.total_load = pyo.Objective(expr=sum(m.load_of[t] for t in slots), doc="how full the slots are, in all")
