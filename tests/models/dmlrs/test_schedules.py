"""What is too much to enumerate is refused before it is made."""

from __future__ import annotations

import tracemalloc

import pytest

from dlsched.models import InputError
from dlsched.models.dmlrs.schedules import placements
from tests.cases.dmlrs import built, job


@pytest.mark.slow
def test_placements_are_counted_as_they_are_made() -> None:
    """Of one job on three machines that hold 100 workers or servers each there are some 10^11."""
    instance = built([{"gpu": 100}] * 3, 1, job("job", {"gpu": 1}, 927, 3708, server={"gpu": 1}, workers_per_server=10))
    tracemalloc.start()
    with pytest.raises(InputError, match="too many placements to enumerate"):
        placements(instance, instance.jobs[0], limit=1000)
    assert tracemalloc.get_traced_memory()[1] < 2**24
    tracemalloc.stop()
