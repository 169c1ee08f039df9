"""Nodes and links of a DDLJS instance from any networkx graph, by the attributes that the Topology Zoo uses."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from dlsched.arguments import expect
from dlsched.errors import InputError, shown
from dlsched.lazy import nx
from dlsched.models.ddljs.instance import Arc, Link, Node
from dlsched.models.ddljs.presets import GPUS
from dlsched.models.numbers import in_range, rational, to_json

MAX_BANDWIDTH = 10**9
"""In Gbit/s; larger ones are not drawn. Arbitrary: an exabit a second."""

_UNITS = {"K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}
"""Factors of the Topology Zoo's `LinkSpeedUnits`, in bit/s."""

_GIGABIT = 10**9
"""Bits: an instance's bandwidths are in Gbit/s."""


@dataclass(frozen=True, slots=True)
class Substrate:
    """The network part of an instance.

    Attributes
    ----------
    nodes : tuple of Node
    links : tuple of Link
        One for each pair of nodes that edges join; of a directed graph, for each direction.
    directed : bool
        Whether the graph's edges have a direction.
    notes : dict of str to str
        What was chosen, drawn, added up and dropped.
    """

    nodes: tuple[Node, ...]
    links: tuple[Link, ...]
    directed: bool
    notes: dict[str, str]


def substrate(
    graph: Any,
    rng: np.random.Generator,
    *,
    servers: str | int = "internal",
    gpus: Sequence[int] = GPUS,
    bandwidth: tuple[object, object] | None = None,
) -> Substrate:
    """Make nodes and links of a networkx graph with the attributes that the Topology Zoo uses.

    Nodes are named by ``label``, and by label and id where several share one. Parallel edges are merged, their
    bandwidths added; self loops are dropped, as workers on one server need no link.

    Parameters
    ----------
    graph : networkx.Graph, DiGraph, MultiGraph or MultiDiGraph
        Edges may have ``LinkSpeedRaw`` (bit/s), or ``LinkSpeed`` and ``LinkSpeedUnits`` (K, M, G, T).
    rng : numpy.random.Generator
        For servers, GPUs and bandwidths, in this order.
    servers : str or int
        ``internal``: nodes but those of other networks (``Internal`` 0) and the points where the Zoo lets several links
        meet (``hyperedge`` 1); ``all``; or how many of the internal nodes to draw. All others are switches.
    gpus : sequence of int
        A server's GPUs are one of these, drawn.
    bandwidth : pair of numbers, optional
        The range, in Gbit/s, in which the bandwidth of an edge without a speed is drawn, to two decimals.

    Raises
    ------
    TypeError
        If it is no graph.
    InputError
        If a choice makes no sense, a speed is not a number that is not negative, has no unit that is known, or is
        missing and there is no range.
    """
    expect("graph", graph, nx.Graph)
    if not gpus or min(gpus) < 1:
        raise InputError("gpus: must be positive whole numbers")
    names = _names(graph)
    chosen = _servers(graph, rng, servers)
    nodes = tuple(
        Node(name=names[n], capacity={"gpu": Fraction(gpus[int(rng.integers(len(gpus)))])} if n in chosen else {})
        for n in graph
    )
    speeds = [_speed(f"edge {u} to {v}", attributes) for u, v, attributes in graph.edges(data=True)]
    merged = _merged(graph, _widths(rng, speeds, bandwidth))
    links = tuple(Link(source=names[u], target=names[v], bandwidth=width) for (u, v), width in merged.items())
    loops = nx.number_of_selfloops(graph)
    return Substrate(
        nodes,
        links,
        graph.is_directed(),
        {
            "servers": f"{len(chosen)} of {len(nodes)} nodes, {_choice(servers)}; the others are switches",
            "capacity": f"gpu, drawn for each server from {', '.join(map(str, gpus))}",
            "links": f"{len(links)} of {len(speeds)} edges: {len(speeds) - loops - len(links)} parallel ones merged, "
            f"their bandwidths added, and {loops} self loops dropped",
            "bandwidth": _origin_of_widths(speeds, bandwidth),
            "network": _components(graph),
        },
    )


def _names(graph: Any) -> dict[Any, str]:
    labels = {n: str(attributes.get("label") or n) for n, attributes in graph.nodes(data=True)}
    times = Counter(labels.values())
    return {n: f"{label} #{n}" if times[label] > 1 else label for n, label in labels.items()}


def _merged(graph: Any, widths: Sequence[Fraction]) -> dict[Arc, Fraction]:
    """Return the bandwidth between every two nodes, in the direction of the first edge where edges have none."""
    merged: dict[Arc, Fraction] = {}
    for (u, v, *_), width in zip(graph.edges(data=True), widths, strict=True):
        if u != v:
            arc = (v, u) if not graph.is_directed() and (v, u) in merged else (u, v)
            merged[arc] = merged.get(arc, Fraction(0)) + width
    return merged


def _servers(graph: Any, rng: np.random.Generator, servers: str | int) -> set[Any]:
    internal = [
        n
        for n, attributes in graph.nodes(data=True)
        if attributes.get("Internal", "1") not in (0, "0") and attributes.get("hyperedge", "0") not in (1, "1")
    ]
    if isinstance(servers, int):
        if not 1 <= servers <= len(internal):
            raise InputError(f"servers: {servers} must be from 1 to the {len(internal)} internal nodes")
        return {internal[i] for i in rng.choice(len(internal), size=servers, replace=False)}
    if servers not in ("internal", "all"):
        raise InputError(f"servers: {shown(servers)} must be internal, all or a number")
    chosen = set(graph) if servers == "all" else set(internal)
    if not chosen:
        raise InputError("servers: the file marks every node as not internal; take all")
    return chosen


def _choice(servers: str | int) -> str:
    if isinstance(servers, int):
        return "drawn from the internal ones"
    return "all" if servers == "all" else "those that are internal and no points where links meet"


def _speed(place: str, attributes: Mapping[str, Any]) -> Fraction | None:
    """Return an edge's speed in Gbit/s, or None where the file does not say."""
    raw, amount, unit = (attributes.get(name) for name in ("LinkSpeedRaw", "LinkSpeed", "LinkSpeedUnits"))
    field, value, factor = "LinkSpeedRaw", raw, 1
    if raw in (None, ""):
        if amount in (None, ""):
            return None
        if unit not in _UNITS:
            given = "without LinkSpeedUnits" if unit in (None, "") else f"LinkSpeedUnits {shown(unit)}"
            known = ", ".join(_UNITS)
            raise InputError(f"{place}: LinkSpeed {shown(amount)}, {given}: must be one of {known}, of bit/s")
        field, value, factor = "LinkSpeed", amount, _UNITS[unit]
    try:
        speed = in_range(value) * factor / _GIGABIT
    except ValueError as error:
        raise InputError(f"{place}: {field}: {error}") from None
    if speed < 0:
        raise InputError(f"{place}: {field}: {shown(value)} must not be negative")
    return speed


def _widths(
    rng: np.random.Generator, speeds: Sequence[Fraction | None], bandwidth: tuple[object, object] | None
) -> list[Fraction]:
    if bandwidth is None:
        if None in speeds:
            raise InputError(
                f"{speeds.count(None)} of {len(speeds)} edges have no LinkSpeed; give a bandwidth for these"
            )
        low = high = Fraction(0)
    else:
        low, high = _range(bandwidth)
    return [_draw(rng, low, high) if speed is None else speed for speed in speeds]


def _range(bandwidth: tuple[object, object]) -> tuple[Fraction, Fraction]:
    try:
        low, high = (rational(x) for x in bandwidth)
    except ValueError as error:
        raise InputError(f"bandwidth: {error}") from None
    if not 0 <= low <= high <= MAX_BANDWIDTH:
        raise InputError(
            f"bandwidth: {to_json(low)},{to_json(high)} must be a range, its least first, within 0 to {MAX_BANDWIDTH}"
        )
    return low, high


def _draw(rng: np.random.Generator, low: Fraction, high: Fraction) -> Fraction:
    least, most = math.ceil(low * 100), math.floor(high * 100)
    return Fraction(int(rng.integers(least, most + 1)), 100) if least < most else low


def _origin_of_widths(speeds: Sequence[Fraction | None], bandwidth: tuple[object, object] | None) -> str:
    missing = speeds.count(None)
    texts = [f"{len(speeds) - missing} edges have the speed that the file gives"]
    if missing and bandwidth is not None:
        low, high = (to_json(rational(x)) for x in bandwidth)
        texts.append(f"{missing} have {low}" if low == high else f"{missing} have one drawn from {low} to {high}")
    return f"Gbit/s; {', '.join(texts)}"


def _components(graph: Any) -> str:
    parts = (
        nx.number_weakly_connected_components(graph) if graph.is_directed() else nx.number_connected_components(graph)
    )
    return "connected" if parts == 1 else f"disconnected, in {parts} parts"
