"""Pictures of simulations: which job has which device when, devices in use, and the share of the jobs that is done."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Any

from dlsched.algorithms.simulator.metrics import in_use
from dlsched.algorithms.simulator.simulation import Simulation, exact_utility
from dlsched.arguments import checked
from dlsched.models import picture
from dlsched.models.hadar.plot import bars, device_height, draw_devices

_HOUR = 3600
"""Seconds."""


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

    Examples
    --------
    >>> from dlsched.algorithms.baselines.hadar.srtf import Srtf
    >>> from dlsched.algorithms.simulator import gantt, simulate
    >>> from dlsched.models import hadar
    >>> ax = gantt(simulate(hadar.random(0), Srtf(), round_seconds=1))
    >>> ax.get_title()
    'utility 34, 2 of 3 jobs done'
    >>> ax.figure.savefig("srtf.png")
    """
    instance = simulation.instance
    ax = picture.drawn_in(ax, 9.0, device_height(instance))
    last = last_end([simulation]) if until is None else until
    unit, seconds = _unit(last)
    held = ((segment.job, segment.start, segment.end, segment.allocation) for segment in simulation.segments)
    draw_devices(
        ax, instance, bars(instance, held), {job.name: picture.short(job.name) for job in instance.jobs}, seconds
    )
    done = f"{len(simulation.completions)} of {len(instance.jobs)} jobs done"
    title = f"utility {float(exact_utility(simulation)):.6g}, {done}"
    ax.set(xlabel=f"time [{unit}]", xlim=(0, float(last) / seconds or 1), title=title)
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

    Examples
    --------
    >>> from dlsched.algorithms.baselines.hadar import fifo, srtf
    >>> from dlsched.algorithms.simulator import over_time, simulate
    >>> from dlsched.models import hadar
    >>> instance = hadar.random(0)
    >>> policies = {"FIFO": fifo.Fifo(), "SRTF": srtf.Srtf()}
    >>> axes = over_time({name: simulate(instance, policy, round_seconds=1) for name, policy in policies.items()})
    >>> [ax.get_ylabel() for ax in axes]
    ['devices in use', 'share of the jobs done']
    """
    axes, (unit, seconds) = picture.axes(9.0, 6.0, rows=2), _unit(last_end(simulations.values()))
    styles = picture.styles(simulations)
    for name, simulation in simulations.items():
        used, line = in_use(simulation), styles[name].line
        axes[0].step([float(t) / seconds for t, _ in used], [n for _, n in used], where="post", label=name, **line)
        ends, jobs = sorted(simulation.completions.values()), max(1, len(simulation.instance.jobs))
        shares = [k / jobs for k in range(len(ends) + 1)]
        axes[1].step([0.0, *(float(t) / seconds for t in ends)], shares, where="post", label=name, **line)
    axes[0].set(ylabel="devices in use", ylim=(0, None))
    axes[1].set(xlabel=f"time [{unit}]", ylabel="share of the jobs done", ylim=(0, 1.02))
    picture.legend(axes[0])
    return axes


def last_end(simulations: Iterable[Simulation]) -> Fraction:
    """Return when nothing runs any more in any of some simulations, in seconds."""
    return max((segment.end for simulation in simulations for segment in simulation.segments), default=Fraction(0))


def _unit(last: Fraction) -> tuple[str, int]:
    """Return what time is shown in, and how many seconds that is: hours, where there are two of them."""
    return ("hours", _HOUR) if last >= 2 * _HOUR else ("seconds", 1)
