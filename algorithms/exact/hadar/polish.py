"""Polishing: a schedule improved by column generation over the jobs of a window, the others as they are.

Some jobs that run in a window of slots are free, and so are the rejected ones; the others keep their schedules. The
bound over what is left often tells that nothing better is there; else a dive looks for it. Jobs are moved together
here, where `dlsched.algorithms.exact.hadar.search` inserts one after the other.
"""

from __future__ import annotations

import numpy as np

from dlsched.algorithms.exact.hadar.bound import Path, Relaxation
from dlsched.algorithms.exact.hadar.dive import Dive
from dlsched.algorithms.exact.hadar.graph import Bools
from dlsched.algorithms.exact.hadar.states import Ints
from dlsched.solvers.matrix import Floats

_ROUNDS = 8
_NOISE = 0.4
_COLUMNS_A_JOB = 40


class Polish:
    """The neighbourhoods of schedules, drawn at random.

    Parameters
    ----------
    relaxation : Relaxation
    seed : int
    """

    def __init__(self, relaxation: Relaxation, seed: int) -> None:
        self.relaxation = relaxation
        self._rng = np.random.default_rng(seed)
        self._most = min(10, 2 + len(relaxation.jobs) // 3)

    def dive(self, required: Bools, prices: Floats, kept: list[Path], cutoff: float) -> list[Path]:
        """Return schedules that fit together, the kept ones among them; empty where none is better than the cutoff."""
        relaxation = self.relaxation
        relaxation.master.trim(prices, _COLUMNS_A_JOB * len(relaxation.jobs))
        dive = Dive(relaxation, relaxation.base, required, noise=_NOISE, rng=self._rng)
        dive.keep(kept)
        generated = relaxation.bound(
            dive.graph,
            dive.required,
            start=prices,
            rounds=_ROUNDS,
            stop=lambda bound, value: bound <= cutoff,
        )
        return dive.run(generated) if generated.bound > cutoff else []

    def around(self, levels: Ints, required: Bools, prices: Floats, cutoff: float) -> list[Path]:
        """Return a schedule from a random neighbourhood of another; empty where none there is better than the cutoff.

        Parameters
        ----------
        levels : ndarray of int, shape (jobs, slots)
            The schedule; jobs whose part of it is fixed away are free.
        required : ndarray of bool, shape (jobs,)
        prices : ndarray of shape (rows,)
            To start from; rows added since are priced 0.
        cutoff : float
        """
        slots = levels.shape[1]
        first = int(self._rng.integers(0, slots))
        width = int(self._rng.integers(min(4, slots), max(5, slots // 2)))
        active = np.flatnonzero((levels[:, first : first + width] >= 0).any(axis=1))
        free = self._rng.permutation(active)[: self._most]
        kept = [path for path in self.relaxation.paths_of(levels) if path.job not in free]
        return self.dive(required, prices, kept, cutoff)
