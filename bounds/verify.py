"""The main job: check claims on their shipped cases and on seeded draws, on as many cores as there are, resumably."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import BrokenExecutor, Executor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

from dlsched.arguments import between, checked
from dlsched.bounds.catalog import claims_named
from dlsched.bounds.claim import confirm_taken
from dlsched.bounds.runner import runner
from dlsched.bounds.search import Task, evaluate, plan
from dlsched.bounds.store import Store
from dlsched.bounds.table import Report, tabulate
from dlsched.errors import InputError, noting

INSTANCES = 100
"""Draws of each instance source, by default. Arbitrary."""

MAX_INSTANCES = 10**7
"""Draws of a source that may be asked for. Arbitrary: more than anybody waits for."""

KEPT_WITNESSES = 3
"""Witnesses of each claim that a report has. Arbitrary: one refutes it, others show what it fails on."""

_NEW_POOLS = 3
"""How often processes of this machine are started anew after one was killed. Arbitrary: what kills one for lack of
memory may be over; what kills four will not be."""

Progress = Callable[[int, int], None]


class WorkersLostError(RuntimeError):
    """The processes that check claims were killed or cannot be reached; what `out` has of verdicts stays.

    Examples
    --------
    >>> from dlsched.bounds import WorkersLostError, verify
    >>> try:
    ...     report = verify("hadar/theorem-1", instances=0, out="verdicts.sqlite")
    ... except WorkersLostError as error:
    ...     print(f"{error}; the same call goes on from there")
    >>> report.ok
    True
    """


@checked
def verify(
    claims: str | Iterable[str] | None = None,
    *,
    instances: int = INSTANCES,
    each: int = 0,
    seed: int = 0,
    parameters: Mapping[str, Any] = MappingProxyType({}),
    jobs: int | None = 1,
    out: str | os.PathLike[str] | None = None,
    executor: Executor | str | None = None,
    progress: Progress | None = None,
) -> Report:
    """Check claims on their shipped cases and on instances drawn from their sources.

    The table depends on the claims, `instances`, `seed` and the code alone: not on the number of processes, nor on
    how often the run was killed and started again with the same `out`.

    Parameters
    ----------
    claims : str or iterable of str, optional
        Ids, papers (``hadar``) or patterns of ids (``hadar/*``), in every variant; all claims where it is left out.
    instances : int
        Draws of each instance source; of one that costs n times as much, one n-th of them.
    each : int
        Instances of each claim that is known to be true, over all its sources: where `instances` of each are fewer,
        there are more of the one that costs least.
    seed : int
        Of the draws; every draw has a `numpy.random.SeedSequence` spawned from it.
    parameters : mapping of str to value
        Of the claims that have them, e.g. ``{"delta": 0.1}``; the paper's values where they are left out. Nothing is
        known beforehand of a claim with others, and it has no shipped cases.
    jobs : int, optional
        Processes; 1 checks in this one. None: one a core, where this one is not done in a few seconds.
    out : path, optional
        SQLite database that verdicts are streamed into; with what it holds already, the run goes on. The first
        witnesses of each claim are written to ``witnesses/`` beside it.
    executor : concurrent.futures.Executor or str, optional
        Used in place of processes of this machine; a string is the address of a dask scheduler, such as
        ``tcp://HOST:PORT`` (extra ``cluster``), which goes on where workers die; dask's own executor of a client may
        not. Every worker needs the same dlsched.
    progress : callable, optional
        Called with (verdicts there, verdicts in all) whenever some were added.

    Raises
    ------
    InputError
        If there is no such claim, a number is out of range, `out` was made with other settings, no scheduler answers
        at the address, or a worker has another dlsched.
    WorkersLostError
        If processes of this machine are killed again and again, the executor broke, or the cluster lost its scheduler
        or all of its workers.

    Examples
    --------
    >>> from dlsched.bounds import verify
    >>> print(verify(["hadar/theorem-2", "hadar/initial-dual"], instances=0))
    Claims
      claim               kind       finding         verdicts
      hadar/initial-dual  printed    FALSE IN PRINT  1 holds, 2 violated
      hadar/initial-dual  corrected  stands          1 holds
      hadar/theorem-2     printed    FALSE IN PRINT  1 holds, 3 violated, 1
                                                     premise fails, 1 vacuous
      hadar/theorem-2     corrected  stands          2 holds
    """
    chosen = claims_named(claims)
    confirm_taken(chosen, parameters)
    between(0, MAX_INSTANCES, instances=instances, each=each)
    between(0, 2**63 - 1, seed=seed)
    between(1, 4096, jobs=jobs)
    settings = {
        "claims": " ".join(sorted({claim.id for claim in chosen})),
        "instances": str(instances),
        "seed": str(seed),
        **({"each": str(each)} if each else {}),
        **{f"parameter {name}": str(value) for name, value in sorted(parameters.items())},
    }
    with Store(_directory(out), settings) as store:
        _complete(store, lambda: plan(chosen, instances, seed, parameters, each), jobs, executor, progress)
        report = tabulate(chosen, store.entries(), settings, KEPT_WITNESSES, parameters)
    if out is not None:
        _write_witnesses(_witnesses(Path(out)), report)
    return report


def _directory(out: str | os.PathLike[str] | None) -> Path | None:
    if out is None:
        return None
    path = Path(out)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{path.parent}: {error.strerror or error}") from None
    if _witnesses(path).exists() and not _witnesses(path).is_dir():
        raise InputError(f"{_witnesses(path)}: is no folder; witnesses are written into it")
    return path


def _witnesses(out: Path) -> Path:
    return out.parent / "witnesses"


def _complete(
    store: Store,
    tasks: Callable[[], Iterator[Task]],
    jobs: int | None,
    executor: Executor | str | None,
    progress: Progress | None,
) -> None:
    """Evaluate what the store lacks, on new processes where one of this machine's was killed."""
    for pools_left in range(_NEW_POOLS, -1, -1):
        before = len(store.done())
        try:
            with noting(_way_on(store)):
                _evaluate_open(store, tasks, jobs, executor, progress)
        except BrokenExecutor as error:
            stuck = len(store.done()) == before
            if stuck or not pools_left or executor is not None:
                raise WorkersLostError(f"{_cause(error, stuck)}; {_way_on(store)}") from None
            logging.getLogger(__name__).warning("a process was killed (out of memory?): going on with new ones")
        else:
            return


def _cause(error: BrokenExecutor, stuck: bool) -> str:
    if not isinstance(error, BrokenProcessPool):
        return str(error)
    guess = "out of memory, or a script without `if __name__ == '__main__'`" if stuck else "out of memory"
    return f"processes were killed before they could answer ({guess}?)"


def _way_on(store: Store) -> str:
    if store.path is None:
        return "nothing was kept: with a database (out, --out) the same call would go on from there"
    return f"{store.path} has the verdicts so far, and the same call goes on from them"


def _evaluate_open(
    store: Store,
    tasks: Callable[[], Iterator[Task]],
    jobs: int | None,
    executor: Executor | str | None,
    progress: Progress | None,
) -> None:
    done = store.done()
    there, total = len(done), sum(len(task.claims) for task in tasks())
    tell = progress or (lambda there, total: None)
    tell(there, total)
    with runner(jobs, executor, evaluate) as run:
        for task, verdicts in run(_open_tasks(tasks(), done)):
            store.add(task, verdicts)
            there += len(verdicts)
            tell(there, total)


def _open_tasks(tasks: Iterable[Task], done: set[tuple[str, str, str, int]]) -> Iterator[Task]:
    """Yield what is left of the tasks."""
    for task in tasks:
        left = tuple(key for key in task.claims if (*key, task.source, task.position) not in done)
        if left:
            yield replace(task, claims=left)


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
