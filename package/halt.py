"""When to stop: asked wherever work takes long, however deep below whoever wants it to end.

`until` says for a block, and for all that it calls, when the work is over; what runs long asks. Code that has something
to return looks at `over`; code that has not asks by `poll`, and the `Halt` that this raises ends at whoever knows what
is known so far. What makes a schedule of a solver's last point, say, is given a little `grace`.

Blocks nest: work is over as soon as it is for one of them. Other threads do not see the block: solvers that call back
from a thread of their own are given `current()`.
"""

from __future__ import annotations

import ctypes
import logging
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, Protocol, TypeVar, cast

from dlsched.tolerances import TOLERANCE

if TYPE_CHECKING:
    from concurrent.futures import ThreadPoolExecutor

T = TypeVar("T")


class Closing(Protocol):
    """Something to be closed when it is not needed any more."""

    def close(self) -> None:
        """Close it."""


C = TypeVar("C", bound=Closing)


_OFTEN = 0.05
"""Seconds between two questions whether the work is over. Arbitrary: nobody notices them."""

_AGAIN = 0.5
"""Seconds after which work is cut once more that has not ended: what is raised in a destructor is lost. Arbitrary:
longer than what is raised takes to unwind, and hardly noticed."""


ENDING = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))
"""Signals that ask a process to end: Ctrl-C, `kill`, and a terminal that is closed, which Windows has no signal for."""


def heeded() -> list[signal.Signals]:
    """Return the signals that ask this process to end, but for those that whoever started it wants to be ignored.

    `nohup` does with a terminal that is closed, and a script's shell with Ctrl-C for what it starts by `&`.
    """
    return [number for number in ENDING if signal.getsignal(number) is not signal.SIG_IGN]


class Halt(Exception):
    """Raised by `poll` where the work is over."""


def _never() -> bool:
    return False


_CURRENT: ContextVar[Callable[[], bool]] = ContextVar("when the work is over", default=_never)


def _deadline(block: Callable[[], bool]) -> float:
    """Return when a block's time is up, on the clock of `time.perf_counter`; infinite where it never is."""
    return float(getattr(block, "deadline", float("inf")))


class _Until:
    """Whether a block's work is over; once it is, it stays so, whatever is told later."""

    def __init__(self, outer: Callable[[], bool], stop: Callable[[], bool] | None, seconds: float) -> None:
        self._outer, self._stop = outer, stop
        self.deadline = min(_deadline(outer), time.perf_counter() + seconds)
        self._over = False
        self.held: dict[Callable[[], Closing], Closing] = getattr(outer, "held", {})

    def __call__(self) -> bool:
        self._over = (
            self._over
            or self._outer()
            or (self._stop is not None and self._stop())
            or time.perf_counter() > self.deadline
        )
        return self._over


class _Grace:
    """Whether a block's work has been over for some time."""

    def __init__(self, outer: Callable[[], bool], seconds: float) -> None:
        self._outer, self._seconds = outer, seconds
        self.deadline = _deadline(outer)
        self.held: dict[Callable[[], Closing], Closing] = getattr(outer, "held", {})
        self._end: float | None = None

    def __call__(self) -> bool:
        if not self._outer():
            return False
        now = time.perf_counter()
        if self._end is None:
            self._end = now + self._seconds
        return now > self._end


@contextmanager
def until(stop: Callable[[], bool] | None = None, seconds: float | None = None) -> Iterator[None]:
    """Say for a block, and for all that it calls in this thread, when the work is over.

    Parameters
    ----------
    stop : callable, optional
        Asked often, also from threads of solvers; the work is over once it tells True.
    seconds : float, optional
        From now on; without them there is no end of time but that of a block around it.
    """
    outer = _CURRENT.get()
    if stop is None and seconds is None:
        yield
        return
    block = _Until(outer, stop, float("inf") if seconds is None else seconds)
    token = _CURRENT.set(block)
    try:
        yield
    finally:
        _CURRENT.reset(token)
        if outer is _never:
            for thing in block.held.values():
                thing.close()


@contextmanager
def grace(seconds: float = 0.5) -> Iterator[None]:
    """Let a block go on for a little while after the work is over: what was found is lost without it.

    Parameters
    ----------
    seconds : float
        How long at most, from when the block first asks in vain.
    """
    token = _CURRENT.set(_Grace(_CURRENT.get(), seconds))
    try:
        yield
    finally:
        _CURRENT.reset(token)


def over() -> bool:
    """Tell whether the work is over."""
    return _CURRENT.get()()


def left(share: float = 1.0) -> float | None:
    """Return a share of the seconds until this block's time is up, or that of one around it; None where it never is."""
    deadline = _deadline(_CURRENT.get())
    return None if deadline == float("inf") else share * max(0.0, deadline - time.perf_counter())


def ended_by() -> str:
    """Return what the work is over by: ``time is up``, or else whoever asks it to end: ``interrupted``."""
    return "time is up" if left() == 0 else "interrupted"


def share_used(share: float = 1.0) -> Callable[[], float]:
    """Return what tells how much is used of a share of the time that is left now: nothing where it is not limited."""
    start, seconds = time.perf_counter(), left(share)
    return lambda: 0.0 if seconds is None else (time.perf_counter() - start) / max(seconds, TOLERANCE)


def poll() -> None:
    """Raise `Halt` if the work is over."""
    if _CURRENT.get()():
        raise Halt


def polled(items: Iterable[T]) -> Iterator[T]:
    """Yield items, and raise `Halt` before the first that comes when the work is over."""
    for item in items:
        poll()
        yield item


def current() -> Callable[[], bool] | None:
    """Return what tells, in any thread, whether this block's work is over; None where it never is."""
    asked = _CURRENT.get()
    return None if asked is _never else asked


class _Silence:
    """Drops what is told of a `Halt` by those who do not know it.

    Python tells of one that came while a destructor ran and was lost (it is raised again), and Pyomo logs, on stdout,
    that a component could not be made.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._users = 0
        self._usual, self._logged = sys.unraisablehook, logging.NOTSET

    def __enter__(self) -> None:
        with self._lock:
            if not self._users:
                self._usual, sys.unraisablehook = sys.unraisablehook, self._tell
                self._logged = logging.root.manager.disable
                logging.disable()
            self._users += 1

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._users -= 1
            if not self._users:
                sys.unraisablehook = self._usual
                logging.disable(self._logged)

    def _tell(self, unraisable: Any) -> None:
        if unraisable.exc_type is not Halt:
            self._usual(unraisable)


_SILENCE = _Silence()


def _imports(thread: int) -> int:
    """Return how many imports a thread is in the midst of."""
    frame, count = sys._current_frames().get(thread), 0
    while frame is not None:
        code, frame = frame.f_code, frame.f_back
        count += (code.co_filename, code.co_name) == ("<frozen importlib._bootstrap>", "_find_and_load")
    return count


class _Cut:
    """A thread that raises `Halt` in another one, between two steps of its Python code, once the work there is over.

    It raises nothing before `running` is set, nor in the midst of an import that began since: Python forgets a package
    that is cut off but not the modules within it that are done, and what is imported later lacks these for good. What
    it has raised may come in `end` too, which is called again then: so there are flags and bare locks, each of one
    step, and no `threading.Event`, whose own lock an exception can leave locked for good.
    """

    def __init__(self, over: Callable[[], bool]) -> None:
        self.running = self.raised = False
        self._over, self._watching = over, True
        self._ended, self._gone = threading.Lock(), threading.Lock()
        self._ended.acquire()
        self._gone.acquire()
        self._thread = threading.get_ident()
        self._imports = _imports(self._thread)
        threading.Thread(target=self._watch, daemon=True).start()

    def _watch(self) -> None:
        try:
            with ExitStack() as hooks:
                while not self._ended.acquire(timeout=_AGAIN if self.raised else _OFTEN):
                    if self.running and self._over() and _imports(self._thread) <= self._imports:
                        if not self.raised:
                            hooks.enter_context(_SILENCE)
                        self.raised = True
                        self._raise()
        finally:
            self._watching = False
            self._gone.release()

    def _raise(self) -> None:
        ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(self._thread), ctypes.py_object(Halt))

    def end(self) -> None:
        """Raise nothing from now on, not even what was already on its way."""
        self.running = False
        if self._ended.locked():
            self._ended.release()
        while self._watching:
            self._gone.acquire(timeout=_OFTEN)
        if self.raised:
            # It may be on its way still. Once more, it comes here and at once; taking it back would leave CPython 3.11
            # waiting for it, and the next trace function (of a debugger, say) in an endless loop.
            with suppress(Halt):
                self._raise()


def cut(run: Callable[[], T]) -> T:
    """Return what Python code returns that asks nothing: a builder of models, say, whose rules Pyomo calls.

    Raises
    ------
    Halt
        In the midst of `run`, where the work is over before it ends; what it has half done has to be thrown away.
        What it imports is imported whole first.
    """
    over = current()
    if over is None:
        return run()
    poll()
    watch = _Cut(over)
    try:
        try:
            watch.running = True
            found = run()
        finally:
            watch.end()
    except Exception:
        # A `Halt` may have come before `end` was called. Any error after one may be what others have made of it, and so
        # may what was found: Pyomo has a bare ``except``, and `inspect` tells of unsupported callables.
        watch.end()
        if not watch.raised:
            raise
    if watch.raised:
        raise Halt
    return found


_LOCAL = threading.local()


def run_in_thread(run: Callable[[], object], interrupt: Callable[[], object], *, same: bool = False) -> None:
    """Run native code in another thread, and interrupt it where the work is over or this thread is interrupted.

    Parameters
    ----------
    run : callable
        What it raises is raised here.
    interrupt : callable
        Makes `run` return before long; may be called more than once.
    same : bool
        Whether it is always the same other thread, as far as nothing was interrupted; else a new one each time.
    """
    from concurrent.futures import ThreadPoolExecutor, wait

    pool = _kept() if same else ThreadPoolExecutor(1)
    future = pool.submit(run)
    try:
        while not wait((future,), _OFTEN).done:
            if over():
                interrupt()
    except BaseException:
        interrupt()
        _LOCAL.pool = None
        raise
    finally:
        if not same:
            pool.shutdown(wait=False)
    future.result()


def _kept() -> ThreadPoolExecutor:
    """Return this thread's other thread; after a fork it is another one, as threads do not survive that."""
    from concurrent.futures import ThreadPoolExecutor

    pool, process = getattr(_LOCAL, "pool", None), os.getpid()
    if pool is None or _LOCAL.process != process:
        _LOCAL.pool, _LOCAL.process = pool, process = ThreadPoolExecutor(1), process
    return pool


def held(make: Callable[[], C]) -> C:
    """Return what `make` makes: once for the outermost block, which closes it when it ends.

    Raises
    ------
    LookupError
        If there is no block.
    """
    things = getattr(_CURRENT.get(), "held", None)
    if things is None:
        raise LookupError("no block to hold it")
    if make not in things:
        things[make] = make()
    return cast(C, things[make])
