"""The simple paths between servers, P_{ss'}, written out for the formulations that choose among them."""

from __future__ import annotations

import itertools

from dlsched.models.ddljs.instance import Instance
from dlsched.models.ddljs.rings import Path
from dlsched.models.document import InputError

MAX_PATHS = 20_000
"""Simple paths that are listed. Arbitrary: each is a variable for every job and slot, and their number grows
exponentially."""

PATHS = ("all", "single-hop")


def simple_paths(instance: Instance, paths: str = "all", *, limit: int = MAX_PATHS) -> tuple[Path, ...]:
    """Return the paths from server to server, as node tuples.

    Parameters
    ----------
    instance : Instance
    paths : {"all", "single-hop"}
        Every simple path, by switches and other servers, or only the links from one server to another.
    limit : int
        The most simple paths from servers, wherever they lead, that are looked at.

    Source: GADGET, Section IV, "the set of all possible paths between servers s and s'". With fewer than all of them,
    what can be reached by more workers may not be by fewer (counterexample G13).

    Raises
    ------
    InputError
        If `paths` is neither, or there are more than `limit`: no path is ever left out.
    """
    import networkx as nx

    if paths not in PATHS:
        raise InputError(f"paths: {paths!r} must be one of {', '.join(PATHS)}")
    servers = {node.name for node in instance.servers}
    if paths == "single-hop":
        return tuple(arc for arc in instance.arcs if servers.issuperset(arc))
    graph = nx.DiGraph(instance.arcs)
    starts = [node.name for node in instance.servers if node.name in graph]
    everywhere = set(graph)
    found = itertools.chain.from_iterable(nx.all_simple_paths(graph, s, everywhere - {s}) for s in starts)
    looked_at = list(itertools.islice(found, limit + 1))
    if len(looked_at) > limit:
        raise InputError(
            f"the network has more than {limit} simple paths from servers: use ddljs/offline-circulation or "
            f"ddljs/slot-circulation, which need none"
        )
    return tuple(tuple(path) for path in looked_at if path[-1] in servers)
