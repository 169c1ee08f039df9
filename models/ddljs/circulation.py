r"""DDLJS with rings as circulations: the strong exact program, without paths and without ring positions.

Symbols, per job i and slot t: y_s `workers`, x_s `in_use`, chi_k `size` (1 where the ring has k workers), f_e `flow`
(how often the ring uses an arc), `root` a server, g_e `carry` (what the root sends to the other servers in use), n the
most servers that a ring can have, b_i bandwidth, B_e[t] capacity of an arc.

Exactness. (2)-(7) with the corrected (8), every path on a link counted, and the corrected (9), one directed cycle
through the servers in use, have the same worker counts y as this program.

From a ring to a point: let f_e be the number of its paths that use e. As the paths are simple and close, f_e <= n, f is
balanced at every node, and a path leaves every server in use, so out(f) >= x_s - root_s. Let the root be the first
server in use, and send one unit from it along the ring to every other one. At most n - 1 units pass a path, so
g_e <= (n - 1) f_e. The bandwidth rows are the same.

From a point to a ring: a job with workers has one root. Let W be the nodes that no path in the support of g leads to
from the root. No carry enters W, so the sum over W of in(g) - out(g) is at most 0; it is at least the sum of x over the
servers of W. Hence W has no server in use: all of them are in one connected part of the support of f. As f is balanced,
that part, each arc taken f_e times, has an Eulerian circuit. Visit the servers in use in the order in which the circuit
first meets them and cut out every loop between them: what is left is a ring of simple paths, and no arc is used more
than f_e times. One server in use needs no ring. The rest of f only takes bandwidth away, and a server in use without a
worker only asks for more, so that (5) needs no further row. Where n = 1, at most one server has workers, by (2) or for
want of another server, and there is no flow.

Rows that this proof does not need, but that cut fractional points: out(f) >= x_s - root_s; no server before the root is
in use; a ring of k workers takes as many servers as the k workers need at least; n_i is at least the size of each ring.
"""

from __future__ import annotations

import bisect
import itertools
import math
from collections.abc import Mapping
from typing import Any

from dlsched.lazy import pyo
from dlsched.models.ddljs.frame import LINK, LONGEST, PROFIT, all_slots, interchangeable, utilities, workers
from dlsched.models.ddljs.instance import Instance
from dlsched.models.ddljs.read import read, read_gain
from dlsched.models.ddljs.requests import RingProblem, RingRequest, slot_problem
from dlsched.models.formulation import Formulation, Kind
from dlsched.models.parameters import declare

_WIDE = "the arcs that are wide enough, and how often a ring may use them, were derived from it"


def build(instance: Instance) -> pyo.ConcreteModel:
    """Return DDLJS over all slots.

    Raises
    ------
    InputError
        If a job has a placement.

    References
    ----------
    GADGET, (2)-(9), corrected: (8) by links and (9) as one directed cycle through the servers in use.
    """
    stage = all_slots(instance, "ddljs/offline-circulation")
    m = pyo.ConcreteModel(name="DDLJS, rings as circulations")
    workers(m, stage.problems)
    _sizes(m, stage.problems, "(2) one of the ring sizes, at most N_i workers in a slot")
    _circulations(m, stage.problems)
    utilities(m, stage.values, "(DDLJS) total utility", "(3) n_i, within the budget")
    m.no_fewer = pyo.Constraint(
        m.sizes,
        rule=lambda m, i, t, k: sum(m.count[i, n] for n in range(k)) + _at_least(m, i, t, k) <= 1,
        doc="(3) a ring is no larger than n_i",
    )
    return m


def build_slot(instance: Instance, slot: int = 1, so_far: Mapping[str, int] | None = None) -> pyo.ConcreteModel:
    """Return the problem of one slot: what its rings add to the utility so far.

    Parameters
    ----------
    instance : Instance
    slot : int
        t, of 1..T.
    so_far : mapping of str to int, optional
        z_{i,t-1} by job; jobs left out have had nothing.

    Raises
    ------
    InputError
        If a job has a placement, the slot is outside 1..T, or a job's utility so far is minus infinity.

    References
    ----------
    GADGET, (10)-(11) with (2)-(9) corrected; the objective is (12).
    """
    return slot_circulation(slot_problem(instance, slot, so_far or {}), slot=slot)


def slot_circulation(problem: RingProblem, *, slot: int = 1) -> pyo.ConcreteModel:
    """Return the program of one slot for ring requests on a substrate.

    Parameters
    ----------
    problem : RingProblem
        Ring sizes of a request need not be consecutive.
    slot : int
        What slot solutions are read as.

    Raises
    ------
    InputError
        If a request says which nodes may host which ring node.
    """
    interchangeable("ddljs/slot-circulation", (q.name for q in problem.requests if q.allowed is not None))
    problem = problem.keeping(q for q in problem.requests if q.profit and problem.hosts(q))
    profit = {(q.name, k): value for q in problem.requests for k, value in q.profit.items()}
    m = pyo.ConcreteModel(name="rings of one slot as circulations")
    m.slot = slot
    workers(m, {slot: problem})
    _sizes(m, {slot: problem}, "(2) (11) one of the ring sizes, within N_i and what is left of the budget")
    _circulations(m, {slot: problem})
    m.rings = pyo.Set(initialize=[(i, k) for i, _, k in m.sizes], dimen=2, doc="jobs and ring sizes")
    declare(m, "profit", (m.rings,), {ik: profit[ik] for ik in m.rings}, PROFIT, follows=True)
    m.added_utility = pyo.Objective(
        expr=sum(m.profit[i, k] * m.size[i, t, k] for i, t, k in m.sizes),
        sense=pyo.maximize,
        doc="(10) (12) utility that the rings add",
    )
    return m


def _sizes(m: Any, problems: Mapping[int, RingProblem], doc: str) -> None:
    """Add the ring sizes, with (2) and what they say of the servers in use."""
    rooms = {it: sorted((m.room[*it, s] for s in m.hosts[it]), reverse=True) for it in m.IT}
    most = {it: list(itertools.accumulate(own)) for it, own in rooms.items()}
    requests = {(q.name, t): q for t, problem in problems.items() for q in problem.requests}
    sizes = {it: [k for k in q.sizes if k <= most[it][-1]] for it, q in requests.items()}
    fewest = {(*it, k): bisect.bisect_left(most[it], k) + 1 for it, own in sizes.items() for k in own}
    m.sizes = pyo.Set(initialize=list(fewest), dimen=3, doc="jobs, slots, and ring sizes that there is room for")
    m.size = pyo.Var(m.sizes, domain=pyo.Binary, doc="1 where the job has a ring of this size")
    m.sizes_of = sizes
    m.one_size = pyo.Constraint(
        [it for it in m.IT if sizes[it]], rule=lambda m, i, t: _at_least(m, i, t, 1) <= 1, doc="(2) one ring size"
    )
    m.ring_size = pyo.Constraint(
        m.IT,
        rule=lambda m, *it: sum(m.workers[*it, s] for s in m.hosts[it]) == sum(k * m.size[*it, k] for k in sizes[it]),
        doc=doc,
    )
    m.servers_needed = pyo.Constraint(
        m.IT,
        rule=lambda m, *it: (
            sum(m.in_use[*it, s] for s in m.hosts[it]) >= sum(fewest[*it, k] * m.size[*it, k] for k in sizes[it])
        ),
        doc="(5) as many servers as a ring of this size takes",
    )


def _at_least(m: Any, i: str, t: int, k: int) -> Any:
    """Return whether the job has a ring of at least k workers in a slot."""
    return sum(m.size[i, t, n] for n in m.sizes_of[i, t] if n >= k)


def _circulations(m: Any, problems: Mapping[int, RingProblem]) -> None:
    requests = {(q.name, t): (q, problems[t]) for t, problem in problems.items() for q in problem.requests}
    declare(m, "longest", (m.IT,), {it: min(len(m.hosts[it]), m.largest[it]) for it in m.IT}, LONGEST)
    spread = [it for it in m.IT if m.longest[it] > 1]
    arcs = {it: requests[it][1].usable(requests[it][0]) for it in spread}
    most_flow = {(*it, *arc): _most_flow(m, *requests[it], it, arc) for it in spread for arc in arcs[it]}
    m.spread = pyo.Set(initialize=spread, dimen=2, doc="jobs and slots in which a ring of two servers is possible")
    m.spread_at = pyo.Set(
        initialize=[(*it, s) for it in spread for s in m.hosts[it]], dimen=3, doc="those, and the servers of a ring"
    )
    m.hops = pyo.Set(initialize=list(most_flow), dimen=4, doc="jobs, slots, and arcs that are wide enough")
    m.leaving, m.entering = {}, {}
    for it in spread:
        for u, v in arcs[it]:
            m.leaving.setdefault((*it, u), []).append((u, v))
            m.entering.setdefault((*it, v), []).append((u, v))
    m.passed = pyo.Set(
        initialize=list(dict.fromkeys([*m.leaving, *m.entering])), dimen=3, doc="jobs, slots, nodes of a ring's walk"
    )
    m.visited = pyo.Set(
        initialize=list(dict.fromkeys([*m.spread_at, *m.leaving, *m.entering])),
        dimen=3,
        doc="jobs, slots, nodes that a ring may meet",
    )
    m.flow = pyo.Var(
        m.hops, domain=pyo.NonNegativeIntegers, bounds=lambda m, *h: (0, most_flow[h]), doc="f_e, uses of an arc"
    )
    m.carry = pyo.Var(
        m.hops,
        bounds=lambda m, i, t, u, v: (0, (m.longest[i, t] - 1) * most_flow[i, t, u, v]),
        doc="g_e, what the root sends over an arc",
    )
    m.root = pyo.Var(m.spread_at, domain=pyo.Binary, doc="1 where the walk is rooted")
    _bandwidth(m, problems)
    _rings(m)


def _most_flow(m: Any, request: RingRequest, problem: RingProblem, it: tuple[str, int], arc: tuple[str, str]) -> int:
    if not request.bandwidth:
        return int(m.longest[it])
    return min(int(m.longest[it]), math.floor(problem.capacity[arc] / request.bandwidth))


def _bandwidth(m: Any, problems: Mapping[int, RingProblem]) -> None:
    share = {(t, arc): (arcs, limit) for t, p in problems.items() for arcs, limit in p.shares for arc in arcs}
    users: dict[tuple[int, str, str], list[tuple[str, int, str, str]]] = {}
    for i, t, u, v in m.hops:
        if m.bandwidth[i]:
            users.setdefault((t, *share[t, (u, v)][0][0]), []).append((i, t, u, v))
    limit = {(t, u, v): share[t, (u, v)][1] for t, u, v in users}
    m.carriers = pyo.Set(
        initialize=list(users), dimen=3, doc="slots and links; of both directions of a half-duplex link, one"
    )
    declare(m, "link_capacity", (m.carriers,), limit, LINK, within=pyo.NonNegativeReals, why=_WIDE)
    m.link_load = pyo.Constraint(
        m.carriers,
        rule=lambda m, *key: sum(m.bandwidth[h[0]] * m.flow[h] for h in users[key]) <= m.link_capacity[key],
        doc="(8) corrected: bandwidth of a link, over all rings that use it",
    )


def _rings(m: Any) -> None:
    m.balance = pyo.Constraint(
        m.passed, rule=lambda m, *u: _out(m, m.flow, *u) == _in(m, m.flow, *u), doc="(9) corrected: rings close"
    )
    m.leaves = pyo.Constraint(
        m.spread_at,
        rule=lambda m, *s: _out(m, m.flow, *s) >= m.in_use[s] - m.root[s],
        doc="(7) (9) corrected: the ring leaves every server in use, if there are several",
    )
    m.connected = pyo.Constraint(
        m.visited, rule=_connected, doc="(9) corrected: the root sends a unit to every other server in use"
    )
    m.along = pyo.Constraint(
        m.hops,
        rule=lambda m, *h: m.carry[h] <= (m.longest[h[:2]] - 1) * m.flow[h],
        doc="(9) corrected: units are sent along the ring",
    )
    m.one_root = pyo.Constraint(
        m.spread,
        rule=lambda m, i, t: sum(m.root[i, t, s] for s in m.hosts[i, t]) == _at_least(m, i, t, 1),
        doc="(9) corrected: one cycle has one root",
    )
    m.first = pyo.Constraint(m.spread_at, rule=_first, doc="(9) corrected: no server before the root is in use")


def _out(m: Any, variable: Any, i: str, t: int, u: str) -> Any:
    return sum(variable[i, t, arc] for arc in m.leaving.get((i, t, u), ()))


def _in(m: Any, variable: Any, i: str, t: int, u: str) -> Any:
    return sum(variable[i, t, arc] for arc in m.entering.get((i, t, u), ()))


def _connected(m: Any, i: str, t: int, u: str) -> Any:
    arrives = _in(m, m.carry, i, t, u) - _out(m, m.carry, i, t, u)
    if (i, t, u) not in m.spread_at:
        return arrives >= 0
    return arrives >= m.in_use[i, t, u] - m.longest[i, t] * m.root[i, t, u]


def _first(m: Any, i: str, t: int, s: str) -> Any:
    hosts = m.hosts[i, t]
    return m.in_use[i, t, s] <= sum(m.root[i, t, u] for u in hosts[: hosts.index(s) + 1])


OFFLINE_CIRCULATION = Formulation(
    "ddljs/offline-circulation",
    Instance,
    "DDLJS with rings as circulations, no paths: what a MILP solver should get",
    ("(2)", "(3)", "(4)", "(5)", "(6)", "(7)", "(8)", "(9)"),
    Kind.EXACT,
    build,
    read,
)

SLOT_CIRCULATION = Formulation(
    "ddljs/slot-circulation",
    Instance,
    "what rings can add in one slot, as circulations: what a MILP solver should get",
    ("(2)", "(4)", "(5)", "(6)", "(7)", "(8)", "(9)", "(10)", "(11)", "(12)"),
    Kind.SUBPROBLEM,
    build_slot,
    read_gain,
    data={"slot": "1", "so_far": "no job has had anything"},
)
