"""The linear relaxation of the external one-slot problem (23)-(26), with the row for the servers that the print lacks.

Variables w_h, s_h >= 0; alpha w_h + beta s_h <= C^_h in every resource (24); sum w <= F (25); sum w >= v kappa_E (26);
sum s >= v kappa_E / gamma, absent in print, without which the optimum has no server. In the thesis (3.22)-(3.25).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import csr_array, vstack

from dlsched.algorithms.pd_ors.market import Market
from dlsched.algorithms.pd_ors.occupancy import Floats

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
    machines = len(room)
    both = np.flatnonzero((units[0] > 0) & (units[1] > 0))
    size = np.maximum(units[0], units[1])[both]
    lines = np.arange(machines * len(both))
    packing = csr_array(
        (
            np.concatenate([np.tile(units[0][both] / size, machines), np.tile(units[1][both] / size, machines)]),
            (np.tile(lines, 2), np.concatenate([lines // len(both), machines + lines // len(both)])),
        ),
        shape=(len(lines), 2 * machines),
    )
    ones, none = np.ones(machines), np.zeros(machines)
    totals = [-np.concatenate([ones, none]), -np.concatenate([none, ones])]
    sides = [-needs[0], -needs[1]]
    if np.isfinite(most):
        totals.append(np.concatenate([ones, none]))
        sides.append(most)
    found = linprog(
        price.reshape(-1),
        A_ub=vstack([packing, csr_array(np.array(totals))], format="csr"),
        b_ub=np.concatenate([(room[:, both] / size).reshape(-1), sides]),
        bounds=np.column_stack([np.zeros(2 * machines), top.reshape(-1)]),
        method="highs",
    )
    if found.x is None or found.status != 0:
        return None
    point = found.x.reshape(2, machines)
    return Relaxed(float(found.fun), point[0], point[1])
