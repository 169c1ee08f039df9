"""Exhaustive search and dlsched agree on what is a DDLJS schedule and what it is worth."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest

from dlsched.models.ddljs import Instance, Schedule, check, exact_utility, utility, worker_slots
from dlsched.models.numbers import agree
from tests.cases.ddljs import built, job
from tests.longer import in_two
from tests.oracles import ddljs as oracle
from tests.oracles.ddljs_rules import total, violations
from tests.strategies.ddljs import drawn, mutated, with_logarithm, with_placement

RULES = {"names", "slots", "counts", "(2)", "(3)", "(4)", "(5)", "(6)", "(7)", "(8)", "(9)", "utility"}


def broken(instance: Instance, schedule: dict[str, Any]) -> set[str]:
    """Return the rules that dlsched's checker finds broken, by the first word of their names."""
    found = check(instance, Schedule.parse(schedule))
    assert all(violation.place and violation.message for violation in found)
    return {violation.rule.split()[0] for violation in found}


@pytest.mark.parametrize("seed", range(60))
def test_optimal_schedules_pass_both_checkers(seed: int) -> None:
    data = drawn(seed).dump()
    if seed % 3 == 0:
        data = with_placement(seed, data)
    value, schedule = oracle.optimum(data)
    instance, found = Instance.parse(data), Schedule.parse(schedule)
    assert broken(instance, schedule) == violations(data, schedule) == set()
    assert agree(exact_utility(instance, found), value)
    assert total(data, schedule) == value
    most = {found.name: instance.most(found) for found in instance.jobs}
    assert all(n <= most[name] for name, n in worker_slots(instance, found).items())


@pytest.mark.slow
@in_two(30, 100)
def test_changed_schedules_break_the_same_rules_in_both_checkers(seeds: range) -> None:
    """40 schedules of each, from optima by up to three changes; each rule is broken, and some changes break none."""
    met: Counter[str] = Counter()
    harmless = 0
    for seed in seeds:
        rng = np.random.default_rng(seed)
        data = drawn(seed, jobs=2, servers=3, slots=2).dump()
        if seed % 3 == 0:
            data = with_placement(seed, data)
        if seed % 5 == 0:
            data = with_logarithm(data)
        instance, (_, schedule) = Instance.parse(data), oracle.optimum(data)
        for _ in range(40):
            changed = mutated(rng, data, schedule)
            found = broken(instance, changed)
            assert found == violations(data, changed), (seed, changed)
            met.update(found)
            harmless += not found
            value = total(data, changed)
            if "names" not in found and value is not None:
                assert agree(exact_utility(instance, Schedule.parse(changed)), value)
    assert set(met) == RULES
    assert min(met.values()) >= 0.2 * len(seeds)
    assert harmless >= 5 * len(seeds)


ONE_RULE: dict[str, tuple[str, dict[str, Any]]] = {
    "a ring of two on one job's own links": ("", {}),
    "a job that nobody knows": ("names", {"nobody": {"slots": {}}}),
    "slot 0": ("slots", {"A": {"slots": {"0": {"workers": {"a": 1}}}}}),
    "before the arrival": ("(6)", {"B": {"slots": {"1": {"workers": {"c": 1}}}}}),
    "no workers named": ("counts", {"A": {"slots": {"1": {"workers": {"a": 1, "b": 0}}}}}),
    "workers on a switch": ("(5)", {"Z": {"slots": {"1": {"workers": {"x": 1}}}}}),
    "too many workers": ("(2)", {"Z": {"slots": {"1": {"workers": {"a": 2}}}}}),
    "more than the budget": ("(3)", {"A": {"slots": {t: {"workers": {"a": 2}} for t in ("1", "2")}}}),
    "more than the server": ("(4)", {"A": {"slots": {"1": {"workers": {"c": 2}}}}}),
    "no such link": (
        "(7)",
        {"A": {"slots": {"1": {"workers": {"a": 1, "c": 1}, "ring": [["a", "c"], ["c", "x", "a"]]}}}},
    ),
    "a loop": (
        "(7)",
        {"A": {"slots": {"1": {"workers": {"a": 1, "b": 1}, "ring": [["a", "x", "d", "x", "b"], ["b", "x", "a"]]}}}},
    ),
    "two directions that do not meet": (
        "(9)",
        {"A": {"slots": {"1": {"workers": {"a": 1, "b": 1}, "ring": [["a", "x", "b"], ["a", "x", "b"]]}}}},
    ),
    "a ring that does not close": (
        "(9)",
        {"A": {"slots": {"1": {"workers": {"a": 1, "b": 1}, "ring": [["a", "x", "b"], ["b", "x", "d"]]}}}},
    ),
    "no ring": ("(9)", {"A": {"slots": {"1": {"workers": {"a": 1, "b": 1}}}}}),
    "a ring on one server": (
        "(9)",
        {"A": {"slots": {"1": {"workers": {"a": 1}, "ring": [["a", "x", "b"], ["b", "x", "a"]]}}}},
    ),
    "two rings of two": (
        "(9)",
        {
            "D": {
                "slots": {
                    "1": {
                        "workers": dict.fromkeys("abcd", 1),
                        "ring": [["a", "x", "b"], ["b", "x", "a"], ["c", "x", "d"], ["d", "x", "c"]],
                    }
                }
            }
        },
    ),
    "too much on a link": (
        "(8)",
        {
            "A": {"slots": {"1": {"workers": {"a": 1, "c": 1}, "ring": [["a", "x", "c"], ["c", "x", "a"]]}}},
        },
    ),
    "a log utility without workers": ("utility", {"L": {"slots": {}}}),
}


@pytest.mark.parametrize("case", ONE_RULE)
def test_each_rule_by_hand(case: str) -> None:
    """A star of four servers around x; the link of c is narrow; Z needs nothing."""
    rule, jobs = ONE_RULE[case]
    data = built(
        {"a": 2, "b": 2, "c": 1, "d": 1, "x": 0},
        [("a", "x", 2), ("b", "x", 2), ("c", "x", "1/2"), ("d", "x", 2)],
        job("A", budget={"gpu": 3}, bandwidth=0 if case == "no such link" else 1),
        job("B", arrival=2),
        job("D", max_workers=4, bandwidth="1/2"),
        job("Z", max_workers=1, worker={}),
        job("L", utility={"kind": "log", "scale": 1, "offset": 0}),
        slots=2,
    )
    if rule != "utility":
        jobs = jobs | {"L": {"slots": {"2": {"workers": {"b": 1}}}}}
    if not rule:
        ring = [["a", "x", "b"], ["b", "x", "a"]]
        jobs["A"] = {"slots": {"1": {"workers": {"a": 1, "b": 1}, "ring": ring}}}
    schedule = {"problem": "ddljs", "jobs": jobs}
    assert broken(Instance.parse(data), schedule) == violations(data, schedule) == ({rule} if rule else set())


ORDERED = {
    "as placed": (["a", "b", "a"], [["a", "b"], ["b", "a"]], True),
    "the third worker not where it may be": (["a", "a", "b"], [["a", "b"], ["b", "a"]], False),
    "an order that is not that of the ring": (["a", "b", "a"], [["b", "a"], ["a", "b"]], False),
    "no order": (None, [["a", "b"], ["b", "a"]], False),
    "an order of other workers": (["a", "b"], [["a", "b"], ["b", "a"]], False),
}


@pytest.mark.parametrize("case", ORDERED)
def test_workers_with_places_of_their_own(case: str) -> None:
    order, ring, fine = ORDERED[case]
    data = built({"a": 2, "b": 2}, [("a", "b", 1)], job(max_workers=3, placement=[["a"], ["a", "b"], ["a"]]))
    entry = {"workers": {"a": 2, "b": 1}, "ring": ring} | ({} if order is None else {"order": order})
    schedule = {"problem": "ddljs", "jobs": {"job1": {"slots": {"1": entry}}}}
    assert broken(Instance.parse(data), schedule) == violations(data, schedule) == (set() if fine else {"(9)"})


def test_a_log_utility_at_0_is_minus_infinity() -> None:
    data = built({"a": 1}, [], job(utility={"kind": "log", "scale": 1, "offset": 0}))
    instance, nothing = Instance.parse(data), Schedule.of({})
    assert utility(instance, nothing) == float("-inf")
    with pytest.raises(ValueError, match="minus infinity"):
        exact_utility(instance, nothing)
