"""Pictures of DDLJS schedules: the cells are the schedule, arrows are its rings, and a broken one is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from dlsched.models import InputError
from dlsched.models.ddljs import Embedding, Instance, Schedule, check, plot, save_plot, worker_slots
from dlsched.models.ddljs.plot import Cell, busiest, cells, plot_rings


def instance() -> Instance:
    """Two racks of two servers with two GPUs each, a spare switch apart, and three jobs over three slots."""
    names = [f"s{n}" for n in range(1, 5)]
    return Instance.parse(
        {
            "slots": 3,
            "resources": ["gpu"],
            "nodes": [*({"name": n, "capacity": {"gpu": 2}} for n in names), {"name": "r1"}, {"name": "r2"}],
            "links": [
                *({"source": n, "target": "r1" if n < "s3" else "r2", "bandwidth": 4} for n in names),
                {"source": "r1", "target": "r2", "bandwidth": 4},
            ],
            "duplex": True,
            "jobs": [
                {
                    "name": name,
                    "arrival": 1,
                    "max_workers": 4,
                    "worker": {"gpu": 1},
                    "progress": 1,
                    "bandwidth": 1,
                    "utility": {"kind": "sqrt", "scale": 1},
                }
                for name in ("a", "b", "c")
            ],
        }
    )


def schedule() -> Schedule:
    """Job a on one server, then on two of one rack; b across the racks in slot 2; c gets nothing."""
    near = Embedding(workers={"s1": 2, "s2": 1}, ring=(("s1", "r1", "s2"), ("s2", "r1", "s1")))
    far = Embedding(workers={"s2": 1, "s3": 2}, ring=(("s2", "r1", "r2", "s3"), ("s3", "r2", "r1", "s2")))
    return Schedule.of(
        {"a": {1: Embedding(workers={"s1": 2}), 2: near}, "b": {2: far, 3: Embedding(workers={"s4": 1})}}
    )


def test_cells_are_the_schedule() -> None:
    drawn = list(cells(instance(), schedule()))
    assert drawn == [Cell("a", 1, 2, 1), Cell("a", 2, 3, 2), Cell("b", 2, 3, 2), Cell("b", 3, 1, 1)]
    assert check(instance(), schedule()) == []
    assert worker_slots(instance(), schedule()) == {"a": 5, "b": 4, "c": 0}


def test_colours_are_workers_and_numbers_servers() -> None:
    ax = plot(instance(), schedule())
    values = ax.collections[0].get_array()
    assert values.filled(0).tolist() == [[2, 3, 0], [0, 3, 1], [0, 0, 0]]
    assert [(t.get_position(), t.get_text()) for t in ax.texts] == [
        ((1, 0), "1"),
        ((2, 0), "2"),
        ((2, 1), "2"),
        ((3, 1), "1"),
    ]
    assert [label.get_text() for label in ax.get_yticklabels()] == ["a", "b", "c"]


def test_rings_of_a_slot() -> None:
    assert busiest(schedule()) == 2
    ax = plot_rings(instance(), schedule(), 2)
    arrows = [text for text in ax.texts if getattr(text, "arrow_patch", None)]
    assert len(arrows) == 4 + 6
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["a: 3 on 2 servers", "b: 3 on 2 servers"]
    numbers = [text.get_text() for text in ax.texts if text.get_text().isdigit()]
    assert numbers == ["2", "2", "2"]
    alone = plot_rings(instance(), schedule(), 3)
    assert not [text for text in alone.texts if getattr(text, "arrow_patch", None)]
    assert [text.get_text() for text in alone.get_legend().get_texts()] == ["b: 1 on s4"]


def test_the_busiest_slot_of_jobs_on_one_server_each() -> None:
    one, two = Embedding(workers={"s1": 1}), Embedding(workers={"s1": 2})
    assert busiest(Schedule.of({"a": {1: one, 2: two, 3: two}})) == 2
    assert busiest(Schedule.of({})) is None


@pytest.mark.slow
@pytest.mark.parametrize(("ending", "start"), [("png", b"\x89PNG"), ("svg", b"<?xml"), ("pdf", b"%PDF")])
def test_a_picture_is_written(tmp_path: Path, ending: str, start: bytes) -> None:
    path = tmp_path / f"schedule.{ending}"
    save_plot(instance(), schedule(), path)
    assert path.read_bytes().startswith(start)


@pytest.mark.slow
def test_the_same_picture_twice(tmp_path: Path) -> None:
    for name in ("one.png", "two.png"):
        save_plot(instance(), schedule(), tmp_path / name)
    assert (tmp_path / "one.png").read_bytes() == (tmp_path / "two.png").read_bytes()


@pytest.mark.slow
def test_an_empty_schedule_and_a_network_in_parts(tmp_path: Path) -> None:
    apart = instance().model_copy(update={"links": ()})
    save_plot(apart, Schedule.of({}), tmp_path / "empty.png")
    save_plot(apart, Schedule.of({"a": {1: Embedding(workers={"s1": 2})}}), tmp_path / "apart.png")
    assert len(list(tmp_path.iterdir())) == 2


@pytest.mark.slow
def test_what_cannot_be_drawn(tmp_path: Path) -> None:
    crowded = Schedule.of({"a": {1: Embedding(workers={"s1": 3})}})
    with pytest.raises(ValueError, match="cannot be drawn"):
        plot(instance(), crowded)
    with pytest.raises(ValueError, match="cannot be drawn"):
        plot_rings(instance(), crowded, 1)
    with pytest.raises(InputError, match=r"pictures are written as .*png.*, not txt"):
        save_plot(instance(), schedule(), tmp_path / "schedule.txt")
    assert list(tmp_path.iterdir()) == []
