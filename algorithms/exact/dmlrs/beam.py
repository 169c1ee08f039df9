"""Plans slot by slot: a beam of partial plans, each judged by the bound over all plans that go on from it.

In slot after slot each partial plan is continued by a few vectors of levels, one level a job, that fit the machines by
best fit: drawn from what the linear program uses there, job after job, and annealed for what they gain at its prices.
A few rounds of column generation over what is then still open tell what each is worth, and the best go on. So what does
not fit is lost where it is decided on, and all slots to come are planned anew for it. The same as Hadar's
(`dlsched.algorithms.exact.hadar.beam`).
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np

from dlsched.algorithms.exact.beams import ROUNDS_SETTLED, ROUNDS_TRIED, WIDTH, Middle, Shortlist
from dlsched.algorithms.exact.dmlrs.decomposition import Decomposition, Part
from dlsched.algorithms.exact.dmlrs.repacking import Repacked
from dlsched.algorithms.exact.dmlrs.slots import Ints
from dlsched.algorithms.exact.dmlrs.vectors import Vectors
from dlsched.halt import poll
from dlsched.relaxations.columns import Generated
from dlsched.solvers.matrix import Floats

_TRIED = 6
"""Vectors tried for each partial plan; arbitrary."""

_DRAWN = 6
"""Vectors drawn for each that is tried; arbitrary, they are packed side by side."""

_LIKELIEST = 2
"""Of those tried, by what the linear program uses; the others gain most at its prices. Without any it is as
good, by trial."""

_MIDDLE = 0.5
"""Of the slots, where beams may go on from: on fifty jobs the ten slots before take two thirds of a beam's time."""

_LAST, _WIDTH_LAST = 0.75, 8
"""From this share of the slots on, so many partial plans: linear programs are small there, and what is half done has to
come to an end, so most of the plans that are lost are lost there. By trial."""

_HALF_DONE = 0.3
"""How much of the utility of completions that the linear program leaves open counts against a partial plan: most of
them come to nothing in the last slots. None, .1 and .6 are no better, by trial; single beams differ by more."""

_LOOSE, _ROUNDS_LOOSE = 0.002, 30
"""Where a bound is above the linear program's value by more than this share of it, the columns of what was dropped are
missing: then there are so many rounds more, or what goes on is chosen by which columns there are. Arbitrary; a tenth
of it is usual."""

_COLUMNS = 4000
"""Of the master, at most; arbitrary."""


@dataclass(slots=True, eq=False)
class _Partial:
    """A partial plan: what is open, its bound, a basis to go on from, and the levels of the slots before."""

    part: Part
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
        self._of, self._middle = Vectors(room, seed), Middle[_Partial]()

    def run(self, prices: Floats, cutoff: float, seconds: float | None = None) -> Ints | None:
        """Return levels by (slot, job) that fit; None where none are found that may be better than a cutoff.

        A few beams after each from the first slot go on from its middle, and where time is limited, all that have no
        time for more.

        Parameters
        ----------
        prices : ndarray of shape (linking rows,)
            To start from.
        cutoff : float
        seconds : float, optional
            No slot takes more than its part of what is left of these, if it can.
        """
        if self._middle.is_late(seconds):
            return None
        rows, begun = self.decomposition, self._middle.begin(seconds)
        first, middle = 0, round(_MIDDLE * rows.slots)
        end = time.perf_counter() + (float("inf") if seconds is None else seconds)
        if begun is None:
            beam = [self._settled(self.part, prices, ())]
        else:
            first, beam = middle, [self._again(begun)]
        settling = 0.0
        for slot in range(first, rows.slots):
            if slot == middle > first:
                self._middle.reach(max(beam, key=_value))
            now = time.perf_counter()
            chosen = self._chosen(beam, slot, cutoff, now + (end - now) / (rows.slots - slot) - settling)
            if not chosen:
                return None
            now = time.perf_counter()
            rows.master.trim(max(chosen, key=_value).generated.duals, _COLUMNS)
            beam = [self._again(each) for each in chosen]
            settling = time.perf_counter() - now
        return np.array(max(beam, key=_value).levels).reshape(rows.slots, rows.jobs)

    def _chosen(self, beam: list[_Partial], slot: int, cutoff: float, end: float) -> list[_Partial]:
        """Return the best continuations of all that are tried until some time."""
        poll()
        best = Shortlist[_Partial](cutoff, WIDTH if slot < _LAST * self.decomposition.slots else _WIDTH_LAST)
        ways = [(most, levels, partial) for partial in beam for most, levels in self._vectors(partial, slot)]
        for most, levels, partial in sorted(ways, key=lambda way: -way[0]):
            if most <= best.least or (best.kept() and time.perf_counter() > end):
                break
            self.decomposition.master.start_from(partial.basis)
            tried = self._continued(partial, slot, levels, best.least)
            if tried is not None:
                best.add(tried.generated.value - _HALF_DONE * self._half_done(tried.generated), tried)
        return best.kept()

    def _half_done(self, generated: Generated) -> float:
        """Return the utility of completions that a linear program leaves open."""
        _, ending = self.decomposition.used(generated)
        by, utility = ending.cumsum(axis=1), self.decomposition.schedules.utility
        falls = -np.diff(utility, axis=1, append=0.0)
        return float((np.minimum(by, 1.0 - by) * falls).clip(0.0).sum())

    def _continued(self, partial: _Partial, slot: int, levels: Ints, least: float) -> _Partial | None:
        """Return a partial plan with the levels of a slot; None where its bound is not above the least that counts."""
        rows, part = self.decomposition, partial.part
        part = rows.within(Part(part.limits.settled(slot, levels), part.offers))
        if part.empty:
            return None
        generated = rows.bound(
            part, start=partial.generated.duals, rounds=ROUNDS_TRIED, stop=lambda bound, value: bound <= least
        )
        return _Partial(part, generated, None, (*partial.levels, levels)) if generated.bound > least else None

    def _settled(self, part: Part, prices: Floats, levels: tuple[Ints, ...]) -> _Partial:
        """Return a partial plan that goes on."""
        rows = self.decomposition
        generated = rows.bound(part, start=prices, rounds=ROUNDS_SETTLED)
        if generated.bound - generated.value > _LOOSE * generated.bound:
            generated = rows.bound(part, start=generated.duals, gap=_LOOSE, rounds=_ROUNDS_LOOSE)
        return _Partial(part, generated, rows.master.basis(), levels)

    def _again(self, partial: _Partial) -> _Partial:
        return self._settled(partial.part, partial.generated.duals, partial.levels)

    def _vectors(self, partial: _Partial, slot: int) -> list[tuple[float, Ints]]:
        """Return levels of a slot that fit, and how much what goes on with them is worth at most."""
        rest, gains = self.decomposition.gains(partial.part, partial.generated.duals, slot)
        using, _ = self.decomposition.used(partial.generated)
        likely = self._of.likely(np.clip(using[:, slot, 1:], 0.0, 1.0), _DRAWN * _TRIED)
        vectors = [*likely[:_LIKELIEST], *self._of.improved(likely, gains)]
        found = list({v.tobytes(): v for v in vectors}.values())[:_TRIED]
        return [(rest + float(gains[np.arange(len(v)), v].sum()), v) for v in found]


def _value(partial: _Partial) -> float:
    return partial.generated.value
