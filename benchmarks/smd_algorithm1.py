"""Algorithm 1 of the SMD paper by closed form, by warm linear programs and by Pyomo models built anew.

One synchronous job of the paper's ranges a seed. The three oracles search the same coarse grid in one run and agree on
what they find; then the closed form alone searches the grid of the paper's epsilon. Seconds include the ratios' bounds
and the grid. Ratios of times within one run travel better between machines than times do.
"""

from __future__ import annotations

import argparse
import itertools
import json
import resource
import statistics
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyomo.environ as pyo

from dlsched.models.ratio import Floats, FractionalSum, Ratio
from dlsched.models.smd import Job, preset, ratios
from dlsched.models.solve import solve
from dlsched.relaxations import LinearProgram, Planar, sum_of_ratios
from dlsched.relaxations.sweep import Sweep


class Rebuilt:
    """The oracle as a modelling language invites it: a Charnes-Cooper model for each grid point, built and solved."""

    def __init__(self, problem: FractionalSum) -> None:
        self._problem = problem

    def bounds(self) -> tuple[Floats, Floats]:
        """Return l_j and phi_j."""
        return Planar(self._problem).bounds()

    def sweep(self, last: int, grids: Sequence[Floats]) -> Sweep:
        """Solve a model for each combination of caps."""
        others = [ratio for j, ratio in enumerate(self._problem.ratios) if j != last]
        best = Sweep()
        for caps in itertools.product(*(grid.tolist() for grid in grids)):
            model = charnes_cooper(self._problem, last, list(zip(others, caps, strict=True)))
            if solve(model).objective is not None:
                x = np.array([y.value for y in model.y.values()]) / model.t.value
                best = best.joined(Sweep(sum(caps) + pyo.value(model.ratio), x, 1))
        return best


def charnes_cooper(problem: FractionalSum, last: int, caps: list[tuple[Ratio, float]]) -> Any:
    region, target = problem.polytope, problem.ratios[last]
    model = pyo.ConcreteModel()
    model.y = pyo.Var(range(len(region.lower)))
    model.t = pyo.Var(domain=pyo.NonNegativeReals)

    def linear(coefficients: Floats, constant: float) -> Any:
        return sum(a * model.y[i] for i, a in enumerate(coefficients.tolist()) if a) + constant * model.t

    model.ratio = pyo.Objective(expr=linear(target.numerator, target.numerator_constant))
    model.unit = pyo.Constraint(expr=linear(target.denominator, target.denominator_constant) == 1)
    model.lower = pyo.Constraint(model.y.index_set(), rule=lambda m, i: m.y[i] >= region.lower[i] * m.t)
    model.limit = pyo.Constraint(
        range(len(region.A)), rule=lambda m, r: linear(region.A[r], 0.0) <= region.row_upper[r] * m.t
    )
    model.cap = pyo.Constraint(
        range(len(caps)),
        rule=lambda m, k: (
            linear(caps[k][0].numerator, caps[k][0].numerator_constant)
            <= caps[k][1] * linear(caps[k][0].denominator, caps[k][0].denominator_constant)
        ),
    )
    return model


ORACLES = {"closed form": Planar, "warm programs": LinearProgram, "rebuilt in Pyomo": Rebuilt}


def measure(job: Job, oracle: str, epsilon: float, repeat: int) -> dict[str, Any]:
    """Search a grid a few times and return what was found with the median of the seconds."""
    problem, seconds = ratios(job), []
    for _ in range(repeat):
        start = time.perf_counter()
        found = sum_of_ratios(problem, epsilon=epsilon, oracle=ORACLES[oracle])
        seconds.append(time.perf_counter() - start)
    return {
        "oracle": oracle,
        "epsilon": epsilon,
        "points": found.points,
        "feasible": found.feasible,
        "cost": found.cost,
        "seconds": statistics.median(seconds),
        "microseconds a point": 1e6 * statistics.median(seconds) / found.points,
    }


def largest_job(seed: int) -> Job:
    """Return the job of the paper's ranges that may have the most workers and servers."""
    return max(preset("paper", seed, jobs=20).jobs, key=lambda job: min(job.most_workers, job.most_servers))


def line(row: dict[str, Any]) -> str:
    return (
        f"seed {row['seed']}  epsilon {row['epsilon']:<5} {row['oracle']:<17} {row['points']:>7} points "
        f"{row['feasible']:>7} feasible  cost {row['cost']:.6g}  {row['seconds']:9.4f} s  "
        f"{row['microseconds a point']:10.2f} us a point"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", nargs="+", type=int, default=[0, 1, 2])
    parser.add_argument("--coarse", type=float, default=0.1, help="epsilon of the grid that all oracles search")
    parser.add_argument("--fine", type=float, default=0.01, help="epsilon of the grid for the closed form")
    parser.add_argument("--out", type=Path, help="write the rows as JSON to this file")
    options = parser.parse_args()
    rows = []
    for seed in options.seeds:
        job = largest_job(seed)
        tasks = [("closed form", options.coarse, 5), ("warm programs", options.coarse, 1)]
        tasks += [("rebuilt in Pyomo", options.coarse, 1), ("closed form", options.fine, 5)]
        mine = [{"seed": seed, "job": job.name} | measure(job, *task) for task in tasks]
        for row in mine:
            row["times the closed form"] = row["microseconds a point"] / mine[0]["microseconds a point"]
            print(line(row), flush=True)
        if max(abs(row["cost"] / mine[0]["cost"] - 1) for row in mine[:3]) > 1e-6:
            raise RuntimeError("the oracles disagree")
        rows += mine
    print()
    for oracle in list(ORACLES)[1:]:
        times = [row["times the closed form"] for row in rows if row["oracle"] == oracle]
        print(f"{oracle}: {min(times):.0f} to {max(times):.0f} times the closed form, the same grid")
    fine = [row["seconds"] for row in rows if row["epsilon"] == options.fine]
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"epsilon {options.fine}: {max(fine):.3f} s at most (aim 1 s); peak memory {memory:.0f} MB")
    if options.out:
        options.out.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
