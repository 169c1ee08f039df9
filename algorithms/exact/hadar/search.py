"""Large neighbourhood search for schedules: many incumbents side by side, jobs reinserted by dynamic programming.

Each of `chains` incumbents loses a few jobs (at random, or active in a window of slots) and gets them and the rejected
ones back one after the other, each by its best schedule in the capacity left, at a fraction of the prices of the
column-generation bound. All chains run in the same numpy calls, each with a job of its own. Acceptance cools down as in
simulated annealing.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from dlsched.algorithms.exact.hadar.merge import Merge
from dlsched.algorithms.exact.hadar.problem import GRID, Ints, Options, Plan
from dlsched.algorithms.exact.hadar.rows import Hall, needed
from dlsched.algorithms.exact.hadar.states import States
from dlsched.arithmetic import log
from dlsched.halt import over
from dlsched.solvers.matrix import Floats

Singles = npt.NDArray[np.float32]
"""What schedules are looked for with: half the memory of `Floats`, and what is found is valued in those."""

_THETA = np.array([0.02, 0.3, 0.7, 1.0], dtype=np.float32)
"""Fractions of the bound's prices that jobs are inserted at: none of them is best for all, so they are drawn from."""

_NEVER = np.float32(1e30)
"""What does not fit costs; far above all prices, and finite, so that differences are numbers."""

_HEAT = 0.002
"""Of the annealing when it begins, as a share of the best value: a job in some hundred may be lost; by trial."""

_LITTLE_HEAT = 0.35 * _HEAT
"""Of the annealing from a good plan. By trial: 1600 rounds from six plans of beams on 40 jobs gain .69 on average at
this, .59 at half of it, .46 at twice and .31 at all of `_HEAT` with other incumbents kept; 800 rounds gain .57."""

_CHAINS = 8
"""Incumbents side by side: on 40 jobs, 17 s of 8 chains (one cooling) end at 1146.9 on average, of 16 at 1145.2, of 4
at 1145.0, and 13 s of 32 at 1143.0."""

_LONGEST = 6400
"""Rounds of the longest annealing; each takes twice as many as the one before. By trial: 40 s at 40 jobs."""

_COPIED = 1 / 30
"""How often the worst chain is replaced by another, half of the time by the best: rarely, or chains become alike."""

_ACTIVE = 0.6
"""How often a ruin prefers the jobs of a window of slots; else jobs are drawn at random alone."""

_HOPE = 0.05
"""Added to what a job is worth at the prices, as a share of the largest, so that jobs worth nothing are tried too."""

_EXTRA = 4
"""Jobs tried beyond those that a ruin took out: of the rejected ones."""

_ORDER = 0.2
"""Least factor drawn for a job's worth when jobs are ordered for insertion: the best rarely come last."""


@dataclass(slots=True, eq=False)
class _Chains:
    """Incumbents: capacity left by (chain, slot, Hall row), options and completions."""

    left: Ints
    levels: Ints
    finish: Ints
    value: Floats

    def copy(self) -> _Chains:
        return _Chains(self.left.copy(), self.levels.copy(), self.finish.copy(), self.value.copy())

    def take(self, chains: Ints, other: _Chains, source: Ints) -> None:
        for mine, theirs in (
            (self.left, other.left),
            (self.levels, other.levels),
            (self.finish, other.finish),
            (self.value, other.value),
        ):
            mine[chains] = theirs[source]


class Search:
    """The search, to be run in pieces.

    Parameters
    ----------
    jobs : tuple of Options
    states : States
        Exact or pessimistic, so that what it finds is feasible.
    sets : tuple of Hall
    utility : ndarray of shape (jobs, slots)
    chains, seed : int

    Attributes
    ----------
    best : Plan
        Of all that were tried.
    merge : Merge
        Knows the schedules of good ones.
    """

    def __init__(
        self,
        jobs: tuple[Options, ...],
        states: States,
        sets: tuple[Hall, ...],
        utility: Floats,
        *,
        chains: int = _CHAINS,
        seed: int = 0,
    ) -> None:
        self.jobs, self.utility, self.chains = len(jobs), utility, chains
        self.slots = utility.shape[1]
        self._rng = np.random.default_rng(seed)
        slot = np.arange(self.slots)
        option = np.arange(max((len(o.works) for o in jobs), default=1))
        self._open = np.array([(slot >= o.arrival)[:, None] & (option < len(o.works)) for o in jobs])
        self._gain = utility.T.astype(np.float32)
        counts = np.bincount(states.job, minlength=self.jobs)
        self._tables = [
            states.following[:, first : first + count] - first
            for first, count in zip(states.done.tolist(), counts.tolist(), strict=True)
        ]
        most = states.following.shape[0]
        self._need = needed(sets, most, self.jobs)
        self._devices = np.array([hall.devices for hall in sets], dtype=np.int64)
        self._cost = np.zeros((self.jobs, self.slots, most), dtype=np.float32)
        self._worth = self.utility.max(axis=1)
        self._state: _Chains | None = None
        self._heat, self._done, self._cooling = _HEAT, 0, _LONGEST
        self.best = Plan(np.full((self.jobs, self.slots), -1), np.full(self.jobs, -1), 0.0)
        self.merge = Merge(self._need, self._devices, utility)

    def guide(self, cost: Floats, worth: Floats, rounds: int) -> None:
        """Use prices of running by (slot, option, job) and the value of each job at those prices; heat up again.

        The annealing cools down in some rounds.
        """
        self._heat, self._done, self._cooling = _HEAT, 0, min(rounds, _LONGEST)
        self._cost = cost.transpose(2, 0, 1).astype(np.float32)
        self._worth = np.maximum(worth, 0.0) + _HOPE * max(float(worth.max()), GRID)

    def offer(self, plan: Plan) -> None:
        """Let a plan that was found elsewhere replace the worst quarter of the incumbents."""
        if plan.value > self.best.value:
            self.best = plan
        self.merge.note(plan.levels, plan.finish, plan.value)
        if self._state is not None:
            self._place(self._state, np.argsort(self._state.value, kind="stable")[: self.chains // 4], plan)

    def refine(self, rounds: int) -> None:
        """Put all incumbents on the best plan, and anneal from there: at little heat, and cold after some rounds."""
        self._state = self._state if self._state is not None else self._first()
        self._place(self._state, np.arange(self.chains), self.best)
        self._heat, self._done, self._cooling = _LITTLE_HEAT, 0, min(rounds, _LONGEST)

    def _place(self, state: _Chains, chains: Ints, plan: Plan) -> None:
        left = np.tile(self._devices, (self.slots, 1))
        j, t = np.nonzero(plan.levels >= 0)
        np.subtract.at(left, t, self._need[plan.levels[j, t], j])
        state.levels[chains], state.finish[chains] = plan.levels, plan.finish
        state.value[chains], state.left[chains] = plan.value, left

    @property
    def left(self) -> int:
        """Rounds until the annealing that is under way is cold."""
        return self._cooling - self._done

    def run(self, rounds: int, *, target: float = np.inf) -> Plan:
        """Search for some rounds, or until a plan is worth `target`; return the best plan of all runs."""
        if not self.jobs:
            return self.best
        state = self._state if self._state is not None else self._first()
        self._state = state
        for _ in range(rounds):
            if self.best.value >= target or over():
                break
            left = self.left / self._cooling
            before = state.copy()
            self._ruin_and_recreate(state)
            heat = self._heat * self.best.value * left * left + GRID
            worse = np.flatnonzero(state.value < before.value - heat * -log(1 - self._rng.random(self.chains)))
            state.take(worse, before, worse)
            self._note(state)
            for chain in np.flatnonzero(state.value != before.value).tolist():
                self.merge.note(state.levels[chain], state.finish[chain], float(state.value[chain]))
            if self._rng.random() < _COPIED:
                worst, source = state.value.argmin(), state.value.argmax()
                if self._rng.random() < 0.5:
                    source = self._rng.integers(self.chains)
                state.take(np.array([worst]), state.copy(), np.array([source]))
            self._done += 1
            if not self.left:
                self._heat, self._done, self._cooling = _HEAT, 0, min(2 * self._cooling, _LONGEST)
        return self.best

    def _note(self, state: _Chains) -> None:
        top = int(state.value.argmax())
        if state.value[top] > self.best.value + GRID:
            self.best = Plan(state.levels[top].copy(), state.finish[top].copy(), float(state.value[top]))

    def _first(self) -> _Chains:
        shape = (self.chains, self.slots, len(self._devices))
        state = _Chains(
            np.broadcast_to(self._devices, shape).copy(),
            np.full((self.chains, self.jobs, self.slots), -1),
            np.full((self.chains, self.jobs), -1),
            np.zeros(self.chains),
        )
        self._insert_all(state, self.jobs)
        self._note(state)
        return state

    def _ruin_and_recreate(self, state: _Chains) -> None:
        count = int(self._rng.integers(min(2, self.jobs), min(8, self.jobs) + 1))
        score = self._rng.random((self.chains, self.jobs))
        first = self._rng.integers(0, self.slots, self.chains)
        width = self._rng.integers(1, max(2, self.slots // 3), self.chains)
        t = np.arange(self.slots)
        window = (t >= first[:, None]) & (t < (first + width)[:, None])
        active = ((state.levels >= 0) & window[:, None]).any(axis=2)
        score += active & (self._rng.random(self.chains) < _ACTIVE)[:, None]
        score[state.finish < 0] = -1.0
        for job in np.argsort(-score, axis=1, kind="stable")[:, :count].T:
            self._remove(state, job)
        self._insert_all(state, count + _EXTRA)

    def _insert_all(self, state: _Chains, count: int) -> None:
        """Try up to `count` missing jobs in each chain, job after job, most valuable ones rather earlier."""
        rank = self._worth * self._rng.uniform(_ORDER, 1.0, (self.chains, self.jobs))
        rank[state.finish >= 0] = -np.inf
        order = np.argsort(-rank, axis=1, kind="stable")[:, :count]
        open_ = np.take_along_axis(rank, order, axis=1) > -np.inf
        theta = _THETA[self._rng.integers(0, len(_THETA), self.chains)]
        for job, tried in zip(order.T, open_.T, strict=True):
            chains = np.flatnonzero(tried)
            if not len(chains) or over():
                break
            self._insert(state, job[chains], chains, theta[chains])

    def _remove(self, state: _Chains, job: Ints) -> None:
        chain = np.arange(self.chains)
        levels, finish = state.levels[chain, job], state.finish[chain, job]
        k, t = np.nonzero(levels >= 0)
        state.left[k, t] += self._need[levels[k, t], job[k]]
        state.value -= np.where(finish >= 0, self.utility[job, finish], 0.0)
        state.levels[chain, job], state.finish[chain, job] = -1, -1

    def _insert(self, state: _Chains, job: Ints, chains: Ints, theta: Singles) -> None:
        """Give each of some chains a job, by its best schedule in the capacity left there."""
        fits = (state.left[chains, :, None, :] >= self._need[:, job].transpose(1, 0, 2)[:, None]).all(axis=3)
        fits &= self._open[job]
        price = self._cost[job] * theta[:, None, None]
        cost = np.ascontiguousarray(np.where(fits, price, _NEVER).transpose(1, 2, 0))
        table, done, root = self._joined(job)
        gain = self._gain[:, job]
        value = self._values(table, done, root, gain, cost)
        levels, finish = self._trace(table, done, root, cost, value)
        placed = finish >= 0
        chains, job, levels, finish = chains[placed], job[placed], levels[placed], finish[placed]
        k, t = np.nonzero(levels >= 0)
        state.left[chains[k], t] -= self._need[levels[k, t], job[k]]
        state.levels[chains, job], state.finish[chains, job] = levels, finish
        state.value[chains] += self.utility[job, finish]

    def _joined(self, job: Ints) -> tuple[Ints, Ints, Ints]:
        """Return the tables of some jobs side by side, and the first state of each, done, and the last one."""
        tables = [self._tables[j] for j in job.tolist()]
        last = np.cumsum([table.shape[1] for table in tables])
        first = np.append(0, last[:-1])
        joined = np.concatenate([table + at for table, at in zip(tables, first.tolist(), strict=True)], axis=1)
        return joined, first, last - 1

    def _values(self, table: Ints, done: Ints, root: Ints, gain: Singles, cost: Singles) -> Singles:
        """Return the value of each amount of work left, shape (slots + 1, states); done is worth what it earns."""
        slots = len(cost)
        spread = np.repeat(cost, root - done + 1, axis=2)
        value = np.full((slots + 1, table.shape[1]), -_NEVER, dtype=np.float32)
        ran = np.empty(table.shape, dtype=np.float32)
        for t in range(slots - 1, -1, -1):
            after, here = value[t + 1], value[t]
            after[done] = gain[t]
            after.take(table, out=ran, mode="clip")
            ran -= spread[t]
            ran.max(axis=0, out=here)
            np.maximum(here, after, out=here)
        return value

    def _trace(self, table: Ints, done: Ints, root: Ints, cost: Singles, value: Singles) -> tuple[Ints, Ints]:
        """Follow the best decisions; return options by slot and the completion slot, -1 where there is none."""
        slots, options, jobs = cost.shape
        states = value.shape[1]
        values, costs = value.ravel(), cost.ravel()
        levels, finish = np.full((jobs, slots), -1), np.full(jobs, -1)
        going = np.flatnonzero(value[0, root] > GRID)
        x = root[going]
        here = value[0, x]
        cell = np.arange(options)[:, None] * jobs + going
        while len(going):
            # It idles as long as that costs nothing.
            t = np.add.reduce(value.take(x, axis=1) >= here, axis=0) - 1
            onward = table.take(x, axis=1)
            after = (t + 1) * states
            worth = values.take(onward + after) - costs.take(cell + t * (options * jobs))
            option = worth.argmax(axis=0)
            levels[going, t] = option
            x = onward[option, np.arange(len(going))]
            ended = x == done[going]
            if ended.any():
                finish[going[ended]] = t[ended]
                more = ~ended
                going, x, after, cell = going[more], x[more], after[more], cell[:, more]
            here = values.take(after + x)
        return levels, finish
