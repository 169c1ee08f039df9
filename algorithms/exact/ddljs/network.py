"""What of a substrate is a tree: pendant nodes with their way to the core, and the core.

A closed walk through servers on both sides of a link whose removal disconnects the network crosses it once each way
where it is as short as can be, and one through servers on one side never crosses it. So on pendant trees the loads of
a ring follow from where its workers are; only in the core must they be sought.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterable
from dataclasses import dataclass

from dlsched.models.ddljs.rings import Arc


@dataclass(frozen=True, slots=True)
class Network:
    """The tree part and the core of a substrate.

    Attributes
    ----------
    parent : dict of str to str
        For each pendant node the next node on its way to the core; from the leaves inwards.
    children : dict of str to tuple of str
        The pendant nodes whose parent a node is; absent where there is none.
    core : tuple of str
        The nodes that are left; one in each part of the network that is a tree.
    arcs : tuple of (str, str)
        The arcs among the core.
    """

    parent: dict[str, str]
    children: dict[str, tuple[str, ...]]
    core: tuple[str, ...]
    arcs: tuple[Arc, ...]

    @classmethod
    def of(cls, nodes: Iterable[str], arcs: Iterable[Arc]) -> Network:
        """Take leaves off, again and again, until none is left."""
        names, links = tuple(nodes), tuple(arcs)
        near: dict[str, set[str]] = {u: set() for u in names}
        for u, v in links:
            near[u].add(v)
            near[v].add(u)
        parent: dict[str, str] = {}
        queue = deque(u for u in names if len(near[u]) == 1)
        while queue:
            u = queue.popleft()
            if len(near[u]) != 1:
                continue
            (v,) = near[u]
            parent[u] = v
            near[u].clear()
            near[v].discard(u)
            if len(near[v]) == 1:
                queue.append(v)
        children: dict[str, list[str]] = defaultdict(list)
        for u, v in parent.items():
            children[v].append(u)
        core = tuple(u for u in names if u not in parent)
        within = set(core)
        return cls(
            parent,
            {u: tuple(vs) for u, vs in children.items()},
            core,
            tuple((u, v) for u, v in links if u in within and v in within),
        )

    def tree_circulation(self, hosting: Iterable[str]) -> dict[Arc, int]:
        """Return the loads on pendant links of a ring through servers: once each way where it crosses."""
        wanted = set(hosting)
        below = {u: int(u in wanted) for u in (*self.parent, *self.core)}
        result: dict[Arc, int] = {}
        for u, v in self.parent.items():
            below[v] += below[u]
            if 0 < below[u] < len(wanted):
                result[u, v] = result[v, u] = 1
        return result
