"""What the formulations without machines share: bottleneck levels by job and slot, completion slots, work by slot.

Symbols: b_jlt `bottleneck` (job j runs in slot t and type l is its slowest), one-hot `completion`, W_j gang.

Exactness
---------
1. *Machines.* w_jh^r(t) enters P1 through (1d), the gang total (1e) and the set of types in use (1b) only. Given
   integers n_j^r(t) with sum_j n_j^r(t) <= C^r = sum_h c_h^r, the machines can be filled one after the other
   (`dlsched.models.hadar.place`), so machines summed to types leave the same feasible completions.
2. *Levels.* A declared level below the true minimum loses work only; a level needs W_j devices at least as fast in the
   cluster, and of equally fast types one is enough.
3. *Work by slot.* A job complete by slot s has done all its work in slots <= s. The row for s = T is (1a); the others
   are implied by it, by (1c) and by integrality, and tighten the LP. They are divided by Q_j; which schedules do all
   the work, `dlsched.models.hadar.shares` keeps.

What is left to each formulation is that the gangs of a slot find their devices: (1d) and (1e).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dlsched.lazy import nx, pyo
from dlsched.models.formulation import UnreadableModel
from dlsched.models.hadar.instance import Instance
from dlsched.models.hadar.read import finishing
from dlsched.models.hadar.schedule import Schedule, place
from dlsched.models.hadar.shares import shares
from dlsched.models.parameters import declare

WORTH = "U_j(t - a_j), worth of the job if slot t completes it [utility]"
COUNTED = "the levels of jobs and their rows were derived from it"


def frame(name: str, instance: Instance, levels: Mapping[str, tuple[str, ...]]) -> pyo.ConcreteModel:
    """Return a model with the sets, variables and rows that are about jobs alone, and the objective.

    Parameters
    ----------
    name : str
        Of the model.
    instance : Instance
    levels : mapping of str to tuple of str
        Job to the types that may be its bottleneck; a job without any is left out.
    """
    m = pyo.ConcreteModel(name=name)
    _sets(m, instance, levels)
    _data(m, instance)
    m.bottleneck = pyo.Var(m.JTL, domain=pyo.Binary, doc="b_jlt, job j runs in slot t and type l is its slowest")
    m.completion = pyo.Var(m.JT, domain=pyo.Binary, doc="1 where the job's completion slot f_j is t")
    m.total_utility = pyo.Objective(
        expr=sum(m.utility[jt] * m.completion[jt] for jt in m.JT), sense=pyo.maximize, doc="(1) total utility"
    )
    m.once = pyo.Constraint(m.J, rule=_once, doc="(1a) corrected: a job may be rejected, as (2b) allows")
    m.last = pyo.Constraint(m.JT, rule=_last, doc="(1c) at most one bottleneck, and none after the completion slot")
    m.work = pyo.Constraint(m.JT, rule=_work, doc="(1a) all iterations done by the completion slot, for each slot")
    return m


def _sets(m: Any, instance: Instance, levels: Mapping[str, tuple[str, ...]]) -> None:
    m.levels = {j: found for j, found in levels.items() if found}
    m.slots = {j: range(instance.job(j).arrival, instance.slots + 1) for j in m.levels}
    m.J = pyo.Set(initialize=list(m.levels), doc="jobs that can run")
    m.JT = pyo.Set(initialize=[(j, t) for j in m.slots for t in m.slots[j]], dimen=2, doc="jobs, slots from arrival on")
    m.JL = pyo.Set(
        initialize=[(j, level) for j in m.levels for level in m.levels[j]], dimen=2, doc="jobs, and types as in JTL"
    )
    m.JTL = pyo.Set(
        initialize=[(j, t, level) for j, own in m.slots.items() for t in own for level in m.levels[j]],
        dimen=3,
        doc="jobs, slots, and types that can be the bottleneck of a whole gang",
    )
    m.R = pyo.Set(initialize=list(instance.device_types), doc="device types")


def _data(m: Any, instance: Instance) -> None:
    jobs = {j: instance.job(j) for j in m.levels}
    worth = {(j, t): job.utility(t - job.arrival) for j, job in jobs.items() for t in m.slots[j]}
    share = {j: shares(instance, job) for j, job in jobs.items()}
    declare(m, "arrival", (m.J,), {j: job.arrival for j, job in jobs.items()}, "a_j, arrival [slot]")
    declare(m, "gang", (m.J,), {j: job.gang for j, job in jobs.items()}, "W_j, gang [devices]")
    declare(m, "share", (m.JL,), {(j, r): share[j][r] for j, r in m.JL}, "v_jl, work in a slot at the level [Q_j]")
    declare(m, "utility", (m.JT,), worth, WORTH, follows=True, falling=True)
    declare(
        m,
        "count",
        (m.R,),
        instance.capacity,
        "C^r, devices in the cluster [devices]",
        within=pyo.NonNegativeIntegers,
        why=COUNTED,
    )


def running(m: Any, j: str, t: int) -> Any:
    """Return whether job j runs in slot t, as an expression."""
    return sum(m.bottleneck[j, t, level] for level in m.levels[j])


def _once(m: Any, j: str) -> Any:
    return sum(m.completion[j, t] for t in m.slots[j]) <= 1


def _last(m: Any, j: str, t: int) -> Any:
    return running(m, j, t) <= sum(m.completion[j, s] for s in range(t, m.slots[j].stop))


def _work(m: Any, j: str, t: int) -> Any:
    upto = range(m.slots[j][0], t + 1)
    shares = [(level, m.share[j, level]) for level in m.levels[j]]
    done = sum(share * m.bottleneck[j, s, level] for s in upto for level, share in shares)
    return done >= sum(m.completion[j, s] for s in upto)


def read(model: Any, instance: Instance) -> Schedule:
    """Return the schedule of a model begun by `frame`, devices placed on machines.

    Only the levels are read: what devices the model has beside them says nothing that these do not.

    Raises
    ------
    UnreadableModel
        If the cluster does not have the devices, or a job does not finish: not at a feasible point.
    """
    finished = {j for j, t in model.JT if round(model.completion[j, t].value)}
    levels: dict[int, dict[str, str]] = {}
    for j, t, level in model.JTL:
        if j in finished and round(model.bottleneck[j, t, level].value):
            levels.setdefault(t, {})[j] = level
    try:
        counts = {t: place_counts(instance, chosen) for t, chosen in sorted(levels.items())}
    except ValueError as error:
        raise UnreadableModel(str(error)) from None
    devices = {j: job.slots for j, job in place(instance, counts).jobs.items()}
    return finishing(instance, devices, (j for j in model.J if j in finished))


def place_counts(instance: Instance, levels: Mapping[str, str]) -> dict[str, dict[str, int]]:
    """Return integral devices by job and type for the jobs that run in one slot, by a maximum flow.

    Parameters
    ----------
    instance : Instance
    levels : mapping of str to str
        Job to its bottleneck type; it may use any type at least as fast.

    Raises
    ------
    ValueError
        If the cluster does not have the devices.
    """
    graph = nx.DiGraph()
    for r, devices in instance.capacity.items():
        graph.add_edge(("type", r), "sink", capacity=devices)
    for name, level in levels.items():
        job = instance.job(name)
        graph.add_edge("source", ("job", name), capacity=job.gang)
        for r in instance.eligible(job, level):
            graph.add_edge(("job", name), ("type", r), capacity=job.gang)
    need = sum(instance.job(name).gang for name in levels)
    flow, routes = nx.maximum_flow(graph, "source", "sink") if levels else (0, {})
    if flow < need:
        raise ValueError(f"the running jobs need {need} devices at their levels; {flow} can be given")
    return {name: {r: n for (_, r), n in routes["job", name].items() if n} for name in levels}
