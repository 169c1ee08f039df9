"""What the proof of Theorem 5 counts on, and Remark 1: shipped cases by hand, the algorithm's own runs, draws."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from dlsched.algorithms import optimum
from dlsched.algorithms.pd_ors import JobDecision, constants, run
from dlsched.bounds import check
from dlsched.bounds.claim import Claim, Expectation, decide
from dlsched.bounds.comparison import Interval, Status
from dlsched.bounds.pd_ors import low, remark, theorem_5, theorems
from dlsched.bounds.pd_ors.facts import SMALL_NEEDS
from dlsched.bounds.pd_ors.slot import ExternalSlot, SlotFacts
from dlsched.bounds.witness import shipped
from dlsched.models import InputError
from dlsched.models.dmlrs import Instance
from tests.longer import longer

CLAIMS = (*theorem_5.CLAIMS, *low.CLAIMS, *remark.CLAIMS)
OWNERS = {name: claim for claim in CLAIMS for name in claim.counterexamples + claim.golden}

KNOWN = {
    # G = .790815: 3.95 of 5 workers are rounded to 4 at most; promised 1 - .1^10.
    "pd-ors-theorem-3-ample-five-workers": (0, 1 - 1e-10),
    # G = .90019: 2253 of 2500 workers at most; G = 1.04385: 1043 or more where there is room for 1000.
    "pd-ors-theorem-5-succeeds-2500-workers": (0, 1 - 1e-10),
    "pd-ors-theorem-6-succeeds-2500-workers": (0, 1),
    # On E1 no round of either gain keeps (24)-(26).
    "pd-ors-theorem-5-succeeds-E1": (0, 1 - (0.5 / 3) ** 10),
    "pd-ors-theorem-6-succeeds-E1": (0, 1),
    # G = .900190 over 2500 workers and 3 machines; (1 - .1^10)^50000.
    "pd-ors-theorem-5-ample-2500-workers": (0, 1 - 50000e-10),
    # Two slots with 10 samples for each of two jobs.
    "pd-ors-theorem-5-exponent-two-jobs": (40, 20),
    # Two slots with 2 and 1 samples, one with 1; T K = 4, in all 8.
    "pd-ors-theorem-5-exponent-D3": (7, 4),
    "pd-ors-theorem-5-exponent-corrected-D3": (7, 8),
    # 1/mu^r = 2/4, L^r = 1/4 . 1/2, D_0 = 2 (1/8) 2 and OPT/2 = 1/2; with L^r = 1/(2 . 2 . 2), D_0 = 1/2.
    "pd-ors-low-by-resource-two-resources": (0.5, 0.5),
    # C = 100: 1/mu = 4/200, L^r = 1/100 . 1/2, D_0 = 2 (1/200) 100.
    "pd-ors-low-by-resource-same-mu-hundredths": (1, 0.5),
    "pd-ors-low-by-resource-same-mu-corrected-two-resources": (0.5, 0.5),
    # sqrt(L U) over sqrt(L^r U), L = 1/220 and L^r = 1/110; sqrt(U) over sqrt(2 U).
    "pd-ors-larger-ratio-hundred-and-ten": (math.sqrt(1 / 2), 1),
    "pd-ors-larger-ratio-corrected-hundred-and-ten": (math.sqrt(1 / 2), 1),
    # G = 2.13 of 10 workers on a machine for 10: none of the outcomes fits, and the loop does not end.
    "pd-ors-thesis-complexity-exact-fit": (math.inf, 1e6 / 0.3),
    # Three workers and .5 G servers fill machine 2, and one of 1.5 G servers fits machine 1: two are needed.
    "pd-ors-thesis-complexity-any-gain": (math.inf, 1e6 / 0.8),
    "pd-ors-remark-1-fig-5": (0.019144 / 0.031786, 1),
}


def case(name: str) -> Any:
    return OWNERS[name].instance.parse(shipped(name).instance)


@pytest.mark.parametrize("name", KNOWN)
def test_shipped_cases_have_the_values_found_by_hand(name: str) -> None:
    verdict = decide(OWNERS[name], case(name))
    assert (verdict.measured, verdict.bound) == pytest.approx(KNOWN[name], rel=1e-4)
    assert (verdict.status is Status.VIOLATED) == (name in OWNERS[name].counterexamples)
    assert verdict.status.value == shipped(name).status


def test_every_case_is_known_by_hand() -> None:
    assert set(KNOWN) == set(OWNERS)


@pytest.mark.long
@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: " ".join(claim.key))
def test_draws_speak_for_what_is_true_alone(claim: Claim[Any]) -> None:
    statuses = [
        decide(claim, source.draw(np.random.default_rng(seed))).status for source in claim.sources for seed in range(12)
    ]
    assert (Status.VIOLATED in statuses) == (claim.expectation is Expectation.FALSE)
    assert Status.UNDECIDED not in statuses or claim.open


@pytest.mark.parametrize("share", [0, Fraction(1, 4), Fraction(1, 2), 1])
def test_a_smaller_l_makes_no_price_greater(share: Fraction) -> None:
    """L^(1 - x) U^x at x = rho/C, of 100 and of 10 units: .0477 at x = 1/2, .0674 with twice L, the same at x = 1."""
    found = constants(case("pd-ors-larger-ratio-hundred-and-ten"), "printed")
    assert (found.low, set(found.high.values())) == (Fraction(1, 220), {Fraction(1, 2)})
    for resource, capacity in (("cpu", 100), ("gpu", 10)):
        at = ("machine1", resource, share * capacity)
        assert found.price(*at) == pytest.approx((1 / 220) ** (1 - share) * (1 / 2) ** share)
        twice = replace(found, low=2 * found.low)
        assert twice.price(*at) == pytest.approx(2 ** float(1 - share) * found.price(*at))


def test_a_price_that_is_0_whatever_l_is_is_not_compared() -> None:
    """A job that takes longer than there is time: U^r is 0, and so are (12) and U^r/L."""
    data = case("pd-ors-larger-ratio-hundred-and-ten").dump()
    (job,) = data["jobs"]
    slow = job | {"gradient_size": 1, "internal_rate": 3, "external_rate": 2, "workers_per_server": 3}
    instance = Instance.parse(data | {"jobs": [slow]})
    found = constants(instance, "printed")
    assert (found.low > 0, set(found.high.values())) == (True, {0})
    for variant in ("printed", "corrected"):
        verdict = check("pd-ors/larger-ratio", instance, variant=variant)
        assert (verdict.status, verdict.reason) == (Status.PREMISE_FAILS, "U^r/L > U^r/L^r for some r")


@pytest.mark.slow
@pytest.mark.parametrize("seed", longer(range(3), 1, 2))
def test_pd_ors_never_schedules_the_job_of_2500_workers(seed: int) -> None:
    """The algorithm itself, and not only the probability: one schedule is worth 1000, three runs nothing."""
    instance = case("pd-ors-theorem-5-ample-2500-workers")
    found = run(instance, seed=seed, variant="printed", gain="packing", delta=0.3, program="worker-slots")
    assert found.utility == 0
    assert [event.admitted for event in found.log if isinstance(event, JobDecision)] == [False]


@pytest.mark.slow
def test_the_job_of_2500_workers_fits() -> None:
    instance = case("pd-ors-theorem-5-ample-2500-workers")
    assert optimum(instance).value == 1000
    assert run(instance, variant="printed", gain=1, program="worker-slots").utility == 1000


def test_the_algorithm_and_the_claim_take_one_gain() -> None:
    instance = case("pd-ors-theorem-5-ample-2500-workers")
    facts = theorem_5.LoneFacts(instance, 0)
    assert facts.placement.widths.packing == 1000
    assert facts.placement.widths.shrink(0.3) == pytest.approx(0.900190, abs=1e-6)


def test_rounds_and_delta_are_parameters() -> None:
    instance = case("pd-ors-theorem-5-ample-2500-workers")
    once = check("pd-ors/theorem-5-ample", instance, rounds=1, delta=0.003)
    assert once.bound == pytest.approx((1 - 0.001) ** 50000, rel=1e-6, abs=0)
    assert check("pd-ors/theorem-3-ample", case("pd-ors-theorem-3-ample-five-workers"), rounds=2).bound == 1 - 0.1**2
    with pytest.raises(InputError, match="no parameter"):
        check("pd-ors/theorem-3-ample", case("pd-ors-theorem-3-ample-five-workers"), draws=2)


@pytest.mark.parametrize("gain", [1.0001, 1.006, 1.01, 1.3, 2, 3.7481, 10])
def test_in_the_first_witness_of_complexity_no_gain_has_a_feasible_outcome(gain: float) -> None:
    """Machine 2 has room for three workers of three needed, machine 1 for one server of two: no G > 1 is less full."""
    instance = case("pd-ors-thesis-complexity-any-gain")
    facts = theorem_5.GainFacts(instance, 0, gain=gain)
    assert [law.program.point for law in facts.rounded.laws] == [(0, 3, 0, Fraction(3, 2), Fraction(1, 2), 0)]
    assert check("pd-ors-thesis/complexity", instance, gain=gain).measured == math.inf


def test_an_exact_fit_is_found_soon_at_the_gains_of_the_evaluation() -> None:
    """At Theorem 2's G = 2.13 never; 10 G = 10.06 workers are ten with .94, and of 10.1 with .9."""
    exact = case("pd-ors-thesis-complexity-exact-fit")
    for gain, kept in ((1.006, 0.94), (1.01, 0.9)):
        verdict = check("pd-ors-thesis/complexity", exact, gain=gain)
        assert (verdict.status, verdict.measured) == (Status.HOLDS, pytest.approx(1 / kept))
    with pytest.raises(InputError, match="gain"):
        check("pd-ors-thesis/complexity", exact, gain=1)


def test_with_ample_room_the_two_promises_differ() -> None:
    """With hundreds of times a worker's room, a round at G of (29) places too few, one at G of (30) enough."""
    for seed in range(30):
        facts = theorem_5.AmpleFacts(theorem_5.ample_slot(np.random.default_rng(seed)), 0)
        assert facts.small_needs
        assert facts.succeeds.high < facts.promised
        assert facts.succeeds_30.low == pytest.approx(facts.promised_30)


def test_the_first_witnesses_of_both_promises_have_ample_room() -> None:
    """And at G of (30) too little all the same: 2500 workers fill two machines of three."""
    for name in ("pd-ors-theorem-5-succeeds-2500-workers", "pd-ors-theorem-6-succeeds-2500-workers"):
        facts = theorem_5.AmpleFacts(case(name), 0, much_smaller=1000)
        assert facts.small_needs
        assert (facts.succeeds, facts.succeeds_30) == (Interval(0, 0), Interval(0, 0))
        assert facts.printed.stretched.gain == pytest.approx(1.04385, abs=1e-5)
        assert [law.program.point[:3] for law in facts.printed.stretched.laws] == [(1000, 1000, 500)]


def test_where_all_prices_are_one_every_split_of_the_workers_is_an_optimum() -> None:
    """Of 5 workers, one on each of three machines and more may be rounded up to 5; of 40 no split is."""
    data = shipped("pd-ors-theorem-3-ample-five-workers").instance
    slot = ExternalSlot.parse({**data, "prices": [[1], [1], [1]]})
    probability = SlotFacts(slot, 0).printed.shrunk.feasible()
    assert probability.low == 0 < probability.high
    forty = ExternalSlot.parse({**data, "prices": [[1], [1], [1]], "workers": 40})
    assert decide(theorem_5.THEOREM_3_AMPLE, forty).status is Status.VIOLATED


@pytest.mark.slow
@pytest.mark.parametrize(
    "change",
    [
        {"room": [["1.5"], ["1.5"], ["1.5"]], "workers": 4},  # 4.5 workers, or 3 whole ones
        {"workers": 4.5, "most_workers": 4.5},  # (25) allows 4 whole ones
    ],
)
def test_where_workers_do_not_fit_in_whole_numbers_nothing_is_refuted(change: dict[str, Any]) -> None:
    slot = ExternalSlot.parse({**shipped("pd-ors-theorem-3-ample-five-workers").instance, **change})
    assert SlotFacts(slot, 0).printed.program is not None
    for claim in (
        theorems.THEOREM_3_FEASIBLE,
        theorems.THEOREM_4_FEASIBLE,
        theorem_5.THEOREM_5_SUCCEEDS,
        theorem_5.THEOREM_6_SUCCEEDS,
    ):
        verdict = decide(claim, slot)
        assert (verdict.status, verdict.reason) == (Status.PREMISE_FAILS, theorems.WHOLE.name)


def test_the_thesis_needs_whole_workers_and_servers() -> None:
    """m_w and m_p are ceilings: with room for two workers and half a server, 1.5 and .5 fit, and 2 and 1 do not."""
    data = shipped("pd-ors-theorem-3-E1").instance
    small = {"room": [[2, 0.5]], "prices": [[1, 1]], "workers": 1.5, "servers": 0.5, "most_workers": 2}
    facts = SlotFacts(ExternalSlot.parse({**data, **small}), 0)
    assert (facts.thesis.needs, facts.thesis.cover_width) == ((2, 1), 1)
    assert facts.corrected.needs == (Fraction(3, 2), Fraction(1, 2))
    assert facts.corrected.program is not None
    assert facts.thesis.program is None


def test_g_of_30_asks_for_no_room_on_every_machine() -> None:
    """(30) has W_1 alone: where a machine is full W_2 is 0, and the claims on (29) alone say nothing."""
    data = shipped("pd-ors-theorem-3-E1").instance
    slot = ExternalSlot.parse({**data, "room": [[3, 0], [3, 4], [9, 9]]})
    for claim in (theorems.THEOREM_4_FEASIBLE, theorem_5.THEOREM_6_SUCCEEDS):
        assert decide(claim, slot).status is not Status.PREMISE_FAILS
    for claim in (theorems.THEOREM_3_FEASIBLE, theorem_5.THEOREM_5_SUCCEEDS, theorems.THEOREM_4):
        assert decide(claim, slot).reason == theorems.ROOM


def test_room_for_the_whole_job_on_one_machine_is_enough() -> None:
    roomy = theorem_5.large_job(3, 3000, 10, 2500, 5000, 1000)
    assert decide(theorem_5.THEOREM_5_AMPLE, roomy).status is Status.HOLDS
    small = Instance.parse(roomy.dump() | {"machines": [{"name": "M1", "capacity": {"r1": 8}}]})
    verdict = decide(theorem_5.THEOREM_5_AMPLE, small)
    assert (verdict.status, verdict.reason) == (Status.PREMISE_FAILS, SMALL_NEEDS.name)


def test_figure_5_has_the_crossings_that_the_remark_reads_off() -> None:
    facts = remark.FeasibilityFacts(case("pd-ors-remark-1-fig-5"), 0)
    assert facts.crossings == pytest.approx([0.05403, 0.03179, 0.01914], abs=5e-6)
    for width, delta in zip((30, 35, 40), facts.crossings, strict=True):
        assert facts.rhs(width, delta) == pytest.approx(delta)
        assert facts.rhs(width, 0.99 * delta) > 0.99 * delta


def test_bad_figures_are_refused() -> None:
    with pytest.raises(InputError, match="must increase"):
        remark.Feasibility.parse({"cover_widths": [40, 30], "packing_width": 15, "covers": 1, "packings": 401})
