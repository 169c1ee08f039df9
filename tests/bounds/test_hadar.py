"""Hadar's claims: hypotheses of the print, prices that admit and block, and what a run's alpha can be."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from itertools import permutations
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
from dlsched.bounds.hadar.facts import BELOW_CAPACITY, HadarFacts
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
    ("name", "earned", "opt"),
    [
        ("hadar-theorem-2-staggered", 14, 2001),
        ("hadar-theorem-2-four-jobs", 12, 2001),
        ("hadar-theorem-2-lone-job", 0, 1),
    ],
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


SMALL = [c for c in claims() if BELOW_CAPACITY in c.premises and c.expectation is Expectation.FALSE]


@pytest.mark.parametrize("known", SMALL, ids=lambda c: c.id)
def test_gangs_of_first_witnesses_are_smaller_than_each_machine_of_each_type(known: Any) -> None:
    """Whatever "the capacity" below Lemma 3 is: of the cluster, as the hypothesis has it, or of a cell."""
    instance: Any = shipped(known.counterexamples[0]).read_instance()
    least = min(count for machine in instance.machines for count in machine.devices.values() if count)
    assert all(job.gang < least for job in instance.jobs)


@pytest.mark.parametrize(
    ("name", "earned"), [("hadar-dual-feasible-staggered", 5), ("hadar-dual-feasible-three-devices", 3)]
)
def test_the_witnesses_of_dual_feasible_have_the_same_optimum_with_every_job_done(name: str, earned: float) -> None:
    """The second gang in the slot in which it comes, and the first around it or after it: 1000 + 1."""
    step = claim("hadar/dual-feasible")
    assert name in step.counterexamples
    facts = step.facts(shipped(name).read_instance(), 0)
    assert all(premise.holds(facts) for premise in step.premises)
    assert facts.every_job == facts.opt
    assert (facts.opt.low, facts.printed.run.utility) == (1001, earned)


@pytest.mark.slow
@pytest.mark.parametrize(("id_", "orders"), [("hadar/theorem-2", 24), ("hadar/dual-feasible", 2)])
def test_the_first_witnesses_do_not_depend_on_the_order_of_the_file(id_: str, orders: int) -> None:
    data = shipped(claim(id_).counterexamples[0]).instance
    verdicts = [check(id_, Instance.parse({**data, "jobs": list(jobs)})) for jobs in permutations(data["jobs"])]
    assert [verdict.status for verdict in verdicts] == [Status.VIOLATED] * orders
    assert len({round(verdict.bound or 0, 6) for verdict in verdicts}) == 1


@pytest.mark.slow
def test_where_all_jobs_come_at_once_two_orders_of_24_violate_theorem_2() -> None:
    data = shipped("hadar-theorem-2-four-jobs").instance
    orders = [list(jobs) for jobs in permutations(data["jobs"])]
    found = [
        [job["name"] for job in jobs]
        for jobs in orders
        if check("hadar/theorem-2", Instance.parse({**data, "jobs": jobs})).status is Status.VIOLATED
    ]
    assert found == [["J1", "J2", "J3", "J4"], ["J1", "J2", "J4", "J3"]]


@pytest.mark.parametrize(
    ("name", "d0", "primal", "dual", "twice"),
    [
        # Payoffs 4 - 4/24 and 1 - 2/24; three devices are dearer by (q - 1)/24, q = 12000^(2/3), in 2 slots, and in 1.
        ("hadar-dual-feasible-staggered", Fraction(3, 8), [4, 1], [134.620403, 66.310202], 663.102),
        # Payoffs 2 - 1/6 and 1 - 1/6; three devices are dearer by (6000^(2/3) - 1)/12, each time in 1.
        ("hadar-dual-feasible-three-devices", Fraction(1, 2), [2, 1], [84.131515, 83.131515], 498.789),
    ],
)
def test_lemma_1_is_false_to_the_letter(
    name: str, d0: Fraction, primal: list[float], dual: list[float], twice: float
) -> None:
    """Its three hypotheses hold, and 2 alpha ALG is below OPT = 1001; D_f >= OPT, which is read into it, fails."""
    instance: Any = shipped(name).read_instance()
    facts = HadarFacts(instance, 0)
    assert facts.printed.constants.d0 == d0 <= facts.opt.low / 2
    assert [step.primal for step in facts.printed.steps] == primal
    assert [step.dual for step in facts.printed.steps] == pytest.approx(dual)
    alpha = max(d / p for d, p in zip(dual, primal, strict=True))
    assert facts.printed.least_alpha == pytest.approx(alpha)
    assert 2 * alpha * sum(primal) == pytest.approx(twice, rel=1e-5)
    assert twice < facts.opt.low == 1001
    assert check("hadar/lemma-1", instance).reason == "D_f >= OPT"


def test_d_f_of_a_gang_that_is_the_whole_capacity_is_outside_the_theorem() -> None:
    """D_0 = 2/8; job 1 raises one of two devices' price from 1/8 to sqrt(500/8), payoff 1 - 1/8."""
    step = claim("hadar/dual-feasible")
    case = shipped("hadar-dual-feasible-gap")
    facts = step.facts(case.read_instance(), 0)
    assert case.status == "premise-fails"
    assert facts.printed.final_dual == pytest.approx(2 * math.sqrt(500 / 8) + 7 / 8)
    assert (facts.opt.low, facts.every_job) == (1000, None)


def test_the_first_witness_of_theorem_2_leaves_nothing_to_read_otherwise() -> None:
    """Every job takes one device: M_j and w_j^r are 1, and U_j(tmin - a_j) is U_j(tmin - 1)."""
    instance: Any = shipped(claim("hadar/theorem-2").counterexamples[0]).read_instance()
    assert {job.gang for job in instance.jobs} == {1}
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


def test_the_jobs_that_matter_may_be_worth_any_amount() -> None:
    """10^6 for 1000 and 290 for 12: slots 2 and 3 cost job 2 two times sqrt(10^6/48) = 144.3."""
    data = shipped(claim("hadar/theorem-2").counterexamples[0]).instance
    tables = [[1, 1, 1, 0.5], [290, 290, 0.5], [10**6, 1], [10**6, 1]]
    jobs = [
        {**job, "utility": {"kind": "table", "values": values}}
        for job, values in zip(data["jobs"], tables, strict=True)
    ]
    verdict = check("hadar/theorem-2", Instance.parse({**data, "jobs": jobs}))
    assert (verdict.status, verdict.measured) == (Status.VIOLATED, 2_000_001)
    assert verdict.bound == pytest.approx(2 * math.log(48e6) * 292)


@pytest.mark.parametrize("smaller", [1, 2, 20, 21, 10**6, 10**24])
def test_no_smaller_eta_saves_theorem_2(smaller: int) -> None:
    """1/eta is bounded from above alone; that many times less makes prices lower and alpha greater, and no more."""
    instance: Any = shipped(claim("hadar/theorem-2").counterexamples[0]).read_instance()
    printed = algorithm.constants(instance, "printed")
    umin = {r: low / smaller for r, low in printed.umin.items()}
    found = replace(printed, inverse_eta=printed.inverse_eta / smaller, umin=umin, d0=printed.d0 / smaller)
    assert found.alpha == pytest.approx(math.log(48000 * smaller))
    earned = algorithm.run(instance, prices=found).utility
    assert earned == (14 if smaller < 21 else 15)
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


def test_a_gain_of_the_abstract_that_is_the_mean_of_all_gains() -> None:
    """With the printed 30 and 34 % it is nearer still: 1.455."""
    instance: Any = shipped("hadar-abstract-utilisation").read_instance()
    against = [Fraction("1.56"), Fraction("1.62"), Fraction(156, 120), Fraction(162, 121)]
    assert instance.distance == sum(against) / 4 - Fraction("1.45") == Fraction(57, 12100)
    assert (against[0] + against[1] + Fraction("1.30") + Fraction("1.34")) / 4 == Fraction("1.455")


def test_times_are_refuted_only_beyond_their_digits() -> None:
    kind = claim("hadar/text-times").instance_type
    given = {"quantity": "s", "longest_unit": 1, "total": 3900, "total_unit": 100}
    for longest, distance in ((3850, 0), ("3849.5", 0), (3849, Fraction(1, 2)), (3950, 0), (3952, Fraction(3, 2))):
        assert kind.parse({**given, "longest": longest}).distance == distance


def test_find_alloc_takes_the_cheapest_and_not_the_best() -> None:
    """With a fast device of two taken: 1 - 1/16, or 1 - 3/16 for all slots, against 10 - sqrt(160)/16, as (4) has."""
    instance: Any = shipped("hadar-find-alloc-fast-and-slow").read_instance()
    facts = HadarFacts(instance, 0)
    first, second = facts.first_calls
    assert (first.job, first.payoff, first.best, facts.response(first)) == ("J1", 159 / 16, 159 / 16, 159 / 16)
    assert (second.job, second.payoff) == ("J2", 15 / 16)
    assert second.best == facts.response(second) == pytest.approx(10 - math.sqrt(160) / 16)


def test_find_alloc_is_asked_about_no_job_after_one_that_it_refuses() -> None:
    """One device: a second job finds none, and Algorithm 2 ends there."""
    jobs = [{**lone(1).dump()["jobs"][0], "name": name} for name in ("a", "b", "c")]
    calls = HadarFacts(Instance.parse({**lone(1).dump(), "jobs": jobs}), 0).first_calls
    assert [(call.job, call.payoff > 0, call.best > 0) for call in calls] == [("a", True, True), ("b", False, False)]


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
