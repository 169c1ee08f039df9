"""Vectors of levels of a slot, one level a job, that fit the machines by best fit: drawn, and annealed.

Many vectors go on side by side, as packing many takes hardly longer than packing one.
"""

from __future__ import annotations

import numpy as np

from dlsched.algorithms.exact.beams import UNLIKELY, drawn
from dlsched.algorithms.exact.dmlrs.repacking import Repacked
from dlsched.algorithms.exact.dmlrs.slots import Ints
from dlsched.arithmetic import log
from dlsched.solvers.matrix import Floats

_ROUNDS, _HEAT, _BOTH = 100, 0.03, 0.6
"""Of the annealing: rounds, heat as a share of what a job gains at most, and how often two levels change at once.
300 rounds are no better, by trial; the others are arbitrary."""


class Vectors:
    """Vectors of levels for a cluster.

    Parameters
    ----------
    room : Repacked
        Tells what fits.
    seed : int
    """

    def __init__(self, room: Repacked, seed: int) -> None:
        self._room, self._rng = room, np.random.default_rng(seed)

    def likely(self, reached: Floats, count: int) -> Ints:
        """Draw vectors, shape (count, jobs), the likeliest ones first.

        Parameters
        ----------
        reached : ndarray of shape (jobs, levels)
            How often a job has each level, from 1 on, or more.
        count : int
        """
        jobs = np.arange(len(reached))
        u = self._rng.random((count, len(reached)))
        u[0] = 0.5
        wanted = (reached > u[:, :, None]).sum(axis=2)
        keys = drawn(reached.max(axis=1, initial=0.0), count, self._rng)
        vectors = np.zeros((count, len(reached)), dtype=np.int64)
        for each in np.argsort(-keys, axis=1, kind="stable").T:
            self._give(vectors, each, wanted[np.arange(count), each])
        exactly = -np.diff(reached, axis=1, prepend=1.0, append=0.0)
        likely = log(np.maximum(exactly[jobs, vectors], UNLIKELY)).sum(axis=1)
        return vectors[np.argsort(-likely, kind="stable")]

    def _give(self, vectors: Ints, jobs: Ints, levels: Ints) -> None:
        """Give a job in each vector, where it has none, a level, or the highest below it that fits."""
        going = np.flatnonzero(levels > 0)
        while len(going):
            tried = vectors[going]
            tried[np.arange(len(going)), jobs[going]] = levels[going]
            fits = self._room.fitting(tried)
            vectors[going[fits]] = tried[fits]
            going = going[~fits]
            levels[going] -= 1
            going = going[levels[going] > 0]

    def improved(self, vectors: Ints, gains: Floats) -> Ints:
        """Return vectors that gain most, most first, by simulated annealing from some that fit.

        Parameters
        ----------
        vectors : ndarray of shape (vectors, jobs)
        gains : ndarray of shape (jobs, levels + 1)
            Minus infinity for what is not to be.
        """
        rng, jobs = self._rng, np.arange(len(gains))
        open_levels = np.isfinite(gains)
        least = open_levels.argmax(axis=1)
        vectors = np.vstack([np.where(open_levels[jobs, vectors], vectors, least), least])
        vectors = vectors[self._room.fitting(vectors)]
        rows = np.arange(len(vectors))
        worth = gains[jobs, vectors].sum(axis=1)
        best, most = vectors.copy(), worth.copy()
        counts, options = open_levels.sum(axis=1), np.argsort(~open_levels, axis=1, kind="stable")
        going = np.flatnonzero(counts > 1)
        hottest = _HEAT * (gains.max(axis=1) - np.where(open_levels[:, 0], gains[:, 0], 0.0)).max()
        for k in range(_ROUNDS if len(going) else 0):
            new = vectors.copy()
            for moved in (rows, rows[rng.random(len(rows)) < _BOTH]):
                job = rng.choice(going, len(moved))
                new[moved, job] = options[job, (rng.random(len(moved)) * counts[job]).astype(np.int64)]
            change = gains[jobs, new].sum(axis=1) - worth
            left = 1 - k / _ROUNDS
            chance = hottest * left * left * log(1 - rng.random(len(rows)))
            tried = np.flatnonzero((change > chance) & (new != vectors).any(axis=1))
            if len(tried):
                kept = tried[self._room.fitting(new[tried])]
                vectors[kept] = new[kept]
                worth[kept] += change[kept]
                better = worth > most
                best[better], most[better] = vectors[better], worth[better]
        return best[np.argsort(-most, kind="stable")]
