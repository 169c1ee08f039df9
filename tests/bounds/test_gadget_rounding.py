"""GADGET's claims about rounding and over all slots: exact figures by hand, and refusals."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dlsched.bounds.claim import decide
from dlsched.bounds.comparison import Status
from dlsched.bounds.gadget import families
from dlsched.bounds.gadget.load import HORIZON_CORRECTED, LOAD_CORRECTED, Load, LoadFacts
from dlsched.bounds.gadget.rounds import RoundsFacts
from dlsched.bounds.gadget.slot import SlotFacts
from dlsched.bounds.witness import shipped
from dlsched.models.ddljs import Instance
from dlsched.models.document import InputError
from tests.cases.gadget import case, instance, job, line


@pytest.mark.parametrize(
    ("jobs", "places", "beta", "probability"),
    [
        (4, 3, 2.4823, 0.0),
        (8, 3, 2.0482, 0.0),
        (16, 3, 1.7412, 0.0020904),
        (32, 3, 1.5241, 0.0010512),
        (64, 3, 1.3706, 0.0018450),
        (32, 10, 1.7587, 1.278e-6),
    ],
)
def test_probability_of_an_overload_of_theorem_8(jobs: int, places: int, beta: float, probability: float) -> None:
    half = {"need": 1, "size": 1, "shares": [{"weight": "1/2", "workers": 1}]}
    facts = LoadFacts(Load.parse({"places": places, "capacity": f"{jobs}/2", "jobs": [half] * jobs}), 0)
    assert facts.beta == pytest.approx(beta, abs=1e-4)
    assert float(facts.reaches) == pytest.approx(probability, rel=1e-3)
    exact = Fraction(sum(math.comb(jobs, k) for k in range(jobs + 1) if k >= facts.threshold), 2**jobs)
    assert facts.reaches == exact
    assert facts.reaches <= Fraction(1, places**4)


def test_beta_says_little_at_the_scale_of_section_6() -> None:
    for jobs, beta in ((10, 45), (50, 100), (100, 141)):
        load = {"need": 1, "size": 5, "shares": [{"weight": f"1/{5 * jobs}", "workers": 5}]}
        facts = LoadFacts(Load.parse({"places": 50, "capacity": 1, "jobs": [load] * jobs}), 0)
        assert facts.beta == pytest.approx(beta, abs=1)


def test_the_bound_over_all_slots() -> None:
    for places, slots, bound in ((3, 10, 0.117), (3, 200, 0.917), (50, 200, 3.2e-5)):
        facts = LoadFacts(Load.parse({"places": places, "capacity": 1, "slots": slots}), 0)
        assert float(facts.ever(facts.rare)) == pytest.approx(bound, rel=5e-3)


share = st.tuples(st.integers(1, 4), st.integers(1, 3))


@settings(max_examples=40, deadline=None)
@given(st.integers(3, 9), st.lists(share, min_size=1, max_size=12), st.integers(1, 5))
def test_no_load_refutes_the_corrected_bound(places: int, jobs: list[tuple[int, int]], slots: int) -> None:
    loads = [
        {"need": need, "size": size, "shares": [{"weight": "1/2", "workers": size}, {"weight": "1/4", "workers": 1}]}
        for need, size in jobs
    ]
    expected = sum((Fraction(size, 2) + Fraction(1, 4)) * need for need, size in jobs)
    capacity = max(expected, max(need for need, _ in jobs))
    load = Load.parse({"places": places, "capacity": str(capacity), "jobs": loads, "slots": slots})
    for claim in (LOAD_CORRECTED, HORIZON_CORRECTED):
        assert decide(claim, load).status is Status.HOLDS


@pytest.mark.parametrize(
    ("load", "message"),
    [
        ({"capacity": 1, "jobs": [{"need": 2, "size": 1}]}, "jobs\\[0\\].need: 2 exceeds the capacity"),
        (
            {"capacity": 1, "jobs": [{"need": 1, "size": 1, "shares": [{"weight": 2, "workers": 1}]}]},
            "add up to more than 1",
        ),
        (
            {"capacity": 9, "jobs": [{"need": 1, "size": 1, "shares": [{"weight": 1, "workers": 2}]}]},
            "more workers than the ring has",
        ),
        (
            {"capacity": 1, "jobs": [{"need": 1, "size": 2, "shares": [{"weight": 1, "workers": 2}]}]},
            "expected load 2 exceeds the capacity",
        ),
    ],
)
def test_loads_that_no_lp_decomposes_into_are_refused(load: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        Load.parse({"places": 3, **load})


def test_the_odd_cycle_of_theorem_8() -> None:
    facts = SlotFacts(case("theorem-8-G8"), 0)
    law = facts.printed_law
    assert (facts.ilp, facts.solve(augmented=True).value) == (1, pytest.approx(1.5))
    assert law.profit() == {Fraction(k): Fraction(math.comb(3, k), 8) for k in range(4)}
    assert 1 - law.accepted() == Fraction(1, 2)
    assert facts.constants.beta["p"] == pytest.approx(3.09629414793641)
    joint = sum(o.probability for o in law.outcomes() if o.profit >= Fraction(1, 2))
    over = sum(o.probability for o in law.outcomes() if o.profit >= 2)
    assert (joint, over / joint) == (Fraction(7, 8), Fraction(4, 7))


def test_the_bandwidth_blind_selection_of_g10() -> None:
    facts = SlotFacts(case("lemma-7-G10"), 0)
    assert facts.selected() == {"J": 2}
    values = [facts.solve(augmented=a, cap=c).value for a in (False, True) for c in (False, True)]
    assert values == pytest.approx([2, 2, 2, 1])
    assert (facts.ilp, facts.whole, facts.chosen_alone()) == (1, 1, 0)
    assert facts.selected(augmented=True, cap=True) == {"J": 1}


def test_rounded_up_ring_sizes_choose_what_cannot_be_embedded() -> None:
    own = instance(
        1,
        [3, 3],
        [job("job1", 5, line(1), worker={"gpu": 2})],
        links=[{"source": "server1", "target": "server2", "bandwidth": 1}],
        duplex=True,
    )
    facts = SlotFacts(own, 0)
    assert facts.ilp == 2
    assert facts.largest == 2
    assert facts.ilp_of_joint_sizes == 2


def test_discarding_what_does_not_fit_keeps_nothing_of_g10() -> None:
    facts = RoundsFacts(case("fit-or-discard-G10"), 0)
    assert facts.expectation(facts.discarding) == 0
    assert facts.expectation(facts.selected) == 2 * facts.opt == 10


def test_rounds_have_a_law() -> None:
    for seed in range(10):
        facts = RoundsFacts(families.few(np.random.default_rng(seed)), 0)
        for rounds in (facts.joint, facts.selected, facts.discarding):
            assert sum(rounds.law.values()) == 1
            assert all(probability >= 0 for probability in rounds.law.values())
        assert facts.expectation(facts.discarding) <= facts.expectation(facts.selected) + Fraction(1, 10**6)


def test_two_slots_of_the_odd_cycle_follow_two_draws() -> None:
    data = {**shipped("gadget-theorem-10-G8").instance, "slots": 2}
    for entry in data["jobs"]:
        entry["utility"] = line(1)
        entry.pop("budget", None)
    facts = RoundsFacts(Instance.parse(data), 0)
    assert facts.expectation(facts.joint) == 3
    assert facts.probability(facts.joint, lambda value: value == 0) == Fraction(1, 64)
    assert facts.opt == 2
