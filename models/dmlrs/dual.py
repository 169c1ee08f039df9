"""D-R-DMLRS, (10)-(11): the dual of R-DMLRS's LP relaxation, written as printed.

Symbols: p_h^r[t] `price` of a unit of a resource; lambda_i `payoff` of a job.

x_pi <= 1 would add a dual variable for each schedule; (9) implies it, so the print leaves them out, and so does
`dlsched.relaxations.dual` of the relaxation once the bound is dropped: same optimum. The paper says that the optimum of
R-DMLRS is the dual's; it is only a bound on it, since x_pi is binary.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dlsched.lazy import pyo
from dlsched.models.dmlrs.instance import Instance
from dlsched.models.dmlrs.reformulated import columns_of, frame, numbers, usage_of
from dlsched.models.dmlrs.schedules import Column
from dlsched.models.formulation import Formulation, Kind


def build(instance: Instance, schedules: Mapping[str, Sequence[Column]] | None = None) -> pyo.ConcreteModel:
    """Return D-R-DMLRS over a set of schedules.

    Parameters
    ----------
    instance : Instance
    schedules : mapping of str to sequence of Column, optional
        As in `dlsched.models.dmlrs.reformulated.build`.

    Source: PD-ORS, (10)-(11); PD-ORS thesis, (3.10)-(3.11).
    """
    m = pyo.ConcreteModel(name="D-R-DMLRS")
    ten, eleven = numbers(instance, "10", "11")
    columns = columns_of(instance, schedules)
    frame(m, instance, columns, usage_of(instance, columns), listed=schedules is None)
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


DUAL = Formulation(
    "dmlrs/dual",
    Instance,
    "D-R-DMLRS: the dual of R-DMLRS's LP relaxation",
    ("(10)", "(11)", "(3.10)", "(3.11)"),
    Kind.RELAXATION,
    build,
    data={"schedules": "every schedule of every job in which no slot can be dropped"},
)
