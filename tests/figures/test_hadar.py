"""The simulated figures of the Hadar paper: simulations by hand, the motivational example, draws from Gavel's data."""

from __future__ import annotations

import csv
import io
import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from dlsched.algorithms.baselines.hadar.fifo import Fifo
from dlsched.figures import figure, figures_named, reproduce
from dlsched.figures.hadar import POLICIES, Outcome, Reading, outcome, rates, workload
from dlsched.models.hadar import Instance
from dlsched.traces.gavel import read_throughputs, read_trace
from tests.algorithms.simulator.gpus import instance_of
from tests.longer import longer


def test_an_outcome_by_hand() -> None:
    """Rounds of 360 s, restarts of 10. A has both GPUs until 370, and so until 720; B and C one each, then C alone.

    B works from 730 to 1090, and C to 1450; both keep what they have at 1080.
    """
    p = instance_of([("A", 0, 2, 360), ("B", 0, 1, 360), ("C", 0, 1, 720)], 2, seconds=7200, slot=360)
    found = outcome(p, Fifo())
    assert found.hours == pytest.approx((370 / 3600, 1090 / 3600, 1450 / 3600))
    # Idle from 370 to 720; both in use for 370 and for 370, one from 1090 to 1450.
    assert found.used == (
        (Fraction(1), pytest.approx(370 / 1450)),
        (Fraction(0), pytest.approx(350 / 1450)),
        (Fraction(1), pytest.approx(370 / 1450)),
        (Fraction(1, 2), pytest.approx(360 / 1450)),
    )
    assert found.gru == pytest.approx((740 + 180) / 1450)
    # At 0 and at 720, of decisions at 0, 360, 720, 1080 and 1440: when A is gone nobody gets anything before 720.
    assert found.changed == pytest.approx(2 / 5)


def test_what_is_read_off_an_outcome() -> None:
    found = Outcome((1.0, 2.0, 3.0, 10.0), ((Fraction(1), 0.25), (Fraction(1, 5), 0.75)), 0.4, 0.5)
    assert found.median == 2
    assert [found.done_by(hours) for hours in (0.5, 1, 9.9, 10)] == [0, 0.25, 0.75, 1]
    assert [found.at_least(percent) for percent in (20, 21, 100)] == [1, 0.25, 0.25]


def test_jobs_that_are_not_done_count_as_done_at_the_end() -> None:
    p = instance_of([("A", 0, 1, 360), ("B", 0, 1, 7200)], 1, seconds=7200, slot=360)
    assert outcome(p, Fifo()).hours == pytest.approx((370 / 3600, 2))


@pytest.mark.slow
def test_the_motivational_example_has_the_printed_rounds(tmp_path: Path) -> None:
    entry = figure("hadar/1")
    assert entry.draw is not None
    rounds = [entry.draw(x, 0) for x in entry.points]
    assert [values["Gavel"] for values in rounds] == [5, 4, 4, 5, 5, 5]
    best = [values["fewest rounds"] for values in rounds]
    # Six rounds as well: the claim hadar/motivational-hadar proves that five are too few.
    assert best[-1] > 0
    assert max(best) <= 5
    assert entry.plot is not None
    axes = entry.plot().figure.axes
    assert [ax.get_title().partition(":")[0] for ax in axes] == ["Gavel", "fewest rounds"]
    (done,) = reproduce("hadar/1", out=tmp_path)
    assert [path.suffix for path in done.files] == [".csv", ".png", ".svg"]


def test_a_decision_takes_some_seconds_of_both() -> None:
    entry = figure("hadar/5")
    assert entry.measured_seconds
    assert entry.draw is not None
    assert all(seconds > 0 for seconds in entry.draw(32, 0).values())


def test_without_the_data_figures_say_what_they_need(tmp_path: Path) -> None:
    (done,) = reproduce("hadar/4", out=tmp_path, pictures=False)
    assert done.files == ()
    assert done.measured.startswith("Not drawn: it needs gavel/simulation_throughputs.json, gavel/traces/msr_seed0/")


def test_what_rests_on_guessed_draws_is_left_undecided() -> None:
    """Fig. 4 and Section IV-B have the same draws; two readings of what a job is worth have the same statements."""
    drawn = [figure(name) for name in ("hadar/4", "hadar/IV-B", "hadar/IV-B-equal", "hadar/IV-B-changes")]
    assert all(entry.statements for entry in drawn)
    assert all(said.guessed for entry in drawn for said in entry.statements)


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """A folder of public data of few jobs: as many of a day's third hour as are drawn, and some that are left out."""
    folder = tmp_path / "gavel"
    logs = folder / "traces" / "msr_seed0"
    logs.mkdir(parents=True)
    names = {
        "ResNet-50 (batch size 64)": (4, 2, 1),
        "ResNet-18 (batch size 128)": (8, 4, 1),
        "LM (batch size 80)": (20, 16, 4),
        "CycleGAN": (4, 2, 1),
        "Transformer (batch size 128)": (5, 3, 1),
    }
    scales = {name: (1,) if name == "CycleGAN" else (1, 2, 4, 8) for name in names}
    table = {
        r: {
            f"('{name}', {w})": {"null": w * speeds[k] * (0.5 if w == 8 else 1)}
            for name, speeds in names.items()
            for w in scales[name]
        }
        for k, r in enumerate(("v100", "p100", "k80"))
    }
    (folder / "simulation_throughputs.json").write_text(json.dumps(table), encoding="utf-8")
    rows = [(10800 + 30 * j, (1, 2, 4, 8)[j % 4]) for j in range(480)]
    rows += [(10799, 1), (36000, 2), (11000, 32), (86400 + 10800, 1)]
    for name in ("0e4a51", "23dbec", "2869ce", "51b7ef", "795a4c", "925e2b"):
        mine = rows if name == "0e4a51" else [(0, 1)]
        lines = (f"A3C\tpython\t-n\t1\t100\t{seconds}.0\t{workers}\n" for seconds, workers in mine)
        (logs / f"{name}.trace.txt").write_text("".join(lines), encoding="utf-8")
    return tmp_path


@pytest.mark.slow
def test_jobs_are_of_the_busiest_hours_and_of_measured_gangs(small: Path) -> None:
    # 480 of the third to ninth hours and one of the next day, whose third hour it is as well; never the others.
    for seed in range(3):
        drawn = workload(small, seed, Reading(at_once=False))
        assert len(drawn.jobs) == 480
        assert {job.gang for job in drawn.jobs} == {1, 2, 4, 8}
        assert (min(job.arrival for job in drawn.jobs), max(job.arrival for job in drawn.jobs)) == (
            1,
            1 + 479 * 30 // 360,
        )
        assert drawn.capacity == {"v100": 20, "p100": 20, "k80": 20}
    with pytest.raises(ValueError, match="larger sample than population"):
        workload(small, 0, jobs=482)


def test_hours_are_those_of_the_sizes_on_a_k80(small: Path) -> None:
    bounds = {
        "ResNet-50": (60, 100),
        "ResNet-18": (0, 1),
        "LSTM": (10, 50),
        "CycleGAN": (1, 10),
        "Transformer": (10, 50),
    }
    for job in workload(small, 1).jobs:
        low, high = bounds[job.name.partition(" ")[0]]
        assert low - 1e-3 <= job.iterations / job.rate["k80"] / 3600 <= high + 1e-3


@pytest.mark.slow
def test_readings_are_of_the_same_jobs(small: Path) -> None:
    plain, late, equal = (workload(small, 2, r) for r in (Reading(), Reading(at_once=False), Reading(equal=True)))
    assert {job.arrival for job in plain.jobs} == {1}
    assert plain.jobs == tuple(job.model_copy(update={"arrival": 1}) for job in late.jobs)
    assert [job.utility.exact(0) for job in plain.jobs] == [job.iterations for job in plain.jobs]
    assert {job.utility.exact(0) for job in equal.jobs} == {1}
    assert workload(small, 2) == plain
    assert workload(small, 3) != plain


def test_a_gang_of_unmeasured_size_is_as_fast_as_its_devices(small: Path) -> None:
    measured = read_throughputs(small / "gavel" / "simulation_throughputs.json")
    assert rates(measured, "CycleGAN", 8) == rates(measured, "CycleGAN", 1) == {"v100": 4, "p100": 2, "k80": 1}
    assert rates(measured, "ResNet-18", 8) == {"v100": 4, "p100": 2, "k80": Fraction(1, 2)}


def shortened(instance: Instance) -> Instance:
    """Its first jobs, two hundred times as short."""
    jobs = [job.model_copy(update={"iterations": max(Fraction(1), job.iterations / 200)}) for job in instance.jobs[:24]]
    return instance.model_copy(update={"jobs": tuple(jobs)})


@pytest.mark.parametrize("name", POLICIES)
def test_every_policy_ends_all_jobs(small: Path, name: str) -> None:
    instance = shortened(workload(small, 0))
    found = outcome(instance, POLICIES[name](instance))
    assert len(found.hours) == 24
    assert found.hours[-1] < 20
    assert 0 < found.gru <= 1
    assert sum(long for _, long in found.used) == pytest.approx(1)


@pytest.mark.slow
@pytest.mark.parametrize("name", longer(["hadar/II", "hadar/III"], "hadar/II"))
def test_tables_are_the_same_on_two_processes(small: Path, name: str, tmp_path: Path) -> None:
    data = _with_recommendation(small)
    one, two = (
        reproduce(name, out=tmp_path / str(jobs), jobs=jobs, seeds=2, data=data, pictures=False)[0] for jobs in (1, 2)
    )
    assert one.csv() == two.csv()
    rows = list(csv.DictReader(io.StringIO(one.csv())))
    if name == "hadar/II":
        for series in figure(name).series:
            assert sum(float(row["mean"]) for row in rows if row["series"] == series) == pytest.approx(1)
    else:
        assert [row["mean"] for row in rows if row["series"] == "V100"] == ["8", "20", "5", "7.5"]


def _with_recommendation(folder: Path) -> Path:
    path = folder / "gavel" / "simulation_throughputs.json"
    table: dict[str, dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))
    for entries in table.values():
        entries["('Recommendation (batch size 2048)', 1)"] = {"null": 7.5}
    path.write_text(json.dumps(table), encoding="utf-8")
    return folder


def test_every_statement_is_about_a_point() -> None:
    """The points of a figure are of the same simulations: together they would count each draw several times."""
    for entry in figures_named("hadar"):
        if entry.data:
            assert all(s.at is not None or len(entry.points) == 1 for s in entry.statements)


@pytest.mark.shared_data
def test_gavel_s_files_have_what_is_drawn(shared: Path) -> None:
    data = shared / "data"
    instance = workload(data, 0)
    assert len(instance.jobs) == 480
    logs = [read_trace(data / name) for name in figure("hadar/4").data if name.endswith(".txt")]
    gangs = [job.scale_factor for log in logs for job in log.jobs if 3 <= job.arrival % 86400 // 3600 < 10]
    large = sum(gang > max(job.gang for job in instance.jobs) for gang in gangs)
    told = f"but for {large} of {len(gangs)} jobs, whose {max(gangs)} workers are more than were measured"
    assert all(told in figure(name).note for name in ("hadar/3", "hadar/4", "hadar/4-arrivals", "hadar/IV-B"))
    # Gavel at c4fa400: CycleGAN alone; the others at all scale factors.
    measured = read_throughputs(data / "gavel" / "simulation_throughputs.json")
    assert rates(measured, "CycleGAN", 4) == {
        "v100": Fraction("4.4261"),
        "p100": Fraction("2.4027"),
        "k80": Fraction("0.5048"),
    }
    # 231.17619885320647 steps per second of eight.
    assert rates(measured, "LSTM", 8)["v100"] == Fraction("28.897")
    few = shortened(instance)
    for policy in POLICIES.values():
        assert outcome(few, policy(few)).hours[-1] < 20
