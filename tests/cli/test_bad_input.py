"""Bad input: one line on stderr that names the place, the value and the rule, exit code 2, nothing written."""

from __future__ import annotations

import gzip
import json
import re
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dlsched.models import document
from dlsched.models.files import MAX_BYTES
from tests import paths
from tests.cli.cases import best, h2, refusal, save
from tests.cli.conftest import Command

GAVEL = paths.DATA / "gavel"

Edit = Callable[[dict[str, Any]], object]

INSTANCES: dict[str, tuple[Edit, str]] = {
    "unknown field": (lambda i: i.update(slot=3), "slot: unknown field"),
    "unknown field of a job": (lambda i: i["jobs"][1].update(weight=3), "jobs[1].weight: unknown field"),
    "misspelt field": (lambda i: i.update(slotz=i.pop("slots")), "slotz: unknown field; the nearest is slots"),
    "missing field": (lambda i: i.pop("slots"), "slots: required field is missing"),
    "missing field of a job": (lambda i: i["jobs"][0].pop("gang"), "jobs[0].gang: required field is missing"),
    "negative iterations": (lambda i: i["jobs"][0].update(iterations=-4), "jobs[0].iterations: -4 must be positive"),
    "negative rate": (lambda i: i["jobs"][0]["rate"].update(fast=-1), "jobs[0].rate.fast: -1 must not be negative"),
    "negative devices": (lambda i: i["machines"][0]["devices"].update(fast=-1), "machines[0].devices.fast: -1 "),
    "NaN": (lambda i: i["jobs"][0].update(iterations=float("nan")), "jobs[0].iterations: must be a finite number"),
    "infinity": (lambda i: i.update(slot_seconds=float("inf")), "slot_seconds: must be a finite number"),
    "gang larger than the cluster": (
        lambda i: i["jobs"][0].update(gang=4),
        "jobs[0].gang: 4 exceeds the 3 devices of the whole cluster",
    ),
    "arrival after the horizon": (
        lambda i: i["jobs"][1].update(arrival=4),
        "jobs[1].arrival: 4 is after the last slot 3",
    ),
    "no rate": (
        lambda i: i["jobs"][1].update(rate={"fast": 0}),
        "jobs[1].rate: is 0 on every device type; at least one must be positive",
    ),
    "duplicate job": (lambda i: i["jobs"][1].update(name="a"), "jobs[1].name: 'a' is already the name of jobs[0]"),
    "duplicate type": (lambda i: i["device_types"].append("fast"), "device_types[2]: 'fast' is already the name"),
    "unknown type of a job": (
        lambda i: i["jobs"][1]["rate"].update(warp=1),
        "jobs[1].rate.warp: unknown device type; device_types lists fast, slow",
    ),
    "unknown type of a machine": (
        lambda i: i["machines"][0]["devices"].update(warp=1),
        "machines[0].devices.warp: unknown device type",
    ),
    "text for a number": (lambda i: i["jobs"][0].update(gang="two"), "jobs[0].gang: 'two' "),
    "rising utility": (
        lambda i: i["jobs"][0]["utility"].update(values=[1, 2]),
        "jobs[0].utility: increases with the duration",
    ),
    "unknown utility": (
        lambda i: i["jobs"][0]["utility"].update(kind="cubic"),
        "jobs[0].utility.kind: 'cubic' must be one of 'table', ",
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("case", INSTANCES)
def test_bad_instance(dlsched: Command, tmp_path: Path, schedule: Path, case: str) -> None:
    edit, message = INSTANCES[case]
    data = h2()
    edit(data)
    path = save(tmp_path / "bad.json", data)
    assert refusal(dlsched("check", "hadar", path, schedule)).startswith(f"{path}: {message}")


@pytest.mark.parametrize(
    ("problem", "name", "message"),
    [
        ("ddljs", "ddljs-power", "jobs[0].utility.exponent: 1000000000 must be at most 100: exact powers"),
        ("hadar", "huge-utility", "jobs[0].utility.values[0]: '1e400' must be 0 or between 1e-100 and 1e100 in size"),
    ],
)
@pytest.mark.parametrize("verb", ["optimum", "run"])
def test_numbers_that_no_float_holds(dlsched: Command, verb: str, problem: str, name: str, message: str) -> None:
    path = paths.GOLDEN / f"{name}.json"
    what = problem if verb == "optimum" else {"ddljs": "gadget", "hadar": "hadar"}[problem]
    assert refusal(dlsched(verb, what, path)).startswith(f"{path}: {message}")


VERBS = {
    "show": ("show", "hadar/aggregate", "FILE", "--lp", "out", "--json"),
    "solve": ("solve", "hadar/aggregate", "FILE", "--json"),
    "optimum": ("optimum", "hadar", "FILE", "--out", "out", "--json"),
    "run": ("run", "hadar", "FILE", "--out", "out", "--json"),
    "check": ("check", "hadar", "FILE", "FILE", "--json"),
    "replay": ("replay", "FILE", "--json"),
}


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_refuses_a_bad_file_and_writes_nothing(dlsched: Command, tmp_path: Path, verb: str) -> None:
    path = save(tmp_path / "bad.json", h2() | {"slots": -1})
    message = refusal(dlsched(*(path if word == "FILE" else word for word in VERBS[verb])))
    assert message.startswith(f"{path}: ")
    assert [file.name for file in tmp_path.iterdir()] == ["bad.json"]


def _truncated(path: Path) -> None:
    path.write_text(json.dumps(h2())[:100], encoding="utf-8")


def _huge(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(2**30)


def _repeated_key(path: Path) -> None:
    path.write_text('{"slots": 3, "slots": 4}', encoding="utf-8")


def _zipped(path: Path) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("input.json", json.dumps(h2()))


FILES: dict[str, tuple[Callable[[Path], object], str]] = {
    "missing": (lambda path: None, "no such file"),
    "folder": (lambda path: path.mkdir(), "is not a file"),
    "empty": (lambda path: path.touch(), "line 1 column 1: not JSON"),
    "truncated": (_truncated, "line 1 column 95: not JSON: Unterminated string"),
    "not JSON": (lambda path: path.write_text("slots: 3", encoding="utf-8"), "line 1 column 1: not JSON"),
    "another shape": (lambda path: path.write_text("[1, 2]", encoding="utf-8"), "a list "),
    "binary": (lambda path: path.write_bytes(bytes(range(128, 256))), "byte 0 is not UTF-8 text"),
    "gzip": (lambda path: path.write_bytes(gzip.compress(b"{}")), "is compressed by gzip; unpack it first"),
    "zip": (_zipped, "is a zip archive, as .xlsx files are; unpack it, or save it as text, first"),
    "UTF-16": (lambda path: path.write_text("{}", encoding="utf-16"), "is not UTF-8 but begins as UTF-16 text"),
    "nested": (lambda path: path.write_text("[" * 10**6, encoding="utf-8"), "line 1 column 1000000: nested too deeply"),
    "repeated key": (_repeated_key, "line 1 column 14: key 'slots' appears twice in one object"),
    "a gigabyte": (_huge, f"{2**30} bytes; files of at most {MAX_BYTES} bytes are read"),
}


@pytest.mark.parametrize("case", FILES)
def test_unreadable_file(dlsched: Command, tmp_path: Path, schedule: Path, case: str) -> None:
    make, message = FILES[case]
    path = tmp_path / "input.json"
    make(path)
    assert refusal(dlsched("check", "hadar", path, schedule)).startswith(f"{path}: {message}")


WRONG: dict[str, tuple[tuple[str, ...], str]] = {
    "an instance of another problem": (("optimum", "smd", "i.json"), "i.json: is an instance of hadar: resources: "),
    "an instance that is no schedule": (("check", "i.json", "i.json"), "i.json: is an instance of hadar: slots: "),
    "a schedule that is no instance": (("optimum", "s.json"), "s.json: is a schedule of hadar, not an instance"),
    "a schedule that is no certificate": (("certify", "s.json"), "s.json: is a schedule of hadar: certificate: "),
    "a certificate that is no schedule": (("check", "i.json", "c.json"), "c.json: is a certificate: jobs: "),
    "a certificate that is no witness": (("replay", "c.json"), "c.json: is a certificate: claim: "),
    "an instance that is no witness": (("replay", "i.json"), "i.json: is an instance of hadar and no witness; "),
    "a witness that is no instance": (("optimum", "w.json"), "w.json: is a witness, not an instance"),
    "a name of no witness": (
        ("replay", "hadar-theorem-2-stagered"),
        "unknown witness 'hadar-theorem-2-stagered'; of ",
    ),
}


@pytest.mark.parametrize("case", WRONG)
def test_a_file_of_another_kind_is_recognised(dlsched: Command, tmp_path: Path, case: str) -> None:
    words, message = WRONG[case]
    save(tmp_path / "i.json", h2())
    save(tmp_path / "s.json", best() | {"problem": "hadar"})
    save(tmp_path / "c.json", {"certificate": "dlsched-exact-1", "nodes": []})
    save(tmp_path / "w.json", {"claim": "hadar/theorem-1", "variant": "printed", "instance": h2()})
    assert refusal(dlsched(*words)).startswith(message)


def test_what_would_be_too_large_to_read_is_not_written(
    dlsched: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(document, "MAX_BYTES", 1000)
    message = refusal(dlsched("generate", "hadar", "--preset", "benchmark", "--out", "large.json"))
    assert re.fullmatch(r"large.json: would be \d+ bytes; files of at most 1000 bytes are read", message)
    assert not list(tmp_path.iterdir())


def test_a_table_in_place_of_an_instance(dlsched: Command, tmp_path: Path) -> None:
    path = tmp_path / "jobs.csv"
    path.write_text("job,gpus\na,2\n", encoding="utf-8")
    assert refusal(dlsched("run", "srtf", path)) == (
        f"{path}: line 1 column 1: not JSON: Expecting value; `dlsched convert` makes an instance of such files"
    )


@pytest.mark.parametrize("case", ["a gigabyte", "truncated", "folder", "binary"])
def test_unreadable_throughputs_and_trace(dlsched: Command, tmp_path: Path, case: str) -> None:
    path = tmp_path / "input"
    FILES[case][0](path)
    for throughputs, trace in ((path, GAVEL / "seven.trace.txt"), (GAVEL / "throughputs.json", path)):
        assert refusal(dlsched(*_convert(throughputs=throughputs, trace=trace), "--out", "out")).startswith(f"{path}: ")
    assert not (tmp_path / "out").exists()


def _convert(**changed: object) -> list[object]:
    options: dict[str, object] = {
        "throughputs": GAVEL / "throughputs.json",
        "trace": GAVEL / "seven.trace.txt",
        "cluster": "fast=2,slow=2",
        "slots": 10,
        "slot-seconds": 10,
        **changed,
    }
    return ["convert", "gavel", *(word for name, value in options.items() for word in (f"--{name}", value))]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("Delta\tcmd\t-n\t1\t10\t0.0\t1", "line 1, column 1 (model): 'Delta' is not a model of throughputs.json"),
        ("Gamma\tcmd\t-n\t1\t-10\t0.0\t1", "line 1, column 5 (total steps): '-10' must be a positive integer"),
        ("Gamma\tcmd\t-n\t1\t10\tNaN\t1", "line 1, column 6 (arrival): must be a number"),
        ("Gamma\tcmd\t-n\t1\t10\t-0.5\t1", "line 1, column 6 (arrival): -0.5 must not be negative"),
        ("Gamma\tcmd\t-n\t1\t10\t\t1", "line 1, column 6 (arrival): must be a number"),
        ("\tcmd\t-n\t1\t10\t0.0\t1", "line 1, column 1 (model): must not be empty"),
        ("Gamma\tcmd\t-n\t1\t10", "line 1: 5 tab-separated columns; a Gavel trace has 7, 10 or 12"),
        ("Gamma\tcmd\t-n\t1\t10\t0.0\t9", "line 1, column 7 (scale factor): 9 exceeds the 4 devices"),
    ],
)
def test_bad_trace(dlsched: Command, tmp_path: Path, line: str, message: str) -> None:
    path = tmp_path / "trace.txt"
    path.write_text(line + "\n", encoding="utf-8")
    assert refusal(dlsched(*_convert(trace=path), "--out", "out")).startswith(f"{path}: {message}")
    assert not (tmp_path / "out").exists()


_LIST = "job_id,num_gpu,submit_time,model_name,duration\n"
_PODS = "name,num_gpu,gpu_spec,creation_time,deletion_time,scheduled_time\n"
_ATTEMPT = '{"start_time": "2017-10-07 01:12:09", "end_time": "2017-10-07 01:12:08", "detail": [{"gpus": ["g"]}]}'


@pytest.mark.parametrize(
    ("format_", "text", "message"),
    [
        (
            "tiresias",
            f"{_LIST}0,1,,vgg,9\n",
            "line 2: is without submit_time (skip leaves such jobs out and counts them)",
        ),
        ("tiresias", f"{_LIST}0,,0,vgg,9\n", "line 2: is without num_gpu (skip "),
        ("tiresias", f"{_LIST}0,1,0,vgg,\n", "line 2: is without duration (skip "),
        ("tiresias", f"{_LIST}0,1,0,vgg\n", "line 2: 4 cells; line 1 has 5"),
        ("tiresias", f"{_LIST}0,1,-3,vgg,9\n", "line 2, column submit_time: -3 must not be negative"),
        ("tiresias", f"{_LIST}0,1,0,vgg,-9\n", "line 2, column duration: -9 must not be negative"),
        ("tiresias", f"{_LIST}0,5,0,vgg,9\n", "line 2: 5 exceeds the 4 devices of the whole cluster (skip leaves"),
        ("tiresias", f"{_LIST}0,1,0,vgg,9\n1,1,9999,vgg,9\n", "line 3: arrives in slot 1000, after the last slot 10"),
        ("csv", "name,arrival,gang,seconds\n,0,1,9\n", "line 2: is without name (skip "),
        ("csv", "name,arrival,gang,seconds\na,0,1,9\na,0,1,9\n", "line 3: 'a' is already the name of the job at line"),
        ("alibaba", f"{_PODS}a,1,,0,10,20\n", "line 2: is of negative length (skip leaves"),
        ("alibaba", f"{_PODS}a,1,A100,0,20,10\n", "line 2: runs on A100 alone, and the cluster has fast, slow"),
        (
            "philly",
            f'[{{"jobid": "a", "submitted_time": "2017-10-07 01:12:00", "attempts": [{_ATTEMPT}]}}]',
            "[0]: is of negative length (skip leaves",
        ),
    ],
)
def test_bad_log(dlsched: Command, tmp_path: Path, format_: str, text: str, message: str) -> None:
    path = tmp_path / "log"
    path.write_text(text, encoding="utf-8")
    asked = ("--cluster", "fast=2,slow=2", "--slots", 10, "--slot-seconds", 10, "--out", "out")
    assert refusal(dlsched("convert", format_, path, *asked)).startswith(f"{path}: {message}")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("option", "text", "message"),
    [
        ("--columns", "gang=gpus,seconds=s,gang=slots", "columns: 'gang' is named twice"),
        ("--speeds", "fast=2,slow=1,fast=2", "speeds: 'fast' is named twice"),
        ("--cluster", "fast=2,slow=2, fast=1", "cluster: 'fast' is named twice"),
    ],
)
def test_a_name_that_is_given_twice(dlsched: Command, tmp_path: Path, option: str, text: str, message: str) -> None:
    (tmp_path / "jobs.csv").write_text("name,arrival,gang,seconds\na,0,1,9\n", encoding="utf-8")
    asked = ("--cluster", "fast=2,slow=2", "--slots", 10, "--slot-seconds", 10, option, text)
    assert refusal(dlsched("convert", "csv", "jobs.csv", *asked)) == message


@pytest.mark.slow
def test_bad_conversion_options(dlsched: Command) -> None:
    assert refusal(dlsched(*_convert(cluster="fast=2,slow"))).startswith("cluster: 'slow' must be TYPE=DEVICES")
    assert "has no device type 'warp'" in refusal(dlsched(*_convert(cluster="warp=2")))
    assert refusal(dlsched(*_convert(**{"slot-seconds": "nan"}))).startswith("slot_seconds: nan is not a number")
    assert refusal(dlsched(*_convert(jobs=99), "--skip")).endswith("99 jobs asked for; it has 7")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("fly",), "No such command 'fly'."),
        (("solve",), "Missing argument 'FORMULATION'."),
        (("list", "--nope"), "No such option: --nope"),
        (("solve", "hadar/p9", "x.json"), "unknown formulation 'hadar/p9'; of 42, the nearest are hadar/p3, "),
        (("list", "claim"), "unknown kind 'claim'; there are problems, formulations, algorithms, presets, formats, "),
        (("list", "claims", "hadar/lema-1"), "unknown name 'hadar/lema-1'; of "),
        (("optimum", "nowhere.json"), "nowhere.json: no such file"),
        (("optimum", "hadar", "smd", "x.json"), "too many arguments: smd"),
        (("check",), "Missing argument 'FILE'"),
        (("check", "x.json"), "Missing argument 'SCHEDULE'"),
        (("check", "x.json", "--plot", "p.png"), "Missing argument 'SCHEDULE'"),
        (("reproduce", "gadgets/5"), "unknown figure 'gadgets/5'; of 49, the nearest are gadget/5, "),
        (("optimum", "warp", "x.json"), "unknown problem 'warp'; there are "),
        (("run", "warp", "x.json"), "unknown algorithm 'warp'; there are drf, fifo, gadget,"),
        (("run", "gavel", "x.json", "--mode", "rounds"), "No such option: --mode"),
        (("run", "hadar", "x.json", "--variant", "odd"), "Invalid value for '--variant'"),
        (("run", "hadar", "x.json", "--seed", "-1"), "Invalid value for '--seed'"),
        (("optimum", "hadar", "x.json", "--time-limit", "nan"), "Invalid value for '--time-limit'"),
        (("optimum", "hadar", "x.json", "--jobs", "0"), "Invalid value for '--jobs'"),
        (("solve", "hadar/p1", "x.json", "--time-limit", "0"), "Invalid value for '--time-limit'"),
        (("solve", "hadar/p1", "x.json", "--solver", "warp"), "unknown solver 'warp'; there are highs, scip"),
        (("generate", "hadar", "--preset", "warp"), "unknown preset 'warp'; there are random, "),
        (("generate", "hadar", "--preset", "motivation", "--jobs", "3"), "--jobs: preset motivation takes "),
        (("generate", "hadar", "--jobs", "1000001"), "Invalid value for '--jobs'"),
        (("generate", "hadar", "--out", "no/such/folder"), "no/such/folder: "),
        (("verify", "hadar/lemma-99"), "hadar/lemma-99: unknown claim"),
        (("verify", "--instances", "-1"), "Invalid value for '--instances': '-1' should be greater than or equal to 0"),
        (("verify", "--on", "x.json", "--instances", "1"), "--instances: goes with draws, not with --on"),
        (("verify", "hadar/lemma-99", "--on", "x.json"), "hadar/lemma-99: unknown claim"),
        (("verify", "hadar", "--on", "nowhere.json"), "nowhere.json: no such file"),
        (("replay", "nowhere.json"), "nowhere.json: no such file"),
        (("schema", "warp"), "unknown problem 'warp'; there are "),
    ],
)
def test_bad_usage(dlsched: Command, tmp_path: Path, arguments: tuple[str, ...], message: str) -> None:
    assert refusal(dlsched(*arguments)).startswith(message)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "arguments",
    [
        ("generate", "hadar", "--seed", "-1"),
        ("generate", "hadar", "--jobs", "1000001"),
        ("generate", "hadar", "--jobs", "1e3"),
        ("attack", "hadar/theorem-2", "--seconds", "soon"),
        ("run", "hadar", "x.json", "--variant", "odd"),
    ],
)
def test_a_bad_value_is_named(dlsched: Command, arguments: tuple[str, ...]) -> None:
    _, rule = refusal(dlsched(*arguments)).split(f"Invalid value for '{arguments[-2]}': ")
    assert rule.replace("'", "").startswith(arguments[-1])


@pytest.mark.slow
@pytest.mark.parametrize("arguments", [(), ("convert",)])
def test_a_missing_verb_is_answered_with_the_help(dlsched: Command, arguments: tuple[str, ...]) -> None:
    bare, asked = dlsched(*arguments), dlsched(*arguments, "--help")
    assert (bare.returncode, bare.stdout, bare.stderr.split()) == (2, "", asked.stdout.split())
    assert (asked.returncode, asked.stderr) == (0, "")


@pytest.mark.slow
def test_a_database_with_other_settings_is_refused(dlsched: Command, tmp_path: Path) -> None:
    path = tmp_path / "verdicts.sqlite"
    options = ("verify", "hadar/initial-dual", "--jobs", "1", "--out", path)
    first = dlsched(*options, "--instances", "0")
    assert first.returncode in (0, 1), first.stderr
    assert refusal(dlsched(*options, "--instances", "1")).startswith(f"{path}: was made with instances '0', not '1'")


def test_a_number_that_no_solver_takes_is_named(dlsched: Command, tmp_path: Path) -> None:
    data = json.loads(dlsched("generate", "smd", "--jobs", 2).stdout)
    for job in data["jobs"]:
        job["utility"] = {"kind": "step", "value": 1e21, "deadline": 1e5}
    save(tmp_path / "huge.json", data)
    assert refusal(dlsched("solve", "smd/minlp", "huge.json", "--solver", "scip")) == (
        "total_utility: has the number 1e+21; solver scip takes numbers below 1e+20 in size"
    )
