"""The files that Gavel and Shockwave publish, where they are at hand."""

from __future__ import annotations

from pathlib import Path

import pytest

from dlsched.models.hadar import preset
from dlsched.traces import gavel


@pytest.mark.shared_data
@pytest.mark.parametrize(
    ("trace", "throughputs", "columns", "lines"),
    [
        ("gavel/traces/msr_seed0/0e4a51.trace.txt", "gavel/simulation_throughputs.json", 7, 1181),
        (
            "gavel/traces/physical_cluster/minimize_makespan.trace.txt",
            "gavel/physical_cluster_throughputs.json",
            10,
            100,
        ),
        ("shockwave/120jobs_multigpu_dynamic.trace.txt", "shockwave/tacc_throughputs.json", 12, 120),
    ],
)
def test_published_files(shared: Path, trace: str, throughputs: str, columns: int, lines: int) -> None:
    data = shared / "data"
    read = gavel.read_trace(data / trace)
    assert (read.columns, len(read.jobs)) == (columns, lines)
    instance = gavel.convert(
        throughputs=data / throughputs,
        trace=data / trace,
        cluster={"v100": 2, "p100": 3, "k80": 1},
        jobs=12,
        slots=24,
        slot_seconds=3600,
        skip=True,
    )
    assert len(instance.jobs) == 12
    assert all(job.gang <= 6 for job in instance.jobs)


@pytest.mark.shared_data
def test_shockwave_durations_confirm_the_columns(shared: Path) -> None:
    """Shockwave made each job's steps as duration times throughput on a V100: steps, scale factor and model agree."""
    folder = shared / "data" / "shockwave"
    path = folder / "120jobs_multigpu_dynamic.trace.txt"
    measured = gavel.read_throughputs(folder / "tacc_throughputs.json")
    durations = [int(line.split("\t")[10]) for line in path.read_text(encoding="utf-8").splitlines()]
    for job, duration in zip(gavel.read_trace(path).jobs, durations, strict=True):
        rate = measured.steps_per_second["v100"][job.model, job.scale_factor]
        assert 0 <= duration * rate - job.steps < 1 + rate


@pytest.mark.shared_data
def test_motivation_throughputs_have_plain_names(shared: Path) -> None:
    measured = gavel.read_throughputs(shared / "data" / "gavel" / "motivation_oracle_throughputs.json")
    assert measured.layout == "model, at scale factor 1"
    assert {len(entries) for entries in measured.steps_per_second.values()} == {26}


@pytest.mark.shared_data
def test_the_papers_preset_of_hadar_has_the_measured_rates(shared: Path) -> None:
    """Rates of one device, to four decimals."""
    measured = gavel.read_throughputs(shared / "data/gavel/simulation_throughputs.json").steps_per_second
    alone = {
        tuple(round(float(measured[r][model, scale]), 4) for r in ("v100", "p100", "k80"))
        for model, scale in measured["v100"]
        if scale == 1
    }
    rates = {tuple(map(float, job.rate.values())) for job in preset("paper", 0, jobs=100).jobs}
    assert len(rates) == 5
    assert rates <= alone
