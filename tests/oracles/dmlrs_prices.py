"""PD-ORS with an exhaustive subproblem on plain JSON (journal): the constants of (12)-(14) as repaired, and the run.

The repairs: U has the argument n - 1 with n = ceil(V kappa_I / F), over jobs that use the resource;
1/mu = min_i N_i / (T sum C). Prices are floats, everything before them is rational.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from .dmlrs_cheapest import Cell, cheapest_plan
from .dmlrs_rules import Data, needs, rational, work, worker_time, worth


@dataclass(frozen=True, slots=True)
class Constants:
    """kappa (internal, external) and N by job, mu, L, U by resource, and the dual objective D0 of prices L."""

    kappa: dict[str, tuple[Fraction, Fraction]]
    external: dict[str, Fraction]
    mu: Fraction
    lowest: Fraction
    highest: dict[str, Fraction]
    start: Fraction


@dataclass(frozen=True, slots=True)
class Run:
    """Payoffs (0 or less: rejected), sum of utilities, final amounts and prices by cell, and the dual they leave."""

    payoffs: dict[str, float]
    value: Fraction
    amounts: dict[Cell, Fraction]
    prices: dict[Cell, float]
    dual: float


def constants(instance: Data) -> Constants:
    """Return the constants; every job has to need something and to be worth something at the horizon."""
    jobs, slots = instance["jobs"], int(instance["slots"])
    kappa = {
        job["name"]: (
            worker_time(job, rational(job["internal_rate"])),
            worker_time(job, rational(job["external_rate"])),
        )
        for job in jobs
    }
    external = {
        job["name"]: math.ceil(work(job) * kappa[job["name"]][1]) * sum(needs(job, 1, 1).values(), Fraction(0))
        for job in jobs
    }
    room = slots * sum((rational(c) for m in instance["machines"] for c in m["capacity"].values()), Fraction(0))
    mu = 1 / min(n / room for n in external.values())
    lowest = min(worth(job, slots - job["arrival"]) / external[job["name"]] for job in jobs) / (2 * mu)
    highest: dict[str, Fraction] = {}
    for job in jobs:
        n = math.ceil(work(job) * kappa[job["name"]][0] / rational(job["batch"]))
        for r, amount in needs(job, 1, 1).items():
            if amount:
                highest[r] = max(highest.get(r, Fraction(0)), worth(job, n - 1) / amount)
    return Constants(kappa, external, mu, lowest, highest, lowest * room)


def run(instance: Data) -> Run:
    """Offer the jobs in order of arrival; admit where the best payoff over all schedules is positive."""
    found, slots = constants(instance), int(instance["slots"])
    capacity = {
        (m["name"], r, t): rational(m["capacity"].get(r, 0))
        for m in instance["machines"]
        for r in instance["resources"]
        for t in range(1, slots + 1)
    }
    amounts = dict.fromkeys(capacity, Fraction(0))

    def prices() -> dict[Cell, float]:
        low = float(found.lowest)
        return {
            cell: low * (float(found.highest[cell[1]]) / low) ** float(amounts[cell] / capacity[cell])
            for cell in capacity
            if capacity[cell] and cell[1] in found.highest
        }

    payoffs: dict[str, float] = {}
    value = Fraction(0)
    for job in sorted(instance["jobs"], key=lambda job: int(job["arrival"])):
        now, residual = prices(), {cell: capacity[cell] - amounts[cell] for cell in capacity}
        best = None
        for deadline in range(job["arrival"], slots + 1):
            plan = cheapest_plan(instance, job, now, residual, deadline)
            if plan is not None:
                utility = worth(job, deadline - job["arrival"])
                if best is None or float(utility) - float(plan[0]) > best[0] + 1e-12:
                    best = float(utility) - float(plan[0]), plan[1]
        payoffs[job["name"]] = best[0] if best else 0.0
        if best and best[0] > 0:
            value += worth(job, max(best[1]) - job["arrival"])
            for t, placement in best[1].items():
                for h, counts in placement.items():
                    for r, amount in needs(job, *counts).items():
                        amounts[h, r, t] += amount
    final = prices()
    dual = sum(max(0.0, x) for x in payoffs.values()) + sum(
        price * float(capacity[cell]) for cell, price in final.items()
    )
    return Run(payoffs, value, amounts, final, dual)
