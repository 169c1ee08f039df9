"""Fig. 6, three jobs on five nodes, as a replay: (a) under Hadar, without forking, (b) under HadarE, with five copies.

Here (a) is HadarE with a single copy of each job, so that epochs are whole in both.

What the paper says of it. (a): three nodes are busy in the first three rounds, J1 ends in the third and J2 in the
fourth, and J3 runs alone, on one node, in the last four of eight. (b): 15 copies; no node is left idle throughout the
first two rounds; in the third all train J3, and four of them are done before the slot ends; in the fourth the node that
was done first does the rest. It prints neither speeds nor epochs. Those here were chosen so that both runs are the
figure's. J1 and J2 have as many epochs as fill the slots of their last nodes; that a node is done early with J3, or not
in time, comes from epochs being whole, of which J3 has few long ones.
"""

from __future__ import annotations

import os
from fractions import Fraction
from types import MappingProxyType
from typing import Any

from dlsched.algorithms.hadar_e.plot import plot
from dlsched.algorithms.hadar_e.run import run
from dlsched.arguments import checked
from dlsched.models import picture
from dlsched.models.hadar import Instance, Job, Machine
from dlsched.models.utility import Linear

SPEEDS = (23, 22, 21, 19, 17)
"""Epochs of J1 a round of the five nodes. Chosen: not printed."""

EPOCHS = MappingProxyType({"J1": 66, "J2": 85, "J3": 36})
"""Of the jobs. Chosen: not printed."""

LENGTHS = MappingProxyType({"J1": 1, "J2": 1, "J3": 4})
"""Of an epoch of the jobs, in those of J1, on every node. Chosen: not printed."""

_SLOTS = 10
"""Rounds that there are; more than the eight that Hadar needs."""

_WORTH = 30
"""Of a job done at once; it falls by 1 a round. Arbitrary: the same for all jobs, and positive throughout."""


def figure_6() -> Instance:
    """Return the cluster and the jobs; a slot is a second, so that rates are epochs a round.

    Examples
    --------
    >>> from dlsched.algorithms import hadar_e
    >>> instance = hadar_e.figure_6()
    >>> len(instance.machines), [job.name for job in instance.jobs]
    (5, ['J1', 'J2', 'J3'])
    """
    nodes = tuple(f"node{h}" for h in range(1, len(SPEEDS) + 1))
    utility = Linear(intercept=Fraction(_WORTH), slope=Fraction(1))
    return Instance(
        slots=_SLOTS,
        device_types=nodes,
        machines=tuple(Machine(name=node, devices={node: 1}) for node in nodes),
        jobs=tuple(
            Job(
                name=name,
                arrival=1,
                gang=1,
                iterations=Fraction(epochs),
                rate={node: Fraction(speed, LENGTHS[name]) for node, speed in zip(nodes, SPEEDS, strict=True)},
                utility=utility,
            )
            for name, epochs in EPOCHS.items()
        ),
        origin={"speeds": "chosen so that Fig. 6 comes out; the paper prints none"},
    )


def plot_figure_6() -> Any:
    """Draw both replays side by side.

    Returns
    -------
    array of matplotlib.axes.Axes
        Of (a) and (b).

    Raises
    ------
    MissingExtra
        If matplotlib is not installed.

    Examples
    --------
    >>> from dlsched.algorithms import hadar_e
    >>> axes = hadar_e.plot_figure_6()
    >>> axes[0].figure.savefig("figure-6.png")
    """
    instance = figure_6()
    axes = picture.axes(14, 3, columns=2)
    for ax, copies, name in zip(axes, (1, len(SPEEDS)), ("(a) Hadar", "(b) HadarE"), strict=True):
        plot(instance, run(instance, copies=copies).schedule, ax)
        ax.set_title(f"{name}: {ax.get_title()}")
    return axes


@checked
def save_figure_6(path: str | os.PathLike[str]) -> None:
    """Draw both replays into a file; the name's ending chooses the format (png, svg, pdf).

    Raises
    ------
    InputError
        If the format is unknown or the file cannot be written.
    MissingExtra
        If matplotlib is not installed.

    Examples
    --------
    >>> from dlsched.algorithms import hadar_e
    >>> hadar_e.save_figure_6("figure-6.svg")
    """
    picture.save(plot_figure_6()[0].figure, path)
