"""The picture of an SMD schedule: every admitted job's reservation and use, side by side, never beyond the capacity."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from dlsched.algorithms import optimum
from dlsched.models import InputError
from dlsched.models.smd import Schedule, plot, random, save_plot
from dlsched.models.smd.plot import bars


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(6))
def test_bars_lie_side_by_side_within_the_capacity(seed: int, tmp_path: Path) -> None:
    instance = random(np.random.default_rng(seed), jobs=5)
    schedule = optimum(instance).schedule
    found = list(bars(instance, schedule))
    for resource in instance.resources:
        row = [bar for bar in found if bar.resource == resource]
        assert [bar.start for bar in row] == pytest.approx([sum(b.reserved for b in row[:k]) for k in range(len(row))])
        assert sum(bar.reserved for bar in row) <= 1 + 1e-9
        assert all(0 <= bar.used <= bar.reserved + 1e-9 for bar in row)
    assert len(plot(instance, schedule).patches) == 2 * len(found)
    save_plot(instance, schedule, tmp_path / "schedule.png")
    assert (tmp_path / "schedule.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.slow
def test_what_cannot_be_drawn(tmp_path: Path) -> None:
    instance = random(np.random.default_rng(0))
    with pytest.raises(ValueError, match="cannot be drawn"):
        plot(instance, Schedule.of({"nobody": (1, 1)}))
    with pytest.raises(InputError, match="pictures are written as"):
        save_plot(instance, Schedule.of({}), tmp_path / "schedule.txt")
