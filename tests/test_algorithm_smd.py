"""SMD: the golden instances, what each variant loses, what the corrected one guarantees, and the options of `run`."""

from __future__ import annotations

import itertools
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from dlsched.algorithms import smd
from dlsched.algorithms.baselines.smd import esw, optimus
from dlsched.algorithms.run import Run
from dlsched.algorithms.smd import InnerStep, NeverAdmitted, OuterStep, admission
from dlsched.models import InputError
from dlsched.models.numbers import exceeds
from dlsched.models.smd import Instance, Schedule, best_point, check, exact_utility, points, preset, random

BOTH = pytest.mark.parametrize("variant", ["printed", "corrected"])


def hyp(scale: float) -> dict[str, Any]:
    return {"kind": "hyperbolic", "scale": scale}


def lin(intercept: float, slope: float) -> dict[str, Any]:
    return {"kind": "linear", "intercept": intercept, "slope": slope}


def step(value: float, deadline: float) -> dict[str, Any]:
    return {"kind": "step", "value": value, "deadline": deadline}


def sig(height: float, steepness: float, midpoint: float) -> dict[str, Any]:
    return {"kind": "sigmoid", "height": height, "steepness": steepness, "midpoint": midpoint}


def built(capacity: tuple[Any, ...], *jobs: tuple[str, tuple[Any, ...], dict[str, Any], Any, Any, Any]) -> Instance:
    """An instance from its capacity and (mode, theta, utility, worker, server, limit) of each job, named 1, 2, ..."""
    names = [f"r{k + 1}" for k in range(len(capacity))]

    def by_name(amounts: Any) -> dict[str, Any]:
        return dict(zip(names, amounts if isinstance(amounts, tuple) else (amounts,), strict=True))

    return Instance.model_validate(
        {
            "resources": names,
            "capacity": by_name(capacity),
            "jobs": [
                {
                    "name": str(i + 1),
                    "worker": by_name(worker),
                    "server": by_name(server),
                    "limit": by_name(limit),
                    "utility": utility,
                    "training": {"kind": "coefficients", "mode": mode, "theta": theta},
                }
                for i, (mode, theta, utility, worker, server, limit) in enumerate(jobs)
            ],
        }
    )


HALVES = ("1/2", "1/2", 1, 2, 12)
S1 = built((6,), ("sync", (0, 0, 0, 1, 8), hyp(12), 1, 1, 6))
S2 = built(
    (6, 6),
    ("sync", HALVES, hyp(60), (1, 0), (0, 1), (4, 4)),
    ("async", (1, 1, 6, 4), hyp(40), (1, 0), (0, 1), (3, 2)),
)
S3 = built(
    (10, 8),
    ("async", (0, 1, 6, 6), hyp(30), (2, 1), (1, 1), (8, 6)),
    ("async", (0, 1, 6, 6), hyp(29), (2, 1), (1, 1), (7, 5)),
    ("async", (0, 1, 6, 6), hyp(10), (2, 1), (1, 1), (3, 2)),
)
S4 = built(
    (9, 13),
    ("sync", (1, 0, 0, 3, 9), lin(20, 1), (1, 1), (1, 2), (5, 9)),
    ("sync", (1, 1, 2, 1, 4), lin(15, 1), (2, 1), (1, 1), (6, 4)),
    ("async", (0, 2, 3, 5), lin(9, 1), (1, 1), (1, 1), (4, 4)),
)
S5 = built(
    (6,),
    ("sync", (0, 0, 1, 1, 4), step(10, 4), 1, 1, 3),
    ("sync", (0, 0, 1, 1, 4), step(10, 4), 1, 1, 4),
    ("async", (0, 0, 1, 1), step(6, 2), 1, 1, 1),
    ("async", (0, 0, 1, 1), step(6, 2), 1, 1, 2),
)
S6 = built(
    (15,),
    ("sync", (0, 0, 0, 1, 8), hyp(12), 1, 1, 6),
    ("async", (0, 1, 6, 6), hyp(30), 2, 1, 8),
    ("sync", HALVES, hyp(60), 1, 1, 8),
    ("async", (1, 1, 6, 4), hyp(40), 1, 1, 5),
)
S7 = built(
    (8,),
    ("sync", (0, 0, 0, 1, 8), sig(10, 2, 6), 1, 1, 6),
    ("async", (0, 1, 6, 6), sig(8, 1, 5), 2, 1, 8),
)
# Utilities of each job at its best point, optimum and admitted jobs: joint exhaustive search and a MILP agree on them.
GOLDEN: dict[str, tuple[Instance, list[float], float, list[str]]] = {
    "S1": (S1, [18 / 7], 18 / 7, ["1"]),
    "S2": (S2, [60 / 11, 6], 6, ["2"]),
    "S3": (S3, [9 / 2, 58 / 15, 5 / 7], 481 / 105, ["2", "3"]),
    "S4": (S4, [23 / 2, 6, 3], 29 / 2, ["1", "3"]),
    "S5": (S5, [0, 10, 6], 16, ["2", "4"]),
    "S6": (S6, [18 / 7, 9 / 2, 60 / 11, 6], 126 / 11, ["3", "4"]),
    "S7": (S7, [9.906840406549334, 2.713949049873463], 9.906840406549334, ["1"]),
}
# The box 1 <= w, p <= 4 in which the printed grid has no feasible program at precision 1/2.
BOX = built((4, 4), ("sync", (0.1, 0.1, 10, 1, 40), hyp(50), (1, 0), (0, 1), (4, 4)))


def steps(result: Run[Schedule]) -> list[InnerStep]:
    return [event for event in result.log if isinstance(event, InnerStep)]


def lost(result: Run[Schedule]) -> dict[str, str]:
    return {event.job: event.reason for event in result.log if isinstance(event, NeverAdmitted)}


def drawn(count: int, **sizes: int) -> list[Instance]:
    return [random(np.random.default_rng([7, seed]), **sizes) for seed in range(count)]


@pytest.mark.parametrize("outer", ["exact", "scheme", "auto"])
@pytest.mark.parametrize("name", GOLDEN)
def test_both_steps_exact_reach_the_golden_optimum(name: str, outer: str) -> None:
    instance, utilities, value, admitted = GOLDEN[name]
    result = smd.run(instance, inner="exact", outer=outer)
    assert [float(event.chosen.utility) for event in steps(result) if event.chosen] == pytest.approx(utilities)
    assert result.utility == pytest.approx(value, abs=1e-12)
    assert list(result.schedule.jobs) == admitted
    assert check(instance, result.schedule) == []
    assert result.prices == {}


def test_jobs_that_can_never_be_admitted_are_logged() -> None:
    assert lost(smd.run(S5)) == {"3": "one worker and one server need 2 of r1, its limit is 1"}
    large = S2.model_copy(update={"capacity": {"r1": Fraction(7, 2), "r2": Fraction(9)}})
    result = smd.run(large, inner="exact")
    assert lost(result) == {"1": "reserves 4 of r1, the cluster has 3.5"}
    assert [event.job for event in steps(result)] == ["2"]


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
    assert [event.gain for event in steps(smd.run(S1, variant="printed"))] == pytest.approx([0.444764], abs=1e-6)
    gains = [event.gain for event in steps(smd.run(S2, variant="printed", epsilon=0.1))]
    assert gains == pytest.approx([0.307495, 0.203428], abs=1e-6)
    assert [event.gain for event in steps(smd.run(S2, variant="printed", gain=0.75, epsilon=0.1))] == [0.75, 0.75]


def test_the_printed_rounding_loses_jobs() -> None:
    # One worker and one server are the only point; both survive with probability M^2 = 0.0686.
    single = built((2,), ("sync", (0, 0, 1, 1, 4), hyp(50), 1, 1, 2))
    runs = [smd.run(single, seed=seed, variant="printed") for seed in range(400)]
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
    corrected = smd.run(BOX, epsilon=0.5, gain=1.0)
    assert steps(corrected)[0].cost == pytest.approx(21.8)
    assert corrected.schedule == Schedule.of({"1": (4, 4)})


def test_where_no_round_keeps_the_limits_the_point_is_rounded_down() -> None:
    # w <= 3 - 1/10^9: the point is rounded up to 3 almost surely.
    nearly = Fraction(3 * 10**9 - 1, 10**9)
    tight = built((9, 9), ("sync", (0, 0, 0, 0, 8), hyp(50), (1, 0), (0, 1), (str(nearly), 2)))
    event = steps(smd.run(tight, gain=1.0))[0]
    assert (event.feasible, event.rounded_down, event.rounds) == (0, True, 10)
    assert event.chosen is not None
    assert event.chosen.workers == 2
    printed = smd.run(tight, gain=1.0, variant="printed")
    assert lost(printed) == {"1": "no rounding kept the limits in 10000 rounds"}


def test_a_count_that_can_only_be_one_is_not_rounded() -> None:
    # Room for 1.9 servers: the width of that row without its first server is 0.9, and M_delta for it 0.006.
    narrow = built((50, 9), ("async", (0, 0, 40, 9), hyp(50), (1, 0), (0, 1), (50, "19/10")))
    event = steps(smd.run(narrow))[0]
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


@pytest.mark.parametrize("gain", [None, 1.0, 0.3])
def test_the_corrected_time_is_within_its_factor_of_the_best(gain: float | None) -> None:
    fallbacks = 0
    for instance in drawn(60, jobs=3, limit=14):
        result = smd.run(instance, gain=gain, epsilon=0.1, rounds=2)
        for event in steps(result):
            best = best_point(instance.job(event.job))
            assert best is not None
            assert event.chosen is not None
            assert instance.job(event.job).fits(event.chosen.workers, event.chosen.servers)
            assert event.chosen.time <= Fraction(event.factor) * best.time
            assert gain is None or event.factor in (1.0, pytest.approx(4.4 / gain))
            fallbacks += event.rounded_down
    assert fallbacks or gain != 1.0


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


@pytest.mark.parametrize("gain", [None, 1.0])
def test_theorem_5_corrected(gain: float | None) -> None:
    said = 0
    for seed, instance in enumerate(drawn(40, jobs=4, resources=2, limit=9)):
        result = smd.run(instance, seed=seed, epsilon=0.1, rounds=1, gain=gain, outer="scheme", outer_epsilon=0.25)
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


def test_the_printed_probability_of_theorem_5_is_false() -> None:
    # I = 1, R = 4, delta = 1/2, one point (1, 1): printed at least 15/16 for F = 1, truly M^2 = 0.0279.
    four = built((2, 2, 2, 2), ("sync", (0, 0, 1, 1, 4), hyp(50), (1,) * 4, (1,) * 4, (2,) * 4))
    results = [smd.run(four, seed=seed, variant="printed", rounds=1) for seed in range(300)]
    assert steps(results[0])[0].gain == pytest.approx(0.1668893604)
    assert sum(result.utility > 0 for result in results) < 30
    assert all(smd.run(four, seed=seed, rounds=1).utility > 0 for seed in range(10))


@BOTH
def test_schedules_are_feasible_and_runs_repeat(variant: str) -> None:
    differ = False
    for seed, instance in enumerate(drawn(40, jobs=4, limit=12)):
        for gain in (None, 1.0):
            first = smd.run(instance, seed=seed, variant=variant, gain=gain, epsilon=0.1)
            assert check(instance, first.schedule) == []
            assert first.utility == pytest.approx(float(exact_utility(instance, first.schedule)))
            assert first == smd.run(instance, seed=seed, variant=variant, gain=gain, epsilon=0.1)
            differ |= first.log != smd.run(instance, seed=seed + 1, variant=variant, gain=gain, epsilon=0.1).log
            named = [event.job for event in first.log if isinstance(event, InnerStep)]
            never = {event.job for event in first.log if isinstance(event, NeverAdmitted)}
            assert set(named) | never == {job.name for job in instance.jobs}
            assert len(named) == len(set(named))
            assert never.isdisjoint(first.schedule.jobs)
    assert differ


def test_a_job_is_rounded_as_without_the_jobs_after_it() -> None:
    whole = preset("paper", 3, jobs=6)
    part = whole.model_copy(update={"jobs": whole.jobs[:3]})
    assert steps(smd.run(whole, seed=5))[:3] == steps(smd.run(part, seed=5))


def test_exact_steps_are_never_worse_than_anything_else() -> None:
    strictly = 0
    for instance in [*drawn(40, jobs=5, limit=12), *(preset("paper", seed, jobs=12) for seed in range(2))]:
        best = smd.run(instance, inner="exact", outer="exact").utility
        others = [esw.run(instance), optimus.run(instance), smd.run(instance, gain=1.0), smd.run(instance)]
        others.append(smd.run(instance, variant="printed", gain=1.0))
        for result in others:
            assert check(instance, result.schedule) == []
            assert not exceeds(result.utility, best)
            strictly += exceeds(best, result.utility)
    assert strictly > 50


@pytest.mark.parametrize("mode", ["sync", "async"])
def test_the_papers_setting(mode: str) -> None:
    instance = preset("paper", 1, mode=mode)
    best = smd.run(instance, inner="exact", outer="exact")
    found = smd.run(instance, gain=1.0)
    assert 0.95 * best.utility <= found.utility <= best.utility + 1e-6
    last = found.log[-1]
    assert isinstance(last, OuterStep)
    assert (last.method, last.guarantee, last.subset_size) == ("scheme", 1.0, 50)
    assert check(instance, found.schedule) == []


def test_the_outer_methods(monkeypatch: pytest.MonkeyPatch) -> None:
    outer = {how: smd.run(S6, inner="exact", outer=how).log[-1] for how in ("auto", "scheme", "exact")}
    assert {how: (event.method, event.guarantee) for how, event in outer.items() if isinstance(event, OuterStep)} == {
        "auto": ("scheme", 1.0),
        "scheme": ("scheme", 1.0),
        "exact": ("exact", 1.0),
    }
    coarse = smd.run(S6, inner="exact", outer="scheme", outer_epsilon=0.5).log[-1]
    assert isinstance(coarse, OuterStep)
    assert (coarse.guarantee, coarse.subset_size) == (0.5, 1)
    monkeypatch.setattr(admission, "AUTO_LPS", 1)
    event = smd.run(S6, inner="exact").log[-1]
    assert isinstance(event, OuterStep)
    assert event.method == "exact"
    assert "not done after 1 linear programs" in event.reason
    assert event.admitted == ("3", "4")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"epsilon": 0}, r"epsilon: 0 is not in \(0, 1\)"),
        ({"epsilon": float("nan")}, r"epsilon: nan is not in \(0, 1\)"),
        ({"outer_epsilon": 1}, r"outer_epsilon: 1 is not in \(0, 1\)"),
        ({"delta": 0}, r"delta: 0 is not in \(0, 1\]"),
        ({"gain": 1.5}, r"gain: 1.5 is not in \(0, 1\]"),
        ({"rounds": 0}, "rounds: 0 must be at least 1"),
        ({"epsilon": 1e-12}, "job 1: epsilon: its grid has"),
    ],
)
def test_options_out_of_range_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        smd.run(S2, **options)


@pytest.mark.parametrize("option", ["variant", "inner", "outer"])
def test_unknown_names_are_refused(option: str) -> None:
    names: dict[str, Any] = {option: "other"}
    with pytest.raises(ValueError, match="'other' is not a valid"):
        smd.run(S1, **names)


def test_no_jobs() -> None:
    empty = S1.model_copy(update={"jobs": ()})
    for outer in ("auto", "scheme", "exact"):
        result = smd.run(empty, outer=outer)
        assert (result.utility, result.schedule.jobs, len(result.log)) == (0.0, {}, 1)
