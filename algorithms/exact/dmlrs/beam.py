"""Plans slot by slot: a beam of partial plans, each judged by the bound over all plans that go on from it.

In slot after slot each partial plan is continued by a few vectors of levels, one level a job, that fit the machines by
best fit: drawn from what the linear program uses there, job after job, and filled up. A few rounds of column generation
over what is then still open tell what each is worth, and the best go on. So what does not fit is lost where it is
decided on, and all slots to come are planned anew for it. The same as Hadar's (`dlsched.algorithms.exact.hadar.beam`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from dlsched.algorithms.exact.beams import ROUNDS_SETTLED, ROUNDS_TRIED, UNLIKELY, Shortlist, drawn
from dlsched.algorithms.exact.dmlrs.decomposition import Decomposition, Part
from dlsched.algorithms.exact.dmlrs.repacking import Repacked
from dlsched.algorithms.exact.dmlrs.schedules import Limits
from dlsched.algorithms.exact.dmlrs.slots import Ints
from dlsched.arithmetic import log
from dlsched.halt import poll
from dlsched.relaxations.columns import Generated
from dlsched.solvers.matrix import Floats
from dlsched.tolerances import CLEAR

_TRIED = 6
"""Vectors tried for each partial plan; arbitrary."""

_DRAWN = 6
"""Vectors drawn for each that is tried; arbitrary, they are packed side by side."""

_COLUMNS = 4000
"""Of the master, at most; arbitrary."""


@dataclass(slots=True, eq=False)
class _Partial:
    """A partial plan: what is open, its bound, a basis to go on from, and the levels of the slots before."""

    limits: Limits
    generated: Generated
    basis: Any
    levels: tuple[Ints, ...]


class Beam:
    """Beams over the slots of a cluster.

    Parameters
    ----------
    decomposition : Decomposition
        Its master gets and loses columns.
    part : Part
        All plans.
    room : Repacked
        Tells what fits.
    seed : int
    """

    def __init__(self, decomposition: Decomposition, part: Part, room: Repacked, seed: int) -> None:
        self.decomposition, self.part, self.room = decomposition, part, room
        self._rng = np.random.default_rng(seed)

    def run(self, prices: Floats, cutoff: float) -> Ints | None:
        """Return levels by (slot, job) that fit; None where none are found that may be better than a cutoff.

        Parameters
        ----------
        prices : ndarray of shape (linking rows,)
            To start from.
        cutoff : float
        """
        rows = self.decomposition
        beam = [self._settled(self.part.limits, prices, ())]
        for slot in range(rows.slots):
            poll()
            best = Shortlist[_Partial](cutoff)
            for partial in beam:
                for levels in self._vectors(partial, slot):
                    rows.master.start_from(partial.basis)
                    tried = self._continued(partial, slot, levels, best.least)
                    if tried is not None:
                        best.add(tried.generated.value, tried)
            chosen = best.kept()
            if not chosen:
                return None
            rows.master.trim(max(chosen, key=_value).generated.duals, _COLUMNS)
            beam = [self._settled(each.limits, each.generated.duals, each.levels) for each in chosen]
        return np.array(max(beam, key=_value).levels).reshape(rows.slots, rows.jobs)

    def _continued(self, partial: _Partial, slot: int, levels: Ints, least: float) -> _Partial | None:
        """Return a partial plan with the levels of a slot; None where its bound is not above the least that counts."""
        rows, limits = self.decomposition, partial.limits.copy()
        limits.levels[:, slot] = False
        limits.levels[np.arange(rows.jobs), slot, levels] = True
        limits.ends[levels > 0, :slot] = False
        part = rows.within(Part(limits, self.part.offers))
        if part.empty:
            return None
        generated = rows.bound(
            part, start=partial.generated.duals, rounds=ROUNDS_TRIED, stop=lambda bound, value: bound <= least
        )
        return _Partial(limits, generated, None, (*partial.levels, levels)) if generated.bound > least else None

    def _settled(self, limits: Limits, prices: Floats, levels: tuple[Ints, ...]) -> _Partial:
        """Return a partial plan that goes on."""
        part = self.decomposition.within(Part(limits, self.part.offers))
        generated = self.decomposition.bound(part, start=prices, rounds=ROUNDS_SETTLED)
        return _Partial(limits, generated, self.decomposition.master.basis(), levels)

    def _vectors(self, partial: _Partial, slot: int) -> list[Ints]:
        """Return levels of a slot that fit, those first that the linear program uses most."""
        using, _ = self.decomposition.used(partial.generated)
        reached = np.clip(using[:, slot, 1:], 0.0, 1.0)
        count, jobs = _DRAWN * _TRIED, np.arange(len(reached))
        u = self._rng.random((count, len(reached)))
        u[0] = 0.5
        wanted = (reached > u[:, :, None]).sum(axis=2)
        weight = reached.max(axis=1, initial=0.0)
        keys = drawn(weight, count, self._rng)
        vectors = np.zeros((count, len(reached)), dtype=np.int64)
        for each in np.argsort(-keys, axis=1, kind="stable").T:
            self._raise(vectors, each, wanted[np.arange(count), each])
        most = np.where(weight > CLEAR, partial.limits.levels[:, slot].cumsum(axis=1).argmax(axis=1), 0)
        for _ in range(2 * len(reached)):
            each = self._rng.integers(0, len(reached), count)
            at = vectors[np.arange(count), each]
            self._raise(vectors, each, np.where(at < most[each], at + 1, 0))
        exactly = np.hstack([1.0 - reached[:, :1], reached - np.hstack([reached[:, 1:], np.zeros((len(reached), 1))])])
        likely = log(np.maximum(exactly[jobs, vectors], UNLIKELY)).sum(axis=1)
        found = {vectors[k].tobytes(): vectors[k] for k in np.argsort(-likely, kind="stable").tolist()}
        return list(found.values())[:_TRIED]

    def _raise(self, vectors: Ints, jobs: Ints, levels: Ints) -> None:
        """Give a job in each vector a level, or the highest below it that fits, where one is above what it has."""
        rows = np.arange(len(vectors))
        going = np.flatnonzero(levels > vectors[rows, jobs])
        while len(going):
            tried = vectors[going]
            tried[np.arange(len(going)), jobs[going]] = levels[going]
            fits = self.room.fitting(tried)
            vectors[going[fits]] = tried[fits]
            going = going[~fits]
            levels[going] -= 1
            going = going[levels[going] > vectors[going, jobs[going]]]


def _value(partial: _Partial) -> float:
    return partial.generated.value
