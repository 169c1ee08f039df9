"""Hadar's claims: hypotheses of the print, prices that admit and block, and what a run's alpha can be."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given

from dlsched.algorithms import hadar as algorithm
from dlsched.algorithms.baselines.hadar.srtf import Srtf
from dlsched.algorithms.simulator import simulate
from dlsched.bounds import Expectation, Status, Variant, check, claim, claims
from dlsched.bounds.claim import decide
from dlsched.bounds.hadar import sources
from dlsched.bounds.hadar.evaluation import least_hours, section_4
from dlsched.bounds.hadar.facts import HadarFacts
from dlsched.bounds.witness import shipped
from dlsched.errors import InputError
from dlsched.models.hadar import Instance
from tests.strategies.hadar import hadar_data

FAMILIES = [sources.TINY, sources.RISING, sources.ROOMY, sources.LONE, sources.MIXED]


def lone(slots: int, devices: int = 1, horizon: int = 10) -> Instance:
    """Return a cluster of some devices with one job that takes one of them for so many slots, worth 1 whenever."""
    return Instance.parse(
        {
            "slots": horizon,
            "slot_seconds": 1,
            "device_types": ["gpu"],
            "machines": [{"name": "m1", "devices": {"gpu": devices}}],
            "jobs": [
                {
                    "name": "job1",
                    "arrival": 1,
                    "gang": 1,
                    "iterations": slots,
                    "rate": {"gpu": 1},
                    "utility": {"kind": "table", "values": [1] * horizon},
                }
            ],
        }
    )


@pytest.mark.parametrize("slots", range(1, 11))
def test_a_lone_job_is_turned_away_where_the_lowest_price_is_too_high(slots: int) -> None:
    """One device: the printed Umin is 1/4 for every length, so that four slots cost all that the job is worth."""
    instance = lone(slots)
    run = algorithm.run(instance, variant="printed")
    admitted = slots < 4
    assert run.utility == admitted
    assert check("hadar/lowest-price-admits", instance).status is (Status.HOLDS if admitted else Status.VIOLATED)
    corrected = check("hadar/lowest-price-admits", instance, variant="corrected")
    assert (corrected.status, corrected.measured) == (Status.HOLDS, pytest.approx(slots / 40))


@pytest.mark.parametrize(
    ("name", "earned", "opt"), [("hadar-theorem-2-four-jobs", 12, 2001), ("hadar-theorem-2-lone-job", 0, 1)]
)
def test_the_witnesses_of_theorem_2_break_no_hypothesis(name: str, earned: float, opt: float) -> None:
    """Two devices, gangs of one, P1 feasible with every job."""
    theorem = claim("hadar/theorem-2")
    assert name in theorem.counterexamples
    instance: Any = shipped(name).read_instance()
    facts = theorem.facts(instance, 0)
    assert all(premise.holds(facts) for premise in theorem.premises)
    assert facts.every_job is not None
    assert facts.printed.run.utility == earned
    assert facts.opt.low == opt


def test_the_witness_of_dual_feasible_has_the_same_optimum_with_every_job_done() -> None:
    """The second gang in slot 1 and the first in slot 2: 1000 + 1."""
    step = claim("hadar/dual-feasible")
    facts = step.facts(shipped(step.counterexamples[0]).read_instance(), 0)
    assert all(premise.holds(facts) for premise in step.premises)
    assert facts.every_job == facts.opt
    assert (facts.opt.low, facts.printed.run.utility) == (1001, 3)


def test_d_f_of_a_gang_that_is_the_whole_capacity_is_outside_the_theorem() -> None:
    """D_0 = 2/8; job 1 raises one of two devices' price from 1/8 to sqrt(500/8), payoff 1 - 1/8."""
    step = claim("hadar/dual-feasible")
    case = shipped("hadar-dual-feasible-gap")
    facts = step.facts(case.read_instance(), 0)
    assert case.status == "premise-fails"
    assert facts.printed.final_dual == pytest.approx(2 * math.sqrt(500 / 8) + 7 / 8)
    assert (facts.opt.low, facts.every_job) == (1000, None)


def test_the_first_witness_of_theorem_2_leaves_nothing_to_read_otherwise() -> None:
    """Every job takes one device for one slot from slot 1 on: M_j, w_j^r, tmin - a_j and tmin - 1 are what they are."""
    instance: Any = shipped(claim("hadar/theorem-2").counterexamples[0]).read_instance()
    assert {(job.gang, job.arrival, job.iterations) for job in instance.jobs} == {(1, 1, 1)}
    printed = algorithm.constants(instance, "printed")
    assert algorithm.constants(instance, "printed", argument="canonical", umax="per-device") == printed
    steps = {id_: check(id_, instance).status for id_ in STEPS_OF_THEOREM_2}
    assert [id_ for id_, status in steps.items() if status is not Status.HOLDS] == ["hadar/definition-1"]


STEPS_OF_THEOREM_2 = (
    "hadar/lowest-price-admits",
    "hadar/positive-prices",
    "hadar/price-blocks",
    "hadar/initial-dual",
    "hadar/dual-feasible",
    "hadar/definition-1",
)


def test_the_late_jobs_may_come_late() -> None:
    """The same with two slots of work for the first jobs, before the others come: nobody could choose among all."""
    data = shipped(claim("hadar/theorem-2").counterexamples[0]).instance
    early = [
        {**job, "iterations": 2, "utility": {"kind": "table", "values": [worth, worth]}}
        for job, worth in zip(data["jobs"][:2], (1, 20), strict=True)
    ]
    late = [{**job, "arrival": 2, "utility": {"kind": "table", "values": [1000]}} for job in data["jobs"][2:]]
    verdict = check("hadar/theorem-2", Instance.parse({**data, "jobs": early + late}))
    assert (verdict.status, verdict.measured) == (Status.VIOLATED, 2000)
    assert verdict.bound == pytest.approx(2 * math.log(16000) * 21)


@pytest.mark.parametrize("smaller", [1, 2, 62, 63, 10**6, 10**29])
def test_no_smaller_eta_saves_theorem_2(smaller: int) -> None:
    """1/eta is bounded from above alone; that many times less makes prices lower and alpha greater, and no more."""
    instance: Any = shipped(claim("hadar/theorem-2").counterexamples[0]).read_instance()
    printed = algorithm.constants(instance, "printed")
    umin = {r: low / smaller for r, low in printed.umin.items()}
    found = replace(printed, inverse_eta=printed.inverse_eta / smaller, umin=umin, d0=printed.d0 / smaller)
    assert found.alpha == pytest.approx(math.log(16000 * smaller))
    earned = algorithm.run(instance, prices=found).utility
    assert earned == (12 if smaller < 63 else 13)
    assert 2 * found.alpha * earned < 2001


def test_a_gang_that_is_the_whole_capacity_is_outside_theorem_2() -> None:
    verdict = check("hadar/theorem-2", lone(4))
    assert verdict.status is Status.PREMISE_FAILS
    assert verdict.reason.startswith("every gang is smaller than the capacity")


@pytest.mark.parametrize("name", ["hadar-theorem-2-lone-job", "hadar-lowest-price-admits-two-devices"])
def test_a_lone_job_costs_more_than_it_is_worth(name: str) -> None:
    """Nine slots at 1/8: a payoff below 0, which nobody could take for an admission; OPT is 1, and P1 feasible."""
    facts: Any = HadarFacts(shipped(name).read_instance(), 0)
    assert dict(facts.printed.constants.umin) == {"k80": Fraction(1, 8)}
    (job,) = facts.instance.jobs
    assert job.iterations * Fraction(1, 8) > job.utility.exact(0)
    assert (facts.printed.run.utility, facts.opt.low, facts.every_job.low) == (0, 1, 1)


def test_every_printed_claim_says_where_it_stands_and_who_assumes_what() -> None:
    printed = [c for c in claims() if c.id.startswith("hadar/") and c.variant is Variant.PRINTED]
    for known in printed:
        assert "Section" in known.paper
        assert all(premise.source for premise in known.premises)


def test_price_blocks_corrected_is_violated_with_other_prices() -> None:
    """On the instance that refutes the print, the printed prices in place of the corrected ones."""
    corrected = claim("hadar/price-blocks", "corrected")
    instance = shipped("hadar-price-blocks-corrected-share").read_instance()
    facts: Any = corrected.facts(instance, 0)
    assert decide(corrected, instance, facts=facts).status is Status.HOLDS
    wrong: Any = corrected.facts(instance, 0)
    wrong.corrected = wrong.printed
    verdict = decide(corrected, instance, facts=wrong)
    assert (verdict.status, verdict.measured) == (Status.VIOLATED, pytest.approx(41 / 80))


@pytest.mark.parametrize("source", FAMILIES, ids=lambda source: source.name)
def test_no_admission_has_a_greater_alpha_than_is_possible(source: Any) -> None:
    """Every number of devices that a job could add to every number that is taken; the greatest is reached."""
    for seed in range(15):
        instance = source.draw(np.random.default_rng(seed))
        run = HadarFacts(instance, 0).corrected
        prices = run.constants
        if not run.positive:
            continue
        greatest = 1.0
        for (machine, type_), saturation in prices.saturation.items():
            count = instance.machine(machine).count(type_)
            gangs = [instance.job(name).gang for name in prices.tmin if instance.job(name).rate_on(type_)]
            for used in range(count):
                for taken in range(1, min(count - used, max(gangs, default=0)) + 1):
                    before, after = (prices.price(machine, type_, n) for n in (used, used + taken))
                    greatest = max(greatest, count * (after - before) / (before * taken))
            assert 1 <= saturation <= count
        assert run.alpha_possible == pytest.approx(greatest, rel=1e-9)
        assert run.alpha_measured <= run.alpha_possible * (1 + 1e-9)


def test_p1_and_p2_differ_where_every_job_can_finish() -> None:
    """P1 is feasible, and worth 2 of P2's 10."""
    equivalence = claim("hadar/equivalence")
    instance = shipped("hadar-equivalence-two-types").read_instance()
    verdict = check(equivalence.id, instance)
    assert (verdict.status, verdict.measured, verdict.bound) == (Status.VIOLATED, 10, 2)


def test_definition_1_fails_for_a_demand_of_an_eighth() -> None:
    verdict = check("hadar/definition-1", shipped("hadar-definition-1-eight-devices").read_instance())
    assert (verdict.measured, verdict.bound) == (pytest.approx(8), pytest.approx(math.log(256)))


def test_numbers_of_the_abstract_that_the_text_has_are_accepted() -> None:
    kind = claim("hadar/abstract").instance_type
    gain = kind.parse({"quantity": "CRU on AWS", "abstract": 1.2, "unit": 0.01, "text": {"Section VI": "1.2"}})
    assert check("hadar/abstract", gain).status is Status.HOLDS
    rounded = kind.parse({"quantity": "CRU", "abstract": "1.34", "unit": "1/100", "text": {"1.62/1.21": "162/121"}})
    assert check("hadar/abstract", rounded).status is Status.HOLDS
    assert Fraction(162, 121) != Fraction("1.34")


def test_ratios_are_refuted_only_beyond_the_digits_of_what_they_are_of() -> None:
    """Of 10 over 5, rounded to ones, 9.5/5.5 = 19/11 and 10.5/4.5 = 7/3 are the ends."""
    kind = claim("hadar/text-ratios").instance_type
    given = {"quantity": "hours", "unit": "1/100", "dividend": 10, "divisor": 5, "rounded": 1}
    for ratio, distance in (("2", 0), ("19/11", 0), ("7/3", 0), ("1.72", 19 / 11 - 1.72), ("2.4", 2.4 - 7 / 3)):
        verdict = check("hadar/text-ratios", kind.parse({**given, "ratio": ratio}))
        assert verdict.measured == pytest.approx(distance)
        assert verdict.status is (Status.HOLDS if distance <= 0.005 else Status.VIOLATED), ratio
    with pytest.raises(InputError, match="rounded: exceeds what is rounded"):
        kind.parse({**given, "ratio": 2, "rounded": 6})


def two_jobs(rates: dict[str, dict[str, int]]) -> Instance:
    """Return a fast and two slow devices, and jobs of an hour on the fast one."""
    common = {"arrival": 1, "gang": 1, "utility": {"kind": "hyperbolic", "scale": 1}}
    return Instance.parse(
        {
            "slots": 10,
            "slot_seconds": 3600,
            "device_types": ["fast", "slow", "none"],
            "machines": [{"name": "m", "devices": {"fast": 1, "slow": 2}}],
            "jobs": [
                {"name": name, "iterations": 3600 * rate["fast"], "rate": rate} | common for name, rate in rates.items()
            ],
        }
    )


def test_hours_that_every_schedule_takes_by_hand() -> None:
    """Two slow devices are as good as the fast one. Then B is four times as fast on that, and A as fast anywhere.

    In T hours the fast one does 4 T of B's 4; the slow ones do A, and with what is left of 2 T the rest: 6 T = 5.
    """
    alike = {"fast": 2, "slow": 1, "none": 9}
    assert least_hours(two_jobs({"A": alike, "B": alike})) == 1
    assert least_hours(two_jobs({"A": {"fast": 1, "slow": 1}, "B": {"fast": 4, "slow": 1}})) == Fraction(5, 6)


@pytest.mark.slow
@given(data=hadar_data(slots=6, jobs=4))
def test_no_schedule_is_done_sooner(data: dict[str, Any]) -> None:
    instance = Instance.parse(data)
    ends = simulate(instance, Srtf(), round_seconds=None).completions
    done = instance.model_copy(update={"jobs": tuple(job for job in instance.jobs if job.name in ends)})
    assert least_hours(done) * 3600 <= max(ends.values(), default=0)


def test_jobs_of_the_trace_driven_evaluation_cannot_be_done_in_40_hours() -> None:
    """Where their sizes are drawn uniformly; how many the trace has of each is not printed."""
    assert claim("hadar/evaluation-ttd-trace").guessed
    assert claim("hadar/evaluation-ttd-trace").expectation is Expectation.OPEN
    assert claim("hadar/evaluation-ttd-trace-uniform").expectation is Expectation.FALSE
    drawn = section_4(np.random.default_rng(0))
    verdict = check("hadar/evaluation-ttd-trace", drawn)
    assert verdict.status is Status.UNDECIDED
    assert verdict.measured is not None
    assert verdict.measured > verdict.bound == 40
    assert check("hadar/evaluation-ttd-trace-uniform", drawn).measured == verdict.measured
    few = drawn.model_copy(update={"jobs": drawn.jobs[:100]})
    assert check("hadar/evaluation-ttd-trace", few).status is Status.PREMISE_FAILS
