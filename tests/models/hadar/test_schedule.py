"""The checker catches every kind of corruption, and agrees with an independent checker."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from dlsched.models import InputError
from dlsched.models.hadar import Instance, Schedule, check, completions, exact_utility, place
from tests import paths
from tests.longer import examples
from tests.oracles import hadar as oracle
from tests.strategies.hadar import TYPES, hadar_data

GOLDEN = json.loads((paths.GOLDEN / "hadar.json").read_text())
H6 = next(case["instance"] for case in GOLDEN["cases"] if case["name"] == "H6")
INSTANCE = Instance.parse(H6)
BEST = oracle.optimum(H6)[1]
assert BEST is not None


def _first(data: dict[str, Any]) -> tuple[str, str, str, str]:
    name = next(iter(data["jobs"]))
    slot = next(iter(data["jobs"][name]["slots"]))
    machine = next(iter(data["jobs"][name]["slots"][slot]))
    return name, slot, machine, next(iter(data["jobs"][name]["slots"][slot][machine]))


def _at_first(change: Callable[[dict[str, Any], str], Any]) -> Callable[[dict[str, Any]], None]:
    def apply(data: dict[str, Any]) -> None:
        name, slot, machine, type_ = _first(data)
        change(data["jobs"][name]["slots"][slot][machine], type_)

    return apply


def _rename_job(data: dict[str, Any]) -> None:
    data["jobs"]["nobody"] = data["jobs"].pop(_first(data)[0])


def _rename_machine(data: dict[str, Any]) -> None:
    name, slot, machine, _ = _first(data)
    slots = data["jobs"][name]["slots"][slot]
    slots["nowhere"] = slots.pop(machine)


def _move_slot(to: str) -> Callable[[dict[str, Any]], None]:
    def apply(data: dict[str, Any]) -> None:
        name, slot, _, _ = _first(data)
        data["jobs"][name]["slots"][to] = data["jobs"][name]["slots"].pop(slot)

    return apply


def _drop_slot(data: dict[str, Any]) -> None:
    name, slot, _, _ = _first(data)
    del data["jobs"][name]["slots"][slot]


CORRUPTIONS = {
    "one device too few": (_at_first(lambda d, r: d.__setitem__(r, d[r] - 1)), "(1e) gang"),
    "one device too many": (_at_first(lambda d, r: d.__setitem__(r, d[r] + 1)), "(1e) gang"),
    "far too many": (_at_first(lambda d, r: d.__setitem__(r, 99)), "(1d) capacity"),
    "negative": (_at_first(lambda d, r: d.__setitem__(r, -1)), "(1d) counts"),
    "unknown type": (_at_first(lambda d, r: d.__setitem__("tpu", d.pop(r))), "names"),
    "unknown job": (_rename_job, "names"),
    "unknown machine": (_rename_machine, "names"),
    "slot 0": (_move_slot("0"), "slots"),
    "slot after the last": (_move_slot("4"), "slots"),
    "unfinished": (_drop_slot, "(1a) work"),
}


def test_the_optimal_schedule_passes() -> None:
    schedule = Schedule.parse(BEST)
    assert check(INSTANCE, schedule) == []
    assert exact_utility(INSTANCE, schedule) == 18


@pytest.mark.parametrize("name", CORRUPTIONS)
def test_a_corruption_is_caught(name: str) -> None:
    corrupt, rule = CORRUPTIONS[name]
    data = copy.deepcopy(BEST)
    corrupt(data)
    found = check(INSTANCE, Schedule.parse(data))
    assert rule in [violation.rule for violation in found]
    assert all(str(violation) for violation in found)


def test_before_the_arrival() -> None:
    data = copy.deepcopy(H6)
    data["jobs"][0]["arrival"] = 2
    rules = [v.rule for v in check(Instance.parse(data), Schedule.parse(BEST))]
    assert "(1e) arrival" in rules


def test_two_jobs_on_the_same_device() -> None:
    data = {
        "slots": 1,
        "device_types": ["g"],
        "machines": [{"name": "m", "devices": {"g": 1}}],
        "jobs": [
            {
                "name": n,
                "arrival": 1,
                "gang": 1,
                "iterations": 1,
                "rate": {"g": 1},
                "utility": {"kind": "table", "values": [1]},
            }
            for n in "ab"
        ],
    }
    schedule = Schedule.of({n: {1: {"m": {"g": 1}}} for n in "ab"})
    assert [v.rule for v in check(Instance.parse(data), schedule)] == ["(1d) capacity"]


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ({"problem": "smd", "jobs": {}}, "problem"),
        ({"jobs": {"a": {"slots": {"x": {}}}}}, "jobs.a.slots"),
        ({"jobs": {"a": {"slots": {"1": {"m": {"g": 1.5}}}}}}, "jobs.a.slots.1.m.g: 1.5"),
        ({"jobs": {"a": {"slots": {}, "more": 1}}}, "jobs.a.more: unknown field"),
    ],
)
def test_what_is_no_schedule_is_refused(data: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError) as caught:
        Schedule.parse(data)
    assert str(caught.value).startswith(message)


@pytest.mark.slow
@examples(60, 150)
@given(data=hadar_data(), name=st.sampled_from(sorted(set(CORRUPTIONS) - {"unfinished", "slot after the last"})))
def test_any_one_corruption_of_an_optimal_schedule_is_caught(data: dict[str, Any], name: str) -> None:
    _, best = oracle.optimum(data)
    assume(best["jobs"])
    CORRUPTIONS[name][0](best)
    assert check(Instance.parse(data), Schedule.parse(best))


@pytest.mark.slow
@examples(50, 150)
@given(data=hadar_data())
def test_dropping_or_moving_a_slot_is_caught_where_it_matters(data: dict[str, Any]) -> None:
    _, best = oracle.optimum(data)
    assume(best["jobs"])
    instance, late = Instance.parse(data), copy.deepcopy(best)
    _move_slot(str(data["slots"] + 1))(late)
    assert "slots" in [v.rule for v in check(instance, Schedule.parse(late))]
    name = _first(best)[0]
    _drop_slot(best)
    shorter = Schedule.parse(best)
    if shorter.jobs[name].slots:
        unfinished = name not in completions(instance, shorter)
        assert ("(1a) work" in [v.rule for v in check(instance, shorter)]) == unfinished


allocation = st.dictionaries(
    st.sampled_from(["m0", "m1", "ghost"]),
    st.dictionaries(st.sampled_from([*TYPES, "ghost"]), st.integers(-1, 3), max_size=2),
    max_size=2,
)
schedules = st.dictionaries(
    st.sampled_from(["j0", "j1", "ghost"]),
    st.fixed_dictionaries({"slots": st.dictionaries(st.sampled_from(list("01234")), allocation, max_size=3)}),
    max_size=2,
)


@pytest.mark.slow
@examples(100, 300)
@given(data=hadar_data(jobs=2), jobs=schedules)
def test_agrees_with_an_independent_checker(data: dict[str, Any], jobs: dict[str, Any]) -> None:
    instance, schedule = Instance.parse(data), {"problem": "hadar", "jobs": jobs}
    ours, theirs = check(instance, Schedule.parse(schedule)), oracle.check(data, schedule)
    assert bool(ours) == bool(theirs), (ours, theirs)
    if not ours:
        assert exact_utility(instance, Schedule.parse(schedule)) == oracle.value(data, schedule)


@pytest.mark.slow
@given(hadar_data())
def test_the_optimum_survives_a_file(data: dict[str, Any]) -> None:
    value, best = oracle.optimum(data)
    instance, schedule = Instance.parse(data), Schedule.parse(best)
    assert check(instance, schedule) == []
    assert Schedule.parse(json.loads(json.dumps(schedule.dump()))) == schedule
    assert exact_utility(instance, schedule) == value
    assert set(completions(instance, schedule)) == set(schedule.jobs)
    assert check(instance, schedule.without(schedule.jobs)) == []


def test_place_fills_machines_and_refuses_what_does_not_fit() -> None:
    schedule = place(INSTANCE, {1: {"J1": {"v100": 2, "k80": 1}}})
    assert sum(n for _, _, a in schedule.items() for d in a.values() for n in d.values()) == 3
    with pytest.raises(InputError, match="needs 1 more devices of type v100"):
        place(INSTANCE, {1: {"J1": {"v100": 3}}})
