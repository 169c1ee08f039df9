"""Input that is made to take for ever, to fill the memory or to flood the terminal: one short line, in little of it."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from dlsched.models.files import MAX_BYTES
from dlsched.traces.gavel_files import MAX_JOBS
from tests import paths
from tests.cli.cases import h2, refusal, save
from tests.longer import longer

pytestmark = pytest.mark.process

DATA = paths.DATA / "gavel"
MEMORY = 2 * 2**30
SHORT = 2100
GAVEL = ("convert", "gavel", "--cluster", "fast=2,slow=2", "--slots", "10", "--slot-seconds", "10")


BOUNDED = """
import contextlib, io, json, resource, sys
from dlsched.cli.main import main

resource.setrlimit(resource.RLIMIT_AS, (int(sys.argv[1]),) * 2)
for line in sys.stdin:
    folder, words = json.loads(line)
    out, err = io.StringIO(), io.StringIO()
    with contextlib.chdir(folder), contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main(words)
    print(json.dumps([code, out.getvalue(), err.getvalue()]), flush=True)
"""
"""Calls the command again and again in a bounded memory."""

Refused = Callable[..., str]


@pytest.fixture(scope="module")
def bounded() -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-c", BOUNDED, str(MEMORY)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        yield process


@pytest.fixture
def refused(bounded: subprocess.Popen[str], tmp_path: Path) -> Refused:
    """Return the line with which the command refuses, in an empty folder and in a bounded memory."""

    def line_of(*arguments: object) -> str:
        words = [*map(str, arguments)]
        assert bounded.stdin is not None
        assert bounded.stdout is not None
        bounded.stdin.write(json.dumps([str(tmp_path), words]) + "\n")
        bounded.stdin.flush()
        line = refusal(subprocess.CompletedProcess(words, *json.loads(bounded.stdout.readline())))
        assert len(line) < SHORT
        assert line.isprintable()
        return line

    return line_of


def _fields(size: int, value: int) -> str:
    """Return the inside of a JSON object with so many fields."""
    return ", ".join(f'"{i}": {value}' for i in range(size))


def _instance(**changed: object) -> str:
    return json.dumps(h2() | changed)


def _job(**changed: object) -> str:
    return _instance(jobs=[h2()["jobs"][0] | changed])


def _broken_jobs() -> str:
    job = json.dumps(h2()["jobs"][0] | {"gang": -2, "iterations": -4})
    count = (MAX_BYTES - 1000) // (len(job) + 2)
    return _instance(jobs=[]).replace('"jobs": []', f'"jobs": [{", ".join([job] * count)}]')


TEXTS: dict[str, tuple[Callable[[], str], str]] = {
    "broken jobs": (_broken_jobs, "jobs[0].gang: -2 should be greater than or equal to 1 (and at least 1 more)"),
    "a million broken rates": (
        lambda: _job(rate={}).replace('"rate": {}', f'"rate": {{{_fields(10**6, -1)}}}'),
        "jobs[0].rate.0: -1 must not be negative",
    ),
    "a million unknown fields": (
        lambda: "{" + _fields(10**6, 0) + "}",
        "0: unknown field",
    ),
    "a key repeated after a million": (
        lambda: "{" + _fields(10**6, 0) + ', "0": 0}',
        f"line 1 column {len(_fields(10**6, 0)) + 4}: key '0' appears twice in one object",
    ),
    "a long table": (
        lambda: _job(utility={"kind": "table", "values": [1] * (2**21 + 1)}),
        f"jobs[0].utility.values: {2**21 + 1} values; it must have at most {2**21}",
    ),
    "millions of lists": (lambda: "[" + "[]," * (MAX_BYTES // 3 - 2) + "[]]", "a list should be an object with fields"),
    "millions of dicts": (lambda: "[" + "{}," * (MAX_BYTES // 3 - 2) + "{}]", "a list should be an object with fields"),
    "deep lists": (lambda: "[" * 10**5 + "]" * 10**5, "line 1 column 100000: nested too deeply"),
    "deep dicts": (lambda: '{"a":' * 10**5 + "1" + "}" * 10**5, "line 1 column 499996: nested too deeply"),
    "an endless integer": (
        lambda: _job(iterations=0).replace('s": 0', 's": 1' + "0" * 10**6),
        "line 1 column 194: has an integer of more",
    ),
    "500 digits": (lambda: _job(iterations=10**500), "jobs[0].iterations: 1000"),
    "500 digits of a count": (lambda: _instance(machines=[{"name": "m", "devices": {"fast": 10**500}}]), "machines[0]"),
    "1e400": (lambda: _job(iterations="1e400"), "jobs[0].iterations: '1e400' must be 0 or between "),
    "1e-400": (lambda: _job(iterations="1e-400"), "jobs[0].iterations: '1e-400' must be 0 or between "),
    "literal 1e400": (lambda: _job(iterations=0).replace('s": 0', 's": 1e400'), "jobs[0].iterations: must be a finite"),
    "literal NaN": (lambda: "NaN", "nan should be an object with fields"),
    "literal Infinity": (lambda: _instance(slots=float("inf")), "slots: inf should be a "),
    "a byte order mark": (lambda: "\ufeff" + _instance(), "starts with a byte order mark; JSON is UTF-8 without one"),
    "a long name": (lambda: _job(name="a" * 10**6), "jobs[0].name: 'aaaa"),
    "a long key": (lambda: _job(rate={"a" * 10**6: 1}), "jobs[0].rate.aaaa"),
    "a long unknown key": (lambda: _job(**{"a" * 10**6: 1}), "jobs[0].aaaa"),
    "a long repeated key": (
        lambda: "{" + (f'"{"a" * 10**6}": 0, ' * 2).removesuffix(", ") + "}",
        "line 1 column 1000009: key 'aaaa",
    ),
    "a long kind": (lambda: _job(utility={"kind": "a" * 10**6}), "jobs[0].utility.kind: 'aaaa"),
    "many types": (
        lambda: _instance(device_types=[f"t{i:05}" for i in range(10**4)]),
        "machines[0].devices.fast: unknown device type; device_types lists t00000, t00001,",
    ),
    "what a terminal obeys": (lambda: _job(**{"\x1b[2J\x07": 1}), r"jobs[0].\x1b[2J\x07: unknown field"),
}


@pytest.mark.parametrize(
    "case",
    longer(TEXTS, "millions of dicts", "millions of lists", "a million unknown fields", "a million broken rates"),
)
def test_instance(refused: Refused, tmp_path: Path, case: str) -> None:
    make, message = TEXTS[case]
    path = tmp_path / "bad.json"
    path.write_text(make(), encoding="utf-8")
    assert refused("run", "hadar", path).startswith(f"{path}: {message}")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b'{"a": "\xff"}', "byte 7 is not UTF-8 text"),
        (_instance().encode("utf-16"), "is not UTF-8 but begins as UTF-16 text; save it as UTF-8 first"),
    ],
)
def test_other_encodings(refused: Refused, tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "bad.json"
    path.write_bytes(content)
    assert refused("run", "hadar", path) == f"{path}: {message}"


def test_broken_schedule(refused: Refused, tmp_path: Path) -> None:
    path = tmp_path / "schedule.json"
    path.write_text(f'{{"problem": "hadar", "jobs": {{{_fields(10**6, 0)}}}}}')
    instance = save(tmp_path / "i.json", h2())
    assert refused("check", "hadar", instance, path).startswith(f"{path}: jobs.0: 0 should be an object with fields")
    data: dict[str, Any] = {"a": {"slots": {"1": {"m1": {"fast": 10**4000}}}}}
    save(path, {"problem": "hadar", "jobs": data})
    message = refused("check", "hadar", instance, path)
    assert message.startswith(f"{path}: jobs.a.slots.1.m1.fast: 1000")


def _laughs(text: str) -> str:
    levels = [f"l{i}: &l{i} [{', '.join([f'*l{i - 1}'] * 9)}]" for i in range(1, 30)]
    return "\n".join(["l0: &l0 [ha]", *levels, text, ""])


XML = '<graphml xmlns="http://graphml.graphdrawing.org/xmlns">'
NODES = "".join(f'<node id="{i}"/>' for i in range(30_000))
DEFAULTS = "".join(f'<key id="k{i}" for="node" attr.name="a{i}"><default/></key>' for i in range(6000))
TOPOLOGIES = {
    "aliases": (_laughs("nodes: {a: *l29}\nedges: []"), "line 2 column 10: not YAML: aliases are not read"),
    "objects": ("nodes: !!python/object/apply:os.mkdir [pwned]\nedges: []\n", "nodes: must be a mapping of ids"),
    "deep YAML": ("[" * 10**6, "nested too deeply"),
    "deep block": ("- " * 500_000, "nested too deeply"),
    "long YAML": ("a" * (2**20 + 1), f"{2**20 + 1} characters; topologies of at most {2**20} are read"),
    "entities": (
        f'<!DOCTYPE a [<!ENTITY a "ha"><!ENTITY b "&a;&a;">]>{XML}<graph>&b;</graph></graphml>',
        "has a document type declaration; such XML is not read",
    ),
    "external entity": (
        f'<?xml version="1.0"?><!DOCTYPE a [<!ENTITY b SYSTEM "file:///etc/hostname">]>{XML}&b;</graphml>',
        "has a document type declaration; such XML is not read",
    ),
    "deep XML": ("<a>" * 300_000, "line 1 column 900001: not XML: no element found"),
    "many defaults": (f"{XML}{DEFAULTS}<graph>{NODES}</graph></graphml>", "nodes: 6000 defaults for each of 30000"),
    "long id": (f'{XML}<graph><node id="{"a" * 10**6}"/></graph></graphml>', "name: 'aaaa"),
}


@pytest.mark.parametrize("case", TOPOLOGIES)
def test_topology(refused: Refused, tmp_path: Path, case: str) -> None:
    text, message = TOPOLOGIES[case]
    path = tmp_path / "network"
    path.write_text(text, encoding="utf-8")
    assert refused("convert", "topology-zoo", path, "--out", "out.json").startswith(f"{path}: {message}")
    assert [file.name for file in tmp_path.iterdir()] == ["network"]


LINE = "Alpha (batch size 8)\tcmd\t-n\t1\t10\t0.0\t1\n"
TRACES = {
    "too many jobs": (LINE * (MAX_JOBS + 1), f"{MAX_JOBS + 1} lines; traces of at most {MAX_JOBS} jobs are read"),
    "empty lines": (LINE + "\n" * (MAX_BYTES - 1000), f"{MAX_BYTES - 999} lines; traces of at most {MAX_JOBS} jobs"),
    "tabs": ("\t" * 10**7, f"line 1: {10**7 + 1} tab-separated columns; a Gavel trace has 7, 10 or 12"),
    "a long number": (LINE.replace("0.0", "1" * 10**7), "line 1, column 6 (arrival): must be a number"),
    "a long model": (LINE.replace("Alpha", "a" * 10**7), "line 1, column 1 (model): 'aaaa"),
}


@pytest.mark.parametrize("case", TRACES)
def test_trace(refused: Refused, tmp_path: Path, case: str) -> None:
    text, message = TRACES[case]
    path = tmp_path / "trace"
    path.write_text(text, encoding="utf-8")
    options = ("--throughputs", DATA / "throughputs.json", "--trace", path, "--out", "out.json")
    assert refused(*GAVEL, *options).startswith(f"{path}: {message}")
    assert [file.name for file in tmp_path.iterdir()] == ["trace"]


def test_throughputs(refused: Refused, tmp_path: Path) -> None:
    path = tmp_path / "throughputs.json"
    path.write_text('{"fast": {"' + "a" * 10**6 + '": {"null": -1}}}')
    message = refused(*GAVEL, "--throughputs", path, "--trace", DATA / "seven.trace.txt")
    assert message.startswith(f"{path}: fast.aaaa")
