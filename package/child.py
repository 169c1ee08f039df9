"""Another process of this Python, and the messages between the two: plain data and arrays, over pipes.

It can be ended whatever it is doing, ends with the process that started it, and imports no script of a user's.
"""

from __future__ import annotations

import json
import os
import queue
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from typing import IO, Any, NoReturn

import numpy as np
import numpy.typing as npt

from dlsched.halt import ENDING

Arrays = dict[str, npt.NDArray[Any]]
Message = tuple[dict[str, Any], Arrays]
"""Plain data and arrays, by name."""

Box = queue.SimpleQueue[Message | None]
"""Messages in order; None is the last."""

_MAIN = (
    "import importlib, json, sys; sys.path[:], module, name = json.loads(sys.argv[1]); "
    "getattr(importlib.import_module(module), name)()"
)


class Child:
    """A process that is sent messages and sends some.

    Parameters
    ----------
    module, name : str
        The function without arguments that is its work; it talks by `Parent`.

    Attributes
    ----------
    inbox : Box
        What the process has sent since it was last started, and None when it has ended.
    """

    def __init__(self, module: str, name: str) -> None:
        self._function = module, name
        self._process: subprocess.Popen[bytes] | None = None
        self.inbox: Box = queue.SimpleQueue()
        self._outbox: Box = queue.SimpleQueue()

    def start(self) -> None:
        """Start the process where it does not run; signals to end are not for it: it ends with its input.

        Raises
        ------
        OSError
            If there may be no more processes.
        """
        if self._process is not None:
            return
        process = subprocess.Popen(
            [sys.executable, "-c", _MAIN, json.dumps([list(map(str, sys.path)), *self._function])],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,
        )
        self._process, self.inbox, self._outbox = process, queue.SimpleQueue(), queue.SimpleQueue()
        threading.Thread(target=collect, args=(process.stdout, self.inbox), daemon=True).start()
        threading.Thread(target=_deliver, args=(process.stdin, self._outbox), daemon=True).start()

    def send(self, data: dict[str, Any], arrays: Arrays | None = None) -> None:
        """Send a message; where the process has ended, nobody hears it."""
        self._outbox.put((data, arrays or {}))

    def close(self) -> None:
        """End the process."""
        process, self._process = self._process, None
        if process is not None:
            self._outbox.put(None)
            process.kill()
            process.wait()
            for stream in (process.stdin, process.stdout):
                if stream is not None:
                    _close(stream)


class Parent:
    """Seen from the child: who has started it. What is printed goes to stderr from now on."""

    def __init__(self) -> None:
        # `kill` may be told to all processes of a job, as batch systems do; whoever has started this one ends it.
        for number in ENDING:
            signal.signal(number, signal.SIG_IGN)
        # Solvers' own messages must not come between ours.
        self._answers = os.fdopen(os.dup(1), "wb")
        os.dup2(2, 1)

    def send(self, data: dict[str, Any], arrays: Arrays | None = None) -> None:
        """Send a message."""
        _write(self._answers, data, arrays or {})

    def messages(self) -> Iterator[Message]:
        """Yield what comes. Whoever asks ends this process when there is no more to come."""
        while (message := _read(sys.stdin.buffer)) is not None:
            yield message
        self.end()

    def end(self) -> NoReturn:
        """End this process at once: Python would wait for the thread that reads, and complain."""
        sys.stderr.flush()
        os._exit(0)


def _close(stream: Any) -> None:
    try:
        stream.close()
    except OSError:
        return


def _deliver(stream: IO[bytes], outbox: Box) -> None:
    """Write messages, up to None: a process that has just started reads nothing yet, and pipes are short."""
    try:
        while (message := outbox.get()) is not None:
            _write(stream, *message)
    except (OSError, ValueError):
        return


def collect(stream: IO[bytes], inbox: Box) -> None:
    """Put messages into the inbox, and None behind the last."""
    try:
        while (message := _read(stream)) is not None:
            inbox.put(message)
    except (OSError, ValueError):
        pass
    inbox.put(None)


def _write(stream: IO[bytes], data: dict[str, Any], arrays: Arrays) -> None:
    solid = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
    shapes = [[name, array.dtype.str, array.size] for name, array in solid.items()]
    stream.write(json.dumps([data, shapes]).encode() + b"\n")
    for array in solid.values():
        stream.write(array.tobytes())
    stream.flush()


def _read(stream: IO[bytes]) -> Message | None:
    """Return the next message, None where there is no more."""
    line = stream.readline()
    if not line.endswith(b"\n"):
        return None
    data, shapes = json.loads(line)
    arrays = {}
    for name, kind, size in shapes:
        dtype = np.dtype(kind)
        content = stream.read(size * dtype.itemsize)
        if len(content) < size * dtype.itemsize:
            return None
        arrays[name] = np.frombuffer(content, dtype=dtype)
    return data, arrays
