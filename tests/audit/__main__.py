"""The audit as a command: ``python -m tests.audit``.

Runs every family's cases on all cores, shows progress, keeps results in a file from which the next call goes on, and
ends with a table and exit code 1 where there are faults. ``--case FAMILY SEED`` prints one case and runs it alone.
"""

from __future__ import annotations

import argparse
import json
import os
import queue
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from itertools import islice
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.progress import Progress as Bar
from rich.table import Table

from tests.audit.families import FAMILIES, case, count, seconds
from tests.audit.progress import Progress
from tests.audit.worker import Result, Worker, dump, run

Key = tuple[str, int]

_SHOWN = 12


def main() -> int:
    """Run the command and return its exit code."""
    options = _options()
    if options.case:
        return _one(options.case[0], int(options.case[1]), options.json)
    chosen = [name for name in FAMILIES if not options.families or any(name.startswith(f) for f in options.families)]
    keys = [
        (family, options.first + n)
        for n in range(options.cases)
        for family in chosen
        if n < count(family, options.cases)
    ]
    with Progress(options.out) as progress:
        done = progress.done()
        for result in _watched([key for key in keys if key not in done], len(keys), options.jobs):
            progress.add(result)
        wanted = set(keys)
        results = [result for result in progress.results() if (result.family, result.seed) in wanted]
    faulty = [result for result in results if result.faults]
    if options.json:
        print(json.dumps(_document(results), indent=1))
    else:
        _print(results)
    return 1 if faulty else 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.audit", description=__doc__.splitlines()[0])
    parser.add_argument("families", nargs="*", metavar="FAMILY", help=f"or the start of one: {', '.join(FAMILIES)}")
    parser.add_argument(
        "--cases", type=int, default=10_000, metavar="N", help="of each family (10000), of floats a tenth"
    )
    parser.add_argument("--first", type=int, default=0, metavar="SEED", help="the first seed (0)")
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)), metavar="N", help="processes")
    parser.add_argument("--out", type=Path, default=Path("build/audit.sqlite"), metavar="FILE", help="results")
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    parser.add_argument("--case", nargs=2, metavar=("FAMILY", "SEED"), help="print one case, and run it here")
    return parser.parse_args()


def _one(family: str, seed: int, as_json: bool) -> int:
    made = case(family, seed)
    title, faults = run(lambda: made)
    shown: dict[str, Any] = {"family": family, "seed": seed, "title": title, "case": made.shown}
    shown["faults"] = [{"kind": fault.kind, "message": fault.message} for fault in faults]
    if as_json:
        print(json.dumps(shown, indent=1))
    else:
        for name, value in shown.items():
            print(f"{name}: {value if isinstance(value, str | int) else json.dumps(value, indent=1)}")
    return 1 if faults else 0


def _watched(keys: list[Key], total: int, jobs: int) -> Iterator[Result]:
    """Yield results as they come, and show how many there are."""
    columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn()
    faults = 0
    with Bar(*columns, TimeElapsedColumn(), TimeRemainingColumn(), console=Console(stderr=True)) as bar:
        task = bar.add_task("audit", total=total, completed=total - len(keys))
        for result in _concurrent(keys, jobs):
            faults += bool(result.faults)
            bar.update(task, advance=1, description=f"audit, {faults} with faults" if faults else "audit")
            yield result


def _concurrent(keys: Iterable[Key], jobs: int) -> Iterator[Result]:
    idle: queue.SimpleQueue[Worker] = queue.SimpleQueue()
    workers = [Worker() for _ in range(jobs)]
    for worker in workers:
        idle.put(worker)

    def check(key: Key) -> Result:
        worker = idle.get()
        try:
            return worker.check(*key, seconds(key[0]))
        finally:
            idle.put(worker)

    left, waiting = iter(keys), set[Future[Result]]()
    with ThreadPoolExecutor(jobs) as pool:
        try:
            while True:
                waiting |= {pool.submit(check, key) for key in islice(left, 2 * jobs - len(waiting))}
                if not waiting:
                    return
                finished, waiting = wait(waiting, return_when=FIRST_COMPLETED)
                yield from (future.result() for future in finished)
        finally:
            pool.shutdown(wait=False, cancel_futures=True)
            for worker in workers:
                worker.stop()


def _document(results: list[Result]) -> dict[str, Any]:
    """Return counts by family, and every result with faults."""
    counts = Counter(result.family for result in results)
    return {
        "cases": dict(counts),
        "faults": {family: dict(kinds) for family, kinds in _kinds(results).items()},
        "failing": [dump(result) for result in results if result.faults],
    }


def _kinds(results: list[Result]) -> dict[str, Counter[str]]:
    """Return how many cases of each family show each kind of fault."""
    found = {result.family: Counter[str]() for result in results}
    for result in results:
        found[result.family].update({fault.kind for fault in result.faults})
    return found


def _print(results: list[Result]) -> None:
    table = Table(title="Audit")
    for column in ("family", "cases", "with faults", "kinds", "slowest, s", "failing seeds"):
        table.add_column(column)
    kinds = _kinds(results)
    for family in kinds:
        own = [result for result in results if result.family == family]
        failing = [str(result.seed) for result in own if result.faults]
        more = f" and {len(failing) - _SHOWN} more" if len(failing) > _SHOWN else ""
        slowest = max(result.seconds for result in own)
        told = ", ".join(f"{kind} {count}" for kind, count in kinds[family].most_common())
        row = (family, len(own), len(failing), told, f"{slowest:.1f}", " ".join(failing[:_SHOWN]) + more)
        table.add_row(*map(str, row))
    console = Console(width=None if sys.stdout.isatty() else 160)
    console.print(table)
    for result in results:
        for fault in result.faults[:1]:
            first = Console(width=console.width, soft_wrap=True)
            first.print(f"{result.family} {result.seed}: {fault.kind}: {fault.message[:300]}", markup=False)


if __name__ == "__main__":
    sys.exit(main())
