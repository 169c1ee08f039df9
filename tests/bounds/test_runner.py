"""Where tasks are evaluated."""

from __future__ import annotations

import os
import time

import pytest

from dlsched.bounds.runner import runner


def waited(seconds: float) -> int:
    """Sleep and return the number of this process."""
    time.sleep(seconds)
    return os.getpid()


@pytest.mark.process
def test_other_processes_start_where_this_one_is_not_done_in_a_few_seconds() -> None:
    tasks = [0.0] * 5 + [4.0] + [0.0] * 5
    with runner(None, None, waited) as run:
        results = list(run(iter(tasks)))
    here = [pid == os.getpid() for _, pid in results]
    assert sorted(task for task, _ in results) == sorted(tasks)
    assert here == [True] * 6 + [len(os.sched_getaffinity(0)) == 1] * 5


def test_few_tasks_stay_in_this_process() -> None:
    with runner(None, None, waited) as run:
        assert {pid for _, pid in run(iter([0.0] * 20))} == {os.getpid()}


def interrupted() -> None:
    with runner(2, None, waited) as run:
        next(run(iter([0.0, 60.0, 60.0])))
        raise KeyboardInterrupt


@pytest.mark.process
def test_an_interrupt_waits_for_no_process() -> None:
    """The command would end in a second without giving back what processes share, and Python would warn of that."""
    start = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert time.monotonic() - start < 30
