"""What the formulations that choose among paths share: paths of jobs in slots, with (7) and (8).

Symbols: r_ss'^(p,i)[t] `route`, with p a number in `paths`; x_is[t] `in_use`; b_i bandwidth; B_e[t] capacity of a link.
"""

from __future__ import annotations

import itertools
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

from dlsched.errors import InputError
from dlsched.lazy import pyo
from dlsched.models.ddljs.frame import LINK, LONGEST
from dlsched.models.ddljs.instance import Instance
from dlsched.models.ddljs.requests import RingProblem
from dlsched.models.ddljs.rings import Path, arcs_of
from dlsched.models.parameters import declare

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

    Raises
    ------
    InputError
        If `paths` is neither, or there are more than `limit`: no path is ever left out.

    References
    ----------
    GADGET, Section IV, "the set of all possible paths between servers s and s'". With fewer than all of them,
    what can be reached by more workers may not be by fewer (counterexample G13).
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


_WIDE = "the paths that are wide enough were derived from it"
_NARROWEST = "B_e[t], capacity of the narrowest link of the path [bandwidth]"


def routes(m: Any, problems: Mapping[int, RingProblem], paths: Iterable[Path], *, ghosts: bool = False) -> None:
    """Add the paths that jobs may use, those between servers of theirs and wide enough for one ring, with (7).

    Parameters
    ----------
    m : ConcreteModel
        With `workers`.
    problems : mapping of int to RingProblem
        By slot.
    paths : iterable of tuple of str
        As nodes.
    ghosts : bool
        Servers without a worker may be in use, so that a ring has more servers than the job has workers.
    """
    m.paths = tuple(paths)
    arcs = [arcs_of(path) for path in m.paths]
    longest = {it: len(m.hosts[it]) if ghosts else min(len(m.hosts[it]), m.largest[it]) for it in m.IT}
    declare(m, "longest", (m.IT,), longest, LONGEST)
    usable = {(q.name, t): set(problem.usable(q)) for t, problem in problems.items() for q in problem.requests}
    spread = [it for it in m.IT if m.longest[it] > 1]
    own = {
        it: [
            p
            for p, path in enumerate(m.paths)
            if path[0] in m.hosts[it] and path[-1] in m.hosts[it] and usable[it].issuperset(arcs[p])
        ]
        for it in spread
    }
    m.spread = pyo.Set(initialize=spread, dimen=2, doc="jobs and slots in which a ring of two servers is possible")
    m.spread_at = pyo.Set(
        initialize=[(*it, s) for it in spread for s in m.hosts[it]], dimen=3, doc="those, and the servers of a ring"
    )
    m.routes = pyo.Set(
        initialize=[(*it, p) for it in spread for p in own[it]],
        dimen=3,
        doc="jobs, slots, and paths between their servers that are wide enough",
    )
    m.leaving, m.entering, m.between = defaultdict(list), defaultdict(list), defaultdict(list)
    for i, t, p in m.routes:
        start, end = m.paths[p][0], m.paths[p][-1]
        m.leaving[i, t, start].append(p)
        m.entering[i, t, end].append(p)
        m.between[i, t, start, end].append(p)
    m.pairs = pyo.Set(initialize=list(m.between), dimen=4, doc="jobs, slots, and pairs of servers that a path joins")
    m.route = pyo.Var(m.routes, domain=pyo.Binary, doc="r_ss'^(p,i)[t], 1 where the job uses the path")
    m.from_server = pyo.Constraint(
        m.routes,
        rule=lambda m, i, t, p: m.route[i, t, p] <= m.in_use[i, t, m.paths[p][0]],
        doc="(7) a path starts at a server in use",
    )
    m.to_server = pyo.Constraint(
        m.routes,
        rule=lambda m, i, t, p: m.route[i, t, p] <= m.in_use[i, t, m.paths[p][-1]],
        doc="(7) a path ends at a server in use",
    )


def links(m: Any, problems: Mapping[int, RingProblem]) -> None:
    """Add (8) corrected: on every link, over all paths."""
    share = {(t, arc): (arcs, limit) for t, p in problems.items() for arcs, limit in p.shares for arc in arcs}
    times: dict[tuple[int, str, str], Counter[tuple[str, int, int]]] = defaultdict(Counter)
    for i, t, p in m.routes:
        if m.bandwidth[i]:
            times_used = Counter(share[t, arc][0][0] for arc in arcs_of(m.paths[p]))
            for arc, n in times_used.items():
                times[t, *arc][i, t, p] = n
    limit = {(t, u, v): share[t, (u, v)][1] for t, u, v in times}
    m.carriers = pyo.Set(
        initialize=list(times), dimen=3, doc="slots and links; of both directions of a half-duplex link, one"
    )
    declare(m, "link_capacity", (m.carriers,), limit, LINK, within=pyo.NonNegativeReals, why=_WIDE)
    m.link_load = pyo.Constraint(
        m.carriers,
        rule=lambda m, *e: sum(n * m.bandwidth[r[0]] * m.route[r] for r, n in times[e].items()) <= m.link_capacity[e],
        doc="(8) corrected: bandwidth of a link, over all paths on it",
    )


def narrowest_links(m: Any, problems: Mapping[int, RingProblem]) -> None:
    """Add (8) as printed: on every path, over the jobs that use it, within its narrowest link."""
    users: dict[tuple[int, int], list[str]] = defaultdict(list)
    for i, t, p in m.routes:
        if m.bandwidth[i]:
            users[t, p].append(i)
    narrowest = {(t, p): min(problems[t].capacity[arc] for arc in arcs_of(m.paths[p])) for t, p in users}
    m.used_paths = pyo.Set(initialize=list(users), dimen=2, doc="slots and paths that jobs could use")
    declare(m, "link_capacity", (m.used_paths,), narrowest, _NARROWEST, within=pyo.NonNegativeReals, why=_WIDE)
    m.path_load = pyo.Constraint(
        m.used_paths,
        rule=lambda m, t, p: sum(m.bandwidth[i] * m.route[i, t, p] for i in users[t, p]) <= m.link_capacity[t, p],
        doc="(8) bandwidth of a path, over the jobs that use it",
    )


def leaves(m: Any, *key: Any) -> Any:
    """Return how many paths leave a server, of a job in a slot."""
    return sum(m.route[*key[:2], p] for p in m.leaving.get(key, ()))


def enters(m: Any, *key: Any) -> Any:
    """Return how many paths enter a server, of a job in a slot."""
    return sum(m.route[*key[:2], p] for p in m.entering.get(key, ()))


def positions(m: Any) -> None:
    """Add places in the ring, 0 for the root, and which server is the root."""
    m.root = pyo.Var(m.spread_at, domain=pyo.Binary, doc="1 where the ring starts")
    m.position = pyo.Var(
        m.spread_at, bounds=lambda m, i, t, s: (0, m.longest[i, t] - 1), doc="place of a server in the ring"
    )


def next_in_ring(m: Any, i: str, t: int, s: str, v: str) -> Any:
    """Return the row by which a path from s to v puts v behind s, if v is not the root."""
    n, used = m.longest[i, t], sum(m.route[i, t, p] for p in m.between[i, t, s, v])
    return m.position[i, t, v] >= m.position[i, t, s] + 1 - n * (1 - used) - n * m.root[i, t, v]


def by_pair(pairs: Iterable[tuple[str, int, str, str]]) -> dict[tuple[str, int], list[tuple[str, str]]]:
    """Return the pairs of servers by job and slot."""
    grouped = itertools.groupby(pairs, key=lambda pair: pair[:2])
    return {it: [pair[2:] for pair in own] for it, own in grouped}
