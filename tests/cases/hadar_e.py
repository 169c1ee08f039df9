"""Batches of jobs on nodes with one device each, as instances."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from dlsched.models.hadar import Instance

Number = int | str | Fraction


def batch(
    speeds: Mapping[str, Sequence[Number]],
    iterations: Mapping[str, Number],
    *,
    seconds: Number = 10,
    slots: int = 20,
    **fields: Any,
) -> Instance:
    """Return jobs that are there from the beginning, worth less by 1 a slot; speeds by job and node.

    Other fields of the jobs are given by name, the same for all.
    """
    nodes = [f"n{h}" for h in range(1, 1 + len(next(iter(speeds.values()))))]
    return Instance.parse(
        {
            "slots": slots,
            "slot_seconds": _plain(seconds),
            "device_types": nodes,
            "machines": [{"name": node, "devices": {node: 1}} for node in nodes],
            "jobs": [
                {
                    "name": name,
                    "arrival": 1,
                    "gang": 1,
                    "iterations": _plain(work),
                    "rate": {node: _plain(speed) for node, speed in zip(nodes, speeds[name], strict=True)},
                    "utility": {"kind": "table", "values": list(range(2 * slots, slots, -1))},
                    **fields,
                }
                for name, work in iterations.items()
            ],
        }
    )


def _plain(number: Number) -> int | str:
    return str(number) if isinstance(number, Fraction) else number
