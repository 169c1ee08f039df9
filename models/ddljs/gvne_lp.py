"""The two linear programs of Algorithm 2: the LP relaxation of G-VNE, and the augmented LP, whose points are mappings.

Symbols as in `gvne`; x_ik^w `weight`, the part of a ring whose node 0 is on w. A copy w of a ring has the locations of
its other nodes, varrho_ika^u[w] `place`, and the ways of its edges, theta_ika^uv[w] `route`; varrho_ik0^u[w] is x_ik^w
where u is w, else 0.

In the plain program half a ring node here and half there suffice for flow to cancel out on a cycle of the network. In a
copy all flow starts at w and comes back to it, so that each point of the augmented program is a convex combination of
mappings and of circulations (`dlsched.rounding.decompose`). With workers that are all alike, and without (5), both have
the value of the program in which all workers of a job share a node: they do not see bandwidth.

`dlsched.relaxations.plain_vne` and `augmented_vne` solve the same programs as arrays; these read like the paper.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from typing import Any

from dlsched.errors import InputError
from dlsched.lazy import pyo
from dlsched.models.ddljs.gvne import DATA, EQUATIONS, build, data, linear, loads, rooms, sets
from dlsched.models.ddljs.instance import Instance
from dlsched.models.ddljs.requests import RingProblem, slot_problem
from dlsched.models.formulation import Formulation, Kind

Copy = tuple[str, int, str]
"""Job, ring size and the place of ring node 0."""


def build_plain(
    instance: Instance, slot: int = 1, so_far: Mapping[str, int] | None = None, cap: bool = False
) -> pyo.ConcreteModel:
    """Return the LP relaxation of the embedding problem of a slot.

    Parameters and errors are those of `dlsched.models.ddljs.gvne.build`.

    References
    ----------
    GADGET, Section V-C, Algorithm 2, step 3; with `cap`, also (5), a constraint of (10).
    """
    m = build(instance, slot, so_far, cap)
    m.name = "LP relaxation of G-VNE"
    for variable in (m.size, m.embedded, m.place, m.route):
        variable.domain = pyo.UnitInterval
    return m


def build_augmented(
    instance: Instance,
    slot: int = 1,
    so_far: Mapping[str, int] | None = None,
    cap: bool = False,
    sizes: Mapping[str, int] | None = None,
) -> pyo.ConcreteModel:
    """Return the augmented LP of a slot.

    Parameters
    ----------
    instance, slot, so_far, cap
        As for `build_plain`.
    sizes : mapping of str to int, optional
        kappa_i, the ring size of each job that was selected; the others have none. All sizes where it is left out.

    Raises
    ------
    InputError
        As `dlsched.models.ddljs.gvne.build`; also if a job has no ring of its selected size.

    References
    ----------
    GADGET, Section V-C, Algorithm 2, step 4, after Rost and Schmid. The paper states it in words: copies of
    (12)-(19) for the selected sizes, bound together. For a ring one cut node is enough.
    """
    problem = slot_problem(instance, slot, so_far or {})
    if sizes is not None:
        problem = _only(problem, sizes)
    return augmented_program(problem, cap=cap)


def _only(problem: RingProblem, sizes: Mapping[str, int]) -> RingProblem:
    known = {request.name: request for request in problem.requests}
    for name, size in sizes.items():
        if name not in known or size not in known[name].profit:
            raise InputError(f"sizes.{name}: there is no job {name!r} with a ring of {size} in this slot")
    return problem.keeping(q.only(sizes[q.name]) for q in problem.requests if q.name in sizes)


def augmented_program(problem: RingProblem, *, cap: bool = False) -> pyo.ConcreteModel:
    """Return the augmented LP for ring requests on a substrate.

    Parameters
    ----------
    problem : RingProblem
    cap : bool
        As in `build_augmented`.
    """
    from pyomo.common.gc_manager import PauseGC

    with PauseGC():
        m = pyo.ConcreteModel(name="augmented LP of G-VNE")
        sets(m, problem, problem.hosts, {request.name: problem.usable(request) for request in problem.requests})
        data(m, problem)
        _copies(m)
        _rows(m, {arc: arcs[0] for arcs, _ in problem.shares for arc in arcs})
        if cap:
            _cap(m, problem)
    return m


def _copies(m: Any) -> None:
    places, hops, ends = (_by_ring(some) for some in (m.places, m.hops, m.balanced))
    m.copies = pyo.Set(
        initialize=[(i, k, w) for i, k, a, w in m.places if a == 0],
        dimen=3,
        doc="rings and the nodes that may host their node 0, a copy each",
    )
    m.others = pyo.Set(
        initialize=[(*c, a, u) for c in m.copies for a, u in places[c[:2]] if a],
        dimen=5,
        doc="copies, their ring nodes 1..k-1, and the nodes that may host them",
    )
    m.ways = pyo.Set(
        initialize=[(*c, *hop) for c in m.copies for hop in hops[c[:2]]],
        dimen=6,
        doc="copies, their ring edges by their start, and the links that they may use",
    )
    m.visited = pyo.Set(
        initialize=[(*c, *end) for c in m.copies for end in ends[c[:2]]],
        dimen=5,
        doc="copies, their ring edges, and the nodes that their flow may visit",
    )
    m.located = pyo.Set(
        initialize=[(i, k, w, a) for i, k, w in m.copies for a in range(1, k)],
        dimen=4,
        doc="copies and their ring nodes 1..k-1",
    )
    part = pyo.NonNegativeReals
    m.weight = pyo.Var(m.copies, domain=part, doc="x_ik^w, part of the ring whose node 0 is on w")
    m.place = pyo.Var(m.others, domain=part, doc="varrho_ika^u[w], part of the ring node that is on the node")
    m.route = pyo.Var(m.ways, domain=part, doc="theta_ikab^uv[w], part of the ring edge that uses the link")


def _by_ring(index: Any) -> dict[tuple[str, int], list[tuple[Any, ...]]]:
    """Return the rest of each index, by job and ring size."""
    found: dict[tuple[str, int], list[tuple[Any, ...]]] = defaultdict(list)
    for i, k, *rest in index:
        found[i, k].append(tuple(rest))
    return found


def _rows(m: Any, carrier: Mapping[tuple[str, str], tuple[str, str]]) -> None:
    m.added_utility = pyo.Objective(
        expr=sum(m.profit[i, k] * m.weight[i, k, w] for i, k, w in m.copies),
        sense=pyo.maximize,
        doc="(12) utility that the rings add",
    )
    terms = _terms(m, carrier)
    m.one_size = pyo.Constraint(
        [i for i in m.I if i in terms["ring"]],
        rule=lambda m, i: (None, linear(*terms["ring"][i]), 1),
        doc="(13) one ring of a job, all sizes and copies together",
    )
    m.placed = pyo.Constraint(
        m.located,
        rule=lambda m, *key: linear(*terms["placed"].get(key, ([], []))) == m.weight[key[:3]],
        doc="(14) each ring node of a copy is on one node",
    )
    m.flow = pyo.Constraint(
        m.visited,
        rule=lambda m, *key: (linear(*terms["flow"][key]), 0),
        doc="(15) each ring edge of a copy is a path between its ends",
    )
    loads(m, terms)


def _terms(m: Any, carrier: Mapping[tuple[str, str], tuple[str, str]]) -> dict[str, dict[Any, Any]]:
    """Return coefficients and variables of the rows, by row."""
    names = ("ring", "placed", "flow", "node", "link")
    rows: dict[str, dict[Any, Any]] = {name: defaultdict(lambda: ([], [])) for name in names}

    def add(name: str, row: Any, coefficient: float, variable: Any) -> None:
        rows[name][row][0].append(coefficient)
        rows[name][row][1].append(variable)

    def located(copy: Copy, a: int, u: str, part: Any) -> None:
        i, k, _ = copy
        if k > 1:
            add("flow", (*copy, a, u), -1, part)
            add("flow", (*copy, (a - 1) % k, u), 1, part)
        for r in needs[i]:
            add("node", (u, r), m.worker_needs[i, r], part)

    needs: dict[str, list[str]] = defaultdict(list)
    for i, r in m.needing:
        needs[i].append(r)
    for copy, weight in m.weight.items():
        add("ring", copy[0], 1, weight)
        located(copy, 0, copy[2], weight)
    for (i, k, w, a, u), part in m.place.items():
        add("placed", (i, k, w, a), 1, part)
        located((i, k, w), a, u, part)
    bandwidth = m.bandwidth.extract_values()
    for (i, k, w, a, u, v), part in m.route.items():
        add("flow", (i, k, w, a, u), 1, part)
        add("flow", (i, k, w, a, v), -1, part)
        if bandwidth[i]:
            add("link", carrier[u, v], bandwidth[i], part)
    return rows


def _cap(m: Any, problem: RingProblem) -> None:
    rooms(m, problem)
    room = m.room.extract_values()
    held: dict[tuple[Any, ...], list[Any]] = defaultdict(list)
    for (i, k, w, _, u), part in m.place.items():
        if room[i, u] < k:
            held[i, k, w, u].append(part)
    m.crowded = pyo.Set(initialize=list(held), dimen=4, doc="copies and the nodes that have no room for all of a ring")
    m.cap = pyo.Constraint(
        m.crowded,
        rule=lambda m, i, k, w, u: sum(held[i, k, w, u]) <= (m.room[i, u] - (u == w)) * m.weight[i, k, w],
        doc="(5) corrected: whole workers that fit on a node, with ring node 0 on w",
    )


GVNE_PLAIN = Formulation(
    "ddljs/gvne-plain",
    Instance,
    "the LP relaxation of ddljs/gvne, by which Algorithm 2 selects ring sizes",
    EQUATIONS,
    Kind.RELAXATION,
    build_plain,
    data=DATA,
)

GVNE_AUGMENTED = Formulation(
    "ddljs/gvne-augmented",
    Instance,
    "the augmented LP of G-VNE, whose points Algorithm 2 rounds: a copy of a ring for each place of its node 0",
    EQUATIONS,
    Kind.RELAXATION,
    build_augmented,
    data=DATA | {"sizes": "all ring sizes"},
)
