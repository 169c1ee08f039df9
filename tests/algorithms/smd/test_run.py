"""SMD: the golden instances, dominance, the outer step and the options of `run`."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from dlsched.algorithms import smd
from dlsched.algorithms.baselines.smd import esw, optimus
from dlsched.algorithms.smd import OuterStep, admission
from dlsched.models import InputError
from dlsched.models.numbers import exceeds
from dlsched.models.smd import check, preset
from tests.cases.smd import GOLDEN, S1, S2, S5, S6, drawn, lost, steps
from tests.longer import in_two


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


@pytest.mark.slow
def test_a_job_is_rounded_as_without_the_jobs_after_it() -> None:
    whole = preset("paper", 3, jobs=6)
    part = whole.model_copy(update={"jobs": whole.jobs[:3]})
    assert steps(smd.run(whole, seed=5))[:3] == steps(smd.run(part, seed=5))


@pytest.mark.slow
@in_two(15, 40)
def test_exact_steps_are_never_worse_than_anything_else(seeds: range) -> None:
    strictly = 0
    instances = drawn(40, jobs=5, limit=12)[seeds.start : seeds.stop]
    for instance in [*instances, preset("paper", min(1, seeds.start), jobs=12)]:
        best = smd.run(instance, inner="exact", outer="exact").utility
        others = [esw.run(instance), optimus.run(instance), smd.run(instance), smd.run(instance, delta=0.5)]
        others.append(smd.run(instance, variant="printed"))
        for result in others:
            assert check(instance, result.schedule) == []
            assert not exceeds(result.utility, best)
            strictly += exceeds(best, result.utility)
    assert strictly > 1.25 * len(seeds)


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["sync", "async"])
def test_the_papers_setting(mode: str) -> None:
    instance = preset("paper", 1, mode=mode)
    best = smd.run(instance, inner="exact", outer="exact")
    found = smd.run(instance)
    assert 0.95 * best.utility <= found.utility <= best.utility + 1e-6
    last = found.log[-1]
    assert isinstance(last, OuterStep)
    assert (last.method, last.guarantee, last.subset_size) == ("scheme", pytest.approx(1.0, abs=1e-11), 50)
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
        ({"epsilon": float("nan")}, "epsilon: nan is not a number"),
        ({"outer_epsilon": 1}, r"outer_epsilon: 1 is not in \(0, 1\)"),
        ({"delta": 0}, r"delta: 0 is not in \(0, 1\]"),
        ({"gain": 1.5}, r"gain: 1.5 is not in \(0, 1\]"),
        ({"gain": 1, "delta": 0.5}, "gain: is given, 1, and so is delta, which chooses it"),
        ({"rounds": 0}, "rounds: 0 must be at least 1"),
        ({"epsilon": 1e-12}, "job 1: epsilon: 1e-12 takes"),
    ],
)
def test_options_out_of_range_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        smd.run(S2, **options)


@pytest.mark.parametrize("option", ["variant", "inner", "outer"])
def test_unknown_names_are_refused(option: str) -> None:
    names: dict[str, Any] = {option: "other"}
    with pytest.raises(ValueError, match=f"{option}: 'other' is not one of "):
        smd.run(S1, **names)


def test_no_jobs() -> None:
    empty = S1.model_copy(update={"jobs": ()})
    for outer in ("auto", "scheme", "exact"):
        result = smd.run(empty, outer=outer)
        assert (result.utility, result.schedule.jobs, len(result.log)) == (0.0, {}, 1)
