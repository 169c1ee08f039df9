"""The linear relaxation of the external one-slot problem (23)-(26), with the row for the servers that the print lacks.

Variables w_h, s_h >= 0; alpha w_h + beta s_h <= C^_h in every resource (24); sum w <= F (25); sum w >= v kappa_E (26);
sum s >= v kappa_E / gamma, absent in print, without which the optimum has no server. In the thesis (3.22)-(3.25).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dlsched.algorithms.pd_ors.market import Market
from dlsched.algorithms.pd_ors.occupancy import Floats
from dlsched.arguments import checked
from dlsched.solvers.builder import Builder
from dlsched.solvers.optimal import solve_to_optimality

_FITS = 1e-12


@dataclass(frozen=True, slots=True, eq=False)
class Relaxed:
    """An optimum of the relaxation.

    Attributes
    ----------
    value : float
    workers, servers : float array (machines,)
    """

    value: float
    workers: Floats
    servers: Floats


@checked
def external_lp(
    market: Market, workers: float, servers: float, *, most: float = np.inf, whole_units: bool = True
) -> Relaxed | None:
    """Solve the relaxation in a market of one slot; None if it is infeasible.

    Parameters
    ----------
    market : Market
    workers : float
        Right-hand side of (26).
    servers : float
        Right-hand side of the servers' row; 0 as printed.
    most : float
        F (25).
    whole_units : bool
        Fix at 0 what has no room for one unit, as no integer point has one there. Not in print.

    Raises
    ------
    SolverError
        If no solver decides the program.

    Notes
    -----
    Each kind fills the cheapest machines first; where that breaks no row, it is optimal, and no solver is needed.
    """
    if workers > most:
        return None
    room = market.room[0].astype(float)
    top = np.stack([_limits(room, market.worker), _limits(room, market.server)])
    if whole_units:
        top[0, market.fitting_workers()[0] == 0] = 0.0
        top[1, market.fitting_servers()[0] == 0] = 0.0
    price = np.stack([market.worker_price[0], market.server_price[0]])
    filled = np.stack([_fill(price[k], top[k], need) for k, need in enumerate((workers, servers))])
    if np.isnan(filled).any():
        return None
    alpha, beta = market.worker.astype(float), market.server.astype(float)
    used = filled[0][:, None] * alpha + filled[1][:, None] * beta
    if (used <= room * (1 + _FITS)).all():
        return Relaxed(float((price * filled).sum()), filled[0], filled[1])
    return _by_solver(room, price, top, (workers, servers), (alpha, beta), most)


def _limits(room: Floats, need: np.ndarray) -> Floats:
    used = np.flatnonzero(need)
    if not len(used):
        return np.full(len(room), np.inf)
    limits: Floats = (room[:, used] / need[used].astype(float)).min(axis=1)
    return limits


def _fill(price: Floats, limits: Floats, need: float) -> Floats:
    """Return the cheapest way to place `need` units, each machine up to its limit; NaN if they do not fit."""
    order = np.argsort(price, kind="stable")
    ordered = np.minimum(limits[order], need)
    taken = np.clip(need - (np.cumsum(ordered) - ordered), 0.0, ordered)
    placed = np.zeros(len(price))
    placed[order] = taken
    return placed if taken.sum() >= need * (1 - _FITS) else np.full(len(price), np.nan)


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
