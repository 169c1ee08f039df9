"""Solution merging: the best plan that has, in each slot, what one of the good plans that were found has there.

The search keeps what the slots of good plans hold: the levels of all jobs, which fit together. An integer program over
these vectors chooses one for each slot and what completes when: no exchange of a few jobs comes there, as all slots may
change at once. Whatever it chooses fits, so it has no rows for machines.
"""

from __future__ import annotations

import numpy as np

from dlsched.algorithms.exact.dmlrs.insertion import Plan
from dlsched.algorithms.exact.dmlrs.repacking import Packed, Repacked
from dlsched.algorithms.exact.dmlrs.schedules import Schedules
from dlsched.algorithms.exact.dmlrs.slots import Ints
from dlsched.algorithms.exact.pool import Pool
from dlsched.solvers.builder import Builder
from dlsched.solvers.solve import solve_matrix

_NEAR = 0.985
"""Of the best plan's value, that a plan's slots are kept from. By trial."""

_MERGED = 6000
"""Vectors times jobs in a program, those of the best plans. On (20, 10, 10), loads .95 and .85, seeds 3 and 1, after a
minute's search, 160 to 200 vectors gain 3.2 and 1.0 in 9 and 3 s, 290 to 380 gain 5.8 and 1.0 in 4 and 6 s, 460 to 680
gain 6.5 and 1.0 in half a minute; with fifty jobs 116 take half a second, and 230 more than 20 s."""

_NODES = 2000
"""Of HiGHS's tree: most such programs take some hundred."""

_KEPT = 20_000
"""Vectors from which on all but the best are forgotten; arbitrary, some megabytes."""


class Merge:
    """What the slots of good plans hold.

    Parameters
    ----------
    schedules : Schedules
    room : Repacked
        That the plans are in.
    """

    def __init__(self, schedules: Schedules, room: Repacked) -> None:
        self._schedules, self._room = schedules, room
        self.pool = Pool[tuple[int, bytes]](_NEAR, _KEPT)

    def note(self, plan: Plan, value: float) -> None:
        """Take note of the slots of a plan that is in the room."""
        if self.pool.counts(value):
            for t, row in enumerate(self._room.levels):
                used = np.flatnonzero(row).tolist()
                if used:
                    whole = self._room.fitted(row, [plan[i].things.beside[t] for i in used])
                    self.pool.add((t, whole.astype(np.int64).tobytes()), value)

    def run(self, seconds: float | None) -> dict[int, Packed]:
        """Return the best plan over the vectors of the best plans, as far as it is found; empty where none is."""
        keys = self.pool.first(_MERGED // max(1, len(self._schedules.jobs)))
        if not keys:
            return {}
        slot = np.array([t for t, _ in keys])
        levels = np.array([np.frombuffer(each, dtype=np.int64) for _, each in keys])
        found = solve_matrix(self._program(slot, levels).matrix(), threads=1, seed=0, time_limit=seconds, nodes=_NODES)
        if found.x is None:
            return {}
        beside = np.zeros_like(self._room.levels)
        chosen = np.flatnonzero(found.x[: len(slot)] > 0.5)
        beside[slot[chosen]] = levels[chosen]
        return self._plan(beside)

    def _program(self, slot: Ints, levels: Ints) -> Builder:
        """Return the program: one vector a slot, and a job completes by a slot where its work by then is all of it."""
        program, schedules = Builder(sense=-1), self._schedules
        vectors = [program.binary() for _ in range(len(slot))]
        for t in np.unique(slot).tolist():
            program.row([(vectors[k], 1.0) for k in np.flatnonzero(slot == t).tolist()], upper=1.0)
        for i, job in enumerate(schedules.jobs):
            done = [min(1.0, work / job.total) for work in (0, *job.work)]
            running = [(int(slot[k]), vectors[k], done[levels[k, i]]) for k in np.flatnonzero(levels[:, i]).tolist()]
            ends = [
                (t, program.binary(cost=float(utility)))
                for t, utility in enumerate(schedules.utility[i].tolist())
                if utility > 0 and any(when <= t for when, _, _ in running)
            ]
            if ends:
                program.row([(end, 1.0) for _, end in ends], upper=1.0)
            for t, _ in ends:
                worked = [(vector, share) for when, vector, share in running if when <= t]
                program.row([*worked, *((end, -1.0) for when, end in ends if when <= t)], lower=0.0)
        return program

    def _plan(self, beside: Ints) -> dict[int, Packed]:
        """Return what jobs have of levels by (slot, job): those that complete, until then."""
        plan = {}
        for i, job in enumerate(self._schedules.jobs):
            work, end, levels = 0, -1, [0] * len(beside)
            for t, level in enumerate(beside[:, i].tolist()):
                if level:
                    work, end, levels[t] = work + job.work[level - 1], t, level
                if work >= job.total:
                    break
            if work >= job.total and self._schedules.utility[i, end] > 0:
                plan[i] = Packed(i, tuple(levels), end, beside)
        return plan
