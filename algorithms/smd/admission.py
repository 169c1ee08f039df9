"""SMD's outer step: which jobs to admit, given what each is worth; the baselines of SMD use it too."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum

from dlsched.algorithms.knapsack import Method, Selection, TooManyProgramsError, solve_knapsack
from dlsched.algorithms.run import Event
from dlsched.models.numbers import to_json
from dlsched.models.smd import Instance, Point, Schedule

AUTO_LPS = 5_000
"""Linear programs after which ``"auto"`` gives up the scheme for the exact method. Arbitrary: far fewer than
`dlsched.algorithms.knapsack.MAX_LPS`, as nobody has asked for the scheme."""


class Outer(StrEnum):
    """How the outer problem (16) is solved.

    Examples
    --------
    >>> from dlsched.algorithms import smd
    >>> from dlsched.models.smd import random
    >>> for outer in smd.Outer:
    ...     print(outer.value, smd.run(random(16, jobs=6), outer=outer, outer_epsilon=0.9).utility)
    auto 63.5
    scheme 63.5
    exact 75.5
    """

    AUTO = "auto"
    SCHEME = "scheme"
    EXACT = "exact"


@dataclass(frozen=True, slots=True)
class NeverAdmitted(Event):
    """A job cannot be admitted, whatever the other jobs.

    Attributes
    ----------
    job : str
    reason : str

    Examples
    --------
    >>> from dlsched.algorithms import smd
    >>> from dlsched.models.smd import random
    >>> for event in smd.run(random(2, jobs=4)).log:
    ...     if isinstance(event, smd.NeverAdmitted):
    ...         print(f"{event.job}: {event.reason}")
    job1: one worker and one server need 5 of resource2, its limit is 3
    job2: one worker and one server need 4 of resource1, its limit is 3
    job4: one worker and one server need 4 of resource1, its limit is 3
    """

    job: str
    reason: str


@dataclass(frozen=True, slots=True)
class OuterStep(Event):
    """Jobs were admitted.

    Attributes
    ----------
    method : str
        ``"scheme"`` or ``"exact"``.
    reason : str
        Why this one.
    guarantee : float
        The admitted jobs are worth at least this part of the best choice, at the inner step's utilities.
    subset_size, lps : int
        k, and linear programs solved, of the scheme; 0 of the exact method.
    admitted : tuple of str
        Jobs worth nothing are not among them.

    Examples
    --------
    >>> from dlsched.algorithms import smd
    >>> from dlsched.models.smd import random
    >>> step = smd.run(random(16, jobs=6), outer="scheme", outer_epsilon=0.9).log[-1]
    >>> step.admitted, round(step.guarantee, 3), step.lps
    (('job1', 'job5'), 0.333, 7)
    """

    method: str
    reason: str
    guarantee: float
    subset_size: int
    lps: int
    admitted: tuple[str, ...]


def inadmissible(instance: Instance) -> Iterator[NeverAdmitted]:
    """Yield the jobs that cannot run within their limits, and those whose reservation exceeds the cluster."""
    for job in instance.jobs:
        if instance.admissible(job):
            continue
        for r in instance.resources:
            least, limit, there = job.worker_needs(r) + job.server_needs(r), job.limit_of(r), instance.capacity_of(r)
            if least > limit:
                needs = f"one worker and one server need {to_json(least)} of {r}, its limit is {to_json(limit)}"
                yield NeverAdmitted(job.name, needs)
                break
            if limit > there:
                yield NeverAdmitted(job.name, f"reserves {to_json(limit)} of {r}, the cluster has {to_json(there)}")
                break


def admit(instance: Instance, points: Mapping[str, Point], *, outer: str, epsilon: float) -> tuple[Schedule, OuterStep]:
    """Return the schedule that admits the best jobs, each at its point, and how they were found.

    Parameters
    ----------
    instance : Instance
    points : mapping
        Of the jobs that may be admitted.
    outer : {"auto", "scheme", "exact"}
        The scheme of Frieze and Clarke, or an exact method; ``"auto"`` takes the exact one where the scheme is not done
        after `AUTO_LPS` linear programs.
    epsilon : float
        The scheme admits at least 1 - epsilon of the best choice.

    Raises
    ------
    InputError
        If epsilon is not in (0, 1), or the scheme was asked for and needs too many linear programs.

    References
    ----------
    SMD, (16) and step 3.
    """
    names = list(points)
    values = [points[name].utility for name in names]
    weights = [[instance.job(name).limit_of(r) for r in instance.resources] for name in names]
    capacity = [instance.capacity_of(r) for r in instance.resources]
    how, reason = Outer(outer), "asked for"

    def solve(method: Method, **limits: int) -> Selection:
        return solve_knapsack(values, weights, capacity, method=method, epsilon=epsilon, **limits)

    if how is Outer.AUTO:
        try:
            found, how, reason = (
                solve(Method.SCHEME, max_lps=AUTO_LPS),
                Outer.SCHEME,
                f"done within {AUTO_LPS} programs",
            )
        except TooManyProgramsError as error:
            found, how, reason = solve(Method.EXACT), Outer.EXACT, str(error)
    else:
        found = solve(Method(how))
    admitted = tuple(names[i] for i in found.chosen)
    schedule = Schedule.of({name: (points[name].workers, points[name].servers) for name in admitted})
    return schedule, OuterStep(str(how), reason, float(found.guarantee), found.subset_size or 0, found.lps, admitted)
