"""Hadar instances: what is refused, in which words, and what files keep."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given

from dlsched.models import InputError
from dlsched.models.hadar import PRESETS, Instance, preset, random
from tests.cases.documents import changed, refused
from tests.strategies.hadar import hadar_data

GOOD: dict[str, Any] = {
    "slots": 3,
    "slot_seconds": 1,
    "device_types": ["v100", "k80"],
    "machines": [{"name": "m", "devices": {"v100": 2}}, {"name": "n", "devices": {"k80": 2}}],
    "jobs": [
        {
            "name": name,
            "arrival": 1,
            "gang": 2,
            "iterations": "80/3",
            "rate": {"v100": 4, "k80": 0.5},
            "utility": {"kind": "table", "values": [20, 15, 10]},
        }
        for name in ("a", "b")
    ],
}


COST = {"kind": "power", "scale": -1, "exponent": 2}


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        ("extra", 1, "extra: unknown field"),
        ("jobs.1.colour", "red", "jobs[1].colour: unknown field"),
        ("slots", ..., "slots: required field is missing"),
        ("jobs.0.gang", ..., "jobs[0].gang: required field is missing"),
        ("slots", 0, "slots: 0 should be greater than or equal to 1"),
        ("slots", 2.5, "slots: 2.5 should be a valid integer"),
        ("slots", True, "slots: True should be a valid integer"),
        ("slot_seconds", -1, "slot_seconds: -1 must be positive"),
        ("slot_seconds", float("nan"), "slot_seconds: must be a finite number, not nan"),
        ("jobs.0.iterations", 0, "jobs[0].iterations: 0 must be positive"),
        ("jobs.0.iterations", "x", "jobs[0].iterations: must be a number or a string \"p/q\", not 'x'"),
        ("jobs.0.rate.v100", -4, "jobs[0].rate.v100: -4 must not be negative"),
        ("jobs.0.rate", {"v100": 0}, "jobs[0].rate: is 0 on every device type; at least one must be positive"),
        ("jobs.0.rate.tpu", 1, "jobs[0].rate.tpu: unknown device type; device_types lists k80, v100"),
        ("machines.0.devices.tpu", 1, "machines[0].devices.tpu: unknown device type; device_types lists k80, v100"),
        ("machines.0.devices.v100", -1, "machines[0].devices.v100: -1 should be greater than or equal to 0"),
        ("jobs.1.gang", 5, "jobs[1].gang: 5 exceeds the 4 devices of the whole cluster"),
        ("jobs.1.arrival", 4, "jobs[1].arrival: 4 is after the last slot 3"),
        ("jobs.1.name", "a", "jobs[1].name: 'a' is already the name of jobs[0]"),
        ("machines.1.name", "m", "machines[1].name: 'm' is already the name of machines[0]"),
        ("device_types", ["v100", "k80", "k80"], "device_types[2]: 'k80' is already the name of device_types[1]"),
        ("jobs.0.utility.values", [1, 2], "jobs[0].utility: increases with the duration; it must be non-increasing"),
        ("jobs.0.utility.values", [2, -1], "jobs[0].utility.values[1]: -1 must not be negative"),
        ("jobs.0.utility", COST, "jobs[0].utility: is -4 at 2; a utility of the duration must not be"),
        ("jobs.0.utility.kind", "cube", "jobs[0].utility.kind: 'cube' must be one of "),
    ],
)
def test_bad_instances_are_refused_in_one_line(path: str, value: Any, message: str) -> None:
    assert refused(Instance.parse, changed(GOOD, path, value)).startswith(message)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"slots": 3', "line 1 column 12: not JSON"),
        ("", "line 1 column 1: not JSON"),
        ("[1, 2]", "a list should be an object with fields"),
        ('{"slots": 1, "slots": 2}', "key 'slots' appears twice"),
        ("[" * 100_000, "nested too deeply"),
        ('{"slots": ' + "1" * 5000 + "}", "has an integer of more than 4300 digits"),
    ],
)
def test_bad_files_are_refused_in_one_line(tmp_path: Path, text: str, message: str) -> None:
    file = tmp_path / "instance.json"
    file.write_text(text)
    line = refused(Instance.load, file)
    assert line.startswith(str(file))
    assert message in line


def test_unreadable_files(tmp_path: Path) -> None:
    huge, binary = tmp_path / "huge.json", tmp_path / "binary.json"
    with huge.open("wb") as stream:
        stream.truncate(10**9)
    binary.write_bytes(b"\xff\xfe\x00")
    for file, message in [
        (huge, "files of at most"),
        (binary, "not UTF-8"),
        (tmp_path, "is not a file"),
        (tmp_path / "no", "no such"),
    ]:
        with pytest.raises(InputError, match=message):
            Instance.load(file)


@pytest.mark.slow
@given(hadar_data())
def test_a_file_keeps_the_instance(data: dict[str, Any]) -> None:
    instance = Instance.parse(data)
    again = Instance.parse(json.loads(json.dumps(instance.dump())))
    assert again == instance
    assert again.digest == instance.digest


def test_save_and_load(tmp_path: Path) -> None:
    instance = Instance.parse(GOOD | {"origin": {"from": "a test"}})
    file = tmp_path / "instance.json"
    instance.save(file)
    assert Instance.load(file) == instance
    assert instance.digest == Instance.parse(GOOD).digest
    assert [entry.name for entry in tmp_path.iterdir()] == ["instance.json"]
    with pytest.raises(InputError):
        instance.save(tmp_path / "missing" / "instance.json")


def test_derived_quantities() -> None:
    instance = Instance.parse(GOOD)
    job = instance.job("a")
    assert instance.capacity == {"v100": 2, "k80": 2}
    assert instance.devices == 4
    assert instance.work(job, "k80") == Fraction(1)
    assert instance.levels(job) == ("v100", "k80")
    assert instance.eligible(job, "k80") == ("v100", "k80")
    tied = Instance.parse(changed(GOOD, "jobs.0.rate", {"v100": 1, "k80": 1}))
    assert tied.levels(tied.job("a")) == ("v100",)
    wide = Instance.parse(changed(GOOD, "jobs.0.gang", 3))
    assert wide.levels(wide.job("a")) == ("k80",)


@pytest.mark.slow
@pytest.mark.parametrize("name", PRESETS)
def test_presets_are_valid_and_seeded(name: str) -> None:
    first = preset(name, 3)
    assert Instance.parse(first.dump()) == first
    assert preset(name, 3) == first
    if name != "motivation":
        assert preset(name, 4) != first


def test_unknown_preset() -> None:
    with pytest.raises(InputError, match="unknown preset 'none'"):
        preset("none")


@pytest.mark.parametrize(("jobs", "machines", "slots"), [(8, 4, 10), (12, 5, 15), (20, 10, 20), (40, 15, 40)])
def test_benchmark_family(jobs: int, machines: int, slots: int) -> None:
    instance = preset("benchmark", 0, jobs=jobs, machines=machines, slots=slots)
    assert len(instance.jobs) == jobs
    assert instance.devices == 4 * machines
    assert instance.jobs[0].arrival == 1
    assert max(job.arrival for job in instance.jobs) <= max(1, slots // 3)
    for job in instance.jobs:
        assert job.gang in (1, 2, 4, 8)
        assert job.utility.exact(0) == job.iterations


def test_random_covers_the_sizes_asked_for() -> None:
    instance = random(np.random.default_rng(1), jobs=4, machines=3, types=2, slots=5)
    assert (len(instance.jobs), len(instance.machines), len(instance.device_types), instance.slots) == (4, 3, 2, 5)


@pytest.mark.parametrize("type_", ["v100", "p100", "k80"])
def test_the_papers_jobs_have_the_hours_of_their_models(type_: str) -> None:
    """Hours on the type that is asked for are within those that the paper prints; draws are of the same jobs."""
    instance, usual = preset("paper", 0, jobs=200, hours_on=type_), preset("paper", 0, jobs=200)
    assert [(job.gang, job.rate) for job in instance.jobs] == [(job.gang, job.rate) for job in usual.jobs]
    hours = {
        Fraction("17.9949"): (0.05, 1),
        Fraction("4.4261"): (1, 10),
        Fraction("28.24"): (10, 50),
        Fraction("5.4461"): (10, 50),
        Fraction("4.3948"): (60, 100),
    }
    for job in instance.jobs:
        least, most = hours[job.rate["v100"]]
        assert least - 1e-3 <= float(job.iterations / job.rate[type_]) / 3600 <= most + 1e-3
    assert {job.rate["v100"] for job in instance.jobs} == set(hours)
    assert instance.capacity == {"v100": 20, "p100": 20, "k80": 20}


def test_the_papers_cluster_grows_and_its_types_are_known() -> None:
    assert preset("paper", 0, jobs=1, machines=5).capacity == {"v100": 8, "p100": 8, "k80": 4}
    origin = preset("paper", 0, jobs=1, hours_on="k80").origin or {}
    assert "assumed: four devices of one type on each" in origin["nodes"]
    assert origin["GPU-hours"] == "assumed: on a K80, uniform within a group, and at least three minutes"
    with pytest.raises(InputError, match="hours_on: 't4' is none of v100, p100, k80"):
        preset("paper", 0, jobs=1, hours_on="t4")
