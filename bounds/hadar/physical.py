"""What is known of Gavel, Hadar and HadarE on the physical clusters of Section VI, with constants that are drawn.

All three run in the same slots, lose 10 s on a new allocation (Section IV), and know (10) exactly, which here is how
fast nodes are. Where nodes spend seconds of every slot on communication, Hadar's slot is to the simulator one without
these seconds, which are put back into times and utilisation.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from functools import cache, partial
from types import MappingProxyType

import numpy as np

from dlsched.algorithms import hadar_e, simulator
from dlsched.algorithms.baselines.hadar.gavel import Gavel, Mechanism
from dlsched.algorithms.hadar import Hadar
from dlsched.algorithms.hadar_e import MIXES, Constants, constants, physical
from dlsched.algorithms.run import Variant
from dlsched.arguments import named
from dlsched.bounds.claim import Claim, Expectation, Source, Subject, always
from dlsched.bounds.comparison import Relation
from dlsched.models.document import Document
from dlsched.models.hadar import Instance
from dlsched.models.numbers import NonNegative

RESTART = Fraction(10)
"""Seconds that a node loses on a new allocation (Section IV)."""

LONGEST = Fraction(20)
"""Seconds of a slot that communication takes, at most, where it is drawn. Arbitrary: the paper prints none."""


class Scheduler(StrEnum):
    """Who schedules; HadarE divides the steps left among the copies that run, or, as printed, among all of them.

    Gavel fills its rounds as the paper has it (Section II-A), or as the code of Gavel's authors does.
    """

    GAVEL = "Gavel"
    HADAR = "Hadar"
    HADAR_E = "HadarE"
    PRINTED = "HadarE, printed division"
    CODE = "Gavel, by its code"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a mix.

    Attributes
    ----------
    cru : Fraction
    times : tuple of Fraction
        Completion time of each job, in seconds; a job that is not done when the slots end counts as done then.
    """

    cru: Fraction
    times: tuple[Fraction, ...]

    @property
    def ttd(self) -> Fraction:
        """Total time duration: all jobs are there from the beginning."""
        return max(self.times)

    @property
    def jct(self) -> Fraction:
        """The mean completion time."""
        return sum(self.times, Fraction(0)) / len(self.times)


_POLICIES: Mapping[Scheduler, Callable[[], simulator.Policy]] = MappingProxyType(
    {Scheduler.GAVEL: Gavel, Scheduler.HADAR: Hadar, Scheduler.CODE: partial(Gavel, mechanism=Mechanism.CODE)}
)


def outcome(instance: Instance, scheduler: Scheduler, communication: Fraction = Fraction(0)) -> Outcome:
    """Return what comes of an instance.

    Parameters
    ----------
    instance : Instance
        Its jobs arrive in slot 1.
    scheduler : Scheduler
    communication : Fraction
        Seconds of every slot in which a node that ran a job does not train.
    """
    if scheduler in _POLICIES:
        return _simulated(instance, _POLICIES[scheduler](), communication)
    variant = Variant.CORRECTED if scheduler is Scheduler.HADAR_E else Variant.PRINTED
    schedule = hadar_e.run(instance, variant=variant, restart=RESTART, communication=communication).schedule
    done = hadar_e.finish_times(instance, schedule)
    return Outcome(hadar_e.utilisation(instance, schedule), _times(instance, done))


def _simulated(instance: Instance, policy: simulator.Policy, communication: Fraction) -> Outcome:
    slot = instance.slot_seconds - communication
    shorter = instance.model_copy(update={"slot_seconds": slot})
    simulation = simulator.simulate(shorter, policy, round_seconds=slot, restart_seconds=RESTART)
    done = {name: time + math.ceil(time / slot) * communication for name, time in simulation.completions.items()}
    return Outcome(simulator.metrics(simulation).cru * slot / instance.slot_seconds, _times(instance, done))


def _times(instance: Instance, done: dict[str, Fraction]) -> tuple[Fraction, ...]:
    end = instance.slots * instance.slot_seconds
    return tuple(done.get(job.name, end) for job in instance.jobs)


class MixFacts:
    """What is known of the seven mixes with some constants.

    Parameters
    ----------
    instance : Constants
    seed : int
        Not used: nothing is drawn.
    """

    def __init__(self, instance: Constants, seed: int) -> None:
        del seed
        self.instance = instance
        self.outcome = cache(self._uncached_outcome)

    def _uncached_outcome(self, cluster: str, mix: str, scheduler: Scheduler) -> Outcome:
        return outcome(physical(self.instance, cluster, mix), scheduler)

    def mean(self, ratio: Callable[[Outcome, Outcome], Fraction], cluster: str, scheduler: Scheduler) -> Fraction:
        """Return the mean over the mixes of a ratio of a scheduler's outcome and Gavel's."""
        ratios = [
            ratio(self.outcome(cluster, mix, scheduler), self.outcome(cluster, mix, Scheduler.GAVEL)) for mix in MIXES
        ]
        return sum(ratios, Fraction(0)) / len(ratios)


def used(outcome: Outcome, gavel: Outcome) -> Fraction:
    """Return how many times as much of the cluster is used."""
    return outcome.cru / gavel.cru


def sooner(outcome: Outcome, gavel: Outcome) -> Fraction:
    """Return how many times sooner all jobs are done."""
    return gavel.ttd / outcome.ttd


def shorter(outcome: Outcome, gavel: Outcome) -> Fraction:
    """Return how many times shorter the mean completion time is."""
    return gavel.jct / outcome.jct


SLOTS = (90, 180, 360)
"""Seconds of the slots of Figs. 11 and 12."""

_BY_FIGURE = MappingProxyType(
    {
        "11a": ("aws", Scheduler.HADAR_E, (90,), ("M-8", "M-10", "M-12")),
        "11b": ("lab", Scheduler.HADAR_E, (90,), ("M-5", "M-8", "M-10", "M-12")),
        "12a": ("aws", Scheduler.HADAR, (90, 180), ("M-3",)),
        "12b": ("lab", Scheduler.HADAR, (90,), ("M-5", "M-8", "M-10", "M-12")),
    }
)
"""By figure: the cluster, the scheduler, the slots that are best for most mixes, and the mixes for which 360 s is."""


class Trial(Document):
    """A mix, and what is left open of it where the slot length matters.

    Attributes
    ----------
    constants : Constants
    mix : str
    communication : Fraction
        Seconds of every slot in which a node that ran a job does not train.
    """

    constants: Constants
    mix: str
    communication: NonNegative


class SlotFacts:
    """What is known of a mix in slots of 90, 180 and 360 s.

    Parameters
    ----------
    instance : Trial
    seed : int
        Not used: nothing is drawn.
    """

    def __init__(self, instance: Trial, seed: int) -> None:
        del seed
        named("mix", instance.mix, MIXES)
        self.instance = instance
        self.cru = cache(self._uncached_cru)

    def _uncached_cru(self, cluster: str, scheduler: Scheduler, slot: int) -> Fraction:
        mix = physical(self.instance.constants, cluster, self.instance.mix, slot_seconds=slot)
        return outcome(mix, scheduler, self.instance.communication).cru

    def by_slot(self, figure: str) -> dict[int, Fraction]:
        """Return CRU on the cluster and under the scheduler of a figure, by the seconds of a slot."""
        cluster, scheduler, _, _ = _BY_FIGURE[figure]
        return {slot: self.cru(cluster, scheduler, slot) for slot in SLOTS}

    def best(self, figure: str) -> tuple[Fraction, Fraction]:
        """Return the greatest CRU in the slots that a figure shows to be best for the mix, and in the others."""
        _, _, usual, long = _BY_FIGURE[figure]
        chosen = SLOTS[-1:] if self.instance.mix in long else usual
        cru = self.by_slot(figure)
        return max(cru[slot] for slot in chosen), max(cru[slot] for slot in SLOTS if slot not in chosen)


def trial(rng: np.random.Generator) -> Trial:
    """Return one of the seven mixes, with constants that are drawn and up to 20 s of communication a slot."""
    mix = tuple(MIXES)[int(rng.integers(len(MIXES)))]
    communication = LONGEST * int(rng.integers(11)) / 10
    return Trial(constants=constants(rng), mix=mix, communication=communication)


PHYSICAL = Source("hadar/physical", constants, cost=100)
TRIALS = Source("hadar/slots", trial, cost=100)

_CLUSTERS = {"aws": ("a", "the AWS cluster"), "lab": ("b", "the cluster of the lab")}
"""The part of a figure that a cluster is in, and what it is called."""

_OPEN = (
    "the constants of (10), how PMI is read, the classes of the models, the batches and how long the jobs are: drawn "
    "from ranges of ours (`dlsched.algorithms.hadar_e.constants`), which say nothing sure of the paper's own runs"
)
_GAVEL = (
    "how Gavel fills its rounds: as Section II-A has it, the code of its authors otherwise (`Mechanism` of "
    "`dlsched.algorithms.baselines.hadar.gavel`)"
)
_MIXES: Subject[Constants, MixFacts] = Subject(problem="hadar", instance=Constants, facts=MixFacts, sources=(PHYSICAL,))
_TRIALS: Subject[Trial, SlotFacts] = Subject(problem="hadar", instance=Trial, facts=SlotFacts, sources=(TRIALS,))


LIGHTER = (
    'the same under Hadar as under HadarE, where the text has Hadar\'s "at a lighter degree due to fewer jobs involved"'
)
"""What the overheads of Hadar alone are taken for, in the claims and in the figures."""


def _division(scheduler: Scheduler) -> str:
    """Return what is open in a claim about HadarE alone."""
    return "; among which copies the steps are divided: those that run" if scheduler is Scheduler.HADAR_E else ""


def _gain(
    name: str,
    cluster: str,
    printed: str,
    ratio: Callable[[Outcome, Outcome], Fraction],
    *,
    figure: int,
    says: str,
    scheduler: Scheduler = Scheduler.HADAR_E,
) -> Claim[MixFacts]:
    """Return the claim that a scheduler gains so much over Gavel, on average over the seven mixes."""
    part, place = _CLUSTERS[cluster]
    return _MIXES.printed(
        f"hadar/evaluation-{name}-{cluster}",
        paper=f"Hadar, Section VI-C, Fig. {figure}({part})",
        statement=f"on average over the seven mixes, on {place}, {says.format(printed)}",
        quantity=f"mean over the mixes of this ratio for {scheduler} and Gavel, in slots of 360 s, against {printed}",
        measure=lambda facts: facts.mean(ratio, cluster, scheduler),
        relation=Relation.AT_LEAST,
        bound=always(Fraction(printed)),
        sampled=True,
        guessed=True,
        expectation=Expectation.OPEN,
        open=f"{_OPEN}; {_GAVEL}; the slot{_division(scheduler)}",
    )


def _best_slot(figure: str, says: str) -> Claim[SlotFacts]:
    """Return the claim that the slots which a figure shows to be best for a mix are."""
    cluster, scheduler, _, _ = _BY_FIGURE[figure]
    return _TRIALS.printed(
        f"hadar/evaluation-slot-{figure}",
        paper=f"Hadar, Section VI-D, Fig. {figure[:2]}({figure[2:]})",
        statement=f"on {_CLUSTERS[cluster][1]} CRU of {scheduler} is greatest in slots of {says}",
        quantity="CRU of one of the mixes in the best of these slots, against the best of the others of 90, 180, 360 s",
        measure=lambda facts: facts.best(figure)[0],
        relation=Relation.AT_LEAST,
        bound=lambda facts: facts.best(figure)[1],
        sampled=True,
        guessed=True,
        expectation=Expectation.OPEN,
        open=f"{_OPEN}; the seconds of a slot that communication takes: 0 to 20"
        f"{f', {LIGHTER}' if scheduler is Scheduler.HADAR else _division(scheduler)}",
    )


_HADAR_USES = partial(
    _gain, "cru-hadar", ratio=used, figure=8, says="Hadar uses {} times what Gavel does", scheduler=Scheduler.HADAR
)
_USES = partial(_gain, "cru", ratio=used, figure=8, says="HadarE uses {} times what Gavel does")
_DONE = partial(_gain, "ttd", ratio=sooner, figure=9, says="HadarE is done {} times sooner than Gavel")
_JOBS = partial(_gain, "jct", ratio=shorter, figure=10, says="jobs are done {} times sooner under HadarE than Gavel")

CLAIMS = (
    _HADAR_USES("aws", "1.20"),
    _HADAR_USES("lab", "1.21"),
    _USES("aws", "1.56"),
    _USES("lab", "1.62"),
    _DONE("aws", "1.79"),
    _DONE("lab", "2.12"),
    _JOBS("aws", "2.23"),
    _JOBS("lab", "2.76"),
    _best_slot("11a", "360 s for M-8 to M-12, and of 90 s for M-1 to M-5"),
    _best_slot("11b", "360 s for M-5 to M-12, and of 90 s for M-1 to M-4"),
    _best_slot("12a", "90 or 180 s for all mixes but M-3, and of 360 s for that"),
    _best_slot("12b", "360 s for M-5 to M-12, and of 90 s for M-1 to M-4"),
)
