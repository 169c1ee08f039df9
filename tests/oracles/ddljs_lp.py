"""The configuration LP of one slot: one column for each embedding of a request that is feasible alone."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.optimize import linprog

from .ddljs_slot import CORRECTED, Option, Rules, Slot, options, use


def config_lp(slot: Slot, rules: Rules = CORRECTED) -> tuple[float, dict[str, list[tuple[float, Option]]]]:
    """Return the LP's value, and the weights of the embeddings of each request.

    Rows: each request has weights of at most 1; servers and links carry the weighted sum of what embeddings use. It is
    the convex hull of each request's embeddings, the tightest of the relaxations that treat requests one by one.
    """
    columns = [
        (n, option, use(slot, request, option, rules))
        for n, request in enumerate(slot.requests)
        for option in options(slot, request, rules)
    ]
    if not columns:
        return 0.0, {request.name: [] for request in slot.requests}
    limits: dict[Any, Any] = {("request", n): 1 for n in range(len(slot.requests))}
    limits |= {row: limit for _, _, used in columns for row, (_, limit) in used.items()}
    place = {row: i for i, row in enumerate(limits)}
    matrix = np.zeros((len(limits), len(columns)))
    for j, (n, _, used) in enumerate(columns):
        matrix[place["request", n], j] = 1
        for row, (amount, _) in used.items():
            matrix[place[row], j] = float(amount)
    profits = [float(slot.requests[n].profit[option.size]) for n, option, _ in columns]
    found = linprog(-np.array(profits), A_ub=matrix, b_ub=[float(x) for x in limits.values()])
    assert found.status == 0, found.message
    weights: dict[str, list[tuple[float, Option]]] = {request.name: [] for request in slot.requests}
    for x, (n, option, _) in zip(found.x, columns, strict=True):
        if x > 1e-9:
            weights[slot.requests[n].name].append((float(x), option))
    return -float(found.fun), weights
