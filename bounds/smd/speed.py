"""Lemmas 1 and 2, and eta: how long a training step of a layered network takes."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

from dlsched.bounds.claim import Expectation, Premise, Subject, always, stated
from dlsched.bounds.comparison import Relation
from dlsched.bounds.smd.facts import Layered, SmdFacts
from dlsched.bounds.smd.simulation import simulate_priority, simulate_wait_free
from dlsched.bounds.smd.sources import LAYERED, POSITIVE
from dlsched.models.smd import Instance, Layer
from dlsched.models.smd.speed import Overlap, Phases, priority, priority_printed, sequential, shares, wait_free
from dlsched.models.smd.training import Mode

Time = Callable[[Layered], Fraction]

STEPS = Subject(
    problem="smd",
    instance=Instance,
    facts=SmdFacts,
    premises=(Premise("some job has layers", lambda facts: bool(facts.layered), "Section III-B: N layers"),),
    sources=(LAYERED,),
)
"""What claims about a training step are about."""

_SLICES = Premise[SmdFacts](
    "phi > 0", lambda facts: all(entry.slice > 0 for entry in facts.layered), "Section III-C: slices of size phi"
)
_TIMES = Premise[SmdFacts](
    "b_j, f_j, r_j > 0",
    lambda facts: all(
        min(layer.backward, layer.forward, layer.transfer) > 0 for entry in facts.layered for layer in entry.layers
    ),
    "Section III-C, which divides by their sums, and Section V",
)


def _total(time: Time) -> Callable[[SmdFacts], Fraction]:
    """Return a measure: the sum over the layered jobs."""
    return lambda facts: sum(map(time, facts.layered), Fraction(0))


def _wait_free(entry: Layered) -> Fraction:
    return wait_free(entry.layers).total


def _priority(entry: Layered) -> Fraction:
    return priority(entry.layers, entry.slice).total


def _printed(entry: Layered) -> Fraction:
    return priority_printed(entry.layers, entry.slice).total


def _simulated_wait_free(entry: Layered) -> Fraction:
    return simulate_wait_free(entry.layers)


def _simulated(entry: Layered) -> Fraction:
    return simulate_priority(entry.layers, entry.slice)


def _sequential(entry: Layered) -> Fraction:
    return sequential(entry.layers).total


def _times(**times: Time) -> Callable[[SmdFacts], dict[str, Any]]:
    """Return details: the time of each layered job by each of some formulas."""
    return lambda facts: {name: {e.job.name: str(time(e)) for e in facts.layered} for name, time in times.items()}


LEMMA_1 = STEPS.printed(
    "smd/lemma-1",
    paper="SMD, Section III-C, Lemma 1",
    statement="the wait-free recursion gives a step's time (full duplex, first come first served, servers at once)",
    quantity="t by the recursion, against t by simulation, summed over jobs",
    measure=_total(_wait_free),
    relation=Relation.EQUAL,
    bound=_total(_simulated_wait_free),
    expectation=Expectation.TRUE,
    golden=("smd-lemma-1-fig-4", "smd-lemma-1-late-layer"),
)

LEMMA_2 = STEPS.printed(
    "smd/lemma-2",
    paper="SMD, Section III-C, Lemma 2",
    statement="e_j = A_j + max_{k<j} e_k where A_j > 0, else 0: the priority model's recursion gives a step's time",
    quantity="t by the formula, against t by simulation, summed over jobs",
    measure=_total(_printed),
    relation=Relation.EQUAL,
    bound=_total(_simulated),
    expectation=Expectation.FALSE,
    premises=(*STEPS.premises, _SLICES),
    sources=(POSITIVE,),
    details=_times(printed=_printed, simulated=_simulated, sequential=_sequential),
    counterexamples=("smd-lemma-2-three-layers", "smd-lemma-2-backlog", "smd-lemma-2-slower-than-sequential"),
    golden=("smd-lemma-2-two-layers",),
)

LEMMA_2_CORRECTED = LEMMA_2.corrected(
    statement="t = phi + max_i [sum_{k>=i} (b_k + f_k) + sum_{k<=i} r_k]",
    measure=_total(_priority),
    premises=STEPS.premises,
    sources=(LAYERED,),
    details=_times(corrected=_priority, simulated=_simulated, sequential=_sequential),
    golden=("smd-lemma-2-corrected-three-layers",),
)


def _all_shares(facts: SmdFacts) -> dict[str, Any]:
    """Return eta_1, eta_2 and eta_3 of each job, by Lemma 1 and by Lemma 2 as printed and corrected."""

    def of(entry: Layered) -> dict[str, Phases]:
        both = {"as printed": priority_printed, "corrected": priority}
        steps = {f"Lemma 2 {name}": step(entry.layers, entry.slice) for name, step in both.items()}
        return {"Lemma 1": wait_free(entry.layers), **steps}

    return {
        entry.job.name: {
            name: [float(share) for share in shares(step, entry.layers)] for name, step in of(entry).items()
        }
        for entry in facts.layered
    }


def _furthest_share(facts: SmdFacts, step: Callable[[tuple[Layer, ...], Fraction], Phases]) -> Fraction:
    """Return how far beyond (0, 1] an eta of any job is, by Lemma 1 and by a form of Lemma 2; 0 where none is.

    What is 0 counts as 1, so that it is told from what is in the range.
    """
    found = [share for e in facts.layered for share in shares(wait_free(e.layers), e.layers)]
    found += [share for e in facts.layered for share in shares(step(e.layers, e.slice), e.layers)]
    return max(Fraction(0), *(share - 1 if share > 0 else 1 - share for share in found))


ETA_RANGE = STEPS.printed(
    "smd/eta-range",
    paper="SMD, Section III-C",
    statement="eta_1, eta_2 and eta_3 are in (0, 1], by Lemma 1 and by Lemma 2 as printed",
    quantity="how far beyond (0, 1] one of eta_1, eta_2 and eta_3 is (0 itself by 1), against 0",
    measure=lambda facts: _furthest_share(facts, priority_printed),
    relation=Relation.AT_MOST,
    bound=always(0),
    expectation=Expectation.FALSE,
    premises=(*STEPS.premises, _SLICES, _TIMES),
    sources=(POSITIVE,),
    details=_all_shares,
    counterexamples=("smd-eta-range-slower-than-sequential",),
)

ETA_RANGE_CORRECTED = ETA_RANGE.corrected(
    statement="eta_1, eta_2 and eta_3 are in (0, 1], by Lemma 1 and by Lemma 2 corrected (phi <= r_1)",
    measure=lambda facts: _furthest_share(facts, priority),
    premises=(*STEPS.premises, _TIMES),
    golden=("smd-eta-range-corrected-fig-4",),
)


def _ends_agree(facts: SmdFacts) -> bool:
    """Tell whether, of every job, the constant eta is right at the least and at the greatest w/p."""
    return all(found[min(found)] == found[max(found)] == 1 for found in facts.relative_times.values())


def _one_scale(facts: SmdFacts) -> bool:
    """Tell whether only w/p decides on the critical path: no path leaves a part of FP out, or m does not vary."""
    return all(
        entry.job.training.mode is Mode.ASYNC or entry.overlap is not Overlap.PRIORITY for entry in facts.layered
    )


_TAKES_TIME = Premise[SmdFacts](
    "some layered job takes time", lambda facts: bool(facts.relative_times), "Section III-C: a DNN is given"
)

ETA_CONSTANT = STEPS.printed(
    "smd/eta-constant",
    paper="SMD, Section III-C, (4) and (5)",
    statement="eta depends on the network alone: (4) and (5) hold for every number of workers and servers",
    quantity="the time with each point's critical path over the time with constant eta, the greatest, against 1",
    measure=lambda facts: max(max(found.values()) for found in facts.relative_times.values()),
    relation=Relation.AT_MOST,
    bound=always(1),
    expectation=Expectation.FALSE,
    premises=(_TAKES_TIME,),
    counterexamples=("smd-eta-constant-a-sample-each", "smd-eta-constant-doubled-transfers"),
)

ETA_CONSTANT_CORRECTED = ETA_CONSTANT.corrected(
    statement=(
        "where only w/p decides on the critical path, and eta is right at the least and at the greatest w/p, (4) and "
        "(5) hold for every number of workers and servers"
    ),
    premises=(
        _TAKES_TIME,
        Premise("only w/p decides on the critical path", _one_scale),
        Premise("eta is right at the least and at the greatest w/p", _ends_agree),
    ),
    golden=("smd-eta-constant-corrected-doubled-transfers",),
)

CLAIMS = stated(globals())
