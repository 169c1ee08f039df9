"""The motivational example (Section II-A): rounds and device use of Gavel, replayed, and of Hadar, as its figure says.

The figure's speeds are per job and round, whatever the number of its devices.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from dlsched.bounds.claim import Claim, Expectation, Undecided, Variant
from dlsched.bounds.comparison import Interval, Relation
from dlsched.bounds.hadar.facts import HadarFacts, certified, interval, replaced
from dlsched.models.utility import Table

PER_JOB = "hadar-motivation-per-job"
PER_DEVICE = "hadar-motivation-per-device"


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


_HADAR: dict[str, Any] = {
    "paper": "Hadar, Section II-A and Fig. 1(b)",
    "facts": HadarFacts,
}

HADAR_ROUNDS = Claim(
    id="hadar/motivational-hadar",
    variant=Variant.PRINTED,
    statement="Hadar finishes the three jobs in 5 rounds, one fewer than Gavel",
    quantity="fewest rounds of any schedule under (1b)-(1e), against 5",
    measure=_rounds,
    bound=lambda facts: 5.0,
    relation=Relation.AT_MOST,
    expectation=Expectation.FALSE,
    counterexamples=("hadar-motivational-hadar-per-job",),
    golden=("hadar-motivational-hadar-per-device",),
    **_HADAR,
)

HADAR_ROUNDS_CORRECTED = Claim(
    id="hadar/motivational-hadar",
    variant=Variant.CORRECTED,
    statement="no schedule finishes the three jobs in fewer than 6 rounds, which Gavel needs",
    quantity="fewest rounds of any schedule under (1b)-(1e), against 6",
    measure=_rounds,
    bound=lambda facts: 6.0,
    relation=Relation.AT_LEAST,
    expectation=Expectation.TRUE,
    golden=("hadar-motivational-hadar-corrected-per-job",),
    **_HADAR,
)

UTILISATION = Claim(
    id="hadar/motivational-utilisation",
    variant=Variant.PRINTED,
    statement="Hadar uses 100 % of the devices in the first round, and 87 % (26 of 30) over all",
    quantity="greatest share of the devices that gangs of 3, 2 and 2 can use in a round, against 1",
    measure=_used_by_gangs,
    bound=lambda facts: 1.0,
    relation=Relation.AT_LEAST,
    expectation=Expectation.FALSE,
    details=lambda facts: {"claimed over all rounds": 26 / 30},
    counterexamples=("hadar-motivational-utilisation",),
    **_HADAR,
)

UTILISATION_CORRECTED = Claim(
    id="hadar/motivational-utilisation",
    variant=Variant.CORRECTED,
    statement="gangs of 3, 2 and 2 use at most 5 of the 6 devices in a round (83 %)",
    quantity="greatest share of the devices that gangs of 3, 2 and 2 can use in a round, against 5/6",
    measure=_used_by_gangs,
    bound=lambda facts: 5 / 6,
    relation=Relation.AT_MOST,
    expectation=Expectation.TRUE,
    golden=("hadar-motivational-utilisation-corrected",),
    **_HADAR,
)

CLAIMS = (HADAR_ROUNDS, HADAR_ROUNDS_CORRECTED, UTILISATION, UTILISATION_CORRECTED)
