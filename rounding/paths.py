"""Shortest paths, in hops, over arcs that somebody has chosen."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterable, Mapping

from dlsched.models.ddljs.rings import Arc, Path

Tree = Mapping[str, str | None]
"""The node before each that can be reached, None for the start."""


def heads_of(arcs: Iterable[Arc]) -> dict[str, list[str]]:
    """Return the heads of the arcs from each tail."""
    heads: dict[str, list[str]] = {}
    for tail, head in arcs:
        heads.setdefault(tail, []).append(head)
    return heads


def tree(start: str, heads: Mapping[str, Iterable[str]], ends: Collection[str] = ()) -> Tree:
    """Return shortest paths from a node to all that arcs lead to, or to those no farther than the nearest of `ends`."""
    before: dict[str, str | None] = {start: None}
    queue = deque([start])
    while queue:
        here = queue.popleft()
        if here in ends:
            break
        for head in heads.get(here, ()):
            if head not in before:
                before[head] = here
                queue.append(head)
    return before


def path_to(end: str, before: Tree) -> Path | None:
    """Return the path of a tree to a node, None where it has none."""
    if end not in before:
        return None
    path, here = [end], before[end]
    while here is not None:
        path.append(here)
        here = before[here]
    return tuple(reversed(path))


def shortest(start: str, heads: Mapping[str, Iterable[str]], ends: Collection[str]) -> Path | None:
    """Return a shortest path from a node to the nearest of the ends, None where there is none."""
    before = tree(start, heads, ends)
    # A tree has its nodes in the order of their distances.
    nearest = next((node for node in before if node in ends), None)
    return None if nearest is None else path_to(nearest, before)
