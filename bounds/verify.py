"""The main job: check claims on their shipped cases and on seeded draws, on as many cores as there are, resumably."""

from __future__ import annotations

import multiprocessing
import os
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import replace
from itertools import islice
from pathlib import Path

from dlsched.bounds.claim import Claim, Verdict, claims
from dlsched.bounds.search import Task, evaluate, plan
from dlsched.bounds.store import Store
from dlsched.bounds.table import Report, tabulate
from dlsched.models.document import InputError

INSTANCES = 100
"""Draws of each instance source, by default."""

MAX_INSTANCES = 10**7
KEPT_WITNESSES = 3
_AHEAD = 8

Progress = Callable[[int, int], None]


def verify(
    claims: Iterable[str] | None = None,
    *,
    instances: int = INSTANCES,
    seed: int = 0,
    jobs: int = 1,
    out: str | os.PathLike[str] | None = None,
    executor: Executor | None = None,
    progress: Progress | None = None,
) -> Report:
    """Check claims on their shipped cases and on instances drawn from their sources.

    The table depends on the claims, `instances`, `seed` and the code alone: not on the number of processes, nor on
    how often the run was killed and started again with the same `out`.

    Parameters
    ----------
    claims : iterable of str, optional
        Claim ids, in both variants each; all claims where it is left out.
    instances : int
        Draws of each instance source.
    seed : int
        Of the draws; every draw has a `numpy.random.SeedSequence` spawned from it.
    jobs : int
        Processes; 1 checks in this one.
    out : path, optional
        SQLite database that verdicts are streamed into; with what it holds already, the run goes on. The first
        witnesses of each claim are written to ``witnesses/`` beside it.
    executor : concurrent.futures.Executor, optional
        Used in place of processes of this machine.
    progress : callable, optional
        Called with (verdicts there, verdicts in all) whenever some were added.

    Raises
    ------
    InputError
        If there is no such claim, a number is out of range, or `out` was made with other settings.
    RuntimeError
        If a process of the pool was killed.
    """
    chosen = _chosen(claims)
    _check_range("instances", instances, 0, MAX_INSTANCES)
    _check_range("seed", seed, 0, 2**63 - 1)
    _check_range("jobs", jobs, 1, 4096)
    settings = {
        "claims": " ".join(sorted({claim.id for claim in chosen})),
        "instances": str(instances),
        "seed": str(seed),
    }
    with Store(_directory(out), settings) as store:
        done = store.done()
        total = sum(len(task.claims) for task in plan(chosen, instances, seed))
        there = len(done)
        tell = progress or (lambda there, total: None)
        tell(there, total)
        with _runner(jobs, executor) as run:
            for task, verdicts in run(_open_tasks(plan(chosen, instances, seed), done)):
                store.add(task, verdicts)
                there += len(verdicts)
                tell(there, total)
        report = tabulate(chosen, store.entries(), settings, KEPT_WITNESSES)
    if out is not None:
        _write_witnesses(Path(out).parent / "witnesses", report)
    return report


def _chosen(ids: Iterable[str] | None) -> tuple[Claim, ...]:
    known = claims()
    if ids is None:
        return known
    wanted = dict.fromkeys(ids)
    for id_ in wanted:
        if not any(claim.id == id_ for claim in known):
            raise InputError(f"{id_}: unknown claim; the claims are {', '.join(sorted({c.id for c in known}))}")
    return tuple(claim for claim in known if claim.id in wanted)


def _check_range(name: str, value: int, low: int, high: int) -> None:
    if not low <= value <= high:
        raise InputError(f"{name}: {value} is not between {low} and {high}")


def _directory(out: str | os.PathLike[str] | None) -> Path | None:
    if out is None:
        return None
    path = Path(out)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{path.parent}: {error.strerror or error}") from None
    return path


def _open_tasks(tasks: Iterable[Task], done: set[tuple[str, str, str, int]]) -> Iterator[Task]:
    """Yield what is left of the tasks."""
    for task in tasks:
        left = tuple(key for key in task.claims if (*key, task.source, task.position) not in done)
        if left:
            yield replace(task, claims=left)


Runner = Callable[[Iterator[Task]], Iterator[tuple[Task, list[Verdict]]]]


@contextmanager
def _runner(jobs: int, executor: Executor | None) -> Iterator[Runner]:
    if executor is not None:
        yield lambda tasks: _concurrently(executor, _AHEAD * max(jobs, os.cpu_count() or 1), tasks)
    elif jobs == 1:
        yield lambda tasks: ((task, evaluate(task)) for task in tasks)
    else:
        spawn = multiprocessing.get_context("spawn")
        with ProcessPoolExecutor(jobs, mp_context=spawn, initializer=_die_with_parent) as pool:
            try:
                yield lambda tasks: _concurrently(pool, _AHEAD * jobs, tasks)
            except BrokenProcessPool:
                raise RuntimeError(
                    "a process ended abruptly: killed, out of memory, or started from a script without "
                    "`if __name__ == '__main__'`; the verdicts written so far stay, and the same call goes on from them"
                ) from None
            except BaseException:
                pool.shutdown(cancel_futures=True)
                raise


def _die_with_parent() -> None:
    """End this process when the one that started it is killed: a pool's processes would wait for work for ever."""
    parent = multiprocessing.parent_process()
    if parent is not None:

        def watch() -> None:
            parent.join()
            os._exit(1)

        threading.Thread(target=watch, daemon=True).start()


def _concurrently(executor: Executor, ahead: int, tasks: Iterator[Task]) -> Iterator[tuple[Task, list[Verdict]]]:
    """Yield results as they come, with at most `ahead` tasks handed out."""
    waiting: dict[Future[list[Verdict]], Task] = {}
    while True:
        for task in islice(tasks, ahead - len(waiting)):
            waiting[executor.submit(evaluate, task)] = task
        if not waiting:
            return
        finished, _ = wait(waiting, return_when=FIRST_COMPLETED)
        for future in finished:
            yield waiting.pop(future), future.result()


def _write_witnesses(folder: Path, report: Report) -> None:
    numbers: dict[str, int] = {}
    try:
        folder.mkdir(exist_ok=True)
    except OSError as error:
        raise InputError(f"{folder}: {error.strerror or error}") from None
    for witness in report.witnesses:
        stem = f"{witness.claim.replace('/', '-')}-{witness.variant}"
        numbers[stem] = numbers.get(stem, 0) + 1
        witness.save(folder / f"{stem}-{numbers[stem]}.json")
