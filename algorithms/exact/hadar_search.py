"""Large neighbourhood search for schedules: many incumbents side by side, jobs reinserted by dynamic programming.

Each of `chains` incumbents loses a few jobs (at random, or active in a window of slots) and gets them and the rejected
ones back one after the other, each by its best schedule in the capacity left, at a fraction of the prices of the
column-generation bound. All chains run in the same numpy calls. Acceptance cools down as in simulated annealing.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from dlsched.algorithms.exact.hadar_rows import Hall
from dlsched.algorithms.exact.hadar_states import Ints, Options, States
from dlsched.models.matrix import Floats

_THETA = np.array([0.02, 0.3, 0.7, 1.0])
_NEVER = 1e30


@dataclass(frozen=True, slots=True, eq=False)
class Plan:
    """A schedule of all jobs.

    Attributes
    ----------
    levels : ndarray of shape (jobs, slots)
        Option in each slot, -1 where the job does not run.
    finish : ndarray of shape (jobs,)
        Completion slot, -1 where the job is rejected.
    value : float
        Total utility.
    """

    levels: Ints
    finish: Ints
    value: float


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
    """

    def __init__(
        self,
        jobs: tuple[Options, ...],
        states: States,
        sets: tuple[Hall, ...],
        utility: Floats,
        *,
        chains: int = 32,
        seed: int = 0,
    ) -> None:
        self.jobs, self.utility, self.chains = len(jobs), utility, chains
        self.slots = utility.shape[1]
        self._rng = np.random.default_rng(seed)
        self._table, self._root = _tables(states, self.jobs)
        self._need = np.zeros((self._table.shape[1], self.jobs, len(sets)), dtype=np.int64)
        for k, hall in enumerate(sets):
            self._need[:, :, k] = np.where(hall.member, hall.weight, 0)
        self._devices = np.array([hall.devices for hall in sets], dtype=np.int64)
        has = np.array([[k < len(o.works) for o in jobs] for k in range(self._table.shape[1])], dtype=bool)
        has = has.reshape(self._table.shape[1], self.jobs)
        arrived = np.arange(self.slots)[:, None] >= np.array([o.arrival for o in jobs])[None, :]
        self._open = has[None] & arrived[:, None, :]
        self._cost = np.zeros((self.slots, self._table.shape[1], self.jobs))
        self._worth = self.utility.max(axis=1)
        self._state: _Chains | None = None
        self.best = Plan(np.full((self.jobs, self.slots), -1), np.full(self.jobs, -1), 0.0)

    def guide(self, cost: Floats, worth: Floats) -> None:
        """Use prices of running by (slot, option, job) and the value of each job at those prices."""
        self._cost, self._worth = cost, np.maximum(worth, 0.0) + 0.05 * max(float(worth.max()), 1e-9)

    def offer(self, plan: Plan) -> None:
        """Let a plan that was found elsewhere replace the worst incumbent."""
        if plan.value > self.best.value:
            self.best = plan
        if self._state is not None:
            chain = int(self._state.value.argmin())
            self._state.levels[chain], self._state.finish[chain] = plan.levels, plan.finish
            self._state.value[chain] = plan.value
            self._state.left[chain] = self._devices
            j, t = np.nonzero(plan.levels >= 0)
            np.subtract.at(self._state.left[chain], t, self._need[plan.levels[j, t], j])

    def run(self, rounds: int, *, target: float = np.inf, late: Callable[[], bool] = lambda: False) -> Plan:
        """Search for some rounds, or until a plan is worth `target`; return the best plan of all runs."""
        if not self.jobs:
            return self.best
        state = self._state if self._state is not None else self._first()
        self._state = state
        for done in range(rounds):
            if self.best.value >= target or late():
                break
            left = 1 - done / rounds
            before = state.copy()
            self._ruin_and_recreate(state)
            heat = 0.01 * self.best.value * left**2 + 1e-9
            worse = np.flatnonzero(state.value < before.value - heat * self._rng.exponential(size=self.chains))
            state.take(worse, before, worse)
            self._note(state)
            if self._rng.random() < 1 / 30:
                worst, source = state.value.argmin(), state.value.argmax()
                if self._rng.random() < 0.5:
                    source = self._rng.integers(self.chains)
                state.take(np.array([worst]), state.copy(), np.array([source]))
        return self.best

    def _note(self, state: _Chains) -> None:
        top = int(state.value.argmax())
        if state.value[top] > self.best.value + 1e-9:
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
        score += active & (self._rng.random(self.chains) < 0.6)[:, None]
        score[state.finish < 0] = -1.0
        for job in np.argsort(-score, axis=1)[:, :count].T:
            self._remove(state, job)
        rejected = int((state.finish < 0).sum(axis=1).max())
        self._insert_all(state, min(rejected, count + 4))

    def _insert_all(self, state: _Chains, count: int) -> None:
        missing = state.finish < 0
        urge = np.where(missing, self._worth * self._rng.uniform(0.2, 1.0, missing.shape), -1.0)
        theta = _THETA[self._rng.integers(0, len(_THETA), self.chains)]
        for job in np.argsort(-urge, axis=1)[:, :count].T:
            levels, finish = self._insert(state, job, theta, missing[np.arange(self.chains), job])
            self._apply(state, job, levels, finish)

    def _remove(self, state: _Chains, job: Ints) -> None:
        chain = np.arange(self.chains)
        levels, finish = state.levels[chain, job], state.finish[chain, job]
        k, t = np.nonzero(levels >= 0)
        state.left[k, t] += self._need[levels[k, t], job[k]]
        state.value -= np.where(finish >= 0, self.utility[job, finish], 0.0)
        state.levels[chain, job], state.finish[chain, job] = -1, -1

    def _apply(self, state: _Chains, job: Ints, levels: Ints, finish: Ints) -> None:
        placed = np.flatnonzero(finish >= 0)
        k, t = np.nonzero((levels >= 0) & (finish >= 0)[:, None])
        state.left[k, t] -= self._need[levels[k, t], job[k]]
        state.levels[placed, job[placed]], state.finish[placed, job[placed]] = levels[placed], finish[placed]
        state.value[placed] += self.utility[job[placed], finish[placed]]

    def _insert(self, state: _Chains, job: Ints, theta: Floats, active: Ints) -> tuple[Ints, Ints]:
        """Return the best schedule of one job a chain in the capacity left: options and completion slot."""
        fits = (state.left[:, :, None, :] >= self._need[:, job].transpose(1, 0, 2)[:, None]).all(axis=3)
        allowed = fits & self._open[:, :, job].transpose(2, 0, 1)
        cost = np.where(allowed, self._cost[:, :, job].transpose(2, 0, 1) * theta[:, None, None], _NEVER)
        cost = np.ascontiguousarray(cost.transpose(1, 2, 0))
        table = self._table[job].transpose(1, 0, 2)
        states = table.shape[2]
        index = table + (np.arange(self.chains) * states)[None, :, None]
        gain = self.utility[job]
        value = np.full((self.slots + 1, self.chains, states), -_NEVER)
        value[-1, :, 0] = 0.0
        for t in range(self.slots - 1, -1, -1):
            after = value[t + 1]
            after[:, 0] = gain[:, t]
            ran = after.take(index)
            ran -= cost[t][:, :, None]
            np.max(ran, axis=0, out=value[t])
            after[:, 0] = -_NEVER
            np.maximum(value[t], after, out=value[t])
        return self._trace(job, gain, cost, index, table, value, active)

    def _trace(
        self, job: Ints, gain: Floats, cost: Floats, index: Ints, table: Ints, value: Floats, active: Ints
    ) -> tuple[Ints, Ints]:
        chain = np.arange(self.chains)
        x = self._root[job].copy()
        going = active & (value[0, chain, x] > 1e-9)
        levels = np.full((self.chains, self.slots), -1)
        finish = np.full(self.chains, -1)
        for t in range(self.slots):
            after = value[t + 1]
            idle = after[chain, x]
            after[:, 0] = gain[:, t]
            option = (after.take(index[:, chain, x]) - cost[t]).argmax(axis=0)
            after[:, 0] = -_NEVER
            runs = going & (value[t, chain, x] > idle)
            levels[runs, t] = option[runs]
            x = np.where(runs, table[option, chain, x], x)
            ended = runs & (x == 0)
            finish[ended] = t
            going &= ~ended
        return levels, finish


def _tables(states: States, jobs: int) -> tuple[Ints, Ints]:
    """Return transitions by (job, option, state of the job), padded, and each job's root; "done" is 0."""
    counts = np.bincount(states.job, minlength=jobs)
    table = np.zeros((jobs, states.following.shape[0], int(counts.max(initial=1))), dtype=np.int64)
    for j in range(jobs):
        own = slice(int(states.done[j]), int(states.done[j] + counts[j]))
        table[j, :, : counts[j]] = states.following[:, own] - states.done[j]
    return table, states.root - states.done
