"""DDLJS over paths, (2)-(9): corrected, as a disjunctive and as a mixed-integer linear program, and as printed.

Symbols: y_is[t] `workers`, x_is[t] `in_use`, r_ss'^(p,i)[t] `route`, `root` and `position` of servers in the ring,
`several` 1 where several servers are in use, `joined` = x times several.

(9), corrected: either no server is in use; or one, and no path; or several, one path leaves and one enters each of
them, and they form one cycle. The print asks for degree two at every server, also at those not in use, and lets
several small cycles pass (counterexample G4). Positions count up along the paths from the root, so that every cycle
has the one root. (8), corrected, adds up all paths on a link (counterexample G5).

`ddljs/offline` has (9) as a disjunction: no server, one server or a ring, per job and slot. In `ddljs/offline-milp` it
is written out: in-degree and out-degree `joined`, so that one server in use has no path; every cycle of paths needs a
root, as positions count up along it otherwise, and there is one root.

`ddljs/offline-printed` is for the readings of (5), (8) and (9) to be tried one by one. (5) as printed lets a server be
in use without a worker, and such a ghost is a relay for paths. (8) as printed sums over the jobs on a path, but not
over the paths on a link (counterexample G5: 20 instead of 11). (9) as printed asks for degree two at every server of
the cluster as soon as two are in use: with three servers of one GPU each and N = 2 a job gets one worker, or a ghost;
and several small cycles are a ring (counterexample G4: 4 instead of 2). The paths "between" s and s' are taken to be
those in both directions, so that a path counts at both ends; if only those from s to s' counted, (9) would ask for two
paths out of each server and say nothing of those into it.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from dlsched.errors import InputError
from dlsched.lazy import gdp, pyo
from dlsched.models.ddljs.frame import Stage, all_slots, at_most, no_ghosts, utilities, workers
from dlsched.models.ddljs.instance import Instance
from dlsched.models.ddljs.read import read, read_printed
from dlsched.models.ddljs.routes import (
    by_pair,
    enters,
    leaves,
    links,
    narrowest_links,
    next_in_ring,
    positions,
    routes,
    simple_paths,
)
from dlsched.models.formulation import Formulation, Kind

LITERAL = ("(5)", "(8)", "(9)")


def build(instance: Instance, paths: str = "all") -> pyo.ConcreteModel:
    """Return DDLJS as a generalised disjunctive program.

    Parameters
    ----------
    instance : Instance
    paths : {"all", "single-hop"}
        Every simple path between servers, or links from server to server only.

    Raises
    ------
    InputError
        If a job has a placement, or there are too many paths to write out.

    References
    ----------
    GADGET, (2)-(9), corrected.
    """
    stage = all_slots(instance, "ddljs/offline")
    m = corrected(instance, stage, paths, "DDLJS")
    shapes(m)
    utilities(m, stage.values, "(DDLJS) total utility", "(3) n_i, within the budget")
    return m


def corrected(instance: Instance, stage: Stage, paths: str, name: str) -> pyo.ConcreteModel:
    """Return (2) and (4)-(8) of some slots, corrected."""
    m = pyo.ConcreteModel(name=name)
    workers(m, stage.problems)
    at_most(m)
    no_ghosts(m)
    routes(m, stage.problems, simple_paths(instance, paths))
    links(m, stage.problems)
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


def build_milp(instance: Instance, paths: str = "all") -> pyo.ConcreteModel:
    """Return DDLJS as a mixed-integer linear program over paths.

    Parameters and errors are those of `build`.

    References
    ----------
    GADGET, (2)-(9), corrected.
    """
    stage = all_slots(instance, "ddljs/offline-milp")
    m = corrected(instance, stage, paths, "DDLJS over paths")
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


def build_printed(instance: Instance, paths: str = "all", literal: Collection[str] = LITERAL) -> pyo.ConcreteModel:
    """Return DDLJS as printed.

    Parameters
    ----------
    instance : Instance
    paths : {"all", "single-hop"}
        Every simple path between servers, or links from server to server only.
    literal : collection of {"(5)", "(8)", "(9)"}
        Which equations stand as printed; the others are corrected.

    Raises
    ------
    InputError
        If a job has a placement, there are too many paths to write out, or `literal` names another equation.

    References
    ----------
    GADGET, (2)-(9), as printed.
    """
    stage = all_slots(instance, "ddljs/offline-printed")
    m = printed(instance, stage, paths, literal)
    utilities(m, stage.values, "(DDLJS) total utility", "(3) n_i, within the budget")
    return m


def printed(instance: Instance, stage: Stage, paths: str, literal: Collection[str]) -> pyo.ConcreteModel:
    """Return (2) and (4)-(9) of some slots, the equations in `literal` as printed."""
    unknown = sorted(set(literal) - set(LITERAL))
    if unknown:
        raise InputError(f"literal: {unknown[0]!r} must be one of {', '.join(LITERAL)}")
    m = pyo.ConcreteModel(name="DDLJS as printed")
    ghosts = "(5)" in literal
    workers(m, stage.problems, everywhere=ghosts or "(9)" in literal)
    at_most(m)
    if not ghosts:
        no_ghosts(m)
    routes(m, stage.problems, simple_paths(instance, paths), ghosts=ghosts)
    (narrowest_links if "(8)" in literal else links)(m, stage.problems)
    (_degrees if "(9)" in literal else shapes)(m)
    return m


def _degrees(m: Any) -> None:
    reached = {*m.leaving, *m.entering}
    m.ringed = pyo.Set(
        initialize=[it for it in m.spread if all((*it, s) in reached for s in m.hosts[it])],
        dimen=2,
        doc="jobs and slots in which every server has a path",
    )
    m.alone = gdp.Disjunct(m.IT, rule=_alone, doc="(9) at most one server in use")
    m.degree_two = gdp.Disjunct(m.ringed, rule=_degree_two, doc="(9) degree two at every server")
    m.shape = gdp.Disjunction(
        m.IT,
        rule=lambda m, i, t: [m.alone[i, t], *([m.degree_two[i, t]] if (i, t) in m.ringed else [])],
        doc="(9) at most one server in use, or degree two at every server",
    )


def _alone(disjunct: Any, i: str, t: int) -> None:
    m = disjunct.model()
    disjunct.one = pyo.Constraint(
        expr=sum(m.in_use[i, t, s] for s in m.hosts[i, t]) <= 1, doc="(9) the indicator is 0: at most one server in use"
    )


def _degree_two(disjunct: Any, i: str, t: int) -> None:
    m = disjunct.model()
    disjunct.degree = pyo.Constraint(
        m.hosts[i, t],
        rule=lambda d, s: leaves(m, i, t, s) + enters(m, i, t, s) == 2,
        doc="(9) the indicator is 1: two paths at every server",
    )


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

OFFLINE_MILP = Formulation(
    "ddljs/offline-milp",
    Instance,
    "the same with its disjunction written out",
    ("(2)", "(3)", "(4)", "(5)", "(6)", "(7)", "(8)", "(9)"),
    Kind.EXACT,
    build_milp,
    read,
    data={"paths": "all simple paths"},
)

OFFLINE_PRINTED = Formulation(
    "ddljs/offline-printed",
    Instance,
    "DDLJS as printed: (5) lets servers without workers relay, (8) is by path, (9) speaks of every server",
    ("(2)", "(3)", "(4)", "(5)", "(6)", "(7)", "(8)", "(9)"),
    Kind.AS_PRINTED,
    build_printed,
    read_printed,
    data={"paths": "all simple paths", "literal": "(5), (8) and (9)"},
    disjunctive=True,
)
