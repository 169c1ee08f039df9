"""SMD's inner step: what Algorithms 1 and 2 lose as printed, and what they guarantee corrected."""

from __future__ import annotations

import itertools
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from dlsched.algorithms import smd
from dlsched.algorithms.smd import InnerStep, NeverAdmitted
from dlsched.models.smd import Instance, Schedule, best_point, check, exact_utility, points
from tests.cases.smd import BOX, S1, S2, S3, built, drawn, hyp, lost, sig, steps
from tests.longer import in_two


@pytest.mark.parametrize(
    ("epsilon", "variant", "cost", "lps"),
    [(0.1, "printed", 9.932077, 150), (0.5, "printed", 61 / 6, None), (0.5, "corrected", 10, None)],
)
def test_algorithm_1_on_the_first_job_of_s2(epsilon: float, variant: str, cost: float, lps: int | None) -> None:
    first = steps(smd.run(S2, epsilon=epsilon, variant=variant))[0]
    assert first.cost == pytest.approx(cost, abs=1e-6)
    assert lps in (None, first.lps)


@pytest.mark.parametrize(("epsilon", "cost", "lps"), [(0.5, 5.546154, 4), (0.1, 5.491004, 17), (0.01, 5.490427, 162)])
def test_algorithm_1_on_the_first_job_of_s3(epsilon: float, cost: float, lps: int) -> None:
    first = steps(smd.run(S3, epsilon=epsilon, variant="printed"))[0]
    assert first.cost == pytest.approx(cost, abs=1e-6)
    assert first.lps == lps


def test_the_printed_gain_is_that_of_lemma_3() -> None:
    assert [event.gain for event in steps(smd.run(S1, variant="printed", delta=0.5))] == pytest.approx(
        [0.444764], abs=1e-6
    )
    gains = [event.gain for event in steps(smd.run(S2, variant="printed", delta=0.5, epsilon=0.1))]
    assert gains == pytest.approx([0.307495, 0.203428], abs=1e-6)
    assert [event.gain for event in steps(smd.run(S2, variant="printed", gain=0.75, epsilon=0.1))] == [0.75, 0.75]


@pytest.mark.slow
def test_the_printed_rounding_loses_jobs() -> None:
    # One worker and one server are the only point; both survive with probability M^2 = 0.0686.
    single = built((2,), ("sync", (0, 0, 1, 1, 4), hyp(50), 1, 1, 2))
    runs = [smd.run(single, seed=seed, variant="printed", delta=0.5) for seed in range(400)]
    kept = sum(bool(result.schedule.jobs) for result in runs)
    assert 9 <= kept <= 52  # 27.4 expected; four standard deviations are 20
    for result in runs:
        assert lost(result) == ({} if result.schedule.jobs else {"1": "the rounding left no worker or no server"})
        assert steps(result)[0].gain == pytest.approx(0.2619522755)
        assert steps(result)[0].factor == float("inf")
    assert smd.run(single, variant="corrected").schedule == Schedule.of({"1": (1, 1)})


def test_the_printed_grid_loses_jobs() -> None:
    printed = smd.run(BOX, variant="printed", epsilon=0.5)
    assert lost(printed) == {"1": "no program of the printed grid is feasible"}
    assert printed.utility == 0
    assert printed.schedule.jobs == {}
    corrected = smd.run(BOX, epsilon=0.5)
    assert steps(corrected)[0].cost == pytest.approx(21.8)
    assert corrected.schedule == Schedule.of({"1": (4, 4)})


@pytest.mark.slow
def test_where_no_round_keeps_the_limits_the_point_is_rounded_down() -> None:
    # w <= 3 - 1/10^9: the point is rounded up to 3 almost surely.
    nearly = Fraction(3 * 10**9 - 1, 10**9)
    tight = built((9, 9), ("sync", (0, 0, 0, 0, 8), hyp(50), (1, 0), (0, 1), (str(nearly), 2)))
    event = steps(smd.run(tight))[0]
    assert (event.feasible, event.rounded_down, event.rounds) == (0, True, 10)
    assert event.chosen is not None
    assert event.chosen.workers == 2
    printed = smd.run(tight, variant="printed")
    assert lost(printed) == {"1": "no rounding kept the limits in 10000 rounds"}


def test_a_count_that_can_only_be_one_is_not_rounded() -> None:
    # Room for 1.9 servers: the width of that row without its first server is 0.9, and M_delta for it 0.006.
    narrow = built((50, 9), ("async", (0, 0, 40, 9), hyp(50), (1, 0), (0, 1), (50, "19/10")))
    event = steps(smd.run(narrow, delta=0.5))[0]
    assert event.relaxed == pytest.approx((50, 1.9))
    assert event.scaled is not None
    assert event.scaled[1] == 1
    assert 0.75 < event.gain < 1
    assert event.chosen is not None
    assert event.chosen.servers == 1
    assert event.feasible == 10


def test_a_job_whose_time_is_always_0_needs_no_algorithm() -> None:
    free = built((4,), ("async", (0, 0, 0, 0), hyp(5), 1, 1, 4))
    for variant in ("printed", "corrected"):
        assert smd.run(free, variant=variant).utility == 5


@pytest.mark.slow
@in_two(20, 60)
@pytest.mark.parametrize(("gain", "delta"), [(None, None), (0.3, None), (None, 0.5), (None, 1.0)])
def test_the_corrected_time_is_within_its_factor_of_the_best(
    gain: float | None, delta: float | None, seeds: range
) -> None:
    fallbacks = 0
    for instance in drawn(60, jobs=3, limit=14)[seeds.start : seeds.stop]:
        result = smd.run(instance, gain=gain, delta=delta, epsilon=0.1, rounds=2)
        for event in steps(result):
            best = best_point(instance.job(event.job))
            assert best is not None
            assert event.chosen is not None
            assert instance.job(event.job).fits(event.chosen.workers, event.chosen.servers)
            assert event.chosen.time <= Fraction(event.factor) * best.time
            assert delta or event.factor in (1.0, pytest.approx(4.4 / (gain or 1.0)))
            fallbacks += event.rounded_down
    assert fallbacks or gain or delta


def optimum(instance: Instance) -> Fraction:
    """By exhaustive search over all sets of jobs and all points of each."""
    best = {
        job.name: max((job.utility.exact(job.training.time(w, p)) for w, p in points(job).tolist()), default=None)
        for job in instance.jobs
    }
    able = [name for name, worth in best.items() if worth is not None]
    value = Fraction(0)
    for chosen in itertools.chain.from_iterable(itertools.combinations(able, n) for n in range(len(able) + 1)):
        reserved = {r: sum(instance.job(name).limit_of(r) for name in chosen) for r in instance.resources}
        if all(total <= instance.capacity_of(r) for r, total in reserved.items()):
            value = max(value, sum((best[name] or Fraction(0) for name in chosen), Fraction(0)))
    return value


@pytest.mark.slow
@pytest.mark.parametrize("delta", [None, 0.5])
def test_theorem_5_corrected(delta: float | None) -> None:
    said = 0
    for seed, instance in enumerate(drawn(40, jobs=4, resources=2, limit=9)):
        result = smd.run(instance, seed=seed, epsilon=0.1, rounds=1, delta=delta, outer="scheme", outer_epsilon=0.25)
        ratios = []
        for event in steps(result):
            job = instance.job(event.job)
            best = best_point(job)
            if best is not None and best.utility:
                ratios.append(job.utility.exact(Fraction(event.factor) * best.time) / best.utility)
        promised = Fraction(3, 4) * min(ratios, default=Fraction(0))
        said += promised > 0
        assert exact_utility(instance, result.schedule) >= promised * optimum(instance)
    assert said >= 5


@pytest.mark.slow
def test_the_printed_probability_of_theorem_5_is_false() -> None:
    # I = 1, R = 4, delta = 1/2, one point (1, 1): printed at least 15/16 for F = 1, truly M^2 = 0.0279.
    four = built((2, 2, 2, 2), ("sync", (0, 0, 1, 1, 4), hyp(50), (1,) * 4, (1,) * 4, (2,) * 4))
    results = [smd.run(four, seed=seed, variant="printed", delta=0.5, rounds=1) for seed in range(300)]
    assert steps(results[0])[0].gain == pytest.approx(0.1668893604)
    assert sum(result.utility > 0 for result in results) < 30
    assert all(smd.run(four, seed=seed, delta=0.5, rounds=1).utility > 0 for seed in range(10))


@pytest.mark.slow
@in_two(10, 40)
@pytest.mark.parametrize("variant", ["printed", "corrected"])
def test_schedules_are_feasible_and_runs_repeat(variant: str, seeds: range) -> None:
    differ = False
    for seed, instance in list(enumerate(drawn(40, jobs=4, limit=12)))[seeds.start : seeds.stop]:
        for delta in (None, 0.5):
            first = smd.run(instance, seed=seed, variant=variant, delta=delta, epsilon=0.1)
            assert check(instance, first.schedule) == []
            assert first.utility == pytest.approx(float(exact_utility(instance, first.schedule)))
            assert first == smd.run(instance, seed=seed, variant=variant, delta=delta, epsilon=0.1)
            differ |= first.log != smd.run(instance, seed=seed + 1, variant=variant, delta=delta, epsilon=0.1).log
            named = [event.job for event in first.log if isinstance(event, InnerStep)]
            never = {event.job for event in first.log if isinstance(event, NeverAdmitted)}
            assert set(named) | never == {job.name for job in instance.jobs}
            assert len(named) == len(set(named))
            assert never.isdisjoint(first.schedule.jobs)
    assert differ


def test_a_ratio_that_is_all_rounding_beside_the_others() -> None:
    tiny = built((32000,), ("async", (21, 90000, 3.7, 2.7e-8), hyp(50), 1, 23, 32000))
    event = steps(smd.run(tiny, epsilon=0.1))[0]
    best = best_point(tiny.jobs[0])
    assert best is not None
    assert event.chosen is not None
    assert event.chosen.time <= Fraction(event.factor) * best.time


def _amount(rng: np.random.Generator, least: int, most: int, zero: float = 0.25) -> Any:
    if rng.random() < zero:
        return 0
    return str(int(rng.integers(1, 40)) * Fraction(10) ** int(rng.integers(least, most)))


@pytest.mark.slow
@in_two(22, 60)
def test_amounts_of_any_size(seeds: range) -> None:
    found = 0
    for seed in seeds:
        rng = np.random.default_rng([11, seed])
        jobs = []
        for mode, terms in (("sync", 5), ("async", 4)):
            theta = tuple(_amount(rng, -9, 6) for _ in range(terms))
            utility = (hyp(30), sig(30, _amount(rng, -6, 2), _amount(rng, -2, 6)))[seed % 2]
            worker, server = ((_amount(rng, -1, 2, 0), _amount(rng, -1, 2)) for _ in range(2))
            jobs.append((mode, theta, utility, worker, server, (_amount(rng, 1, 4, 0), _amount(rng, 1, 4, 0))))
        instance = built((_amount(rng, 2, 4, 0), _amount(rng, 2, 4, 0)), *jobs)
        for options in ({}, {"delta": 0.5}, {"variant": "printed"}, {"inner": "exact"}):
            result = smd.run(instance, seed=seed, epsilon=0.1, **options)  # type: ignore[arg-type]  # by name
            assert check(instance, result.schedule) == []
            if "variant" in options:
                continue
            for event in steps(result):
                best = best_point(instance.job(event.job))
                assert best is not None
                assert event.chosen is not None
                assert event.chosen.time <= Fraction(event.factor) * best.time
                found += 1
    assert found > 100 / 60 * len(seeds)
