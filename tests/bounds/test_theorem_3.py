"""Theorem 3 of Hadar: the known values of its cases, every run of tiny batches by the oracle, and its hypotheses."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from dlsched.algorithms import hadar_e
from dlsched.algorithms.run import Variant as Text
from dlsched.bounds import Status, check, claim
from dlsched.bounds.hadar.forking import BATCHES, FEW, HURRIED, SINGLE, ForkingFacts
from dlsched.bounds.witness import shipped
from dlsched.models.hadar import Instance
from tests.cases.hadar_e import batch
from tests.oracles.hadar_e import Batch, outcomes


def facts_of(name: str) -> ForkingFacts:
    instance: Any = shipped(name).read_instance()
    return ForkingFacts(instance, 0)


def plain(instance: Instance) -> Batch:
    """Return an instance as the oracle takes it."""
    nodes = [machine.name for machine in instance.machines]
    speeds = [[job.rate[node] for node in nodes] for job in instance.jobs]
    return speeds, [math.ceil(job.iterations) for job in instance.jobs], instance.slot_seconds


@pytest.mark.parametrize("seed", range(6))
def test_the_search_knows_every_run(seed: int) -> None:
    """Least and greatest CRU and TTD against all runs one by one, both divisions, with and without idle nodes."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 4))
    speeds = [[Fraction(int(rng.integers(1, 4)), 2) + 1 for _ in range(n)] for _ in range(2)]
    if seed % 2:
        speeds = [[speed[0]] * n for speed in speeds]
    work = {f"J{j}": int(rng.integers(3, 6)) for j in range(2)}
    instance = batch({f"J{j}": speed for j, speed in enumerate(speeds)}, work, seconds=2)
    facts = ForkingFacts(instance, 0)
    for copies in range(1, n + 1):
        for text, idle in ((Text.PRINTED, False), (Text.CORRECTED, False), (Text.CORRECTED, True)):
            found = outcomes(plain(instance), copies, printed=text is Text.PRINTED, idle=idle)
            runs = facts.runs(copies, text, idle)
            assert runs.cru == (min(cru for cru, _ in found), max(cru for cru, _ in found))
            assert runs.ttd == (min(ttd for _, ttd in found), max(ttd for _, ttd in found))


def test_the_chain_of_cases() -> None:
    """CRU^x = R_1 / (n ceil(R_1 / x)) on equally fast nodes, for a scan of R_1 in thirds and n up to 5."""
    for n in range(2, 6):
        for thirds in (4, 6, 7, 9, 12, 16):
            r1 = Fraction(thirds, 3)
            facts = ForkingFacts(batch({"A": [1] * n}, {"A": r1}, seconds=1), 0)
            for x in range(1, n + 1):
                assert facts.cru(x) == r1 / (n * math.ceil(r1 / x))


@pytest.mark.parametrize(("third", "expected"), [("18/11", "11/20"), ("3/2", "4/7")])
def test_the_two_slow_nodes_have_more_than_all_three(third: str, expected: str) -> None:
    facts = ForkingFacts(batch({"A": [1, 1, third]}, {"A": 4}, seconds=1), 0)
    assert facts.cru(3) == Fraction(expected)
    assert facts.cru_on(["n1", "n2"]) == Fraction(2, 3)
    assert facts.cru(2) < facts.cru(3)


def test_the_divisions_of_two_jobs_on_nodes_of_their_own() -> None:
    facts = facts_of("hadar-theorem-3-division-two-jobs")
    assert facts.one_each(2, Text.PRINTED) == Fraction(3, 10)
    assert facts.one_each(2, Text.CORRECTED) == facts.one_each(1, Text.PRINTED) == Fraction(3, 5)


def test_a_step_that_always_falls_to_a_copy_that_does_not_run_ends_nothing() -> None:
    """The last step is the faster node's portion, on which the job has no copy: no round does it."""
    instance = batch({"A": [1, 3], "B": [1, 3]}, {"A": 31, "B": 31})
    assert ForkingFacts(instance, 0).one_each(2, Text.PRINTED) == 0


@pytest.mark.parametrize(
    "name",
    [
        "hadar-theorem-3-three-jobs",
        "hadar-total-time-three-jobs",
        "hadar-theorem-3-strict-two-slots",
        "hadar-theorem-3-induction-three-jobs",
        "hadar-theorem-3-rounds-half-as-fast",
        "hadar-theorem-3-copies-four-times-as-fast",
        "hadar-theorem-3-copies-four-slots",
        "hadar-theorem-3-full-four-slots",
        "hadar-theorem-3-unforked-three-jobs",
        "hadar-corollary-time-two-jobs",
        "hadar-corollary-payoffs-three-times-as-fast",
    ],
)
def test_counterexamples_break_no_hypothesis(name: str) -> None:
    """Among them that T_S is shorter than each job's training, on whatever node."""
    case = shipped(name)
    known = claim(case.claim, case.variant)
    facts = facts_of(name)
    assert all(premise.holds(facts) for premise in known.premises)
    (speed,) = {max(speed.values()) for speed in facts.speeds.values()}
    assert all(job.iterations / speed > facts.slot for job in facts.instance.jobs)


@pytest.mark.slow
def test_the_refutation_does_not_depend_on_the_assignment() -> None:
    """Each of 27 assignments of a round does a third of what its nodes' jobs have left: 12 of 36 at most."""
    found = outcomes(plain(facts_of("hadar-theorem-3-three-jobs").instance), 3, printed=True)
    assert max(cru for cru, _ in found) == Fraction(2, 5)
    assert min(ttd for _, ttd in found) == 24
    assert {cru for cru, _ in outcomes(plain(facts_of("hadar-theorem-3-three-jobs").instance), 1, printed=True)} == {
        Fraction(3, 5)
    }


def test_idle_time_before_the_last_round_cannot_be_avoided() -> None:
    """Slots of 10 s, jobs of 11 and 25 steps, two nodes: of all runs none is full in all rounds but the last."""
    instance = facts_of("hadar-corollary-time-two-jobs").instance
    assert check("hadar/corollary", instance).status is Status.HOLDS
    assert check("hadar/corollary-time", instance).measured == 5
    assert min(ttd for _, ttd in outcomes(plain(instance), 2, printed=False)) == 21


def test_the_rounds_with_fewer_copies_are_wrong_on_whatever_nodes_and_for_rounds_that_are_not_rounded() -> None:
    """Speeds 4, 1, 1 and a job of 10: 10/6 slots on all, 2 or 5 rounds on two, and 5/2 and 3 are 3."""
    facts = facts_of("hadar-theorem-3-copies-four-times-as-fast")
    pairs = {facts.rounds_on(nodes) for nodes in (["n1", "n2"], ["n1", "n3"], ["n2", "n3"])}
    assert pairs == {2, 5}
    assert facts.rounds_on(facts.nodes) == math.ceil(Fraction(10, 6)) == 2
    assert {math.ceil(rounds * 3 / 2) for rounds in (Fraction(10, 6), Fraction(2))} == {3}


def test_the_rounds_with_fewer_copies_are_right_on_equal_nodes_if_they_are_not_rounded() -> None:
    facts = facts_of("hadar-theorem-3-copies-four-slots")
    assert [facts.rounds_on(facts.nodes[:x]) for x in (1, 2, 3)] == [4, 2, 2]
    assert math.ceil(Fraction(4, 3) * 3 / 2) == 2


def test_all_rounds_but_the_last_have_the_share_of_their_copies() -> None:
    """A job of 4 slots on three equal nodes: all of round 1, and 1/3 of round 2."""
    facts = facts_of("hadar-theorem-3-full-four-slots")
    run = hadar_e.run(facts.instance, steps="divisible").schedule
    assert hadar_e.utilisation_by_round(facts.instance, run) == {1: 1, 2: Fraction(1, 3)}


def test_the_share_of_the_copies_is_of_the_time_until_the_job_is_done() -> None:
    """Three nodes have 4/3 slots each of 4/3, and of two rounds; nodes of speeds 3 and 1 are done at once, too."""
    facts = facts_of("hadar-theorem-3-full-time-four-slots")
    assert (facts.cru_until_done(facts.nodes), facts.cru_on(facts.nodes)) == (1, Fraction(2, 3))
    uneven = ForkingFacts(batch({"A": [3, 1, 1]}, {"A": 5}, seconds=1), 0)
    assert (uneven.cru_until_done(["n1", "n2"]), uneven.cru_on(["n1", "n2"])) == (Fraction(2, 3), Fraction(5, 12))


def test_hadar_sends_no_copy_where_none_pays() -> None:
    """n2 would be done with 9, 6 and 3 steps in slots 9, 7 and 5, and 3 is the last that is worth something."""
    facts = facts_of("hadar-corollary-payoffs-three-times-as-fast")
    assert [(event.nodes, event.left["J1"]) for event in facts.paying_before_last] == [
        ({"n1": "J1"}, 6),
        ({"n1": "J1"}, 3),
    ]
    assert [event.nodes for event in facts.before_last] == [{"n1": "J1", "n2": "J1"}] * 2
    assert check("hadar/corollary", facts.instance).status is Status.HOLDS


@pytest.mark.parametrize("source", [FEW, HURRIED], ids=lambda source: source.name)
def test_draws_with_fewer_jobs_or_deadlines_meet_the_hypotheses(source: Any) -> None:
    known = claim("hadar/theorem-3-unforked")
    for seed in range(20):
        facts = ForkingFacts(source.draw(np.random.default_rng(seed)), 0)
        assert all(premise.holds(facts) for premise in known.premises)


def test_a_job_below_a_slot_is_outside_the_corollary() -> None:
    """Jobs of 15 and 8 steps in slots of 10 leave two seconds idle, but the second is shorter than a slot."""
    instance: Any = shipped("hadar-corollary-time-short-job").read_instance()
    verdict = check("hadar/corollary-time", instance)
    assert (verdict.status, verdict.reason) == (
        Status.PREMISE_FAILS,
        "T_S is shorter than the shortest job's training time",
    )
    assert hadar_e.run(instance).schedule.jobs["J2"].slots[1][0].seconds == 8


def test_a_gang_of_two_nodes_is_outside() -> None:
    data = batch({"A": [1, 1]}, {"A": 30}).dump()
    data["jobs"][0]["gang"] = 2
    verdict = check("hadar/theorem-3", Instance.parse(data))
    assert verdict.status is Status.PREMISE_FAILS
    assert verdict.reason == "every node can run a copy of every job, which runs on one node"


@pytest.mark.slow
def test_too_many_states_are_undecided() -> None:
    instance = batch({f"J{j}": [1, 2, 3] for j in range(4)}, {f"J{j}": 70 + j for j in range(4)}, slots=60)
    assert check("hadar/theorem-3", instance).status is Status.UNDECIDED


@pytest.mark.parametrize("source", [SINGLE, BATCHES], ids=lambda source: source.name)
def test_draws_meet_the_hypotheses_of_the_theorem(source: Any) -> None:
    theorem = claim("hadar/theorem-3")
    for seed in range(20):
        facts = ForkingFacts(source.draw(np.random.default_rng(seed)), 0)
        assert all(premise.holds(facts) for premise in theorem.premises)
