"""Scripts in fresh processes that start quickly: what others bring is loaded once, and each has a fork of that."""

from __future__ import annotations

import json
import subprocess
import sys

_MAIN = """
import json, os, sys, traceback

preamble, scripts = json.load(sys.stdin)
exec(preamble)
failed = []
for name, script in scripts.items():
    child = os.fork()
    if child == 0:
        try:
            exec(script)
        except BaseException:
            traceback.print_exc()
            os._exit(1)
        os._exit(0)
    if os.waitpid(child, 0)[1]:
        failed.append(name)
print(json.dumps(failed))
"""


def failed(preamble: str, scripts: dict[str, str]) -> tuple[list[str], str]:
    """Return the names of the scripts that fail after a preamble, and what was written to standard error."""
    command = [sys.executable, "-c", _MAIN]
    done = subprocess.run(command, input=json.dumps([preamble, scripts]), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout), done.stderr
