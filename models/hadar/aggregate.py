"""P1 with admission, machines summed to types: the same optimum with far fewer integers.

Symbols: as in `dlsched.models.hadar.levels`, and n_j^r(t) `devices` of a type in the whole cluster (continuous), C^r
devices of a type in the cluster.

Exactness
---------
1. *Machines, levels, work by slot*: `dlsched.models.hadar.levels`.
2. *Bottleneck.* With b fixed, a job that runs at level l may use any type at least as fast as l: the rows
   ``n_j^r <= min(W_j, C^r) sum_{l: X^l <= X^r} b_l`` say so.
3. *Continuous counts.* With b fixed to integers, the rows of a slot are those of a transportation problem (supply
   W_j at each running job, demand at most C^r at each type, integral data), whose polyhedron is integral: if any
   n exists, an integral one does, and `place_counts` finds it by a maximum flow.

So b and `completion` are the only integers. The LP relaxation is at least as tight as the big-M relaxation of
`hadar/p1-admission`: from its point, spreading n_j^r over machines in proportion to c_h^r and setting
x_j(t) = sum_l X_j^l b_jlt is feasible there with the same objective.
"""

from __future__ import annotations

from typing import Any

from dlsched.lazy import pyo
from dlsched.models.formulation import Formulation, Kind
from dlsched.models.hadar.instance import Instance
from dlsched.models.hadar.levels import frame, read, running


def build(instance: Instance) -> pyo.ConcreteModel:
    """Return the aggregated model.

    References
    ----------
    Hadar, (1)-(1e), corrected: with admission.
    """
    m = frame("Hadar aggregate", instance, {job.name: instance.levels(job) for job in instance.jobs})
    _sets(m, instance)
    _users(m, instance)
    m.devices = pyo.Var(m.JTR, domain=pyo.NonNegativeReals, doc="n_j^r(t), devices of the type in the cluster")
    m.whole_gang = pyo.Constraint(m.JT, rule=_whole_gang, doc="(1e) a gang or nothing")
    m.fast_enough = pyo.Constraint(m.JTR, rule=_fast_enough, doc="(1b) no device slower than the bottleneck")
    m.capacity = pyo.Constraint(m.RT, rule=_capacity, doc="(1d) devices of a type in the cluster")
    return m


def _sets(m: Any, instance: Instance) -> None:
    m.types = {j: instance.eligible(instance.job(j), levels[-1]) for j, levels in m.levels.items()}
    m.JTR = pyo.Set(
        initialize=[(j, t, r) for j, t in m.JT for r in m.types[j]], dimen=3, doc="jobs, slots, and types they may use"
    )
    m.RT = pyo.Set(
        initialize=sorted({(r, t) for _, t, r in m.JTR}), dimen=2, doc="device types and slots that a job may use"
    )


def _users(m: Any, instance: Instance) -> None:
    m.users = {(r, t): [j for j in m.J if t in m.slots[j] and r in m.types[j]] for r, t in m.RT}
    m.slow_enough = {
        (j, r): [level for level in m.levels[j] if instance.job(j).rate_on(level) <= instance.job(j).rate_on(r)]
        for j in m.J
        for r in m.types[j]
    }


def _whole_gang(m: Any, j: str, t: int) -> Any:
    return sum(m.devices[j, t, r] for r in m.types[j]) == m.gang[j] * running(m, j, t)


def _fast_enough(m: Any, j: str, t: int, r: str) -> Any:
    most = min(m.gang[j], m.count[r].value)
    return m.devices[j, t, r] <= most * sum(m.bottleneck[j, t, level] for level in m.slow_enough[j, r])


def _capacity(m: Any, r: str, t: int) -> Any:
    return sum(m.devices[j, t, r] for j in m.users[r, t]) <= m.count[r]


AGGREGATE = Formulation(
    "hadar/aggregate",
    Instance,
    "machines summed to types, bottleneck binaries, continuous counts, work-by-slot rows",
    ("(1)", "(1a)", "(1b)", "(1c)", "(1d)", "(1e)"),
    Kind.EXACT,
    build,
    read,
)
