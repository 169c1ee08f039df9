"""Measure benchmarks, each task in a process of its own, resumably, and write the page of what was measured."""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
from pathlib import Path

from benchmarks import algorithms, exact
from benchmarks.benchmark import Benchmark, Row
from benchmarks.report import line, page
from dlsched.models.files import write_text

BENCHMARKS = {entry.name: entry for entry in (*exact.BENCHMARKS, *algorithms.BENCHMARKS)}

_GRACE = 120.0
"""Seconds beside the limit until a process is given up: building models that no limit ends. Arbitrary."""

Task = tuple[str, str, int]


def main() -> int:
    """Run the command and return its exit code."""
    options = _options()
    if options.one:
        name, way, seed = options.one
        print(json.dumps(measured(BENCHMARKS[name], way, int(seed), options.limit, options.data).dump()))
        return 0
    chosen = [entry for entry in BENCHMARKS.values() if _is_asked(entry.name, options.names)]
    if options.list:
        for entry in chosen:
            print(f"{entry.name:32} {entry.title}; {', '.join(entry.ways)}")
        return 0
    rows = _kept(options.out)
    for entry in chosen:
        if entry.data and not (options.data / entry.data).exists():
            print(f"{entry.name}: left out, {options.data / entry.data} is not there", file=sys.stderr)
            continue
        for task in entry.tasks(options.seeds):
            if task not in rows:
                row = _apart(task, entry.limit if options.limit is None else options.limit, options.data)
                if row is not None:
                    rows[task] = row
                    _keep(options.out, row)
                    print(line(row), flush=True)
    if options.page:
        before = options.page.read_text(encoding="utf-8") if options.page.exists() else ""
        write_text(options.page, page(BENCHMARKS.values(), rows.values(), before))
    return 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help="'hadar/12', or the start of some; all where left out")
    parser.add_argument("--seeds", type=int, metavar="N", help="of each, from 0")
    parser.add_argument("--limit", type=float, metavar="S", help="seconds of a way on an instance")
    parser.add_argument("--out", type=Path, default=Path("build/bench.jsonl"), metavar="FILE", help="what was measured")
    parser.add_argument("--page", type=Path, metavar="FILE", help="write what was measured into a page")
    parser.add_argument("--data", type=Path, default=Path("../shared/data"), metavar="DIR", help="public data")
    parser.add_argument("--list", action="store_true", help="list the benchmarks, and measure none")
    parser.add_argument("--one", nargs=3, help=argparse.SUPPRESS)
    return parser.parse_args()


def _is_asked(name: str, names: list[str]) -> bool:
    return not names or any(name.startswith(asked) for asked in names)


def measured(entry: Benchmark, way: str, seed: int, limit: float | None, data: Path) -> Row:
    """Measure one way on one instance, in this process."""
    instance = entry.draw(seed, data / entry.data) if entry.data else entry.draw(seed)
    before = _cpu()
    outcome = entry.ways[way](instance, entry.limit if limit is None else limit)
    cpu = _cpu() - before
    return Row(entry.name, way, seed, outcome, cpu, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)


def _cpu() -> float:
    """Return the seconds of the processor so far, of this process and of those it has waited for."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in used)


def _apart(task: Task, limit: float, data: Path) -> Row | None:
    """Measure in a process of its own; None where it fails or takes far longer than its limit."""
    name, way, seed = task
    asked = ["--one", name, way, str(seed), "--limit", str(limit), "--data", str(data)]
    command = [sys.executable, "-m", "benchmarks", *asked]
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    try:
        run = subprocess.run(
            command, env=environment, check=True, stdout=subprocess.PIPE, text=True, timeout=limit + _GRACE
        )
    except (subprocess.TimeoutExpired, subprocess.CalledProcessError) as error:
        print(f"{name} {way} {seed}: {error}", file=sys.stderr)
        return None
    return Row.parse(json.loads(run.stdout.splitlines()[-1]))


def _kept(path: Path) -> dict[Task, Row]:
    """Return what a file has; a last line that a killed run did not end is measured again."""
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True) if path.exists() else []
    rows = [Row.parse(json.loads(line)) for line in lines if line.endswith("\n")]
    return {(row.benchmark, row.way, row.seed): row for row in rows}


def _keep(path: Path, row: Row) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps(row.dump()) + "\n")


if __name__ == "__main__":
    sys.exit(main())
