"""Instances of GPUs of one type from rows of (name, arrival, gang, duration) in seconds."""

from __future__ import annotations

from collections.abc import Sequence

from dlsched.algorithms.simulator import Simulation
from dlsched.models.hadar import Instance
from tests.oracles.gpus import Job


def instance_of(jobs: Sequence[Job], count: int, *, seconds: int = 1000, slot: int = 1) -> Instance:
    """One machine with so many GPUs; a job does an iteration a second on each."""
    return Instance.parse(
        {
            "slots": seconds // slot,
            "slot_seconds": slot,
            "device_types": ["gpu"],
            "machines": [{"name": "m", "devices": {"gpu": count}}],
            "jobs": [
                {
                    "name": name,
                    "arrival": arrival // slot + 1,
                    "gang": gang,
                    "iterations": gang * duration,
                    "rate": {"gpu": 1},
                    "utility": {"kind": "linear", "intercept": seconds, "slope": 1},
                }
                for name, arrival, gang, duration in jobs
            ],
        }
    )


def spans(simulation: Simulation) -> list[tuple[str, float, float]]:
    """Who had devices from when to when, by the start."""
    found = [(segment.job, float(segment.start), float(segment.end)) for segment in simulation.segments]
    return sorted(found, key=lambda span: (span[1], span[0]))
