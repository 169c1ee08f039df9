"""Scripts in fresh processes that start quickly: what others bring is loaded once, and each has a fork of that."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import TracebackType
from typing import Self

OTHERS = """
import highspy, numpy, pydantic.json_schema, pyomo.environ, scipy.sparse, statistics
from pydantic import *

# what others bring is loaded once; the rooms must see Pyomo's environment as not yet imported
import sys
del sys.modules["pyomo.environ"]
assert not any(name.startswith("dlsched.") for name in sys.modules)
"""
"""Loads what others bring."""

OWN = f"""{OTHERS}
import importlib, pkgutil
import dlsched, rich.table, typer

for info in pkgutil.walk_packages(dlsched.__path__, "dlsched."):
    if not info.name.endswith("__main__"):
        importlib.import_module(info.name)
"""
"""Loads all modules; what is registered is not looked at, so that each fork finds its own plug-ins."""

COMMAND = "from dlsched.__main__ import process; process()"
"""What the command's script does."""

_MAIN = """
import atexit, gc, json, os, signal, socket, sys, traceback

exec(sys.argv[2])
# A look for garbage would touch, and so copy, all that a fork has from here.
gc.collect()
gc.freeze()
asked = socket.socket(fileno=int(sys.argv[1]))
script = ""
while not script:
    told, streams, _, _ = socket.recv_fds(asked, 2**20, 2)
    if not told:
        os._exit(0)
    child = os.fork()
    if not child:
        # What hangs is ended, and says so by its exit code.
        signal.alarm(300)
        asked.close()
        for number, stream in enumerate(streams, 1):
            os.dup2(stream, number)
        script, sys.argv, folder, environment = json.loads(told)
        os.chdir(folder)
        os.environ.clear()
        os.environ.update(environment)
    for stream in streams:
        os.close(stream)
    if child:
        asked.send(str(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])).encode())
# Streams are as if they had been there from the start: what they are is looked at when they are opened.
sys.stdout = open(1, "w", encoding="utf-8", closefd=False)
sys.stderr = open(2, "w", encoding="utf-8", errors="backslashreplace", buffering=1, closefd=False)
code = 0
try:
    exec(script)
except SystemExit as end:
    code = end.code or 0
except BaseException:
    traceback.print_exc()
    code = 1
# Python would look through all that was loaded once more.
atexit._run_exitfuncs()
sys.stdout.flush()
os._exit(code)
"""


class Fresh:
    """A fresh process that has run a preamble; each script goes on from there in a fork of its own."""

    def __init__(self, preamble: str, python: Path | str = sys.executable) -> None:
        self._asked, other = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with other:
            self._process = subprocess.Popen(
                [python, "-c", _MAIN, str(other.fileno()), preamble],
                env={**os.environ, "OMP_NUM_THREADS": "1", "PYTHONIOENCODING": "utf-8"},
                stdin=subprocess.DEVNULL,
                pass_fds=[other.fileno()],
            )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._asked.close()
        assert self._process.wait() == 0

    def run(
        self,
        script: str,
        *arguments: object,
        folder: Path | None = None,
        environment: Mapping[str, str] = os.environ,
        stdout: int = subprocess.PIPE,
    ) -> subprocess.CompletedProcess[str]:
        """Run a script with arguments in a folder, as a process that ends as any other does and is asked nothing."""
        words = ["-c", *map(str, arguments)]
        request = json.dumps([script, words, str(folder or Path.cwd()), dict(environment)]).encode()
        (out, stdout_), (err, stderr_) = os.pipe(), os.pipe()
        with ThreadPoolExecutor(2) as readers:
            socket.send_fds(self._asked, [request], [stdout_ if stdout == subprocess.PIPE else stdout, stderr_])
            os.close(stdout_)
            os.close(stderr_)
            printed, told = readers.map(_read, (out, err))
            code = int(self._asked.recv(2**10))
        return subprocess.CompletedProcess(words, code, printed, told)


def _read(end: int) -> str:
    with open(end, encoding="utf-8") as stream:
        return stream.read()


def failed(preamble: str, scripts: dict[str, str]) -> tuple[list[str], str]:
    """Return the names of the scripts that fail after a preamble, and what was written to standard error."""
    with Fresh(preamble) as fresh:
        done = {name: fresh.run(script) for name, script in scripts.items()}
    return [name for name, one in done.items() if one.returncode], "".join(one.stderr for one in done.values())
