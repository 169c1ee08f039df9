"""What comes of mixes on the physical clusters: by hand, bounds that every schedule obeys, and the averages of it."""

from __future__ import annotations

from fractions import Fraction

import pytest

from dlsched.algorithms import hadar_e
from dlsched.algorithms.hadar_e import CLUSTERS, MIXES, Constants, constants, physical
from dlsched.bounds import Status, check, claims
from dlsched.bounds.hadar.physical import SLOTS, MixFacts, Scheduler, SlotFacts, Trial, outcome
from dlsched.models import InputError
from tests.algorithms.hadar_e.test_physical import SIMPLE

SAME = Constants.parse(SIMPLE)
"""M-1 is 5760 iterations at 8 a second on a V100, 4.16 on a T4 and .322577 on a K80."""


@pytest.mark.parametrize("scheduler", [Scheduler.GAVEL, Scheduler.HADAR])
def test_one_job_takes_one_node(scheduler: Scheduler) -> None:
    """720 s and a restart of 10 s are three slots of 360 s, in which five nodes have 5400 s."""
    found = outcome(physical(SAME, "aws", "M-1"), scheduler)
    assert (found.cru, found.times) == (Fraction(720, 5400), (Fraction(730),))


@pytest.mark.parametrize("scheduler", [Scheduler.HADAR_E, Scheduler.PRINTED])
def test_one_job_forked_takes_all_nodes_for_a_slot(scheduler: Scheduler) -> None:
    """The nodes do 16.965154 iterations a second together: quotas 2716.16, 1412.40 twice, 109.52 twice.

    The K80s' remainders are the largest: 2716, 1412, 1412, 110, 110. These take 339.5, 339.42, 341.01 s; with the
    restart the last is done after 351.01 of 360 s.
    """
    found = outcome(physical(SAME, "aws", "M-1"), scheduler)
    k80, t4 = 110 / Fraction("0.322577"), 1412 / Fraction("4.16")
    assert found.times == (10 + k80,)
    assert found.cru == (Fraction(2716, 8) + 2 * t4 + 2 * k80) / 1800


def test_communication_is_lost_in_every_slot() -> None:
    """Slots of 360 s train for 340: 330 after the restart, 340, and 50; each slot has 20 s of communication."""
    found = outcome(physical(SAME, "aws", "M-1"), Scheduler.HADAR, Fraction(20))
    assert (found.cru, found.times) == (Fraction(720, 5400), (Fraction(10 + 720 + 3 * 20),))


@pytest.mark.parametrize("seconds", [0, 7, 20])
@pytest.mark.parametrize("slot", SLOTS)
def test_hadar_on_one_job_is_hadar_e_without_forking(slot: int, seconds: int) -> None:
    """The simulator with the seconds put back, against HadarE's own rounds, which count them on their own."""
    instance = physical(SAME, "lab", "M-1", slot_seconds=slot)
    found = outcome(instance, Scheduler.HADAR, Fraction(seconds))
    schedule = hadar_e.run(instance, copies=1, steps="divisible", restart=10, communication=seconds).schedule
    assert found.cru == hadar_e.utilisation(instance, schedule)
    assert found.times == tuple(hadar_e.finish_times(instance, schedule).values())


@pytest.mark.slow
@pytest.mark.parametrize("cluster", CLUSTERS)
@pytest.mark.parametrize("mix", ["M-1", "M-3", "M-5"])
def test_no_schedule_is_better_than_the_cluster(cluster: str, mix: str) -> None:
    """At most all nodes train all the time, each job first restarts, and without forking it has one node at a time."""
    for seed in range(3):
        instance = physical(constants(seed), cluster, mix)
        speed = {job.name: [job.rate[gpu] for gpu in CLUSTERS[cluster]] for job in instance.jobs}
        alone = [job.iterations / max(speed[job.name]) for job in instance.jobs]
        forked = [job.iterations / sum(speed[job.name]) for job in instance.jobs]
        for scheduler in Scheduler:
            found = outcome(instance, scheduler)
            least = alone if scheduler in (Scheduler.GAVEL, Scheduler.HADAR) else forked
            assert 0 < found.cru <= 1
            assert all(time >= 10 + bound for time, bound in zip(found.times, least, strict=True))
            assert found.ttd >= 10 + sum(forked)
            assert min(found.times) <= found.jct <= found.ttd


def test_what_is_not_done_counts_to_the_end() -> None:
    short = physical(SAME, "aws", "M-1").model_copy(update={"slots": 1})
    assert outcome(short, Scheduler.HADAR).times == (Fraction(360),)


@pytest.mark.slow
def test_a_gain_is_the_mean_ratio_over_the_mixes() -> None:
    facts = MixFacts(SAME, 0)
    by_hand = [
        facts.outcome("aws", mix, Scheduler.HADAR_E).cru / facts.outcome("aws", mix, Scheduler.GAVEL).cru
        for mix in MIXES
    ]
    verdict = check("hadar/evaluation-cru-aws", SAME)
    assert (verdict.status, verdict.bound) == (Status.UNDECIDED, 1.56)
    assert verdict.measured == pytest.approx(float(sum(by_hand)) / 7, rel=1e-12)
    assert by_hand[0] == facts.outcome("aws", "M-1", Scheduler.HADAR_E).cru / Fraction(720, 5400)


@pytest.mark.slow
@pytest.mark.parametrize(("mix", "chosen"), [("M-5", 90), ("M-8", 360)])
def test_the_best_slot_is_compared_with_the_others(mix: str, chosen: int) -> None:
    facts = SlotFacts(Trial(constants=SAME, mix=mix, communication=Fraction(5)), 0)
    cru = facts.by_slot("11a")
    assert list(cru) == [90, 180, 360]
    assert facts.best("11a") == (cru[chosen], max(value for slot, value in cru.items() if slot != chosen))


def test_either_of_two_slots_may_be_the_best() -> None:
    facts = SlotFacts(Trial(constants=SAME, mix="M-4", communication=Fraction(5)), 0)
    cru = facts.by_slot("12a")
    assert facts.best("12a") == (max(cru[90], cru[180]), cru[360])


def test_an_unknown_mix_is_refused() -> None:
    with pytest.raises(InputError, match="unknown mix 'M-2'"):
        check("hadar/evaluation-slot-11a", Trial(constants=SAME, mix="M-2", communication=Fraction(5)))


def test_they_are_averages_whose_verdict_is_open() -> None:
    mine = [claim for claim in claims() if claim.id.startswith("hadar/evaluation-") and claim.facts in FACTS]
    assert len(mine) == 12
    for claim in mine:
        assert claim.sampled
        assert claim.guessed
        assert (claim.expectation.value, claim.variant.value) == ("open", "printed")
        assert "nothing sure of the paper's own runs" in claim.open


FACTS = (MixFacts, SlotFacts)
