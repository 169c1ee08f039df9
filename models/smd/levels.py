"""Utilities that a formula in the completion time cannot express: finitely many values, each with its deadline."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from dlsched.models.smd.inner import points
from dlsched.models.smd.instance import Job


@dataclass(frozen=True, slots=True)
class Level:
    """A value of a job's utility.

    Attributes
    ----------
    value : Fraction
    deadline : Fraction
        The latest completion time, of those that the job's limits allow, that is worth as much.
    """

    value: Fraction
    deadline: Fraction


def levels(job: Job) -> tuple[Level, ...]:
    """Return the positive values of a job's utility over its feasible points, the highest first."""
    deadlines: dict[Fraction, Fraction] = {}
    for workers, servers in points(job).tolist():
        time = job.training.time(workers, servers)
        value = job.utility.exact(time)
        if value > 0:
            deadlines[value] = max(deadlines.get(value, time), time)
    return tuple(Level(value, deadlines[value]) for value in sorted(deadlines, reverse=True))
