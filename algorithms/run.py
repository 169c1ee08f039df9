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
    """Which text of an algorithm runs."""

    PRINTED = "printed"
    CORRECTED = "corrected"


@dataclass(frozen=True, slots=True)
class Event:
    """Something an algorithm did; the log of a run is a sequence of these, in order of time."""


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
