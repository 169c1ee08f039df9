"""A picture of a schedule: what each admitted job reserves of each resource, and uses of it (extra ``plot``)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from dlsched.arguments import checked
from dlsched.models import picture
from dlsched.models.smd.instance import Instance
from dlsched.models.smd.schedule import Schedule, check, completion_times, exact_utility


@dataclass(frozen=True, slots=True)
class Bar:
    """A job's part of a resource, in shares of the capacity.

    Attributes
    ----------
    job, resource : str
    start : float
        Where the reservation begins: what the jobs before it reserve.
    reserved, used : float
        v_i^r / C^r and (O_i^r w + G_i^r p) / C^r.
    """

    job: str
    resource: str
    start: float
    reserved: float
    used: float


def bars(instance: Instance, schedule: Schedule) -> Iterator[Bar]:
    """Yield the bars of the picture, by resource and then in the order of the schedule."""
    for r in instance.resources:
        capacity, start = instance.capacity_of(r), 0.0
        for name, entry in schedule.jobs.items():
            job = instance.job(name)
            if job.limit_of(r):
                reserved = float(job.limit_of(r) / capacity)
                used = float(job.uses(entry.workers, entry.servers).get(r, 0) / capacity)
                yield Bar(name, r, start, reserved, used)
                start += reserved


@checked
def plot(instance: Instance, schedule: Schedule, ax: Any = None) -> Any:
    """Draw how much of the cluster the admitted jobs reserve (pale) and use (dark).

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
        If the schedule breaks a rule.
    MissingExtra
        If matplotlib is not installed.

    Examples
    --------
    >>> from dlsched.models import build, read, smd, solve
    >>> instance = smd.random(0)
    >>> model = build("smd/milp", instance)
    >>> _ = solve(model)
    >>> ax = smd.plot(instance, read(model, instance))
    >>> [text.get_text() for text in ax.get_yticklabels()]
    ['resource1', 'resource2']
    """
    picture.refuse_broken(check(instance, schedule))
    ax = picture.drawn_in(ax, 8.0, max(3.0, 1.0 + 0.6 * len(instance.resources)))
    styles, times = picture.styles(job.name for job in instance.jobs), completion_times(instance, schedule)
    drawn = set()
    for bar in bars(instance, schedule):
        entry = schedule.jobs[bar.job]
        label = None if bar.job in drawn else _label(bar.job, entry.workers, entry.servers, float(times[bar.job]))
        drawn.add(bar.job)
        row = instance.resources.index(bar.resource)
        ax.barh(row, bar.reserved, left=bar.start, color=styles[bar.job].colour, alpha=0.35, edgecolor="white")
        ax.barh(row, bar.used, left=bar.start, height=0.5, label=label, **styles[bar.job].area)
    picture.rows(ax, range(len(instance.resources)), instance.resources)
    head = picture.headline(exact_utility(instance, schedule), len(schedule.jobs), len(instance.jobs))
    ax.set(xlabel="share of the capacity: reserved (pale) and used (dark)", xlim=(0, 1), title=head)
    ax.set_ylim(len(instance.resources) - 0.5, -0.5)
    picture.legend(ax)
    return ax


def _label(job: str, workers: int, servers: int, time: float) -> str:
    return f"{picture.short(job)}: {workers} workers, {servers} servers, done at {time:.6g}"


save_plot = picture.saving(plot)
