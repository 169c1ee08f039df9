"""P2, equations (2)-(2c): choose at most one of the given schedules for each job; and the dual of its LP, P3, (3)-(3a).

Symbols: y_js `chosen`, f_js completion slot, w_jh^rs(t) devices that schedule s uses, c_h^r devices of a machine;
k_h^r(t) `price`, the unit cost of a device; mu_j `payoff` of a job.

(2c) read as 0 <= y_js <= 1 would add a dual variable for each upper bound; (2b) implies y_js <= 1, so the print leaves
them out, and so does `dlsched.relaxations.dual` of P2's relaxation once the bound is dropped: same optimum.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dlsched.lazy import pyo
from dlsched.models.formulation import Formulation, Kind
from dlsched.models.hadar.instance import Instance
from dlsched.models.hadar.read import finishing
from dlsched.models.hadar.schedule import Schedule
from dlsched.models.hadar.schedules import Column, enumerate_schedules
from dlsched.models.listed import Key, Place, at_most_one, chosen, derived, numbered, sets, users
from dlsched.models.parameters import declare

COUNT = "c_h^r, devices of the machine [devices]"


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
    m, columns, usage = frame("Hadar P2", instance, schedules)
    m.columns = columns
    m.chosen = pyo.Var(m.JS, domain=pyo.Binary, doc="(2c) y_js, whether job j runs by schedule s")
    m.total_utility = pyo.Objective(
        expr=sum(m.utility[js] * m.chosen[js] for js in columns),
        sense=pyo.maximize,
        doc="(2) total utility",
    )

    def _capacity(m: Any, h: str, r: str, t: int) -> Any:
        return sum(n * m.chosen[js] for js, n in usage[h, r, t]) <= m.count[h, r]

    m.capacity = pyo.Constraint(m.HRT, rule=_capacity, doc="(2a) devices of a machine and type in a slot")
    m.once = pyo.Constraint(m.J, rule=at_most_one(m.JS), doc="(2b) at most one schedule a job")
    return m


def frame(
    name: str, instance: Instance, schedules: Mapping[str, Sequence[Column]] | None
) -> tuple[pyo.ConcreteModel, dict[Key, Column], dict[Place, list[tuple[Key, int]]]]:
    """Return a model with what P2 and its dual share, the schedules, and which of them use how many devices."""
    m = pyo.ConcreteModel(name=name)
    columns = numbered(Column, instance, schedules, enumerate_schedules)
    usage = users((js, column.usage()) for js, column in columns.items())
    m.J, m.JS, m.HRT, m.HR = sets(instance, columns, usage, "types", "machines and types of HRT")
    worth = {js: column.utility for js, column in columns.items()}
    count = {(h, r): instance.machine(h).count(r) for h, r in m.HR}
    why = derived(schedules)
    declare(m, "utility", (m.JS,), worth, "U_j(f_js - a_j), worth of the schedule [utility]", follows=True)
    declare(m, "count", (m.HR,), count, COUNT, within=pyo.NonNegativeIntegers, follows=not why, why=why)
    return m, columns, usage


def read(model: Any, instance: Instance) -> Schedule:
    """Return the schedule of a solved model: those that are chosen, each until its job has done its work.

    It is worth what the objective says if the given schedules say of their utility what is true.
    """
    held = chosen(model)
    return finishing(instance, held, held)


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
    m, columns, _ = frame("Hadar P3", instance, schedules)
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
