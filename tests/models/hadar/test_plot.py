"""The picture of a schedule draws every device that is in use, once."""

from __future__ import annotations

from collections import Counter
from math import ceil
from pathlib import Path

import numpy as np
import pytest

from dlsched.models import InputError, build, read
from dlsched.models.hadar import Schedule, plot, random, save_plot, utility
from dlsched.models.hadar.plot import bars, spans
from dlsched.models.hadar.schedule import gang
from dlsched.models.solve import solve


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(5))
def test_bars_cover_the_devices_in_use_without_overlap(seed: int, tmp_path: Path) -> None:
    instance = random(np.random.default_rng(seed), jobs=4, slots=4)
    model = build("hadar/aggregate", instance)
    solve(model)
    schedule = read(model, instance)
    drawn = list(bars(instance, spans(schedule)))
    cells = [
        (job, slot, row + k)
        for job, start, end, row, rows in drawn
        for slot in range(ceil(start), ceil(end))
        for k in range(rows)
    ]
    assert len(cells) == len({cell[1:] for cell in cells})
    assert Counter(cell[:2] for cell in cells) == {(name, slot): gang(a) for name, slot, a in schedule.items()}
    assert all(0 <= row < instance.devices for _, _, row in cells)
    ax = plot(instance, schedule)
    assert len(ax.collections) == len(drawn)
    assert ax.get_xlim()[1] == max(slot for _, slot, _ in cells) + 0.5
    assert ax.get_title().startswith(
        f"utility {float(utility(instance, schedule)):.6g}, {len(schedule.jobs)} of 4 jobs"
    )
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
