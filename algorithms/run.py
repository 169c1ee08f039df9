"""What an algorithm returns: the schedule, what it is worth, the final prices, and the events that led to it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from typing import Any, Generic, TypeVar

from dlsched.models.document import Document
from dlsched.readable import Readable, Section, facts

S = TypeVar("S", bound=Document)


class Variant(StrEnum):
    """Which text of an algorithm runs.

    Examples
    --------
    >>> from dlsched.algorithms import Variant
    >>> from dlsched.algorithms.hadar import run
    >>> from dlsched.models import hadar
    >>> instance = hadar.random(0)
    >>> [run(instance, variant=variant, mode="rounds").utility for variant in Variant]
    [0.0, 34.0]
    """

    PRINTED = "printed"
    CORRECTED = "corrected"


@dataclass(frozen=True, slots=True)
class Event:
    """Something an algorithm did; the log of a run is a sequence of these, in order of time.

    Examples
    --------
    >>> from dlsched.algorithms import Event
    >>> from dlsched.algorithms.hadar import run
    >>> from dlsched.models import hadar
    >>> log = run(hadar.random(0), mode="rounds").log
    >>> [type(event).__name__ for event in log if isinstance(event, Event)]
    ['Round', 'Round', 'Decision', 'Round', 'Decision', 'Decision']
    """


@dataclass(frozen=True, slots=True)
class PriceStep:
    """How an allocation moved one price.

    Attributes
    ----------
    machine, type : str
    slot : int
    devices : int
        Devices newly allocated there.
    before, after : float
        Price of one device in the slot, before and after.

    Examples
    --------
    >>> from dlsched.algorithms.hadar import run
    >>> from dlsched.models import hadar
    >>> for step in run(hadar.random(0)).log[1].steps:
    ...     print(step.slot, step.machine, step.type, f"{step.before:.3f} -> {step.after:.3f}")
    2 machine1 type1 0.059 -> 19.000
    2 machine1 type2 0.059 -> 19.000
    3 machine1 type1 0.059 -> 19.000
    3 machine1 type2 0.059 -> 19.000
    """

    machine: str
    type: str
    slot: int
    devices: int
    before: float
    after: float


@dataclass(frozen=True, slots=True)
class Decision(Event):
    """A job was admitted or turned away, or, in rounds, chosen for one slot.

    Attributes
    ----------
    job : str
    slot : int
        The arrival slot, or the round.
    admitted : bool
    payoff : float
        Utility minus cost at the prices before this decision; 0 for a job turned away.
    completion : int or None
        Completion slot; in rounds, as estimated at that allocation's rate.
    steps : tuple of PriceStep
        One for each machine, type and slot that it uses.

    Examples
    --------
    >>> from dlsched.algorithms import Decision
    >>> from dlsched.algorithms.hadar import run
    >>> from dlsched.models import hadar
    >>> decided = [event for event in run(hadar.random(0)).log if isinstance(event, Decision)]
    >>> [(decision.job, decision.admitted, decision.completion) for decision in decided]
    [('job1', False, None), ('job2', True, 3), ('job3', True, 3)]
    """

    job: str
    slot: int
    admitted: bool
    payoff: float
    completion: int | None
    steps: tuple[PriceStep, ...]


@dataclass(frozen=True, slots=True)
class Stripped(Event):
    """The allocations of a job that does not finish were removed from the schedule.

    Attributes
    ----------
    job : str
    slots : tuple of int
        Slots in which it had run.
    done, needed : Fraction
        Iterations.

    Examples
    --------
    >>> from dlsched.algorithms import Stripped
    >>> from dlsched.algorithms.baselines.dmlrs.drf import run
    >>> from dlsched.models import dmlrs
    >>> for event in run(dmlrs.random(0)).log:
    ...     if isinstance(event, Stripped):
    ...         print(event.job, event.slots, f"{event.done} of {event.needed}")
    job3 (2, 3) 2 of 3
    job1 (3,) 1 of 5
    job2 (3,) 4/3 of 2
    """

    job: str
    slots: tuple[int, ...]
    done: Fraction
    needed: Fraction


@dataclass(frozen=True, slots=True)
class Run(Readable, Generic[S]):
    """The outcome of an algorithm on an instance.

    Attributes
    ----------
    schedule : Schedule
        Of the problem's kind; passes its checker.
    utility : float
        As the problem's checker values the schedule.
    prices : mapping
        Final prices, by the problem's resources, e.g. (machine, type, slot); empty where there are none.
    log : tuple of Event

    Examples
    --------
    >>> from dlsched.algorithms.hadar import run
    >>> from dlsched.models import hadar
    >>> instance = hadar.random(0)
    >>> result = run(instance)
    >>> result.utility == hadar.utility(instance, result.schedule)
    True
    >>> print(result)
    Run
      utility         34
      jobs scheduled  2
      prices          9
      log             3 Decision
    """

    schedule: S
    utility: float
    prices: Mapping[Any, float]
    log: tuple[Event, ...]

    def _sections(self) -> Iterable[Section]:
        kinds = Counter(type(event).__name__ for event in self.log)
        log = ", ".join(f"{count} {kind}" for kind, count in kinds.items())
        jobs = len(getattr(self.schedule, "jobs", ()))
        yield Section("Run", facts(utility=self.utility, jobs_scheduled=jobs, prices=len(self.prices) or None, log=log))
