"""The prices of PD-ORS: the price function (12) and its constants (13), (14); in the thesis (3.12)-(3.14).

Symbols: p_h^r[t] price of a unit of resource r on machine h in slot t; rho_h^r[t] amount allocated there, C_h^r of it
there is; V work; kappa_I, kappa_E slots per unit of work and worker, internal and external; F most workers (K in the
thesis); n = ceil(V kappa_I / F), the slots that a job takes at least; N = ceil(V kappa_E) sum_r (alpha^r + beta^r).

mu is only bounded in the paper; here 1/mu is the greatest it may be, min_i N_i / (T sum C).

Repaired, five things that are wrong in the print: the utility's argument n - a, which is no duration (the least is
n - 1); a resource that some job does not need, where (13) divides by zero; utilities that are 0 at the horizon, which
make L = 0; jobs that cannot finish; capacities of 0.

Theorem, constants with which the competitive bound is true: if every C_h^r exceeds A_h^r, the most that any one job can
put there in a slot with min{F, ceil(V kappa_E)} workers and their servers, and the subproblem is solved within a factor
`factor`, then OPT <= 2 factor max(1, c) ALG, where c is the greatest C dp / (p_old drho) of the run (`alpha_measured`).
As printed, Theorems 5 and 6 and the thesis's Theorem
3 are false: one machine of capacity 2, one slot, a job worth 1 and then one worth any amount.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction

from dlsched.arguments import checked
from dlsched.arithmetic import exp, log
from dlsched.errors import InputError
from dlsched.models.dmlrs import Instance, Job
from dlsched.models.dmlrs.instance import AnyJob, can_earn, fewest_slots, last_earning, useful_workers

Cell = tuple[str, str]
"""The names of a machine and of a resource."""

_MOST = 345.0
"""Its power of e, 1e150, times any need and any count is a float."""


class Prices(StrEnum):
    """Which constants: as printed, repaired, or those of the corrected theorem.

    Examples
    --------
    >>> from dlsched.algorithms import pd_ors
    >>> from dlsched.models import dmlrs
    >>> instance = dmlrs.random(16, capacity=8)
    >>> for choice in pd_ors.Prices:
    ...     found = pd_ors.constants(instance, choice)
    ...     print(choice.value, float(found.high["resource1"]), pd_ors.run(instance, prices=choice).utility)
    printed 10.0 53.0
    repaired 10.0 53.0
    theorem 20.0 53.0
    """

    PRINTED = "printed"
    REPAIRED = "repaired"
    THEOREM = "theorem"


@dataclass(frozen=True, slots=True)
class PriceConstants:
    """The constants of the price function (12).

    Attributes
    ----------
    needed : dict of str to Fraction
        N_i, by job, of the jobs that (14) ranges over.
    inverse_mu : Fraction
        1/mu; 0 where there is no job.
    low : Fraction
        L, the price of a unit while nothing is allocated.
    high : dict of str to (Fraction or None)
        U^r, the price at saturation, by resource; None where (13) divides by zero. A resource without price is absent.
    saturation : dict of (str, str) to Fraction
        The amount at which the price of (machine, resource) reaches U^r: C_h^r, or less by A_h^r for the theorem. Cells
        with capacity 0 and resources without a price are absent, except as printed.
    d0 : Fraction
        D_0, the dual value before any admission: T L times the capacity of all that has a price.

    Examples
    --------
    >>> from dlsched.algorithms import pd_ors
    >>> from dlsched.models import dmlrs
    >>> instance = dmlrs.random(0)
    >>> found = pd_ors.constants(instance)
    >>> {job: str(samples) for job, samples in found.needed.items()}
    {'job2': '12', 'job3': '5'}
    >>> print(float(found.low), float(found.high["resource1"]))
    0.14756944444444445 12.0
    """

    needed: dict[str, Fraction]
    inverse_mu: Fraction
    low: Fraction
    high: dict[str, Fraction | None]
    saturation: dict[Cell, Fraction]
    d0: Fraction

    def price(self, machine: str, resource: str, amount: float | Fraction) -> float:
        """Return Q (12) where `amount` is allocated, L (U^r / L)^(amount / saturation).

        Raises
        ------
        InputError
            Where the print divides by zero: C_h^r = 0, L = 0, or U^r is undefined.
        KeyError
            If the cell has no price.
        """
        limit = self.saturation[machine, resource]
        if not limit:
            raise InputError(f"(12) divides by the capacity 0 of {resource} on machine {machine}")
        share = float(amount / limit)
        high = self.high[resource]
        if high is None:
            raise InputError(f"(13) divides by zero: some job needs nothing of {resource}")
        if not self.low:
            raise InputError("(12) divides by L = 0: the utility of some job is 0 at the horizon (14)")
        if share == 0 or not high:
            return 0.0 if share else float(self.low)
        if share == 1:
            return float(high)
        # Beyond saturation the price outgrows floats, and infinity times a need of 0 is no number; this blocks as well.
        return exp(min((1 - share) * log(self.low) + share * log(high), max(_MOST, log(high))))

    def log_ratio(self, resource: str) -> float:
        """Return ln(U^r / L); infinite where L is 0, minus infinity where U^r is.

        Raises
        ------
        InputError
            If U^r is undefined.
        """
        high = self.high[resource]
        if high is None:
            raise InputError(f"(13) divides by zero: some job needs nothing of {resource}")
        if not self.low:
            return math.inf
        return log(high) - log(self.low) if high else -math.inf


@checked
def constants(
    instance: Instance, choice: Prices | str = Prices.REPAIRED, *, factor: float | Fraction = 1
) -> PriceConstants:
    """Return the constants (13) and (14) of an instance; of an asynchronous one (3.13) and (3.14).

    Parameters
    ----------
    instance : Instance
    choice : str
        ``"printed"``, ``"repaired"`` or ``"theorem"``.
    factor : number
        For the theorem: how far from the least cost the subproblem's schedules may be, at least 1; L is divided by it.

    Raises
    ------
    InputError
        If there is no such choice. Printed: if a job needs nothing, or the cluster has nothing, so that (14) or its mu
        divides by zero. Theorem: if its premise C > A fails, or the factor is below 1.

    Examples
    --------
    >>> from dlsched.algorithms import pd_ors
    >>> from dlsched.models import dmlrs
    >>> instance = dmlrs.random(0)
    >>> mine = pd_ors.constants(instance, "repaired", factor=2)
    >>> pd_ors.run(instance, prices=mine).utility
    12.0
    """
    chosen = Prices(choice)
    if chosen is Prices.PRINTED:
        return _printed(instance)
    if factor < 1:
        raise InputError(f"factor: {factor} must be at least 1")
    jobs = [job for job in instance.jobs if can_earn(instance, job) and demand(instance.resources, job)]
    theorem = chosen is Prices.THEOREM
    needed = {job.name: demand(instance.resources, job) for job in jobs}
    inverse_mu = min(needed.values(), default=Fraction(0)) / (instance.slots * (_total(instance) or 1))
    worth = (job.utility.exact(last_earning(instance, job)) / needed[job.name] for job in jobs)
    low = inverse_mu / 2 * min(worth, default=Fraction(0)) / (Fraction(factor) if theorem else 1)
    used = [r for r in instance.resources if any(_unit(job, r) for job in jobs)]
    high: dict[str, Fraction | None] = {r: _top_of_any(jobs, r) if theorem else _top(jobs, r) for r in used}
    if theorem and (unmet := unmet_premises(instance)):
        machine, r = unmet[0]
        raise InputError(f"machine {machine}: one job can take all of its {r}, against the premise of the theorem")
    saturation = {
        (machine.name, r): machine.capacity_of(r) - (most_in_slot(jobs, r) if theorem else 0)
        for machine in instance.machines
        for r in used
        if machine.capacity_of(r)
    }
    priced = sum((instance.machine(h).capacity_of(r) for h, r in saturation), Fraction(0))
    return PriceConstants(needed, inverse_mu, low, high, saturation, instance.slots * low * priced)


def _printed(instance: Instance) -> PriceConstants:
    total = _total(instance)
    needed = {job.name: demand(instance.resources, job, printed=True) for job in instance.jobs}
    for name, amount in needed.items():
        if not amount:
            raise InputError(f"job {name}: needs no resource, by which (14) divides")
    if not total and instance.jobs:
        raise InputError("machines: have no capacity at all, by which the bound on mu divides")
    inverse_mu = min(needed.values(), default=Fraction(0)) / (instance.slots * (total or 1))
    worth = (job.utility.exact(instance.slots - job.arrival) / needed[job.name] for job in instance.jobs)
    low = inverse_mu / 2 * min(worth, default=Fraction(0))
    high: dict[str, Fraction | None] = {}
    for r in instance.resources:
        units = [_unit(job, r) for job in instance.jobs]
        tops = (job.utility.exact(fewest_slots(job, job.internal_time) - job.arrival) for job in instance.jobs)
        high[r] = (
            max((top / u for top, u in zip(tops, units, strict=True)), default=Fraction(0)) if all(units) else None
        )
    saturation = {
        (machine.name, r): machine.capacity_of(r) for machine in instance.machines for r in instance.resources
    }
    return PriceConstants(needed, inverse_mu, low, high, saturation, instance.slots * low * total)


def demand(resources: Iterable[str], job: AnyJob, *, printed: bool = False) -> Fraction:
    """Return N_i = ceil(V kappa_E) sum_r (alpha^r + beta^r) over some r; repaired, with the slower of the two rates."""
    time = job.external_time if printed else max(job.internal_time, job.external_time)
    return math.ceil(job.work * time) * sum((_unit(job, r) for r in resources), Fraction(0))


def most_in_slot(jobs: Iterable[AnyJob], resource: str) -> Fraction:
    """Return A^r, the most of a resource that one of the jobs puts on a machine in a slot with what is of use there.

    Of more workers than `useful_workers` some can be left out, and of more servers than these want, the idle ones.
    """
    return max((_most(job, resource) for job in jobs), default=Fraction(0))


@checked
def unmet_premises(instance: Instance) -> list[Cell]:
    """Return the cells with 0 < C_h^r <= A^r, where the corrected theorem's premise fails.

    Examples
    --------
    >>> from dlsched.algorithms import pd_ors
    >>> from dlsched.models import dmlrs
    >>> pd_ors.unmet_premises(dmlrs.random(0))
    [('machine1', 'resource1'), ('machine1', 'resource2'), ('machine2', 'resource1'), ('machine2', 'resource2')]
    """
    jobs = [job for job in instance.jobs if can_earn(instance, job)]
    most = {r: most_in_slot(jobs, r) for r in instance.resources}
    return [
        (machine.name, r)
        for machine in instance.machines
        for r in instance.resources
        if 0 < machine.capacity_of(r) <= most[r]
    ]


def _most(job: AnyJob, resource: str) -> Fraction:
    workers = useful_workers(job)
    if isinstance(job, Job):
        servers = job.servers_for(workers)
    else:
        rate = max(job.internal_rate, job.external_rate)
        servers = min(workers, math.ceil(workers * rate / job.server_rate))
    return workers * job.worker_needs(resource) + servers * job.server_needs(resource)


def _unit(job: AnyJob, resource: str) -> Fraction:
    return job.worker_needs(resource) + job.server_needs(resource)


def _total(instance: Instance) -> Fraction:
    return sum(instance.capacity.values(), Fraction(0))


def _top(jobs: Sequence[AnyJob], resource: str) -> Fraction:
    """Return U^r (13) with the argument n - 1, over the jobs that need the resource."""
    return max(job.utility.exact(fewest_slots(job) - 1) / unit for job in jobs if (unit := _unit(job, resource)))


def _top_of_any(jobs: Sequence[AnyJob], resource: str) -> Fraction:
    """Return max u(0) over the least need of one worker or one server: no job would pay more for a unit."""
    needs = [need for job in jobs for need in (job.worker_needs(resource), job.server_needs(resource)) if need]
    return max(job.utility.exact(0) for job in jobs) / min(needs)
