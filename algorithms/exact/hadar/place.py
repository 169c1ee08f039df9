"""From options by job and slot to devices on machines."""

from __future__ import annotations

from dlsched.algorithms.exact.hadar.search import Plan
from dlsched.algorithms.exact.hadar.states import Options
from dlsched.models.hadar import Instance, Schedule, place


def schedule_of(instance: Instance, jobs: tuple[Options, ...], plan: Plan) -> Schedule:
    """Return the schedule of a plan.

    Raises
    ------
    ValueError
        If a slot does not have the devices.
    """
    counts: dict[int, dict[str, dict[str, int]]] = {}
    for t in range(plan.levels.shape[1]):
        running = [j for j in range(len(jobs)) if plan.finish[j] >= t and plan.levels[j, t] >= 0]
        if running:
            usable = [jobs[j].types[int(plan.levels[j, t])] for j in running]
            amounts = _transport([jobs[j].gang for j in running], usable, tuple(instance.capacity.values()))
            counts[t + 1] = {
                jobs[j].name: {r: n for r, n in zip(instance.device_types, row, strict=True) if n}
                for j, row in zip(running, amounts, strict=True)
            }
    return place(instance, counts)


def _transport(gangs: list[int], usable: list[int], capacity: tuple[int, ...]) -> list[list[int]]:
    """Give every gang its devices by augmenting paths; `usable` are bit masks of types."""
    amounts = [[0] * len(capacity) for _ in gangs]
    free = list(capacity)
    for i, gang in enumerate(gangs):
        while gang:
            given = _augment(i, gang, amounts, usable, free, set())
            if not given:
                raise ValueError(f"{sum(gangs)} devices are needed in a slot and cannot be had at these speeds")
            gang -= given
    return amounts


def _augment(i: int, most: int, amounts: list[list[int]], usable: list[int], free: list[int], seen: set[int]) -> int:
    """Give gang i up to so many more devices, moving others to other types where that is needed; return how many."""
    types = [r for r in range(len(free)) if usable[i] >> r & 1 and r not in seen]
    for r in types:
        if free[r]:
            given = min(most, free[r])
            free[r] -= given
            amounts[i][r] += given
            return given
    for r in types:
        if r in seen:
            continue
        seen.add(r)
        for k in range(len(amounts)):
            if k != i and amounts[k][r]:
                given = _augment(k, min(most, amounts[k][r]), amounts, usable, free, seen)
                if given:
                    amounts[k][r] -= given
                    amounts[i][r] += given
                    return given
    return 0
