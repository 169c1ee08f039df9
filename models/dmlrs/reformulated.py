"""R-DMLRS, (8)-(9): choose at most one of the given schedules for each job; and the dual of its LP, (10)-(11).

Symbols: x_pi `chosen`, t~_pi completion slot, C_h^r capacity; p_h^r[t] `price` of a unit of a resource; lambda_i
`payoff` of a job.

x_pi <= 1 would add a dual variable for each schedule; (9) implies it, so the print leaves them out, and so does
`dlsched.relaxations.dual` of the relaxation once the bound is dropped: same optimum. The paper says that the optimum of
R-DMLRS is the dual's; it is only a bound on it, since x_pi is binary.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from dlsched.lazy import pyo
from dlsched.models.dmlrs.frame import ROOM, finishing
from dlsched.models.dmlrs.instance import Instance
from dlsched.models.dmlrs.schedule import Schedule
from dlsched.models.dmlrs.schedules import Column, enumerate_schedules
from dlsched.models.formulation import Formulation, Kind
from dlsched.models.listed import Key, Place, at_most_one, chosen, derived, numbered, sets, users
from dlsched.models.parameters import declare


def numbers(instance: Instance, *journal: str) -> tuple[str, ...]:
    """Return the journal's numbers of equations, or those of the thesis's chapter 3 where it is about the instance."""
    return tuple(f"(3.{number})" if instance.asynchronous else f"({number})" for number in journal)


def build(instance: Instance, schedules: Mapping[str, Sequence[Column]] | None = None) -> pyo.ConcreteModel:
    """Return R-DMLRS over a set of schedules.

    Parameters
    ----------
    instance : Instance
    schedules : mapping of str to sequence of Column, optional
        Pi_i by job; where it is left out, every schedule in which no slot can be dropped (small instances only).

    References
    ----------
    PD-ORS, (8)-(9); PD-ORS thesis, (3.8)-(3.9). Equivalent to DMLRS if every Pi_i is complete.
    """
    m, columns, usage = frame("R-DMLRS", instance, schedules)
    eight, nine = numbers(instance, "8", "9")
    m.columns = columns
    m.chosen = pyo.Var(m.schedules, domain=pyo.Binary, doc="x_pi, whether the job runs by this schedule")
    m.total_utility = pyo.Objective(
        expr=sum(m.utility[key] * m.chosen[key] for key in columns),
        sense=pyo.maximize,
        doc=f"{eight} total utility",
    )

    def _capacity(m: Any, h: str, r: str, t: int) -> Any:
        return sum(float(amount) * m.chosen[key] for key, amount in usage[h, r, t]) <= m.room[h, r]

    m.capacity = pyo.Constraint(m.used, rule=_capacity, doc=f"{eight} capacity of a machine and resource in a slot")
    m.once = pyo.Constraint(m.I, rule=at_most_one(m.schedules), doc=f"{nine} at most one schedule a job")
    return m


def frame(
    name: str, instance: Instance, schedules: Mapping[str, Sequence[Column]] | None
) -> tuple[pyo.ConcreteModel, dict[Key, Column], dict[Place, list[tuple[Key, Fraction]]]]:
    """Return a model with what R-DMLRS and its dual share, the schedules, and which of them use how much."""
    m = pyo.ConcreteModel(name=name)
    columns = numbered(Column, instance, schedules, enumerate_schedules)
    usage = users((key, column.usage(instance)) for key, column in columns.items())
    m.I, m.schedules, m.used, m.HR = sets(instance, columns, usage, "resources", "those machines and resources")
    worth = {key: column.utility for key, column in columns.items()}
    room = {(h, r): instance.machine(h).capacity_of(r) for h, r in m.HR}
    why = derived(schedules)
    declare(m, "utility", (m.schedules,), worth, "u_i(t~_pi - a_i), worth of the schedule [utility]", follows=True)
    declare(m, "room", (m.HR,), room, ROOM, within=pyo.NonNegativeReals, follows=not why, why=why)
    return m, columns, usage


def read(model: Any, instance: Instance) -> Schedule:
    """Return the schedule of a solved model: those that are chosen, each until its job has done its work.

    It is worth what the objective says if the given schedules say of their utility what is true.
    """
    held = chosen(model)
    return finishing(instance, held, held)


def build_dual(instance: Instance, schedules: Mapping[str, Sequence[Column]] | None = None) -> pyo.ConcreteModel:
    """Return D-R-DMLRS over a set of schedules.

    Parameters
    ----------
    instance : Instance
    schedules : mapping of str to sequence of Column, optional
        As in `build`.

    References
    ----------
    PD-ORS, (10)-(11); PD-ORS thesis, (3.10)-(3.11).
    """
    m, columns, _ = frame("D-R-DMLRS", instance, schedules)
    ten, eleven = numbers(instance, "10", "11")
    m.payoff = pyo.Var(m.I, domain=pyo.NonNegativeReals, doc="lambda_i, the job's payoff")
    m.price = pyo.Var(m.used, domain=pyo.NonNegativeReals, doc="p_h^r[t], price of a unit")
    m.cost = pyo.Objective(
        expr=sum(m.payoff[i] for i in m.I) + sum(m.room[h, r] * m.price[h, r, t] for h, r, t in m.used),
        sense=pyo.minimize,
        doc=f"{ten} payoffs and the worth of the capacities",
    )

    def _payoff(m: Any, i: str, k: int) -> Any:
        used = sum(float(amount) * m.price[place] for place, amount in columns[i, k].usage(instance).items())
        return m.payoff[i] + used >= m.utility[i, k]

    m.reduced_utility = pyo.Constraint(m.schedules, rule=_payoff, doc=f"{eleven} payoff at least utility less cost")
    return m


SCHEDULES = Formulation(
    "dmlrs/schedules",
    Instance,
    "R-DMLRS: choose one of the given schedules for each job",
    ("(8)", "(9)", "(3.8)", "(3.9)"),
    Kind.EXACT,
    build,
    read,
    data={"schedules": "every schedule of every job in which no slot can be dropped"},
)

DUAL = Formulation(
    "dmlrs/dual",
    Instance,
    "D-R-DMLRS: the dual of R-DMLRS's LP relaxation",
    ("(10)", "(11)", "(3.10)", "(3.11)"),
    Kind.RELAXATION,
    build_dual,
    data={"schedules": "every schedule of every job in which no slot can be dropped"},
)
