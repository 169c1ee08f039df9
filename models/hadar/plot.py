"""A picture of a schedule: devices against slots, one colour a job (matplotlib, extra ``plot``)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from dlsched.arguments import checked
from dlsched.models import picture
from dlsched.models.hadar.instance import Instance
from dlsched.models.hadar.schedule import Schedule, check, completions

Bar = tuple[str, int, int, int]
"""Job, slot, first device row, number of rows."""


@checked
def plot(instance: Instance, schedule: Schedule, ax: Any = None) -> Any:
    """Draw which job uses which device in which slot.

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
    ValueError
        If the schedule breaks a rule: there would be no device to draw in.
    MissingExtra
        If matplotlib is not installed.
    """
    picture.refuse_broken(check(instance, schedule))
    ax = picture.drawn_in(ax, max(6.0, 0.4 * instance.slots), max(3.0, 0.2 * instance.devices))
    colours = picture.colours(job.name for job in instance.jobs)
    finished = completions(instance, schedule)
    drawn = set()
    for job, slot, row, rows in bars(instance, schedule):
        label = None if job in drawn else f"{job} (done in slot {finished[job]})"
        drawn.add(job)
        ax.broken_barh([(slot - 0.5, 1)], (row, rows), facecolors=colours[job], edgecolor="white", label=label)
    rows_of = list(_rows(instance))
    ax.set_yticks([row + 0.5 for row in range(len(rows_of))], [f"{h}:{r}" for h, r in rows_of], fontsize=7)
    ax.xaxis.get_major_locator().set_params(integer=True)
    ax.set(xlabel="slot", xlim=(0.5, instance.slots + 0.5), ylim=(len(rows_of), 0), title="devices in use")
    if drawn:
        picture.legend(ax)
    return ax


save_plot = picture.saving(plot)


def _rows(instance: Instance) -> Iterator[tuple[str, str]]:
    """Yield (machine, type), once a device."""
    for machine in instance.machines:
        for r in instance.device_types:
            yield from [(machine.name, r)] * machine.count(r)


def bars(instance: Instance, schedule: Schedule) -> Iterator[Bar]:
    """Yield the rectangles of the picture: who uses which rows in which slot.

    Parameters
    ----------
    instance : Instance
    schedule : Schedule
    """
    first: dict[tuple[str, str], int] = {}
    for row, place in enumerate(_rows(instance)):
        first.setdefault(place, row)
    used: dict[tuple[int, str, str], int] = {}
    for name, slot, allocation in schedule.items():
        for machine, devices in allocation.items():
            for r, count in devices.items():
                offset = used.get((slot, machine, r), 0)
                used[slot, machine, r] = offset + count
                yield name, slot, first[machine, r] + offset, count
