"""The picture of a schedule draws every device that is in use, once."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from dlsched.models import InputError, build, read
from dlsched.models.hadar import Schedule, plot, random, save_plot
from dlsched.models.hadar.plot import bars
from dlsched.models.hadar.schedule import gang
from dlsched.models.solve import solve


@pytest.mark.parametrize("seed", range(5))
def test_bars_cover_the_devices_in_use_without_overlap(seed: int, tmp_path: Path) -> None:
    instance = random(np.random.default_rng(seed), jobs=4, slots=4)
    model = build("hadar/aggregate", instance)
    solve(model)
    schedule = read(model, instance)
    cells = [(slot, row + k) for _, slot, row, rows in bars(instance, schedule) for k in range(rows)]
    assert len(cells) == len(set(cells)) == sum(gang(a) for _, _, a in schedule.items())
    assert all(0 <= row < instance.devices for _, row in cells)
    ax = plot(instance, schedule)
    assert len(ax.collections) == len(list(bars(instance, schedule)))
    save_plot(instance, schedule, tmp_path / "schedule.png")
    assert (tmp_path / "schedule.png").read_bytes().startswith(b"\x89PNG")


def test_unknown_picture_format(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"pictures are written as .*png.*, not txt"):
        save_plot(random(np.random.default_rng(0)), Schedule.of({}), tmp_path / "schedule.txt")
    assert list(tmp_path.iterdir()) == []


def test_a_broken_schedule_is_refused() -> None:
    instance = random(np.random.default_rng(0))
    with pytest.raises(ValueError, match="cannot be drawn"):
        plot(instance, Schedule.of({"nobody": {1: {"machine1": {"type1": 1}}}}))
