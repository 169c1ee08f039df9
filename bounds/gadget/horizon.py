"""Worker-slots that can be reached slot by slot: OPT, Algorithm 1 at its best and worst ties, and its approximations.

Only the counts of a slot matter for the slots after it, so that all is a walk over vectors of cumulative worker-slots.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from fractions import Fraction
from functools import cache

import numpy as np
import numpy.typing as npt

from dlsched.bounds.claim import Undecided
from dlsched.bounds.gadget.plans import CORRECTED, Plan, Rules, Slot
from dlsched.models.ddljs import Instance
from dlsched.models.numbers import to_integers

MAX_COMBINATIONS = 400_000
"""Combinations of plans of a slot that are looked at together, at most. Arbitrary: limits count work and not seconds,
so that verdicts are the same everywhere."""

MAX_STATES = 20_000
"""Vectors of worker-slots after a slot, at most. Arbitrary."""

MAX_TRANSITIONS = 2_000_000
"""Steps from such a vector to the next one, over all slots, at most. Arbitrary."""

Counts = tuple[int, ...]
"""Workers or worker-slots of every job, in the order of the instance."""

_LARGE = 2**53
"""Amounts as whole numbers, a job's most times the jobs, from which on nothing is decided. Arbitrary below 2**62, up to
which their sums are exact: numbers without a small common denominator exceed either."""


def count_vectors(instance: Instance, slot: int, rules: Rules = CORRECTED) -> frozenset[Counts]:
    """Return V[t], the counts that fit together in a slot by (2) and (4)-(9); (3) is left to the horizon.

    Raises
    ------
    Undecided
        If there are too many plans.
    """
    constraints = Slot(instance, slot, rules)
    plans = [constraints.plans(job) for job in instance.jobs]
    keys = list(dict.fromkeys(key for of_job in plans for plan in of_job for key, _ in plan.use))
    uses = [_matrix(of_job, keys) for of_job in plans]
    limits = np.array([constraints.limit(key) for key in keys], dtype=object)
    scaled, room = _scaled(uses, limits)
    counts, used = np.zeros((1, 0), dtype=np.int64), np.zeros((1, len(keys)), dtype=np.int64)
    for of_job, use in zip(plans, scaled, strict=True):
        sizes = np.array([0, *(plan.size for plan in of_job)], dtype=np.int64)
        counts, used = _combined(counts, used, sizes, use, room)
    return frozenset(tuple(map(int, row)) for row in counts)


def _matrix(plans: list[Plan], keys: list[object]) -> npt.NDArray[np.object_]:
    """Return what each plan takes of each key; first of all the plan that takes nothing."""
    place = {key: column for column, key in enumerate(keys)}
    matrix = np.full((len(plans) + 1, len(keys)), Fraction(0), dtype=object)
    for row, plan in enumerate(plans, start=1):
        for key, amount in plan.use:
            matrix[row, place[key]] = amount
    return matrix


def _scaled(
    uses: list[npt.NDArray[np.object_]], limits: npt.NDArray[np.object_]
) -> tuple[list[npt.NDArray[np.int64]], npt.NDArray[np.int64]]:
    """Return the same in whole numbers, key by key."""
    integers = [np.zeros(use.shape, dtype=np.int64) for use in uses]
    room = np.zeros(len(limits), dtype=np.int64)
    for column, limit in enumerate(limits):
        values, scale = to_integers([amount for use in uses for amount in use[:, column]])
        if max(values, default=0) * max(1, len(uses)) >= _LARGE:
            raise Undecided("amounts have no small common denominator")
        # Whole numbers fit what is whole of a limit, which may have any denominator, and together are below `_LARGE`.
        room[column], start = min(math.floor(limit * scale), _LARGE), 0
        for use, target in zip(uses, integers, strict=True):
            target[:, column] = values[start : start + len(use)]
            start += len(use)
    return integers, room


def _combined(
    counts: npt.NDArray[np.int64],
    used: npt.NDArray[np.int64],
    sizes: npt.NDArray[np.int64],
    use: npt.NDArray[np.int64],
    room: npt.NDArray[np.int64],
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return every way to add a plan of the next job, without those that take what others of equal counts do."""
    if len(counts) * len(sizes) > MAX_COMBINATIONS:
        raise Undecided(f"{len(counts) * len(sizes)} combinations of plans: more than {MAX_COMBINATIONS}")
    total = used[:, None, :] + use[None, :, :]
    fits = np.nonzero((total <= room).all(axis=2))
    rows = np.hstack([counts[fits[0]], sizes[fits[1]][:, None], total[fits]])
    rows = np.unique(rows, axis=0)
    jobs = counts.shape[1] + 1
    return rows[:, :jobs], rows[:, jobs:]


class Horizon:
    """The reachable worker-slots of an instance under given rules, and the utilities of what can be reached.

    Parameters
    ----------
    instance : Instance
    rules : Rules
    budgets : bool
        Whether (3) holds.
    truncated : bool
        Whether the worker-slots of a job count up to K_i only.
    """

    def __init__(
        self, instance: Instance, rules: Rules = CORRECTED, *, budgets: bool = True, truncated: bool = False
    ) -> None:
        self.instance = instance
        known: dict[tuple[object, ...], frozenset[Counts]] = {}
        self.slots: list[frozenset[Counts]] = []
        for t in range(1, instance.slots + 1):
            here = (tuple(job.arrival <= t for job in instance.jobs), *instance.shares(t))
            if here not in known:
                known[here] = count_vectors(instance, t, rules)
            self.slots.append(known[here])
        self.most = [job.budget_slots if budgets else None for job in instance.jobs]
        self._of_job = [cache(job.value) for job in instance.jobs]
        self._count = [job.budget_slots if truncated else None for job in instance.jobs]
        self._values: dict[Counts, Fraction] = {}

    def value(self, counts: Counts) -> Fraction:
        """Return sum_i mu_i(zeta_i n_i) (InputError where a log utility is at 0)."""
        if counts not in self._values:
            counted = (n if most is None else min(n, most) for n, most in zip(counts, self._count, strict=True))
            terms = (value(n) for value, n in zip(self._of_job, counted, strict=True))
            self._values[counts] = sum(terms, Fraction(0))
        return self._values[counts]

    def after(self, so_far: Counts, slot: int) -> list[Counts]:
        """Return the worker-slots that there can be after a slot (1..T)."""
        sums = (tuple(map(int.__add__, so_far, added)) for added in self.slots[slot - 1])
        return [z for z in sums if all(most is None or n <= most for n, most in zip(z, self.most, strict=True))]

    def walk(self, choose: Callable[[Counts, list[Counts]], Iterable[Counts]]) -> set[Counts]:
        """Return where one can end by choosing, in each slot, among the allowed of the possible next vectors.

        Raises
        ------
        Undecided
            If there are too many vectors.
        """
        states: set[Counts] = {(0,) * len(self.instance.jobs)}
        transitions = 0
        for slot in range(1, self.instance.slots + 1):
            transitions += len(states) * len(self.slots[slot - 1])
            if transitions > MAX_TRANSITIONS:
                raise Undecided(f"more than {MAX_TRANSITIONS} steps between vectors of worker-slots")
            states = {after for z in states for after in choose(z, self.after(z, slot))}
            if len(states) > MAX_STATES:
                raise Undecided(f"more than {MAX_STATES} vectors of worker-slots")
        return states

    @property
    def opt(self) -> Fraction:
        """OPT, the greatest utility that can be reached."""
        return max(map(self.value, self.walk(lambda z, options: options)))

    def greedy(self, alpha: Fraction = Fraction(1), *, of_value: bool = False) -> list[Fraction]:
        """Return the utilities that Algorithm 1 can end with, ascending.

        Parameters
        ----------
        alpha : Fraction
            Any next vector is allowed whose increment (12) is at least alpha times the greatest.
        of_value : bool
            The same of the value (10) itself.
        """

        def choose(z: Counts, options: list[Counts]) -> Iterable[Counts]:
            base = Fraction(0) if of_value else self.value(z)
            gains = [self.value(option) - base for option in options]
            bar = alpha * max(gains)
            return (option for option, gain in zip(options, gains, strict=True) if gain >= bar)

        return sorted(map(self.value, self.walk(choose)))
