"""Logs of jobs that ran, in every format, by hand; and what is refused."""

from __future__ import annotations

import json
from dataclasses import fields
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from dlsched.models import InputError
from dlsched.models.hadar import Instance
from dlsched.traces import Reader, alibaba, columns, logs, philly, reader, tiresias

READERS = {entry.name: entry for entry in (alibaba.READER, columns.READER, philly.READER, tiresias.READER)}
ASKED: dict[str, Any] = {"cluster": "gpu=4", "slots": 20, "slot_seconds": 60}

TIRESIAS = """job_id,num_gpu,submit_time,iterations,model_name,duration,interval
0,1,0,606,vgg19,164,30
1,8,30,133,vgg11,147,23
2,2,150,9,resnet50,60,5
"""
PODS = (
    "name,cpu_milli,memory_mib,num_gpu,gpu_milli",
    "gpu_spec,qos,pod_phase,creation_time,deletion_time,scheduled_time",
)
ALIBABA = f"""{",".join(PODS)}
a,1,1,2,1000,,LS,Succeeded,100,220,160
b,1,1,0,0,nan,LS,Succeeded,100,220,160
c,1,1,1,220,V100M16|V100M32,BE,Running,130,190,130
d,1,1,1,1000,,LS,Pending,131,,
"""
PHILLY = [
    {
        "status": "Pass",
        "vc": "v",
        "jobid": "application_1",
        "attempts": [
            {
                "start_time": "2017-10-07 01:12:09",
                "end_time": "2017-10-07 01:13:23",
                "detail": [{"ip": "m47", "gpus": ["gpu0"]}],
            },
            {
                "start_time": "2017-10-07 01:13:30",
                "end_time": "2017-10-07 01:14:30",
                "detail": [{"ip": "m47", "gpus": ["gpu0", "gpu1"]}, {"ip": "m48", "gpus": ["gpu7"]}],
            },
        ],
        "submitted_time": "2017-10-07 01:11:39",
        "user": "u",
    },
    {"status": "Killed", "vc": "v", "jobid": "application_2", "attempts": [], "submitted_time": "None", "user": "u"},
    {
        "status": "Failed",
        "vc": "v",
        "jobid": "application_3",
        "attempts": [
            {"start_time": "2017-10-07 01:20:00", "end_time": None, "detail": [{"ip": "m1", "gpus": ["gpu0"]}]}
        ],
        "submitted_time": "2017-10-07 01:19:00",
        "user": "u",
    },
]


def made(entry: Reader, path: Path, text: str, **options: Any) -> Instance:
    path.write_text(text, encoding="utf-8")
    instance = entry.read(path, **(ASKED | options))
    assert isinstance(instance, Instance)
    assert Instance.parse(instance.dump()) == instance
    return instance


def told(instance: Instance) -> list[tuple[str, int, int, Fraction]]:
    return [(job.name, job.arrival, job.gang, job.iterations) for job in instance.jobs]


@pytest.mark.parametrize("name", READERS)
def test_readers_are_registered_and_have_the_same_options(name: str) -> None:
    assert reader(name) is READERS[name]
    options = {field.name: field.metadata["help"] for field in fields(READERS[name].options)}
    assert set(options) - {"columns"} == set(ASKED) | {"speeds", "jobs", "skip", "start", "per_machine", "utility"}
    assert all(options.values())


def test_tiresias(tmp_path: Path) -> None:
    instance = made(tiresias.READER, tmp_path / "jobs.csv", TIRESIAS, skip=True)
    assert told(instance) == [("vgg19 #0", 1, 1, 164), ("resnet50 #2", 3, 2, 120)]
    assert instance.origin is not None
    assert instance.origin["skipped"] == "1 jobs: 1 larger than the cluster"
    assert instance.origin["log"].startswith("jobs.csv, sha256 ")
    assert {r: rate for job in instance.jobs for r, rate in job.rate.items()} == {"gpu": 1}


def test_a_job_alone_runs_as_long_as_it_did(tmp_path: Path) -> None:
    """Two GPUs at one device-second a second each: 120 in 60 s, which is one slot."""
    instance = made(tiresias.READER, tmp_path / "jobs.csv", TIRESIAS, skip=True)
    job = instance.job("resnet50 #2")
    assert instance.work(job, "gpu") == job.iterations


def test_alibaba(tmp_path: Path) -> None:
    asked = {"cluster": "V100M16=2,T4=4", "speeds": "V100M16=2", "skip": True}
    instance = made(alibaba.READER, tmp_path / "pods.csv", ALIBABA, **asked)
    assert told(instance) == [("a", 1, 2, 120), ("c", 1, 1, 60)]
    assert [dict(job.rate) for job in instance.jobs] == [{"V100M16": 2, "T4": 1}, {"V100M16": 2}]
    assert instance.origin is not None
    assert instance.origin["skipped"] == "2 jobs: 1 without a GPU; 1 without a scheduled and a deletion time"
    with pytest.raises(InputError, match=r"line 4: runs on V100M16 or V100M32 alone, and the cluster has T4 \(skip "):
        made(alibaba.READER, tmp_path / "pods.csv", ALIBABA.replace("b,1,1,0,", "b,1,1,1,"), cluster="T4=4")


def test_philly(tmp_path: Path) -> None:
    instance = made(philly.READER, tmp_path / "log", json.dumps(PHILLY), skip=True)
    assert told(instance) == [("application_1", 1, 3, 3 * (74 + 60))]
    assert instance.origin is not None
    assert instance.origin["skipped"] == "2 jobs: 2 without a recorded run on GPUs"
    with pytest.raises(InputError, match=r"\[1\]: is without a recorded run on GPUs \(skip leaves such jobs out"):
        made(philly.READER, tmp_path / "log", json.dumps(PHILLY))


def test_any_columns(tmp_path: Path) -> None:
    text = "\ufeffid, gpus ,t,secs,owner\r\nx,2,5.5,30,me\r\ny,1,65.5,1/2,you\r\n"
    asked = {"columns": "name=id,gang=gpus,arrival=t,seconds=secs"}
    instance = made(columns.READER, tmp_path / "jobs.csv", text, **asked)
    assert told(instance) == [("x", 1, 2, 60), ("y", 2, 1, Fraction(1, 2))]
    assert made(columns.READER, tmp_path / "own.csv", "name,arrival,gang,seconds\nz,0,1,9\n").jobs[0].iterations == 9


CSV = "name,arrival,gang,seconds\nx,60,1,9\ny,130,2,5\n"


@pytest.mark.parametrize(
    ("name", "log", "full", "empty", "column"),
    [
        ("csv", CSV, "x,60,", ",60,", "name"),
        ("csv", CSV, "x,60,", "x, ,", "arrival"),
        ("csv", CSV, "60,1,9", "60,,9", "gang"),
        ("csv", CSV, "60,1,9", "60,1,", "seconds"),
        ("tiresias", TIRESIAS, "0,1,0,606", ",1,0,606", "job_id"),
        ("tiresias", TIRESIAS, "vgg19", "", "model_name"),
        ("alibaba", ALIBABA, "a,1,1,2,", ",1,1,2,", "name"),
        ("alibaba", ALIBABA, "a,1,1,2,", "a,1,1,,", "num_gpu"),
        ("alibaba", ALIBABA, ",100,220,160\nb", ",,220,160\nb", "creation_time"),
    ],
)
def test_a_job_with_an_empty_cell_cannot_be_used(
    name: str, log: str, full: str, empty: str, column: str, tmp_path: Path
) -> None:
    """It is told, or left out and counted; slots count from the first arrival that is told all the same."""
    text, asked = log.replace(full, empty, 1), {"cluster": "gpu=8,V100M16=1"}
    assert text != log
    with pytest.raises(InputError, match=rf"log: line 2: is without {column} \(skip leaves such jobs out"):
        made(READERS[name], tmp_path / "log", text, **asked)
    instance = made(READERS[name], tmp_path / "log", text, skip=True, **asked)
    assert instance.origin is not None
    assert f"1 without {column}" in instance.origin["skipped"]
    whole = told(made(READERS[name], tmp_path / "log", log, skip=True, **asked))
    left = [job for job in whole if job[0] not in ("a", "x", "vgg19 #0")]
    late = 1 if (name, column) == ("csv", "arrival") else 0
    assert told(instance) == [(job, arrival - late, *rest) for job, arrival, *rest in left]


def test_devices_may_be_written_with_a_point(tmp_path: Path) -> None:
    """A column of integers with an empty cell is one of floats to whoever writes it."""
    log = "name,arrival,gang,seconds\nx,0,2.0,9\ny,1,1.,5\nz,1,,5\n"
    assert told(made(columns.READER, tmp_path / "log", log, skip=True)) == [("x", 1, 2, 18), ("y", 1, 1, 5)]
    pods = ALIBABA.replace("a,1,1,2,", "a,1,1,2.0,").replace("b,1,1,0,", "b,1,1,0.0,")
    instance = made(alibaba.READER, tmp_path / "pods", pods, skip=True, cluster="T4=2")
    assert told(instance) == [("a", 1, 2, 120)]
    assert instance.origin is not None
    assert "1 without a GPU" in instance.origin["skipped"]


def test_a_log_that_is_too_long_is_refused_however_little_is_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(logs, "MAX_JOBS", 2)
    assert len(made(columns.READER, tmp_path / "log", CSV, jobs=1).jobs) == 1
    with pytest.raises(InputError, match="more than 2 rows; logs of at most so many are read, whatever is taken of"):
        made(columns.READER, tmp_path / "log", f"{CSV}z,3,1,5\n", jobs=1)


def test_a_column_may_have_any_name(tmp_path: Path) -> None:
    asked = {"columns": dict.fromkeys(("name", "arrival", "gang", "seconds"), "a;b")}
    assert told(made(columns.READER, tmp_path / "log", "a;b\n3\n", **asked)) == [("3", 1, 3, 9)]


@pytest.mark.parametrize(
    ("name", "text", "options", "message"),
    [
        ("tiresias", "", {}, "line 1: column 'job_id' is missing; there are none"),
        ("tiresias", TIRESIAS.replace("num_gpu", "gpus"), {}, "line 1: column 'num_gpu' is missing; there are job_id,"),
        (
            "tiresias",
            TIRESIAS.replace(",150,", ",-1,"),
            {"skip": True},
            "line 4, column submit_time: -1 must not be neg",
        ),
        (
            "tiresias",
            TIRESIAS.replace("2,2,", "2,none,"),
            {"skip": True},
            "line 4, column num_gpu: 'none' must be",
        ),
        (
            "csv",
            CSV.replace("60,1,9", f"60,{10**18},9"),
            {},
            "line 2, column gang: '1000000000000000000' must be a positive integer below 1e18",
        ),
        ("tiresias", TIRESIAS.replace(",5\n", "\n"), {"skip": True}, "line 4: 6 cells; line 1 has 7"),
        ("tiresias", TIRESIAS, {}, "line 3: 8 exceeds the 4 devices of the whole cluster (skip leaves such jobs out"),
        ("tiresias", TIRESIAS, {"speeds": "tpu=1"}, "speeds: 'tpu' is no type of the cluster; it has gpu"),
        ("tiresias", TIRESIAS, {"speeds": "gpu=0"}, "speeds: gpu=0 must be positive"),
        ("tiresias", TIRESIAS, {"speeds": "gpu"}, "speeds: gpu: "),
        ("tiresias", TIRESIAS, {"speeds": "gpu=1e300"}, "speeds: gpu: '1e300' must be 0 or between 1e-100 and 1e100"),
        ("tiresias", TIRESIAS, {"speeds": {"gpu": 0}}, "speeds: gpu=0 must be positive"),
        ("tiresias", TIRESIAS, {"utility": "money"}, "utility: "),
        ("philly", "{}", {}, "a dict should be a list"),
        ("philly", '[{"jobid": "a"}]', {}, "[0].submitted_time"),
        ("philly", json.dumps([{**PHILLY[0], "submitted_time": "2017-10-07T01:11:39Z"}]), {}, "[0].submitted_time"),
        (
            "csv",
            CSV.replace("60,1,9", "60,1.5,9"),
            {"skip": True},
            "line 2, column gang: '1.5' must be a positive integer below 1e18",
        ),
        ("csv", CSV.replace("60,1,9", "60,0.0,9"), {}, "line 2, column gang: '0.0' must be a positive integer"),
        ("alibaba", ALIBABA.replace("b,1,1,0,", "b,1,1,x,"), {}, "line 3, column num_gpu: 'x' must be 0 or a"),
        ("csv", CSV.replace("60,1", "2024-03-01 10:00:00,1"), {}, "line 2, column arrival: seconds must be a number"),
        ("csv", CSV.replace("y,", "y" * 300 + ","), {}, "line 3, column name: 'yyy"),
        ("csv", CSV.replace("2,5", "2,9e99"), {}, "line 3: 2 devices times 9e+99 seconds: 1.8e+100 must be 0 or"),
        ("tiresias", TIRESIAS.replace("vgg19", "v" * 300), {}, "line 2, column model_name and job_id: 'vvv"),
        ("alibaba", ALIBABA.replace("a,1", "a" * 300 + ",1"), {}, "line 2, column name: 'aaa"),
        ("philly", json.dumps([{**PHILLY[0], "jobid": "a" * 300}]), {}, "[0].jobid: 'aaa"),
        ("csv", CSV.replace(",", ";"), {}, "line 1: cells must be separated by commas, not by ';'"),
        ("csv", CSV.replace(",", "\t"), {}, "line 1: cells must be separated by commas, not by '\\t'"),
        ("csv", "a,a\n", {"columns": "name=a"}, "line 1: column 'a' is there twice"),
        ("csv", 'a,"b\n', {}, "line 1"),
        ("csv", "a\n", {"columns": "size=a"}, "columns: 'size' is none of name, arrival, gang, seconds"),
        ("csv", "a\n", {"columns": "name"}, "columns: name must name a column"),
    ],
)
def test_bad_logs_and_requests_are_refused(
    name: str, text: str, options: dict[str, Any], message: str, tmp_path: Path
) -> None:
    with pytest.raises(InputError) as caught:
        made(READERS[name], tmp_path / "log", text, **options)
    assert "\n" not in str(caught.value)
    assert message in str(caught.value)


@pytest.mark.shared_data
def test_the_published_list_of_tiresias(shared: Path) -> None:
    path = shared / "data" / "tiresias" / "60_job.csv"
    instance = tiresias.READER.read(path, cluster="gpu=16", slots=2000, slot_seconds=60)
    assert len(instance.jobs) == 60
    assert max(job.gang for job in instance.jobs) <= 16
