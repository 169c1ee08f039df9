"""A picture of a schedule: each job's part of the busiest resource, slot by slot (extra ``plot``)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import astuple, dataclass
from fractions import Fraction
from itertools import groupby
from typing import Any

from dlsched.arguments import checked
from dlsched.models import picture
from dlsched.models.dmlrs.instance import Instance
from dlsched.models.dmlrs.schedule import Schedule, check, completions, exact_utility


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
    """Draw each job's part of the busiest resource; in a thick frame where its workers and servers share one machine.

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
    >>> from dlsched.models import build, dmlrs, read, solve
    >>> instance = dmlrs.random(0)
    >>> model = build("dmlrs/compact-milp", instance)
    >>> _ = solve(model)
    >>> ax = dmlrs.plot(instance, read(model, instance))
    >>> ax.get_xlabel()
    'slot'
    """
    picture.refuse_broken(check(instance, schedule))
    last, finished = picture.last_slot(instance, schedule), completions(instance, schedule)
    ax = picture.drawn_in(ax, max(6.0, min(20.0, 0.4 * last)), max(4.0, min(12.0, 0.2 * len(schedule.jobs))))
    styles, drawn = picture.styles(job.name for job in instance.jobs), defaultdict[str, list[Bar]](list)
    for bar in bars(instance, schedule):
        drawn[bar.job].append(bar)
    for name in (job.name for job in instance.jobs if job.name in drawn):
        area = styles[name].area
        ax.bar(1, 0, label=f"{picture.short(name)} (done in slot {finished[name]})", **area)
        for run in _runs(drawn[name]):
            where = {"bottom": run[0].start, "width": len(run)}
            frame = {"linewidth": 1.6} if run[0].together else {}
            ax.bar((run[0].slot + run[-1].slot) / 2, run[0].share, **where, **area | frame)
    picture.slots(ax, 1, last)
    head = picture.headline(exact_utility(instance, schedule), len(schedule.jobs), len(instance.jobs))
    ax.set(ylim=(0, 1), ylabel=f"share of the cluster's {picture.short(busiest(instance, schedule))}", title=head)
    if any(bar.together for own in drawn.values() for bar in own):
        ax.text(0, -0.12, "thick frame: on one machine", transform=ax.transAxes, fontsize=7, va="top")
    picture.legend(ax)
    return ax


def _runs(own: list[Bar]) -> Iterator[list[Bar]]:
    """Yield bars of a job that are side by side and alike."""
    for _, run in groupby(enumerate(own), key=lambda item: (item[1].slot - item[0], *astuple(item[1])[2:])):
        yield [bar for _, bar in run]


def use(instance: Instance, schedule: Schedule) -> dict[str, list[float]]:
    """Return the share of the cluster's capacity of each resource that is in use, by slot, up to the last used."""
    amounts = {r: [Fraction(0)] * picture.last_slot(instance, schedule) for r, c in instance.capacity.items() if c}
    for name, slot, placement in schedule.items():
        for workers, servers in placement.values():
            for r, amount in instance.job(name).uses(workers, servers).items():
                if amount:
                    amounts[r][slot - 1] += amount
    return {r: [float(amount / instance.capacity[r]) for amount in found] for r, found in amounts.items()}


save_plot = picture.saving(plot)
