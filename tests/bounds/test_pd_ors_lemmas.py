"""PD-ORS's rounding claims: shipped cases with values by hand, and what draws say."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest

from dlsched.bounds import check
from dlsched.bounds.claim import Claim, Expectation, Undecided, Variant, decide
from dlsched.bounds.comparison import Status
from dlsched.bounds.optima import relaxed_optima, with_mean
from dlsched.bounds.pd_ors import lemmas, sources, theorems
from dlsched.bounds.pd_ors.law import Law
from dlsched.bounds.pd_ors.mixed import MixedProgram
from dlsched.bounds.pd_ors.slot import ExternalSlot, SlotFacts
from dlsched.bounds.witness import Witness, shipped, shipped_names
from dlsched.models import InputError
from dlsched.rounding import gain_packing

CLAIMS = (*lemmas.CLAIMS, *theorems.CLAIMS)
SOURCES = {source.name: source for claim in CLAIMS for source in claim.sources}
BY_KEY = {claim.key: claim for claim in CLAIMS}
CASES = sorted(name for claim in CLAIMS for name in claim.counterexamples + claim.golden)

# (measured, bound), by hand from the formulas and binomials.
KNOWN = {
    # W_2 = 2: G = .224034 at r = 2, delta = 1; G = .143718 at r = 5, delta = .5.
    "pd-ors-lemma-1-ratio-two-rows": (0.6721, 1),
    "pd-ors-lemma-1-ratio-five-rows": (0.8623, 1),
    # Both rows' variables must go up: G^2 over G.
    "pd-ors-lemma-1-ratio-corrected-two-rows": (0.224034, 1),
    # b = 1, row (1, 1, 0) at halves: G^2/4 = 3.7966e-4 over delta/3 = 3.7074e-4.
    "pd-ors-lemma-1-packing-triangle": (3.7966e-4 / 3.7074e-4, 1),
    "pd-ors-lemma-1-some-row-triangle": (3.7966e-4 / 3.7074e-4, 1),
    # A hundred such rows at delta = .1: G = .0384902.
    "pd-ors-lemma-1-packing-hundred-triangles": (0.0384902**2 / 4 * 3000, 1),
    "pd-ors-lemma-1-some-row-hundred-triangles": (0.0363666 * 30, 1),
    # .15 of the 1000 needed costs 1, the rest nothing: .15 G over delta = .5, G = .929318 and 1.061681.
    "pd-ors-lemma-1-dear": (0.15 * 0.929318 / 0.5, 1),
    "pd-ors-lemma-2-dear": (0.15 * 1.061681 / 0.5, 1),
    "pd-ors-thesis-lemma-1-cost-dear": (0.15 * 1.061681 / 0.5, 1),
    # Binom(1000, G/1000) > 8 at G = 1.188265.
    "pd-ors-lemma-2-packing-thousand-thousandths": (4.374e-6 * 3e6, 1),
    "pd-ors-lemma-2-some-row-thousand-thousandths": (4.374e-6 * 3e6, 1),
    # The variable of .08 goes up, and 1 > .08 (1 + eps) G: .08 G at W_a = 1000, over delta/(3r).
    "pd-ors-lemma-2-packing-crumb": (0.08 * 1.076352 * 15, 1),
    # At delta = .1 the threshold is 2.891.
    "pd-ors-thesis-lemma-1-thousand-thousandths": (0.096671 * 30, 1),
    # Of 10 workers needed, at most 5 (G = .400244) or at least 19 (G = 1.946873) are placed.
    "pd-ors-theorem-3-feasible-exact-fit": (0, 0.7),
    "pd-ors-theorem-4-feasible-exact-fit": (0, 0.7),
    "pd-ors-theorem-3-feasible-E1": (0, 0.5),
    "pd-ors-theorem-4-feasible-E1": (0, 0.5),
    # The worker on the crumb of .08 at W_1 = 1000, over 1/15, and in the thesis over (1/2)/12.
    "pd-ors-theorem-4-crumbs": (0.08 * 1.047986 * 15, 1),
}


def owner(name: str) -> Claim[Any]:
    case = shipped(name)
    return BY_KEY[case.claim, case.variant]


def read(case: Witness) -> Any:
    kind = BY_KEY[case.claim, case.variant].instance
    return kind.parse(case.instance)


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_shipped_cases_come_out_as_written(name: str) -> None:
    case, claim = shipped(name), owner(name)
    verdict = decide(claim, read(case), case.seed)
    assert verdict.status.value == case.status
    assert verdict.measured == pytest.approx(case.measured, rel=1e-6, abs=1e-12)
    assert (name in claim.counterexamples) == (verdict.status is Status.VIOLATED)
    assert (verdict.witness is not None) == (verdict.status is Status.VIOLATED)


def test_delta_is_a_parameter_of_every_claim() -> None:
    """The triangle at delta = 1 and .00111: G^2/4 over delta/3, of the shipped program in both ways."""
    claim, program = lemmas.PACKING_1, read(shipped("pd-ors-lemma-1-packing-triangle"))
    at_one = check(claim.id, program, delta=1.0)
    assert at_one.status is Status.HOLDS
    gain = gain_packing(1, 1, 1.0, events=3)
    assert at_one.measured == pytest.approx(gain**2 / 4 * 3)
    assert check(claim.id, program).status is Status.VIOLATED
    for other in CLAIMS:
        assert {field.name for field in dataclasses.fields(other.parameters)} == {"delta"}
    with pytest.raises(InputError, match="delta"):
        check(claim.id, program, delta=1.5)


def test_every_case_is_shipped_and_owned_once() -> None:
    assert len(set(CASES)) == len(CASES)
    assert set(CASES) <= set(shipped_names())
    for claim in CLAIMS:
        assert claim.expectation is not Expectation.FALSE or claim.counterexamples
        assert all(owner(name) is claim for name in claim.counterexamples + claim.golden)


@pytest.mark.slow
@pytest.mark.parametrize("name", KNOWN)
def test_shipped_cases_have_the_values_found_by_hand(name: str) -> None:
    verdict = decide(owner(name), read(shipped(name)))
    measured, bound = KNOWN[name]
    assert verdict.measured == pytest.approx(measured, rel=2e-3, abs=1e-12)
    assert verdict.bound == pytest.approx(bound, rel=1e-9)


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.parametrize("source", sorted(SOURCES))
def test_draws_speak_for_what_is_true_alone(source: str) -> None:
    concerned = [claim for claim in CLAIMS if SOURCES[source] in claim.sources]
    for seed in range(2 if source == sources.BATCHES.name else 15):
        instance = SOURCES[source].draw(np.random.default_rng(seed))
        facts = {claim.facts: claim.facts(instance, 0) for claim in concerned}
        for claim in concerned:
            status = decide(claim, instance, 0, facts[claim.facts]).status
            assert status is not Status.UNDECIDED
            assert status is not Status.VIOLATED or claim.expectation is Expectation.FALSE


@pytest.mark.slow
@pytest.mark.parametrize("claim", [c for c in CLAIMS if c.worst], ids=lambda c: " ".join(c.key))
def test_some_draws_of_every_claim_could_have_violated_it(claim: Claim[Any]) -> None:
    """Where no outcome does what is to be rare, nothing is said: vacuous, and not held up."""
    draws = (source.draw(np.random.default_rng(seed)) for seed in range(60) for source in claim.sources)
    assert any(decide(claim, instance).status in (Status.HOLDS, Status.VIOLATED) for instance in draws)


@pytest.mark.long
@pytest.mark.parametrize("claim", [c for c in CLAIMS if c.expectation is Expectation.FALSE], ids=lambda c: c.id)
def test_violations_of_false_claims_are_drawn(claim: Claim[Any]) -> None:
    draws = (source.draw(np.random.default_rng(seed)) for seed in range(40) for source in claim.sources)
    assert any(decide(claim, instance).status is Status.VIOLATED for instance in draws)


def test_every_claim_is_printed_but_for_the_ratio_and_the_false_lemmas_are_corrected() -> None:
    assert len(BY_KEY) == len(CLAIMS)
    for claim in CLAIMS:
        own = "derived" if claim.id == "pd-ors/lemma-1-ratio" else "printed"  # no lemma says that 3 G/delta >= 1
        assert (claim.id, own) in BY_KEY
        if claim.variant is Variant.CORRECTED:
            assert claim.expectation is Expectation.TRUE
        elif claim.expectation is Expectation.FALSE and not claim.id.endswith("-feasible"):
            assert (claim.id, "corrected") in BY_KEY


def test_a_machine_without_room_undoes_the_printed_width_alone() -> None:
    data = shipped("pd-ors-theorem-3-E1").instance
    slot = ExternalSlot.parse({**data, "room": [[3, 0], [3, 4], [9, 9]]})
    facts = SlotFacts(slot, 0)
    assert (facts.printed.packing_width, facts.corrected.packing_width) == (0, 3)
    verdict = decide(theorems.THEOREM_3, slot)
    assert (verdict.status, verdict.reason) == (Status.PREMISE_FAILS, "W_2 > 0")
    assert decide(theorems.THEOREM_3_CORRECTED, slot).status is Status.VACUOUS  # the threshold is below 0
    nowhere = ExternalSlot.parse({**data, "room": [[3, 0], [3, 0], [9, 0]]})
    verdict = decide(theorems.THEOREM_3_CORRECTED, nowhere)
    assert (verdict.status, verdict.reason) == (Status.PREMISE_FAILS, "the relaxation is feasible")


def test_a_point_that_is_not_optimal_fails_the_premise() -> None:
    data = shipped("pd-ors-lemma-1-packing-triangle").instance
    program = MixedProgram.parse({**data, "needs": [0.25, 1, 1]})
    verdict = decide(lemmas.PACKING_1, program)
    assert (verdict.status, verdict.reason) == (Status.PREMISE_FAILS, "x-bar is an optimum of the relaxation")


def test_lemma_1_is_refuted_on_programs_with_an_integral_point() -> None:
    """Two vertices of a triangle keep its rows; with every edge held, or with needs of a half alone, nothing does."""
    data = shipped("pd-ors-lemma-1-packing-triangle").instance
    taken = MixedProgram.parse({**data, "point": [1, 0, 1]})
    assert (taken.total(taken.cost), MixedProgram.parse(data).total(taken.cost)) == (2, 1.5)
    held = {"packing": data["cover"], "limits": [1, 1, 1]}
    halves = {"cover": [[1, 0, 0], [0, 1, 0], [0, 0, 1]], "needs": [0.5, 0.5, 0.5]}
    for change in (held, halves):
        for claim in (lemmas.PACKING_1, lemmas.SOME_1, lemmas.RATIO):
            verdict = decide(claim, MixedProgram.parse({**data, **change}))
            assert (verdict.status, verdict.reason) == (Status.PREMISE_FAILS, "the program has an integral point")
        assert decide(lemmas.PACKING_1_CORRECTED, MixedProgram.parse({**data, **change})).status is Status.HOLDS


@pytest.mark.parametrize("seed", range(20))
def test_half_of_every_vertex_is_the_only_optimum_of_a_drawn_cycle(seed: int) -> None:
    program = sources.narrow(np.random.default_rng(seed))
    found = with_mean(relaxed_optima(program.cost, program.cover, program.needs, program.packing, program.limits))
    assert found == (program.point,)
    vertices = tuple(1 - k % 2 for k in range(len(program.cost)))
    assert MixedProgram.parse({**program.dump(), "point": vertices}).point == vertices


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda c: " ".join(c.key))
def test_widths_beyond_floating_point_are_never_an_error(claim: Claim[Any]) -> None:
    tiny = 1e-100
    program = MixedProgram.parse(
        {
            "cost": [1, 1],
            "cover": [[1, 1]],
            "needs": [1],
            "packing": [[1, 0]],
            "limits": [tiny],
            "point": [tiny, 1],
            "delta": 1,
        }
    )
    slot = ExternalSlot.parse(
        {
            "room": [[tiny], [3]],
            "prices": [[2], [1]],
            "worker": [1],
            "server": [1],
            "workers": 1,
            "servers": 1,
            "most_workers": 1,
            "delta": 1,
        }
    )
    verdict = decide(claim, slot if claim.instance is ExternalSlot else program)
    assert verdict.status is not Status.VIOLATED or claim.expectation is Expectation.FALSE


def test_costs_of_too_many_terms_are_undecided() -> None:
    program = MixedProgram.parse(
        {
            "cost": [1],
            "cover": [[1]],
            "needs": [1],
            "packing": [[1]],
            "limits": [1],
            "point": [0.001],
            "delta": 1,
            "counts": [1000],
            "copies": 10,
        }
    )
    with pytest.raises(Undecided, match="the cost has 10000 terms"):
        Law(program, 1.0).dearer()
    assert decide(lemmas.COST_2, program).status is Status.UNDECIDED
