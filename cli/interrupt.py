"""Ctrl-C while a solver's native code runs, which Python's own handler cannot interrupt."""

from __future__ import annotations

import logging
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import NoReturn

INTERRUPTED = 130
"""Exit code after Ctrl-C: as a shell reports SIGINT."""

_GRACE = 1.0
"""Seconds in which an interrupt may end the block by itself. Arbitrary: Python needs less, and people press again."""

_STDERR = 2
"""The file descriptor of stderr (POSIX): what prints must not wait for a lock of the interrupted thread."""

_RESTORED = b"\x1b[?25h\r\x1b[2K"
"""What a terminal needs that showed a progress bar: its cursor, and an empty line."""


def end_at_once() -> None:
    """Let an interrupt end the process where nothing is under way yet: while modules are imported, for instance.

    A KeyboardInterrupt would be told with the import that it stops, or become an error of that import.
    """
    signal.signal(signal.SIGINT, _end)


@contextmanager
def prompt() -> Iterator[None]:
    """End the process when an interrupt has not ended the block within a second.

    Python raises KeyboardInterrupt in the main thread only once native code returns, which may be at a solver's time
    limit. Nothing is lost by ending there: files are replaced in one step and verdicts are committed as they come.
    """
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    over = threading.Event()
    previous = signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
    handler = signal.signal(signal.SIGINT, _raise)
    threading.Thread(target=_watch, args=(reader, over), daemon=True).start()
    try:
        yield
    finally:
        over.set()
        signal.signal(signal.SIGINT, handler)
        signal.set_wakeup_fd(previous)
        os.close(writer)


@contextmanager
def deferred() -> Iterator[Callable[[], bool]]:
    """Let a method that can stop early do so on the first interrupt; the second ends the process as usual.

    Yields
    ------
    callable
        Tells whether there has been an interrupt.
    """
    asked = threading.Event()

    def ask(number: int, frame: FrameType | None) -> None:
        if asked.is_set():
            _raise(number, frame)
        asked.set()

    handler, wakeup = signal.signal(signal.SIGINT, ask), signal.set_wakeup_fd(-1)
    try:
        yield asked.is_set
    finally:
        signal.set_wakeup_fd(wakeup, warn_on_full_buffer=False)
        signal.signal(signal.SIGINT, handler)


def _raise(number: int, frame: FrameType | None) -> None:
    """Raise KeyboardInterrupt without a log of what it interrupts, which Pyomo would write."""
    del number, frame
    logging.disable()
    raise KeyboardInterrupt


def _end(*_: object) -> NoReturn:
    """End the process, and say so; a stderr that is closed keeps nobody from it."""
    with suppress(OSError):
        os.write(_STDERR, (_RESTORED if os.isatty(_STDERR) else b"") + b"dlsched: interrupted\n")
    os._exit(INTERRUPTED)


def _watch(reader: int, over: threading.Event) -> None:
    while number := os.read(reader, 1):
        if number[0] == signal.SIGINT and not over.wait(_GRACE):
            # Not imported here: that could wait for an import which the main thread is in.
            if files := sys.modules.get("dlsched.models.files"):
                files.remove_unfinished()
            _end()
    os.close(reader)
