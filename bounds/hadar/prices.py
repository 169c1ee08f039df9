"""What the paper says of its prices (5)-(7): Lemma 3, Definitions 1 and 2, admitting, blocking, and positivity."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

from dlsched.algorithms.hadar import constants
from dlsched.bounds.claim import Expectation, Premise, always, stated
from dlsched.bounds.comparison import Relation
from dlsched.bounds.hadar.competitive import EVERYWHERE, SMALL
from dlsched.bounds.hadar.facts import (
    BELOW_CAPACITY,
    EACH_FINISHES,
    FINISHING,
    HADAR,
    NOT_INCREASING,
    SOME_ADMITTED,
    UMIN_POSITIVE,
    Commitment,
    HadarFacts,
    Place,
    cost,
)
from dlsched.bounds.hadar.sources import LONE, TINY
from dlsched.models.hadar.schedules import Column
from dlsched.tolerances import DIFFERENCE

_POINTS = 8
"""Parts that the capacity is cut into, at whose ends the slope is measured. Arbitrary: the lemma says it is the same
everywhere."""


def _slope(facts: HadarFacts) -> float:
    """Return (c/k) dk/dgamma by central differences, where it is farthest from ln(Umax/Umin)."""
    prices = facts.printed.constants
    slopes = []
    for machine, type_ in prices.saturation:
        c = facts.instance.machine(machine).count(type_)
        for i in range(1, _POINTS):
            gamma = c * i / _POINTS
            below, above = (prices.price(machine, type_, gamma + sign * c * DIFFERENCE) for sign in (-1, 1))
            slopes.append((above - below) / (2 * DIFFERENCE * prices.price(machine, type_, gamma)))
    expected = facts.printed.log_ratio
    return max(slopes, key=lambda slope: abs(slope - expected))


LEMMA_3 = HADAR.printed(
    "hadar/lemma-3",
    paper="Hadar, Section III-D, Lemma 3",
    statement="with alpha_h^r = ln(Umax^r/Umin^r) the price (5) satisfies k dgamma >= (c/alpha) dk, as an equality",
    quantity="(c/k) dk/dgamma by central differences, against ln(Umax/Umin)",
    measure=_slope,
    relation=Relation.EQUAL,
    bound=lambda facts: facts.printed.log_ratio,
    expectation=Expectation.TRUE,
    premises=(
        UMIN_POSITIVE,
        Premise("ln(Umax/Umin) >= 1", lambda facts: facts.printed.log_ratio >= 1, "Definition 2: alpha_h^r >= 1"),
    ),
    sources=EVERYWHERE,
    golden=("hadar-lemma-3-H6",),
)


DEFINITION_1 = HADAR.printed(
    "hadar/definition-1",
    paper="Hadar, Section III-D, Definition 1 and below Lemma 3",
    statement=(
        "the differential relationship implies the discrete one: "
        "k_old (gamma_new - gamma_old) >= (c/alpha)(k_new - k_old) with alpha = max_r(1, ln(Umax^r/Umin^r))"
    ),
    quantity="greatest c dk/(k_old dgamma) of the run, against alpha",
    measure=lambda facts: facts.printed.alpha_measured,
    relation=Relation.AT_MOST,
    bound=lambda facts: facts.printed.constants.alpha,
    expectation=Expectation.FALSE,
    premises=(UMIN_POSITIVE, SOME_ADMITTED, BELOW_CAPACITY),
    details=lambda facts: facts.printed.dump(),
    schedule=lambda facts: facts.printed.run.schedule,
    sources=EVERYWHERE,
    counterexamples=("hadar-definition-1-eight-devices", "hadar-definition-1-H2"),
)

DEFINITION_1_CORRECTED = DEFINITION_1.corrected(
    statement=(
        "the discrete relationship holds with alpha = max_w ((Umax/Umin)^(w/c) - 1)/(w/c), w the devices of a gang on "
        "one machine and type"
    ),
    quantity="greatest c dk/(k_old dgamma) of the run, against that of the largest gang",
    bound=lambda facts: facts.printed.alpha_possible,
    premises=(UMIN_POSITIVE, SOME_ADMITTED),
    golden=("hadar-definition-1-corrected-H2",),
)


def _full(facts: HadarFacts) -> set[Place]:
    """Return the places with no free device, the price of which is Umax."""
    run = facts.printed
    return {place for place, n in run.allocated.items() if n >= facts.instance.machine(place[0]).count(place[1])}


def _turned_away(facts: HadarFacts, run: Commitment) -> list[Column]:
    """Return the schedules of the jobs that a run turns away."""
    admitted = {decision.job for decision in run.admissions}
    return [column for name, found in facts.schedules.items() if name not in admitted for column in found]


def _through_full(facts: HadarFacts) -> list[Column]:
    """Return those that use a device at k = Umax."""
    full = _full(facts)
    return [column for column in _turned_away(facts, facts.printed) if not full.isdisjoint(column.usage())]


def _without_room(facts: HadarFacts) -> list[Column]:
    """Return those of the corrected run that are worth something and do not fit beside what it has allocated."""
    used, instance = facts.corrected.allocated, facts.instance
    return [
        column
        for column in _turned_away(facts, facts.corrected)
        if column.utility
        and any(used[place] + n > instance.machine(place[0]).count(place[1]) for place, n in column.usage().items())
    ]


def _final_cost(column: Column, run: Commitment) -> float:
    """Return what a schedule costs at the final prices of a run."""
    return math.fsum(n * run.price(place) for place, n in column.usage().items())


def _best_payoff(facts: HadarFacts) -> float:
    """Return the greatest payoff, at the final prices, of those that use a full place; 0 where none is above."""
    payoffs = (float(column.utility) - _final_cost(column, facts.printed) for column in _through_full(facts))
    return max([0.0, *payoffs])


def _least_part(facts: HadarFacts) -> float:
    """Return the least cost, at the final prices, over its utility of a schedule for which there is no room."""
    return min(_final_cost(column, facts.corrected) / float(column.utility) for column in _without_room(facts))


def _full_places(facts: HadarFacts) -> dict[str, Any]:
    return {**facts.printed.dump(), "full": sorted(map(list, _full(facts)))}


PRICE_BLOCKS = HADAR.printed(
    "hadar/price-blocks",
    paper="Hadar, Section III-B, below (7)",
    statement="at gamma = c the price k = Umax is high enough to block other jobs from getting these resources",
    quantity="greatest payoff of a turned-away job with a schedule that uses a device at k = Umax, against 0",
    measure=_best_payoff,
    relation=Relation.AT_MOST,
    bound=always(0),
    expectation=Expectation.FALSE,
    premises=(
        NOT_INCREASING,
        UMIN_POSITIVE,
        Premise(
            "a schedule of a turned-away job uses a device of a full place",
            lambda facts: bool(_through_full(facts)),
            "Section III-B: the server is out of free resources, another job would get them",
        ),
    ),
    open="w_j^r of (6) is not defined: read as W_j, which it is where all devices are of one type",
    details=_full_places,
    schedule=lambda facts: facts.printed.run.schedule,
    sources=SMALL,
    counterexamples=("hadar-price-blocks-three-machines", "hadar-price-blocks-share"),
)

PRICE_BLOCKS_CORRECTED = PRICE_BLOCKS.corrected(
    statement=(
        "with Umax = max_j U_j(0) for one device, reached once some gang may not fit, a schedule for which there is no "
        "room costs at least its utility"
    ),
    quantity="least cost, at the final prices, of a turned-away job's schedule that does not fit over its utility",
    measure=_least_part,
    relation=Relation.AT_LEAST,
    bound=always(1),
    premises=(
        NOT_INCREASING,
        Premise("a schedule of a turned-away job does not fit", lambda facts: bool(_without_room(facts))),
    ),
    details=lambda facts: facts.corrected.dump(),
    schedule=lambda facts: facts.corrected.run.schedule,
    golden=("hadar-price-blocks-corrected-share",),
)


def _never_admitted(facts: HadarFacts) -> int:
    """Return how many jobs with a schedule worth something have none that is worth more than it costs at Umin."""
    low = facts.printed.constants.umin
    return sum(
        all(column.utility <= cost(column, low) for column in columns) for columns in facts.worth.values() if columns
    )


def _greatest_share(facts: HadarFacts) -> Fraction:
    """Return the greatest part of its utility that a schedule costs at the lowest price with T in eta."""
    low = constants(facts.instance, "printed", eta="with-T").umin
    return max(cost(column, low) / column.utility for columns in facts.worth.values() for column in columns)


LOWEST_PRICE = HADAR.printed(
    "hadar/lowest-price-admits",
    paper="Hadar, Section III-B, below (7)",
    statement="at gamma = 0 the price k = Umin is low enough to accept the incoming job, lowest to admit any job",
    quantity="jobs that could finish but are worth no more than they cost on the empty cluster, against 0",
    measure=_never_admitted,
    relation=Relation.AT_MOST,
    bound=always(0),
    expectation=Expectation.FALSE,
    premises=(NOT_INCREASING, UMIN_POSITIVE, FINISHING),
    open="1/eta is only bounded from above, by min_j tmax_j W_j / (sum c): read as that",
    details=lambda facts: facts.printed.dump(),
    sources=(LONE, *SMALL),
    counterexamples=("hadar-lowest-price-admits-two-devices", "hadar-lowest-price-admits-one-device"),
    golden=("hadar-lowest-price-admits-three-slots",),
)

LOWEST_PRICE_CORRECTED = LOWEST_PRICE.corrected(
    statement="with T in eta, on the empty cluster no schedule costs more than a quarter of its utility",
    quantity="greatest cost at k = Umin of a schedule over its utility, against 1/4",
    measure=_greatest_share,
    bound=always(Fraction(1, 4)),
    details=lambda facts: facts.corrected.dump(),
    golden=("hadar-lowest-price-admits-corrected-one-device",),
)


def _bad_types(run: Commitment) -> int:
    low, high = run.constants.umin, run.constants.umax
    return sum(not 0 < low[r] <= high[r] for r in low)


POSITIVE_PRICES = HADAR.derived(
    "hadar/positive-prices",
    paper="Hadar, Section III-B, (5)-(7)",
    statement=(
        "0 < Umin^r <= Umax^r, as (5), which is to increase exponentially from the one to the other, and "
        "ln(Umax^r/Umin^r) need it"
    ),
    quantity="device types for which 0 < Umin <= Umax fails, against 0",
    measure=lambda facts: _bad_types(facts.printed),
    relation=Relation.AT_MOST,
    bound=always(0),
    expectation=Expectation.FALSE,
    premises=(NOT_INCREASING, EACH_FINISHES),
    details=lambda facts: facts.printed.dump(),
    sources=(TINY,),
    counterexamples=("hadar-positive-prices-two-devices", "hadar-positive-prices-worthless"),
    golden=("hadar-positive-prices-falling",),
)

POSITIVE_PRICES_CORRECTED = POSITIVE_PRICES.corrected(
    statement=(
        "0 < Umin^r <= Umax^r if some job can finish while worth something, with U_j at the last slot at which it is "
        "positive in place of U_j(T - a_j), and the other jobs dropped"
    ),
    measure=lambda facts: _bad_types(facts.corrected),
    premises=(Premise("some job can earn", lambda facts: bool(facts.corrected.constants.tmin)),),
    golden=("hadar-positive-prices-corrected-worthless",),
)


CLAIMS = stated(globals())
