"""The clusters and mixes of Section VI: what is printed, what (10) makes of it, and constants that are refused."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from typing import Any

import pytest

from dlsched.algorithms.hadar_e import CLUSTERS, GPUS, MIXES, Constants, constants, physical
from dlsched.models import InputError

SIMPLE: dict[str, Any] = {
    "index": "tflops/sqrt(vram)",
    "scale": {"S": 1, "M": 2, "L": 3, "XL": 4},
    "jobs": {model: {"weight": "S", "batch": 16, "seconds": 720} for model in ("IC", "LM", "LT", "RS", "MM")},
    "pcie": 2,
}
"""On a V100 every model does 16 iterations a second over the class of its data set, for 720 s."""


def test_the_mixes_are_those_of_section_vi() -> None:
    assert [len(models) for models in MIXES.values()] == [1, 3, 4, 5, 8, 10, 12] == [int(m[2:]) for m in MIXES]
    assert [Counter(models)["MM"] for models in MIXES.values()] == [1, 2, 1, 1, 4, 6, 8]
    assert all(set(MIXES[mix]) == {"IC", "LM", "LT", "RS", "MM"} for mix in ("M-5", "M-8", "M-10", "M-12"))


def test_each_cluster_has_five_nodes_with_the_memory_that_is_printed() -> None:
    assert [GPUS[gpu].vram for gpu in CLUSTERS["aws"]] == [16, 12, 12, 16, 16]
    assert [GPUS[gpu].vram for gpu in CLUSTERS["lab"]] == [24, 16, 4, 24, 6]
    assert sum(GPUS[gpu].pcie == 3 for gpu in CLUSTERS["lab"]) == 3


def test_rates_are_those_of_10() -> None:
    """V100 and T4 have 16 GB each, so that they differ by 125/65 in TFLOPS alone; MM has a data set of class M."""
    rates = {job.name: job.rate for job in physical(Constants.parse(SIMPLE), "aws", "M-5").jobs}
    assert (rates["MM5"]["V100"], rates["MM5"]["T4"]) == (8, 8 * Fraction(65, 125))
    # 4.365/sqrt(12) over 125/sqrt(16) is .040322.
    assert rates["MM5"]["K80"] == pytest.approx(8 * 0.040322, abs=1e-5)
    assert [rates[job]["V100"] for job in ("IC1", "LM2", "RS4")] == [16, pytest.approx(16 / 3, abs=1e-6), 4]


def test_the_other_reading_of_pmi_is_a_root() -> None:
    """sqrt(130/24) over sqrt(125/16) is .83267, and PCIe 4.0 doubles what an A2000 has, sqrt(31.95/6)."""
    rates = physical(Constants.parse({**SIMPLE, "index": "sqrt(tflops/vram)"}), "lab", "M-1").jobs[0].rate
    assert rates["Titan RTX"] == pytest.approx(8 * 0.83267, abs=1e-4)
    assert rates["RTX A2000"] == pytest.approx(2 * 8 * 0.82564, abs=1e-3)


def test_a_job_takes_its_seconds_on_a_v100_wherever_it_runs() -> None:
    for cluster in CLUSTERS:
        instance = physical(Constants.parse(SIMPLE), cluster, "M-3", slot_seconds=90)
        assert [int(job.iterations) for job in instance.jobs] == [3840, 5760, 5760]
        assert (instance.slot_seconds, {job.gang for job in instance.jobs}) == (90, {1})


def test_a_node_is_faster_by_the_same_factor_for_every_job() -> None:
    for seed in range(3):
        for cluster in CLUSTERS:
            jobs = physical(constants(seed), cluster, "M-5").jobs
            for gpu in set(CLUSTERS[cluster]):
                factors = [float(job.rate[gpu] / job.rate[CLUSTERS[cluster][0]]) for job in jobs]
                assert factors == pytest.approx([factors[0]] * len(jobs), rel=1e-3)


def test_draws_depend_on_the_seed_alone_and_stay_in_their_range() -> None:
    drawn = [constants(seed) for seed in range(40)]
    assert drawn == [constants(seed) for seed in range(40)]
    assert len({one.index for one in drawn}) == 2
    assert all(1 <= one.pcie <= 2 for one in drawn)
    assert all(600 <= job.seconds <= 3000 for one in drawn for job in one.jobs.values())


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"scale": {"S": 1, "M": 2, "L": 3}}, "scale: needs S, M, L, XL"),
        ({"jobs": {"IC": SIMPLE["jobs"]["IC"]}}, "jobs: needs IC, LM, LT, RS, MM"),
        ({"index": "tflops*vram"}, "index: "),
        ({"pcie": 0}, "pcie: 0 must be positive"),
        ({"jobs": {**SIMPLE["jobs"], "IC": {"weight": "XS", "batch": 16, "seconds": 720}}}, "jobs.IC.weight: "),
    ],
)
def test_constants_that_are_not_whole_are_refused(change: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError) as caught:
        Constants.parse({**SIMPLE, **change})
    assert message in str(caught.value)


def test_unknown_clusters_and_mixes_are_refused() -> None:
    with pytest.raises(InputError, match="unknown cluster 'azure'"):
        physical(constants(0), "azure", "M-1")
    with pytest.raises(InputError, match="unknown mix 'M-2'"):
        physical(constants(0), "aws", "M-2")
