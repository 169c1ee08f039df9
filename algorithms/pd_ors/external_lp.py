"""The linear relaxation of the external one-slot problem (23)-(28), and its optimum.

A state is a slot and n workers; n = ceil(v kappa_E) stands for v kappa_E in (26), as workers are whole.

w_h, s_h >= 0; alpha w_h + beta s_h <= C^_h in every resource (24); sum w <= F (25); sum w >= v kappa_E (26); sum s >=
v kappa_E / gamma, which is (2), a constraint of the model that (23)-(26) forget: without it the optimum has no server,
and nothing is ever placed. In the thesis (3.22)-(3.25).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dlsched.algorithms.pd_ors.market import Floats, Market
from dlsched.arguments import checked
from dlsched.solvers.builder import Builder
from dlsched.solvers.solve import solve_to_optimality
from dlsched.tolerances import ROUNDING

Bools = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class Relaxed:
    """An optimum of the relaxation.

    Attributes
    ----------
    value : float
    workers, servers : float array (machines,)

    Examples
    --------
    >>> from dlsched.algorithms import pd_ors
    >>> from dlsched.models import dmlrs
    >>> instance = dmlrs.random(0)
    >>> occupancy = pd_ors.Occupancy(instance, pd_ors.constants(instance))
    >>> view = pd_ors.market(occupancy, instance.job("job3"), last=3).row(0)
    >>> found = pd_ors.external_lp(view, workers=2.0, servers=1.0)
    >>> found.workers.tolist(), found.servers.tolist()
    ([2.0, 0.0], [1.0, 0.0])
    """

    value: float
    workers: Floats
    servers: Floats


@checked
def external_lp(
    market: Market,
    workers: float,
    servers: float,
    *,
    most: float = np.inf,
    whole_units: bool = True,
    even: bool = False,
) -> Relaxed | None:
    """Solve the relaxation in a market of one slot; None if it is infeasible.

    Parameters
    ----------
    market : Market
    workers : float
        Right-hand side of (26).
    servers : float
        Right-hand side of the servers' row; 0 without it.
    most : float
        F (25).
    whole_units : bool
        Fix at 0 what has no room for one unit, as no integer point has one there. Not in print.
    even : bool
        Return the optimum that treats machines of the same prices and room alike, where there are several.

    Raises
    ------
    SolverError
        If no solver decides the program.

    Notes
    -----
    Each kind fills the cheapest machines first; where that breaks no row, it is optimal, and no solver is needed.

    Examples
    --------
    >>> from dlsched.algorithms import pd_ors
    >>> from dlsched.models import dmlrs
    >>> instance = dmlrs.random(0)
    >>> occupancy = pd_ors.Occupancy(instance, pd_ors.constants(instance))
    >>> view = pd_ors.market(occupancy, instance.job("job3"), last=3).row(0)
    >>> round(pd_ors.external_lp(view, workers=2.0, servers=1.0).value, 3)
    0.295
    >>> pd_ors.external_lp(view, workers=1e3, servers=1e3) is None
    True
    """
    if workers > most:
        return None
    room = market.room[0].astype(float)
    top = most_units(market)
    if whole_units:
        top[homeless(market)] = 0.0
    price = np.stack([market.worker_price[0], market.server_price[0]])
    units = market.worker.astype(float), market.server.astype(float)
    if not even:
        return _optimum(room, price, top, (workers, servers), units, most)
    # Of machines that are alike the mean of their parts costs and covers the same, and fits: one machine stands for all
    _, first, kind, count = np.unique(
        np.column_stack([price.T, room]), axis=0, return_index=True, return_inverse=True, return_counts=True
    )
    found = _optimum(
        room[first] * count[:, None], price[:, first], top[:, first] * count, (workers, servers), units, most
    )
    if found is None:
        return None
    return Relaxed(found.value, (found.workers / count)[kind], (found.servers / count)[kind])


def _optimum(
    room: Floats, price: Floats, top: Floats, needs: tuple[float, float], units: tuple[Floats, Floats], most: float
) -> Relaxed | None:
    filled = np.stack([_fill(price[k], top[k], need) for k, need in enumerate(needs)])
    if np.isnan(filled).any():
        return None
    used = filled[0][:, None] * units[0] + filled[1][:, None] * units[1]
    if (used <= room * (1 + ROUNDING)).all():
        return Relaxed(float((price * filled).sum()), filled[0], filled[1])
    return _by_solver(room, price, top, needs, units, most)


def most_units(market: Market) -> Floats:
    """Return how many workers, and servers, fit on each machine, in fractions; shape (2, machines)."""
    room = market.room[0].astype(float)
    limits = np.full((2, len(room)), np.inf)
    for k, need in enumerate((market.worker, market.server)):
        used = np.flatnonzero(need)
        limits[k] = (room[:, used] / need[used].astype(float)).min(axis=1, initial=np.inf)
    return limits


def homeless(market: Market) -> Bools:
    """Tell where not a single worker, or server, fits on a machine; shape (2, machines)."""
    result: Bools = np.stack([market.fitting_workers()[0], market.fitting_servers()[0]]) == 0
    return result


def _fill(price: Floats, limits: Floats, need: float) -> Floats:
    """Return the cheapest way to place `need` units, each machine up to its limit; NaN if they do not fit."""
    order = np.argsort(price, kind="stable")
    ordered = np.minimum(limits[order], need)
    taken = np.clip(need - (np.cumsum(ordered) - ordered), 0.0, ordered)
    placed = np.zeros(len(price))
    placed[order] = taken
    return placed if taken.sum() >= need * (1 - ROUNDING) else np.full(len(price), np.nan)


def _by_solver(
    room: Floats, price: Floats, top: Floats, needs: tuple[float, float], units: tuple[Floats, Floats], most: float
) -> Relaxed | None:
    """Return an optimum over all w_h, then all s_h; rows that only one of a machine's two is in are bounds."""
    both = np.flatnonzero((units[0] > 0) & (units[1] > 0))
    size = np.maximum(units[0], units[1])[both]
    program = Builder(1)
    x = program.columns(top, cost=price)
    packing = program.rows(upper=room[:, both] / size)
    for placed, unit in zip(x, units, strict=True):
        program.add(packing, placed[:, None], unit[both] / size)
    program.add(program.rows(needs, [most, np.inf])[:, None], x, 1.0)
    found = solve_to_optimality(program.matrix())
    if found is None:
        return None
    point = np.maximum(found.x, 0.0).reshape(x.shape)
    return Relaxed(float((price * point).sum()), point[0], point[1])
