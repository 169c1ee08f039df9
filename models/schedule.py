"""What the problems' schedules share: which jobs they are of, what a checker reports and what is measured of them."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Self

from dlsched.models.document import Document


class JobsSchedule(Document):
    """A schedule by job; an absent job gets nothing.

    Attributes
    ----------
    problem : str
    jobs : dict
        Name of a job to what it gets.
    """

    problem: str
    jobs: dict[str, Any]

    def without(self, names: Iterable[str]) -> Self:
        """Return the schedule in which the named jobs get nothing."""
        dropped = set(names)
        return self.model_copy(update={"jobs": {name: job for name, job in self.jobs.items() if name not in dropped}})


@dataclass(frozen=True, slots=True)
class Violation:
    """One rule that a schedule breaks.

    Attributes
    ----------
    rule : str
        The paper's equation and what it says, e.g. ``"(1d) capacity"``.
    place : str
        Where: job, machine, device type and slot, as far as they matter.
    message : str
        The value and the limit.

    Examples
    --------
    >>> from dlsched.models import hadar
    >>> devices = {1: {"machine1": {"type1": 1}}}
    >>> plan = hadar.Schedule.parse({"jobs": {"job1": {"slots": devices}}})
    >>> for broken in hadar.check(hadar.random(0), plan):
    ...     print(broken.rule, broken.place, broken.message, sep=" | ")
    (1a) work | job job1 | 0.5 of 2 iterations done: a job with devices must finish
    """

    rule: str
    place: str
    message: str

    def __str__(self) -> str:
        return f"{self.place}: {self.message} [{self.rule}]"


@dataclass(frozen=True, slots=True)
class Measures:
    """Measures of one schedule, exact.

    Attributes
    ----------
    unit : str
        Of times, e.g. ``seconds``.
    durations : mapping of str to Fraction
        By job that ends: the time from its arrival to its end (JCT).
    end : Fraction, optional
        When the last of them ends, from the beginning of slot 1 (makespan); None where none does.
    used : Fraction, optional
        The part of the capacity that is in use until then, the mean over the resources; None where nothing is.
    alone : mapping of str to Fraction
        By job that ends: the time that it takes on an n-th of the cluster where there are n jobs; empty where that is
        not defined.

    Examples
    --------
    >>> from dlsched.models import build, hadar, problem, read, solve
    >>> instance = hadar.random(0)
    >>> model = build("hadar/hall", instance)
    >>> _ = solve(model)
    >>> measured = problem("hadar").measures(instance, read(model, instance))
    >>> measured.unit, {job: float(time) for job, time in measured.durations.items()}, float(measured.end)
    ('seconds', {'job2': 2.0, 'job3': 1.0}, 3.0)
    """

    unit: str
    durations: Mapping[str, Fraction]
    end: Fraction | None = None
    used: Fraction | None = None
    alone: Mapping[str, Fraction] = field(default_factory=dict)

    @property
    def mean(self) -> float | None:
        """The mean duration; None where no job ends."""
        return float(statistics.mean(self.durations.values())) if self.durations else None

    @property
    def median(self) -> float | None:
        """The median duration; None where no job ends."""
        return float(statistics.median(self.durations.values())) if self.durations else None

    @property
    def unfairness(self) -> float | None:
        """The greatest duration of a job over what it takes alone (finish-time fairness); None where not defined."""
        ratios = [self.durations[name] / alone for name, alone in self.alone.items() if alone]
        return float(max(ratios)) if ratios else None


def mean_share(shares: Iterable[Fraction]) -> Fraction | None:
    """Return the mean of shares; None where there are none."""
    found = list(shares)
    return statistics.mean(found) if found else None


def earned(instance: Any, finished: Mapping[str, int]) -> Fraction:
    """Return what jobs are worth, as a rational, whose utility is one of the time from arrival to completion slot.

    Parameters
    ----------
    instance : Instance
    finished : mapping of str to int
        Completion slot, by job that finishes.
    """
    jobs = ((instance.job(name), slot) for name, slot in finished.items())
    return sum((job.utility.exact(slot - job.arrival) for job, slot in jobs), Fraction(0))
