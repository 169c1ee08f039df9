"""`verify`: the same table whatever the processes and however often it is killed; settings, files and progress."""

from __future__ import annotations

import json
import multiprocessing
import random
import signal
import sqlite3
import subprocess
import sys
from collections import Counter
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from dlsched.bounds import Outcome, Status, WorkersLostError, claim, claims, replay, verify
from dlsched.bounds.claim import Variant
from dlsched.bounds.search import plan
from dlsched.bounds.witness import shipped
from dlsched.models import InputError
from dlsched.tolerances import TOLERANCE
from tests.longer import longer

FAST = ("hadar/definition-1", "hadar/lemma-3", "hadar/positive-prices")
INSTANCES = 8
SCRIPT = """
import json, sys
from dlsched.bounds import verify

def main():
    out, jobs = sys.argv[1], int(sys.argv[2])
    def progress(there, total):
        print(there, total, flush=True)
    report = verify({claims!r}, instances={instances}, seed=3, jobs=jobs, out=out, progress=progress)
    print(json.dumps(report.dump()), flush=True)

if __name__ == "__main__":
    main()
"""


@pytest.fixture(scope="module")
def undisturbed() -> dict[str, Any]:
    return verify(FAST, instances=INSTANCES, seed=3).dump()


@pytest.mark.slow
def test_rows_count_every_verdict_and_are_sorted(undisturbed: dict[str, Any]) -> None:
    rows = undisturbed["claims"]
    assert rows == sorted(rows, key=lambda row: (row["id"], Variant(row["variant"]).rank))
    assert {r["id"] for r in rows} == set(FAST)
    for row in rows:
        assert row["instances"] == sum(row[status.value] for status in Status)
        claim = next(c for c in claims() if c.key == (row["id"], row["variant"]))
        assert row["instances"] == INSTANCES * len(claim.sources) + len({*claim.counterexamples, *claim.golden})
        assert row["outcome"] == Outcome.EXPECTED.value


@pytest.mark.slow
def test_rows_say_what_was_found(undisturbed: dict[str, Any]) -> None:
    for row in undisturbed["claims"]:
        news = {"false": "FALSE IN PRINT" if row["variant"] == "printed" else "false", "true": "stands"}
        assert row["finding"] == news.get(row["expectation"], "says nothing")
        assert sum(row["premises"].values()) == row["premise-fails"]
        assert (row["nearness"] is None) == (row["nearest"] is None)
        assert row["nearness"] is None or 0 <= row["nearness"] <= 1 + TOLERANCE


@pytest.mark.slow
def test_the_witness_is_the_smallest() -> None:
    claim = "hadar/positive-prices"
    report = verify(claim, instances=20)
    sizes = [len(json.dumps(witness.instance)) for witness in report.witnesses if witness.variant == "derived"]
    assert len(sizes) > 2
    assert sizes == sorted(sizes)
    first = report.row(claim).witness
    assert first is not None
    assert first.verdict.witness == report.witnesses[0]


def test_each_true_claim_has_its_instances_over_all_sources(tmp_path: Path) -> None:
    out = tmp_path / "each.sqlite"
    rows = verify(FAST, instances=2, each=9, seed=3, out=out).dump()["claims"]
    assert {row["expectation"] for row in rows} == {"true", "false"}
    for row in rows:
        claim = next(c for c in claims() if c.key == (row["id"], row["variant"]))
        draws = row["instances"] - len({*claim.counterexamples, *claim.golden})
        assert draws >= (9 if row["expectation"] == "true" else 2 * len(claim.sources))
        assert row["expectation"] == "true" or draws == 2 * len(claim.sources)
        assert row["outcome"] == Outcome.EXPECTED.value
    with pytest.raises(InputError, match="each"):
        verify(FAST, instances=2, seed=3, out=out)


def test_more_instances_come_from_all_sources_of_a_claim() -> None:
    chosen = claim("gadget/theorem-8", "corrected")
    drawn = Counter(task.source for task in plan((chosen,), 2, 0, each=99) if not task.name)
    assert drawn.total() >= 99
    assert {source.name for source in chosen.sources} == drawn.keys() == {"ddljs/slot", "ddljs/wheels"}
    assert all(drawn[source.name] > 2 for source in chosen.sources)


@pytest.mark.slow
@pytest.mark.parametrize("jobs", [1, 2, None])
def test_processes_do_not_change_the_table(jobs: int | None, undisturbed: dict[str, Any], tmp_path: Path) -> None:
    out = tmp_path / "deep" / "v.sqlite"
    assert verify(FAST, instances=INSTANCES, seed=3, jobs=jobs, out=out).dump() == undisturbed


@pytest.mark.slow
def test_any_executor_will_do(undisturbed: dict[str, Any]) -> None:
    with ThreadPoolExecutor(2) as threads:
        assert verify(FAST, instances=INSTANCES, seed=3, executor=threads).dump() == undisturbed


@pytest.mark.slow
def test_processes_that_were_killed_are_replaced(undisturbed: dict[str, Any], caplog: pytest.LogCaptureFixture) -> None:
    killed = []

    def progress(there: int, total: int) -> None:
        if len(killed) < 2 and 0 < there < total:
            killed.append(_kill_one_process())

    assert verify(FAST, instances=INSTANCES, seed=3, jobs=2, progress=progress).dump() == undisturbed
    assert len(killed) == 2
    assert {record.message for record in caplog.records} == {
        "a process was killed (out of memory?): going on with new ones"
    }


@pytest.mark.slow
def test_processes_that_are_killed_again_and_again_end_the_run_with_one_line(
    undisturbed: dict[str, Any], tmp_path: Path
) -> None:
    out = tmp_path / "v.sqlite"

    def progress(there: int, total: int) -> None:
        if there:
            _kill_one_process()

    with pytest.raises(WorkersLostError, match=r"processes were killed .*; .* the same call goes on from them") as lost:
        verify(FAST, instances=INSTANCES, seed=3, jobs=2, out=out, progress=progress)
    assert str(out) in str(lost.value)
    assert "\n" not in str(lost.value)
    assert verify(FAST, instances=INSTANCES, seed=3, out=out).dump() == undisturbed


@pytest.mark.slow
def test_an_executor_whose_process_was_killed_ends_the_run_with_one_line() -> None:
    def progress(there: int, total: int) -> None:
        if there:
            _kill_one_process()

    spawn = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(2, spawn) as pool, pytest.raises(WorkersLostError, match=r"nothing was kept: .*--out"):
        verify(FAST, instances=INSTANCES, seed=3, executor=pool, progress=progress)


def _kill_one_process() -> None:
    for process in multiprocessing.active_children()[:1]:
        process.kill()


@pytest.mark.slow
def test_the_seed_decides_the_draws(undisturbed: dict[str, Any]) -> None:
    other = verify(FAST, instances=INSTANCES, seed=4).dump()
    assert other["settings"]["seed"] == "4"
    # With other draws, the first violation that is not shipped is another one, or counts differ.
    assert other["claims"] != undisturbed["claims"]


def run_script(tmp_path: Path, jobs: int, kill_after: int | None) -> str | None:
    """Run the script; kill it with SIGKILL after so many lines of progress. Return its last line if it ended."""
    script = tmp_path / "script.py"
    script.write_text(SCRIPT.format(claims=FAST, instances=INSTANCES))
    command = [sys.executable, str(script), str(tmp_path / "v.sqlite"), str(jobs)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        last = None
        for number, line in enumerate(process.stdout):
            last = line
            if number == kill_after:
                process.send_signal(signal.SIGKILL)
                last = None
                break
        process.stdout.read()
    assert process.returncode == (0 if last is not None else -signal.SIGKILL)
    return last


@pytest.mark.slow
@pytest.mark.parametrize(("jobs", "kills"), longer([(1, 4), (2, 2)], (1, 4)))
def test_killed_at_random_and_started_again_gives_the_same_table(
    jobs: int, kills: int, undisturbed: dict[str, Any], tmp_path: Path
) -> None:
    draw = random.Random(jobs)
    seen = 0
    for _ in range(kills):
        run_script(tmp_path, jobs, draw.randint(0, 8))
        with sqlite3.connect(tmp_path / "v.sqlite") as database:
            (there,) = database.execute("SELECT count(*) FROM verdicts").fetchone()
        database.close()
        assert there >= seen
        seen = there
    last = run_script(tmp_path, jobs, None)
    assert last is not None
    assert json.loads(last) == undisturbed
    with sqlite3.connect(tmp_path / "v.sqlite") as database:
        (there,) = database.execute("SELECT count(*) FROM verdicts").fetchone()
    database.close()
    assert there == sum(row["instances"] for row in undisturbed["claims"])
    assert there > seen


@pytest.mark.slow
def test_a_finished_database_is_only_read(undisturbed: dict[str, Any], tmp_path: Path) -> None:
    out = tmp_path / "v.sqlite"
    verify(FAST, instances=INSTANCES, seed=3, out=out)
    calls: list[tuple[int, int]] = []
    again = verify(
        FAST, instances=INSTANCES, seed=3, out=out, progress=lambda there, total: calls.append((there, total))
    )
    total = sum(row["instances"] for row in undisturbed["claims"])
    assert calls == [(total, total)]
    assert again.dump() == undisturbed


@pytest.mark.parametrize(
    ("changed", "named"),
    [({"seed": 4}, "seed"), ({"instances": INSTANCES + 1}, "instances"), ({"claims": FAST[:1]}, "claims")],
)
def test_other_settings_are_refused(changed: dict[str, Any], named: str, tmp_path: Path) -> None:
    out = tmp_path / "v.sqlite"
    settings: dict[str, Any] = {"claims": FAST, "instances": 1, "seed": 3}
    verify(**settings, out=out)
    with pytest.raises(InputError, match=f"was made with {named} .*; use the same settings or another file"):
        verify(**(settings | changed), out=out)
    assert verify(**settings, out=out).ok


def test_a_file_for_other_claims_is_refused_with_those_that_differ(tmp_path: Path) -> None:
    """Cut to the length of a value in a message the lists are the same."""
    out = tmp_path / "v.sqlite"
    verify(FAST, instances=0, out=out)
    with pytest.raises(InputError, match=f"was made with claims that have {FAST[-1]};"):
        verify(FAST[:-1], instances=0, out=out)
    with pytest.raises(InputError, match=f"was made with claims that lack smd/attempts, and have {FAST[-1]};"):
        verify([*FAST[:-1], "smd/attempts"], instances=0, out=out)


def test_verdicts_of_other_code_are_kept_but_not_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out = tmp_path / "v.sqlite"
    first = verify(FAST[:1], instances=1, out=out)
    monkeypatch.setattr("dlsched.bounds.store.code_version", lambda: "other")
    second = verify(FAST[:1], instances=1, out=out)
    assert second.dump() == first.dump()
    with sqlite3.connect(out) as database:
        codes = database.execute("SELECT code, count(*) FROM verdicts GROUP BY code").fetchall()
    database.close()
    assert len(codes) == 2
    assert len({count for _, count in codes}) == 1


def test_files_that_are_no_database_of_verdicts_are_refused_and_left_alone(tmp_path: Path) -> None:
    text, foreign = tmp_path / "a.sqlite", tmp_path / "b.sqlite"
    text.write_text("not a database, but long enough to be looked at as one\n" * 100)
    with sqlite3.connect(foreign) as database:
        database.execute("CREATE TABLE mine (x)")
    database.close()
    for path in (text, foreign):
        before = path.read_bytes()
        with pytest.raises(InputError, match="not a database of verdicts"):
            verify(FAST[:1], instances=0, out=path)
        assert path.read_bytes() == before


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"claims": ["hadar/theorem-99"]}, "hadar/theorem-99: unknown claim"),
        ({"instances": -1}, "instances: -1"),
        ({"seed": -1}, "seed: -1"),
        ({"jobs": 0}, "jobs: 0"),
    ],
)
def test_wrong_arguments_are_refused(wrong: dict[str, Any], message: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=message):
        verify(**({"claims": FAST[:1]} | wrong), out=tmp_path / "v.sqlite")
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
def test_witnesses_beside_the_database_replay(tmp_path: Path) -> None:
    report = verify(FAST, instances=3, out=tmp_path / "v.sqlite")
    files = sorted((tmp_path / "witnesses").iterdir())
    assert len(files) == len(report.witnesses) > 0
    for file in files:
        assert replay(file).reproduced, file


@pytest.mark.slow
def test_a_witness_that_was_tampered_with_does_not_reproduce(tmp_path: Path) -> None:
    report = verify(("hadar/theorem-1",), instances=0)
    witness = report.witnesses[0]
    assert witness.measured is not None
    wrong = witness.model_copy(update={"measured": witness.measured + 1, "status": "holds"})
    wrong.save(tmp_path / "w.json")
    differences = replay(tmp_path / "w.json").differences
    assert [d.split(":")[0] for d in differences] == ["status", "measured"]


def test_a_schedule_that_was_tampered_with_does_not_reproduce() -> None:
    """The lone job's schedule is worth 1; another one that is worth as much would do."""
    lone = shipped("hadar-theorem-2-lone-job").model_copy(update={"schedule": None})
    found = replay(lone).verdict.witness
    assert found is not None
    assert found.schedule is not None
    jobs = found.schedule["jobs"]
    slots = jobs["J1"]["slots"]
    later = {str(int(slot) + 1): devices for slot, devices in slots.items()}
    for changed, difference in (
        (jobs, None),
        ({"J1": {"slots": later}}, None),
        ({}, "schedule: one worth 1.0, not 0.0"),
        ({"J1": {"slots": dict(list(slots.items())[1:])}}, "schedule: job J1: "),
    ):
        witness = lone.model_copy(update={"schedule": {"problem": "hadar", "jobs": changed}})
        differences = replay(witness).differences
        assert len(differences) == (difference is not None), differences
        assert not differences or differences[0].startswith(str(difference))
    with pytest.raises(InputError, match=r"schedule\.jobs: required field is missing"):
        replay(lone.model_copy(update={"schedule": {"problem": "hadar"}}))
