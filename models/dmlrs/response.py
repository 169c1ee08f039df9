"""One job at prices: its schedule of the greatest payoff (15), its cheapest one (16)-(18), its cheapest slot (19)-(20).

Symbols: as in `dlsched.models.dmlrs.compact`; p_h^r[t] `price`, and C^_h^r[t] `residual`, what is left of a machine.
The minimum over the links, in (17) and (20), is the choice of Fact 1 again; (2) holds, corrected.

(15) is for x_i = 1: it has no point where the job cannot be done. (16) has a deadline in place of the t~_i of (15), and
(19) is (16) in a single slot, for a part of the work.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from dlsched.errors import InputError
from dlsched.lazy import pyo
from dlsched.models.dmlrs.compact import last, modes, total
from dlsched.models.dmlrs.frame import FITTED, finishing, placing, used, worths
from dlsched.models.dmlrs.instance import Instance, Machine
from dlsched.models.dmlrs.job import Job, Placement
from dlsched.models.dmlrs.schedule import Schedule, completions
from dlsched.models.dmlrs.slot import DATA, LEFT, PRICE, Amounts, SlotPlacement, chosen_job, share
from dlsched.models.formulation import Formulation, Kind
from dlsched.models.parameters import declare, filled

Cells = Mapping[tuple[str, str, int], float | Fraction]
"""By (machine, resource, slot)."""


@dataclass(frozen=True, slots=True)
class Response:
    """A schedule of one job, and what it pays for it.

    Attributes
    ----------
    job : str
    schedule : Schedule
    utility : float
        u_i(t~_i - a_i).
    cost : float
        Sum of the prices of what it uses.

    Examples
    --------
    >>> import pyomo.environ as pyo
    >>> from dlsched.models import build, dmlrs, read, solve
    >>> instance = dmlrs.random(0)
    >>> model = build("dmlrs/cheapest", instance, job="job3")
    >>> pyo.TransformationFactory("gdp.bigm").apply_to(model)
    >>> _ = solve(model)
    >>> response = read(model, instance)
    >>> response.job, response.utility, response.cost
    ('job3', 12.0, 4.0)
    """

    job: str
    schedule: Schedule
    utility: float
    cost: float

    @property
    def payoff(self) -> float:
        """Utility less cost, the right side of (11)."""
        return self.utility - self.cost


def build(
    instance: Instance,
    job: str | None = None,
    prices_by_slot: Cells | None = None,
    residuals_by_slot: Cells | None = None,
) -> pyo.ConcreteModel:
    """Return (15) as a generalised disjunctive program.

    Parameters
    ----------
    instance : Instance
    job : str, optional
        By default the first.
    prices_by_slot : mapping, optional
        p_h^r[t] by (machine, resource, slot); what is left out costs 1.
    residuals_by_slot : mapping, optional
        C^_h^r[t] by (machine, resource, slot); what is left out is all of C_h^r.

    Raises
    ------
    InputError
        If the jobs are asynchronous, there is no such job, or an amount is out of place or negative.

    References
    ----------
    PD-ORS, (15), with (2) corrected.
    """
    chosen = chosen_job(instance, "dmlrs/response", job, Job)
    slots = range(chosen.arrival, instance.slots + 1)
    m = _begin(instance, chosen, slots, prices_by_slot, residuals_by_slot, "(7)")
    worths(m, instance)
    m.completion = pyo.Var(m.IT, domain=pyo.Binary, doc="1 where the job's completion slot t~_i is t")
    m.payoff = pyo.Objective(
        expr=sum(m.utility[it] * m.completion[it] for it in m.IT) - _cost(m), sense=pyo.maximize, doc="(15) payoff"
    )
    m.admitted = pyo.Constraint(expr=sum(m.completion.values()) == 1, doc="(15) x_i = 1")
    m.work = pyo.Constraint(expr=sum(m.samples.values()) >= 1, doc="(3) all samples")
    m.last = pyo.Constraint(m.IT, rule=last, doc="(15) no worker after t~_i")
    return m


def build_cheapest(
    instance: Instance,
    job: str | None = None,
    deadline: int | None = None,
    prices_by_slot: Cells | None = None,
    residuals_by_slot: Cells | None = None,
) -> pyo.ConcreteModel:
    """Return (16)-(18) as a generalised disjunctive program.

    Parameters are those of `build`, and

    deadline : int, optional
        t~_i; by default the last slot.

    References
    ----------
    PD-ORS, (16)-(18), with (2) corrected.
    """
    chosen = chosen_job(instance, "dmlrs/cheapest", job, Job)
    final = instance.slots if deadline is None else deadline
    if not chosen.arrival <= final <= instance.slots:
        raise InputError(f"deadline: {final} is outside {chosen.arrival}..{instance.slots}")
    m = _begin(instance, chosen, range(chosen.arrival, final + 1), prices_by_slot, residuals_by_slot, "(16)")
    m.cost = pyo.Objective(expr=_cost(m), sense=pyo.minimize, doc="(16) cost")
    m.work = pyo.Constraint(expr=sum(m.samples.values()) >= 1, doc="(17) V_i samples")
    return m


def build_slot(
    instance: Instance,
    job: str | None = None,
    slot: int | None = None,
    workload: float | Fraction | None = None,
    prices: Amounts | None = None,
    residuals: Amounts | None = None,
) -> pyo.ConcreteModel:
    """Return (19)-(20) as a generalised disjunctive program.

    Parameters
    ----------
    instance : Instance
    job : str, optional
        By default the first.
    slot : int, optional
        By default that of the job's arrival.
    workload : number, optional
        V_i[t], samples to do in it; by default an equal share of V_i in each slot from the arrival on.
    prices, residuals : mapping, optional
        As in `dlsched.models.dmlrs.slot.build_external`.

    References
    ----------
    PD-ORS, (19)-(20), with (2) corrected.
    """
    chosen = chosen_job(instance, "dmlrs/one-slot", job, Job)
    t = chosen.arrival if slot is None else slot
    if not chosen.arrival <= t <= instance.slots:
        raise InputError(f"slot: {t} is outside {chosen.arrival}..{instance.slots}")
    m = _begin(instance, chosen, range(t, t + 1), _in_slot(prices, t), _in_slot(residuals, t), "(19)")
    done = share(instance, chosen, workload, chosen.work)
    declare(m, "workload", (), {None: done}, "V_i[t], work to do in the slot [samples]")
    m.cost = pyo.Objective(expr=_cost(m), sense=pyo.minimize, doc="(19) cost")
    m.work = pyo.Constraint(expr=sum(m.samples.values()) >= float(done / chosen.work), doc="(20) V_i[t] samples")
    return m


def _begin(
    instance: Instance, job: Job, slots: range, prices: Cells | None, residuals: Cells | None, number: str
) -> pyo.ConcreteModel:
    """Return a model of one job in some slots, on machines as large as what is left of them at the most."""
    every = range(1, instance.slots + 1)
    cells = [(h, r, t) for h in instance.machines for r in instance.resources for t in every]
    room = {(h.name, r, t): h.capacity_of(r) for h, r, t in cells}
    place = "a machine, a resource and a slot"
    price = filled("prices", prices, dict.fromkeys(room, Fraction(1)), place)
    left = filled("residuals", residuals, room, place)
    machines = tuple(
        Machine(name=h.name, capacity={r: max(left[h.name, r, t] for t in slots) for r in instance.resources})
        for h in instance.machines
    )
    moved = job.model_copy(update={"arrival": slots[0]})
    alone = Instance(slots=slots[-1], resources=instance.resources, machines=machines, jobs=(moved,))
    m = placing(alone, "one job at prices", number)
    m.job = job.name
    modes(m, alone)
    declare(m, "price", (m.used,), {cell: price[cell] for cell in m.used}, PRICE, follows=True)
    declare(
        m, "residual", (m.used,), {cell: left[cell] for cell in m.used}, LEFT, within=pyo.NonNegativeReals, why=FITTED
    )
    m.capacity = pyo.Constraint(
        m.used, rule=lambda m, h, r, t: used(m, h, r, t) <= m.residual[h, r, t], doc="(18) residual capacity"
    )
    m.most = pyo.Constraint(
        m.IT, rule=lambda m, i, t: total(m.workers, m, i, t) <= m.most_workers[i], doc="(4) at most F_i workers"
    )
    return m


def _in_slot(amounts: Amounts | None, slot: int) -> Cells:
    return {(h, r, slot): amount for (h, r), amount in (amounts or {}).items()}


def _cost(m: Any) -> Any:
    return sum(m.price[h, r, t] * used(m, h, r, t) for h, r, t in m.used)


def _placements(model: Any) -> dict[int, dict[str, tuple[int, int]]]:
    found: dict[int, dict[str, tuple[int, int]]] = {}
    for i, t, h in model.placed:
        counts = round(model.workers[i, t, h].value), round(model.servers[i, t, h].value)
        if any(counts):
            found.setdefault(t, {})[h] = counts
    return found


def _paid(model: Any, job: Job, slots: Mapping[int, Placement]) -> float:
    return sum(
        float(model.price[h, r, t].value) * float(amount)
        for t, placement in slots.items()
        for h, counts in placement.items()
        for r, amount in job.uses(*counts).items()
    )


def read(model: Any, instance: Instance) -> Response:
    """Return the schedule of a solved model, until its work is done, with what it is worth and costs.

    Raises
    ------
    UnreadableModel
        If the work is not done in exact numbers, or a rule is broken.
    """
    job = instance.job(model.job)
    assert isinstance(job, Job)
    schedule = finishing(instance, {job.name: _placements(model)}, [job.name])
    slots = schedule.placements(job.name)
    worth = job.utility(completions(instance, schedule)[job.name] - job.arrival)
    return Response(job.name, schedule, worth, _paid(model, job, slots))


def read_slot(model: Any, instance: Instance) -> SlotPlacement:
    """Return the placement of a solved model, and its cost."""
    job = instance.job(model.job)
    assert isinstance(job, Job)
    slots = _placements(model)
    return SlotPlacement(job.name, next(iter(slots.values()), {}), _paid(model, job, slots))


_BY_SLOT = {
    "job": DATA["job"],
    "prices_by_slot": "1 for every machine, resource and slot",
    "residuals_by_slot": "the machines' capacities in every slot",
}

RESPONSE = Formulation(
    "dmlrs/response",
    Instance,
    "the schedule of the greatest payoff of one job at prices",
    ("(1)", "(2)", "(3)", "(4)", "(7)", "(15)", "(18)"),
    Kind.SUBPROBLEM,
    build,
    read,
    data=_BY_SLOT,
    disjunctive=True,
)

CHEAPEST = Formulation(
    "dmlrs/cheapest",
    Instance,
    "the cheapest schedule of one job by a deadline",
    ("(1)", "(2)", "(4)", "(16)", "(17)", "(18)"),
    Kind.SUBPROBLEM,
    build_cheapest,
    read,
    data=_BY_SLOT | {"deadline": "the last slot"},
    disjunctive=True,
)

ONE_SLOT = Formulation(
    "dmlrs/one-slot",
    Instance,
    "the cheapest placement of one job in one slot, for a part of its work",
    ("(1)", "(2)", "(4)", "(18)", "(19)", "(20)"),
    Kind.SUBPROBLEM,
    build_slot,
    read_slot,
    data={"slot": "that of the job's arrival", **DATA},
    disjunctive=True,
)
