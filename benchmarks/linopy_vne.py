"""The plain LP of G-VNE in linopy, as one would write it there: one array of variables for each symbol of the paper."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from dlsched.models.ddljs import RingProblem
from dlsched.relaxations.ring_copies import blocks


def linopy_model(problem: RingProblem) -> Any:
    """Return the LP relaxation of (12)-(19) as a linopy model, for one resource, links of one arc and no placement."""
    import linopy
    import pandas as pd
    import xarray as xr

    substrate, rings = blocks(problem, None)
    size = np.array([ring.size for ring in rings])
    r, a = pd.RangeIndex(len(rings), name="r"), pd.RangeIndex(int(size.max()), name="a")
    u, e = pd.RangeIndex(len(substrate.names), name="u"), pd.RangeIndex(len(substrate.tail), name="e")
    hosts, usable = np.zeros((len(r), len(u)), dtype=bool), np.zeros((len(r), len(e)), dtype=bool)
    for n, ring in enumerate(rings):
        hosts[n, ring.hosts[0]], usable[n, ring.arcs] = True, True
    here = np.arange(len(a)) < size[:, None]
    edge = here & (size > 1)[:, None]

    def over_rings(values: list[float]) -> Any:
        return xr.DataArray(values, coords=[r])

    model = linopy.Model()
    rho = model.add_variables(0, 1, coords=[pd.RangeIndex(len(problem.requests), name="i")], name="rho")
    chi = model.add_variables(0, coords=[r], name="chi")
    at = xr.DataArray(here[:, :, None] & hosts[:, None, :], coords=[r, a, u])
    varrho = model.add_variables(0, coords=[r, a, u], mask=at, name="varrho")
    on = xr.DataArray(edge[:, :, None] & usable[:, None, :], coords=[r, a, e])
    theta = model.add_variables(0, coords=[r, a, e], mask=on, name="theta")
    owner = xr.DataArray([ring.number for ring in rings], coords=[r], name="i")
    tail, head = (xr.DataArray(ends, coords=[e], name="u") for ends in (substrate.tail, substrate.head))
    follows = xr.DataArray((np.arange(len(a)) + 1) % size[:, None], coords=[r, a])
    labels = varrho.labels.sel(r=xr.DataArray(r, coords=[r]), a=follows).drop_vars("a").assign_coords(a=a)
    labels = labels.transpose("r", "a", "u")
    bounds = {"lower": xr.zeros_like(labels, dtype=float), "upper": xr.full_like(labels, np.inf, dtype=float)}
    after = linopy.variables.Variable(xr.Dataset({"labels": labels, **bounds}), model, "after")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.add_constraints((1 * chi).groupby(owner).sum() - rho == 0, name="size")
        model.add_constraints(varrho.sum("u") - chi == 0, mask=xr.DataArray(here, coords=[r, a]), name="placed")
        leaving = (1 * theta).groupby(tail).sum() - (1 * theta).groupby(head).sum()
        model.add_constraints(leaving - varrho + after == 0, mask=xr.DataArray(edge, coords=[r, a]), name="flow")
        used = (over_rings([ring.demand[0] for ring in rings]) * varrho).sum(["r", "a"])
        capacity = xr.DataArray(substrate.capacity[:, 0], coords=[u])
        model.add_constraints(used <= capacity, mask=xr.DataArray(hosts.any(0), coords=[u]), name="node")
        carried = (over_rings([ring.bandwidth for ring in rings]) * theta).sum(["r", "a"])
        model.add_constraints(carried <= xr.DataArray(substrate.bandwidth, coords=[e]), name="link")
        model.add_objective((over_rings([ring.profit for ring in rings]) * chi).sum(), sense="max")
    return model
