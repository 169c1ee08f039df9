"""One round of Algorithm 1: which jobs of the queue run in a slot, and on which devices, at prices that stand still.

Symbols: w_jh^r `devices`, b_jl `level` (job j runs on no device slower than type l), k_h^r `price` of a device, and
gamma_h^r `allocated` devices.

This is (8) for all jobs in the queue with f_j fixed, which Section III-C reduces to the least cost of the round. The
least cost alone is that of no job; what is maximised here is the sum of the payoffs mu_j of Algorithm 2, Line 31,
utility less cost. The print does not say what f_j is before a job ends: read as the slot in which it would end at this
round's rate. Algorithm 2 itself raises the prices from job to job, and puts each job where it costs the least at once.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeVar

from dlsched.errors import InputError
from dlsched.lazy import pyo
from dlsched.models.formulation import Formulation, Kind
from dlsched.models.hadar.instance import Instance, Job
from dlsched.models.hadar.schedule import Allocation, bottleneck
from dlsched.models.parameters import declare, exact, filled

Cell = tuple[str, str]
"""Machine and device type."""

K = TypeVar("K", bound=tuple[Any, ...])


def build(
    instance: Instance,
    slot: int | None = None,
    left: Mapping[str, float | Fraction] | None = None,
    prices: Mapping[Cell, float | Fraction] | None = None,
    taken: Mapping[Cell, int] | None = None,
) -> pyo.ConcreteModel:
    """Return the selection of one round.

    Parameters
    ----------
    instance : Instance
    slot : int, optional
        t, the round; by default the first in which a job is there.
    left : mapping, optional
        Iterations that jobs have still to do, by name; what is left out has all to do, and a job with none is done.
    prices : mapping, optional
        k_h^r by (machine, type), not negative; what is left out is free.
    taken : mapping, optional
        gamma_h^r by (machine, type), at most c_h^r; what is left out is 0.

    Raises
    ------
    InputError
        If the slot is none, a job or a place is not of the instance, a number is negative, or other devices are taken
        than there are.

    References
    ----------
    Hadar, (8), Section III-C and Algorithm 2, corrected: payoffs are added up.
    """
    if slot is None:
        slot = min((job.arrival for job in instance.jobs), default=1)
    if not 1 <= slot <= instance.slots:
        raise InputError(f"slot: {slot} is not between 1 and {instance.slots}")
    nothing = {(h.name, r): Fraction(0) for h in instance.machines for r in instance.device_types}
    kind = "a machine and a device type"
    price, used = filled("prices", prices, nothing, kind), devices("taken", instance, taken, nothing, kind)
    m = pyo.ConcreteModel(name=f"Hadar, round {slot}")
    m.round = slot
    needed = filled("left", left, {job.name: job.iterations for job in instance.jobs}, "a job")
    queue = [job for job in instance.jobs if job.arrival <= slot and needed[job.name] > 0]
    worth = {
        (job.name, level): value
        for job in queue
        for level in instance.usable_types(job)
        if (value := _worth(instance, job, job.rate_on(level), slot, needed[job.name]))
    }
    _sets_and_data(m, instance, worth, needed, price, used)
    m.level = pyo.Var(m.JL, domain=pyo.Binary, doc="b_jl, the job runs on no device slower than the type")
    m.devices = pyo.Var(
        m.J,
        m.HR,
        domain=pyo.NonNegativeIntegers,
        bounds=lambda m, j, h, r: (0, min(m.count[h, r].value, m.gang[j])),
        doc="w_jh^r, devices in the round",
    )
    cost = sum(m.price[h, r] * m.devices[j, h, r] for j in m.J for h, r in m.HR)
    m.payoff = pyo.Objective(
        expr=sum(m.utility[jl] * m.level[jl] for jl in m.JL) - cost,
        sense=pyo.maximize,
        doc="(8) utility less the cost of the devices, over the queue",
    )
    own = {job.name: [level for j, level in worth if j == job.name] for job in queue}
    m.gang_or_nothing = pyo.Constraint(
        m.J,
        rule=lambda m, j: sum(m.devices[j, h, r] for h, r in m.HR) == m.gang[j] * sum(m.level[j, x] for x in own[j]),
        doc="(1e) a full gang, or no device",
    )
    m.one_level = pyo.Constraint(
        m.J, rule=lambda m, j: sum(m.level[j, x] for x in own[j]) <= 1, doc="(1b) one type is the slowest in use"
    )
    rates = {job.name: {r: job.rate_on(r) for r in instance.device_types} for job in queue}
    m.slower = pyo.Constraint(
        m.J,
        m.R,
        rule=lambda m, j, r: (
            sum(m.devices[j, h, s] for h, s in m.HR if s == r)
            <= m.gang[j] * sum(m.level[j, x] for x in own[j] if rates[j][x] <= rates[j][r])
        ),
        doc="(1b) no device is slower than the declared type",
    )
    m.capacity = pyo.Constraint(
        m.HR,
        rule=lambda m, h, r: m.allocated[h, r] + sum(m.devices[j, h, r] for j in m.J) <= m.count[h, r],
        doc="(8) devices beside those that are allocated",
    )
    return m


def devices(
    what: str,
    instance: Instance,
    given: Mapping[K, int] | None,
    nothing: Mapping[K, Fraction],
    kind: str,
) -> dict[K, int]:
    """Return the devices that others have by place, which begins with a machine and a type, as `filled` does.

    Raises
    ------
    InputError
        As `filled`, and if they are no whole number or more than there are.
    """
    found = filled(what, given, nothing, kind)
    for place, number in found.items():
        there = instance.machine(place[0]).count(place[1])
        if number.denominator > 1 or number > there:
            raise InputError(f"{what}[{', '.join(map(str, place))}]: {number} of {there} devices")
    return {place: int(number) for place, number in found.items()}


def _sets_and_data(
    m: Any,
    instance: Instance,
    worth: Mapping[tuple[str, str], Fraction],
    needed: Mapping[str, Fraction],
    prices: Mapping[Cell, Fraction],
    taken: Mapping[Cell, int],
) -> None:
    cells = [(h.name, r) for h in instance.machines for r in instance.device_types if h.count(r) and worth]
    m.J = pyo.Set(initialize=list(dict.fromkeys(j for j, _ in worth)), doc="jobs of the queue that could earn")
    m.JL = pyo.Set(initialize=list(worth), dimen=2, doc="jobs and the types that may be their slowest")
    m.R = pyo.Set(initialize=[r for r in instance.device_types if any(s == r for _, s in cells)], doc="device types")
    m.HR = pyo.Set(initialize=cells, dimen=2, doc="machines with a device of the type, where a job could earn")
    declare(m, "gang", (m.J,), {j: instance.job(j).gang for j in m.J}, "W_j, gang [devices]")
    text, why = "E_j N_j less what is done, to do still [iterations]", "what the levels are worth was derived from it"
    declare(m, "left", (m.J,), {j: needed[j] for j in m.J}, text, within=pyo.NonNegativeReals, why=why)
    declare(m, "utility", (m.JL,), worth, "U_j(f_j - a_j), worth of the job at this round's rate [utility]")
    declare(
        m,
        "count",
        (m.HR,),
        {(h, r): instance.machine(h).count(r) for h, r in cells},
        "c_h^r, devices of the machine [devices]",
        within=pyo.NonNegativeIntegers,
        why="the bounds of devices were derived from it",
    )
    price = {cell: prices[cell] for cell in cells}
    declare(m, "price", (m.HR,), price, "k_h^r, price of a device [utility]", within=pyo.NonNegativeReals, follows=True)
    allocated = {cell: taken[cell] for cell in cells}
    text = "gamma_h^r, devices allocated to other jobs [devices]"
    declare(m, "allocated", (m.HR,), allocated, text, within=pyo.NonNegativeIntegers, follows=True)


def _worth(instance: Instance, job: Job, rate: Fraction, slot: int, left: Fraction) -> Fraction:
    """Return U_j(f_j - a_j) where what is left is done at a rate from a slot on; 0 where it is not done by T."""
    completion = slot - 1 + math.ceil(left / (job.gang * rate * instance.slot_seconds))
    return job.utility.exact(completion - job.arrival) if completion <= instance.slots else Fraction(0)


@dataclass(frozen=True, slots=True)
class Round:
    """What a round runs.

    Attributes
    ----------
    allocations : dict of str to Allocation
        Devices by machine and type, of the jobs that run.
    payoff : Fraction
        Sum of mu_j.

    Examples
    --------
    >>> from dlsched.models import build, hadar, read, solve
    >>> instance = hadar.random(0)
    >>> model = build("hadar/round", instance, slot=2)
    >>> _ = solve(model)
    >>> now = read(model, instance)
    >>> now.payoff, now.allocations
    (Fraction(17, 1), {'job2': {'machine1': {'type1': 2}, 'machine2': {'type1': 1}}})
    """

    allocations: dict[str, Allocation]
    payoff: Fraction


def read(model: Any, instance: Instance) -> Round:
    """Return what the round runs; the round's `payoff` is what the objective says."""
    price, left, payoff = exact(model.price), exact(model.left), Fraction(0)
    allocations: dict[str, Allocation] = {}
    for j in model.J:
        held: dict[str, dict[str, int]] = {}
        for h, r in model.HR:
            if n := round(model.devices[j, h, r].value):
                held.setdefault(h, {})[r] = n
                payoff -= n * price[h, r]
        if held:
            job = instance.job(j)
            payoff += _worth(instance, job, bottleneck(job, held), model.round, left[j])
            allocations[j] = held
    return Round(allocations, payoff)


ROUND = Formulation(
    "hadar/round",
    Instance,
    "one round: which jobs of the queue run, and on which devices, at given prices",
    ("(1b)", "(1e)", "(8)"),
    Kind.SUBPROBLEM,
    build,
    read,
    data={"slot": "the first arrival", "left": "all iterations", "prices": "free devices", "taken": "no device"},
)
