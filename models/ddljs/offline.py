"""DDLJS, (2)-(9) corrected, as a generalised disjunctive program: no server, one server or a ring, per job and slot.

Symbols: y_is[t] `workers`, x_is[t] `in_use`, r_ss'^(p,i)[t] `route`, `root` and `position` of servers in the ring.

(9), corrected: either no server is in use; or one, and no path; or several, one path leaves and one enters each of
them, and they form one cycle. The print asks for degree two at every server, also at those not in use, and lets
several small cycles pass (counterexample G4). Positions count up along the paths from the root, so that every cycle
has the one root. (8), corrected, adds up all paths on a link (counterexample G5).
"""

from __future__ import annotations

from typing import Any

from dlsched.lazy import gdp, pyo
from dlsched.models.ddljs.frame import all_slots, at_most, no_ghosts, utilities, workers
from dlsched.models.ddljs.instance import Instance
from dlsched.models.ddljs.paths import simple_paths
from dlsched.models.ddljs.read import read
from dlsched.models.ddljs.routes import by_pair, enters, leaves, links, next_in_ring, positions, routes
from dlsched.models.formulation import Formulation, Kind


def build(instance: Instance, paths: str = "all") -> pyo.ConcreteModel:
    """Return DDLJS as a generalised disjunctive program.

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
    stage = all_slots(instance, "ddljs/offline")
    m = pyo.ConcreteModel(name="DDLJS")
    workers(m, stage.problems)
    at_most(m)
    no_ghosts(m)
    routes(m, stage.problems, simple_paths(instance, paths))
    links(m, stage.problems)
    shapes(m)
    utilities(m, stage.values, "(DDLJS) total utility", "(3) n_i, within the budget")
    return m


def shapes(m: Any) -> None:
    """Add (9) corrected, as a disjunction."""
    positions(m)
    pairs = by_pair(m.pairs)
    m.idle = gdp.Disjunct(m.IT, rule=_idle, doc="(9) no server")
    m.single = gdp.Disjunct(m.placed, rule=_single, doc="(9) one server")
    m.ring = gdp.Disjunct(
        m.spread, rule=lambda d, i, t: _ring(d, i, t, pairs.get((i, t), [])), doc="(9) a ring of servers"
    )
    m.shape = gdp.Disjunction(m.IT, rule=_shapes, doc="(9) corrected: no server, one server or one ring of servers")


def _idle(disjunct: Any, i: str, t: int) -> None:
    m = disjunct.model()
    disjunct.nothing = pyo.Constraint(
        expr=sum(m.in_use[i, t, s] for s in m.hosts[i, t]) <= 0, doc="(9) corrected: no server in use"
    )


def _single(disjunct: Any, i: str, t: int, s: str) -> None:
    m = disjunct.model()
    others = sum(m.in_use[i, t, u] for u in m.hosts[i, t] if u != s)
    disjunct.alone = pyo.Constraint(expr=m.in_use[i, t, s] >= 1 + others, doc="(9) corrected: one server in use")


def _ring(disjunct: Any, i: str, t: int, pairs: list[tuple[str, str]]) -> None:
    m = disjunct.model()
    hosts = m.hosts[i, t]
    disjunct.several = pyo.Constraint(
        expr=sum(m.in_use[i, t, s] for s in hosts) >= 2, doc="(9) corrected: several servers in use"
    )
    disjunct.leave = pyo.Constraint(
        hosts,
        rule=lambda d, s: leaves(m, i, t, s) == m.in_use[i, t, s],
        doc="(9) corrected: one path leaves each server in use",
    )
    disjunct.enter = pyo.Constraint(
        hosts,
        rule=lambda d, s: enters(m, i, t, s) == m.in_use[i, t, s],
        doc="(9) corrected: one path enters each server in use",
    )
    disjunct.one_root = pyo.Constraint(
        expr=sum(m.root[i, t, s] for s in hosts) == 1, doc="(9) corrected: one cycle has one root"
    )
    disjunct.order = pyo.Constraint(
        pairs, rule=lambda d, s, v: next_in_ring(m, i, t, s, v), doc="(9) corrected: positions along the ring"
    )


def _shapes(m: Any, i: str, t: int) -> list[Any]:
    rings = [m.ring[i, t]] if (i, t) in m.spread else []
    return [m.idle[i, t], *(m.single[i, t, s] for s in m.hosts[i, t]), *rings]


OFFLINE = Formulation(
    "ddljs/offline",
    Instance,
    "DDLJS over paths, corrected: no server, one server or a ring, per job and slot",
    ("(2)", "(3)", "(4)", "(5)", "(6)", "(7)", "(8)", "(9)"),
    Kind.EXACT,
    build,
    read,
    data={"paths": "all simple paths"},
    disjunctive=True,
)
