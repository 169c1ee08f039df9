"""Solution merging: the best plan that takes each job's schedule from one of the good plans that were found.

The search keeps what it comes by. An integer program over the schedules of the best plans, with the Hall rows of all
slots, then chooses one for each job: what no exchange of a few jobs reaches, as every job may change at once.
"""

from __future__ import annotations

import numpy as np

from dlsched.algorithms.exact.hadar.graph import IDLE
from dlsched.algorithms.exact.hadar.problem import Ints, Plan
from dlsched.algorithms.exact.pool import Pool
from dlsched.lazy import sp
from dlsched.solvers.matrix import Floats, Matrix
from dlsched.solvers.solve import solve_matrix

_NEAR = 0.99
"""Of the best plan's value, that a plan's schedules are kept from. Arbitrary: what is merged is of far better ones."""

_MERGED = 600
"""Schedules in a program, those of the best plans. On (40), after 50 to 60 s of the search: seed 2, 400 gain nothing,
in 2 s, 600 gain .27 in 8 s, 800 gain .45 in 10 s; seed 0, 500 gain .06, 1000 nothing in 20 s; seed 4, .28 and nothing;
seed 1, .23 in 6 and 15 s."""

_NODES = 200
"""Of HiGHS's tree: most such programs take some dozen, and an easy one that takes more is not worth it."""

_KEPT = 10 * _MERGED
"""Schedules from which on all but the best are forgotten; arbitrary, some megabytes."""


class Merge:
    """Schedules of good plans.

    Parameters
    ----------
    need : ndarray of shape (options, jobs, rows)
        What each option takes of the Hall rows.
    devices : ndarray of shape (rows,)
    utility : ndarray of shape (jobs, slots)
    """

    def __init__(self, need: Ints, devices: Ints, utility: Floats) -> None:
        self._need, self._devices, self._utility = need, devices, utility
        self.pool = Pool[tuple[int, int, bytes]](_NEAR, _KEPT)

    def note(self, levels: Ints, finish: Ints, value: float) -> None:
        """Take note of the schedules of a plan."""
        if self.pool.counts(value):
            for job in np.flatnonzero(finish >= 0).tolist():
                self.pool.add((job, int(finish[job]), levels[job].astype(np.int64).tobytes()), value)

    def run(self, seconds: float | None) -> Plan | None:
        """Return the best plan of the schedules of the best plans, as far as it is found; None where none is."""
        keys = self.pool.first(_MERGED)
        if not keys:
            return None
        job, finish = np.array([key[0] for key in keys]), np.array([key[1] for key in keys])
        levels = np.array([np.frombuffer(key[2], dtype=np.int64) for key in keys])
        matrix = self._program(job, finish, levels)
        found = solve_matrix(matrix, threads=1, seed=0, time_limit=seconds, nodes=_NODES)
        if found.x is None:
            return None
        chosen = np.flatnonzero(found.x > 0.5)
        plan, ends = np.full(self._utility.shape, IDLE), np.full(len(self._utility), -1)
        plan[job[chosen]], ends[job[chosen]] = levels[chosen], finish[chosen]
        return Plan(plan, ends, float(matrix.c[chosen].sum()))

    def _program(self, job: Ints, finish: Ints, levels: Ints) -> Matrix:
        """Return the program over some schedules: at most one of each job, and in each slot what fits."""
        used = np.where((levels == IDLE)[:, :, None], 0, self._need[levels, job[:, None]]).reshape(len(job), -1)
        devices = np.tile(self._devices, levels.shape[1])
        binding = used.sum(axis=0) > devices
        served = (job == np.arange(len(self._utility))[:, None]).astype(float)
        rows = np.concatenate([served, used[:, binding].T])
        most = np.append(np.ones(len(served)), devices[binding])
        one = np.ones(len(job))
        return Matrix(
            c=self._utility[job, finish],
            offset=0.0,
            sense=-1,
            A=sp.csr_array(rows),
            row_lower=np.full(len(rows), -np.inf),
            row_upper=most,
            lower=0 * one,
            upper=one,
            integer=one > 0,
        )
