"""Lemmas 1 and 2, and eta: how long a training step of a layered network takes."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

from dlsched.bounds.claim import Claim, Expectation, Premise, Variant
from dlsched.bounds.comparison import Relation
from dlsched.bounds.smd.facts import Layered, SmdFacts
from dlsched.bounds.smd.simulation import simulate_priority, simulate_wait_free
from dlsched.bounds.smd.sources import LAYERED
from dlsched.models.smd.speed import priority, priority_printed, sequential, shares, wait_free

Time = Callable[[Layered], Fraction]

LAYERS = Premise("some job has layers", lambda facts: bool(facts.layered))


def _total(time: Time) -> Callable[[SmdFacts], Fraction]:
    """Return a measure: the sum over the layered jobs."""
    return lambda facts: sum(map(time, facts.layered), Fraction(0))


def _wait_free(entry: Layered) -> Fraction:
    return wait_free(entry.layers).total


def _priority(entry: Layered) -> Fraction:
    return priority(entry.layers, entry.slice).total


def _printed(entry: Layered) -> Fraction:
    return priority_printed(entry.layers, entry.slice).total


def _details(*times: tuple[str, Time]) -> Callable[[SmdFacts], dict[str, Any]]:
    return lambda facts: {name: {e.job.name: str(time(e)) for e in facts.layered} for name, time in times}


_SIMULATED: tuple[str, Time] = ("simulated", lambda entry: simulate_priority(entry.layers, entry.slice))
_SEQUENTIAL: tuple[str, Time] = ("sequential", lambda entry: sequential(entry.layers).total)

LEMMA_1 = Claim(
    id="smd/lemma-1",
    paper="SMD, Lemma 1",
    variant=Variant.PRINTED,
    statement="the wait-free recursion gives a step's time (full duplex, first come first served, servers at once)",
    quantity="t by the recursion, against t by simulation, summed over jobs",
    measure=_total(_wait_free),
    bound=_total(lambda entry: simulate_wait_free(entry.layers)),
    relation=Relation.EQUAL,
    expectation=Expectation.TRUE,
    facts=SmdFacts,
    premises=(LAYERS,),
    sources=(LAYERED,),
    golden=("smd-lemma-1-fig-4", "smd-lemma-1-late-layer"),
)

_LEMMA_2: dict[str, Any] = {
    "id": "smd/lemma-2",
    "paper": "SMD, Lemma 2",
    "quantity": "t by the formula, against t by simulation, summed over jobs",
    "bound": _total(_SIMULATED[1]),
    "relation": Relation.EQUAL,
    "facts": SmdFacts,
    "premises": (LAYERS,),
    "sources": (LAYERED,),
}

LEMMA_2 = Claim(
    variant=Variant.PRINTED,
    statement="e_j = A_j + max_{k<j} e_k where A_j > 0, else 0: the priority model's recursion gives a step's time",
    measure=_total(_printed),
    expectation=Expectation.FALSE,
    details=_details(("printed", _printed), _SIMULATED, _SEQUENTIAL),
    counterexamples=("smd-lemma-2-three-layers", "smd-lemma-2-backlog", "smd-lemma-2-slower-than-sequential"),
    golden=("smd-lemma-2-two-layers",),
    **_LEMMA_2,
)

LEMMA_2_CORRECTED = Claim(
    variant=Variant.CORRECTED,
    statement="t = phi + max_i [sum_{k>=i} (b_k + f_k) + sum_{k<=i} r_k]",
    measure=_total(_priority),
    expectation=Expectation.TRUE,
    details=_details(("corrected", _priority), _SIMULATED, _SEQUENTIAL),
    golden=("smd-lemma-2-corrected-three-layers",),
    **_LEMMA_2,
)


def _largest_share(*phases: Callable[[Layered], Any]) -> Callable[[SmdFacts], Fraction]:
    """Return a measure: the greatest eta of any job."""
    return lambda facts: max(max(shares(phase(e), e.layers)) for e in facts.layered for phase in phases)


_ETA: dict[str, Any] = {
    "id": "smd/eta-range",
    "paper": "SMD, Section III-C",
    "quantity": "the greatest of eta_1, eta_2 and eta_3, against 1",
    "bound": lambda facts: 1,
    "relation": Relation.AT_MOST,
    "facts": SmdFacts,
    "premises": (LAYERS,),
    "sources": (LAYERED,),
}

ETA_RANGE = Claim(
    variant=Variant.PRINTED,
    statement="eta_1, eta_2 and eta_3 are at most 1, by Lemma 1 and by Lemma 2 as printed",
    measure=_largest_share(
        lambda entry: wait_free(entry.layers), lambda entry: priority_printed(entry.layers, entry.slice)
    ),
    expectation=Expectation.FALSE,
    counterexamples=("smd-eta-range-slower-than-sequential",),
    **_ETA,
)

ETA_RANGE_CORRECTED = Claim(
    variant=Variant.CORRECTED,
    statement="eta_1, eta_2 and eta_3 are at most 1, by Lemma 1 and by Lemma 2 corrected (phi <= r_1)",
    measure=_largest_share(lambda entry: wait_free(entry.layers), lambda entry: priority(entry.layers, entry.slice)),
    expectation=Expectation.TRUE,
    golden=("smd-eta-range-corrected-fig-4",),
    **_ETA,
)

_CONSTANT: dict[str, Any] = {
    "id": "smd/eta-constant",
    "paper": "SMD, (4) and (5)",
    "bound": lambda facts: 1,
    "facts": SmdFacts,
    "premises": (Premise("some layered job takes time", lambda facts: bool(facts.relative_times)),),
    "sources": (LAYERED,),
}

ETA_CONSTANT = Claim(
    variant=Variant.PRINTED,
    statement="eta depends on the network alone: (4) and (5) hold for every number of workers and servers",
    quantity="the time with each point's critical path over the time with constant eta, the greatest, against 1",
    measure=lambda facts: max(facts.relative_times),
    relation=Relation.AT_MOST,
    expectation=Expectation.FALSE,
    counterexamples=("smd-eta-constant-doubled-transfers",),
    **_CONSTANT,
)

ETA_CONSTANT_CORRECTED = Claim(
    variant=Variant.CORRECTED,
    statement="with eta of the measured times, (4) and (5) never overestimate the time",
    quantity="the time with each point's critical path over the time with constant eta, the least, against 1",
    measure=lambda facts: min(facts.relative_times),
    relation=Relation.AT_LEAST,
    expectation=Expectation.TRUE,
    golden=("smd-eta-constant-corrected-doubled-transfers",),
    **_CONSTANT,
)

CLAIMS = (LEMMA_1, LEMMA_2, LEMMA_2_CORRECTED, ETA_RANGE, ETA_RANGE_CORRECTED, ETA_CONSTANT, ETA_CONSTANT_CORRECTED)
