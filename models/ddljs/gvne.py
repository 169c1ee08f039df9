"""G-VNE, (12)-(19): embed rings of a chosen size into the network, one slot, node by node and edge by edge.

Symbols: chi_ik `size`, rho_i `embedded`, varrho_ika^u `place`, theta_ikab^uv `route` with the ring edge (a, a+1 mod k)
written as its start a; pi_ik profit, d demand of a ring node or edge, g^{u,r} and e^{u,v} capacities, h_i^{u,r} and
o_i^{u,v} loads (written out in (18) and (19)).

`ddljs/gvne` has ring sizes 1..q_i, q_i = min(N_i, K_i - z_i, sum_u m_iu), no place where one ring node does not fit,
and no route over a link that is too narrow for one ring edge. With it, the optimum plus sum_i mu_i(zeta_i z_i) is that
of (10) with the corrected (8) and (9) and all simple paths. A ring of one node has no edge; of two, one edge each way.

`ddljs/gvne-printed` takes q_i from the joint relaxation of (10), rounded up, and has every place and route. Then q_i
can be too small for a job (3 instead of 4), or, as neither (2) nor (11) is among (12)-(19), break (11): G16.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping
from typing import Any

from dlsched.lazy import pyo
from dlsched.models.ddljs.frame import BANDWIDTH, CAPACITY, LINK, PROFIT
from dlsched.models.ddljs.instance import Arc, Instance
from dlsched.models.ddljs.joint import printed_problem
from dlsched.models.ddljs.read import read_gain
from dlsched.models.ddljs.requests import RingProblem, RingRequest, slot_problem
from dlsched.models.formulation import Formulation, Kind
from dlsched.models.parameters import declare

_VALID = "the sizes of rings, and the places and routes that they may have, were derived from it"

Hosts = Callable[[RingRequest, int], tuple[str, ...]]


def build(
    instance: Instance, slot: int = 1, so_far: Mapping[str, int] | None = None, cap: bool = False
) -> pyo.ConcreteModel:
    """Return the embedding problem of a slot.

    Parameters
    ----------
    instance : Instance
    slot : int
        t, of 1..T.
    so_far : mapping of str to int, optional
        z_{i,t-1} by job; jobs left out have had nothing.
    cap : bool
        Add (5), at most m_iu ring nodes on u. Whole solutions keep it anyway; the LP relaxation does not.

    Raises
    ------
    InputError
        If the slot is outside 1..T, or a job's utility so far is minus infinity.

    References
    ----------
    GADGET, (12)-(19), corrected: ring sizes by floors and per job; only valid places and routes.
    """
    return embedding_program(slot_problem(instance, slot, so_far or {}), cap=cap, slot=slot)


def build_printed(instance: Instance, slot: int = 1, so_far: Mapping[str, int] | None = None) -> pyo.ConcreteModel:
    """Return the embedding problem of a slot as printed.

    Parameters and errors are those of `build`.

    References
    ----------
    GADGET, (12)-(19) with Q_i[t] by the joint relaxation of (10), as printed.
    """
    problem = printed_problem(instance, slot, so_far or {})

    def everywhere(request: RingRequest, a: int) -> tuple[str, ...]:
        return tuple(u for u in problem.nodes if request.allowed is None or u in request.allowed[a])

    return _program(problem, everywhere, lambda request: problem.arcs, slot)


def embedding_program(problem: RingProblem, *, cap: bool = False, slot: int = 1) -> pyo.ConcreteModel:
    """Return (12)-(19) for ring requests on a substrate.

    Parameters
    ----------
    problem : RingProblem
    cap : bool
        As in `build`.
    slot : int
        What slot solutions are read as.
    """
    m = _program(problem, problem.hosts, problem.usable, slot)
    if cap:
        rooms(m, problem)
        m.crowded = pyo.Set(
            initialize=list(dict.fromkeys((i, k, u) for i, k, _, u in m.places if m.room[i, u] < k)),
            dimen=3,
            doc="rings and the nodes that have no room for all of one",
        )
        m.cap = pyo.Constraint(m.crowded, rule=_cap, doc="(5) corrected: whole workers that fit on a node")
    return m


def rooms(m: Any, problem: RingProblem) -> None:
    """Add how many ring nodes of a request fit on a node, of the nodes that can host one."""
    room = {(q.name, u): problem.room(q, u) for q in problem.requests for u in problem.hosts(q)}
    m.hosting = pyo.Set(initialize=list(room), dimen=2, doc="jobs and the nodes that can host a ring node")
    declare(m, "room", (m.hosting,), room, "m_iu, ring nodes that fit on the node [workers]")


def _program(
    problem: RingProblem, hosts: Hosts, links: Callable[[RingRequest], tuple[Arc, ...]], slot: int
) -> pyo.ConcreteModel:
    from pyomo.common.gc_manager import PauseGC

    with PauseGC():
        return _built(problem, hosts, links, slot)


def _built(
    problem: RingProblem, hosts: Hosts, links: Callable[[RingRequest], tuple[Arc, ...]], slot: int
) -> pyo.ConcreteModel:
    m = pyo.ConcreteModel(name="G-VNE")
    m.slot = slot
    sets(m, problem, hosts, {request.name: links(request) for request in problem.requests})
    data(m, problem)
    m.size = pyo.Var(m.rings, domain=pyo.Binary, doc="chi_ik, 1 where the ring has this size")
    m.embedded = pyo.Var(m.I, domain=pyo.Binary, doc="rho_i, 1 where the ring is embedded")
    m.place = pyo.Var(m.places, domain=pyo.Binary, doc="varrho_ika^u, 1 where the ring node is on the node")
    m.route = pyo.Var(m.hops, domain=pyo.Binary, doc="theta_ikab^uv, 1 where the ring edge uses the link")
    _constraints(m, problem)
    return m


def sets(m: Any, problem: RingProblem, hosts: Hosts, links: Mapping[str, tuple[Arc, ...]]) -> None:
    """Add the sets of (12)-(19): rings, where their nodes and edges may be, and what they share."""
    places = [
        (q.name, k, a, u)
        for q in problem.requests
        for valid in [[hosts(q, a) for a in range(max(q.sizes, default=0))] if q.allowed else [hosts(q, 0)]]
        for k in q.sizes
        for a in range(k)
        for u in valid[a if q.allowed else 0]
    ]
    edges = [(q.name, k, a) for q in problem.requests for k in q.sizes if k > 1 for a in range(k)]
    hops = [(*edge, u, v) for edge in edges for u, v in links[edge[0]]]
    ends = {(i, k, a, u): None for i, k, a, u, _ in hops} | {(i, k, a, v): None for i, k, a, _, v in hops}
    ends |= {(i, k, b, u): None for i, k, a, u in places if k > 1 for b in (a, (a - 1) % k)}
    needs = {q.name: [r for r, need in q.demand.items() if need] for q in problem.requests}
    m.I = pyo.Set(initialize=[q.name for q in problem.requests], doc="jobs with a request")
    m.rings = pyo.Set(
        initialize=[(q.name, k) for q in problem.requests for k in q.sizes],
        dimen=2,
        doc="jobs and their ring sizes, Q_i[t]",
    )
    m.ring_nodes = pyo.Set(
        initialize=[(q.name, k, a) for q in problem.requests for k in q.sizes for a in range(k)],
        dimen=3,
        doc="rings and their nodes 0..k-1",
    )
    m.places = pyo.Set(initialize=places, dimen=4, doc="ring nodes and the nodes that may host them")
    m.hops = pyo.Set(initialize=hops, dimen=5, doc="ring edges, by their start, and the links that they may use")
    m.balanced = pyo.Set(initialize=list(ends), dimen=4, doc="ring edges and the nodes that their flow may visit")
    m.loaded = pyo.Set(
        initialize=list(dict.fromkeys((u, r) for i, _, _, u in places for r in needs[i])),
        dimen=2,
        doc="nodes and resources that ring nodes may use",
    )
    shared = {arc: arcs[0] for arcs, _ in problem.shares for arc in arcs}
    users = {q.name for q in problem.requests if q.bandwidth}
    m.carriers = pyo.Set(
        initialize=list(dict.fromkeys(shared[u, v] for i, _, _, u, v in hops if i in users)),
        dimen=2,
        doc="links that ring edges may use; of both directions of a half-duplex link, one",
    )


def data(m: Any, problem: RingProblem) -> None:
    """Add the data of (12)-(19), for the sets that there are."""
    profit = {(q.name, k): q.profit[k] for q in problem.requests for k in q.sizes}
    needs = {(q.name, r): need for q in problem.requests for r, need in q.demand.items() if need}
    capacity = {(u, r): problem.nodes[u].get(r, 0) for u, r in m.loaded}
    limit = {arcs[0]: limit for arcs, limit in problem.shares if arcs[0] in m.carriers}
    m.ordered = {q.name for q in problem.requests if q.allowed is not None}
    m.sizes_of = {q.name: q.sizes for q in problem.requests}
    m.needing = pyo.Set(initialize=list(needs), dimen=2, doc="jobs and the resources that a ring node needs")
    declare(m, "profit", (m.rings,), profit, PROFIT, follows=True)
    declare(m, "worker_needs", (m.needing,), needs, "d_i^r, need of a ring node [resource]")
    declare(m, "bandwidth", (m.I,), {q.name: q.bandwidth for q in problem.requests}, BANDWIDTH)
    declare(m, "node_capacity", (m.loaded,), capacity, CAPACITY, within=pyo.NonNegativeReals, why=_VALID)
    declare(
        m,
        "link_capacity",
        (m.carriers,),
        {e: limit[e] for e in m.carriers},
        LINK,
        within=pyo.NonNegativeReals,
        why=_VALID,
    )


def _constraints(m: Any, problem: RingProblem) -> None:
    m.added_utility = pyo.Objective(
        expr=sum(m.profit[ik] * m.size[ik] for ik in m.rings),
        sense=pyo.maximize,
        doc="(12) utility that the rings add",
    )
    m.one_size = pyo.Constraint(
        m.I,
        rule=lambda m, i: sum(m.size[i, k] for k in m.sizes_of[i]) == m.embedded[i],
        doc="(13) one size for an embedded ring",
    )
    terms = _terms(m, {arc: arcs[0] for arcs, _ in problem.shares for arc in arcs})
    m.placed = pyo.Constraint(
        m.ring_nodes,
        rule=lambda m, *key: linear(*terms["placed"].get(key, ([], []))) == m.size[key[:2]],
        doc="(14) each ring node is on one node",
    )
    m.flow = pyo.Constraint(
        m.balanced,
        rule=lambda m, *key: (linear(*terms["flow"][key]), 0),
        doc="(15) each ring edge is a path between its ends",
    )
    loads(m, terms)


def loads(m: Any, terms: Mapping[str, Mapping[Any, Any]]) -> None:
    """Add (16)-(19), given the coefficients and variables of the rows of nodes and of links."""
    m.node_load = pyo.Constraint(
        m.loaded,
        rule=lambda m, *key: (None, linear(*terms["node"][key]), m.node_capacity[key]),
        doc="(16) (18) capacity of a node and resource",
    )
    m.link_load = pyo.Constraint(
        m.carriers,
        rule=lambda m, *arc: (None, linear(*terms["link"][arc]), m.link_capacity[arc]),
        doc="(17) (19) bandwidth of a link",
    )


Terms = dict[tuple[Any, ...], tuple[list[float], list[Any]]]


def _terms(m: Any, carrier: Mapping[Arc, Arc]) -> dict[str, Terms]:
    """Return coefficients and variables of the rows, by row: looking places and routes up row by row takes longer."""
    rows: dict[str, Terms] = {name: defaultdict(lambda: ([], [])) for name in ("placed", "flow", "node", "link")}

    def add(name: str, row: tuple[Any, ...], coefficient: float, variable: Any) -> None:
        coefficients, variables = rows[name][row]
        coefficients.append(coefficient)
        variables.append(variable)

    needs = defaultdict(list)
    for (i, r), need in m.worker_needs.items():
        needs[i].append((r, need))
    for (i, k, a, u), place in m.place.items():
        add("placed", (i, k, a), 1, place)
        if k > 1:
            add("flow", (i, k, a, u), -1, place)
            add("flow", (i, k, (a - 1) % k, u), 1, place)
        for r, need in needs[i]:
            add("node", (u, r), need, place)
    bandwidth = m.bandwidth.extract_values()
    for (i, k, a, u, v), route in m.route.items():
        add("flow", (i, k, a, u), 1, route)
        add("flow", (i, k, a, v), -1, route)
        if bandwidth[i]:
            add("link", carrier[u, v], bandwidth[i], route)
    return rows


def linear(coefficients: list[float], variables: list[Any]) -> Any:
    """Return a linear expression, which adding term by term would take longer to make."""
    from pyomo.core.expr import LinearExpression

    return LinearExpression(linear_coefs=coefficients, linear_vars=variables)


def _cap(m: Any, i: str, k: int, u: str) -> Any:
    nodes = [a for a in range(k) if (i, k, a, u) in m.place]
    return sum(m.place[i, k, a, u] for a in nodes) <= m.room[i, u] * m.size[i, k]


EQUATIONS = ("(12)", "(13)", "(14)", "(15)", "(16)", "(17)", "(18)", "(19)")

DATA = {
    "slot": "1",
    "so_far": "no job has had anything",
    "cap": "False: no row for the workers that fit on one node",
}
"""What is used where one of these is left out."""

GVNE = Formulation(
    "ddljs/gvne",
    Instance,
    "G-VNE: what rings of chosen sizes add in one slot, valid places and routes only",
    EQUATIONS,
    Kind.SUBPROBLEM,
    build,
    read_gain,
    data=DATA,
)

GVNE_PRINTED = Formulation(
    "ddljs/gvne-printed",
    Instance,
    "the same as printed: ring sizes by a joint relaxation rounded up, any place and route",
    EQUATIONS,
    Kind.SUBPROBLEM,
    build_printed,
    read_gain,
    data={"slot": "1", "so_far": "no job has had anything"},
)
