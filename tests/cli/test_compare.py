"""The verb `compare`: algorithms beside the optimum, policies over time, and what either refuses."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from dlsched.models.hadar import Instance, preset
from tests.algorithms.simulator.gpus import instance_of
from tests.cli.cases import answer, complaint, refusal, save
from tests.cli.conftest import Command
from tests.cli.test_process import interrupted
from tests.oracles import gpus

pytestmark = pytest.mark.process

FOUR = [("A", 0, 2, 10), ("B", 1, 4, 5), ("C", 2, 2, 8), ("D", 3, 1, 20)]


def test_compare(dlsched: Command, instance: Path, tmp_path: Path) -> None:
    data = answer(dlsched("compare", instance, "hadar", "gavel", "--out", "t.md", "--json"))
    assert [row["algorithm"] for row in data["algorithms"]] == ["optimum", "hadar", "gavel"]
    assert {job["job"] for job in data["jobs"]} == {job.name for job in Instance.load(instance).jobs}
    assert (tmp_path / "t.md").read_text(encoding="utf-8").startswith("| algorithm | utility | of the bound |")
    people = dlsched("compare", instance, "--per-job")
    assert people.stdout.startswith(f"Algorithms on {instance.name} (hadar; times in seconds)")
    assert refusal(dlsched("compare", instance, "esw")) == "esw: runs on other instances than those of hadar"
    assert refusal(dlsched("compare", instance, "hadar:mode=odd")).startswith("hadar: mode: 'odd' is not one of ")


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    """Four jobs on four GPUs."""
    return save(tmp_path / "four.json", instance_of(FOUR, 4).dump())


def test_several_numbers_are_typed_with_commas(dlsched: Command, trace: Path) -> None:
    """Of a policy among others, too; a job's time is the same by each way."""
    asked = "srtf,tiresias:thresholds=8,20:placement=any,tiresias:thresholds=8"
    data = answer(dlsched("compare", trace, "--policies", asked, "--json"))
    names = ["srtf", "tiresias:thresholds=8,20:placement=any", "tiresias:thresholds=8"]
    assert [row["policy"] for row in data["policies"]] == names
    assert answer(dlsched("run", "tiresias", trace, "--thresholds", "8,20", "--json"))["thresholds"] == [8, 20]
    assert answer(dlsched("run", "tiresias", trace, "--thresholds", "8", "--json"))["thresholds"] == 8
    assert "'8,x' is not a number" in refusal(dlsched("run", "tiresias", trace, "--thresholds", "8,x"))
    assert "thresholds: '8,x' is not a number" in refusal(dlsched("compare", trace, "tiresias:thresholds=8,x"))


def test_policies_over_time(dlsched: Command, trace: Path, tmp_path: Path) -> None:
    """Each by hand, as in the tests of the policies; rounds of 5 s and restarts of 1 s by hand here."""
    asked = ("compare", trace, "--policies", "YARN-CS,fifo:backfill=easy,srtf,drf,tiresias:thresholds=8")
    data = answer(dlsched(*asked, "--out", "t.md", "--out-jobs", "jobs.csv", "--plot", "all.svg", "--json"))
    ends = {job["job"]: [job[name] for name in list(job)[1:]] for job in data["jobs"]}
    assert ends == {
        "A": [10, 10, 15, 10, 12],
        "B": [14, 14, 5, 27, 28],
        "C": [21, 8, 12, 15, 16],
        "D": [32, 32, 31, 20, 23],
    }
    assert [row["policy"] for row in data["policies"]][:2] == ["YARN-CS", "fifo:backfill=easy"]
    assert (tmp_path / "t.md").read_text(encoding="utf-8").startswith("| policy | utility | admitted | done | mean JCT")
    with (tmp_path / "jobs.csv").open(encoding="utf-8", newline="") as file:
        assert next(csv.DictReader(file))["YARN-CS"] == "10.0"
    assert (tmp_path / "all.svg").exists()
    # A works from 1 to 11, B from 16 on, C and D from 26 on.
    rounds = ("--round-seconds", 5, "--restart-seconds", 1, "--bound-seconds", 1, "--json")
    data = answer(dlsched("compare", trace, "--policies", "fifo", *rounds))
    assert {job["job"]: job["fifo"] for job in data["jobs"]} == {"A": 11, "B": 20, "C": 32, "D": 43}
    (row,) = data["policies"]
    assert (row["TTD"], row["GRU"], row["CRU"]) == (46, (22 + 24 + 18 + 21) / (4 * 46), (20 + 20 + 16 + 20) / (4 * 50))
    assert row["checked"] == row["utility"]
    assert row["of the bound"] * data["bound"] == pytest.approx(row["utility"], rel=1e-12)
    assert data["left out"] == {}
    people = dlsched("compare", trace, "--policies", "all", "--round-seconds", 5, "--per-job")
    assert people.stdout.startswith("Policies over time on four.json (hadar; times in seconds)")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--round-seconds", 5), "--round-seconds: goes with --policies"),
        (("fifo", "--policies", "srtf"), "fifo: algorithms are compared without --policies"),
        (("--policies", "warp"), "unknown policy 'warp'; there are drf, fifo, yarn-cs, "),
        (("--policies", "fifo:backfill=any:backfill=easy"), "fifo: 'backfill' is named twice"),
        (("--policies", "fifo,gavel"), "round_seconds: policy gavel decides in rounds; say how long they are"),
        (("--policies", "fifo", "--restart-seconds", "-1"), "Invalid value for '--restart-seconds'"),
        (("--policies", "fifo", "--round-seconds", "0/3"), "Invalid value for '--round-seconds'"),
        (("--policies", "fifo", "--round-seconds", "1/0"), "Invalid value for '--round-seconds'"),
    ],
)
def test_what_cannot_be_simulated(dlsched: Command, trace: Path, arguments: tuple[Any, ...], message: str) -> None:
    assert refusal(dlsched("compare", trace, *arguments)).startswith(message)


def test_times_are_ratios_as_typed(dlsched: Command, trace: Path) -> None:
    """Rounds of 10/3 s: A works from 0 to 10, as without rounds, and three rounds are all of it."""
    asked = ("compare", trace, "--policies", "fifo", "--round-seconds", "10/3", "--json")
    found, same = (answer(dlsched(*asked, *more)) for more in ((), ("--restart-seconds", "0.0")))
    assert found["round_seconds"] == pytest.approx(10 / 3)
    assert next(job for job in found["jobs"] if job["job"] == "A")["fifo"] == 10
    assert (same["restart_seconds"], same["jobs"]) == (0, found["jobs"])


def test_policies_run_on_instances_of_hadar(dlsched: Command, tmp_path: Path) -> None:
    assert dlsched("generate", "smd", "--out", "smd.json").returncode == 0
    message = refusal(dlsched("compare", "smd.json", "--policies", "fifo"))
    assert message == "smd.json: policies run on instances of hadar; this is one of smd"


PLUGIN = '''
from dlsched.algorithms.simulator import Policy, policy_algorithm

class Mine(Policy):
    """A policy of one's own.

    Parameters
    ----------
    gives : str
        What.
    """

    name = "mine"

    def __init__(self, *, gives: str = "nothing") -> None:
        self.gives = gives

    def decide(self, state, rng):
        """Give it."""
        job = state.jobs[-1]
        return {
            "nothing": {},
            "one": {job.name: {"m": {"gpu": job.gang}}},
            "many": {job.name: {"m": {"gpu": 9}}},
            "everybody": {each.name: {"m": {"gpu": each.gang}} for each in state.jobs},
            "text": {job.name: "m"},
        }[self.gives]

ALGORITHMS = policy_algorithm("mine", "A policy of one's own", Mine)
'''


@pytest.mark.parametrize(
    ("gives", "message"),
    [
        ("many", "policy mine at 0 s: job A, machine m, type gpu: 9 devices given of the 4 there"),
        ("everybody", "policy mine at 1 s: machine m, type gpu: 6 devices given of the 4 there, job B's among them"),
        ("text", "policy mine at 0 s: job 'A': its allocation is no mapping of machines to types to whole numbers of "),
    ],
)
def test_an_impossible_allocation_is_refused_and_the_others_are_told(
    as_process: Command, trace: Path, tmp_path: Path, gives: str, message: str
) -> None:
    (tmp_path / "own.py").write_text(PLUGIN, encoding="utf-8")
    asked = ("--policies", f"fifo,mine:gives={gives},srtf", "--out", "t.csv", "--json")
    process = as_process("--plugin", "own", "compare", trace, *asked)
    # Beside the one line that says why, one says that the table was written.
    first, *rest = process.stderr.splitlines()
    assert (process.returncode, first) == (2, "dlsched: wrote t.csv")
    (last,) = rest
    assert last.startswith(f"dlsched: error: {message}")
    rows = {row["policy"]: row for row in json.loads(process.stdout)["policies"]}
    assert [row["done"] for row in rows.values()] == [4, None, 4]
    assert str(rows[f"mine:gives={gives}"]["note"]).startswith(message)
    assert complaint(as_process("--plugin", "own", "run", "mine", trace, "--gives", gives)).startswith(message)


def test_a_policy_of_a_plugin_is_one_like_any_other(as_process: Command, trace: Path, tmp_path: Path) -> None:
    """The last that came, whatever ran: A 0-1, B 1-2, C 2-3, D 3-23, then C, which has 7 s left, B 4, A 9."""
    (tmp_path / "own.py").write_text(PLUGIN, encoding="utf-8")
    data = answer(as_process("--plugin", "own", "compare", trace, "--policies", "mine:gives=one", "--json"))
    assert {job["job"]: job["mine:gives=one"] for job in data["jobs"]} == {"A": 43, "B": 33, "C": 28, "D": 20}
    nothing = answer(as_process("--plugin", "own", "compare", trace, "--policies", "mine,fifo", "--json"))
    assert [row["done"] for row in nothing["policies"]] == [0, 4]


def test_policies_that_need_rounds_are_not_left_out_in_silence(dlsched: Command, trace: Path) -> None:
    found = dlsched("compare", trace, "--policies", "all", "--json")
    assert found.returncode == 0
    assert list(json.loads(found.stdout)["left out"]) == ["gavel", "hadar", "hadar_e", "las"]
    assert found.stderr == (
        "dlsched: left out: gavel, hadar, hadar_e, las, which decide in rounds; say how long (--round-seconds)\n"
    )


def test_an_interrupt_keeps_what_is_done(tmp_path: Path) -> None:
    jobs = [(f"j{i}", i, 1 + i % 4, 1000 + i) for i in range(300)]
    save(tmp_path / "long.json", instance_of(jobs, 4, seconds=10**6).dump())
    asked = ("--policies", "fifo,gavel,srtf", "--round-seconds", 100, "--out", "t.csv", "--json")
    code, out, seen = interrupted(tmp_path, rb"[3-5]\d\d/900", "compare", "long.json", *asked)
    assert code == 130
    assert b"Traceback" not in seen
    fifo, gavel, srtf = json.loads(out)["policies"]
    assert (fifo["done"], gavel["note"], srtf["note"]) == (300, "interrupted", "interrupted")
    with (tmp_path / "t.csv").open(encoding="utf-8", newline="") as file:
        assert [row["note"] for row in csv.DictReader(file)] == ["", "interrupted", "interrupted"]


def test_an_interrupt_of_the_search_for_the_optimum_keeps_what_it_found(tmp_path: Path) -> None:
    preset("benchmark", 0, jobs=40, machines=15, types=3, slots=40).save(tmp_path / "hard.json")
    code, out, seen = interrupted(tmp_path, b"algorithms", "compare", "hard.json", "fifo", "--json")
    best, fifo = json.loads(out)["algorithms"]
    assert (code, best["algorithm"], fifo["note"]) == (130, "best found", "interrupted")
    assert b"Traceback" not in seen


def test_gaps_between_arrivals_are_passed_over(dlsched: Command, tmp_path: Path) -> None:
    """Nothing happens for eleven days; a decision is made only where a job is there."""
    (tmp_path / "log.csv").write_text("name,arrival,gang,seconds\nA,0,1,5\nB,900000,2,7\n", encoding="utf-8")
    cluster = ("--cluster", "gpu=2", "--slots", 10**6, "--slot-seconds", 1, "--out", "log.json")
    assert dlsched("convert", "csv", "log.csv", *cluster).returncode == 0
    asked = ("--policies", "fifo,las", "--round-seconds", 2, "--json")
    data = answer(dlsched("compare", "log.json", *asked))
    assert [(job["fifo"], job["las"]) for job in data["jobs"]] == [(5, 5), (7, 7)]
    assert all(row["TTD"] == 900007 for row in data["policies"])


@pytest.mark.shared_data
@pytest.mark.parametrize("count", [8, 16])
def test_the_published_trace_of_tiresias(dlsched: Command, shared: Path, tmp_path: Path, count: int) -> None:
    """Conservation: all work is done, and busy for as long as it takes; every end is that of deciding every second."""
    path = shared / "data" / "tiresias" / "60_job.csv"
    cluster = ("--cluster", f"gpu={count}", "--slots", 10**5, "--slot-seconds", 1, "--out", "60.json")
    assert dlsched("convert", "tiresias", path, *cluster).returncode == 0
    data = answer(dlsched("compare", "60.json", "--policies", "yarn-cs,fifo:backfill=easy,srtf,tiresias", "--json"))
    instance = Instance.load(tmp_path / "60.json")
    jobs = [(job.name, job.arrival - 1, job.gang, int(job.iterations) // job.gang) for job in instance.jobs]
    oracles = {
        "yarn-cs": gpus.fifo,
        "fifo:backfill=easy": gpus.easy,
        "srtf": gpus.srtf,
        "tiresias": lambda jobs, count: gpus.tiresias(jobs, count, 3600),
    }
    ends = {job["job"]: job for job in data["jobs"]}
    for row in data["policies"]:
        found = {name: arrival + ends[name][row["policy"]] for name, arrival, _, _ in jobs}
        assert found == oracles[row["policy"]](jobs, count)
        assert (row["admitted"], row["done"], row["TTD"]) == (60, 60, max(found.values()))
        assert row["GRU"] * count * row["TTD"] == pytest.approx(26624, rel=1e-12)
        assert row["GRU"] == row["CRU"]
