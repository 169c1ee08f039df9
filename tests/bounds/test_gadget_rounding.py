"""GADGET's claims about rounding and over all slots: exact figures by hand, and refusals."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dlsched.algorithms.gadget.activity import Sizes
from dlsched.algorithms.gadget.mixtures import Vertex
from dlsched.bounds.catalog import check
from dlsched.bounds.claim import decide
from dlsched.bounds.comparison import Interval, Status
from dlsched.bounds.gadget import families
from dlsched.bounds.gadget.choices import choices
from dlsched.bounds.gadget.load import LOAD, Load, LoadFacts
from dlsched.bounds.gadget.lottery import PLACES, RETURNED_CORRECTED
from dlsched.bounds.gadget.rounds import JOINT, ONE_DRAW, OWN, VIOLATION, RoundsFacts, Rule
from dlsched.bounds.gadget.slot import SlotFacts
from dlsched.bounds.witness import shipped
from dlsched.errors import InputError
from dlsched.models.ddljs import Instance, slot_problem
from dlsched.rounding.mapping_table import NodeRow
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
    # Four and eight jobs together stay below beta g: the bound cannot fail.
    assert decide(LOAD, facts.instance).status is (Status.HOLDS if jobs > 8 else Status.VACUOUS)


def test_beta_says_little_at_the_scale_of_section_6() -> None:
    for jobs, beta in ((10, 45), (50, 100), (100, 141)):
        load = {"need": 1, "size": 5, "shares": [{"weight": f"1/{5 * jobs}", "workers": 5}]}
        facts = LoadFacts(Load.parse({"places": 50, "capacity": 1, "jobs": [load] * jobs}), 0)
        assert facts.beta == pytest.approx(beta, abs=1)


share = st.tuples(st.integers(1, 4), st.integers(1, 3))


@pytest.mark.slow
@settings(max_examples=40, deadline=None)
@given(st.integers(3, 9), st.lists(share, min_size=1, max_size=12))
def test_no_load_refutes_the_corrected_bound(places: int, jobs: list[tuple[int, int]]) -> None:
    loads = [
        {"need": need, "size": size, "shares": [{"weight": "1/2", "workers": size}, {"weight": "1/4", "workers": 1}]}
        for need, size in jobs
    ]
    expected = sum((Fraction(size, 2) + Fraction(1, 4)) * need for need, size in jobs)
    capacity = max(expected, max(need for need, _ in jobs))
    load = Load.parse({"places": places, "capacity": str(capacity), "jobs": loads})
    verdict, facts = decide(LOAD, load), LoadFacts(load, 0)
    assert verdict.status is (Status.HOLDS if facts.most >= facts.threshold else Status.VACUOUS)


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


def statuses(name: str, instance: Instance, **parameters: float) -> tuple[str, float | None]:
    verdict = check(f"gadget/{name}", instance, **parameters)
    return verdict.status.value, verdict.measured


def test_the_odd_cycle_of_theorem_8() -> None:
    facts = SlotFacts(case("theorem-8-three-servers"), 0)
    assert (facts.ilp, facts.solve(augmented=True).value) == (1, pytest.approx(1.5))
    for choice in facts.choices:
        law = choice.law
        assert law.profit() == {Fraction(k): Fraction(math.comb(3, k), 8) for k in range(4)}
        assert 1 - law.accepted() == Fraction(1, 2)
        assert choice.constants.beta["p"] == pytest.approx(3.09629414793641)
        joint = sum(o.probability for o in law.outcomes() if o.profit >= Fraction(1, 2))
        over = sum(o.probability for o in law.outcomes() if o.profit >= 2)
        assert (joint, over / joint) == (Fraction(7, 8), Fraction(4, 7))


@pytest.mark.slow
@pytest.mark.parametrize("u_b", [1, 2, 4])
def test_theorems_8_and_10_are_judged_with_one_draw_and_with_the_loop(u_b: int) -> None:
    """All of u_b draws of the odd cycle embed nothing with probability 8^-u_b."""
    odd = case("theorem-8-three-servers")
    assert statuses("theorem-8", odd, u_b=u_b) == ("violated", pytest.approx(8.0**-u_b))
    assert statuses("theorem-10", odd, u_b=u_b) == ("violated", pytest.approx(1 - 8.0**-u_b))
    for name, measured in (("theorem-8-loop", 8.0**-u_b), ("theorem-10-loop", 1 - 8.0**-u_b)):
        assert statuses(name, odd, u_b=u_b) == ("holds", pytest.approx(measured))
    with pytest.raises(InputError, match="u_b"):
        check("gadget/theorem-8", odd, u_b=0)


def ample(bandwidth: int, slots: int = 1) -> Instance:
    """Three one-GPU servers in a row, and a job of up to two workers, each worth 1."""
    links = [{"source": f"server{s}", "target": f"server{s + 1}", "bandwidth": bandwidth} for s in (1, 2)]
    return instance(slots, [1, 1, 1], [job("J", 2, line(1))], links=links, duplex=True)


@pytest.mark.slow
def test_a_verdict_that_depends_on_the_optimum_is_undecided() -> None:
    """Both workers on a server for one, or one a server: of the same value, and only the second fits."""
    verdict = check("gadget/fit-or-discard", ample(9))
    assert verdict.status is Status.UNDECIDED
    assert verdict.reason.startswith("left open: which optimum of the linear programs is rounded")
    facts = RoundsFacts(ample(9), 0)
    kept = [sum(facts.horizon().value(z) * p for z, p in one.law.items()) for one in facts.rounds(Rule(fitting=True))]
    assert kept == [2, 0, 2]
    # What does not depend on it is decided: no link, no optimum that fits.
    assert statuses("fit-or-discard", ample(0)) == ("violated", 0)
    assert statuses("theorem-8", ample(9)) == ("holds", 0)


def test_a_spread_optimum_is_one_only_where_links_carry_it() -> None:
    """A link of 1 carries the one ring of bandwidth 1; links of 0 none."""
    for bandwidth, spread in ((1, 2), (0, 1)):
        problem = slot_problem(ample(bandwidth), 1)
        (found,) = (choice for choice in choices(problem) if choice.vertex is Vertex.SPREAD)
        for outcome in found.law.outcomes():
            used = found.law.table.loads(outcome.chosen)
            assert outcome.profit == 2 or not outcome.probability
            assert sum(isinstance(row, NodeRow) for row in used) == spread or not outcome.probability


@pytest.mark.slow
@pytest.mark.parametrize(("jobs", "needs", "all_at_once"), [(3, 2, 1 / 8), (5, 3, 1 / 243), (8, 3, 17 / 6561)])
def test_wheels_have_a_fraction_of_every_job(jobs: int, needs: int, all_at_once: float) -> None:
    """1/needs of each; beta g of the memory is reached by 5 of 5, or 7 of 8, and by no 3 of 3."""
    equal = families.wheel_of(np.random.default_rng(0), jobs, needs, 1)
    same = {"utility": equal.jobs[0].utility}
    equal = equal.model_copy(update={"jobs": tuple(job.model_copy(update=same) for job in equal.jobs)})
    for choice in SlotFacts(equal, 0).choices:
        assert choice.law.profit()[Fraction(0)] == (1 - Fraction(1, needs)) ** jobs
        memory = NodeRow("server1", "memory")
        reached = choice.law.violation(memory, factor=choice.factor(memory), reaches=True)
        assert float(reached) == pytest.approx(all_at_once if jobs > 3 else 0)
        assert choice.breakable == (jobs > 3)


@pytest.mark.slow
def test_the_bounds_of_overloads_are_vacuous_where_no_draw_reaches_them() -> None:
    odd, wheel = case("theorem-8-three-servers"), case("theorem-8-places-wheel")
    for claim in (PLACES, RETURNED_CORRECTED):
        assert decide(claim, odd).status is Status.VACUOUS
        assert decide(claim, wheel).status is Status.HOLDS


@pytest.mark.slow
def test_the_slots_of_a_horizon_are_coupled() -> None:
    """Jobs that have had their worker-slot leave: the second slot's linear program has other parts."""
    facts = RoundsFacts(case("violation-horizon-coupled"), 0)
    (rounds, *_) = facts.rounds(ONE_DRAW)
    memory = NodeRow("server1", "memory")
    first, ever = Fraction(1, 243), rounds.overloads[memory]
    assert len({tuple(choice.sizes) for choice in rounds.met}) > 2
    # Were the slots independent and alike, it would be overloaded in one of them more often.
    assert first < ever < 1 - (1 - first) ** 2
    assert ever <= 1 - (1 - Fraction(1, 81)) ** 2
    assert decide(VIOLATION, facts.instance).status is Status.HOLDS


@pytest.mark.parametrize("name", ["violation-horizon", "theorem-8-places"])
def test_what_has_nothing_of_a_resource_is_not_overloaded(name: str) -> None:
    """A switch, and a server that lacks a resource: "0 >= beta 0" is no violation of a constraint."""
    servers = [{"name": f"server{n}", "capacity": {"gpu": 1, "tpu": n}} for n in range(3)]
    nodes = [*servers, {"name": "switch", "capacity": {}}]
    data = {"slots": 10, "resources": ["gpu", "tpu"], "nodes": nodes, "jobs": [job("J", 1, line(1))]}
    assert check(f"gadget/{name}", Instance.parse(data)).status is Status.VACUOUS


def test_the_bandwidth_blind_selection_of_g10() -> None:
    facts = SlotFacts(case("lemma-7-G10"), 0)
    assert facts.selected() == facts.selected(cap=True) == {"J": 2}
    values = [facts.solve(augmented=a, cap=c).value for a in (False, True) for c in (False, True)]
    assert values == pytest.approx([2, 2, 2, 1])
    assert (facts.ilp, facts.whole, facts.chosen_alone(cap=False)) == (1, 1, 0)
    assert facts.selected(augmented=True, cap=True) == {"J": 1}
    # Lemma 7 is about the LP's utility, and holds; that of an embedding of the selected rings is nothing.
    assert facts.kept(cap=False) == facts.kept(cap=True) == pytest.approx(2)


def test_lemma_7_is_false_of_ring_sizes_by_one_relaxation_of_all_jobs() -> None:
    """Of sqrt(y_A) + 7 sqrt(y_B), y_A + 21 y_B <= 3, the optimum has y_B = y_A/9: y_A = .9, and all Q_i are {1}."""
    root = {"kind": "power", "scale": 1, "exponent": "1/2"}
    wide = [job(f"B{n}", 1, root, worker={"gpu": 3}) for n in range(7)]
    facts = SlotFacts(instance(1, [3], [job("A", 3, root), *wide]), 0)
    assert facts.ilp == pytest.approx(math.sqrt(3))
    ones = facts.value(augmented=False, sizes={job.name: 1 for job in facts.instance.jobs})
    assert ones == pytest.approx(5 / 3)


def test_the_lps_grow_with_the_rings_alone() -> None:
    """Theorem 9's time has |I| and |G_s| only."""
    facts = SlotFacts(case("theorem-9-G3"), 0)
    assert (facts.all_variables, facts.doubled_variables) == (102, 378)


def test_bandwidth_changes_what_is_embedded_and_not_the_augmented_lp() -> None:
    facts = SlotFacts(case("bandwidth-blind-G10"), 0)
    assert (facts.ilp, facts.unlimited.ilp) == (1, 2)
    assert facts.value(augmented=True) == facts.unlimited.value(augmented=True) == 2
    # With (5) the program has bandwidth to heed: a ring of two is on both servers, or nowhere.
    assert (facts.value(augmented=True, cap=True), facts.unlimited.value(augmented=True, cap=True)) == (1, 2)


def test_an_integrality_gap_alone_is_no_blindness() -> None:
    """The odd cycle has no links and rings of one: 3/2 against 1, whatever the bandwidth."""
    verdict = check("gadget/bandwidth-blind", case("theorem-8-returned-G8"))
    assert verdict.status is Status.PREMISE_FAILS
    assert verdict.reason == "with unlimited bandwidth the optimum of (12) is greater"


@pytest.mark.parametrize(("need", "found"), [(2, "violated"), (1, "undecided")])
def test_searches_apart_may_return_mappings_apart(need: int, found: str) -> None:
    """Three jobs on two servers of three: of need 2 one is divided in every optimum, of need 1 in some."""
    jobs = [job(f"job{n}", 1, line(1), worker={"gpu": need}) for n in range(3)]
    one = instance(1, [3, 3], jobs)
    assert statuses("mapping-intersection", one) == ("holds", 0)
    data = one.dump()
    for entry in (*data["nodes"], *data["jobs"]):
        amounts = entry["capacity"] if "capacity" in entry else entry["worker"]
        amounts["memory"] = amounts["gpu"]
    two = Instance.parse({**data, "resources": ["gpu", "memory"]})
    assert statuses("mapping-intersection", two) == (found, 1)


def test_ring_sizes_by_the_least_server_and_by_all() -> None:
    """Servers of 1 and 5 GPUs, a worker needs 2: q = 1/2 + 5/2, or 3/2 by a budget of 3; the least server has 1/2."""
    for budget, size, excess in ((None, 3, 5 / 2), ({"gpu": 3}, 2, 3 / 2)):
        one = job("J", 4, line(1), worker={"gpu": 2}, **({} if budget is None else {"budget": budget}))
        facts = SlotFacts(instance(1, [1, 5], [one]), 0)
        assert [facts.printed_sizes(sizes)["J"] for sizes in (Sizes.ALONE, Sizes.JOINT)] == [size, size]
        assert statuses("lemma-7-sizes", facts.instance) == ("violated", excess)
        assert check("gadget/lemma-7-sizes", facts.instance, variant="corrected").measured == 0


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
    assert facts.ilp_of_sizes(Sizes.JOINT) == facts.ilp_of_sizes(Sizes.ALONE) == 2


def test_discarding_what_does_not_fit_keeps_nothing_of_g10() -> None:
    facts = RoundsFacts(case("fit-or-discard-G10"), 0)
    assert facts.expectation(Rule(fitting=True)) == Interval(0, 0)
    # With (5), the augmented program has no ring of two; without, two workers are on a server for one.
    assert [facts.horizon().value(*one.law) for one in facts.rounds(ONE_DRAW)] == [0, 2 * facts.opt, 2 * facts.opt]
    assert facts.expectation(OWN) == Interval(5, 10)


@pytest.mark.slow
def test_rounds_have_a_law() -> None:
    for seed in range(10):
        facts = RoundsFacts(families.few(np.random.default_rng(seed)), 0)
        for rule in (JOINT, OWN, ONE_DRAW, Rule(draws=3), Rule(fitting=True)):
            for rounds in facts.rounds(rule):
                assert sum(rounds.law.values()) == 1
                assert all(probability >= 0 for probability in rounds.law.values())
        fitting, all_of_it = facts.expectation(Rule(fitting=True)), facts.expectation(ONE_DRAW)
        assert fitting.high <= all_of_it.high + 1e-6


def test_two_slots_of_the_odd_cycle_follow_two_draws() -> None:
    data = {**shipped("gadget-theorem-10-three-servers").instance, "slots": 2}
    for entry in data["jobs"]:
        entry["utility"] = line(1)
        entry.pop("budget", None)
    facts = RoundsFacts(Instance.parse(data), 0)
    assert facts.expectation(JOINT) == Interval(3, 3)
    assert facts.probability(JOINT, lambda value: value == 0) == Interval(1 / 64, 1 / 64)
    assert facts.opt == 2
