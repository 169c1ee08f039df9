"""The cheapest way to do a job's work: an exact dynamic program over (slot, work left), pruned by Lagrange bounds.

Given the offers of the slots, a job wants the schedule of the greatest payoff: the utility of its completion slot f
less the cost of the slots used. For a fixed f this is a covering knapsack with one choice a slot: at most one offer of
each slot up to f, together doing at least Q. It is solved for each f at which the utility is about to fall, in order;
schedules that end earlier in the same run of equal utilities are among those of its end.

Bound. For any multiplier m >= 0 (cost per unit of work), a set of slots that still has to do the work R costs at least
m R + sum over its slots of min(0, min_l (cost_l - m work_l)). The multiplier is the optimal one of the linear
relaxation, in which each slot's offers are replaced by their lower convex hull and taken in order of their slopes. A
slot keeps only offers whose reduced cost is below the gap between the incumbent and that bound; slots with one offer
left are settled.

Labels. Over the slots that are left, a label is (work done, cost). A label is dropped if its bound does not beat the
incumbent, if the slots left cannot complete it, or if another has done at least as much at no higher cost. Work is
exact (integers on a common scale); costs are floats, so the payoff is the greatest up to rounding. The number of labels
is not polynomial, as the problem contains subset sum: with costs exactly proportional to irregular speeds, hundreds of
slots take minutes. With prices (5), which know nothing of a job's speeds, a job takes milliseconds.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from dlsched.halt import polled
from dlsched.models.numbers import to_integers
from dlsched.tolerances import ROUNDING, ULP

Picks = tuple[tuple[int, int], ...]
"""(row of a slot, level) for each slot used, in order."""
_Floats = NDArray[np.float64]
_Path: TypeAlias = "tuple[_Path, int, int] | None"
_Label: TypeAlias = tuple[int, float, _Path]
_Choice = tuple[int, int, int, float]


@dataclass(frozen=True, slots=True)
class Best:
    """The schedule of the greatest payoff.

    Attributes
    ----------
    payoff : float
    picks : tuple of (int, int)
        Row of a slot and its offer (Hadar: level), for each slot used, in order.
    """

    payoff: float
    picks: Picks


@dataclass(frozen=True, slots=True)
class _Steps:
    """The hull steps of all slots by ascending slope: each raises a slot from one offer to the next."""

    row: NDArray[np.int64]
    level: NDArray[np.int64]
    work: _Floats
    cost: _Floats
    slope: _Floats


@dataclass(frozen=True, slots=True)
class _Relaxed:
    """The linear relaxation up to a row: its value, the multiplier, and the steps taken, the last one in part.

    `work` is the share of the work that they do, so little below 1 that rounding leaves no schedule out.
    """

    value: float
    multiplier: float
    work: float
    steps: NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class _Bound:
    """What a label must beat: its cost, plus the multiplier times the share of work left, plus what is saved later.

    ``saves[i]`` is the sum of the least reduced costs from the i-th open slot on.
    """

    multiplier: float
    saves: list[float]
    cutoff: float


def best_schedule(work: Sequence[Fraction], cost: _Floats, need: Fraction, values: Sequence[float]) -> Best | None:
    """Return the schedule of the greatest payoff; None if no schedule has a positive one.

    Parameters
    ----------
    work : sequence of Fraction, shape (levels,)
        Iterations in a slot, ascending.
    cost : array (slots, levels)
        Infinite where there is no such offer.
    need : Fraction
        Q, iterations to do.
    values : sequence of float, shape (slots,)
        Utility of completing in each slot, non-increasing.
    """
    if not len(values) or not len(work):
        return None
    whole, _ = to_integers([need, *work])
    share = np.array([float(Fraction(w, whole[0])) for w in whole[1:]])
    steps = _hull_steps(share, cost)
    everything = _relaxed(steps, len(values) - 1)
    best: Best | None = None
    for row in polled(_ends(values)):
        reached = best.payoff if best else 0.0
        if everything is None or values[row] - everything.value <= reached + ROUNDING * values[row]:
            break
        relaxed = _relaxed(steps, row)
        if relaxed is None:
            continue
        cutoff = values[row] - reached - ROUNDING * values[row]
        found = _cheapest(whole, share, cost[: row + 1], steps, relaxed, cutoff)
        if found:
            best = Best(values[row] - found[0], found[1])
    return best


def _ends(values: Sequence[float]) -> Iterator[int]:
    return (i for i in range(len(values)) if i + 1 == len(values) or values[i + 1] < values[i])


def _hull_steps(share: _Floats, cost: _Floats) -> _Steps:
    """Return the steps along each slot's lower convex hull, which starts at (0, 0)."""
    rows = np.arange(cost.shape[0])
    at_work, at_cost = np.zeros(len(rows)), np.zeros(len(rows))
    pieces = []
    for _ in range(len(share)):
        ahead = share - at_work[:, None]
        slopes = np.where(ahead > 0, (cost - at_cost[:, None]) / np.where(ahead > 0, ahead, 1.0), np.inf)
        level = len(share) - 1 - np.argmin(slopes[:, ::-1], axis=1)
        slope = slopes[rows, level]
        go = np.isfinite(slope)
        if not go.any():
            break
        to_work, to_cost = share[level], cost[rows, level]
        pieces.append((rows[go], level[go], (to_work - at_work)[go], (to_cost - at_cost)[go], slope[go]))
        at_work, at_cost = np.where(go, to_work, at_work), np.where(go, to_cost, at_cost)
    if not pieces:
        none, empty = np.zeros(0, dtype=np.int64), np.zeros(0)
        return _Steps(none, none, empty, empty, empty)
    row, level, work, more, slope = (np.concatenate(column) for column in zip(*pieces, strict=True))
    order = np.lexsort((row, slope))
    return _Steps(row[order], level[order], work[order], more[order], slope[order])


def _relaxed(steps: _Steps, last: int) -> _Relaxed | None:
    """Return the relaxation over the rows up to `last`; None if even all of them do not do the work."""
    chosen = np.flatnonzero(steps.row <= last)
    done = np.cumsum(steps.work[chosen])
    whole = 1.0 - (len(done) + 2) * ULP  # each of so many shares, and each sum of them, is rounded once
    if not len(done) or done[-1] < whole:
        return None
    end = int(np.searchsorted(done, whole))
    used = chosen[: end + 1]
    beyond = max(0.0, float(done[end]) - whole)
    slope = float(steps.slope[used[-1]])
    return _Relaxed(float(steps.cost[used].sum()) - slope * beyond, slope, whole, used)


def _rounded(whole: list[int], cost: _Floats, steps: _Steps, relaxed: _Relaxed) -> tuple[float, Picks] | None:
    """Return the relaxation's point with the cheapest offer that completes the work in the slot of its last step."""
    levels = {int(steps.row[i]): int(steps.level[i]) for i in relaxed.steps}
    last = int(steps.row[relaxed.steps[-1]])
    left = whole[0] - sum(whole[1 + level] for row, level in levels.items() if row != last)
    enough = bisect_left(whole, left, 1) - 1
    if enough == cost.shape[1]:
        return None
    levels[last] = enough + int(cost[last, enough:].argmin())
    return math.fsum(float(cost[row, level]) for row, level in levels.items()), tuple(sorted(levels.items()))


def _cheapest(
    whole: list[int], share: _Floats, cost: _Floats, steps: _Steps, relaxed: _Relaxed, cutoff: float
) -> tuple[float, Picks] | None:
    """Return the cheapest cover that costs less than `cutoff`, with its cost; None if there is none."""
    best: tuple[float, Picks] | None = None
    rounded = _rounded(whole, cost, steps, relaxed)
    if rounded and rounded[0] < cutoff:
        best, cutoff = rounded, rounded[0]
    if relaxed.value >= cutoff * (1 - ROUNDING):
        return best
    reduced = np.column_stack([np.zeros(len(cost)), cost - relaxed.multiplier * share])
    least = reduced.min(axis=1)
    at_multiplier = relaxed.multiplier * relaxed.work
    # Where a slot does 1e15 times what is needed, numbers of that size cancel each other.
    lost = ROUNDING * (cutoff + abs(at_multiplier) + float(np.abs(least).sum()))
    gap = cutoff - at_multiplier - float(least.sum()) + lost
    kept = reduced - least[:, None] <= max(gap, 0.0)
    settled = kept.sum(axis=1) == 1
    fixed = [(row, level) for row in np.flatnonzero(settled).tolist() if (level := int(kept[row].argmax()) - 1) >= 0]
    start: _Label = (0, 0.0, None)
    for row, level in fixed:
        start = (start[0] + whole[1 + level], start[1] + float(cost[row, level]), (start[2], row, level))
    core = np.flatnonzero(~settled).tolist()
    choices = [[_choice(whole, cost, row, column) for column in np.flatnonzero(kept[row]).tolist()] for row in core]
    saves: list[float] = [*accumulate(reversed(least[core].tolist()), initial=-lost)][::-1]
    found = _labels(whole[0], choices, start, _Bound(relaxed.multiplier, saves, cutoff))
    return (found[1], _picks(found[2])) if found else best


def _choice(whole: list[int], cost: _Floats, row: int, column: int) -> _Choice:
    return (row, column - 1, whole[column], float(cost[row, column - 1])) if column else (row, -1, 0, 0.0)


def _labels(need: int, choices: list[list[_Choice]], start: _Label, bound: _Bound) -> _Label | None:
    """Extend labels slot by slot; return the cheapest that does all the work for less than the cutoff."""
    cutoff = bound.cutoff
    if start[0] >= need:
        return start if start[1] < cutoff else None
    can_do = [*accumulate((max(choice[2] for choice in slot) for slot in reversed(choices)), initial=0)][::-1]
    found: _Label | None = None
    labels = [start]
    for i, slot in enumerate(choices):
        grown: list[_Label] = []
        for done, spent, path in polled(labels):
            for row, level, work, price in slot:
                after, cost = done + work, spent + price
                longer = path if level < 0 else (path, row, level)
                if after >= need and cost < cutoff:
                    cutoff, found = cost, (after, cost, longer)
                at_least = cost + bound.multiplier * ((need - after) / need) + bound.saves[i + 1]
                if after < need <= after + can_do[i + 1] and at_least < cutoff:
                    grown.append((after, cost, longer))
        labels = _undominated(grown)
    return found


def _undominated(labels: list[_Label]) -> list[_Label]:
    labels.sort(key=lambda label: (-label[0], label[1]))
    kept: list[_Label] = []
    least = float("inf")
    for label in labels:
        if label[1] < least:
            kept.append(label)
            least = label[1]
    return kept


def _picks(path: _Path) -> Picks:
    picks = []
    while path is not None:
        path, row, level = path
        picks.append((row, level))
    return tuple(sorted(picks))
