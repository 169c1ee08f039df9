"""What is too much to enumerate is refused before it is made."""

from __future__ import annotations

import tracemalloc

import pytest

from dlsched.models import dmlrs
from dlsched.models.dmlrs.schedules import placements


def test_placements_are_counted_as_they_are_made() -> None:
    """Of one job on three machines that hold 367 workers or servers each there are some 10^11."""
    instance = dmlrs.Instance.parse(
        {
            "slots": 1,
            "resources": ["gpu"],
            "machines": [{"name": f"machine{k}", "capacity": {"gpu": 367}} for k in range(3)],
            "jobs": [
                {
                    "name": "job",
                    "arrival": 1,
                    "epochs": 1,
                    "gradient_size": 6,
                    "internal_rate": 100,
                    "external_rate": 1,
                    "worker": {"gpu": 1},
                    "server": {"gpu": 1},
                    "utility": {"kind": "table", "values": [868]},
                    "samples": 3708,
                    "batch": 927,
                    "slots_per_sample": "1/8",
                    "workers_per_server": 10,
                }
            ],
        }
    )
    tracemalloc.start()
    with pytest.raises(ValueError, match="too many placements to enumerate"):
        placements(instance, instance.jobs[0])
    assert tracemalloc.get_traced_memory()[1] < 2**28
    tracemalloc.stop()
