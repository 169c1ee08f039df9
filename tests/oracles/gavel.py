"""Gavel's max-min fairness from its definition, with scipy's copy of HiGHS: independent of the project's solvers.

Instances are JSON data. Everything is dense and in floats.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy.optimize import linprog

Data = Mapping[str, Any]


class Policy:
    """The program of some jobs: rows of normalised throughputs over the parts of time by (job, type)."""

    def __init__(self, instance: Data, isolated: bool = False, weights: Mapping[str, float] | None = None) -> None:
        self.types = list(instance["device_types"])
        self.capacity = np.array(
            [sum(machine["devices"].get(r, 0) for machine in instance["machines"]) for r in self.types], dtype=float
        )
        self.jobs = list(instance["jobs"])
        n, m = len(self.jobs), len(self.types)
        self.gang = np.array([job["gang"] for job in self.jobs], dtype=float)
        rates = np.array([[float(job["rate"].get(r, 0)) for r in self.types] for job in self.jobs]).reshape(n, m)
        throughput = rates * self.gang[:, None]
        if isolated:
            alone = self.capacity / n / self.gang[:, None]
            alone = alone / np.maximum(alone.sum(axis=1), 1.0)[:, None]
        else:
            alone = np.tile(self.capacity / self.capacity.sum(), (n, 1))
        normaliser = (throughput * alone).sum(axis=1)
        weight = np.array([(weights or {}).get(job["name"], 1.0) for job in self.jobs])
        self.able = ((rates > 0) & (self.capacity >= self.gang[:, None])).any(axis=1)
        scale = np.divide(self.gang, weight * normaliser, out=np.zeros(n), where=normaliser > 0)
        self.worth = throughput * scale[:, None]
        self.allowed = (rates > 0) & (self.capacity >= self.gang[:, None])

    def levels(self, shares: Mapping[str, Mapping[str, float]]) -> dict[str, float]:
        """Return the normalised throughputs of the jobs that can run, and check that the shares can be given."""
        y = np.array([[shares.get(job["name"], {}).get(r, 0.0) for r in self.types] for job in self.jobs])
        assert (y >= 0).all()
        assert (y.sum(axis=1) <= 1 + 1e-7).all()
        assert ((y * self.gang[:, None]).sum(axis=0) <= self.capacity + 1e-6).all()
        assert not y[~self.allowed].any()
        found = (y * self.worth).sum(axis=1)
        return {job["name"]: float(found[i]) for i, job in enumerate(self.jobs) if self.able[i]}

    def best(self, floors: Mapping[str, float], raised: set[str]) -> float:
        """Return the greatest common level of some jobs where others keep theirs."""
        n, m = self.worth.shape
        rows, sides = [], []
        for i, job in enumerate(self.jobs):
            row = np.zeros((n, m))
            row[i] = 1.0
            rows.append(np.append(row, 0.0))
            sides.append(1.0)
            if job["name"] in floors or job["name"] in raised:
                row = np.zeros((n, m))
                row[i] = -self.worth[i]
                rows.append(np.append(row, 1.0 if job["name"] in raised else 0.0))
                sides.append(0.0 if job["name"] in raised else -floors[job["name"]])
        for k in range(m):
            row = np.zeros((n, m))
            row[:, k] = self.gang
            rows.append(np.append(row, 0.0))
            sides.append(self.capacity[k])
        bounds = [(0.0, None if allowed else 0.0) for allowed in self.allowed.ravel()] + [(0.0, None)]
        found = linprog(np.append(np.zeros(n * m), -1.0), A_ub=np.array(rows), b_ub=sides, bounds=bounds)
        assert found.status == 0, found.message
        return -float(found.fun)
