"""A picture of a schedule: each job's part of the busiest resource, slot by slot (extra ``plot``)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from dlsched.arguments import checked
from dlsched.models import picture
from dlsched.models.dmlrs.instance import Instance
from dlsched.models.dmlrs.schedule import Schedule, check, completions


@dataclass(frozen=True, slots=True)
class Bar:
    """What a job uses of the cluster in a slot.

    Attributes
    ----------
    job : str
    slot : int
    start, share : float
        Of the cluster's capacity of the resource that is used most over all slots.
    together : bool
        All of the job's workers and servers are on one machine.
    """

    job: str
    slot: int
    start: float
    share: float
    together: bool


def busiest(instance: Instance, schedule: Schedule) -> str:
    """Return the resource of which the schedule uses the greatest share."""
    used: dict[str, Fraction] = defaultdict(Fraction)
    for name, _, placement in schedule.items():
        for workers, servers in placement.values():
            for r, amount in instance.job(name).uses(workers, servers).items():
                used[r] += amount / instance.capacity[r]
    return max(used, key=lambda r: used[r], default=instance.resources[0] if instance.resources else "")


def bars(instance: Instance, schedule: Schedule) -> Iterator[Bar]:
    """Yield the bars of the picture, stacked in the order of the schedule."""
    resource = busiest(instance, schedule)
    top: dict[int, float] = defaultdict(float)
    for name, slot, placement in schedule.items():
        amounts = (instance.job(name).uses(w, s).get(resource, Fraction(0)) for w, s in placement.values())
        share = float(sum(amounts, Fraction(0)) / (instance.capacity.get(resource) or 1))
        yield Bar(name, slot, top[slot], share, len(placement) == 1)
        top[slot] += share


@checked
def plot(instance: Instance, schedule: Schedule, ax: Any = None) -> Any:
    """Draw each job's part of the busiest resource; hatched where its workers and servers share one machine.

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
        If the schedule breaks a rule.
    MissingExtra
        If matplotlib is not installed.
    """
    picture.refuse_broken(check(instance, schedule))
    ax = picture.drawn_in(ax, max(6.0, 0.4 * instance.slots), max(4.0, 0.2 * len(schedule.jobs)))
    colours, finished = picture.colours(job.name for job in instance.jobs), completions(instance, schedule)
    drawn = set()
    for bar in bars(instance, schedule):
        label = None if bar.job in drawn else f"{bar.job} (done in slot {finished[bar.job]})"
        drawn.add(bar.job)
        hatch = "//" if bar.together else None
        ax.bar(
            bar.slot,
            bar.share,
            bottom=bar.start,
            width=1,
            color=colours[bar.job],
            edgecolor="white",
            hatch=hatch,
            label=label,
        )
    ax.xaxis.get_major_locator().set_params(integer=True)
    title = f"share of the cluster's {busiest(instance, schedule)}; hatched: on one machine"
    ax.set(xlabel="slot", xlim=(0.5, instance.slots + 0.5), ylim=(0, 1), title=title)
    if drawn:
        picture.legend(ax)
    return ax


save_plot = picture.saving(plot)
