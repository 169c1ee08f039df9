"""Constraint (9) read for unordered pairs of servers: degree two at each hosting server, no directions.

The paths between two servers are told apart only by their number: a pair with m paths may be joined up to m times.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence

import networkx as nx

Pair = tuple[str, str]


def degree_two(hosts: Sequence[str], paths: Callable[[str, str], int]) -> Iterator[dict[Pair, int]]:
    """Yield how often each pair is joined, for all ways that give every host two ends of paths."""
    pairs = list(itertools.combinations(hosts, 2))
    for times in itertools.product(*(range(min(2, paths(u, v)) + 1) for u, v in pairs)):
        joined = {pair: n for pair, n in zip(pairs, times, strict=True) if n}
        if all(sum(n for pair, n in joined.items() if u in pair) == 2 for u in hosts):
            yield joined


def is_one_cycle(hosts: Sequence[str], joined: dict[Pair, int]) -> bool:
    graph = nx.Graph(list(joined))
    graph.add_nodes_from(hosts)
    return bool(nx.is_connected(graph))


def simple_paths(links: Sequence[Pair]) -> Callable[[str, str], int]:
    """Return the number of simple paths between two nodes of an undirected network."""
    graph = nx.Graph(links)
    return lambda u, v: sum(1 for _ in nx.all_simple_paths(graph, u, v))


def falls_apart(n: int, parallel: int) -> bool:
    """Say whether n hosts with so many paths for each pair can have degree two without being one cycle."""
    hosts = [str(u) for u in range(n)]
    return any(not is_one_cycle(hosts, joined) for joined in degree_two(hosts, lambda u, v: parallel))
