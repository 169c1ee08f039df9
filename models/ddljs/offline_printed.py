"""DDLJS, (2)-(9), as printed, for the readings of (5), (8) and (9) to be tried one by one.

Symbols: y_is[t] `workers`, x_is[t] `in_use`, r_ss'^(p,i)[t] `route`.

(5) as printed lets a server be in use without a worker, and such a ghost is a relay for paths. (8) as printed sums over
the jobs on a path, but not over the paths on a link (counterexample G5: 20 instead of 11). (9) as printed asks for
degree two at every server of the cluster as soon as two are in use: with three servers of one GPU each and N = 2 a job
gets one worker, or a ghost; and several small cycles are a ring (counterexample G4: 4 instead of 2). The paths
"between" s and s' are taken to be those in both directions, so that a path counts at both ends; if only those from s
to s' counted, (9) would ask for two paths out of each server and say nothing of those into it.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from dlsched.lazy import gdp, pyo
from dlsched.models.ddljs.frame import Stage, all_slots, at_most, no_ghosts, utilities, workers
from dlsched.models.ddljs.instance import Instance
from dlsched.models.ddljs.offline import shapes
from dlsched.models.ddljs.paths import simple_paths
from dlsched.models.ddljs.read import read_printed
from dlsched.models.ddljs.routes import enters, leaves, links, narrowest_links, routes
from dlsched.models.document import InputError
from dlsched.models.formulation import Formulation, Kind

LITERAL = ("(5)", "(8)", "(9)")


def build(instance: Instance, paths: str = "all", literal: Collection[str] = LITERAL) -> pyo.ConcreteModel:
    """Return DDLJS as printed.

    Parameters
    ----------
    instance : Instance
    paths : {"all", "single-hop"}
        Every simple path between servers, or links from server to server only.
    literal : collection of {"(5)", "(8)", "(9)"}
        Which equations stand as printed; the others are corrected.

    Source: GADGET, (2)-(9), as printed.

    Raises
    ------
    ValueError
        If a job has a placement, there are too many paths to write out, or `literal` names another equation.
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
    workers(m, stage.problems, everywhere="(9)" in literal)
    at_most(m)
    if "(5)" not in literal:
        no_ghosts(m)
    routes(m, stage.problems, simple_paths(instance, paths))
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


OFFLINE_PRINTED = Formulation(
    "ddljs/offline-printed",
    Instance,
    "DDLJS as printed: (5) lets servers without workers relay, (8) is by path, (9) speaks of every server",
    ("(2)", "(3)", "(4)", "(5)", "(6)", "(7)", "(8)", "(9)"),
    Kind.AS_PRINTED,
    build,
    read_printed,
    data={"paths": "all simple paths", "literal": "(5), (8) and (9)"},
    disjunctive=True,
)
