"""What PD-ORS says of L in (14), common to all resources: an L^r for each would do, and makes lower prices."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

from dlsched.algorithms.pd_ors.prices import demand
from dlsched.bounds.claim import Expectation, Premise, Source, always, stated
from dlsched.bounds.comparison import Relation
from dlsched.bounds.pd_ors.facts import (
    ADMITS_ONE,
    AGAINST_OPT,
    LOWEST_POSITIVE,
    ORDINARY,
    PD_ORS,
    PRICES_DEFINED,
    PdOrsFacts,
)
from dlsched.bounds.pd_ors.families import TINY
from dlsched.models.dmlrs import AsyncJob, Instance, Job, Machine
from dlsched.models.utility import Table


def several_resources(rng: np.random.Generator) -> Instance:
    """Return one job that takes a worker and a server, of 2-4 resources, most of one machine in one slot."""
    resources = tuple(f"r{k + 1}" for k in range(int(rng.integers(2, 5))))
    worker, server = (
        {r: Fraction(int(n)) for r, n in zip(resources, rng.integers(1, 4, size=len(resources)), strict=True)}
        for _ in "ws"
    )
    room = {r: worker[r] + server[r] + int(rng.integers(0, 3)) for r in resources}
    job = Job(
        name="J1",
        arrival=1,
        epochs=Fraction(1),
        samples=Fraction(1),
        batch=1,
        slots_per_sample=Fraction(1),
        gradient_size=Fraction(0),
        workers_per_server=Fraction(1),
        internal_rate=Fraction(1),
        external_rate=Fraction(1),
        worker=worker,
        server=server,
        utility=Table(values=(Fraction(int(rng.integers(1, 100))),)),
    )
    return Instance(slots=1, resources=resources, machines=(Machine(name="M1", capacity=room),), jobs=(job,))


SEVERAL_RESOURCES = Source("pd-ors/several-resources", several_resources)


def _least_worth(facts: PdOrsFacts) -> Fraction:
    return min(job.utility.exact(facts.instance.slots - job.arrival) for job in facts.instance.jobs)


def _capacity(facts: PdOrsFacts, resource: str) -> Fraction:
    return sum((machine.capacity_of(resource) for machine in facts.instance.machines), Fraction(0))


def _needed(job: Job | AsyncJob, resource: str) -> Fraction:
    """Return ceil(V kappa_E) (alpha^r + beta^r), the r-th term of the sum in (14) and in the bound on mu."""
    return demand([resource], job, printed=True)


def _each_needs_all(facts: PdOrsFacts) -> bool:
    return all(_needed(job, r) for job in facts.instance.jobs for r in facts.instance.resources)


def _initial_dual(facts: PdOrsFacts, *, own_mu: bool) -> Fraction:
    """Return D_0 with L^r, (14) with the r-th term of the sum alone, over the jobs that need r.

    Parameters
    ----------
    facts : PdOrsFacts
    own_mu : bool
        Whether mu^r has the r-th term alone in its bound as well; else mu is that of (14).
    """
    slots, resources = facts.instance.slots, facts.instance.resources
    return sum((slots * _capacity(facts, r) * _low(facts, r, own_mu=own_mu) for r in resources), Fraction(0))


def _low(facts: PdOrsFacts, resource: str, *, own_mu: bool = False) -> Fraction:
    """Return L^r, as `_initial_dual` has it; 0 where no job needs r."""
    slots = facts.instance.slots
    needs = [(job, need) for job in facts.instance.jobs if (need := _needed(job, resource))]
    if not needs:
        return Fraction(0)
    room = slots * sum((_capacity(facts, r) for r in facts.instance.resources), Fraction(0))
    own = min(need for _, need in needs) / room
    least = min(job.utility.exact(slots - job.arrival) / need for job, need in needs)
    return (own if own_mu else facts.defined_constants.inverse_mu) / 2 * least


def _initial_dual_corrected(facts: PdOrsFacts) -> Fraction:
    """Return D_0 with L^r = min_i u_i(T - a_i)/(2 T R sum_h C_h^r)."""
    slots, resources = facts.instance.slots, facts.instance.resources
    return sum(
        (
            slots * room * _least_worth(facts) / (2 * slots * len(resources) * room)
            for r in resources
            if (room := _capacity(facts, r))
        ),
        Fraction(0),
    )


LOW_BY_RESOURCE = AGAINST_OPT.printed(
    "pd-ors/low-by-resource",
    paper="PD-ORS, Section 4.2, the second remark on (14)",
    statement="with L^r in place of L the proof of Theorem 5 needs new notation alone: D_0 <= OPT/2 still",
    quantity="D_0 = T sum_h sum_r C_h^r L^r, L^r with mu^r, against OPT/2",
    measure=partial(_initial_dual, own_mu=True),
    relation=Relation.AT_MOST,
    bound=lambda facts: facts.opt.over(2),
    expectation=Expectation.TRUE,
    premises=(
        PRICES_DEFINED,
        Premise(
            "alpha_i^r + beta_i^r > 0 for all i and r",
            _each_needs_all,
            "Section 4.2: (13) divides by it, and (14) with L^r",
        ),
        ADMITS_ONE,
    ),
    sources=(TINY, SEVERAL_RESOURCES),
    golden=("pd-ors-low-by-resource-two-resources",),
    open=(
        "what L^r is: here (14), and its mu^r as mu, with the r-th term alone of each sum of alpha^r + beta^r over r, "
        "and the greatest 1/mu^r"
    ),
)

LOW_BY_RESOURCE_SAME_MU = LOW_BY_RESOURCE.derived(
    "pd-ors/low-by-resource-same-mu",
    paper="PD-ORS, Section 4.2, the second remark on (14), with the mu of (14)",
    statement="with the r-th term of the sum in (14) alone, and mu as it is, D_0 <= OPT/2",
    quantity="D_0 = T sum_h sum_r C_h^r L^r, L^r with mu, against OPT/2",
    measure=partial(_initial_dual, own_mu=False),
    expectation=Expectation.FALSE,
    premises=(PRICES_DEFINED, ORDINARY, ADMITS_ONE),
    counterexamples=("pd-ors-low-by-resource-same-mu-hundredths",),
)

LOW_BY_RESOURCE_SAME_MU_CORRECTED = LOW_BY_RESOURCE_SAME_MU.corrected(
    statement="with L^r = min_i u_i(T - a_i)/(2 T R sum_h C_h^r), D_0 <= OPT/2",
    quantity="D_0 = T sum_h sum_r C_h^r L^r, against OPT/2",
    measure=_initial_dual_corrected,
    golden=("pd-ors-low-by-resource-same-mu-corrected-two-resources",),
)


def _at_half(facts: PdOrsFacts, resource: str, **changes: Any) -> float:
    """Return the least price (12) of a resource of a machine of which half is allocated, some constants changed."""
    constants = replace(facts.defined_constants, **changes)
    halves = ((machine.name, machine.capacity_of(resource) / 2) for machine in facts.instance.machines)
    return min(constants.price(name, resource, half) for name, half in halves)


def _less_low(facts: PdOrsFacts) -> list[float]:
    """Return the prices with L over those with L^r, by resource with L < L^r."""
    lows = {r: _low(facts, r) for r in _highs(facts)}
    return [
        _at_half(facts, r) / _at_half(facts, r, low=low) for r, low in lows.items() if facts.defined_constants.low < low
    ]


def _less_high(facts: PdOrsFacts) -> list[float]:
    """Return the prices over those with twice U^r, by resource."""
    highs = _highs(facts)
    double = {r: 2 * high for r, high in highs.items()}
    return [_at_half(facts, r) / _at_half(facts, r, high=double) for r in highs]


def _highs(facts: PdOrsFacts) -> dict[str, Fraction]:
    """Return U^r where it is above 0: with U^r = 0 the price (12) is 0, and U^r/L, whatever L is."""
    return {r: high for r, high in facts.defined_constants.high.items() if high}


def _lows(facts: PdOrsFacts) -> dict[str, Any]:
    constants = facts.defined_constants
    return {
        "L": float(constants.low),
        "L^r": {r: float(_low(facts, r)) for r in facts.instance.resources},
        "U": {r: float(high) for r, high in constants.high.items() if high is not None},
    }


LARGER_RATIO = PD_ORS.printed(
    "pd-ors/larger-ratio",
    paper="PD-ORS, Section 4.2, the second remark on (14)",
    statement="L, common to all resources, yields a larger ratio U^r/L than L^r, and so a greater price",
    quantity="least price at half of the capacity with L over that with L^r, where L < L^r, against 1",
    measure=lambda facts: min(_less_low(facts)),
    relation=Relation.AT_LEAST,
    bound=always(1),
    expectation=Expectation.FALSE,
    premises=(
        PRICES_DEFINED,
        LOWEST_POSITIVE,
        Premise(
            "U^r/L > U^r/L^r for some r", lambda facts: bool(_less_low(facts)), "Section 4.2: to yield a larger ratio"
        ),
    ),
    details=_lows,
    sources=(TINY, SEVERAL_RESOURCES),
    counterexamples=("pd-ors-larger-ratio-hundred-and-ten",),
    open="what L^r is: here (14) with the r-th term of the sum alone, and mu as it is; any L^r > L will do; what is "
    "greater: the price, as the print says; of the factor U^r/L by which it rises in all, it is true",
)

LARGER_RATIO_CORRECTED = LARGER_RATIO.corrected(
    statement="with a greater U^r the price is greater at every rho > 0; with a smaller L it is not, and lower at "
    "every rho < C; looked at where rho = C/2",
    quantity="greatest price at half of the capacity over that with twice U^r, and with L over one with L^r, against 1",
    measure=lambda facts: max(_less_low(facts) + _less_high(facts)),
    relation=Relation.AT_MOST,
    golden=("pd-ors-larger-ratio-corrected-hundred-and-ten",),
)

CLAIMS = stated(globals())
