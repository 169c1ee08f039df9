"""The reference checker of Hadar schedules refuses corrupted ones; numbers and utilities are read as documented."""

from __future__ import annotations

import copy
import json
import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest

from tests import paths
from tests.oracles import hadar
from tests.oracles.hadar_instance import rational, worth

GOLDEN = json.loads((paths.GOLDEN / "hadar.json").read_text(encoding="utf-8"))
CASES = {case["name"]: case for case in GOLDEN["cases"]}

SCHEDULE: dict[str, Any] = {
    "problem": "hadar",
    "jobs": {
        "J1": {"slots": {"1": {"m1": {"v100": 1, "p100": 1}}}},
        "J2": {"slots": {"2": {"m1": {"v100": 1}}}},
        "J3": {"slots": {"3": {"m1": {"p100": 1}}}},
    },
}


def _problem(s: dict[str, Any]) -> None:
    s["problem"] = "smd"


def _job(s: dict[str, Any]) -> None:
    s["jobs"]["J9"] = s["jobs"].pop("J1")


def _machine(s: dict[str, Any]) -> None:
    s["jobs"]["J3"]["slots"]["3"] = {"m9": {"p100": 1}}


def _type(s: dict[str, Any]) -> None:
    s["jobs"]["J3"]["slots"]["3"] = {"m1": {"k80": 1}}


def _slot(key: str) -> Callable[[dict[str, Any]], None]:
    def mutate(s: dict[str, Any]) -> None:
        s["jobs"]["J2"]["slots"][key] = s["jobs"]["J2"]["slots"].pop("2")

    return mutate


def _early(s: dict[str, Any]) -> None:
    s["jobs"]["J3"]["slots"] = {"2": {"m1": {"p100": 1}}}


def _count(number: object) -> Callable[[dict[str, Any]], None]:
    def mutate(s: dict[str, Any]) -> None:
        s["jobs"]["J2"]["slots"]["2"]["m1"]["p100"] = number

    return mutate


def _half_gang(s: dict[str, Any]) -> None:
    del s["jobs"]["J1"]["slots"]["1"]["m1"]["p100"]


def _overlap(s: dict[str, Any]) -> None:
    s["jobs"]["J3"]["slots"] = {"3": {"m1": {"v100": 1}}}
    s["jobs"]["J2"]["slots"] = {"3": {"m1": {"v100": 1}}}


def _slow_type(s: dict[str, Any]) -> None:
    s["jobs"]["J2"]["slots"] = {t: {"m1": {"p100": 1}} for t in ("2", "4")}


MUTATIONS = [
    (_problem, "is not hadar"),
    (_job, "unknown job"),
    (_machine, "unknown machine"),
    (_type, "unknown device type"),
    (_slot("0"), "not a slot"),
    (_slot("5"), "not a slot"),
    (_slot("first"), "not a slot"),
    (_early, "before the arrival"),
    (_count(-1), "not a number of devices"),
    (_count(0.5), "not a number of devices"),
    (_count("1"), "not a number of devices"),
    (_count(True), "not a number of devices"),
    (_count(1), "not the gang"),
    (_half_gang, "not the gang"),
    (_overlap, "2 v100 used of 1"),
    (_slow_type, "does not finish"),
]


@pytest.mark.parametrize(("mutate", "fault"), MUTATIONS)
def test_checker_refuses_a_corrupted_schedule(mutate: Callable[[dict[str, Any]], None], fault: str) -> None:
    data, schedule = CASES["H7"]["instance"], copy.deepcopy(SCHEDULE)
    assert hadar.check(data, schedule) == []
    assert hadar.value(data, schedule) == 13
    mutate(schedule)
    assert any(fault in line for line in hadar.check(data, schedule))


def test_slowest_used_type_sets_the_pace_across_machines() -> None:
    """(1b): H3's J1 on v100 of m1 and m2 does 4 a slot, on v100 and p100 only 2."""
    data = CASES["H3"]["instance"]
    fast, slow = {"m1": {"v100": 1}, "m2": {"v100": 1}}, {"m2": {"v100": 1}, "m1": {"p100": 1}}

    def done(*slots: dict[str, Any]) -> dict[str, int]:
        entry = {"slots": dict(enumerate(slots, start=1))}
        return hadar.completions(data, {"problem": "hadar", "jobs": {"J1": entry}})

    assert done(fast, slow) == {"J1": 2}
    assert done(slow, slow) == {}
    assert done(slow, slow, slow) == {"J1": 3}


def test_optimal_schedule_of_h6_by_hand() -> None:
    """J1 on two v100 and the k80 for three slots, J2 on two p100 for two, J3 rejected: 10 + 8."""
    data = CASES["H6"]["instance"]
    first = {str(t): {"m1": {"v100": 2, "k80": 1}} for t in (1, 2, 3)}
    second = {str(t): {"m1": {"p100": 2}} for t in (1, 2)}
    schedule = {"problem": "hadar", "jobs": {"J1": {"slots": first}, "J2": {"slots": second}}}
    assert hadar.check(data, schedule) == []
    assert hadar.completions(data, schedule) == {"J1": 3, "J2": 2}
    assert hadar.value(data, schedule) == 18


def test_completion_is_the_last_slot_with_devices() -> None:
    """(1c): devices held after the work is done delay the completion."""
    schedule = copy.deepcopy(SCHEDULE)
    schedule["jobs"]["J2"]["slots"]["4"] = {"m1": {"v100": 1}}
    data = CASES["H7"]["instance"]
    assert hadar.check(data, schedule) == []
    assert hadar.value(data, schedule) == 13 - 2


@pytest.mark.parametrize(
    ("number", "expected"),
    [
        (3, Fraction(3)),
        ("80/3", Fraction(80, 3)),
        (0.1, Fraction(1, 10)),
        (1 / 3, Fraction(1, 3)),
        (0.3333333333, Fraction(3333333333, 10**10)),
    ],
)
def test_numbers(number: object, expected: Fraction) -> None:
    assert rational(number) == expected


@pytest.mark.parametrize("number", [True, None, float("nan"), float("inf"), "x", "1/0"])
def test_what_is_not_a_number(number: object) -> None:
    with pytest.raises((ValueError, ZeroDivisionError)):
        rational(number)


@pytest.mark.parametrize(
    ("utility", "values"),
    [
        ({"kind": "table", "values": [5, "7/2"]}, [5, 5, Fraction(7, 2), 0]),
        ({"kind": "step", "value": 5, "deadline": 1}, [5, 5, 5, 0]),
        ({"kind": "linear", "intercept": 5, "slope": 3}, [5, 5, 2, 0]),
        ({"kind": "hyperbolic", "scale": 6}, [6, 6, 3, 2]),
        (
            {"kind": "sigmoid", "height": 4, "steepness": 1, "midpoint": 0},
            [2, 2, 4 / (1 + math.e), 4 / (1 + math.e**2)],
        ),
        ({"kind": "log", "scale": -1, "offset": 1}, [0, 0, -math.log(2), -math.log(3)]),
    ],
)
def test_utilities(utility: dict[str, Any], values: list[float | Fraction]) -> None:
    found = [float(worth(utility, x)) for x in (-1, 0, 1, 2)]
    assert found == pytest.approx([float(v) for v in values])


def test_increasing_utility_is_refused() -> None:
    with pytest.raises(ValueError, match="increases"):
        worth({"kind": "sqrt", "scale": 1}, 1)
