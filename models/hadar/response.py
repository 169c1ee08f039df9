"""The best response of one job to prices, equations (4) and (8): its payoff, where other jobs have taken devices.

Symbols: k_h^r(t) `price` of a device, gamma_h^r(t) `allocated` devices; the others as in `dlsched.models.hadar.p1`, of
which this is the program of a single job with prices. Its optimum is mu_j = max(0, max_s phi_j(s)): (4) is the same
maximum over the schedules, listed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from dlsched.lazy import pyo
from dlsched.models.formulation import Formulation, Kind
from dlsched.models.hadar import p1
from dlsched.models.hadar.instance import Instance
from dlsched.models.hadar.round import devices
from dlsched.models.hadar.schedule import Schedule
from dlsched.models.job import job_or_first
from dlsched.models.parameters import declare, exact, filled

Place = tuple[str, str, int]
"""Machine, device type, slot."""


def build(
    instance: Instance,
    job: str | None = None,
    prices: Mapping[Place, float | Fraction] | None = None,
    allocated: Mapping[Place, int] | None = None,
) -> pyo.ConcreteModel:
    """Return (8), the payoff of a job at given prices beside what is allocated.

    Parameters
    ----------
    instance : Instance
    job : str, optional
        By default the first.
    prices : mapping, optional
        k_h^r(t) by (machine, type, slot), not negative; what is left out is free.
    allocated : mapping, optional
        gamma_h^r(t) by (machine, type, slot), at most c_h^r; what is left out is 0.

    Raises
    ------
    InputError
        If there is no such job or place, a price is negative, or other devices are allocated than there are.

    References
    ----------
    Hadar, (4) and (8) with (1a)-(1e); a job without a positive payoff is rejected.
    """
    own = job_or_first(instance.jobs, job)
    m = p1.frame(f"Hadar (8) of {own.name}", instance.model_copy(update={"jobs": (own,)}))
    m.job = own.name
    m.finish = p1.once(m)
    places = [(h, r, t) for h, r in m.HR for t in m.slots[own.name]]
    nothing = {
        (h.name, r, t): Fraction(0)
        for h in instance.machines
        for r in instance.device_types
        for t in range(1, instance.slots + 1)
    }
    kind = "a machine, a device type and a slot"
    price, gone = filled("prices", prices, nothing, kind), devices("allocated", instance, allocated, nothing, kind)
    m.HRT = pyo.Set(initialize=places, dimen=3, doc="machines, types and slots from the arrival on")
    paid = {place: price[place] for place in places}
    declare(
        m, "price", (m.HRT,), paid, "k_h^r(t), price of a device [utility]", within=pyo.NonNegativeReals, follows=True
    )
    text = "gamma_h^r(t), devices allocated to other jobs [devices]"
    taken = {place: gone[place] for place in places}
    declare(m, "allocated", (m.HRT,), taken, text, within=pyo.NonNegativeIntegers, follows=True)
    cost = sum(m.price[h, r, t] * m.devices[own.name, t, h, r] for h, r, t in m.HRT)
    m.payoff = pyo.Objective(
        expr=p1.completed(m) - cost, sense=pyo.maximize, doc="(8) utility less the cost of the devices"
    )
    m.capacity = pyo.Constraint(
        m.HRT,
        rule=lambda m, h, r, t: m.allocated[h, r, t] + m.devices[own.name, t, h, r] <= m.count[h, r],
        doc="(8) devices beside those that are allocated",
    )
    return m


@dataclass(frozen=True, slots=True)
class Response:
    """What a job takes at some prices.

    Attributes
    ----------
    schedule : Schedule
        Of this job alone; empty where it is rejected.
    payoff : Fraction
        mu_j, its utility less what it pays.

    Examples
    --------
    >>> from dlsched.models import build, hadar, read, solve
    >>> import pyomo.environ as pyo
    >>> instance = hadar.random(0)
    >>> model = build("hadar/response", instance, job="job2")
    >>> pyo.TransformationFactory("gdp.bigm").apply_to(model)
    >>> _ = solve(model)
    >>> response = read(model, instance)
    >>> response.payoff, list(response.schedule.jobs)
    (Fraction(17, 1), ['job2'])
    """

    schedule: Schedule
    payoff: Fraction


def read(model: Any, instance: Instance) -> Response:
    """Return what the job takes; the response's `payoff` is what the objective says."""
    schedule = p1.read(model, instance)
    price, payoff = exact(model.price), Fraction(0)
    if model.job in schedule.jobs:
        job, slots = instance.job(model.job), schedule.jobs[model.job].slots
        payoff = job.utility.exact(max(slots) - job.arrival) - sum(
            n * price[h, r, t] for t, held in slots.items() for h, devices in held.items() for r, n in devices.items()
        )
    return Response(schedule, payoff)


RESPONSE = Formulation(
    "hadar/response",
    Instance,
    "the best response of one job to prices, beside what is allocated",
    ("(1a)", "(1b)", "(1c)", "(1e)", "(8)"),
    Kind.SUBPROBLEM,
    build,
    read,
    data={"job": "the first", "prices": "free devices", "allocated": "no device"},
    disjunctive=True,
)
