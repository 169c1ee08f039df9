"""Shares of a job's iterations that it does in a slot, told apart well enough for a solver's tolerances.

Symbols: Q_j = E_j N_j iterations, w_jl = W_j X_j^l L iterations of a slot at level l, T slots.

A job is done iff ``sum n_l w_jl >= Q_j``, n_l slots at level l. A model says ``sum n_l v_l >= 1`` with
``v_l = min(1, w_jl / Q_j)``, and a solver takes 1 - 1e-6 for 1: with rates of .3333333 three slots do for it what takes
four. But the rates do not matter beyond which numbers of slots, at most T - a_j + 1 in all, complete the job. Where the
largest sum below 1 is too close to 1, the shares are those weights with the same complete numbers of slots that keep
the others furthest below 1, by a linear program over

    ``sum n_l v_l >= 1`` for the least complete n, ``sum n_l v_l <= 1 - d`` for the greatest incomplete n,

with d maximised; both are listed exactly, and with v >= 0 they imply the rest. With a single level v is one over the
slots needed.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from dlsched.arithmetic import dot, integer_product
from dlsched.lazy import sp
from dlsched.models.hadar.instance import Instance, Job
from dlsched.models.numbers import to_integers
from dlsched.solvers.highs import Session
from dlsched.solvers.solution import SolverError
from dlsched.tolerances import APART

_MOST = 100_000
"""Combinations of slots at all levels but one that are listed; a job that has more keeps its plain shares. Arbitrary:
each is two rows of a linear program."""

Counts = npt.NDArray[np.int64]


def shares(instance: Instance, job: Job) -> dict[str, float]:
    """Return the share of the job's iterations that a slot does, by the type that is its slowest device.

    Parameters
    ----------
    instance : Instance
    job : Job

    Returns
    -------
    dict of str to float
        Between 0 and 1; types that the job cannot use are left out.
    """
    types = instance.usable_types(job)
    (need, *works), _ = to_integers([job.iterations, *(instance.work(job, r) for r in types)])
    capped = [min(work, need) for work in works]
    levels = sorted(set(capped), reverse=True)
    told = dict(zip(levels, _told_apart(need, levels, instance.slots - job.arrival + 1), strict=True))
    return {r: told[work] for r, work in zip(types, capped, strict=True)}


def _told_apart(need: int, works: list[int], slots: int) -> list[float]:
    plain = [work / need for work in works]
    borders = _borders(need, works, slots) if works else None
    if borders is None:
        return plain
    complete, incomplete = borders
    if (need - max(integer_product(incomplete, np.array(works, dtype=object)))) / need >= APART:
        return plain
    return _widest(complete, incomplete) or plain


def _borders(need: int, works: list[int], slots: int) -> tuple[Counts, Counts] | None:
    """Return least complete and greatest incomplete numbers of slots by level; None where they are too many.

    For each way to use the other levels: the slots at the last level that are just enough, and one less.
    """
    others = _combinations([min(slots, -(-need // work)) for work in works[:-1]], slots)
    if others is None:
        return None
    left = need - integer_product(others.astype(object), np.array(works[:-1], dtype=object))
    enough = np.array([max(0, min(-(-work // works[-1]), slots + 1)) for work in left.tolist()], dtype=np.int64)
    room = slots - others.sum(axis=1)
    below = np.minimum(enough - 1, room)
    return (
        np.column_stack([others, enough])[enough <= room],
        np.column_stack([others, below])[enough > 0],
    )


def _combinations(most: list[int], slots: int) -> Counts | None:
    """Return the numbers of slots by level, at most `most` each and `slots` together; None where they are too many."""
    if math.prod(n + 1 for n in most) > _MOST:
        return None
    grid = np.indices([n + 1 for n in most]).reshape(len(most), math.prod(n + 1 for n in most)).T
    within: Counts = grid[grid.sum(axis=1) <= slots]
    return within


def _widest(complete: Counts, incomplete: Counts) -> list[float] | None:
    """Return weights that are at least 1 on complete numbers of slots and furthest below it on incomplete ones."""
    levels = incomplete.shape[1]
    above = np.column_stack([complete, np.zeros(len(complete))])
    below = np.column_stack([incomplete, np.ones(len(incomplete))])
    lp = Session(-1)
    lp.add_columns(np.append(np.zeros(levels), 1.0), np.ones(levels + 1), sp.csc_array((0, levels + 1)))
    lp.add_rows(np.ones(len(above)), np.full(len(above), np.inf), sp.csr_array(above))
    lp.add_rows(np.full(len(below), -np.inf), np.ones(len(below)), sp.csr_array(below))
    try:
        solved = lp.solve()
    except SolverError:  # the plain shares are right, if harder for a solver
        return None
    if solved is None:
        return None
    weights = solved[1][:levels]
    sums = [1.0, *dot(complete, weights).tolist()]
    return [min(1.0, weight / min(sums)) for weight in weights.tolist()]
