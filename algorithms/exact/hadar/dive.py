"""Schedules from the bound: dives into its LP, and neighbourhoods of a schedule that a dive is made in.

A dive fixes the surest schedules of the LP's optimum and prices again, until all jobs are decided on. To polish a
schedule, some jobs that run in a window of slots are set free, and so are the rejected ones; the others keep their
schedules. The bound over what is left often tells that nothing better is there; else a dive looks for it. Jobs are
moved together here, where `dlsched.algorithms.exact.hadar.search` inserts one after the other.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dlsched.algorithms.exact.hadar.bound import Path, Relaxation
from dlsched.algorithms.exact.hadar.graph import IDLE, Bools, Graph
from dlsched.algorithms.exact.hadar.problem import Ints
from dlsched.algorithms.exact.hadar.rows import needed
from dlsched.halt import poll
from dlsched.relaxations.columns import Generated
from dlsched.solvers.matrix import Floats
from dlsched.tolerances import CLEAR

_SURE = 0.95
"""Weight in the LP's optimum from which a schedule is fixed in any case: the rest could hardly be another one."""

_SHARE = 10
"""Of the schedules of the LP's optimum every so manieth is fixed at least, so that a dive takes few rounds."""

_ROUNDS = 6
"""Of pricing after each time something is fixed; the LP changes little, and a dive need not know its bound."""

_FIRST_ROUNDS = 8
"""Of pricing before a dive into a neighbourhood; a bit more, as its bound may tell that nothing is there."""

_NOISE = 0.4
"""Of weights, so that dives into the same LP differ; found by trial, as are the others here."""


class Dive:
    """One dive.

    Parameters
    ----------
    relaxation : Relaxation
    graph : Graph
        Cut from its base graph.
    required : ndarray of bool
    noise : float, optional
        Largest share of a weight that is taken off at random before the surest schedules are chosen.
    rng : numpy Generator, optional
        Of the noise.
    """

    def __init__(
        self,
        relaxation: Relaxation,
        graph: Graph,
        required: Bools,
        *,
        noise: float = 0.0,
        rng: np.random.Generator | None = None,
    ) -> None:
        self.relaxation, self.graph, self.required = relaxation, graph, required.copy()
        self._noise, self._rng = noise, rng or np.random.default_rng(0)
        sets = relaxation.sets
        self._need = needed(sets, graph.options, graph.jobs)
        self._left = np.tile(np.array([hall.devices for hall in sets], dtype=np.int64), (graph.slots, 1))
        self.fixed: dict[int, Path] = {}

    def keep(self, paths: Sequence[Path]) -> None:
        """Fix schedules that fit together."""
        for path in paths:
            self._take(path)
        if paths:
            self.graph = self.graph.restrict(self._alive())

    def run(self, generated: Generated) -> list[Path]:
        """Return schedules that fit together, starting from an LP optimum over the graph."""
        while sure := self._surest(generated):
            poll()
            self.keep(sure)
            if (self.graph.root >= 0).sum() == len(self.fixed):
                break
            generated = self.relaxation.bound(self.graph, self.required, start=generated.duals, rounds=_ROUNDS)
        return list(self.fixed.values())

    def _surest(self, generated: Generated) -> list[Path]:
        """Return paths of jobs that are not fixed: those with the largest weights, of which all fit together."""
        open_ = [(x, path) for path, x in generated.recover(CLEAR) if path.job not in self.fixed]
        weight = self._rng.uniform(1 - self._noise, 1.0, len(open_))
        open_ = [(x * w, path) for (x, path), w in zip(open_, weight.tolist(), strict=True)]
        open_.sort(key=lambda item: -item[0])
        most = max(1, len(open_) // _SHARE)
        left, jobs = self._left.copy(), set[int]()
        chosen: list[Path] = []
        for x, path in open_:
            if path.job in jobs or (x < _SURE and len(chosen) >= most):
                continue
            slots, need = self._use(path)
            if (left[slots] >= need).all():
                left[slots] -= need
                chosen.append(path)
                jobs.add(path.job)
        return chosen

    def _use(self, path: Path) -> tuple[Ints, Ints]:
        slots = np.flatnonzero(path.levels != IDLE)
        return slots, self._need[path.levels[slots], path.job]

    def _take(self, path: Path) -> None:
        slots, need = self._use(path)
        self._left[slots] -= need
        self.fixed[path.job] = path
        self.required[path.job] = True

    def _alive(self) -> Bools:
        graph = self.graph
        fits = np.asarray((self._left[:, None, None, :] >= self._need[None]).all(axis=3))
        settled = np.isin(graph.job, list(self.fixed))
        chosen = np.concatenate([path.arcs for path in self.fixed.values()])
        free = (graph.option == IDLE) | fits[graph.slot, graph.option, graph.job]
        return np.asarray(np.where(settled, np.isin(graph.origin, chosen), free), dtype=bool)


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
        relaxation.master.trim(prices, relaxation.most_columns)
        dive = Dive(relaxation, relaxation.base, required, noise=_NOISE, rng=self._rng)
        dive.keep(kept)
        generated = relaxation.bound(
            dive.graph,
            dive.required,
            start=prices,
            rounds=_FIRST_ROUNDS,
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
