"""Schedules slot by slot: a beam of partial schedules, each judged by the bound over all schedules that go on from it.

A *configuration* says of each job at which option it runs in a slot, or that it idles; it fits the devices. In slot
after slot each partial schedule is continued by a few configurations, some from where the linear program runs the jobs,
some from where little is lost at its prices. A few rounds of column generation over what is then still open tell what
each is worth, and the best go on, with inequalities that their own linear programs break. Where completions alone are
settled the linear program loses next to nothing, as it mixes configurations in every slot; so it is these that are
settled here, and the slots to come are planned anew, as a whole, after each.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from dlsched.algorithms.exact.beams import ROUNDS_SETTLED, ROUNDS_TRIED, UNLIKELY, Middle, Shortlist, drawn
from dlsched.algorithms.exact.hadar.bound import Path, Prices, Relaxation
from dlsched.algorithms.exact.hadar.graph import IDLE, Bools, Graph
from dlsched.algorithms.exact.hadar.problem import GRID, Ints
from dlsched.algorithms.exact.hadar.rows import needed
from dlsched.arithmetic import log
from dlsched.halt import left, poll
from dlsched.relaxations.columns import Generated
from dlsched.solvers.matrix import Floats
from dlsched.tolerances import CLEAR

_TRIED = 3
"""Configurations tried for each from the linear program's weights, and as many from its prices: each kind alone is
worse."""

_DRAWS = 12
"""Configurations drawn for each that is tried; arbitrary, as they cost nothing beside a linear program."""

_AHEAD = 5
"""Slots to come in which inequalities are looked for: without any the linear programs mix configurations that do not
fit, and in all slots they take half as long again for schedules that are no better."""

_MIDDLE = 0.25
"""Of the slots, where beams may go on from: on (40) the ten slots before take two thirds of a beam's time, and after
twenty nothing is decided any more."""

_HEAT = 1 / 20_000
"""Of all utility: a configuration drawn from the prices is about e times as rare where it loses so much more."""

_HOT = (-5.0, 20.0)
"""In heats: a job that gains less than the first does not run where it is not drawn by weight, and more than the second
does not count. Arbitrary: e^-5 and e^-20."""


@dataclass(slots=True, eq=False)
class _Partial:
    """A partial schedule: what is open, its bound, and where to go on from; `basis` is of so many `rows`."""

    graph: Graph
    generated: Generated
    prices: Floats
    basis: Any
    rows: int


@dataclass(slots=True, eq=False)
class _Tried:
    """A configuration that a partial schedule may go on with, and the arcs that are then open."""

    partial: _Partial
    alive: Bools
    generated: Generated


@dataclass(frozen=True, slots=True, eq=False)
class _Begun:
    """A partial schedule to go on from later: its graph is cut from a base, its prices name their rows."""

    base: Graph
    graph: Graph
    prices: Prices


class Beam:
    """Beams over the slots, one for each run.

    Parameters
    ----------
    relaxation : Relaxation
        Its rows and columns change: the caller restores the rows that it needs.
    seed : int
        Of the configurations.
    """

    def __init__(self, relaxation: Relaxation, seed: int) -> None:
        self.relaxation, self._rng = relaxation, np.random.default_rng(seed)
        base, sets = relaxation.base, relaxation.sets
        self._need = needed(sets, base.options, base.jobs)
        self._middle = Middle[_Begun]()
        self._devices = np.array([hall.devices for hall in sets], dtype=np.int64)

    def is_late(self) -> bool:
        """Tell whether there is no time for another one."""
        return self._middle.is_late(left())

    def run(self, prices: Floats, required: Bools, cutoff: float) -> list[Path]:
        """Return schedules that fit together; empty where none better than the cutoff is found.

        A few beams after each from the first slot go on from its middle, and where time is limited, all that have no
        time for more.

        Parameters
        ----------
        prices : ndarray of shape (rows,)
            To start from.
        required : ndarray of bool, shape (jobs,)
        cutoff : float
        """
        relaxation, begun = self.relaxation, self._middle.begin(left())
        first, middle = 0, round(_MIDDLE * relaxation.base.slots)
        if begun is not None and begun.base is relaxation.base:
            first, beam = middle, [self._partial(begun.graph, relaxation.rows_with(begun.prices), required, middle - 1)]
        else:
            relaxation.master.trim(prices, relaxation.most_columns)
            beam = [self._partial(relaxation.base, prices, required, -1)]
        for slot in range(first, relaxation.base.slots):
            poll()
            if slot == middle > first:
                saved = relaxation.with_devices(relaxation.priced(beam[0].prices))
                self._middle.reach(_Begun(relaxation.base, beam[0].graph, saved))
            chosen = self._chosen(beam, slot, required, cutoff)
            if not chosen:
                return []
            beam = self._continued(chosen, slot, required)
        return [path for path, x in beam[0].generated.recover(1 - CLEAR)]

    def _chosen(self, beam: list[_Partial], slot: int, required: Bools, cutoff: float) -> list[_Tried]:
        """Return the best continuations of all, the best first."""
        best = Shortlist[_Tried](cutoff)
        for partial in beam:
            for most, levels in self._configurations(partial, slot, required):
                if most <= best.least:
                    break
                tried = self._tried(partial, slot, levels, required, best.least)
                if tried.generated.bound > best.least:
                    best.add(tried.generated.value, tried)
        return sorted(best.kept(), key=lambda tried: -tried.generated.value)

    def _tried(self, partial: _Partial, slot: int, levels: Ints, required: Bools, least: float) -> _Tried:
        """Bound what goes on with a configuration, as far as its bound is above the least that counts."""
        if partial.rows == len(self.relaxation.row_slot):
            self.relaxation.master.start_from(partial.basis)
        alive = _open(partial.graph, slot, levels)
        generated = self.relaxation.bound(
            partial.graph.masked(alive),
            required,
            start=partial.prices,
            rounds=ROUNDS_TRIED,
            stop=lambda bound, value: bound <= least,
        )
        return _Tried(partial, alive, generated)

    def _continued(self, chosen: list[_Tried], slot: int, required: Bools) -> list[_Partial]:
        """Return the partial schedules that go on, the best first; rows of the past and dead columns are forgotten."""
        relaxation = self.relaxation
        graphs = [tried.partial.graph.restrict(tried.alive) for tried in chosen]
        relaxation.keep_columns(graphs)
        ahead = relaxation.row_slot > slot
        starts = [tried.generated.duals[ahead] for tried in chosen]
        relaxation.keep_rows(ahead)
        relaxation.master.trim(starts[0], relaxation.most_columns)
        beam = [self._partial(graph, prices, required, slot) for graph, prices in zip(graphs, starts, strict=True)]
        beam.sort(key=lambda partial: -partial.generated.value)
        padded = np.array([relaxation.master.padded(partial.prices) for partial in beam])
        kept = (padded > 0).any(axis=0) | (relaxation.row_pool < len(relaxation.sets))
        if not kept.all():
            relaxation.keep_rows(kept)
        for partial, prices in zip(beam, padded, strict=True):
            partial.prices = prices[kept]
            partial.rows = partial.rows if kept.all() else -1
        return beam

    def _partial(self, graph: Graph, prices: Floats, required: Bools, slot: int) -> _Partial:
        """Return a partial schedule after its bound is tightened once."""
        relaxation = self.relaxation
        generated = relaxation.bound(graph, required, start=prices, rounds=ROUNDS_SETTLED)
        if relaxation.tighten(generated, slots=slice(slot + 1, slot + 1 + _AHEAD)):
            generated = relaxation.bound(graph, required, start=generated.duals, rounds=ROUNDS_SETTLED)
        return _Partial(graph, generated, generated.duals, relaxation.master.basis(), len(relaxation.row_slot))

    def _configurations(self, partial: _Partial, slot: int, required: Bools) -> list[tuple[float, Ints]]:
        """Return configurations and how much what goes on with each is worth at most, most first."""
        running, idling = self.relaxation.losses(partial.graph, required, partial.prices, slot)
        found = [*self._weighted(partial, slot), *self._priced(partial, idling - running)]
        jobs = np.arange(len(idling))
        tried = []
        for key in dict.fromkeys(found):
            levels = np.frombuffer(key, dtype=np.int64)
            lost = float(np.where(levels == IDLE, idling, running[levels, jobs]).sum())
            tried.append((partial.generated.bound - lost, levels))
        return sorted(tried, key=lambda each: -each[0])

    def _weighted(self, partial: _Partial, slot: int) -> list[bytes]:
        """Return configurations that are likely by the linear program's weights."""
        z = self.relaxation.running(partial.generated)[slot]
        option, job = np.nonzero(z > CLEAR)
        x = z[option, job]
        idle = np.maximum(1.0 - z.sum(axis=0), UNLIKELY)
        better = log(np.maximum(x, UNLIKELY)) - log(idle[job])
        keys = drawn(x, _DRAWS * _TRIED, self._rng)
        keys[0] = x
        return self._best(keys, option, job, better)

    def _priced(self, partial: _Partial, better: Floats) -> list[bytes]:
        """Return configurations that lose little at the prices of the bound, where jobs run (options, jobs) or idle."""
        heat = _HEAT * max(partial.generated.value, GRID)
        option, job = np.nonzero(better > _HOT[0] * heat)
        x = better[option, job]
        u = 1.0 - self._rng.random((_DRAWS * _TRIED, len(x)))
        return self._best(np.minimum(x, _HOT[1] * heat) - heat * log(-log(u)), option, job, x)

    def _best(self, keys: Floats, option: Ints, job: Ints, better: Floats) -> list[bytes]:
        """Return the configurations of most worth among those that fit, the largest keys first, job after job."""
        found: dict[bytes, float] = {}
        for order in np.argsort(-keys, axis=1, kind="stable"):
            left, levels, worth = self._devices.copy(), np.full(self._need.shape[1], IDLE, dtype=np.int64), 0.0
            for k in order.tolist():
                need = self._need[option[k], job[k]]
                if levels[job[k]] == IDLE and (need <= left).all():
                    left -= need
                    levels[job[k]] = option[k]
                    worth += float(better[k])
            found[levels.tobytes()] = worth
        return sorted(found, key=lambda key: -found[key])[:_TRIED]


def _open(graph: Graph, slot: int, levels: Ints) -> Bools:
    """Return the arcs that are open where jobs are at some options in a slot."""
    level = levels[graph.job]
    others: Bools = (graph.slot == slot) & (graph.option != level)
    before: Bools = graph.finishing & (graph.slot < slot) & (level != IDLE)
    return ~(others | before)
