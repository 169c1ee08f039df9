"""The optimum of instances with many slots: a bound and a plan of worker-slots, then a schedule slot by slot.

Where the schedule has the plan's worker-slots (`dive`), it has the value of the bound (`worked`). The second route
confirms every row that the bound needs by a run without presolve, and the bound itself likewise.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from dlsched.algorithms.exact.certify import Finding, certify, default_routes
from dlsched.algorithms.exact.ddljs.dive import dive
from dlsched.algorithms.exact.ddljs.worked import Row, Worked
from dlsched.models.ddljs.instance import Instance
from dlsched.models.ddljs.schedule import Schedule
from dlsched.models.numbers import agree
from dlsched.solvers.solve import solve_matrix
from dlsched.tolerances import TOLERANCE

_ROUNDS = 40
_DIVES = 4
_SLACK = 0.1 * TOLERANCE


@dataclass
class BySlots:
    """Bound and schedules of an instance whose utilities at 0 are finite.

    Parameters
    ----------
    worked : Worked
    """

    worked: Worked

    @classmethod
    def of(cls, instance: Instance) -> BySlots:
        """Prepare an instance."""
        return cls(Worked.of(instance))

    @property
    def upper(self) -> float:
        """The least upper bound so far."""
        return self.worked.upper

    def schedules(self) -> Iterator[Schedule | None]:
        """Lower the bound; yield after each step, with a schedule that has the bound's value where one was found."""
        self.worked.linear_bound()
        yield None
        rng, dives = np.random.default_rng(0), 0
        for _ in range(_ROUNDS):
            if dives >= _DIVES:
                return
            wanted = self.worked.plan()
            yield None
            if wanted is None:
                return
            if self.worked.covers(wanted, self.worked.counts):
                dives += 1
                yield dive(self.worked, wanted, rng)

    def confirm(self, value: float) -> Finding:
        """Return what a second look at the bound shows."""
        rows = self._rows(value)
        route = f"worker-slots by class, {len(rows)} rows"
        for k, c in rows:
            cut = self.worked.cuts[k]
            if not self.worked.classes[c].confirm(cut.weights, cut.worth[c], _SLACK):
                return Finding(f"{route}, not all confirmed", None, None)
        matrix = self.worked.relaxation(rows, _SLACK)
        found = certify(matrix, default_routes()[1:2], value=value)
        return Finding(f"{route}, each confirmed without presolve", found.bound, None)

    def _rows(self, value: float) -> list[Row]:
        """Return the rows that the bound needs: those that bind its linear relaxation where they are enough."""
        every = self.worked.rows
        raw = solve_matrix(self.worked.relaxation().relaxed(), threads=1)
        if raw.row_duals is None:
            return every
        duals = np.abs(raw.row_duals[len(raw.row_duals) - len(every) :]).tolist()
        rows = [row for row, dual in zip(every, duals, strict=True) if dual > _SLACK]
        again = solve_matrix(self.worked.relaxation(rows, _SLACK), threads=1)
        enough = again.summary.bound is not None and agree(again.summary.bound, value)
        return rows if enough else every
