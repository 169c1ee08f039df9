"""Pictures of a schedule: workers and servers of each job by slot, and the rings of one slot (extra ``plot``)."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from dlsched.arguments import checked
from dlsched.lazy import nx
from dlsched.models import picture
from dlsched.models.ddljs.instance import Instance
from dlsched.models.ddljs.rings import arcs_of
from dlsched.models.ddljs.schedule import Schedule, check, exact_utility

_MOST_NUMBERS = 400
"""Cells with a number and a border. Arbitrary: in the largest picture, of 20 by 20 inches, those of more run
together."""

_MOST_NAMES = 60
"""Nodes that are named, and placed by their distances. Arbitrary: names of more hide one another, and the time that it
takes to place them grows with their cube."""


@dataclass(frozen=True, slots=True)
class Cell:
    """What a job has in a slot: `workers` workers on `servers` servers."""

    job: str
    slot: int
    workers: int
    servers: int


def cells(instance: Instance, schedule: Schedule) -> Iterator[Cell]:
    """Yield the cells of the picture, jobs in the order of the instance."""
    for job in instance.jobs:
        for slot, embedding in schedule.embeddings(job.name).items():
            yield Cell(job.name, slot, embedding.size, len(embedding.workers))


def busiest(schedule: Schedule) -> int | None:
    """Return the first slot in which rings use the most links, then most workers; None where no job has a slot."""
    links, workers = Counter[int](), Counter[int]()
    for _, slot, embedding in schedule.items():
        links[slot] += sum(embedding.loads().values())
        workers[slot] += embedding.size
    return max(sorted(workers), key=lambda slot: (links[slot], workers[slot]), default=None)


@checked
def plot(instance: Instance, schedule: Schedule, ax: Any = None) -> Any:
    """Draw the workers of each job in each slot as a colour, and the number of its servers where there is room.

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
    >>> from dlsched.models import build, ddljs, read, solve
    >>> instance = ddljs.random(0)
    >>> model = build("ddljs/offline-circulation", instance)
    >>> _ = solve(model)
    >>> ax = ddljs.plot(instance, read(model, instance))
    >>> [text.get_text() for text in ax.get_yticklabels()], ax.get_xlabel()
    (['job1', 'job2'], 'slot')
    """
    picture.refuse_broken(check(instance, schedule))
    last = picture.last_slot(instance, schedule)
    ax = picture.drawn_in(ax, _width(last), _height(instance))
    drawn = list(cells(instance, schedule))
    rows = {job.name: row for row, job in enumerate(instance.jobs)}
    workers = np.full((len(rows), last), np.nan)
    for cell in drawn:
        workers[rows[cell.job], cell.slot - 1] = cell.workers
    edges = np.arange(last + 1) + 0.5, np.arange(len(rows) + 1) - 0.5
    if drawn:
        lines = {"edgecolors": "white", "linewidth": 0.5} if len(drawn) <= _MOST_NUMBERS else {}
        mesh = ax.pcolormesh(*edges, workers, cmap="YlGnBu", **lines, vmin=0, vmax=max(cell.workers for cell in drawn))
        ax.figure.colorbar(mesh, ax=ax, label="workers").locator.set_params(integer=True)
    for cell in drawn if len(drawn) <= _MOST_NUMBERS else ():
        colour = "white" if 2 * cell.workers > mesh.norm.vmax else "black"
        ax.text(cell.slot, rows[cell.job], str(cell.servers), ha="center", va="center", fontsize=6, color=colour)
    picture.rows(ax, range(len(rows)), list(rows))
    picture.slots(ax, 1, last)
    head = picture.headline(exact_utility(instance, schedule), len(schedule.jobs), len(rows))
    ax.set(ylim=(max(1, len(rows)) - 0.5, -0.5), title=f"{head}; number: of servers")
    return ax


def use(instance: Instance, schedule: Schedule) -> dict[str, list[float]]:
    """Return the share of the cluster's capacity of each resource that is in use, by slot, up to the last used."""
    capacity = {
        r: sum((node.capacity.get(r, Fraction(0)) for node in instance.nodes), Fraction(0)) for r in instance.resources
    }
    amounts = {r: [Fraction(0)] * picture.last_slot(instance, schedule) for r in instance.resources if capacity[r]}
    for name, slot, embedding in schedule.items():
        for r, amount in instance.job(name).worker.items():
            if amount:
                amounts[r][slot - 1] += embedding.size * amount
    return {r: [float(amount / capacity[r]) for amount in found] for r, found in amounts.items()}


def plot_rings(instance: Instance, schedule: Schedule, slot: int, ax: Any = None) -> Any:
    """Draw the network and the routes of all rings in a slot, one colour a job.

    Servers that host workers are marked with their number; switches are small and grey.

    Parameters
    ----------
    instance : Instance
    schedule : Schedule
        One that passes `check`.
    slot : int
    ax : matplotlib.axes.Axes, optional
        Drawn into; a new figure where it is left out.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    InputError, MissingExtra
        As `plot`.
    """
    picture.refuse_broken(check(instance, schedule))
    ax = picture.drawn_in(ax, 8.0, 8.0)
    graph = nx.Graph()
    graph.add_nodes_from(node.name for node in instance.nodes)
    graph.add_edges_from(instance.arcs)
    places = _layout(graph)
    for u, v in graph.edges:
        ax.plot(*zip(places[u], places[v], strict=True), color="lightgrey", linewidth=0.8, zorder=1)
    _draw_nodes(instance, schedule, slot, places, ax)
    _draw_rings(instance, schedule, slot, places, ax)
    ax.set_axis_off()
    head = picture.headline(exact_utility(instance, schedule), len(schedule.jobs), len(instance.jobs))
    ax.set_title(f"{head}; rings in slot {slot}; number: of workers on a server", fontsize=10)
    picture.legend(ax)
    return ax


@checked
def save_plot(instance: Instance, schedule: Schedule, path: str | os.PathLike[str]) -> None:
    """Draw a schedule, and the rings of its busiest slot beside it, into a file, in one step.

    The name's ending chooses the format (png, svg, pdf).

    Raises
    ------
    InputError
        If the format is unknown or the file cannot be written; as `plot`.
    MissingExtra
        As `plot`.

    Examples
    --------
    >>> from pathlib import Path
    >>> from dlsched.models import ddljs
    >>> ddljs.save_plot(ddljs.random(0), ddljs.Schedule(jobs={}), "rings.svg")
    >>> Path("rings.svg").read_text().startswith("<?xml")
    True
    """
    slot = busiest(schedule)
    if slot is None:
        picture.save(plot(instance, schedule).figure, path)
        return
    left, right = picture.axes(
        _width(picture.last_slot(instance, schedule)) + 8.0, max(6.0, _height(instance)), columns=2
    )
    plot(instance, schedule, left)
    plot_rings(instance, schedule, slot, right)
    picture.save(left.figure, path)


def _width(last: int) -> float:
    return max(6.0, min(20.0, 0.4 * last))


def _height(instance: Instance) -> float:
    return max(3.0, min(20.0, 0.25 * len(instance.jobs) + 1))


def _layout(graph: Any) -> dict[str, Any]:
    """Return places by the distances in hops, where all nodes have one and are not too many."""
    by_hops = len(graph) <= _MOST_NAMES and nx.is_connected(graph)
    return dict(nx.kamada_kawai_layout(graph) if by_hops else nx.spring_layout(graph, seed=0))


def _draw_nodes(instance: Instance, schedule: Schedule, slot: int, places: dict[str, Any], ax: Any) -> None:
    hosted = Counter[str]()
    for _, t, embedding in schedule.items():
        for server, n in embedding.workers.items():
            hosted[server] += n if t == slot else 0
    for node in instance.nodes:
        x, y = places[node.name]
        size, colour = (220, "white") if node.is_server else (25, "grey")
        ax.scatter([x], [y], s=size, color=colour, edgecolors="grey", zorder=2)
        if hosted[node.name]:
            ax.text(x, y, str(hosted[node.name]), ha="center", va="center", fontsize=8, zorder=4)
        if len(instance.nodes) <= _MOST_NAMES:
            below: dict[str, Any] = {"xytext": (0, -11), "textcoords": "offset points", "ha": "center"}
            ax.annotate(picture.literal(node.name), (x, y), **below, fontsize=6, zorder=4)


def _draw_rings(instance: Instance, schedule: Schedule, slot: int, places: dict[str, Any], ax: Any) -> None:
    styles = picture.styles(job.name for job in instance.jobs)
    here = [(name, embedding) for name, t, embedding in schedule.items() if t == slot]
    for number, (name, embedding) in enumerate(here):
        bend = f"arc3,rad={0.1 + 0.04 * (number % 5)}"
        arrow = {"arrowstyle": "->", "shrinkA": 8, "shrinkB": 8, "connectionstyle": bend, **styles[name].line}
        for u, v in (arc for path in embedding.ring for arc in arcs_of(path)):
            ax.annotate("", places[v], places[u], arrowprops=arrow, zorder=3)
        spread = f"{len(embedding.workers)} servers" if embedding.ring else picture.short(next(iter(embedding.workers)))
        ax.plot([], [], **styles[name].line, label=f"{picture.short(name)}: {embedding.size} on {spread}")
