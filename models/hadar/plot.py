"""A picture of a schedule: devices against time, an area a job (matplotlib, extra ``plot``)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction
from itertools import groupby
from typing import Any

from dlsched.arguments import checked
from dlsched.models import picture
from dlsched.models.hadar.instance import Instance
from dlsched.models.hadar.schedule import Allocation, Schedule, check, completions, exact_utility

Bar = tuple[str, Fraction, Fraction, int, int]
"""Job, start and end, first device row, number of rows."""


Span = tuple[str, Fraction, Fraction, Allocation]
"""Job, start and end, and the devices that it has between them."""


@checked
def plot(instance: Instance, schedule: Schedule, ax: Any = None) -> Any:
    """Draw which job uses which device in which slot, up to the last that is used.

    Parameters
    ----------
    instance : Instance
    schedule : Schedule
        One that passes `check`.
    ax : matplotlib.axes.Axes, optional
        Drawn into; a new figure where it is left out.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    InputError
        If the schedule breaks a rule: there would be no device to draw in.
    MissingExtra
        If matplotlib is not installed.

    Examples
    --------
    >>> from dlsched.models import build, hadar, read, solve
    >>> instance = hadar.random(0)
    >>> model = build("hadar/hall", instance)
    >>> _ = solve(model)
    >>> figure = hadar.plot(instance, read(model, instance)).figure
    >>> figure.savefig("schedule.svg")
    """
    picture.refuse_broken(check(instance, schedule))
    finished, last = completions(instance, schedule), picture.last_slot(instance, schedule)
    ax = picture.drawn_in(ax, max(6.0, min(20.0, 0.4 * last)), device_height(instance))
    labels = {name: f"{picture.short(name)} (done in slot {slot})" for name, slot in finished.items()}
    draw_devices(ax, instance, bars(instance, spans(schedule)), labels)
    picture.slots(ax, 1, last, instance.slot_seconds)
    ax.set_title(picture.headline(exact_utility(instance, schedule), len(schedule.jobs), len(instance.jobs)))
    return ax


save_plot = picture.saving(plot)


def use(instance: Instance, schedule: Schedule) -> dict[str, list[float]]:
    """Return the share of the devices of each type that is in use, by slot, up to the last that is used."""
    counts = {r: sum(machine.count(r) for machine in instance.machines) for r in instance.device_types}
    used = {r: [0] * picture.last_slot(instance, schedule) for r, count in counts.items() if count}
    for _, slot, allocation in schedule.items():
        for devices in allocation.values():
            for r, count in devices.items():
                used[r][slot - 1] += count
    return {r: [count / counts[r] for count in found] for r, found in used.items()}


def device_height(instance: Instance) -> float:
    """Return how high a picture with a row for each device is, in inches."""
    return max(3.0, min(20.0, 0.2 * instance.devices))


def spans(schedule: Schedule) -> list[Span]:
    """Return what a schedule gives, slot t from t - 1/2 to t + 1/2; successive ones with the same devices are one."""
    half, found = Fraction(1, 2), list[Span]()
    for name, slot, allocation in schedule.items():
        start = slot - half
        if found and (found[-1][0], *found[-1][2:]) == (name, start, allocation):
            start = found.pop()[1]
        found.append((name, start, slot + half, allocation))
    return found


def bars(instance: Instance, given: Iterable[Span]) -> Iterator[Bar]:
    """Yield the rectangles of a picture: rows are devices, machines and types as listed; a device keeps its row.

    Parameters
    ----------
    instance : Instance
    given : iterable
        (job, start, end, allocation): who has what, never more than there is.
    """
    first, total = dict[tuple[str, str], int](), 0
    for cell, count in _cells(instance):
        first[cell], total = total, total + count
    free = {cell: list(range(count)) for cell, count in _cells(instance)}
    running: list[tuple[Fraction, tuple[str, str], list[int]]] = []
    listed = {job.name: i for i, job in enumerate(instance.jobs)}
    for job, start, end, allocation in sorted(given, key=lambda span: (span[1], listed[span[0]])):
        for before, cell, rows in running:
            if before <= start:
                free[cell] = sorted(free[cell] + rows)
        running = [held for held in running if held[0] > start]
        for machine, devices in allocation.items():
            for r, count in devices.items():
                cell = machine, r
                rows, free[cell] = free[cell][:count], free[cell][count:]
                running.append((end, cell, rows))
                for _, run in groupby(enumerate(rows), key=lambda item: item[1] - item[0]):
                    together = [row for _, row in run]
                    yield job, start, end, first[cell] + together[0], len(together)


def draw_devices(
    ax: Any, instance: Instance, rectangles: Iterable[Bar], labels: Mapping[str, str], unit: int = 1
) -> None:
    """Draw rectangles over named rows, with a legend in the order of the jobs.

    Parameters
    ----------
    ax : matplotlib.axes.Axes
    instance : Instance
    rectangles : iterable
        Of `bars`.
    labels : mapping of str to str
        What the legend says of the jobs that are drawn.
    unit : int
        What of the rectangles' time is 1 on the axis.
    """
    styles = picture.styles(job.name for job in instance.jobs)
    drawn: dict[str, list[Bar]] = {name: [] for name in styles}
    for bar in rectangles:
        drawn[bar[0]].append(bar)
    for name, own in drawn.items():
        for k, (_, start, end, row, rows) in enumerate(own):
            span = float(start) / unit, float(end - start) / unit
            ax.broken_barh([span], (row, rows), label=None if k else labels[name], **styles[name].area)
    tops, names, row = [], [], 0
    for (machine, r), count in _cells(instance):
        tops.append(row + count / 2)
        names.append(f"{machine}:{r}" + (f" ×{count}" if count > 1 else ""))
        row += count
        ax.axhline(row, color="#999999", linewidth=0.4, zorder=0)
    ax.set_ylim(max(1, row), 0)
    picture.rows(ax, tops, names)
    picture.legend(ax)


def _cells(instance: Instance) -> list[tuple[tuple[str, str], int]]:
    """Return (machine, type) with how many devices there are."""
    return [((m.name, r), m.count(r)) for m in instance.machines for r in instance.device_types if m.count(r)]
