"""P2, equations (2)-(2c): choose at most one of the given schedules for each job; and the dual of its LP, P3, (3)-(3a).

Symbols: y_js `chosen`, f_js completion slot, w_jh^rs(t) devices that schedule s uses, c_h^r devices of a machine;
k_h^r(t) `price`, the unit cost of a device; mu_j `payoff` of a job.

(2c) read as 0 <= y_js <= 1 would add a dual variable for each upper bound; (2b) implies y_js <= 1, so the print leaves
them out, and so does `dlsched.relaxations.dual` of P2's relaxation once the bound is dropped: same optimum.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any

from dlsched.lazy import pyo
from dlsched.models.formulation import Formulation, Kind
from dlsched.models.hadar.instance import Instance
from dlsched.models.hadar.read import finishing
from dlsched.models.hadar.schedule import Schedule
from dlsched.models.hadar.schedules import Column, enumerate_schedules
from dlsched.models.listed import numbered, users
from dlsched.models.parameters import declare

Place = tuple[str, str, int]


def columns_of(instance: Instance, schedules: Mapping[str, Sequence[Column]] | None) -> dict[tuple[str, int], Column]:
    """Return the given schedules, or all that are needed, by (job, number within the job)."""
    return numbered(Column, instance.jobs, schedules, partial(enumerate_schedules, instance))


def build(instance: Instance, schedules: Mapping[str, Sequence[Column]] | None = None) -> pyo.ConcreteModel:
    """Return P2 over a set of schedules.

    Parameters
    ----------
    instance : Instance
    schedules : mapping of str to sequence of Column, optional
        S_j by job; where it is left out, every schedule in which no slot can be dropped (small instances only).

    References
    ----------
    Hadar, (2)-(2c). Equivalent to P1 with admission if every S_j is complete; not to P1 as printed.
    """
    m = pyo.ConcreteModel(name="Hadar P2")
    m.columns = columns = columns_of(instance, schedules)
    usage = users((js, column.usage()) for js, column in columns.items())
    frame(m, instance, columns, usage, listed=schedules is None)
    m.chosen = pyo.Var(m.JS, domain=pyo.Binary, doc="(2c) y_js, whether job j runs by schedule s")
    m.total_utility = pyo.Objective(
        expr=sum(m.utility[js] * m.chosen[js] for js in columns),
        sense=pyo.maximize,
        doc="(2) total utility",
    )

    def _capacity(m: Any, h: str, r: str, t: int) -> Any:
        return sum(n * m.chosen[js] for js, n in usage[h, r, t]) <= m.count[h, r]

    def _once(m: Any, j: str) -> Any:
        own = [m.chosen[js] for js in columns if js[0] == j]
        return sum(own) <= 1 if own else pyo.Constraint.Feasible

    m.capacity = pyo.Constraint(m.HRT, rule=_capacity, doc="(2a) devices of a machine and type in a slot")
    m.once = pyo.Constraint(m.J, rule=_once, doc="(2b) at most one schedule a job")
    return m


def frame(
    m: Any, instance: Instance, columns: Mapping[tuple[str, int], Column], places: Iterable[Place], *, listed: bool
) -> None:
    """Add what P2 and its dual share: sets, utilities and devices.

    Parameters
    ----------
    m : ConcreteModel
    instance : Instance
    columns : mapping
        Schedules by (job, number within the job).
    places : iterable
        (machine, type, slot) that they use.
    listed : bool
        Whether they are all that the instance allows, so that other devices would ask for others.
    """
    m.J = pyo.Set(initialize=[job.name for job in instance.jobs], doc="jobs")
    m.JS = pyo.Set(initialize=list(columns), dimen=2, doc="jobs and their schedules")
    m.HRT = pyo.Set(initialize=list(places), dimen=3, doc="machines, types and slots that a schedule uses")
    m.HR = pyo.Set(
        initialize=list(dict.fromkeys((h, r) for h, r, _ in m.HRT)), dimen=2, doc="machines and types of HRT"
    )
    worth = {js: column.utility for js, column in columns.items()}
    count = {(h, r): instance.machine(h).count(r) for h, r in m.HR}
    why = "the schedules were listed for it" if listed else ""
    declare(m, "utility", (m.JS,), worth, "U_j(f_js - a_j), worth of the schedule [utility]", follows=True)
    declare(
        m,
        "count",
        (m.HR,),
        count,
        "c_h^r, devices of the machine [devices]",
        within=pyo.NonNegativeIntegers,
        follows=not listed,
        why=why,
    )


def read(model: Any, instance: Instance) -> Schedule:
    """Return the schedule of a solved model: those that are chosen, each until its job has done its work.

    It is worth what the objective says if the given schedules say of their utility what is true.
    """
    chosen = {js[0]: dict(model.columns[js].slots) for js in model.JS if round(model.chosen[js].value)}
    return finishing(instance, Schedule.of(chosen), chosen)


def build_dual(instance: Instance, schedules: Mapping[str, Sequence[Column]] | None = None) -> pyo.ConcreteModel:
    """Return P3 over a set of schedules.

    Parameters
    ----------
    instance : Instance
    schedules : mapping of str to sequence of Column, optional
        As in `build`.

    References
    ----------
    Hadar, (3)-(3a), true as printed.
    """
    m = pyo.ConcreteModel(name="Hadar P3")
    columns = columns_of(instance, schedules)
    frame(m, instance, columns, users((js, column.usage()) for js, column in columns.items()), listed=schedules is None)
    m.payoff = pyo.Var(m.J, domain=pyo.NonNegativeReals, doc="mu_j, the job's payoff")
    m.price = pyo.Var(m.HRT, domain=pyo.NonNegativeReals, doc="k_h^r(t), price of a device")
    m.cost = pyo.Objective(
        expr=sum(m.payoff[j] for j in m.J) + sum(m.count[h, r] * m.price[h, r, t] for h, r, t in m.HRT),
        sense=pyo.minimize,
        doc="(3) payoffs and the worth of the devices",
    )

    def _payoff(m: Any, j: str, s: int) -> Any:
        used = sum(n * m.price[place] for place, n in columns[j, s].usage().items())
        return m.payoff[j] + used >= m.utility[j, s]

    m.reduced_utility = pyo.Constraint(m.JS, rule=_payoff, doc="(3a) payoff at least utility less cost phi_j(s)")
    return m


P2 = Formulation(
    "hadar/p2",
    Instance,
    "P2: choose one of the given schedules for each job",
    ("(2)", "(2a)", "(2b)", "(2c)"),
    Kind.EXACT,
    build,
    read,
    data={"schedules": "every schedule of every job in which no slot can be dropped"},
)

P3 = Formulation(
    "hadar/p3",
    Instance,
    "P3: the dual of P2's LP relaxation",
    ("(3)", "(3a)"),
    Kind.RELAXATION,
    build_dual,
    data={"schedules": "every schedule of every job in which no slot can be dropped"},
)
