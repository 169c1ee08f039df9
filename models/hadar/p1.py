"""P1, equations (1)-(1e), as a generalised disjunctive program: idle, or a bottleneck type, per job and slot.

Symbols: w_jh^r(t) `devices` (count), x_j(t) `bottleneck_rate`, f_j one-hot in `completion`, W_j gang size, X_j^r rate,
L slot length in seconds, Q_j = E_j N_j iterations, c_h^r devices of a machine. Rates are in units of Q_j / (W_j L), in
which (1a) reads ``sum x_j(t) >= 1``; which schedules do all the work, `dlsched.models.hadar.shares` keeps.

(1b), the minimum rate over the types in use, is a choice: the job idles, or some type l is declared its bottleneck,
no device slower than l is used, and x_j(t) <= X_j^l. A declared bottleneck below the true minimum only loses work, so
the optimum has the true one. (1c), the last slot with a device, needs one direction only: U_j is non-increasing, so
the label f_j is never later than it must be. A type on which the job makes no progress is never a bottleneck: a slot
that uses it does no work, and idling is as good.

`hadar/p1` is the print: (1a) asks every job to finish, so a crowded instance is infeasible, although the paper calls
P1 and P2 equivalent. `hadar/p1-admission` adds the admission that P2's (2b) has, and then they are.
"""

from __future__ import annotations

from typing import Any

from dlsched.lazy import gdp, pyo
from dlsched.models.formulation import Formulation, Kind
from dlsched.models.hadar.instance import Instance
from dlsched.models.hadar.levels import WORTH
from dlsched.models.hadar.read import finishing
from dlsched.models.hadar.schedule import Schedule
from dlsched.models.hadar.shares import shares
from dlsched.models.parameters import declare

_COUNTED = "the bounds of devices, with them the big-M, and the types that a job may use were derived from it"


def build(instance: Instance) -> pyo.ConcreteModel:
    """Return P1 as printed: every job finishes.

    References
    ----------
    Hadar, (1)-(1e).
    """
    model = _whole(instance)
    model.finish = pyo.Constraint(
        model.J, rule=_finishes, doc="(1a) every job does all its iterations by its completion slot"
    )
    return model


def build_admission(instance: Instance) -> pyo.ConcreteModel:
    """Return P1 with admission: a job may be rejected, and then counts nothing.

    References
    ----------
    Hadar, (1)-(1e), corrected so that P1 and P2 are equivalent.
    """
    model = _whole(instance)
    model.finish = once(model)
    return model


def once(model: Any) -> Any:
    """Return the rows by which a job is completed at most once, and may be rejected."""
    return pyo.Constraint(model.J, rule=_at_most_once, doc="(1a) corrected: a job may be rejected, as (2b) allows")


def _whole(instance: Instance) -> pyo.ConcreteModel:
    m = frame("Hadar P1", instance)
    m.total_utility = pyo.Objective(expr=completed(m), sense=pyo.maximize, doc="(1) total utility")
    m.capacity = pyo.Constraint(
        m.HR, m.busy if instance.jobs else [], rule=_capacity, doc="(1d) devices of a machine and type"
    )
    return m


def completed(model: Any) -> Any:
    """Return what the completed jobs are worth."""
    return sum(model.utility[jt] * model.completion[jt] for jt in model.JT)


def frame(name: str, instance: Instance) -> pyo.ConcreteModel:
    """Return a model with the sets, variables and rows that are about each job alone: (1a) but for who must finish,
    (1b), (1c) and (1e).
    """
    model = pyo.ConcreteModel(name=name)
    _sets(model, instance)
    _data(model, instance)
    _variables(model)
    _runs(model)
    return model


def _sets(m: Any, instance: Instance) -> None:
    jobs = instance.jobs
    m.J = pyo.Set(initialize=[job.name for job in jobs], doc="jobs")
    m.H = pyo.Set(initialize=[machine.name for machine in instance.machines], doc="machines")
    m.R = pyo.Set(initialize=list(instance.device_types), doc="device types")
    m.T = pyo.RangeSet(instance.slots, doc="slots")
    m.busy = pyo.RangeSet(
        min((job.arrival for job in jobs), default=1), instance.slots, doc="slots from the first arrival on"
    )
    m.HR = pyo.Set(
        initialize=[(h.name, r) for h in instance.machines for r in instance.device_types if h.count(r)],
        dimen=2,
        doc="machines and the device types that they have",
    )
    m.JT = pyo.Set(
        initialize=[(job.name, t) for job in jobs for t in range(job.arrival, instance.slots + 1)],
        dimen=2,
        doc="(1e) jobs and the slots from their arrival on",
    )


def _data(m: Any, instance: Instance) -> None:
    jobs = {job.name: job for job in instance.jobs}
    rates = {
        (j, r): share
        for j, job in jobs.items()
        for r, share in (dict.fromkeys(instance.device_types, 0.0) | shares(instance, job)).items()
    }
    count = {(h.name, r): h.count(r) for h in instance.machines for r in instance.device_types}
    worth = {(j, t): jobs[j].utility(t - jobs[j].arrival) for j, t in m.JT}
    declare(m, "arrival", (m.J,), {j: job.arrival for j, job in jobs.items()}, "a_j, arrival [slot]")
    declare(m, "gang", (m.J,), {j: job.gang for j, job in jobs.items()}, "W_j, gang [devices]")
    declare(m, "rate", (m.J, m.R), rates, "X_j^r, rate of a device of the type [E_j N_j / (W_j L)]")
    declare(m, "utility", (m.JT,), worth, WORTH, follows=True, falling=True)
    declare(
        m,
        "count",
        (m.H, m.R),
        count,
        "c_h^r, devices of the machine [devices]",
        within=pyo.NonNegativeIntegers,
        why=_COUNTED,
    )
    m.slower = {
        (job.name, r): {s for s in instance.device_types if job.rate_on(s) < job.rate_on(r)}
        for job in instance.jobs
        for r in instance.device_types
    }
    m.levels = {job.name: instance.usable_types(job) for job in instance.jobs}
    m.slots = {job.name: range(job.arrival, instance.slots + 1) for job in instance.jobs}
    m.present = {t: [job.name for job in instance.jobs if job.arrival <= t] for t in m.T}


def _variables(m: Any) -> None:
    m.devices = pyo.Var(
        m.JT,
        m.HR,
        domain=pyo.NonNegativeIntegers,
        bounds=lambda m, j, t, h, r: (0, min(m.count[h, r].value, m.gang[j])),
        doc="w_jh^r(t), devices",
    )
    m.bottleneck_rate = pyo.Var(
        m.JT,
        bounds=lambda m, j, t: (0, max((m.rate[j, r] for r in m.levels[j]), default=0.0)),
        doc="x_j(t), rate of the slowest device in use, in units of E_j N_j / (W_j L)",
    )
    m.completion = pyo.Var(m.JT, domain=pyo.Binary, doc="1 where the job's completion slot f_j is t")


def _runs(m: Any) -> None:
    m.work = pyo.Constraint(m.J, rule=_work, doc="(1a) iterations done")
    m.option = gdp.Disjunct(
        [(j, t, option) for j, t in m.JT for option in ("idle", *m.levels[j])],
        rule=_option,
        doc="(1b) (1e) idle, or a full gang with this bottleneck type",
    )
    m.idle_or_gang = gdp.Disjunction(
        m.JT,
        rule=lambda m, j, t: [m.option[j, t, option] for option in ("idle", *m.levels[j])],
        doc="(1e) a gang or nothing",
    )
    m.last = pyo.Constraint(m.JT, rule=_last, doc="(1c) no device after the completion slot")


def _option(disjunct: Any, j: str, t: int, option: str) -> None:
    m = disjunct.model()
    used = {(h, r): m.devices[j, t, h, r] for h, r in m.HR}
    if option == "idle":
        disjunct.rate = pyo.Constraint(
            expr=m.bottleneck_rate[j, t] <= 0, doc="(1b) the bottleneck's rate, 0 without a device"
        )
        disjunct.gang = pyo.Constraint(expr=sum(used.values()) == 0, doc="(1e) a full gang, or no device")
        return
    slower = [hr for hr in used if hr[1] in m.slower[j, option]]
    disjunct.rate = pyo.Constraint(
        expr=m.bottleneck_rate[j, t] <= m.rate[j, option], doc="(1b) the bottleneck's rate, 0 without a device"
    )
    disjunct.gang = pyo.Constraint(expr=sum(used.values()) == m.gang[j], doc="(1e) a full gang, or no device")
    disjunct.slower = pyo.Constraint(slower, rule=lambda d, h, r: used[h, r] <= 0, doc="(1b) no slower device")


def _capacity(m: Any, h: str, r: str, t: int) -> Any:
    return sum(m.devices[j, t, h, r] for j in m.present[t]) <= m.count[h, r]


def _work(m: Any, j: str) -> Any:
    done = sum(m.bottleneck_rate[j, t] for t in m.slots[j])
    return done >= sum(m.completion[j, t] for t in m.slots[j])


def _last(m: Any, j: str, t: int) -> Any:
    running = sum(m.option[j, t, level].binary_indicator_var for level in m.levels[j])
    return running <= sum(m.completion[j, s] for s in range(t, m.slots[j].stop))


def _finishes(m: Any, j: str) -> Any:
    return sum(m.completion[j, t] for t in m.slots[j]) == 1


def _at_most_once(m: Any, j: str) -> Any:
    return sum(m.completion[j, t] for t in m.slots[j]) <= 1


def read(model: Any, instance: Instance) -> Schedule:
    """Return the schedule of a solved model: the devices that each job uses until it has done its work.

    Of `hadar/p1` too, which has a point only where every job can finish.
    """
    found: dict[str, dict[int, dict[str, dict[str, int]]]] = {}
    for (j, t, h, r), devices in model.devices.items():
        found.setdefault(j, {}).setdefault(t, {}).setdefault(h, {})[r] = round(devices.value)
    finished = [j for j, t in model.JT if round(model.completion[j, t].value)]
    return finishing(instance, found, finished)


P1 = Formulation(
    "hadar/p1",
    Instance,
    "P1: every job must finish",
    ("(1)", "(1a)", "(1b)", "(1c)", "(1d)", "(1e)"),
    Kind.AS_PRINTED,
    build,
    read,
    disjunctive=True,
)

P1_ADMISSION = Formulation(
    "hadar/p1-admission",
    Instance,
    "P1 in which a job may be rejected",
    ("(1)", "(1a)", "(1b)", "(1c)", "(1d)", "(1e)"),
    Kind.EXACT,
    build_admission,
    read,
    disjunctive=True,
)
