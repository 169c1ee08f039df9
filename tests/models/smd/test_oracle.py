"""The SMD oracle reproduces the golden numbers, and the package agrees with it on random instances."""

from __future__ import annotations

import copy
import json
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from dlsched.algorithms import optimum
from dlsched.bounds.smd.simulation import simulate_priority, simulate_wait_free
from dlsched.models.numbers import agree
from dlsched.models.smd import Instance, Layer, Schedule, best_point, check, exact_utility, points, ratios, times
from dlsched.models.smd.layered import layered_time
from dlsched.models.smd.speed import priority, priority_printed, sequential, wait_free, wait_free_paths
from tests import paths
from tests.longer import longer
from tests.oracles import smd as oracle
from tests.strategies import smd as smd_strategies

GOLDEN = json.loads((paths.GOLDEN / "smd.json").read_text())
CASES = {case["name"]: case for case in GOLDEN["instances"]}


def small(seed: int) -> Any:
    """Return an instance whose combinations can all be tried."""
    data = smd_strategies.draw(seed)
    size = 1
    for job in data["jobs"]:
        size *= 1 + len(list(oracle.pairs(job)))
    return data if size <= 20_000 else smd_strategies.draw(seed, jobs=1)


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_golden_numbers(name: str) -> None:
    case = CASES[name]
    value, chosen = oracle.optimum(case["instance"])
    assert agree(value, oracle.rational(case["optimum"]))
    assert {job: list(point) for job, point in chosen.items()} == case["admitted"]
    for job in case["instance"]["jobs"]:
        found, expected = oracle.inner(job), case["inner"][job["name"]]
        assert (found is None) == (expected is None)
        assert found is None or agree(found[3], oracle.rational(expected))


@pytest.mark.parametrize("name", CASES)
def test_the_package_has_the_golden_numbers(name: str) -> None:
    instance = Instance.parse(CASES[name]["instance"])
    found = optimum(instance)
    assert found.proved
    assert agree(found.value, oracle.rational(CASES[name]["optimum"]))
    assert {n: [j.workers, j.servers] for n, j in found.schedule.jobs.items()} == CASES[name]["admitted"]


@pytest.mark.parametrize("seed", longer(range(150), *range(50, 150)))
def test_times_points_and_the_inner_optimum_agree(seed: int) -> None:
    data = smd_strategies.draw(seed)
    instance = Instance.parse(data)
    for job, plain in zip(instance.jobs, data["jobs"], strict=True):
        pairs = list(oracle.pairs(plain))
        assert sorted(map(tuple, points(job).tolist())) == sorted(pairs)
        assert job.can_run == bool(pairs)
        for w, p in pairs:
            time = oracle.completion_time(plain, w, p)
            assert job.training.time(w, p) == time
            assert float(times(job, np.array([w]), np.array([p]))[0]) == pytest.approx(float(time))
            assert float(ratios(job)(np.array([float(w), float(p)]))) == pytest.approx(float(time))
            assert agree(job.utility.exact(time), oracle.worth(plain, time))
        best, found = oracle.inner(plain), best_point(job)
        assert (best is None) == (found is None)
        if best is not None and found is not None:
            assert (found.workers, found.servers, found.time) == best[:3]
            assert agree(found.utility, best[3])


@pytest.mark.parametrize("seed", range(80))
def test_the_certified_optimum_is_the_exhaustive_one(seed: int) -> None:
    data = small(seed)
    best, _ = oracle.optimum(data)
    instance = Instance.parse(data)
    found = optimum(instance)
    assert found.proved
    assert agree(found.value, best)
    assert oracle.violations(data, found.schedule.dump()) == []
    assert agree(oracle.value(data, found.schedule.dump()), best)


def corrupted(schedule: Any, rng: np.random.Generator) -> Any:
    """Change one count by one to five, or admit a job with random counts."""
    jobs = copy.deepcopy(schedule)
    for name, (workers, servers) in list(jobs.items()):
        if rng.integers(2):
            jobs[name] = (workers + int(rng.integers(-5, 6)), servers + int(rng.integers(-5, 6)))
    return jobs


@pytest.mark.parametrize("seed", range(150))
def test_the_checkers_agree_on_any_schedule(seed: int) -> None:
    rng = np.random.default_rng(seed)
    data = smd_strategies.draw(seed)
    instance = Instance.parse(data)
    plan = corrupted({job["name"]: (1, 1) for job in data["jobs"] if rng.integers(2)}, rng)
    schedule = Schedule.of(plan)
    rules = {"(2) capacity": "capacity", "(3) limit": "limit", "(8) counts": "counts"}
    found = sorted({rules[violation.rule] for violation in check(instance, schedule)})
    assert found == oracle.violations(data, schedule.dump())
    if "counts" not in found:
        assert agree(exact_utility(instance, schedule), oracle.value(data, schedule.dump()))


def test_an_unknown_job_is_a_violation() -> None:
    data = CASES["S1"]["instance"]
    violations = check(Instance.parse(data), Schedule.of({"nobody": (1, 1)}))
    assert [(v.rule, v.place) for v in violations] == [("names", "job nobody")]
    assert oracle.violations(data, {"jobs": {"nobody": {"workers": 1, "servers": 1}}}) == ["names"]


def layer_list(seed: int) -> tuple[list[Any], list[Layer], Fraction]:
    rng = np.random.default_rng(seed)
    plain = smd_strategies.layers(rng, 7)
    slice_ = Fraction(int(rng.integers(0, 5)), 4) * oracle.rational(plain[0]["transfer"])
    return plain, [Layer.model_validate(layer) for layer in plain], min(slice_, Fraction(plain[0]["transfer"]))


@pytest.mark.parametrize("seed", longer(range(300), *range(100, 300)))
def test_steps_take_as_long_as_when_simulated(seed: int) -> None:
    """Lemma 1's recursion, its closed form, Lemma 2 corrected, and both simulations of the package and of this test."""
    plain, layers, slice_ = layer_list(seed)
    time = oracle.simulate_wait_free(plain)
    assert wait_free(layers).total == time == simulate_wait_free(layers)
    assert max(path.total for path in wait_free_paths(layers)) == time <= sequential(layers).total
    fast = oracle.simulate_priority(plain, slice_)
    assert priority(layers, slice_).total == fast == simulate_priority(layers, slice_)
    assert fast <= time + slice_
    assert priority_printed(layers, slice_).total >= fast
    if len(layers) <= 2:
        assert priority_printed(layers, slice_).total == fast


@pytest.mark.parametrize(
    ("transfers", "printed", "true"), [((1, 2, 2), 8, 7), ((1, 3, 3), 11, 9), ((1, 12, 1, 1), 39, 19)]
)
def test_the_printed_lemma_2_counts_a_backlog_twice(transfers: tuple[int, ...], printed: int, true: int) -> None:
    """All b = f = 1, phi = 0; by hand."""
    layers = [Layer(forward=Fraction(1), backward=Fraction(1), transfer=Fraction(r)) for r in transfers]
    assert priority_printed(layers).total == printed
    assert priority(layers).total == true


@pytest.mark.parametrize("seed", range(60))
def test_the_layered_time_is_a_step_simulated_at_the_points_own_times(seed: int) -> None:
    """Scale every layer to the point's times, simulate one step, and multiply by the iterations."""
    rng = np.random.default_rng(seed)
    training = smd_strategies.measured(rng)
    job = {**CASES["S1"]["instance"]["jobs"][0], "training": training}
    parsed = Instance.parse({**CASES["S1"]["instance"], "jobs": [job]}).jobs[0].training
    layers, q = training["layers"], oracle.rational
    whole = {phase: sum(q(layer[phase]) for layer in layers) for phase in ("forward", "backward", "transfer")}
    for w, p in [(1, 1), (2, 1), (1, 3), (3, 2)]:
        sync = training["mode"] == "sync"
        samples = q(training["global_batch"]) / w if sync else q(training["minibatch"])
        senders = w if sync else q(training["alpha"]) * w
        one_way = q(training["model_size"]) / p / (q(training["bandwidth"]) / senders) if senders else Fraction(0)
        totals = {phase: q(training.get(phase, whole[phase])) for phase in ("forward", "backward")}
        factors = {
            "forward": samples * totals["forward"] / whole["forward"],
            "backward": totals["backward"] / whole["backward"],
            "transfer": one_way / whole["transfer"],
        }
        scaled = [{phase: q(layer[phase]) * factor for phase, factor in factors.items()} for layer in layers]
        if training["overlap"] == "wait-free":
            step = oracle.simulate_wait_free(scaled)
        elif training["overlap"] == "priority":
            step = oracle.simulate_priority(scaled, q(training.get("slice", 0)) * factors["transfer"])
        else:
            step = sum(layer["forward"] + layer["backward"] + 2 * layer["transfer"] for layer in scaled)
        step += q(training["beta1"]) * w + q(training["beta2"]) * p
        assert layered_time(parsed, w, p) == q(training["iterations"]) * step / (1 if sync else w)
        assert layered_time(parsed, w, p) >= parsed.time(w, p)
