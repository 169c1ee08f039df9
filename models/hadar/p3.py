"""P3, equations (3)-(3a): the dual of P2's LP relaxation, written as printed.

Symbols: k_h^r(t) `price`, the unit cost of a device; mu_j `payoff` of a job.

(2c) read as 0 <= y_js <= 1 would add a dual variable for each upper bound; (2b) implies y_js <= 1, so the print leaves
them out, and so does `dlsched.relaxations.dual` of P2's relaxation once the bound is dropped: same optimum.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dlsched.lazy import pyo
from dlsched.models.formulation import Formulation, Kind
from dlsched.models.hadar.instance import Instance
from dlsched.models.hadar.p2 import columns_of, frame, usage_of
from dlsched.models.hadar.schedules import Column


def build(instance: Instance, schedules: Mapping[str, Sequence[Column]] | None = None) -> pyo.ConcreteModel:
    """Return P3 over a set of schedules.

    Parameters
    ----------
    instance : Instance
    schedules : mapping of str to sequence of Column, optional
        As in `dlsched.models.hadar.p2.build`.

    Notes
    -----
    Source: Hadar, (3)-(3a), true as printed.
    """
    m = pyo.ConcreteModel(name="Hadar P3")
    columns = columns_of(instance, schedules)
    frame(m, instance, columns, usage_of(columns), listed=schedules is None)
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


P3 = Formulation(
    "hadar/p3",
    Instance,
    "P3: the dual of P2's LP relaxation",
    ("(3)", "(3a)"),
    Kind.RELAXATION,
    build,
    data={"schedules": "every schedule of every job in which no slot can be dropped"},
)
