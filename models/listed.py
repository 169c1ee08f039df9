"""Schedules of each job, listed: the sets that formulations choose from, one schedule a job, on small instances.

P2 of Hadar and R-DMLRS are the same program: to choose at most one of the given schedules for each job, such that what
a machine has is enough in each slot. What they and their duals share is here; they differ in symbols and numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Generic, TypeVar

from dlsched.arguments import expect
from dlsched.errors import InputError, shown
from dlsched.lazy import pyo

A = TypeVar("A")
C = TypeVar("C", bound="Listed[Any]")
N = TypeVar("N")

Key = tuple[str, int]
"""A schedule: its job and its number within the job."""
Place = tuple[str, str, int]
"""A machine, what it has, and a slot."""

MAX_SCHEDULES = 20_000
"""Of one job; ways to place it in a slot. Arbitrary: each is a column of a model, and their number grows
exponentially."""

STEPS = 20
"""Steps of the search for each schedule that may be found. Arbitrary: one that finds fewer in as many does not end
soon."""


@dataclass(frozen=True, slots=True)
class Listed(Generic[A]):
    """One schedule of one job.

    Attributes
    ----------
    job : str
    completion : int
        Its last slot.
    utility : Fraction
        Of completing then.
    slots : tuple of (int, object)
        What the job has, by ascending slot.
    """

    job: str
    completion: int
    utility: Fraction
    slots: tuple[tuple[int, A], ...]


def listed(
    column: Callable[..., C],
    job: Any,
    options: Iterable[tuple[A, int]],
    work: int,
    last: int,
    *,
    minimal: bool = True,
    limit: int = MAX_SCHEDULES,
) -> list[C]:
    """Return the schedules that do all the work of a job, each ending in the slot that completes it.

    Parameters
    ----------
    column : type
        A subclass of `Listed`.
    job : Job
    options : iterable of (object, int)
        What the job can have in a slot, and the work that this does, in scaled integers.
    work : int
        To be done, on the same scale.
    last : int
        The last slot.
    minimal : bool
        Leave out schedules in which a slot can be dropped: another schedule then uses less and finishes no later.
    limit : int
        About the most schedules: the search stops after twenty times as many steps.

    Raises
    ------
    InputError
        If the search takes more.
    """
    return [
        column(
            job=job.name,
            completion=slots[-1][0],
            utility=job.utility.exact(slots[-1][0] - job.arrival),
            slots=tuple((t, held) for t, held, _ in slots),
        )
        for slots in _searched(job, list(options), work, last, limit)
        if not minimal or sum(done for _, _, done in slots) - min(done for _, _, done in slots) < work
    ]


def _searched(
    job: Any, options: list[tuple[A, int]], work: int, last: int, limit: int
) -> Iterator[tuple[tuple[int, A, int], ...]]:
    """Yield the ways to do all the work, as (slot, what the job has, work done).

    Slots used after the work is done are never needed: dropping them finishes earlier. Partial schedules that cannot
    do their work by the last slot are dropped.
    """
    fastest = max((done for _, done in options), default=0)
    stack: list[tuple[int, int, tuple[tuple[int, A, int], ...]]] = [(job.arrival, work, ())]
    steps = 0
    while stack:
        t, left, partial = stack.pop()
        if left <= 0:
            yield partial
        elif left <= fastest * (last - t + 1):
            steps += 1 + len(options)
            if steps > STEPS * limit:
                raise InputError(f"job {job.name} has too many schedules to enumerate (over {STEPS * limit} steps)")
            stack.append((t + 1, left, partial))
            stack.extend((t + 1, left - done, (*partial, (t, held, done))) for held, done in options)


def numbered(
    kind: type[C],
    instance: Any,
    schedules: Mapping[str, Sequence[C]] | None,
    every: Callable[[Any, Any], Sequence[C]],
) -> dict[Key, C]:
    """Return the given schedules, or where none are given all that are needed, by (job, number within the job).

    Parameters
    ----------
    kind : type
        A subclass of `Listed`, of which the schedules are.
    instance : Instance
    schedules : mapping of str to sequence, or None
        By job.
    every : callable
        Of the instance and a job of it: all that are needed.

    Raises
    ------
    InputError
        If there is no job of a name, or a schedule is of another job.
    TypeError
        If something that is given is no schedule, or not in a sequence.
    """
    if schedules is None:
        return {(job.name, k): column for job in instance.jobs for k, column in enumerate(every(instance, job))}
    expect("schedules", schedules, Mapping)
    names = {job.name for job in instance.jobs}
    for name, columns in schedules.items():
        if name not in names:
            raise InputError(f"schedules: {shown(name)} is not a job of the instance")
        expect(f"schedules[{shown(name)}]", columns, Sequence)
        for k, column in enumerate(columns):
            place = f"schedules[{shown(name)}][{k}]"
            expect(place, column, kind)
            if column.job != name:
                raise InputError(f"{place}: is a schedule of job {shown(column.job)}")
    return {(job.name, k): column for job in instance.jobs for k, column in enumerate(schedules.get(job.name, ()))}


def users(usages: Iterable[tuple[Key, Mapping[Place, N]]]) -> dict[Place, list[tuple[Key, N]]]:
    """Return which schedules use how much, by (machine, what it has, slot); slots ascending.

    Parameters
    ----------
    usages : iterable of (key, mapping)
        Of each schedule: how much it uses, by (machine, what it has, slot).
    """
    found: dict[Place, list[tuple[Key, N]]] = {}
    for key, usage in usages:
        for place, amount in usage.items():
            found.setdefault(place, []).append((key, amount))
    return dict(sorted(found.items(), key=lambda item: (item[0][2], item[0][0], item[0][1])))


def sets(instance: Any, columns: Iterable[Key], places: Iterable[Place], kinds: str, pairs: str) -> tuple[Any, ...]:
    """Return the sets of jobs, of schedules, of the places that these use, and of the machines and kinds among them.

    Parameters
    ----------
    instance : Instance
    columns : iterable of (str, int)
        The schedules.
    places : iterable of (str, str, int)
        Those that they use.
    kinds : str
        What a machine has, in the plural.
    pairs : str
        The doc of the last set.
    """
    used = list(places)
    return (
        pyo.Set(initialize=[job.name for job in instance.jobs], doc="jobs"),
        pyo.Set(initialize=list(columns), dimen=2, doc="jobs and their schedules"),
        pyo.Set(initialize=used, dimen=3, doc=f"machines, {kinds} and slots that a schedule uses"),
        pyo.Set(initialize=list(dict.fromkeys((h, r) for h, r, _ in used)), dimen=2, doc=pairs),
    )


def derived(schedules: object) -> str:
    """Return why a change of capacities is refused: the schedules come from them, where none are given."""
    return "the schedules were listed for it" if schedules is None else ""


def at_most_one(schedules: Iterable[Key]) -> Callable[[Any, str], Any]:
    """Return the rule that a job runs by at most one of its schedules, by `chosen`; without schedules it has no row."""
    own: dict[str, list[Key]] = {}
    for key in schedules:
        own.setdefault(key[0], []).append(key)

    def rule(m: Any, job: str) -> Any:
        return sum(m.chosen[key] for key in own[job]) <= 1 if job in own else pyo.Constraint.Feasible

    return rule


def chosen(m: Any) -> dict[str, dict[int, Any]]:
    """Return what each job has by slot, of the schedules that are chosen in a solved model."""
    return {key[0]: dict(m.columns[key].slots) for key, x in m.chosen.items() if round(x.value)}
