"""GADGET's claims: exact figures by hand, what draws say, and the enumerations behind them against other routes."""

from __future__ import annotations

import itertools
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from dlsched.algorithms.exact.ddljs import embed, solve
from dlsched.bounds.catalog import check
from dlsched.bounds.claim import Claim, Expectation, Source, Undecided, Variant, decide
from dlsched.bounds.comparison import Interval, Status
from dlsched.bounds.gadget import CLAIMS, families
from dlsched.bounds.gadget.facts import BY_PATH, DEGREES, EVERYWHERE, RELAYED, SINGLE_HOP, GadgetFacts
from dlsched.bounds.gadget.horizon import Horizon, count_vectors
from dlsched.bounds.gadget.plans import CORRECTED, Slot
from dlsched.bounds.gadget.progress import Training, TrainingFacts
from dlsched.bounds.gadget.shape import conforms
from dlsched.bounds.gadget.submodularity import curvature, uneven
from dlsched.bounds.witness import shipped
from dlsched.errors import InputError
from dlsched.models.ddljs import Instance, slot_problem
from tests.cases.gadget import case, instance, job, line

BY_KEY = {claim.key: claim for claim in CLAIMS}
SOURCES = {source.name: source for claim in CLAIMS for source in claim.sources if not claim.sampled}
FALSE = [claim for claim in CLAIMS if claim.expectation is Expectation.FALSE and not claim.sampled]


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.parametrize("source", sorted(SOURCES))
def test_draws_speak_for_what_is_true_alone(source: str) -> None:
    concerned = [claim for claim in CLAIMS if SOURCES[source] in claim.sources]
    for seed in range(SOURCES[source].draws(25)):
        drawn = SOURCES[source].draw(np.random.default_rng(seed))
        facts = {claim.facts: claim.facts(drawn, 0) for claim in concerned}
        for claim in concerned:
            verdict = decide(claim, drawn, 0, facts[claim.facts])
            assert verdict.status is not Status.UNDECIDED or claim.open, (claim.id, verdict.reason)
            assert verdict.status is not Status.VIOLATED or claim.expectation is Expectation.FALSE, claim.key


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.parametrize("claim", [c for c in FALSE if c.sources], ids=lambda c: c.id)
def test_violations_of_false_claims_are_drawn(claim: Claim[Any]) -> None:
    draws = (source.draw(np.random.default_rng(seed)) for seed in range(100, 160) for source in claim.sources)
    assert any(decide(claim, drawn).status is Status.VIOLATED for drawn in draws)


def test_every_false_claim_of_a_theorem_has_a_counterexample_and_a_corrected_form() -> None:
    for claim in FALSE:
        assert claim.variant is not Variant.CORRECTED
        assert claim.counterexamples
    for name in ("theorem-8", "theorem-9", "theorem-10"):
        assert BY_KEY[f"gadget/{name}", "printed"].expectation is Expectation.FALSE
        assert BY_KEY[f"gadget/{name}", "corrected"].expectation is Expectation.TRUE


HYPOTHESES = {
    "lemma-5": {"Section IV-3", "Section V-B, Definition 1"},
    "theorem-6": {"Section IV-3", "Section V-B, Definition 1", "Section V-B, below Definition 2"},
    "theorem-6-approximate": {"Section IV-3", "Section V-B, Definition 1", "Section V-B, below Definition 2"},
    "lemma-7": {"Section IV-3", "Section V-B, Definition 1"},
    "theorem-8": {"Section IV-3", "Section V-B, Definition 1", "Theorem 8"},
    "theorem-8-places": {"Section IV-3", "Section V-B, Definition 1", "Theorem 8"},
    "theorem-10": {"Section IV-3", "Section V-B, Definition 1", "Section V-B, below Definition 2", "Theorem 8"},
    "violation-horizon": {"Section IV-3", "Section V-B, Definition 1", "Section V-B, below Definition 2", "Theorem 8"},
}


@pytest.mark.parametrize("name", HYPOTHESES)
def test_printed_claims_have_every_hypothesis_that_the_paper_states(name: str) -> None:
    known = BY_KEY[f"gadget/{name}", "printed"]
    assert {premise.source for premise in known.premises} - {""} == HYPOTHESES[name]
    stated = {premise.name for premise in known.premises}
    assert any("concave" in one for one in stated)
    assert any("non-decreasing" in one for one in stated)
    assert ("Theorem 8" in HYPOTHESES[name]) == ("at least three servers" in stated)


@pytest.mark.parametrize("claim", [c for c in FALSE if c.variant is Variant.PRINTED], ids=lambda c: c.id)
def test_witnesses_against_the_print_keep_what_it_assumes_of_utilities(claim: Claim[Any]) -> None:
    """But for the claim that is about the utilities themselves."""
    for name in claim.counterexamples:
        of = shipped(name).read_instance()
        if isinstance(of, Instance) and claim.id != "gadget/utilities":
            assert all(conforms(one, of.most(one)) for one in of.jobs), name


@pytest.mark.parametrize("name", ["theorem-8", "theorem-8-places", "theorem-10", "violation-horizon"])
def test_two_servers_and_switches_are_not_three_servers(name: str) -> None:
    """Theorem 8 assumes that the substrate network has at least three servers."""
    verdict = decide(BY_KEY[f"gadget/{name}", "printed"], case("theorem-8-corrected-G8"))
    assert (verdict.status, verdict.reason) == (Status.PREMISE_FAILS, "at least three servers")


@pytest.mark.parametrize("name", ["lemma-5", "theorem-6"])
def test_what_is_printed_stands(name: str) -> None:
    known = BY_KEY[f"gadget/{name}", "printed"]
    assert known.expectation is Expectation.TRUE
    for witness in ("section-6-submodular-sigmoid", "section-6-utilities-G11", "negative-utilities-logarithms"):
        assert decide(known, case(witness)).status is not Status.VIOLATED


# By the text of the paper: what stands in no section or equation of it is ours.
def test_what_is_not_in_print_is_not_called_printed() -> None:
    ours = (
        "theorem-6-paths downward-closure theorem-8-optimum lemma-7-augmented theorem-8-returned fit-or-discard "
        "theorem-8-scale bandwidth-blind theorem-8-success half-of-optimum selected-expectation selection-half "
        "relaxation-order equivalence monotone-capacity p-system lemma-7-embedding ring-bound-joint finite-utilities "
        "theorem-6-paths-literal downward-closure-literal theorem-9-size mapping-intersection"
    )
    for name in ours.split():
        assert (f"gadget/{name}", "printed") not in BY_KEY
        assert (f"gadget/{name}", "derived") in BY_KEY


# Optimum and worst Algorithm 1 with exact slots; G6 1.01 + 1 against 3.01, G12 (4 servers) 1.26 against 2.01.
@pytest.mark.parametrize(
    ("name", "opt", "greedy"),
    [
        ("theorem-6-G6", 3.01, 2.01),
        ("theorem-6-G12", 2.01, 1.26),
        ("section-6-utilities-G11", 100.5, 0.8807970779778823),
        ("negative-utilities-logarithms", 0.2869, -2.1110),
        ("theorem-6-approximate-idle", 10, 10),
    ],
)
def test_greedy_and_optimum_of_the_known_instances(name: str, opt: float, greedy: float) -> None:
    facts = GadgetFacts(case(name), 0)
    assert float(facts.opt) == pytest.approx(opt, abs=5e-5)
    assert float(facts.greedy[0]) == pytest.approx(greedy, abs=5e-5)


@pytest.mark.parametrize(
    ("name", "ratio"),
    [("theorem-6-G6", 0.668), ("theorem-6-G12", 0.627), ("section-6-utilities-G11", 0.00876)],
)
def test_ratios_of_the_known_instances(name: str, ratio: float) -> None:
    facts = GadgetFacts(case(name), 0)
    assert float(facts.greedy[0] / facts.opt) == pytest.approx(ratio, rel=1e-3)


def test_ties_of_the_greedy_are_all_followed() -> None:
    data = shipped("gadget-theorem-6-G6").instance
    data = {**data, "jobs": [{**j, "utility": line(1)} for j in data["jobs"]]}
    assert GadgetFacts(Instance.parse(data), 0).greedy[0] == 2
    assert GadgetFacts(Instance.parse(data), 0).greedy[-1] == 3


def test_single_hops_break_downward_closure_and_the_ratio() -> None:
    facts = GadgetFacts(case("theorem-6-paths-G13"), 0)
    assert facts.horizon(SINGLE_HOP).slots == [{(0,), (1,)}, {(0,), (1,), (5,)}]
    assert facts.horizon(SINGLE_HOP).greedy()[0] / facts.optimum(SINGLE_HOP) == Fraction(2, 5)
    assert facts.greedy[0] == facts.opt == 5
    assert facts.horizon().slots[1] == {(n,) for n in range(6)}


def test_a_server_without_a_worker_keeps_the_ring_closed() -> None:
    """(5) bounds y from above alone: on the ring of five servers any of them may be without a worker."""
    facts = GadgetFacts(case("theorem-6-paths-G13"), 0)
    assert facts.horizon(RELAYED).slots == [{(0,), (1,)}, {(n,) for n in range(6)}]
    assert facts.horizon(RELAYED).greedy() == [5]
    assert facts.optimum(RELAYED) == 5


@pytest.mark.slow
def test_idle_servers_on_a_ring_close_counts_under_lowering_them() -> None:
    """There are more still: another job may have what a server on a ring has left."""
    for seed in range(12):
        drawn = families.outages(np.random.default_rng(3000 + seed))
        for slot in range(1, drawn.slots + 1):
            used = count_vectors(drawn, slot, SINGLE_HOP)
            below = {low for v in used for low in itertools.product(*(range(n + 1) for n in v))}
            found = count_vectors(drawn, slot, RELAYED)
            assert below <= found
            assert found == {low for v in found for low in itertools.product(*(range(n + 1) for n in v))}


def test_no_constant_counts_the_iterations_of_rings() -> None:
    """d (2/b + 1/G) = 12, t^f M + t^b + gamma = 6: tau = 6, 12, 14, 15 of 1 to 4 workers; w tau = 6, 24, 42, 60."""
    data = {"gradient": 12, "bandwidth": 4, "speed": 2, "forward": 1, "minibatch": 3, "backward": 2, "latency": 1}
    facts = TrainingFacts(Training.parse({"max_workers": 4, **data}), 0)
    assert facts.times == [6, 12, 14, 15]
    assert facts.unevenness == Interval(15 / 6, 10)
    assert facts.limit == 3
    for changes, status in (({"max_workers": 1}, Status.HOLDS), ({"gradient": 0}, Status.UNDECIDED)):
        same = Training.parse({"max_workers": 4, **data, **changes})
        assert decide(BY_KEY["gadget/progress", "printed"], same).status is status


def test_alpha_of_the_value_lets_algorithm_1_stop_after_one_worker() -> None:
    horizon = Horizon(case("theorem-6-approximate-idle"))
    assert horizon.greedy(Fraction(1, 2), of_value=True)[0] == 1
    assert horizon.greedy(Fraction(1, 2))[0] == horizon.opt == 10


@pytest.mark.parametrize(
    ("name", "rules", "value", "opt"),
    [
        ("path-bandwidth-two-pairs", BY_PATH, 4, 3),
        ("cycles-G4", DEGREES, 4, 2),
        ("printed-rings-three-servers", EVERYWHERE, 1, 2),
        ("printed-rings-lone-server", EVERYWHERE, 1, 2),
    ],
)
def test_printed_constraints_have_other_optima(name: str, rules: Any, value: int, opt: int) -> None:
    facts = GadgetFacts(case(name), 0)
    assert (facts.optimum(rules), facts.opt) == (value, opt)


@pytest.mark.parametrize("source", [families.TINY, families.CONCAVE, families.OUTAGES, families.PAIRS])
def test_enumerated_optima_are_certified_ones(source: Source[Instance]) -> None:
    for seed in range(8):
        drawn = source.draw(np.random.default_rng(1000 + seed))
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
    horizon = Horizon(case("section-6-submodular-sigmoid"))
    gain_at_nothing = horizon.value((1,)) - horizon.value((0,))
    gain_after_two = horizon.value((3,)) - horizon.value((2,))
    assert float(gain_at_nothing) == pytest.approx(3.7e-42, rel=0.01, abs=0)
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


def test_a_matroid_without_budgets_is_another_problem() -> None:
    """K = 2 worker-slots, two slots of two workers: 4 of one allocation a slot; with min(n, K) it is the optimum."""
    facts = GadgetFacts(case("partition-matroid-two-workers"), 0)
    assert (facts.boundless, facts.truncated, facts.opt) == (4, 2, 2)


def test_log_is_concave_and_the_energy_example_falls() -> None:
    """log(x) rises and bends where it is defined; 9 - x^2 falls; a logistic utility bends the other way at first."""
    utilities, defined = BY_KEY["gadget/utilities", "printed"], BY_KEY["gadget/finite-utilities", "derived"]
    log, energy, sigmoid = (case(f"utilities-{name}") for name in ("log", "energy", "G11"))
    assert [decide(utilities, one).status.value for one in (log, energy, sigmoid)] == ["holds", "violated", "violated"]
    assert [decide(defined, one).status.value for one in (log, energy, sigmoid)] == ["violated", "holds", "holds"]


def test_both_triangles_have_degree_two() -> None:
    triangles = case("cycles-two-triangles")
    facts = GadgetFacts(triangles, 0)
    assert (facts.optimum(DEGREES), facts.opt) == (6, 3)


@pytest.mark.parametrize("alpha", [0.25, 0.5, 0.75, 1])
def test_alpha_is_a_parameter_of_theorem_6(alpha: float) -> None:
    """One worker is worth 1 in ten slots: of the value (10) the greedy may stop at 1/alpha - 1 < n <= 1/alpha."""
    verdict = check("gadget/theorem-6-approximate", case("theorem-6-approximate-idle"), alpha=alpha)
    assert verdict.bound == pytest.approx(10 * alpha / (1 + alpha))
    assert verdict.measured == {0.25: 1, 0.5: 1, 0.75: 3, 1: 10}[alpha]
    with pytest.raises(InputError, match="alpha"):
        check("gadget/theorem-6", case("theorem-6-G6"), alpha=0)


def test_premises_are_named() -> None:
    log = instance(1, [1], [job("job1", 1, {"kind": "log", "scale": 1, "offset": 0})])
    for id_ in ("gadget/lemma-5", "gadget/theorem-6", "gadget/theorem-8", "gadget/theorem-10", "gadget/ring-bound"):
        verdict = decide(BY_KEY[id_, "printed"], log)
        assert (verdict.status, verdict.reason) == (Status.PREMISE_FAILS, "every mu_i(0) is finite")
    idle = instance(1, [1], [])
    verdict = decide(BY_KEY["gadget/theorem-6", "printed"], idle)
    assert (verdict.status, verdict.reason) == (Status.PREMISE_FAILS, "OPT > 0")
    falling = instance(1, [1], [job("job1", 1, {"kind": "linear", "intercept": 5, "slope": 1})])
    verdict = decide(BY_KEY["gadget/theorem-6", "printed"], falling)
    assert (verdict.status, verdict.reason) == (Status.PREMISE_FAILS, "every mu_i is non-decreasing")


@pytest.mark.slow
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


def test_of_twice_as_large_rings_only_the_first_slots_jobs_count() -> None:
    """Theorem 9's size of the linear program is that of the first slot, whatever comes later."""
    later = Instance.parse(
        {
            "slots": 2,
            "resources": ["gpu"],
            "nodes": [{"name": name, "capacity": {"gpu": 2}} for name in "ab"],
            "links": [{"source": "a", "target": "b", "bandwidth": 1}],
            "jobs": [
                {
                    "name": f"job{arrival}",
                    "arrival": arrival,
                    "max_workers": 2,
                    "worker": {"gpu": 1},
                    "progress": 1,
                    "bandwidth": 1,
                    "utility": {"kind": "sqrt", "scale": 1},
                }
                for arrival in (1, 2)
            ],
        }
    )
    alone = later.model_copy(update={"jobs": later.jobs[:1]})
    for variant in ("printed", "corrected"):
        verdict = check("gadget/theorem-9", later, variant=variant)
        assert verdict.measured == check("gadget/theorem-9", alone, variant=variant).measured
