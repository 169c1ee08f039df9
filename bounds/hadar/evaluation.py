"""What the trace-driven evaluation reports (Section IV), as far as it can be judged without the traces: its 40 hours.

What is compared there takes simulations of 480 jobs, half a minute each, with traces that are not part of this package:
the figures ``hadar/4`` and ``hadar/IV-B`` judge it. That such jobs cannot be done in 40 hours needs neither.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from fractions import Fraction

import numpy as np

from dlsched.bounds.claim import Expectation, Premise, Source, always, stated
from dlsched.bounds.comparison import Relation
from dlsched.bounds.hadar.facts import HADAR, HadarFacts
from dlsched.models.hadar import Instance, preset

_Rates = tuple[tuple[str, Fraction], ...]
"""Iterations per second and device, by the types that there are and on which there are some."""


def least_hours(instance: Instance) -> Fraction:
    """Return hours that every schedule takes at least until all jobs are done that can run at all.

    Let y_r >= 0 be a price of a second of a device of type r. Job j works at most X_j^r a second on it, also where its
    gang mixes types (1b), so that its Q_j iterations take devices worth Q_j min_r y_r / X_j^r, and T seconds have
    T sum_r c^r y_r in all. Any prices will do; those are tried at which the jobs of one model cost the same on every
    type.
    """
    work: dict[_Rates, Fraction] = defaultdict(Fraction)
    for job in instance.jobs:
        if rates := tuple((r, job.rate_on(r)) for r in instance.usable_types(job)):
            work[rates] += job.iterations
    return max((_least_seconds(instance, work, dict(prices)) for prices in work), default=Fraction(0)) / 3600


def _least_seconds(instance: Instance, work: Mapping[_Rates, Fraction], prices: Mapping[str, Fraction]) -> Fraction:
    needed = sum(q * min(prices.get(r, Fraction(0)) / rate for r, rate in rates) for rates, q in work.items())
    return Fraction(needed) / sum(instance.capacity[r] * price for r, price in prices.items())


def section_4(rng: np.random.Generator) -> Instance:
    """Return 480 jobs of Table II on 60 devices, their GPU-hours counted on the slowest type: the least work."""
    return preset("paper", rng, hours_on="k80")


SECTION_4 = Source("hadar/section-4", section_4, cost=10)

_SETTING = Premise[HadarFacts](
    "there are 480 jobs, and 20 devices of each of three types",
    lambda facts: len(facts.instance.jobs) == 480 and list(facts.instance.capacity.values()) == [20, 20, 20],
    "Section IV",
)

TOTAL_TIME_DURATION = HADAR.printed(
    "hadar/evaluation-ttd-trace",
    paper="Hadar, Section IV-B, Fig. 4",
    statement="Hadar completes all 480 jobs in 40 hours",
    quantity="mean of the hours that every schedule takes at least, GPU-hours counted on a K80, against 40",
    measure=lambda facts: least_hours(facts.instance),
    relation=Relation.AT_MOST,
    bound=always(40),
    sampled=True,
    guessed=True,
    expectation=Expectation.OPEN,
    premises=(_SETTING,),
    open=(
        'what "uniformly sampled" is about: the sizes, as is drawn here, or a model among those of the size that a '
        "job has by its GPU time in the trace, so that how many are of each size is not printed; the type on which "
        "GPU-hours are counted, guessed to be the slowest, which makes for the least work; how they are spread within "
        "a size; batch sizes"
    ),
    sources=(SECTION_4,),
)

UNIFORM_SIZES = TOTAL_TIME_DURATION.derived(
    "hadar/evaluation-ttd-trace-uniform",
    statement="the same where the sizes of Section IV-A are drawn uniformly, and GPU-hours uniformly within a size",
    guessed=False,
    expectation=Expectation.FALSE,
)

CLAIMS = stated(globals())
