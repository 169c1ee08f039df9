"""Pictures of simulations: which job has which device when, devices in use, and the share of the jobs that is done."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction
from itertools import groupby
from typing import Any

from dlsched.algorithms.simulator.metrics import in_use
from dlsched.algorithms.simulator.simulation import Simulation
from dlsched.arguments import checked
from dlsched.models import picture

_HOUR = 3600
"""Seconds."""

Bar = tuple[str, Fraction, Fraction, int, int]
"""Job, start and end in seconds, first device row, number of rows."""


@checked
def gantt(simulation: Simulation, ax: Any = None, until: Fraction | None = None) -> Any:
    """Draw which job has which device when: a row for each device, a colour for each job.

    Parameters
    ----------
    simulation : Simulation
    ax : matplotlib.axes.Axes, optional
        Drawn into; a new figure where it is left out.
    until : Fraction, optional
        Seconds up to which there are axes; as long as something runs where it is left out.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    MissingExtra
        If matplotlib is not installed.
    """
    instance = simulation.instance
    ax = picture.drawn_in(ax, 9.0, max(3.0, 0.2 * instance.devices))
    last = last_end([simulation]) if until is None else until
    unit, seconds = _unit(last)
    colours, drawn = picture.colours(job.name for job in instance.jobs), set[str]()
    for job, start, end, row, rows in bars(simulation):
        label = None if job in drawn else job
        drawn.add(job)
        spans = [(float(start) / seconds, float(end - start) / seconds)]
        ax.broken_barh(spans, (row, rows), facecolors=colours[job], edgecolor="white", linewidth=0.3, label=label)
    rows_of = [f"{machine}:{r}" for (machine, r), count in _cells(simulation) for _ in range(count)]
    ax.set_yticks([row + 0.5 for row in range(len(rows_of))], rows_of, fontsize=7)
    ax.set(xlabel=unit, xlim=(0, float(last) / seconds or 1), ylim=(len(rows_of), 0), title=simulation.policy)
    if drawn:
        picture.legend(ax)
    return ax


@checked
def over_time(simulations: Mapping[str, Simulation]) -> Any:
    """Draw, for several simulations of an instance, the devices in use and the share of the jobs done, over time.

    Parameters
    ----------
    simulations : mapping of str to Simulation
        By what the legend calls them.

    Returns
    -------
    array of matplotlib.axes.Axes
        Of a new figure.

    Raises
    ------
    MissingExtra
        If matplotlib is not installed.
    """
    axes, (unit, seconds) = picture.axes(9.0, 6.0, rows=2), _unit(last_end(simulations.values()))
    for name, simulation in simulations.items():
        used = in_use(simulation)
        axes[0].step([float(t) / seconds for t, _ in used], [n for _, n in used], where="post", label=name, lw=1)
        ends, jobs = sorted(simulation.completions.values()), max(1, len(simulation.instance.jobs))
        shares = [k / jobs for k in range(len(ends) + 1)]
        axes[1].step([0.0, *(float(t) / seconds for t in ends)], shares, where="post", label=name, lw=1)
    axes[0].set(ylabel="devices in use", ylim=(0, None))
    axes[1].set(xlabel=unit, ylabel="share of the jobs done", ylim=(0, 1.02))
    picture.legend(axes[0])
    return axes


def bars(simulation: Simulation) -> Iterator[Bar]:
    """Yield the rectangles of `gantt`: rows are devices, machines and types as listed; a device keeps its row."""
    first, total = dict[tuple[str, str], int](), 0
    for cell, count in _cells(simulation):
        first[cell], total = total, total + count
    free = {cell: list(range(count)) for cell, count in _cells(simulation)}
    running: list[tuple[Fraction, tuple[str, str], list[int]]] = []
    listed = {job.name: i for i, job in enumerate(simulation.instance.jobs)}
    for segment in sorted(simulation.segments, key=lambda segment: (segment.start, listed[segment.job])):
        for end, cell, rows in running:
            if end <= segment.start:
                free[cell] = sorted(free[cell] + rows)
        running = [held for held in running if held[0] > segment.start]
        for machine, devices in segment.allocation.items():
            for r, count in devices.items():
                cell = machine, r
                rows, free[cell] = free[cell][:count], free[cell][count:]
                running.append((segment.end, cell, rows))
                for _, run in groupby(enumerate(rows), key=lambda item: item[1] - item[0]):
                    together = [row for _, row in run]
                    yield segment.job, segment.start, segment.end, first[cell] + together[0], len(together)


def _cells(simulation: Simulation) -> list[tuple[tuple[str, str], int]]:
    instance = simulation.instance
    return [((m.name, r), m.count(r)) for m in instance.machines for r in instance.device_types if m.count(r)]


def last_end(simulations: Iterable[Simulation]) -> Fraction:
    """Return when nothing runs any more in any of some simulations, in seconds."""
    return max((segment.end for simulation in simulations for segment in simulation.segments), default=Fraction(0))


def _unit(last: Fraction) -> tuple[str, int]:
    """Return what time is shown in, and how many seconds that is: hours, where there are two of them."""
    return ("hours", _HOUR) if last >= 2 * _HOUR else ("seconds", 1)
