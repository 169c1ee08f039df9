"""Every run of HadarE on a tiny batch, round by round: from the ledger's words, with tuples and plain numbers.

A batch is (speeds by job and node, steps by job, T_S); steps are whole, nodes and jobs are numbers. All jobs are there
from the beginning and every node can run every job.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from fractions import Fraction

Batch = tuple[list[list[Fraction]], list[int], Fraction]
Left = tuple[int, ...]
Outcome = tuple[Fraction, Fraction]
"""(CRU, TTD) of a run."""


def outcomes(batch: Batch, copies: int, *, printed: bool, idle: bool = False) -> set[Outcome]:
    """Return (CRU, TTD) of every run in which each round does a step.

    A node may stand idle only where `idle` says so, or no copy is left for it.
    """
    speeds, steps, slot = batch
    n = len(speeds[0])
    found: set[Outcome] = set()
    now = {(tuple(steps), Fraction(0))}
    rounds = 0
    while now:
        rounds += 1
        then = set()
        for left, busy in now:
            for nodes in _assignments(left, n, copies, idle):
                after, spent, longest = _round(speeds, left, slot, nodes, copies, printed)
                if after != left:
                    then.add((after, busy + spent, (rounds - 1) * slot + longest))
        found |= {(busy / (slot * n * rounds), end) for left, busy, end in then if not any(left)}
        now = {(left, busy) for left, busy, _ in then if any(left)}
    return found


def _assignments(left: Left, n: int, copies: int, idle: bool) -> Iterator[tuple[int | None, ...]]:
    """Yield the job of each node, None where it is idle."""
    jobs = [j for j, steps in enumerate(left) if steps]
    for nodes in itertools.product([*jobs, None], repeat=n):
        used = [nodes.count(j) for j in jobs]
        if max(used) <= copies and (idle or None not in nodes or min(used) == copies):
            yield nodes


def _round(
    speeds: list[list[Fraction]],
    left: Left,
    slot: Fraction,
    nodes: tuple[int | None, ...],
    copies: int,
    printed: bool,
) -> tuple[Left, Fraction, Fraction]:
    """Return the steps left after a round, the seconds that nodes were busy, and when the last of them was done."""
    after, spent, longest = list(left), Fraction(0), Fraction(0)
    for j in {job for job in nodes if job is not None}:
        scheduled = [h for h, job in enumerate(nodes) if job == j]
        others = sorted(set(range(len(nodes))) - set(scheduled), key=lambda h: (-speeds[j][h], h))
        sharing = scheduled + (others[: copies - len(scheduled)] if printed else [])
        for h, portion in _largest_remainder(left[j], sharing, speeds[j], scheduled).items():
            if h not in scheduled:
                continue
            seconds = min(slot, portion / speeds[j][h])
            after[j] -= portion if portion / speeds[j][h] <= slot else int(slot * speeds[j][h])
            spent += seconds
            longest = max(longest, seconds)
    return tuple(after), spent, longest


def _largest_remainder(total: int, sharing: list[int], speed: list[Fraction], scheduled: list[int]) -> dict[int, int]:
    exact = {h: total * speed[h] / sum(speed[k] for k in sharing) for h in sharing}
    portions = {h: int(share) for h, share in exact.items()}
    waiting = sorted(sharing, key=lambda h: (portions[h] - exact[h], h not in scheduled, -speed[h], h))
    for h in waiting[: total - sum(portions.values())]:
        portions[h] += 1
    return portions
