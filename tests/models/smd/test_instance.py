"""SMD instances: what is refused, in which words, what files keep, and what theta a measured job has."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dlsched.models import InputError
from dlsched.models.smd import PRESETS, Instance, Mode, best_point, points, preset
from tests.cases.documents import changed, refused

MEASURED: dict[str, Any] = {
    "kind": "measured",
    "mode": "sync",
    "iterations": 100,
    "global_batch": 64,
    "minibatch": 8,
    "model_size": 6,
    "bandwidth": 3,
    "beta1": 2,
    "beta2": "1/2",
    "alpha": "1/4",
    "overlap": "wait-free",
    "layers": [
        {"forward": 1, "backward": 2, "transfer": 2},
        {"forward": 1, "backward": 1, "transfer": 3},
        {"forward": 1, "backward": 1, "transfer": 3},
        {"forward": 1, "backward": 2, "transfer": 4},
    ],
}
GOOD: dict[str, Any] = {
    "resources": ["gpu", "cpu"],
    "capacity": {"gpu": 8, "cpu": 20},
    "jobs": [
        {
            "name": "a",
            "worker": {"gpu": 1, "cpu": 1},
            "server": {"cpu": "1/2"},
            "limit": {"gpu": 4, "cpu": 6},
            "utility": {"kind": "hyperbolic", "scale": 12},
            "training": {"kind": "coefficients", "mode": "sync", "theta": [0, 0, 0, 1, 8]},
        },
        {
            "name": "b",
            "worker": {"gpu": 1},
            "server": {"cpu": 1},
            "limit": {"gpu": 4, "cpu": 6},
            "utility": {"kind": "table", "values": [9, 4, 0]},
            "training": MEASURED,
        },
    ],
}


COST = {"kind": "power", "scale": -1, "exponent": 2}


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        ("extra", 1, "extra: unknown field"),
        ("jobs.1.training.colour", "red", "jobs[1].training.colour: unknown field"),
        ("jobs.0.limit", ..., "jobs[0].limit: required field is missing"),
        ("jobs.1.name", "a", "jobs[1].name: 'a' is already the name of jobs[0]"),
        ("resources", ["gpu", "gpu", "cpu"], "resources[1]: 'gpu' is already the name of resources[0]"),
        ("capacity.tpu", 1, "capacity.tpu: unknown resource; resources lists cpu, gpu"),
        ("capacity.gpu", -1, "capacity.gpu: -1 must not be negative"),
        ("jobs.0.limit.tpu", 1, "jobs[0].limit.tpu: unknown resource; resources lists cpu, gpu"),
        ("jobs.0.worker", {"cpu": 0}, "jobs[0].worker: needs nothing of any resource, so nothing bounds the number"),
        ("jobs.1.server", {}, "jobs[1].server: needs nothing of any resource, so nothing bounds the number of servers"),
        ("jobs.0.limit", {"gpu": 10**8, "cpu": 10**8}, "jobs[0].limit: allows 99999999 workers; at most 1000000 are"),
        (
            "jobs.0.utility",
            {"kind": "sqrt", "scale": 2},
            "jobs[0].utility: increases with the completion time; it must",
        ),
        ("jobs.0.utility", {"kind": "table", "values": [1, 2]}, "jobs[0].utility: increases with the completion time"),
        ("jobs.0.utility", COST, "jobs[0].utility: is -1 at 1; a utility of the completion time must"),
        ("jobs.0.utility.kind", "cubic", "jobs[0].utility.kind: 'cubic' must be one of "),
        ("jobs.0.training.kind", "guessed", "jobs[0].training.kind: 'guessed' must be one of "),
        ("jobs.0.training.mode", "later", "jobs[0].training.mode: 'later' should be 'sync' or 'async'"),
        ("jobs.0.training.theta", [1, 2, 3, 4], "jobs[0].training.theta: has 4 entries; sync training has 5 coeffi"),
        ("jobs.0.training.mode", "async", "jobs[0].training.theta: has 5 entries; async training has 4 coefficients"),
        ("jobs.0.training.theta", [0, 0, 0, -1, 8], "jobs[0].training.theta[3]: -1 must not be negative"),
        ("jobs.1.training.bandwidth", 0, "jobs[1].training.bandwidth: 0 must be positive"),
        ("jobs.1.training.iterations", 0, "jobs[1].training.iterations: 0 must be positive"),
        ("jobs.1.training.layers", [], "jobs[1].training.layers: is empty; a network has at least one layer"),
        ("jobs.1.training.layers", ..., "jobs[1].training.layers: required field is missing; the wait-free model"),
        ("jobs.1.training.layers.0.forward", -1, "jobs[1].training.layers[0].forward: -1 must not be negative"),
        ("jobs.1.training.global_batch", ..., "jobs[1].training.global_batch: required field is missing; synchron"),
        ("jobs.1.training.alpha", 2, "jobs[1].training.alpha: 2 exceeds 1: it is a share of the workers"),
        ("jobs.1.training.slice", 3, "jobs[1].training.slice: 3 exceeds the 2 of layer 1's transfer"),
        ("jobs.1.training.overlap", "total", "jobs[1].training.overlap: 'total' should be 'sequential', 'wait-free'"),
    ],
)
def test_what_is_refused(path: str, value: Any, message: str) -> None:
    assert refused(Instance.parse, changed(GOOD, path, value)).startswith(message)


@pytest.mark.parametrize(
    ("training", "message"),
    [
        (MEASURED | {"mode": "async", "minibatch": None}, "minibatch: required field is missing; each asynchronous"),
        (
            MEASURED | {"layers": [{"forward": 1, "backward": 1, "transfer": 0}]},
            "layers: transfer is 0 in every layer, so nothing tells how it splits",
        ),
        (
            MEASURED | {"forward": 5, "layers": [{"forward": 0, "backward": 1, "transfer": 1}]},
            "layers: forward is 0 in every layer, so nothing tells how it splits",
        ),
        (
            MEASURED | {"overlap": "sequential", "layers": None, "forward": 1},
            "backward: required field is missing where there are no layers",
        ),
    ],
)
def test_measured_training_that_means_nothing(training: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError) as caught:
        Instance.parse(changed(GOOD, "jobs.1.training", training))
    assert str(caught.value).startswith(f"jobs[1].training.{message}")


def test_theta_of_the_worked_example() -> None:
    """The paper's Fig. 4 with b=(2,1,1,2), r=(2,3,3,4), f=1: eta = (1, 1/3, 2/3); then (9) and (10) by hand."""
    job = Instance.parse(GOOD).job("b")
    assert job.training.coefficients == (
        Fraction(200),
        Fraction(50),
        100 * Fraction(1, 3) * 6,
        2 * 100 * Fraction(2, 3) * Fraction(6, 3),
        Fraction(100 * 64 * 4),
    )
    job = Instance.parse(changed(GOOD, "jobs.1.training.mode", "async")).job("b")
    assert job.training.coefficients == (
        Fraction(200),
        Fraction(50),
        100 * (Fraction(8 * 4) + Fraction(1, 3) * 6),
        2 * 100 * Fraction(1, 4) * Fraction(2, 3) * Fraction(6, 3),
    )


@pytest.mark.parametrize("mode", list(Mode))
def test_time_is_what_the_coefficients_say(mode: Mode) -> None:
    job = Instance.parse(changed(GOOD, "jobs.1.training.mode", str(mode))).job("b")
    a, b, c, d, *e = job.training.coefficients
    w, p = 3, 2
    expected = a * w + b * p + c + d * w / p + e[0] / w if e else a + b * Fraction(p, w) + c / w + d / p
    assert job.training.time(w, p) == expected


def test_given_totals_scale_the_profile() -> None:
    """Totals that equal the layers' sums change nothing; the profile decides eta alone."""
    plain = Instance.parse(GOOD).job("b").training.coefficients
    assert (
        Instance.parse(changed(GOOD, "jobs.1.training", MEASURED | {"forward": 4, "backward": 6}))
        .job("b")
        .training.coefficients
        == plain
    )
    doubled = [{name: 2 * x for name, x in layer.items()} for layer in MEASURED["layers"]]
    scaled = MEASURED | {"forward": 4, "backward": 6, "layers": doubled}
    assert Instance.parse(changed(GOOD, "jobs.1.training", scaled)).job("b").training.coefficients == plain


def test_parts_of_no_length_keep_their_share() -> None:
    """Without backward passes and without a model to send, nothing divides 0 by 0."""
    layers = [{"forward": 1, "backward": 0, "transfer": 0}] * 2
    job = Instance.parse(changed(GOOD, "jobs.1.training", MEASURED | {"model_size": 0, "layers": layers})).job("b")
    assert job.training.coefficients == (200, 50, 0, 0, 100 * 64 * 2)


def test_a_limit_below_one_worker_and_one_server_leaves_no_point() -> None:
    instance = Instance.parse(changed(GOOD, "jobs.0.limit", {"gpu": 1, "cpu": 1}))
    job = instance.job("a")
    assert not job.can_run
    assert not instance.admissible(job)
    assert points(job).shape == (0, 2)
    assert best_point(job) is None


def test_a_limit_above_the_cluster_is_not_admissible() -> None:
    instance = Instance.parse(changed(GOOD, "capacity", {"gpu": 3, "cpu": 20}))
    assert instance.job("a").can_run
    assert not instance.admissible(instance.job("a"))


@pytest.mark.parametrize("name", PRESETS)
def test_presets_are_valid_and_seeded(name: str, tmp_path: Path) -> None:
    instance = preset(name, 5, jobs=4)
    assert instance == preset(name, 5, jobs=4) != preset(name, 6, jobs=4)
    instance.save(tmp_path / "i.json")
    again = Instance.load(tmp_path / "i.json")
    assert again == instance
    assert again.digest == instance.digest


@pytest.mark.parametrize("mode", ["sync", "async"])
def test_the_papers_ranges(mode: str) -> None:
    """Section V: layers, iterations, batches and limits lie where the paper draws them from."""
    instance = preset("paper", 1, jobs=30, mode=mode, overlap="priority")
    for job in instance.jobs:
        training: Any = job.training
        assert training.mode == mode
        assert 50 <= training.iterations <= 200
        assert 10 <= len(training.layers) <= 100
        assert 1 <= training.global_batch / training.minibatch <= 100
        assert all(Fraction(80, 1000) <= layer.transfer <= Fraction(1, 2) for layer in training.layers)
        assert all(0 < share <= 1 for share in training.eta)
        assert job.limit_of("vcpu") in {36 * k for k in range(1, 21)}
    assert instance.capacity == {"gpu": 600, "vcpu": 3400, "memory": 1400, "storage": 1200}
    assert (instance.origin or {})["beta"].startswith("assumed: beta_1 and beta_2 in seconds")


def test_files_are_read_back_exactly(tmp_path: Path) -> None:
    instance = Instance.parse(GOOD)
    instance.save(tmp_path / "i.json")
    assert json.loads((tmp_path / "i.json").read_text())["jobs"][1]["training"]["beta2"] == 0.5
    assert Instance.load(tmp_path / "i.json") == instance
    (tmp_path / "i.json").write_text('{"resources": [], "jobs": []}')
    with pytest.raises(InputError, match=r"i\.json: capacity: required field is missing"):
        Instance.load(tmp_path / "i.json")


def test_unknown_preset() -> None:
    with pytest.raises(InputError, match="unknown preset 'none'; there are random, paper, roomy"):
        preset("none", np.random.default_rng(0))
