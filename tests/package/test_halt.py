"""When work is over: nested blocks, deadlines, a little grace, and native code in a thread of its own."""

from __future__ import annotations

import itertools
import logging
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from dlsched.halt import Halt, current, cut, grace, held, over, poll, polled, run_in_thread, until


class Asked:
    """Tells True from the k-th question on, or only then."""

    def __init__(self, first: int, *, once: bool = False) -> None:
        self.first, self.once, self.count = first, once, 0

    def __call__(self) -> bool:
        self.count += 1
        return self.count == self.first if self.once else self.count >= self.first


def test_outside_a_block_work_is_never_over() -> None:
    assert not over()
    assert current() is None
    poll()
    assert list(polled([1, 2])) == [1, 2]


def test_a_block_that_nothing_ends_is_none() -> None:
    with until(None):
        assert current() is None


def test_polling_ends_work_where_it_is_over() -> None:
    stop = Asked(3)
    with until(stop):
        assert [over(), over(), over()] == [False, False, True]
        with pytest.raises(Halt):
            poll()
    assert not over()


def test_items_come_until_work_is_over() -> None:
    with until(Asked(3)):
        items = polled(range(10))
        assert [next(items), next(items)] == [0, 1]
        with pytest.raises(Halt):
            next(items)


def test_what_was_told_once_counts_for_good() -> None:
    with until(Asked(2, once=True)):
        assert [over() for _ in range(4)] == [False, True, True, True]


def test_a_deadline_is_on_the_clock_of_perf_counter() -> None:
    with until(seconds=3600):
        assert not over()
        with until(seconds=-1):
            assert over()
        assert not over()


def test_an_inner_block_ends_with_the_outer_one() -> None:
    told = []
    with until(lambda: bool(told)), until(lambda: False):
        assert not over()
        told.append(True)
        assert over()


def test_a_block_does_not_reach_other_threads_but_can_be_handed_over() -> None:
    found = []
    with until(lambda: True):
        stop = current()
        assert stop is not None
        thread = threading.Thread(target=lambda: found.extend([over(), stop()]))
        thread.start()
        thread.join()
    assert found == [False, True]


def test_grace_lasts_a_little_longer() -> None:
    with until(lambda: True):
        with grace(3600):
            poll()
        with grace(0.0):
            while not over():
                pass
            with pytest.raises(Halt):
                poll()
        assert over()


def test_grace_counts_from_the_end_of_the_work() -> None:
    with until(lambda: False), grace(-1.0):
        poll()


class Thing:
    def __init__(self) -> None:
        self.closed = 0

    def close(self) -> None:
        self.closed += 1


def test_the_outermost_block_holds_things_and_closes_them() -> None:
    with until(lambda: False):
        with until(lambda: True), grace():
            inner = held(Thing)
        outer = held(Thing)
        assert inner is outer
        assert not outer.closed
    assert outer.closed == 1
    with pytest.raises(LookupError):
        held(Thing)


def test_things_are_closed_when_a_block_fails() -> None:
    things = []

    def fail() -> None:
        with until(lambda: False):
            things.append(held(Thing))
            raise ValueError("boom")

    with pytest.raises(ValueError, match="boom"):
        fail()
    assert [thing.closed for thing in things] == [1]


def test_native_code_in_a_thread_is_interrupted_when_work_is_over() -> None:
    asked = threading.Event()
    with until(Asked(2)):
        run_in_thread(asked.wait, asked.set)
    assert asked.is_set()


def test_what_a_thread_raises_is_raised() -> None:
    def fail() -> None:
        raise ValueError("boom")

    with pytest.raises(ValueError, match="boom"):
        run_in_thread(fail, lambda: None)


def test_a_stop_that_fails_interrupts_the_thread_and_is_raised() -> None:
    def broken() -> bool:
        raise ValueError("boom")

    asked = threading.Event()
    with pytest.raises(ValueError, match="boom"), until(broken):
        run_in_thread(asked.wait, asked.set)
    assert asked.is_set()


def endless() -> None:
    while True:
        pass


def test_what_asks_nothing_is_cut() -> None:
    with until(seconds=0.01), pytest.raises(Halt):
        cut(endless)


def test_what_is_not_over_is_not_cut() -> None:
    assert cut(lambda: 1) == 1
    with until(lambda: False):
        assert cut(lambda: 2) == 2
        with pytest.raises(KeyError):
            cut(lambda: {}[0])


@pytest.mark.slow
def test_nothing_is_cut_after_it_ended() -> None:
    told = threading.Event()
    with until(told.is_set):
        assert [cut(lambda: 3) for _ in range(100)] == [3] * 100
        told.set()
        end = time.perf_counter() + 0.3
        while time.perf_counter() < end:
            pass


@pytest.mark.slow
def test_a_cut_that_was_lost_comes_again() -> None:
    lost = []

    def stubborn() -> None:
        try:
            endless()
        except Halt:
            lost.append(True)
        endless()

    with until(seconds=0.01), pytest.raises(Halt):
        cut(stubborn)
    assert lost


def test_a_cut_within_a_cut_ends_both() -> None:
    with until(seconds=0.01), pytest.raises(Halt):
        cut(lambda: cut(endless))
    assert not over()


def test_a_cut_raises_in_its_own_thread_only() -> None:
    raised: list[bool] = []

    def work() -> None:
        with until(seconds=0.01):
            try:
                cut(endless)
            except Halt:
                raised.append(True)

    thread = threading.Thread(target=work)
    thread.start()
    while thread.is_alive():
        pass
    assert raised == [True]


def test_a_cut_that_others_tell_otherwise_is_one_still() -> None:
    """`inspect.signature`, which Pyomo asks of rules, says that a callable is unsupported whatever it catches."""

    def work() -> None:
        try:
            endless()
        except Exception:
            raise TypeError("unsupported callable") from None

    with until(seconds=0.01), pytest.raises(Halt):
        cut(work)


@pytest.mark.parametrize("fails", [True, False])
def test_a_cut_that_others_take_for_something_else_is_one_still(fails: bool) -> None:
    """Pyomo's `ComponentData.index` has a bare ``except``, after which it reports an error of Pyomo's own."""

    def work() -> None:
        with suppress(BaseException):
            endless()
        if fails:
            raise RuntimeError("out of sync")

    with until(seconds=0.01), pytest.raises(Halt) as raised:
        cut(work)
    assert raised.value.__context__ is None


def test_an_error_in_a_cut_after_a_halt_is_an_error() -> None:
    def fail() -> None:
        raise TypeError("not this")

    def work() -> None:
        try:
            raise Halt
        except Halt:
            cut(fail)

    with until(seconds=3600), pytest.raises(TypeError, match="not this"):
        work()


SLOW = """
import sys
from dlsched.halt import Halt, cut, until

def load():
    import slow
    while True:
        pass

try:
    with until(seconds=0.01):
        cut(load)
except Halt:
    import slow
    print(slow.part.done, slow.done, "slow" in sys.modules)
"""


@pytest.mark.slow
@pytest.mark.parametrize("within_an_import", [False, True])
def test_what_is_imported_is_not_cut_off(within_an_import: bool, tmp_path: Path) -> None:
    """Pyomo, half imported, was without `pyomo.core.base.set` in all that the process did from then on.

    That `cut` is called while a module is imported is no reason to wait.
    """
    package = tmp_path / "slow"
    package.mkdir()
    wait = "import time\nend = time.perf_counter() + 0.3\nwhile time.perf_counter() < end:\n    pass\ndone = True\n"
    (package / "__init__.py").write_text(f"import slow.part\n{wait}")
    (package / "part.py").write_text("done = True\n")
    (tmp_path / "whole.py").write_text(SLOW)
    command = [sys.executable, *(["-c", "import whole"] if within_an_import else ["whole.py"])]
    ran = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False)
    assert (ran.stdout, ran.stderr) == ("True True True\n", "")


class Endless:
    """Takes long where Python hears of no exception."""

    def __del__(self) -> None:
        end = time.perf_counter() + 0.3
        while time.perf_counter() < end:
            pass


def within_end(frame: FrameType | None) -> bool:
    """Tell whether a frame is of `end`, which ends a cut, or of what that calls."""
    while frame is not None and not (frame.f_code.co_name == "end" and frame.f_globals["__name__"] == "dlsched.halt"):
        frame = frame.f_back
    return frame is not None


def halted_at(step: int, work_is_over: bool) -> bool:
    """Cut some work, with a `Halt` of ours before some step of `end`; tell whether there are so many steps."""
    steps = 0

    def trace(frame: FrameType, event: str, argument: object) -> Any:
        nonlocal steps
        del argument
        if not within_end(frame):
            return None
        frame.f_trace_opcodes = True
        steps += event == "opcode"
        if steps == step:
            raise Halt
        return trace

    def work() -> None:
        with until(Asked(2) if work_is_over else lambda: False):
            sys.settrace(trace)
            with suppress(Halt):
                cut(endless if work_is_over else list)
            sys.settrace(None)

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    thread.join(20)
    assert not thread.is_alive()
    return steps >= step


@pytest.mark.slow
@pytest.mark.parametrize("work_is_over", [False, True])
def test_a_cut_that_comes_as_it_is_ended_leaves_nothing_locked(
    work_is_over: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An exception between taking a lock and what frees it again leaves it locked; so there is no such place."""
    monkeypatch.setattr("dlsched.halt._OFTEN", 0.001)
    steps = itertools.takewhile(lambda step: halted_at(step, work_is_over), itertools.count(1))
    assert sum(1 for _ in steps) > 10


@pytest.mark.parametrize("seconds", [0.01, 3600.0])
def test_a_cut_leaves_nothing_on_its_way(seconds: float) -> None:
    """Where it did, a trace function never returned on CPython 3.11."""
    traced = []

    def work() -> None:
        with until(seconds=seconds), suppress(Halt):
            cut(endless if seconds < 1 else list)
        sys.settrace(lambda frame, event, argument: traced.append(event))
        str(Endless.__doc__).split()
        over()
        sys.settrace(None)

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    thread.join(20)
    assert not thread.is_alive()
    assert traced


@pytest.mark.slow
def test_a_cut_in_a_destructor_is_not_told_and_comes_again(capfd: pytest.CaptureFixture[str]) -> None:
    def work() -> None:
        Endless()
        endless()

    with until(seconds=0.1), pytest.raises(Halt):
        cut(work)
    assert capfd.readouterr() == ("", "")
    assert "_tell" not in repr(sys.unraisablehook)


def test_what_others_log_of_a_cut_is_not_told(caplog: pytest.LogCaptureFixture) -> None:
    """As Pyomo does, on stdout, of the component that it was making."""

    def work() -> None:
        try:
            while True:
                pass
        except Exception:
            logging.getLogger("pyomo.core").exception("constructing a component failed")
            raise

    with until(seconds=0.1), pytest.raises(Halt):
        cut(work)
    logging.getLogger("pyomo.core").error("another one")
    assert caplog.messages == ["another one"]
