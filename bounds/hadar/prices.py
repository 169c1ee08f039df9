"""What the paper says of its prices (5)-(7): Lemma 3, Definitions 1 and 2, blocking, and positivity."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

from dlsched.arithmetic import exp, log, power
from dlsched.bounds.claim import Expectation, Premise, always, stated
from dlsched.bounds.comparison import Relation
from dlsched.bounds.hadar.competitive import EVERYWHERE, SMALL
from dlsched.bounds.hadar.facts import HADAR, SOME_ADMITTED, UMIN_POSITIVE, Commitment, HadarFacts, Place
from dlsched.bounds.hadar.sources import TINY
from dlsched.tolerances import DIFFERENCE

_POINTS = 8
"""Parts that the capacity is cut into, at whose ends the slope is measured. Arbitrary: the lemma says it is the same
everywhere."""


def _log_ratio(run: Commitment) -> float:
    """Return ln(Umax/Umin), which is the same for every type with w_j^r read as W_j; Umin is positive.

    As printed, Umax can be below Umin, and 0: U_j(tmin_j - a_j) may lie beyond the horizon.
    """
    (low, *_), (high, *_) = run.constants.umin.values(), run.constants.umax.values()
    return log(high) - log(low) if high > 0 else -math.inf


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
    expected = _log_ratio(facts.printed)
    return max(slopes, key=lambda slope: abs(slope - expected))


LEMMA_3 = HADAR.printed(
    "hadar/lemma-3",
    paper="Hadar, Lemma 3",
    statement="with alpha_h^r = ln(Umax^r/Umin^r) the price (5) satisfies k dgamma >= (c/alpha) dk, as an equality",
    quantity="(c/k) dk/dgamma by central differences, against ln(Umax/Umin)",
    measure=_slope,
    relation=Relation.EQUAL,
    bound=lambda facts: _log_ratio(facts.printed),
    expectation=Expectation.TRUE,
    premises=(
        UMIN_POSITIVE,
        Premise("ln(Umax/Umin) >= 1, as Definition 2 asks", lambda facts: _log_ratio(facts.printed) >= 1),
    ),
    sources=EVERYWHERE,
    golden=("hadar-lemma-3-H6",),
)


def _worst_alpha(facts: HadarFacts) -> float:
    """Return the greatest c dk/(k_old dgamma) that any gang could cause: ((Umax/Umin)^(w/c) - 1)/(w/c)."""
    ratio = exp(_log_ratio(facts.printed))
    shares = [
        Fraction(min(job.gang, count), count)
        for machine in facts.instance.machines
        for count in machine.devices.values()
        for job in facts.instance.jobs
        if count
    ]
    return max(1.0, *((power(ratio, share) - 1) / float(share) for share in shares))


DEFINITION_1 = HADAR.printed(
    "hadar/definition-1",
    paper="Hadar, Definition 1",
    statement=(
        "the differential relationship implies the discrete one: "
        "k_old (gamma_new - gamma_old) >= (c/alpha)(k_new - k_old) with alpha = max_r(1, ln(Umax^r/Umin^r))"
    ),
    quantity="greatest c dk/(k_old dgamma) of the run, against alpha",
    measure=lambda facts: facts.printed.alpha_measured,
    relation=Relation.AT_MOST,
    bound=lambda facts: facts.printed.constants.alpha,
    expectation=Expectation.FALSE,
    premises=(UMIN_POSITIVE, SOME_ADMITTED),
    details=lambda facts: facts.printed.dump(),
    schedule=lambda facts: facts.printed.run.schedule,
    sources=EVERYWHERE,
    counterexamples=("hadar-definition-1-H1", "hadar-definition-1-H2"),
)

DEFINITION_1_CORRECTED = DEFINITION_1.corrected(
    statement=(
        "the discrete relationship holds with alpha = max_w ((Umax/Umin)^(w/c) - 1)/(w/c), w the devices of a gang on "
        "one machine and type"
    ),
    quantity="greatest c dk/(k_old dgamma) of the run, against that of the largest gang",
    bound=_worst_alpha,
    golden=("hadar-definition-1-corrected-H2",),
)


def _full(facts: HadarFacts) -> set[Place]:
    """Return the places with no free device, the price of which is Umax."""
    run = facts.printed
    return {place for place, n in run.allocated.items() if n >= facts.instance.machine(place[0]).count(place[1])}


def _turned_away(facts: HadarFacts) -> list[str]:
    admitted = {decision.job for decision in facts.printed.admissions}
    return [job.name for job in facts.instance.jobs if job.name not in admitted and facts.schedules[job.name]]


def _best_payoff_through_full(facts: HadarFacts) -> float:
    """Return the greatest payoff, at the final prices, of a turned-away job on a full place; 0 where none is above."""
    full, best = _full(facts), 0.0
    for name in _turned_away(facts):
        for column in facts.schedules[name]:
            usage = column.usage()
            if not full.isdisjoint(usage):
                cost = math.fsum(n * facts.printed.price(place) for place, n in usage.items())
                best = max(best, float(column.utility) - cost)
    return best


def _taken_from_full(facts: HadarFacts) -> int:
    """Return the devices that admissions took at places that were full before."""
    used: dict[Place, int] = {}
    taken = 0
    for decision in facts.printed.admissions:
        for step in decision.steps:
            place = step.machine, step.type, step.slot
            used[place] = used.get(place, 0) + step.devices
            taken += max(0, used[place] - facts.instance.machine(step.machine).count(step.type))
    return taken


def _full_places(facts: HadarFacts) -> dict[str, Any]:
    return {**facts.printed.dump(), "full": sorted(map(list, _full(facts)))}


PRICE_BLOCKS = HADAR.printed(
    "hadar/price-blocks",
    paper="Hadar, Section III-B, on (5)",
    statement="at gamma = c the price k = Umax is high enough to block other jobs from getting these resources",
    quantity="greatest payoff of a turned-away job with a schedule that uses a device at k = Umax, against 0",
    measure=_best_payoff_through_full,
    relation=Relation.AT_MOST,
    bound=always(0),
    expectation=Expectation.FALSE,
    premises=(
        UMIN_POSITIVE,
        Premise("some machine's devices of a type are all allocated in a slot", lambda facts: bool(_full(facts))),
        Premise("some job that could finish alone is turned away", lambda facts: bool(_turned_away(facts))),
    ),
    details=_full_places,
    schedule=lambda facts: facts.printed.run.schedule,
    sources=SMALL,
    counterexamples=("hadar-price-blocks-share",),
)

PRICE_BLOCKS_CORRECTED = PRICE_BLOCKS.corrected(
    statement="at gamma = c the capacity blocks other jobs from getting these resources",
    quantity="devices taken where none was free, against 0",
    measure=_taken_from_full,
    golden=("hadar-price-blocks-corrected-share",),
)


def _bad_types(run: Commitment) -> int:
    low, high = run.constants.umin, run.constants.umax
    return sum(not 0 < low[r] <= high[r] for r in low)


POSITIVE_PRICES = HADAR.printed(
    "hadar/positive-prices",
    paper="Hadar, (5)-(7)",
    statement="0 < Umin^r <= Umax^r, so that (5) is a price that rises and ln(Umax^r/Umin^r) a number",
    quantity="device types for which 0 < Umin <= Umax fails, against 0",
    measure=lambda facts: _bad_types(facts.printed),
    relation=Relation.AT_MOST,
    bound=always(0),
    expectation=Expectation.FALSE,
    details=lambda facts: facts.printed.dump(),
    sources=(TINY,),
    counterexamples=("hadar-positive-prices-worthless", "hadar-positive-prices-falling"),
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
