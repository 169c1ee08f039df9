"""DMLRS instances by hand, and small things that tests of DMLRS share."""

from __future__ import annotations

from typing import Any

from dlsched.algorithms import Run
from dlsched.algorithms.baselines.dmlrs.cluster import Round
from dlsched.models.dmlrs import Instance, Schedule


def job(name: str, worker: Any, batch: int, samples: int, **other: Any) -> dict[str, Any]:
    """A job whose workers do one sample a slot wherever they are and whose servers need nothing."""
    return {
        "name": name,
        "arrival": 1,
        "epochs": 1,
        "samples": samples,
        "batch": batch,
        "slots_per_sample": 1,
        "gradient_size": 0,
        "workers_per_server": 1,
        "internal_rate": 1,
        "external_rate": 1,
        "worker": worker,
        "server": {},
        "utility": {"kind": "table", "values": [9, 8, 7, 6, 5, 4, 3, 2, 1]},
    } | other


def built(capacity: list[dict[str, Any]], slots: int, *jobs: dict[str, Any]) -> Instance:
    machines = [{"name": f"m{h + 1}", "capacity": room} for h, room in enumerate(capacity)]
    return Instance.model_validate({"slots": slots, "resources": [*capacity[0]], "machines": machines, "jobs": jobs})


def rounds(result: Run[Schedule]) -> list[Round]:
    return [event for event in result.log if isinstance(event, Round)]
