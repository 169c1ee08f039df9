"""Processes that run cases one after another under a watchdog: of time, of memory, and of a process that ends."""

from __future__ import annotations

import contextlib
import json
import multiprocessing
import os
import resource
import time
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import Any

from tests.audit.case import Case, Fault

MEMORY = 2 * 2**30
"""Bytes that a process may take beyond what it has when it starts to work."""

_WALL = 8.0
"""Seconds that may pass for each second of a processor that a case may take: a machine may be busy."""

_TICK = 0.25

_CONTEXT = multiprocessing.get_context("forkserver")
_CONTEXT.set_forkserver_preload(["tests.audit.families"])


@dataclass(frozen=True)
class Result:
    """What became of a case.

    Attributes
    ----------
    family : str
    seed : int
    title : str
        Empty where the process ended before it told.
    faults : tuple of Fault
    seconds : float
    """

    family: str
    seed: int
    title: str
    faults: tuple[Fault, ...]
    seconds: float


def run(case: Callable[[], Case]) -> tuple[str, list[Fault]]:
    """Return the title of a case and its faults; whatever it raises is one."""
    title = ""
    try:
        made = case()
        title = made.title
        return title, made.faults()
    except Exception as error:
        return title, [Fault("exception", f"{type(error).__name__}: {' '.join(str(error).split())[:300]}")]


def _serve(connection: Connection) -> None:
    """Answer (family, seed) with the title, the faults and the peak of memory, until the other end closes."""
    from tests.audit.families import case

    with open(os.devnull, "w") as nowhere:
        os.dup2(nowhere.fileno(), 1)
        os.dup2(nowhere.fileno(), 2)
    limit = _virtual() + MEMORY
    resource.setrlimit(resource.RLIMIT_AS, (limit, resource.RLIM_INFINITY))
    with contextlib.suppress(EOFError):
        while True:
            family, seed = connection.recv()
            title, faults = run(lambda family=family, seed=seed: case(family, seed))
            peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
            connection.send((title, faults, peak))


def _virtual() -> int:
    with open("/proc/self/statm") as file:
        return int(file.read().split()[0]) * resource.getpagesize()


def _processor(pid: int) -> float:
    """Return the seconds that a process has had of a processor."""
    with open(f"/proc/{pid}/stat") as file:
        ticks = file.read().rpartition(")")[2].split()[11:13]
    return sum(map(int, ticks)) / os.sysconf("SC_CLK_TCK")


class Worker:
    """A process for one case at a time; it is replaced where it hangs, ends or has grown."""

    def __init__(self) -> None:
        self._process: Any = None
        self._connection: Any = None

    def check(self, family: str, seed: int, seconds: float) -> Result:
        """Run a case, for so many seconds of a processor at most."""
        if self._process is None:
            self._start()
        start = time.monotonic()
        title, faults = self._answer(family, seed, seconds)
        return Result(family, seed, title, tuple(faults), time.monotonic() - start)

    def _answer(self, family: str, seed: int, seconds: float) -> tuple[str, list[Fault]]:
        self._connection.send((family, seed))
        if not self._answers(seconds):
            self.stop()
            return "", [Fault("hang", f"more than {seconds:g} s of a processor")]
        try:
            title, faults, peak = self._connection.recv()
        except EOFError:
            self._process.join()
            code = self._process.exitcode
            self.stop()
            return "", [Fault("ended", f"the process ended with code {code}")]
        if peak > MEMORY:
            self.stop()
            faults.append(Fault("memory", f"{peak / 2**30:.1f} GiB"))
        return title, faults

    def _answers(self, seconds: float) -> bool:
        """Wait for an answer; return False where none comes in time."""
        limit, end = _processor(self._process.pid) + seconds, time.monotonic() + _WALL * seconds
        while not self._connection.poll(_TICK):
            if time.monotonic() > end or _processor(self._process.pid) > limit:
                return False
        return True

    def _start(self) -> None:
        self._connection, other = _CONTEXT.Pipe()
        self._process = _CONTEXT.Process(target=_serve, args=(other,), daemon=True)
        self._process.start()
        other.close()

    def stop(self) -> None:
        """End the process."""
        if self._process is not None:
            self._connection.close()
            self._process.kill()
            self._process.join()
            self._process = None


def dump(result: Result) -> dict[str, Any]:
    """Return plain JSON data."""
    faults = [{"kind": fault.kind, "message": fault.message} for fault in result.faults]
    return json.loads(json.dumps({**result.__dict__, "faults": faults}))
