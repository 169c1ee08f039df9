"""Hadar, P1 and P2, by exhaustive search over (slot, remaining work), and an independent checker of schedules.

Every function takes the raw JSON dict of an instance. The search tries, slot by slot, every gang of every job on every
machine and device type. Nothing is aggregated, and nothing is left out by dominance, except that a job stops once its
work is done (its utility does not increase with time) and that devices without any progress are not held. The size is
exponential: for a few jobs, machines and slots only. `constants` and `primal_dual` are those of `hadar_prices`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import cache
from typing import Any

from .hadar_instance import Counts, Problem, problem, rational, worth
from .hadar_prices import Constants, PrimalDual, constants, primal_dual, primal_dual_runs

__all__ = [
    "Constants",
    "PrimalDual",
    "check",
    "completions",
    "constants",
    "makespan",
    "optimum",
    "primal_dual",
    "primal_dual_runs",
    "value",
]

Left = tuple[int, ...]
Outcomes = dict[tuple[int, ...], tuple[Counts | None, ...]]
LOST = -1


def optimum(data: dict[str, Any], every_job: bool = False) -> tuple[Fraction | None, dict[str, Any] | None]:
    """Return the greatest total utility and a schedule that attains it.

    Parameters
    ----------
    data
        The instance.
    every_job
        If false, P1 with admission (equal to P2): a job that does not finish counts 0 and holds nothing. If true, P1
        as printed: every job must finish, (1a).

    Returns
    -------
    value, schedule
        Both None if ``every_job`` cannot be met.
    """
    p = problem(data)
    outcomes = _joint(p)

    @cache
    def best(slot: int, left: Left) -> tuple[Fraction, Left, dict[int, Counts]] | None:
        if slot > p.slots:
            return None if every_job and any(left) else (Fraction(0), left, {})
        left = _drop(p, slot, left)
        if every_job and LOST in left:
            return None
        found = None
        for gain, after, chosen in _steps(p, slot, left, outcomes):
            tail = best(slot + 1, after)
            if tail is not None and (found is None or gain + tail[0] > found[0]):
                found = (gain + tail[0], after, chosen)
        return found

    left = tuple(job.need for job in p.jobs)
    first = best(1, left)
    if first is None:
        return None, None
    taken: dict[int, dict[int, Counts]] = {i: {} for i in range(len(p.jobs))}
    for slot in range(1, p.slots + 1):
        step = best(slot, left)
        assert step is not None
        _, left, chosen = step
        for i, counts in chosen.items():
            taken[i][slot] = counts
    return first[0], p.schedule({p.jobs[i].name: slots for i, slots in taken.items() if left[i] == 0})


def makespan(data: dict[str, Any], cap: int | None = None) -> int | None:
    """Return the least number of slots in which every job can be finished, or None if ``cap`` slots are too few.

    ``cap`` replaces the horizon of the instance, which is its default.
    """
    p = problem(data)
    outcomes = _joint(p)
    reached: set[Left] = {tuple(job.need for job in p.jobs)}
    for slot in range(1, (p.slots if cap is None else cap) + 1):
        if any(not any(left) for left in reached):
            return slot - 1
        reached = {after for left in reached for _, after, _ in _steps(p, slot, left, outcomes)}
    return (p.slots if cap is None else cap) if any(not any(left) for left in reached) else None


def _joint(p: Problem) -> Callable[[tuple[int, ...]], Outcomes]:
    """Return a memoised map: jobs running in a slot -> each vector of progress they can make, with one allocation."""

    @cache
    def outcomes(active: tuple[int, ...]) -> Outcomes:
        front: dict[tuple[Counts, tuple[int, ...]], tuple[Counts | None, ...]] = {(p.capacity, ()): ()}
        for i in active:
            grown: dict[tuple[Counts, tuple[int, ...]], tuple[Counts | None, ...]] = {}
            for (room, done), chosen in front.items():
                grown.setdefault((room, (*done, 0)), (*chosen, None))
                for counts in p.gangs(p.jobs[i], room):
                    rest = tuple(c - n for c, n in zip(room, counts, strict=True))
                    grown.setdefault((rest, (*done, p.jobs[i].progress(counts))), (*chosen, counts))
            front = grown
        return {done: chosen for (_, done), chosen in front.items()}

    return outcomes


def _drop(p: Problem, slot: int, left: Left) -> Left:
    """Mark as lost the jobs that cannot finish any more, even alone on their best devices."""

    def reachable(i: int) -> bool:
        job = p.jobs[i]
        return left[i] <= (p.slots - max(slot, job.arrival) + 1) * max(job.speed, default=0)

    return tuple(LOST if work and not reachable(i) else work for i, work in enumerate(left))


def _steps(
    p: Problem, slot: int, left: Left, outcomes: Callable[[tuple[int, ...]], Outcomes]
) -> Iterator[tuple[Fraction, Left, dict[int, Counts]]]:
    """Yield (utility of the jobs that complete in the slot, work left after it, allocation by job)."""
    active = tuple(i for i, job in enumerate(p.jobs) if left[i] > 0 and job.arrival <= slot)
    for progress, allocation in outcomes(active).items():
        after = list(left)
        gain = Fraction(0)
        for i, done in zip(active, progress, strict=True):
            after[i] = max(0, left[i] - done)
            if not after[i]:
                gain += p.jobs[i].at(slot)
        yield gain, tuple(after), {i: c for i, c in zip(active, allocation, strict=True) if c}


def check(data: dict[str, Any], schedule: dict[str, Any]) -> list[str]:
    """Return what is wrong with a schedule, one line each; an empty list means that it is feasible with admission."""
    faults = [] if schedule.get("problem") == "hadar" else [f"problem: {schedule.get('problem')!r} is not hadar"]
    jobs = {job["name"]: job for job in data["jobs"]}
    devices = {machine["name"]: machine["devices"] for machine in data["machines"]}
    used: dict[tuple[int, str, str], int] = {}
    for name, entry in schedule["jobs"].items():
        if name not in jobs:
            faults.append(f"{name}: unknown job")
            continue
        for key, allocation in entry["slots"].items():
            slot, where = _slot(key), f"{name}, slot {key}"
            if slot is None or not 1 <= slot <= data["slots"]:
                faults.append(f"{where}: not a slot of 1..{data['slots']}")
                continue
            counts, wrong = _counts(data, devices, where, allocation)
            faults += wrong
            total = sum(counts.values())
            if total not in (0, jobs[name]["gang"]):
                faults.append(f"{where}: {total} devices are not the gang of {jobs[name]['gang']}")
            if total and slot < jobs[name]["arrival"]:
                faults.append(f"{where}: before the arrival in slot {jobs[name]['arrival']}")
            for (machine, kind), count in counts.items():
                used[slot, machine, kind] = used.get((slot, machine, kind), 0) + count
        run = _running(data, entry["slots"])
        if run and _work(data, jobs[name], run) < rational(jobs[name]["iterations"]):
            faults.append(f"{name}: holds devices but does not finish its work")
    for (slot, machine, kind), count in sorted(used.items()):
        if count > devices[machine].get(kind, 0):
            faults.append(f"slot {slot}: {count} {kind} used of {devices[machine].get(kind, 0)} on {machine}")
    return faults


def completions(data: dict[str, Any], schedule: dict[str, Any]) -> dict[str, int]:
    """Return the completion slot, (1c), of each job that finishes its work: the last slot in which it holds devices."""
    slots = {}
    for job in data["jobs"]:
        run = _running(data, schedule["jobs"].get(job["name"], {"slots": {}})["slots"])
        if run and _work(data, job, run) >= rational(job["iterations"]):
            slots[job["name"]] = max(run)
    return slots


def value(data: dict[str, Any], schedule: dict[str, Any]) -> Fraction:
    """Return the total utility, (1), of the jobs that finish."""
    done = completions(data, schedule)
    gains = (worth(job["utility"], done[job["name"]] - job["arrival"]) for job in data["jobs"] if job["name"] in done)
    return sum(gains, Fraction(0))


def _slot(key: object) -> int | None:
    try:
        return int(str(key))
    except ValueError:
        return None


def _counts(
    data: dict[str, Any], devices: dict[str, Any], where: str, allocation: dict[str, Any]
) -> tuple[dict[tuple[str, str], int], list[str]]:
    """Return the well-formed counts by (machine, type), and the faults of the others."""
    counts, faults = {}, []
    for machine, by_type in allocation.items():
        for kind, count in by_type.items():
            if machine not in devices:
                faults.append(f"{where}: unknown machine {machine}")
            elif kind not in data["device_types"]:
                faults.append(f"{where}: unknown device type {kind}")
            elif isinstance(count, bool) or not isinstance(count, int) or count < 0:
                faults.append(f"{where}: {count!r} {kind} on {machine} is not a number of devices")
            else:
                counts[machine, kind] = count
    return counts, faults


def _running(data: dict[str, Any], slots: dict[Any, Any]) -> dict[int, dict[str, int]]:
    """Return {slot: {type: devices held}} for the slots in which something is held."""
    run: dict[int, dict[str, int]] = {}
    for key, allocation in slots.items():
        slot = _slot(key)
        for kind, count in ((k, n) for by_type in allocation.values() for k, n in by_type.items()):
            if slot is not None and isinstance(count, int) and count > 0:
                held = run.setdefault(slot, {})
                held[kind] = held.get(kind, 0) + count
    return run


def _work(data: dict[str, Any], job: dict[str, Any], run: dict[int, dict[str, int]]) -> Fraction:
    """Return the iterations done, (1a): rate of the slowest used type x devices x slot length, slot by slot."""
    seconds = rational(data["slot_seconds"])
    return sum(
        (min(rational(job["rate"].get(k, 0)) for k in held) * sum(held.values()) * seconds for held in run.values()),
        Fraction(0),
    )
