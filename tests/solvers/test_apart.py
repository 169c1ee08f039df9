"""Solvers in a process of their own: the same answers, and an end at any moment with what is known by then."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from dlsched import child
from dlsched.halt import until
from dlsched.solvers import apart
from dlsched.solvers.matrix import Matrix
from dlsched.solvers.solution import Status
from dlsched.solvers.solve import solve_matrix
from tests import paths


def never() -> bool:
    return False


def knapsacks(rows: int, columns: int, seed: int = 0) -> Matrix:
    """Return a maximisation in binaries; with many columns no tree is finished for a long time."""
    rng = np.random.default_rng(seed)
    A = rng.integers(1, 1000, size=(rows, columns)).astype(float)
    return Matrix(
        c=rng.integers(1, 1000, size=columns).astype(float),
        offset=1.5,
        sense=-1,
        A=sp.csr_array(A),
        row_lower=np.full(rows, -np.inf),
        row_upper=np.floor(A.sum(axis=1) / 3),
        lower=np.zeros(columns),
        upper=np.ones(columns),
        integer=np.ones(columns, dtype=bool),
    )


@pytest.fixture
def processes(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[subprocess.Popen[bytes]]]:
    """Every matrix is solved in another process; these are the processes."""
    started: list[subprocess.Popen[bytes]] = []
    start = subprocess.Popen

    def recorded(*arguments: Any, **options: Any) -> subprocess.Popen[bytes]:
        started.append(start(*arguments, **options))
        return started[-1]

    monkeypatch.setattr(apart, "INTEGRAL", 0)
    monkeypatch.setattr(apart, "LINEAR", 0)
    monkeypatch.setattr(subprocess, "Popen", recorded)
    yield started
    assert all(process.poll() is not None for process in started)


@pytest.mark.process
@pytest.mark.parametrize("solver", ["highs", "scip"])
def test_the_answer_is_the_same(solver: str, processes: list[subprocess.Popen[bytes]]) -> None:
    matrix = knapsacks(3, 12)
    here = solve_matrix(matrix, solver=solver, threads=1, seed=3)
    assert not processes
    with until(never):
        there = [solve_matrix(matrix, solver=solver, threads=1, seed=3) for _ in range(2)]
    assert len(processes) == 1
    for raw in there:
        assert raw.summary.status is Status.OPTIMAL
        assert (raw.summary.objective, raw.summary.bound) == (here.summary.objective, here.summary.bound)
        assert (raw.summary.version, raw.summary.nodes) == (here.summary.version, here.summary.nodes)
        assert raw.x is not None
        assert here.x is not None
        assert raw.x.tolist() == here.x.tolist()


@pytest.mark.process
def test_duals_come_along(processes: list[subprocess.Popen[bytes]]) -> None:
    matrix = knapsacks(3, 12).relaxed()
    here = solve_matrix(matrix)
    with until(never):
        there = solve_matrix(matrix)
    assert len(processes) == 1
    for mine, theirs in ((here.row_duals, there.row_duals), (here.reduced_costs, there.reduced_costs)):
        assert mine is not None
        assert theirs is not None
        assert mine.tolist() == theirs.tolist()


@pytest.mark.process
def test_an_infeasible_matrix_and_one_without_columns(processes: list[subprocess.Popen[bytes]]) -> None:
    matrix = knapsacks(3, 12)
    with until(never):
        assert solve_matrix(matrix, cutoff=1e6).summary.status is Status.INFEASIBLE
        assert solve_matrix(knapsacks(2, 0)).summary.objective == 1.5
    assert len(processes) == 1


def test_integers_without_bounds_are_long() -> None:
    small = knapsacks(3, 12)
    assert not apart.is_long(small, "highs")
    assert not apart.is_long(replace(small.relaxed(), upper=np.full(12, np.inf)), "highs")
    assert apart.is_long(replace(small, upper=np.full(12, np.inf)), "highs")


def test_small_matrices_stay_here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(subprocess, "Popen", None)
    with until(never):
        assert solve_matrix(knapsacks(3, 12)).summary.status is Status.OPTIMAL


def test_without_processes_solvers_run_here(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*arguments: Any, **options: Any) -> None:
        raise BlockingIOError("no more processes")

    monkeypatch.setattr(apart, "INTEGRAL", 0)
    monkeypatch.setattr(subprocess, "Popen", refuse)
    with until(never):
        assert solve_matrix(knapsacks(3, 12)).summary.status is Status.OPTIMAL


@pytest.mark.process
@pytest.mark.slow
@pytest.mark.parametrize("patience", [30.0, -1.0])
@pytest.mark.parametrize("solver", ["highs", "scip"])
def test_what_is_known_is_kept(
    solver: str, patience: float, processes: list[subprocess.Popen[bytes]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whether the solver ends by itself or is ended, once it has told a bound and a point."""
    matrix, collect = knapsacks(30, 300), child.collect
    news: list[str] = []

    class Inbox:
        def __init__(self, inner: Any) -> None:
            self.inner = inner

        def put(self, message: Any) -> None:
            if message is not None:
                news.extend([*message[0], *message[1]])
            self.inner.put(message)

    monkeypatch.setattr(child, "collect", lambda stream, inbox: collect(stream, Inbox(inbox)))
    monkeypatch.setattr(apart, "PATIENCE", patience)
    with until(lambda: {"bound", "x"} <= set(news)):
        raw = solve_matrix(matrix, solver=solver, threads=1, seed=0)
    assert raw.summary.status is Status.FEASIBLE
    assert raw.x is not None
    assert matrix.residual(raw.x) <= 1e-6
    assert raw.summary.objective == matrix.value(raw.x)
    assert raw.summary.bound is not None
    assert raw.summary.bound >= raw.summary.objective
    assert raw.summary.bound <= float(matrix.c.sum()) + matrix.offset
    assert len(processes) == 1


@pytest.mark.process
def test_a_process_that_is_gone_has_no_answer_and_the_next_solve_another_process(
    processes: list[subprocess.Popen[bytes]],
) -> None:
    hard, easy = knapsacks(30, 300), knapsacks(3, 12)
    asked = []

    def kill_at_the_second_question() -> bool:
        asked.append(time.perf_counter())
        if len(asked) == 5:
            processes[0].kill()
        return False

    with until(kill_at_the_second_question):
        assert solve_matrix(hard, threads=1).summary.status in (Status.NO_SOLUTION, Status.FEASIBLE)
        assert solve_matrix(easy, threads=1).summary.status is Status.OPTIMAL
    assert len(processes) == 2


@pytest.mark.process
def test_a_stop_that_fails_is_raised_and_leaves_no_process(processes: list[subprocess.Popen[bytes]]) -> None:
    asked = []

    def fail() -> bool:
        asked.append(None)
        if len(asked) > 3:
            raise ValueError("boom")
        return False

    with pytest.raises(ValueError, match="boom"), until(fail):
        solve_matrix(knapsacks(30, 300), threads=1)
    assert len(processes) == 1


@pytest.mark.process
def test_a_process_ends_with_the_one_that_started_it() -> None:
    """Both hold the pipe that the first one's errors go to: it is at its end when both are gone."""
    script = """
from dlsched.solvers import apart
from dlsched.halt import until
from dlsched.models.solve import solve_matrix
from tests.solvers.test_apart import knapsacks
apart.INTEGRAL, start = 0, apart.Process.start
def started(self):
    start(self)
    print("started", flush=True)
apart.Process.start = started
with until(lambda: False):
    solve_matrix(knapsacks(30, 300), threads=1)
"""
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen([sys.executable, "-c", script], cwd=paths.ROOT, **pipes) as first:
        assert first.stdout is not None
        assert first.stdout.readline() == b"started\n"
        first.kill()
        assert first.communicate(timeout=60) == (b"", b"")


@pytest.mark.process
@pytest.mark.slow
def test_time_limits_end_it_too(processes: list[subprocess.Popen[bytes]]) -> None:
    with until(never):
        raw = solve_matrix(knapsacks(30, 300), threads=1, time_limit=1.0)
    assert raw.summary.status in (Status.NO_SOLUTION, Status.FEASIBLE)
    assert len(processes) == 1
