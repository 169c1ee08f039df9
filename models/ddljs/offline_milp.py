"""DDLJS, (2)-(9) corrected, as a mixed-integer linear program over paths.

Symbols: y_is[t] `workers`, x_is[t] `in_use`, r_ss'^(p,i)[t] `route`, `several` 1 where several servers are in use,
`joined` = x times several, `root` and `position` of servers in the ring.

It is `ddljs/offline` with the disjunction (9) written out: in-degree and out-degree `joined`, so that one server in use
has no path; every cycle of paths needs a root, as positions count up along it otherwise, and there is one root.
"""

from __future__ import annotations

from typing import Any

from dlsched.lazy import pyo
from dlsched.models.ddljs.frame import all_slots, at_most, no_ghosts, utilities, workers
from dlsched.models.ddljs.instance import Instance
from dlsched.models.ddljs.paths import simple_paths
from dlsched.models.ddljs.read import read
from dlsched.models.ddljs.routes import enters, leaves, links, next_in_ring, positions, routes
from dlsched.models.formulation import Formulation, Kind


def build(instance: Instance, paths: str = "all") -> pyo.ConcreteModel:
    """Return DDLJS as a mixed-integer linear program over paths.

    Parameters
    ----------
    instance : Instance
    paths : {"all", "single-hop"}
        Every simple path between servers, or links from server to server only.

    Source: GADGET, (2)-(9), corrected.

    Raises
    ------
    ValueError
        If a job has a placement, or there are too many paths to write out.
    """
    stage = all_slots(instance, "ddljs/offline-milp")
    m = pyo.ConcreteModel(name="DDLJS over paths")
    workers(m, stage.problems)
    at_most(m)
    no_ghosts(m)
    routes(m, stage.problems, simple_paths(instance, paths))
    links(m, stage.problems)
    _several(m)
    _rings(m)
    utilities(m, stage.values, "(DDLJS) total utility", "(3) n_i, within the budget")
    return m


def _several(m: Any) -> None:
    m.several = pyo.Var(m.spread, domain=pyo.Binary, doc="1 where several servers are in use")
    m.joined = pyo.Var(m.spread_at, bounds=(0, 1), doc="1 where the server is one of several in use")
    m.more_than_one = pyo.Constraint(
        m.spread,
        rule=lambda m, i, t: _in_use(m, i, t) <= 1 + (m.longest[i, t] - 1) * m.several[i, t],
        doc="(9) corrected: the indicator of several servers in use, from below",
    )
    m.at_least_two = pyo.Constraint(
        m.spread,
        rule=lambda m, i, t: _in_use(m, i, t) >= 2 * m.several[i, t],
        doc="(9) corrected: the indicator of several servers in use, from above",
    )
    m.joined_in_use = pyo.Constraint(
        m.spread_at, rule=lambda m, *s: m.joined[s] <= m.in_use[s], doc="(9) corrected: a server of the ring is in use"
    )
    m.joined_several = pyo.Constraint(
        m.spread_at,
        rule=lambda m, *s: m.joined[s] <= m.several[s[:2]],
        doc="(9) corrected: one server in use is no ring",
    )
    m.all_joined = pyo.Constraint(
        m.spread_at,
        rule=lambda m, *s: m.joined[s] >= m.in_use[s] + m.several[s[:2]] - 1,
        doc="(9) corrected: of several servers in use, all are in the ring",
    )


def _rings(m: Any) -> None:
    positions(m)
    m.leave = pyo.Constraint(
        m.spread_at,
        rule=lambda m, *s: leaves(m, *s) == m.joined[s],
        doc="(9) corrected: one path leaves each server of the ring",
    )
    m.enter = pyo.Constraint(
        m.spread_at,
        rule=lambda m, *s: enters(m, *s) == m.joined[s],
        doc="(9) corrected: one path enters each server of the ring",
    )
    m.one_root = pyo.Constraint(
        m.spread,
        rule=lambda m, i, t: sum(m.root[i, t, s] for s in m.hosts[i, t]) <= 1,
        doc="(9) corrected: one cycle has one root",
    )
    m.order = pyo.Constraint(m.pairs, rule=next_in_ring, doc="(9) corrected: positions along the ring")


def _in_use(m: Any, i: str, t: int) -> Any:
    return sum(m.in_use[i, t, s] for s in m.hosts[i, t])


OFFLINE_MILP = Formulation(
    "ddljs/offline-milp",
    Instance,
    "the same with its disjunction written out",
    ("(2)", "(3)", "(4)", "(5)", "(6)", "(7)", "(8)", "(9)"),
    Kind.EXACT,
    build,
    read,
    data={"paths": "all simple paths"},
)
