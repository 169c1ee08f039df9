"""GADGET's claims: exact figures by hand, what draws say, and the enumerations behind them against other routes."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dlsched.algorithms.exact.ddljs import embed, solve
from dlsched.bounds.claim import Claim, Expectation, Undecided, Variant, decide
from dlsched.bounds.comparison import Status
from dlsched.bounds.gadget import CLAIMS, SOURCES, families, overload
from dlsched.bounds.gadget.facts import BY_PATH, DEGREES, EVERYWHERE, SINGLE_HOP, GadgetFacts
from dlsched.bounds.gadget.horizon import Horizon, count_vectors
from dlsched.bounds.gadget.load import Load, LoadFacts
from dlsched.bounds.gadget.plans import CORRECTED, Slot
from dlsched.bounds.gadget.rounds import RoundsFacts
from dlsched.bounds.gadget.slot import SlotFacts
from dlsched.bounds.gadget.submodularity import curvature, uneven
from dlsched.bounds.witness import shipped
from dlsched.models.ddljs import Instance, slot_problem
from dlsched.models.document import InputError

BY_KEY = {claim.key: claim for claim in CLAIMS}
FALSE = [claim for claim in CLAIMS if claim.expectation is Expectation.FALSE]


def case(name: str) -> Any:
    return shipped(f"gadget-{name}").read_instance()


def job(name: str, workers: int, utility: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {
        "name": name,
        "arrival": 1,
        "max_workers": workers,
        "worker": {"gpu": 1},
        "progress": 1,
        "bandwidth": 1,
        "utility": utility,
        **more,
    }


def line(slope: int) -> dict[str, Any]:
    return {"kind": "linear", "intercept": 0, "slope": -slope}


def instance(slots: int, servers: list[int], jobs: list[dict[str, Any]], **more: Any) -> Instance:
    nodes = [{"name": f"server{s + 1}", "capacity": {"gpu": c}} for s, c in enumerate(servers)]
    return Instance.parse({"slots": slots, "resources": ["gpu"], "nodes": nodes, "jobs": jobs, **more})


@pytest.mark.parametrize("source", sorted(SOURCES))
def test_draws_speak_for_what_is_true_alone(source: str) -> None:
    concerned = [claim for claim in CLAIMS if source in claim.sources]
    assert concerned
    for seed in range(25):
        drawn = SOURCES[source](np.random.default_rng(seed))
        facts = {claim.facts: claim.facts(drawn, 0) for claim in concerned}
        for claim in concerned:
            verdict = decide(claim, drawn, 0, facts[claim.facts])
            assert verdict.status is not Status.UNDECIDED, (claim.id, verdict.reason)
            assert verdict.status is not Status.VIOLATED or claim.expectation is Expectation.FALSE, claim.key


@pytest.mark.parametrize("claim", [c for c in FALSE if c.sources], ids=lambda c: c.id)
def test_violations_of_false_claims_are_drawn(claim: Claim) -> None:
    draws = (SOURCES[source](np.random.default_rng(seed)) for source in claim.sources for seed in range(100, 160))
    assert any(decide(claim, drawn).status is Status.VIOLATED for drawn in draws)


def test_every_false_claim_of_a_theorem_has_a_counterexample_and_a_corrected_form() -> None:
    for claim in FALSE:
        assert claim.variant is Variant.PRINTED
        assert claim.counterexamples
    for name in ("lemma-5", "theorem-6", "lemma-7", "theorem-8", "theorem-9", "theorem-10"):
        assert BY_KEY[f"gadget/{name}", "printed"].expectation is Expectation.FALSE
        assert BY_KEY[f"gadget/{name}", "corrected"].expectation is Expectation.TRUE


# Optimum and worst Algorithm 1 with exact slots; G6 1.01 + 1 against 3.01, G12 (4 servers) 1.26 against 2.01.
@pytest.mark.parametrize(
    ("name", "opt", "greedy"),
    [
        ("theorem-6-corrected-G6", 3.01, 2.01),
        ("theorem-6-corrected-G12", 2.01, 1.26),
        ("theorem-6-G11", 100.5, 0.8807970779778823),
        ("theorem-6-negative", 0.2869, -2.1110),
        ("theorem-6-approximate-idle", 10, 10),
    ],
)
def test_greedy_and_optimum_of_the_known_instances(name: str, opt: float, greedy: float) -> None:
    facts = GadgetFacts(case(name), 0)
    assert float(facts.opt) == pytest.approx(opt, abs=5e-5)
    assert float(facts.greedy[0]) == pytest.approx(greedy, abs=5e-5)


@pytest.mark.parametrize(
    ("name", "ratio"),
    [("theorem-6-corrected-G6", 0.668), ("theorem-6-corrected-G12", 0.627), ("theorem-6-G11", 0.00876)],
)
def test_ratios_of_the_known_instances(name: str, ratio: float) -> None:
    facts = GadgetFacts(case(name), 0)
    assert float(facts.greedy[0] / facts.opt) == pytest.approx(ratio, rel=1e-3)


def test_ties_of_the_greedy_are_all_followed() -> None:
    data = shipped("gadget-theorem-6-corrected-G6").instance
    data = {**data, "jobs": [{**j, "utility": line(1)} for j in data["jobs"]]}
    assert GadgetFacts(Instance.parse(data), 0).greedy[0] == 2
    assert GadgetFacts(Instance.parse(data), 0).greedy[-1] == 3


def test_single_hops_break_downward_closure_and_the_ratio() -> None:
    facts = GadgetFacts(case("theorem-6-paths-G13"), 0)
    assert facts.horizon(SINGLE_HOP).slots == [{(0,), (1,)}, {(0,), (1,), (5,)}]
    assert facts.horizon(SINGLE_HOP).greedy()[0] / facts.optimum(SINGLE_HOP) == Fraction(2, 5)
    assert facts.greedy[0] == facts.opt == 5
    assert facts.horizon().slots[1] == {(n,) for n in range(6)}


def test_alpha_of_the_value_lets_algorithm_1_stop_after_one_worker() -> None:
    horizon = Horizon(case("theorem-6-approximate-idle"))
    assert horizon.greedy(Fraction(1, 2), of_value=True)[0] == 1
    assert horizon.greedy(Fraction(1, 2))[0] == horizon.opt == 10


@pytest.mark.parametrize(
    ("name", "rules", "value", "opt"),
    [
        ("path-bandwidth-G5", BY_PATH, 20, 11),
        ("cycles-G4", DEGREES, 4, 2),
        ("printed-rings-three-servers", EVERYWHERE, 1, 2),
    ],
)
def test_printed_constraints_have_other_optima(name: str, rules: Any, value: int, opt: int) -> None:
    facts = GadgetFacts(case(name), 0)
    assert (facts.optimum(rules), facts.opt) == (value, opt)


@pytest.mark.parametrize("source", [families.TINY, families.CONCAVE, families.OUTAGES, families.PAIRS])
def test_enumerated_optima_are_certified_ones(source: str) -> None:
    for seed in range(8):
        drawn = SOURCES[source](np.random.default_rng(1000 + seed))
        facts = GadgetFacts(drawn, 0)
        found = solve(drawn)
        assert found.proved
        assert float(facts.opt) == pytest.approx(found.value, rel=1e-6, abs=1e-6)


def test_counts_of_a_slot_are_those_that_can_be_embedded() -> None:
    for seed in range(12):
        drawn = families.tiny(np.random.default_rng(2000 + seed))
        problem = slot_problem(drawn, drawn.slots)
        names = [j.name for j in drawn.jobs]
        vectors = count_vectors(drawn, drawn.slots)
        gains = {}
        for vector in vectors:
            counts = dict(zip(names, vector, strict=True))
            if all(n == 0 or (i in [r.name for r in problem.requests]) for i, n in counts.items()):
                sizes = [(r, counts[r.name]) for r in problem.requests]
                if all(n == 0 or n in r.profit for r, n in sizes):
                    gains[vector] = sum(r.profit[n] for r, n in sizes if n)
        assert float(max(gains.values())) == pytest.approx(embed(problem).value, abs=1e-6)


def test_the_first_slots_counts_do_not_depend_on_the_order_of_jobs() -> None:
    for seed in range(10):
        drawn = families.pairs(np.random.default_rng(seed))
        turned = drawn.model_copy(update={"jobs": drawn.jobs[::-1]})
        turned = Instance.model_validate(turned.model_dump())
        assert {v[::-1] for v in count_vectors(drawn, 1)} == count_vectors(turned, 1)


def test_the_sigmoid_of_section_6_is_not_submodular() -> None:
    horizon = Horizon(case("lemma-5-sigmoid"))
    gain_at_nothing = horizon.value((1,)) - horizon.value((0,))
    gain_after_two = horizon.value((3,)) - horizon.value((2,))
    assert float(gain_at_nothing) == pytest.approx(3.7e-42, rel=0.01)
    assert float(gain_after_two) == pytest.approx(50)
    found = curvature([(1, (2,)), (2, (1,))], horizon)
    assert float(found.excess) == pytest.approx(50)
    assert found.dump() == {"A": [], "B without A": [[2, [1]]], "v": [1, [2]]}


def test_straight_utilities_are_modular() -> None:
    horizon = Horizon(instance(2, [2], [job("job1", 2, line(3))]))
    assert curvature([(1, (1,)), (1, (2,)), (2, (1,)), (2, (2,))], horizon).excess == 0


def test_budgets_make_a_p_system_with_p_the_budget() -> None:
    for budget in (2, 3, 4):
        own = instance(budget + 1, [budget], [job("job1", budget, line(1), budget={"gpu": budget})])
        ground = [(1, (budget,)), *((slot, (1,)) for slot in range(2, budget + 2))]
        assert uneven(ground, own, budgets=True) == budget
        assert uneven(ground, own, budgets=False) == 1


# P(Binomial(n, 1/2) >= beta g) with g = n/2 and beta = 1 + (2/n) sqrt(2 n ln |V|).
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
        assert float(overload.ever(Fraction(1, places**4), slots)) == pytest.approx(bound, rel=5e-3)


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
    for claim in (overload.LOAD_CORRECTED, overload.HORIZON_CORRECTED):
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


def test_premises_are_named() -> None:
    log = instance(1, [1], [job("job1", 1, {"kind": "log", "scale": 1, "offset": 0})])
    for id_ in ("gadget/lemma-5", "gadget/theorem-6", "gadget/theorem-8", "gadget/theorem-10", "gadget/ring-bound"):
        verdict = decide(BY_KEY[id_, "printed"], log)
        assert (verdict.status, verdict.reason) == (Status.PREMISE_FAILS, "every mu_i(0) is finite")
    idle = instance(1, [1], [])
    verdict = decide(BY_KEY["gadget/theorem-6", "printed"], idle)
    assert (verdict.status, verdict.reason) == (Status.PREMISE_FAILS, "OPT > 0")
    falling = instance(1, [1], [job("job1", 1, {"kind": "linear", "intercept": 5, "slope": 1})])
    verdict = decide(BY_KEY["gadget/theorem-6", "corrected"], falling)
    assert (verdict.status, verdict.reason) == (Status.PREMISE_FAILS, "every mu_i is non-decreasing")


def test_large_instances_are_undecided() -> None:
    wide = instance(1, [1] * 7, [job("job1", 2, line(1))])
    with pytest.raises(Undecided, match="7 servers: more than 6"):
        Slot(wide, 1, CORRECTED)
    assert decide(BY_KEY["gadget/theorem-6", "printed"], wide).status is Status.UNDECIDED
    full = instance(1, [30] * 5, [job("job1", 30, line(1))])
    with pytest.raises(Undecided, match="more than 20000 placements"):
        count_vectors(full, 1)
    placed = instance(1, [1, 1], [job("job1", 1, line(1), placement=[["server1"]])])
    assert decide(BY_KEY["gadget/theorem-6", "printed"], placed).status is Status.UNDECIDED
    names = [f"switch{n}" for n in range(9)]
    dense = {
        **instance(1, [1, 1], [job("job1", 2, line(1))]).dump(),
        "nodes": [{"name": s, "capacity": {"gpu": 1}} for s in ("a", "b")]
        + [{"name": n, "capacity": {}} for n in names],
        "links": [{"source": u, "target": v, "bandwidth": 1} for u in ["a", *names] for v in ["b", *names] if u != v],
    }
    with pytest.raises(Undecided, match="more than 200000 paths"):
        count_vectors(Instance.parse(dense), 1)
    crowd = instance(1, [1], [job(f"job{n}", 1, line(1)) for n in range(9)])
    assert decide(BY_KEY["gadget/theorem-8", "printed"], crowd).reason == "9 active jobs: more than 8"
