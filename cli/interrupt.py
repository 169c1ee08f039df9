"""Ctrl-C, and other requests to end: `kill`, `timeout`, a batch system (SIGTERM), a terminal that is closed (SIGHUP).

They are heeded while a solver's native code runs too, but not where whoever started the process has them ignored.

Python's own handler cannot interrupt that, and knows nothing of what is to be kept or put away.
"""

from __future__ import annotations

import logging
import math
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from types import FrameType
from typing import Any, ClassVar, NoReturn

from dlsched.halt import ENDING, heeded

INTERRUPTED = 130
"""Exit code after Ctrl-C: as a shell reports SIGINT."""

HUNG_UP = 129
"""Exit code where a terminal was closed: as a shell reports SIGHUP."""

ENDED = {INTERRUPTED: "interrupted", 143: "terminated", HUNG_UP: "hung up"}
"""Exit codes after Ctrl-C, SIGTERM and SIGHUP, as a shell reports them, and what is said then."""

_GRACE = 1.0
"""Seconds in which an interrupt may end the block by itself. Arbitrary: Python needs less, and people press again."""

_SAME = 0.5
"""Seconds after a signal in which another one is the same request: `timeout` sends one to the process and then one to
its group, and wrappers forward a Ctrl-C that the terminal sends as well. Arbitrary: nobody presses again as soon."""

_STDERR = 2
"""The file descriptor of stderr (POSIX): what prints must not wait for a lock of the interrupted thread."""

_RESTORED = b"\x1b[?25h\r\x1b[2K"
"""What a terminal needs that showed a progress bar: its cursor, and an empty line."""


@dataclass
class Asked:
    """Whether a signal has asked to end; calling it tells.

    Attributes
    ----------
    code : int
        The exit code then, one of `ENDED`; 0 where none has.
    """

    code: int = 0
    last: ClassVar[float] = -math.inf
    """When a signal has asked whoever listened then, by `time.monotonic`."""

    def __call__(self) -> bool:
        """Tell whether one has."""
        return self.code != 0

    def by(self, number: int) -> None:
        """Note a signal."""
        # As a shell does.
        self.code, Asked.last = 128 + number, time.monotonic()


def end_at_once() -> None:
    """Let an interrupt end the process where nothing is under way yet: while modules are imported, for instance.

    A KeyboardInterrupt would be told with the import that it stops, or become an error of that import.
    """
    if signal.SIGINT in heeded():
        signal.signal(signal.SIGINT, lambda number, frame: _end(number))


@contextmanager
def prompt(asked: Asked) -> Iterator[None]:
    """End the process when a signal has not ended the block within a second.

    Python raises KeyboardInterrupt in the main thread only once native code returns, which may be at a solver's time
    limit. Nothing is lost by ending there: files are replaced in one step and verdicts are committed as they come.

    Parameters
    ----------
    asked : Asked
        Told of a signal by which the block is ended.
    """

    def ask(number: int, frame: FrameType | None) -> None:
        del frame
        if _again():
            return
        asked.by(number)
        # What it interrupts Pyomo would log.
        logging.disable()
        raise KeyboardInterrupt

    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    over = threading.Event()
    previous = signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
    threading.Thread(target=_watch, args=(reader, over), daemon=True).start()
    try:
        with _handled(ask):
            try:
                yield
            finally:
                over.set()
    finally:
        signal.set_wakeup_fd(previous)
        os.close(writer)


@contextmanager
def deferred() -> Iterator[Asked]:
    """Let a method that can stop early do so on the first signal; one half a second later ends the process as usual.

    Yields
    ------
    Asked
        Whether there has been one.
    """
    asked = Asked()

    def ask(number: int, frame: FrameType | None) -> None:
        if _again():
            return
        if asked():
            usual[number](number, frame)
        asked.by(number)

    wakeup = signal.set_wakeup_fd(-1)
    try:
        with _handled(ask) as usual:
            yield asked
    finally:
        signal.set_wakeup_fd(wakeup, warn_on_full_buffer=False)


def _again() -> bool:
    """Tell whether a signal that comes now repeats the last one: also where what that one ended is being written."""
    return time.monotonic() - Asked.last < _SAME


@contextmanager
def _handled(handler: Callable[[int, FrameType | None], None]) -> Iterator[dict[int, Any]]:
    """Handle signals in a block; yield how they were handled before, by number."""
    usual: dict[int, Any] = {number: signal.signal(number, handler) for number in heeded()}
    try:
        yield usual
    finally:
        for number, before in usual.items():
            signal.signal(number, before)


def _end(number: int) -> NoReturn:
    """End the process, and say so; a stderr that is closed keeps nobody from it."""
    code = 128 + number
    with suppress(OSError):
        os.write(_STDERR, (_RESTORED if os.isatty(_STDERR) else b"") + f"dlsched: {ENDED[code]}\n".encode())
    os._exit(code)


def _watch(reader: int, over: threading.Event) -> None:
    while number := os.read(reader, 1):
        if number[0] in ENDING and not over.wait(_GRACE):
            # Not imported here: that could wait for an import which the main thread is in.
            if files := sys.modules.get("dlsched.models.files"):
                files.remove_unfinished()
            _end(number[0])
    os.close(reader)
