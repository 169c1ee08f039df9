"""The LPs of ring embeddings, phases apart: ``python benchmarks/ddljs_lp.py --help``.

Two tables over first slots of the benchmark family (`dlsched.models.ddljs.presets.benchmark`), ring sizes up to 5. The
augmented LP with the largest ring of each job or with all, with caps and without: seconds to build the arrays and to
solve the way `AugmentedVne.solve` chooses; to pass them to HiGHS, and where asked for its dual simplex on them, with
the share of building and passing in all of that. The plain LP: its arrays, its Pyomo model, and where linopy is
installed the same matrix in linopy. One thread; ratios of times within one run travel better between machines than
times do.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from dlsched.models import compile_model
from dlsched.models.ddljs import RingProblem, slot_problem
from dlsched.models.ddljs.gvne import embedding_program
from dlsched.models.ddljs.presets import benchmark
from dlsched.relaxations import augmented_vne, plain_vne
from dlsched.solvers.highs import loaded

SIZES = [(20, 20), (50, 10), (50, 20)]
Result = TypeVar("Result")


def timed(work: Callable[[], Result]) -> tuple[float, Result]:
    """Return seconds and result."""
    start = time.perf_counter()
    result = work()
    return time.perf_counter() - start, result


def drawn(servers: int, jobs: int, tight: bool, seed: int) -> RingProblem:
    """Return the first slot of a benchmark instance."""
    return slot_problem(benchmark(np.random.default_rng(seed), servers=servers, jobs=jobs, tight=tight), 1)


def augmented(problem: RingProblem, every: bool, cap: bool, simplex: float) -> dict[str, Any]:
    """Build and solve the augmented LP; by dual simplex too where `simplex`, a limit in seconds, is positive."""
    sizes = None if every else {q.name: max(q.profit) for q in problem.requests}
    built, lp = timed(lambda: augmented_vne(problem, sizes=sizes, cap=cap))
    solved, solution = timed(lp.solve)
    passed, solver = timed(lambda: loaded(lp.matrix, presolve="off", solver="simplex", time_limit=simplex))
    row = {"rings": "all" if every else "largest", "cap": cap, "rows": lp.matrix.A.shape[0]}
    row |= {"columns": lp.matrix.A.shape[1], "build": built, "pass": passed, "solve": solved}
    row |= {"method": solution.method, "value": solution.value, "residual": max(lp.certify(solution).values())}
    if simplex > 0:
        row["simplex"] = timed(solver.run)[0]
        row["simplex value"] = float(solver.getInfo().objective_function_value)
        row["simplex done"] = solver.modelStatusToString(solver.getModelStatus()) == "Optimal"
    return row


def plain(problem: RingProblem, repeats: int) -> dict[str, Any]:
    """Build the plain LP in several ways; medians of several runs."""
    ways: dict[str, Callable[[], Any]] = {
        "arrays": lambda: plain_vne(problem),
        "pyomo": lambda: embedding_program(problem),
        "pyomo compiled": lambda: compile_model(embedding_program(problem)),
    }
    if importlib.util.find_spec("linopy") is not None:
        from ddljs_linopy import linopy_model

        ways["linopy"] = lambda: linopy_model(problem)
        ways["linopy compiled"] = lambda: linopy_model(problem).matrices.A
    for build in ways.values():
        build()
    row: dict[str, Any] = {name: statistics.median(timed(way)[0] for _ in range(repeats)) for name, way in ways.items()}
    row["shape"] = compile_model(embedding_program(problem)).A.shape
    return row


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--repeats", type=int, default=3, help="runs of each way to build the plain LP")
    parser.add_argument("--simplex", type=float, default=0.0, help="also by dual simplex, at most so many seconds each")
    parser.add_argument("--out", type=Path, help="JSON file for all rows")
    options = parser.parse_args()
    rows: dict[str, list[dict[str, Any]]] = {"augmented": [], "plain": []}
    print(
        "servers jobs tight rings   cap     rows  columns  build  solve  whole method   residual  pass simplex, share"
    )
    for servers, jobs in SIZES:
        for tight in (False, True):
            for seed in range(options.seeds):
                problem = drawn(servers, jobs, tight, seed)
                about = {"servers": servers, "jobs": jobs, "tight": tight, "seed": seed}
                for every, cap in ((False, False), (False, True), (True, False), (True, True)):
                    row = about | augmented(problem, every, cap, options.simplex)
                    rows["augmented"].append(row)
                    print(_line(row))
    linopy = importlib.util.find_spec("linopy") is not None
    print("\nplain LP, seconds to build" + ("" if linopy else "; linopy is not installed"))
    for servers, jobs in SIZES:
        row = {"servers": servers, "jobs": jobs} | plain(drawn(servers, jobs, False, 0), options.repeats)
        rows["plain"].append(row)
        print(
            " ".join(
                f"{name} {part:.3f}" if isinstance(part, float) else f"{name} {part}" for name, part in row.items()
            )
        )
        if linopy:
            arrays = row["arrays"] / row["linopy compiled"]
            print(f"  pyomo / linopy {row['pyomo'] / row['linopy']:.2f}, arrays / linopy compiled {arrays:.2f}")
    if options.out:
        options.out.parent.mkdir(parents=True, exist_ok=True)
        options.out.write_text(json.dumps(rows, indent=1))


def _line(row: dict[str, Any]) -> str:
    before, whole = row["build"] + row["pass"], row["build"] + row["solve"]
    simplex = "-"
    if "simplex" in row:
        simplex = (
            f"{row['simplex']:.2f}{'' if row['simplex done'] else ' (limit)'}, {before / (before + row['simplex']):.0%}"
        )
    return (
        f"{row['servers']:7} {row['jobs']:4} {row['tight']!s:5} {row['rings']:7} {row['cap']!s:5} {row['rows']:6} "
        f"{row['columns']:8} {row['build']:6.2f} {row['solve']:6.2f} {whole:6.2f} {row['method']:8} "
        f"{row['residual']:8.0e} {row['pass']:5.2f} {simplex}"
    )


if __name__ == "__main__":
    main()
