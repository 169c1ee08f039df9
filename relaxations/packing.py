"""Packing into identical bins: bundles that must stay together, and units that may be split over bins.

Bins have a capacity of each of R resources. Best fit is tried in several orders; where it fails, a feasibility program
decides, within a limit on nodes.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

import numpy as np
import numpy.typing as npt

from dlsched.arithmetic import dot, integer_product
from dlsched.halt import poll, polled
from dlsched.solvers.builder import Builder
from dlsched.solvers.matrix import Floats
from dlsched.solvers.solution import ResidualError, Status
from dlsched.solvers.solve import solve_matrix
from dlsched.tolerances import ROUNDING

Integers = npt.NDArray[np.int64]
_ORDERS = 12
"""Weightings of the resources that are tried, the first by how scarce they are; arbitrary."""


class Outcome(Enum):
    """What is known of a packing."""

    PACKED = "packed"
    IMPOSSIBLE = "impossible"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True, eq=False)
class Packing:
    """A packing, or why there is none.

    Attributes
    ----------
    outcome : Outcome
        `IMPOSSIBLE` only where the feasibility program, or the sum of the needs, says so.
    bins : ndarray of int, shape (bundles,)
        Which bin holds each bundle; empty unless packed.
    split : ndarray of int, shape (kinds of units, bins)
        How many units of each kind each bin holds; empty unless packed.
    """

    outcome: Outcome
    bins: Integers
    split: Integers


def pack(
    bundles: Integers,
    units: Integers,
    counts: Integers,
    capacity: Integers,
    bins: int,
    *,
    apart: Integers | None = None,
    seed: int = 0,
    nodes: int = 2_000,
) -> Packing:
    """Pack bundles and units into identical bins.

    Parameters
    ----------
    bundles : ndarray of int, shape (B, R)
        Needs of each bundle.
    units : ndarray of int, shape (K, R)
        Needs of one unit of each kind.
    counts : ndarray of int, shape (K,)
        Units of each kind.
    capacity : ndarray of int, shape (R,)
    bins : int
    apart : ndarray of int, shape (K,), optional
        The bundle in whose bin no unit of the kind may be; -1 for none.
    seed : int
        Of the orders that are tried.
    nodes : int
        Of the feasibility program's tree, at most; 0 to leave it out.
    """
    none = np.zeros((0,), dtype=np.int64)
    apart = np.full(len(units), -1) if apart is None else apart
    needed = bundles.sum(axis=0) + integer_product(counts, units)
    if (needed > bins * capacity).any():
        return Packing(Outcome.IMPOSSIBLE, none, none)
    rng = np.random.default_rng(seed)
    use = needed / np.maximum(1, bins * capacity)
    for order in range(_ORDERS):
        weight = use * rng.uniform(0.5, 1.5, size=len(use)) if order else use
        for heuristic in (_best_fit, _fill):
            found = heuristic(bundles, units, counts, capacity, bins, apart, weight / np.maximum(1, capacity))
            if found is not None:
                return Packing(Outcome.PACKED, *found)
    if nodes == 0:
        return Packing(Outcome.UNKNOWN, none, none)
    return _search(bundles, units, counts, capacity, bins, apart, nodes)


def _best_fit(
    bundles: Integers, units: Integers, counts: Integers, capacity: Integers, bins: int, apart: Integers, weight: Floats
) -> tuple[Integers, Integers] | None:
    """Place the largest first, each where the least room is left."""
    room = np.tile(capacity, (bins, 1))
    placed = np.zeros(len(bundles), dtype=np.int64)
    split = np.zeros((len(units), bins), dtype=np.int64)
    for b in polled(np.argsort(-dot(bundles, weight), kind="stable")):
        fits = (room >= bundles[b]).all(axis=1)
        if not fits.any():
            return None
        chosen = int(np.where(fits, dot(room, weight), np.inf).argmin())
        room[chosen] -= bundles[b]
        placed[b] = chosen
    for k in np.argsort(-dot(units, weight), kind="stable"):
        needs = units[k] > 0
        left = int(counts[k])
        if not needs.any():
            free = next((h for h in range(bins) if apart[k] < 0 or h != placed[apart[k]]), None)
            if free is None:
                return None
            split[k, free], left = left, 0
        while left:
            poll()
            fits = (room[:, needs] // units[k][needs]).min(axis=1)
            if apart[k] >= 0:
                fits[placed[apart[k]]] = 0
            if not fits.any():
                return None
            chosen = int(np.where(fits > 0, dot(room, weight), np.inf).argmin())
            some = min(left, int(fits[chosen]))
            room[chosen] -= some * units[k]
            split[k, chosen] += some
            left -= some
    return placed, split


def _fill(
    bundles: Integers, units: Integers, counts: Integers, capacity: Integers, bins: int, apart: Integers, weight: Floats
) -> tuple[Integers, Integers] | None:
    """Fill one bin after the other, each time with the item that points most in the direction of the room left."""
    kinds = np.vstack([bundles, units])
    left = np.concatenate([np.ones(len(bundles), dtype=np.int64), counts])
    scaled = kinds * np.sqrt(weight / np.maximum(1, capacity))
    length = np.maximum(ROUNDING, np.sqrt((scaled * scaled).sum(axis=1)))
    placed = np.zeros(len(bundles), dtype=np.int64)
    split = np.zeros((len(units), bins), dtype=np.int64)
    apart = np.concatenate([np.full(len(bundles), -1), apart])
    placed[:] = -1
    for chosen in range(bins):
        room = capacity.copy()
        while True:
            poll()
            allowed = (apart < 0) | ((placed[apart] >= 0) & (placed[apart] != chosen)) if len(bundles) else apart < 0
            fits = np.flatnonzero(allowed & (left > 0) & (kinds <= room).all(axis=1))
            if not len(fits):
                break
            direction = dot(scaled[fits], room * np.sqrt(weight / np.maximum(1, capacity)))
            item = int(fits[(direction / np.sqrt(length[fits])).argmax()])
            room = room - kinds[item]
            left[item] -= 1
            if item < len(bundles):
                placed[item] = chosen
            else:
                split[item - len(bundles), chosen] += 1
    return None if left.any() else (placed, split)


def _search(
    bundles: Integers, units: Integers, counts: Integers, capacity: Integers, bins: int, apart: Integers, nodes: int
) -> Packing:
    """Decide by a feasibility program: binary x[b, bin], integer y[k, bin]."""
    b, k, r = len(bundles), len(units), len(capacity)
    total = np.concatenate([np.ones(b), counts.astype(float)])
    program = Builder(1)
    x = program.columns(np.broadcast_to(total[:, None], (b + k, bins)), integer=True)
    program.add(program.rows(total, total)[:, None], x, 1.0)
    room = program.rows(upper=np.broadcast_to(capacity[:, None], (r, bins)))
    program.add(room[:, None, :], x, np.vstack([bundles, units]).T[:, :, None])
    for kind, bundle in enumerate(apart.tolist()):
        if bundle >= 0 and counts[kind]:
            conflict = program.rows(upper=np.full(bins, counts[kind]))
            program.add(conflict, x[b + kind], 1.0)
            program.add(conflict, x[bundle], counts[kind])
    none = np.zeros((0,), dtype=np.int64)
    try:
        raw = solve_matrix(program.matrix(), nodes=nodes, threads=1, seed=0)
    except ResidualError:
        return Packing(Outcome.UNKNOWN, none, none)
    if raw.x is None:
        impossible = raw.summary.status is Status.INFEASIBLE
        return Packing(Outcome.IMPOSSIBLE if impossible else Outcome.UNKNOWN, none, none)
    x = np.round(raw.x).astype(np.int64).reshape(b + k, bins)
    used = integer_product(np.vstack([bundles, units]).T, x)
    if (used > capacity[:, None]).any() or (x.sum(axis=1) != total).any():
        return Packing(Outcome.UNKNOWN, none, none)
    return Packing(Outcome.PACKED, x[:b].argmax(axis=1), x[b:])
