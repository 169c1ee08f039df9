"""A picture of HadarE's rounds: nodes against time, one colour a job (matplotlib, extra ``plot``)."""

from __future__ import annotations

from typing import Any

from dlsched.algorithms.hadar_e.schedule import ForkedSchedule, check, round_slots, utilisation
from dlsched.arguments import checked
from dlsched.models import picture
from dlsched.models.hadar import Instance


@checked
def plot(instance: Instance, schedule: ForkedSchedule, ax: Any = None) -> Any:
    """Draw when each node trains which job, and the steps that it does; what is white in a round is idle.

    Parameters
    ----------
    instance : Instance
    schedule : ForkedSchedule
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
    >>> from dlsched.algorithms import hadar_e
    >>> instance = hadar_e.figure_6()
    >>> ax = hadar_e.plot(instance, hadar_e.run(instance).schedule)
    >>> ax.get_title()
    "4 rounds, 74 % of the nodes' time in use"
    """
    picture.refuse_broken(check(instance, schedule))
    ran = round_slots(instance, schedule)
    ax = picture.drawn_in(ax, max(6.0, len(ran)), max(2.5, 0.4 * len(instance.machines)))
    nodes = [machine.name for machine in instance.machines]
    styles = picture.styles(job.name for job in instance.jobs)
    width = float(instance.slot_seconds)
    before: dict[tuple[int, str], str] = {}
    drawn = set()
    for slot, name, copies in sorted((slot, name, copies) for name, slot, copies in schedule.items()):
        for copy in copies:
            start = (slot - 1) * width + float(schedule.overheads.before(before.get((slot - 1, copy.node)) != name))
            before[slot, copy.node] = name
            row = nodes.index(copy.node)
            label = None if name in drawn else picture.short(name)
            drawn.add(name)
            busy = float(copy.seconds)
            ax.broken_barh([(start, busy)], (row + 0.1, 0.8), label=label, **styles[name].area)
            ax.text(start + busy / 2, row + 0.5, f"{float(copy.steps):g}", ha="center", va="center", fontsize=7)
    last = max(ran, default=1)
    for slot in range(last + 1):
        ax.axvline(slot * width, color="grey", linewidth=0.5)
    ax.set_yticks([row + 0.5 for row in range(len(nodes))], [picture.short(node) for node in nodes], fontsize=7)
    ax.set_xticks([(slot - 0.5) * width for slot in ran], [f"R{slot}" for slot in ran])
    title = f"{len(ran)} rounds, {100 * float(utilisation(instance, schedule)):.0f} % of the nodes' time in use"
    ax.set(xlim=(0, last * width), ylim=(len(nodes), 0), title=title)
    picture.legend(ax)
    return ax


save_plot = picture.saving(plot)
