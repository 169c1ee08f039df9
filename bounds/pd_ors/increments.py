"""The allocation-cost relation (Definition 1), Lemma 9, which uses it, and Lemma 10, its differential form."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Self

import numpy as np
from pydantic import model_validator

from dlsched.arithmetic import exp, expm1, log
from dlsched.bounds.claim import Expectation, Premise, Source, Subject, Variant, stated
from dlsched.bounds.comparison import Relation
from dlsched.bounds.pd_ors.competitive import SMALL
from dlsched.bounds.pd_ors.facts import LOWEST_POSITIVE, PD_ORS, PRICES_DEFINED, SMALL_NEEDS, SOME_ADMITTED
from dlsched.bounds.pd_ors.families import FINE, FINER, SMALL_JOBS
from dlsched.bounds.pd_ors.ratios import OPEN_SMALL, SMALL_RATIOS, known_alpha
from dlsched.models.document import Document
from dlsched.models.numbers import Positive, rational, to_json
from dlsched.tolerances import DIFFERENCE


class Increment(Document):
    """One admission that uses one resource of one machine in one slot, all of it free before.

    Attributes
    ----------
    utility : Fraction
        u of the job.
    amount : Fraction
        drho, what it takes.
    capacity : Fraction
        C.
    low, high : Fraction
        L and U of the price function (12).
    gain, delta, epsilon : Fraction
        Of Definition 1.
    """

    utility: Positive
    amount: Positive
    capacity: Positive
    low: Positive
    high: Positive
    gain: Positive
    delta: Positive
    epsilon: Positive

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if self.amount > self.capacity:
            raise ValueError(f"amount: {to_json(self.amount)} exceeds the capacity {to_json(self.capacity)}")
        if self.high < self.low:
            raise ValueError(f"high: {to_json(self.high)} is below low, {to_json(self.low)}")
        if self.delta > 1:
            raise ValueError(f"delta: {to_json(self.delta)} exceeds 1")
        return self


def increment(rng: np.random.Generator) -> Increment:
    """Return an admission for which the relation of Definition 1 holds, with little to spare.

    In half of them prices rise little and the gain is small.
    """
    capacity, low = int(rng.integers(1, 6)), float(rng.uniform(0.05, 2))
    flat = bool(rng.integers(2))
    log_ratio, share = float(rng.uniform(0.05, 0.5 if flat else 6)), float(rng.uniform(0.1, 1))
    gain, delta = float(exp(rng.uniform(-4, -2 if flat else 1.5))), float(rng.uniform(0.1, 1))
    least = delta / (3 * gain) * expm1(log_ratio * share) / share
    return Increment(
        utility=_rational(low * share * capacity + rng.uniform(0.01, 3)),
        amount=_rational(share * capacity),
        capacity=rational(capacity),
        low=_rational(low),
        high=_rational(low * exp(log_ratio)),
        gain=_rational(gain),
        delta=_rational(delta),
        epsilon=_rational(max(1.0, least) * rng.uniform(1.001, 1.5)),
    )


def priced(rng: np.random.Generator) -> Increment:
    """Return an admission at prices by (13) and (14), for which the relation of Definition 1 holds, little to spare.

    Half of them are at the greatest L and the least U that the utility of the job allows.
    """
    capacity, share, utility = int(rng.integers(1, 21)), float(exp(rng.uniform(-3, 0))), float(exp(rng.uniform(0, 5)))
    away = float(rng.uniform(1, 5)) if rng.integers(2) else 1.0
    low, high = utility / (2 * capacity) / away, utility / (share * capacity) * away
    delta, epsilon = float(rng.uniform(0.1, 1)), 1 - log(1 - rng.random())
    factor = share / expm1(log(high / low) * share) * float(rng.uniform(0.8, 0.999))
    # A thousandth off, so that what is rounded to six digits is still within (13), (14) and Definition 1.
    return Increment(
        utility=_rational(utility),
        amount=_rational(share * capacity),
        capacity=rational(capacity),
        low=_rational(low * 0.999),
        high=_rational(high * 1.001),
        gain=_rational(delta / (3 * factor * epsilon) * 1.001),
        delta=_rational(delta),
        epsilon=_rational(epsilon),
    )


INCREMENT = Source("pd-ors/increment", increment)
PRICED = Source("pd-ors/priced-increment", priced)


def _rational(value: float) -> Any:
    return rational(f"{value:.6f}")


class IncrementFacts:
    """What an admission does to the price, the primal and the dual value.

    Parameters
    ----------
    instance : Increment
    seed : int
        Not used: nothing is drawn.
    """

    def __init__(self, instance: Increment, seed: int) -> None:
        del seed
        self.instance = instance
        self.log_ratio = log(instance.high / instance.low)
        self.factor = float(instance.delta / (3 * instance.gain) / instance.epsilon)
        self.rise = float(instance.capacity) * (self.price(float(instance.amount)) - float(instance.low))
        self.payoff = float(instance.utility - instance.low * instance.amount)

    def price(self, amount: float) -> float:
        """Return the price (12) where `amount` is allocated."""
        return float(self.instance.low) * exp(self.log_ratio * amount / float(self.instance.capacity))

    @property
    def above_utilities(self) -> bool:
        """Whether U is at least the utility of a unit: (13) has U >= u/(alpha + beta), and drho >= alpha + beta."""
        return self.instance.high * self.instance.amount >= self.instance.utility

    @property
    def below_utilities(self) -> bool:
        """Whether L <= u/(2 C), since (14) has L <= u(T - a)/(2 mu N) and mu N >= T sum_h sum_r C_h^r."""
        return 2 * self.instance.capacity * self.instance.low <= self.instance.utility

    @property
    def related(self) -> bool:
        """Whether p_old drho >= (delta/3G)/epsilon C dp."""
        return float(self.instance.low * self.instance.amount) >= self.factor * self.rise

    def slope(self) -> float:
        """Return dp/drho at half of the amount, by a central difference."""
        middle, step = float(self.instance.amount) / 2, DIFFERENCE * float(self.instance.amount)
        return (self.price(middle + step) - self.price(middle - step)) / (2 * step)

    @property
    def shared_rise(self) -> float:
        """(delta/3G)/epsilon (D_i - D_(i-1))."""
        return self.factor * (self.payoff + self.rise)

    @property
    def price_at_half(self) -> float:
        """P at half of the amount."""
        return self.price(float(self.instance.amount) / 2)

    @property
    def slope_at_half(self) -> float:
        """C/ln(U/L) dp/drho there."""
        return float(self.instance.capacity) / self.log_ratio * self.slope()

    def dump(self) -> dict[str, Any]:
        """Return plain JSON data."""
        return {"payoff": self.payoff, "C dp": self.rise, "factor": self.factor}


ADMISSION = Subject(problem="dmlrs", instance=Increment, facts=IncrementFacts, sources=(INCREMENT,))
"""What claims about one admission are about."""

_RELATED = (
    Premise[IncrementFacts]("the job is admitted", lambda facts: facts.payoff > 0, "Algorithm 1, step 3"),
    Premise[IncrementFacts]("epsilon >= 1", lambda facts: facts.instance.epsilon >= 1, "Lemma 9"),
    Premise[IncrementFacts](
        "p_old drho >= (delta/3G)/epsilon C dp", lambda facts: facts.related, "Lemma 9, Definition 1"
    ),
)

LEMMA_9 = ADMISSION.printed(
    "pd-ors/lemma-9",
    paper="PD-ORS, Lemma 9",
    statement="if Definition 1 holds for epsilon >= 1, P_i - P_(i-1) >= (delta/3G)/epsilon (D_i - D_(i-1))",
    quantity="P_i - P_(i-1), against (delta/3G)/epsilon (D_i - D_(i-1))",
    measure=lambda facts: facts.instance.utility,
    relation=Relation.AT_LEAST,
    bound=lambda facts: facts.shared_rise,
    expectation=Expectation.TRUE,
    premises=(
        *_RELATED,
        Premise[IncrementFacts](
            "U >= u_i/drho, as U^r >= u_i/(alpha_i^r + beta_i^r)",
            lambda facts: facts.above_utilities,
            "Section 4.2, (13)",
        ),
        Premise[IncrementFacts](
            "L <= u_i/(2 C), as L <= u_i(T - a_i)/(2 mu N_i) and mu N_i >= T sum_h sum_r C_h^r",
            lambda facts: facts.below_utilities,
            "Section 4.2, (14)",
        ),
    ),
    details=IncrementFacts.dump,
    sources=(PRICED,),
    golden=("pd-ors-lemma-9-whole-machine",),
)

LEMMA_9_ANY_PRICES = LEMMA_9.derived(
    "pd-ors/lemma-9-any-prices",
    paper="PD-ORS, Lemma 9, with L and U that (14) does not bound",
    statement="if Definition 1 holds for epsilon >= 1, P_i - P_(i-1) >= (delta/3G)/epsilon (D_i - D_(i-1)), for (12) "
    "with any L <= U",
    expectation=Expectation.FALSE,
    premises=_RELATED,
    sources=(INCREMENT,),
    counterexamples=("pd-ors-lemma-9-any-prices-flat",),
)

LEMMA_9_ANY_PRICES_CORRECTED = LEMMA_9_ANY_PRICES.corrected(
    statement="the same if also 3 G epsilon >= delta",
    premises=(*_RELATED, Premise[IncrementFacts]("3 G epsilon >= delta", lambda facts: facts.factor <= 1)),
    golden=("pd-ors-lemma-9-any-prices-corrected-gain-1",),
)

LEMMA_10 = ADMISSION.printed(
    "pd-ors/lemma-10",
    paper="PD-ORS, Lemma 10",
    statement="epsilon = ln(U/L) and (12) satisfy p drho >= C/epsilon dp",
    quantity="p at half of the amount, against C/ln(U/L) dp/drho there, by a central difference",
    measure=lambda facts: facts.price_at_half,
    relation=Relation.EQUAL,
    bound=lambda facts: facts.slope_at_half,
    expectation=Expectation.TRUE,
    premises=(Premise("ln(U/L) >= 1", lambda facts: facts.log_ratio >= 1, "Appendix C: epsilon >= 1"),),
    golden=("pd-ors-lemma-10-two",),
)


ALLOCATION_COST = SMALL_RATIOS.printed(
    "pd-ors/allocation-cost",
    paper="PD-ORS, Appendix C, proof of Theorems 5 and 6",
    statement="(12) satisfies Definition 1, p_old drho >= (delta/3G)/epsilon C dp, with epsilon = max_r(1, ln(U^r/L))",
    quantity="greatest C dp/(p_old drho) of the run, against 3 G/delta max_r(1, ln(U^r/L)), G of (30)",
    measure=lambda facts: facts.printed.alpha,
    relation=Relation.AT_MOST,
    bound=lambda facts: facts.factor(facts.ratio_30),
    expectation=Expectation.FALSE,
    premises=(
        PRICES_DEFINED,
        LOWEST_POSITIVE,
        SMALL_NEEDS,
        Premise("some job is admitted", lambda facts: bool(facts.printed.admissions), "Definition 1: after a job"),
    ),
    details=lambda facts: {"delta": facts.delta, **facts.printed.dump()},
    schedule=lambda facts: facts.printed.run.schedule,
    sources=(FINE, FINER, SMALL_JOBS),
    counterexamples=("pd-ors-allocation-cost-small-jobs", "pd-ors-allocation-cost-whole-machine"),
    open=OPEN_SMALL,
)

ALLOCATION_COST_CORRECTED = replace(
    PD_ORS.derived(
        ALLOCATION_COST.id,
        paper=ALLOCATION_COST.paper,
        statement="(12) satisfies p_old drho >= C dp/epsilon, epsilon = max over (h, r) of ((U^r/L)^(A/C) - 1) C/A, A "
        "the most that one job puts there in a slot with min{F, ceil(V max(kappa_I, kappa_E))} workers",
        quantity="greatest C dp/(p_old drho) of the run with (13) and (14) repaired, against that",
        measure=lambda facts: facts.repaired.alpha,
        relation=Relation.AT_MOST,
        bound=lambda facts: known_alpha(facts.instance, facts.repaired.constants),
        expectation=Expectation.TRUE,
        premises=(SOME_ADMITTED,),
        details=lambda facts: facts.repaired.dump(),
        schedule=lambda facts: facts.repaired.run.schedule,
        sources=SMALL,
        golden=("pd-ors-allocation-cost-corrected-D5",),
    ),
    variant=Variant.CORRECTED,
)

CLAIMS = stated(globals())
