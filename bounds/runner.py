"""Where tasks are evaluated: in this process, in others of this machine, by any executor, or on a dask cluster."""

from __future__ import annotations

import atexit
import multiprocessing
import os
import platform
import signal
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ProcessPoolExecutor, wait
from contextlib import contextmanager
from functools import partial
from itertools import islice
from typing import Any, TypeVar

from dlsched.bounds.cluster import connect
from dlsched.bounds.store import code_version
from dlsched.errors import InputError
from dlsched.halt import heeded
from dlsched.models.registry import load, loaded

T = TypeVar("T")
R = TypeVar("R")
Runner = Callable[[Iterator[T]], Iterator[tuple[T, R]]]

_AHEAD = 8
"""Tasks handed out for each process. Arbitrary: none waits for the next one, and few are lost where the run is
killed."""

_AHEAD_ON_CLUSTER = 1024
"""Tasks handed out to a cluster, whose size changes. Arbitrary: several for each of hundreds of processes."""

_ALONE = 3.0
"""Seconds in this process before others are started, where that is left open: each costs 2 s of the processor, mostly
imports."""

_PATIENCE = 1.0
"""Seconds without a result after which a cluster is asked whether anybody works. Arbitrary: asking is cheap."""


@contextmanager
def runner(jobs: int | None, executor: Executor | str | None, evaluate: Callable[[T], R]) -> Iterator[Runner[T, R]]:
    """Open what evaluates tasks and yield the function that does, which yields results as they come.

    Parameters
    ----------
    jobs : int, optional
        Processes of this machine; with 1, and no executor, it is this process. None: one a core, where this process is
        not done in a few seconds.
    executor : concurrent.futures.Executor or str, optional
        Used in their place; a string is the address of a dask scheduler.
    evaluate : callable
        Of a task; a function of a module, which other processes import.

    Raises
    ------
    concurrent.futures.BrokenExecutor
        If processes ended while they worked, or the cluster has no more of them.
    InputError
        If a process has another code version, or the scheduler cannot be reached.
    """
    if isinstance(executor, str):
        with connect(executor) as cluster:
            yield lambda tasks: _concurrently(
                cluster.executor, evaluate, _AHEAD_ON_CLUSTER, tasks, cluster.confirm_alive
            )
    elif executor is not None:
        yield lambda tasks: _concurrently(executor, evaluate, _AHEAD * max(jobs or 1, _cores()), tasks)
    elif jobs == 1:
        yield lambda tasks: _here(evaluate, tasks)
    else:
        spawn = multiprocessing.get_context("spawn")
        number = jobs or _cores()
        # It starts no process before it is given work.
        with _Pool(number, mp_context=spawn, initializer=_end_with_parent) as pool:
            elsewhere = partial(_concurrently, pool, evaluate, _AHEAD * number)
            try:
                yield elsewhere if jobs is not None else partial(_here_first, evaluate, elsewhere)
            except BaseException:
                pool.end()
                raise


def _cores() -> int:
    """Return how many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _here(evaluate: Callable[[T], R], tasks: Iterator[T]) -> Iterator[tuple[T, R]]:
    return ((task, evaluate(task)) for task in tasks)


def _here_first(evaluate: Callable[[T], R], elsewhere: Runner[T, R], tasks: Iterator[T]) -> Iterator[tuple[T, R]]:
    """Yield results from this process, and after a few seconds those of the tasks that are left from elsewhere."""
    start = time.monotonic()
    for result in _here(evaluate, tasks):
        yield result
        if time.monotonic() - start > _ALONE and _cores() > 1:
            break
    yield from elsewhere(tasks)


class _Pool(ProcessPoolExecutor):
    """A pool whose processes say nothing when the user interrupts this one: they end, from their first moment on."""

    def submit(self, fn: Callable[..., R], /, *args: Any, **kwargs: Any) -> Future[R]:
        # It starts processes here, and what is blocked then stays so while they import what they need.
        with _undisturbed():
            return super().submit(fn, *args, **kwargs)

    def end(self) -> None:
        """End the processes, whatever they are at: a task, or imports, may take longer than an interrupt may."""
        for process in [*self._processes.values()]:
            process.terminate()
        self.shutdown(cancel_futures=True)


@contextmanager
def _undisturbed() -> Iterator[None]:
    """Put an interrupt off to the end of the block, where the system can."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _end_with_parent() -> None:
    """End this process, without a word, when it is told to and once its parent is killed: it would wait for ever."""
    for number in heeded():
        signal.signal(number, _leave)
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    parent = multiprocessing.parent_process()
    if parent is not None:

        def watch() -> None:
            parent.join()
            os._exit(1)

        threading.Thread(target=watch, daemon=True).start()


def _leave(*_: object) -> None:
    """End a process of a pool at once; a KeyboardInterrupt would be told, or taken for the result of its task."""
    # Pyomo has a lock between processes, and what tracks these warns of one that is not given back.
    atexit._run_exitfuncs()
    os._exit(1)


def _concurrently(
    executor: Executor,
    evaluate: Callable[[T], R],
    ahead: int,
    tasks: Iterator[T],
    confirm_alive: Callable[[], None] | None = None,
) -> Iterator[tuple[T, R]]:
    """Yield results as they come, with at most `ahead` tasks handed out; ask who is alive where none comes."""
    waiting: dict[Future[R], T] = {}
    patience = None if confirm_alive is None else _PATIENCE
    while True:
        for task in islice(tasks, ahead - len(waiting)):
            waiting[executor.submit(_evaluate_elsewhere, evaluate, task, code_version(), loaded())] = task
        if not waiting:
            return
        finished, _ = wait(waiting, patience, FIRST_COMPLETED)
        if confirm_alive is not None and not finished:
            confirm_alive()
        for future in finished:
            yield waiting.pop(future), future.result()


def _evaluate_elsewhere(evaluate: Callable[[T], R], task: T, code: str, plugins: tuple[str, ...]) -> R:
    """Evaluate a task in a process that may be another machine's, with what is installed there."""
    for name in plugins:
        load(name)
    if code_version() != code:
        raise InputError(
            f"{platform.node()}: a worker there has another version of dlsched (code {code_version()}, here {code}); "
            "install the same one wherever workers run"
        )
    return evaluate(task)
