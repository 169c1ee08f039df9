"""Small instances whose answers are known by hand, and what the command answered."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

from tests import paths


def _table(*values: int) -> dict[str, Any]:
    return {"kind": "table", "values": list(values)}


def h2() -> dict[str, Any]:
    """Three slots, a machine with two fast devices and one slow one, two jobs; the optimum is 17: both finish at once.

    The first runs on both fast devices and does 2 * 2 = 4 iterations in slot 1, worth 9; the second on the slow one
    does 1 * 2 = 2, worth 8.
    """
    return {
        "slots": 3,
        "slot_seconds": 1,
        "device_types": ["fast", "slow"],
        "machines": [{"name": "m1", "devices": {"fast": 2, "slow": 1}}],
        "jobs": [
            {
                "name": "a",
                "arrival": 1,
                "gang": 2,
                "iterations": 4,
                "rate": {"fast": 2, "slow": 1},
                "utility": _table(9, 6, 3),
            },
            {
                "name": "b",
                "arrival": 1,
                "gang": 1,
                "iterations": 2,
                "rate": {"fast": 1, "slow": 2},
                "utility": _table(8, 5, 1),
            },
        ],
    }


def best() -> dict[str, Any]:
    """The optimal schedule of `h2`."""
    return {
        "problem": "hadar",
        "jobs": {"a": {"slots": {"1": {"m1": {"fast": 2}}}}, "b": {"slots": {"1": {"m1": {"slow": 1}}}}},
    }


def ring() -> dict[str, Any]:
    """Two servers of one GPU and a link of 1; the job's two workers make a ring worth sqrt(2) in the only slot."""
    job = {
        "name": "j",
        "arrival": 1,
        "max_workers": 2,
        "worker": {"gpu": 1},
        "progress": 1,
        "bandwidth": 1,
        "utility": {"kind": "sqrt", "scale": 1},
    }
    return {
        "slots": 1,
        "resources": ["gpu"],
        "nodes": [{"name": "a", "capacity": {"gpu": 1}}, {"name": "b", "capacity": {"gpu": 1}}],
        "links": [{"source": "a", "target": "b", "bandwidth": 1}],
        "duplex": True,
        "jobs": [job],
    }


def s3() -> dict[str, Any]:
    """Three jobs on (10, 8); by exhaustive search 481/105: the second with (2, 3) and the third with (1, 1)."""

    def job(name: str, scale: int, limit: list[int]) -> dict[str, Any]:
        return {
            "name": name,
            "worker": {"gpu": 2, "cpu": 1},
            "server": {"gpu": 1, "cpu": 1},
            "limit": dict(zip(("gpu", "cpu"), limit, strict=True)),
            "utility": {"kind": "hyperbolic", "scale": scale},
            "training": {"kind": "coefficients", "mode": "async", "theta": [0, 1, 6, 6]},
        }

    jobs = [job("a", 30, [8, 6]), job("b", 29, [7, 5]), job("c", 10, [3, 2])]
    return {"resources": ["gpu", "cpu"], "capacity": {"gpu": 10, "cpu": 8}, "jobs": jobs}


D3 = next(
    case["instance"]
    for case in json.loads((paths.GOLDEN / "dmlrs.json").read_text())["instances"]
    if case["name"] == "D3"
)
"""Of the golden instances of DMLRS; the optimum is 12."""


def save(path: Path, data: object) -> Path:
    """Write JSON."""
    path.write_text(json.dumps(data), encoding="utf-8")
    return path


def answer(process: subprocess.CompletedProcess[str], code: int = 0) -> Any:
    """Return the one JSON document on stdout."""
    assert process.returncode == code, process.stderr
    return json.loads(process.stdout)


def refusal(process: subprocess.CompletedProcess[str]) -> str:
    """Return the one line with which bad input was refused, before anything was answered."""
    assert process.stdout == ""
    return complaint(process)


def complaint(process: subprocess.CompletedProcess[str]) -> str:
    """Return the one line that says what went wrong."""
    assert process.returncode == 2, process.stderr
    (line,) = process.stderr.splitlines()
    assert line.startswith("dlsched: error: ")
    return line.removeprefix("dlsched: error: ")
