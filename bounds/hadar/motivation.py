"""The motivational example (Section II-A): rounds and device use of Gavel, replayed, and of Hadar, as its figure says.

The figure's speeds are per job and round, whatever the number of its devices.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from dlsched.algorithms.baselines.hadar import gavel
from dlsched.bounds.claim import Expectation, Premise, Undecided, always, stated
from dlsched.bounds.comparison import Interval, Relation
from dlsched.bounds.facts import interval
from dlsched.bounds.hadar.facts import HADAR, HadarFacts, certified, replaced
from dlsched.models.utility import Table

Y_GAVEL = {
    "J1": {"v100": 0.6, "p100": 0.4},
    "J2": {"v100": 0.2, "p100": 0.6, "k80": 0.2},
    "J3": {"v100": 0.2, "k80": 0.8},
}
"""The printed allocation matrix, parts of the time by job and type."""

_REMAINING = ((60, 25, 50), (60, 10, 40), (60, 0, 30), (40, 0, 20), (20, 0, 10), (0, 0, 0))
"""Epochs that J1, J2 and J3 have left after each of Gavel's rounds (Hadar, Fig. 1(a))."""


def _is_the_example(facts: HadarFacts) -> bool:
    """Tell whether the cluster, the gangs and the epochs are the printed ones."""
    instance = facts.instance
    jobs = [(job.name, job.gang, int(job.iterations), job.arrival) for job in instance.jobs]
    return instance.capacity == {"v100": 2, "p100": 3, "k80": 1} and jobs == [
        ("J1", 3, 80, 1),
        ("J2", 2, 30, 1),
        ("J3", 2, 50, 1),
    ]


def _speeds_are_per_job(facts: HadarFacts) -> bool:
    """Tell whether a whole gang does the printed epochs a round, as in the figure, and not each of its devices."""
    instance = facts.instance
    speeds = [[int(instance.work(job, r)) for r in ("v100", "p100", "k80")] for job in instance.jobs]
    return speeds == [[40, 20, 30], [5, 15, 5], [10, 2, 20]]


_PER_JOB = Premise("speeds are per job and round", _speeds_are_per_job, "Fig. 1: epochs that remain after each round")
_EXAMPLE = Premise("the cluster and the jobs are the example's", _is_the_example, "Section II-A")


def _gavel(facts: HadarFacts) -> dict[str, Any]:
    """Return the figures of the replay: remaining epochs by round, rounds, and shares of busy devices."""
    instance = facts.instance
    rounds = [event for event in gavel.run(instance, Y_GAVEL).log if isinstance(event, gavel.Round)]
    busy = [Fraction(event.busy, instance.devices) for event in rounds]
    return {
        "remaining": [[int(event.remaining[job.name]) for job in instance.jobs] for event in rounds],
        "rounds": len(rounds),
        "busy in rounds 1 and 2": [round(100 * share) for share in busy[:2]],
        "busy over all": round(100 * sum(busy) / len(busy)),
    }


_PRINTED_GAVEL = {
    "remaining": [list(left) for left in _REMAINING],
    "rounds": 6,
    "busy in rounds 1 and 2": [83, 67],
    "busy over all": 78,
}


def _missed(facts: HadarFacts) -> int:
    found = _gavel(facts)
    return sum(found[name] != printed for name, printed in _PRINTED_GAVEL.items())


def _rounds(facts: HadarFacts) -> Interval:
    """Return the fewest rounds in which all jobs can finish: more than are proved too few, at most a schedule's."""
    instance = facts.instance
    needed = len(instance.jobs)
    too_few = 0
    for slots in range(1, instance.slots + 1):
        if any(job.arrival > slots for job in instance.jobs):
            too_few = slots
            continue
        one = Table(values=(Fraction(1),) * slots)
        finished = interval(certified(replaced(instance, {job.name: one for job in instance.jobs}, slots)))
        if finished.low >= needed - 0.5:
            return Interval(too_few + 1, slots)
        if finished.high < needed - 0.5:
            too_few = slots
    raise Undecided(f"not all jobs finish within {instance.slots} rounds")


def _used_by_gangs(facts: HadarFacts) -> Fraction:
    """Return the greatest share of the devices that whole gangs can use in a round."""
    sums = {0}
    for job in facts.instance.jobs:
        sums |= {used + job.gang for used in sums if used + job.gang <= facts.instance.devices}
    return Fraction(max(sums), facts.instance.devices)


HADAR_ROUNDS = HADAR.printed(
    "hadar/motivational-hadar",
    paper="Hadar, Section II-A and Fig. 1(b)",
    statement="Hadar finishes the three jobs in 5 rounds: it shortens the total training time by one round",
    quantity="fewest rounds of any schedule under (1b)-(1e), against 5",
    measure=_rounds,
    relation=Relation.AT_MOST,
    bound=always(5),
    expectation=Expectation.FALSE,
    premises=(_EXAMPLE,),
    open=(
        "how fast a gang on devices of several types is: read as its slowest task, as (1b) has it; with the mean of "
        "its devices' speeds, which stands nowhere, 5 rounds do"
    ),
    counterexamples=("hadar-motivational-hadar-per-job",),
    golden=("hadar-motivational-hadar-per-device",),
)

HADAR_ROUNDS_CORRECTED = HADAR_ROUNDS.corrected(
    statement="no schedule finishes the three jobs in fewer than 6 rounds, which Gavel needs",
    quantity="fewest rounds of any schedule under (1b)-(1e), against 6",
    relation=Relation.AT_LEAST,
    bound=always(6),
    premises=(_EXAMPLE, _PER_JOB),
    golden=("hadar-motivational-hadar-corrected-per-job",),
)

UTILISATION = HADAR.printed(
    "hadar/motivational-utilisation",
    paper="Hadar, Section II-A and Fig. 1(b)",
    statement=(
        'the CRU values of Hadar in the first two rounds "approach 100 % ... and 83 %", and over the entire process it '
        'achieves "its CRU of some 87 %"'
    ),
    quantity="greatest share of the devices that gangs of 3, 2 and 2 can use in a round, against 86.5 %, the least "
    "that is some 87 %",
    measure=_used_by_gangs,
    relation=Relation.AT_LEAST,
    bound=always(Fraction(865, 1000)),
    expectation=Expectation.FALSE,
    premises=(_EXAMPLE,),
    counterexamples=("hadar-motivational-utilisation",),
)

UTILISATION_CORRECTED = UTILISATION.corrected(
    statement="gangs of 3, 2 and 2 use at most 5 of the 6 devices in a round (83 %)",
    quantity="greatest share of the devices that gangs of 3, 2 and 2 can use in a round, against 5/6",
    relation=Relation.AT_MOST,
    bound=always(Fraction(5, 6)),
    golden=("hadar-motivational-utilisation-corrected",),
)

GAVEL = HADAR.printed(
    "hadar/motivational-gavel",
    paper="Hadar, Section II-A and Fig. 1(a)",
    statement="Gavel takes 6 rounds, with 83 % and 67 % of the devices busy in the first two and 78 % over all",
    quantity="printed figures that a replay of the priority rounds misses, against 0",
    measure=_missed,
    relation=Relation.EQUAL,
    bound=always(0),
    expectation=Expectation.TRUE,
    premises=(_EXAMPLE, _PER_JOB),
    details=_gavel,
    golden=("hadar-motivational-gavel",),
)

CLAIMS = stated(globals())
