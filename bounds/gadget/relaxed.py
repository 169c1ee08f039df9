"""What the linear programs of a slot promise: their order, ring sizes and size, bandwidth, and Lemma 7."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from dlsched.algorithms.gadget.activity import Sizes as PrintedSizes
from dlsched.bounds.claim import Expectation, Premise, always, stated
from dlsched.bounds.comparison import Interval, Relation
from dlsched.bounds.gadget.choices import over
from dlsched.bounds.gadget.families import JOINT, PAIRS, SLOT
from dlsched.bounds.gadget.slot import CONCAVE, FINITE, FREE, PRINTED, PROFITABLE, SLOTS, SOME, SlotFacts
from dlsched.models.ddljs import Job

EQUIVALENCE = SLOTS.derived(
    "gadget/equivalence",
    paper="GADGET, (12)-(19)",
    statement="(12)-(19), with q_i by floors and for each job alone, is (10) less what was there before",
    quantity="the optimum of the integer program (12)-(19), against the most that the counts of the slot add",
    measure=lambda facts: facts.whole,
    relation=Relation.EQUAL,
    bound=lambda facts: facts.counted,
    expectation=Expectation.TRUE,
    premises=(FINITE, FREE),
    golden=("gadget-equivalence-G3", "gadget-equivalence-G15"),
)

BOUND = SLOTS.printed(
    "gadget/ring-bound",
    paper="GADGET, Section V-C, Q_i = {1, ..., ceil(q_i)}",
    statement="with Q_i = {1, ..., ceil(q_i)}, q_i of (10) with (2), (4) and (11) relaxed, (12)-(19) is (10)",
    quantity="the optimum of (12) with those ring sizes, against the most that the counts of the slot add",
    measure=lambda facts: over(map(facts.ilp_of_sizes, (PrintedSizes.ALONE, PrintedSizes.JOINT))),
    relation=Relation.EQUAL,
    bound=lambda facts: facts.counted,
    expectation=Expectation.FALSE,
    premises=(*PRINTED, FREE),
    open="whether (10) is relaxed for each job alone or for all together, which gives fewer workers",
    sources=(JOINT,),
    counterexamples=("gadget-ring-bound-G16",),
    golden=("gadget-ring-bound-two-jobs",),
)

TOGETHER = BOUND.derived(
    "gadget/ring-bound-joint",
    statement="the same where (10) is relaxed for all jobs together, although a job may then get less than it could",
    measure=lambda facts: facts.ilp_of_sizes(PrintedSizes.JOINT),
    counterexamples=("gadget-ring-bound-joint-two-jobs",),
)

BOUND_CORRECTED = BOUND.corrected(
    statement="with q_i = min(N_i, K_i - z_i, sum_u floor(min_r C_u^r/l_i^r)), (12)-(19) is (10)",
    measure=lambda facts: facts.embedded,
    premises=(FINITE, FREE),
    golden=("gadget-ring-bound-corrected-G16", "gadget-ring-bound-corrected-two-jobs"),
)


def _graph(facts: SlotFacts) -> int:
    """Return |G_s| = |V_S| + |E_S|."""
    return len(facts.problem.nodes) + len(facts.problem.arcs)


def _most(facts: SlotFacts) -> int:
    """Return |I| |V_S| (1 + Gamma |G_s|)."""
    return len(facts.selected()) * len(facts.problem.nodes) * (1 + facts.largest * _graph(facts))


def _sizes(facts: SlotFacts) -> dict[str, Any]:
    return {"Gamma": facts.largest, "variables": facts.variables, "mappings": facts.mappings}


def _variables_or_mappings(facts: SlotFacts) -> float:
    """Return variables over their bound, or mappings over positive variables where that is more."""
    return max(facts.variables / _most(facts), facts.mappings / max(1, facts.positive))


TIME = SLOTS.printed(
    "gadget/theorem-9",
    paper="GADGET, Theorem 9",
    statement="LP-RS-MDE has polynomial time complexity O((|I| |G_s|)^3 + u_b |I|)",
    quantity="variables of the plain LP, which line 3 solves, where servers, budgets and N_i are twice as large, over "
    "those before, against the same of (|I| |G_s|)^3 + u_b |I|, which stays",
    measure=lambda facts: Fraction(facts.doubled_variables, facts.all_variables),
    relation=Relation.AT_MOST,
    bound=always(1),
    expectation=Expectation.FALSE,
    premises=(FINITE, FREE, Premise("some ring is selected", lambda facts: bool(facts.selected()))),
    open=(
        "whether the sizes of rings are constants, as which they would be in the O(): the theorem does not name them, "
        "and its proof counts |G_i|; an O() is refuted by no instance, but by what grows while all that it names stays"
    ),
    details=_sizes,
    counterexamples=("gadget-theorem-9-G3",),
)

SIZE = TIME.derived(
    "gadget/theorem-9-size",
    statement="with the same |I| and |G_s|, the LPs are no larger where rings may be longer",
    quantity="variables of the plain LP with twice as large servers, budgets and N_i, against those before",
    measure=lambda facts: facts.doubled_variables,
    bound=lambda facts: facts.all_variables,
    counterexamples=("gadget-theorem-9-size-G3",),
)

TIME_CORRECTED = TIME.corrected(
    statement="the augmented LP of the selected rings has at most |I| |V_S| (1 + Gamma |G_s|) variables, and "
    "decomposes into no more mappings than it has positive ones",
    quantity="variables over that bound, or mappings over positive variables where that is more, against 1",
    measure=_variables_or_mappings,
    bound=always(1),
    premises=(FINITE, Premise("some ring is selected", lambda facts: bool(facts.selected()))),
    golden=("gadget-theorem-9-corrected-G3",),
)


def _plain(facts: SlotFacts) -> float:
    return facts.value(augmented=False)


def _augmented_capped(facts: SlotFacts) -> float:
    return facts.value(augmented=True, cap=True)


def _steps(facts: SlotFacts) -> list[float]:
    """Return plain LP, plain LP with (5), augmented LP with (5), and the integer optimum."""
    return [_plain(facts), facts.value(augmented=False, cap=True), _augmented_capped(facts), facts.ilp]


def _least_step(facts: SlotFacts) -> float:
    return min(a - b for a, b in itertools.pairwise(_steps(facts)))


ORDER = SLOTS.derived(
    "gadget/relaxation-order",
    paper="GADGET, Section V-C",
    statement="plain LP >= plain LP with (5) >= augmented LP with (5) >= (12)",
    quantity="the least difference of two neighbours, against 0",
    measure=_least_step,
    relation=Relation.AT_LEAST,
    bound=always(0),
    expectation=Expectation.TRUE,
    premises=(FINITE,),
    details=lambda facts: {"values": _steps(facts)},
    golden=("gadget-relaxation-order-G9", "gadget-relaxation-order-G14"),
)


def _augmented(facts: SlotFacts) -> float:
    return facts.value(augmented=True)


def _bandwidth_matters(facts: SlotFacts) -> bool:
    return facts.feels_bandwidth(lambda of: of.ilp)


def _bandwidths(facts: SlotFacts) -> dict[str, Any]:
    return {
        name: {"augmented LP": _augmented(of), "(12)": of.ilp}
        for name, of in (("as it is", facts), ("unlimited", facts.unlimited))
    }


BLIND = SLOTS.derived(
    "gadget/bandwidth-blind",
    paper="GADGET, Section V-C, the augmented LP",
    statement="the augmented LP accounts for the bandwidth that rings need: where links take from the optimum of (12), "
    "they take from its value, too",
    quantity="whether the augmented LP is worth less than with unlimited bandwidth (1 or 0), against 1",
    measure=lambda facts: int(facts.feels_bandwidth(_augmented)),
    relation=Relation.AT_LEAST,
    bound=always(1),
    expectation=Expectation.FALSE,
    premises=(FINITE, FREE, Premise("with unlimited bandwidth the optimum of (12) is greater", _bandwidth_matters)),
    details=_bandwidths,
    sources=(SLOT, PAIRS),
    counterexamples=("gadget-bandwidth-blind-G10",),
)

BLIND_CORRECTED = BLIND.corrected(
    statement="without placements and (5), the plain and the augmented LP are the LP in which all workers of a job "
    "share a node: they ignore bandwidth",
    quantity="the plain and the augmented LP, against the LP of shared nodes",
    measure=lambda facts: facts.simplex,
    relation=Relation.EQUAL,
    bound=lambda facts: facts.knapsack,
    premises=(FINITE, FREE),
    golden=("gadget-bandwidth-blind-corrected-G10",),
)


def _selection(facts: SlotFacts) -> dict[str, Any]:
    return {"kappa": facts.selected(), "Gamma": facts.largest}


def _plain_of_selected(facts: SlotFacts) -> float:
    return facts.value(augmented=False, sizes=facts.selected())


def _kept(facts: SlotFacts, cap: bool) -> float:
    """Return sum_i pi_ik chi_ik of the selected sizes k over 1/Gamma of the plain LP, of which it is a part."""
    return facts.kept(cap=cap) * facts.largest / facts.value(augmented=False, cap=cap)


LEMMA_7 = SLOTS.printed(
    "gadget/lemma-7",
    paper="GADGET, Lemma 7",
    statement="the selected sizes alone keep 1/Gamma of the LP's utility, and so of an optimal embedding's",
    quantity="sum_i pi_ik chi_ik of the selected sizes k in the solution of the plain LP over 1/Gamma of its value, "
    "against 1",
    measure=lambda facts: over(_kept(facts, cap) for cap in (False, True)),
    relation=Relation.AT_LEAST,
    bound=always(1),
    expectation=Expectation.TRUE,
    premises=(*PRINTED, FREE, SOME),
    details=_selection,
    open="kappa_i, printed as a maximum, is the size at which it is attained; whether (5) is a row of the plain LP; "
    "q_i: here by floors and for each job alone",
    golden=("gadget-lemma-7-G10",),
)


def _payable(job: Job) -> Fraction:
    """Return min(N_i, F_i^r/l_i^r for all r)."""
    budgets = (
        [] if job.budget is None else [job.budget.get(r, Fraction(0)) / need for r, need in job.worker.items() if need]
    )
    return min([Fraction(job.max_workers), *budgets])


def _rooms(facts: SlotFacts, job: Job) -> list[Fraction]:
    """Return min(N_i, C_s^r/l_i^r for all r) of each server."""
    return [
        min([Fraction(job.max_workers), *(node.capacity_of(r) / need for r, need in job.worker.items() if need)])
        for node in facts.instance.servers
    ]


def _excess(facts: SlotFacts, most: Callable[[Job], Fraction]) -> Interval:
    """Return the greatest ceil(q_i) less a bound of the jobs, with (10) relaxed for each alone, or for all together."""
    both = (facts.printed_sizes(sizes) for sizes in (PrintedSizes.ALONE, PrintedSizes.JOINT))
    jobs = facts.instance.jobs
    return over(max((sizes.get(job.name, 0) - most(job) for job in jobs), default=Fraction(0)) for sizes in both)


def _ring_sizes(facts: SlotFacts) -> dict[str, Any]:
    return {"ceil(q)": facts.printed_sizes(PrintedSizes.ALONE), "together": facts.printed_sizes(PrintedSizes.JOINT)}


RING_SIZES = SLOTS.printed(
    "gadget/lemma-7-sizes",
    paper="GADGET, proof of Lemma 7",
    statement="|Q_i| = ceil(q_i) <= Pi_i, where Pi_i = min{N_i, C_s^r/l_i^r, F_i^r/l_i^r for all r and s}",
    quantity="the greatest ceil(q_i) - Pi_i of the jobs, against 0",
    measure=lambda facts: _excess(facts, lambda job: min([_payable(job), *_rooms(facts, job)])),
    relation=Relation.AT_MOST,
    bound=always(0),
    expectation=Expectation.FALSE,
    premises=PRINTED,
    details=_ring_sizes,
    open="whether (10) is relaxed for each job alone or for all together; F_i^r, printed with the index s",
    sources=(SLOT, JOINT),
    counterexamples=("gadget-lemma-7-sizes-two-servers",),
)

RING_SIZES_CORRECTED = RING_SIZES.corrected(
    statement="|Q_i| = ceil(q_i) <= ceil(min{N_i, sum_s min_r C_s^r/l_i^r, min_r F_i^r/l_i^r})",
    quantity="the greatest ceil(q_i) less that of the jobs, against 0",
    measure=lambda facts: _excess(
        facts, lambda job: Fraction(math.ceil(min(_payable(job), sum(_rooms(facts, job), Fraction(0)))))
    ),
    premises=(FINITE,),
    golden=("gadget-lemma-7-sizes-corrected-two-servers",),
)

EMBEDDED = LEMMA_7.derived(
    "gadget/lemma-7-embedding",
    statement="the rings that the LP selects can be embedded so that 1/Gamma of the utility of an optimal embedding is "
    "kept",
    quantity="the optimum of (12) with the selected ring sizes, against the optimum over Gamma",
    measure=lambda facts: over(facts.chosen_alone(cap=cap) for cap in (False, True)),
    bound=lambda facts: facts.ilp / facts.largest,
    expectation=Expectation.FALSE,
    open="whether (5) is a row of the plain LP; q_i: here by floors and for each job alone",
    counterexamples=("gadget-lemma-7-embedding-G10",),
)

RESTRICTED = LEMMA_7.derived(
    "gadget/lemma-7-restricted",
    statement="with kappa_i = argmax pi_ik chi_ik and pi >= 0, the LP of the selected rings keeps 1/Gamma of the LP",
    quantity="the plain LP with the selected ring sizes, against the plain LP over Gamma",
    measure=_plain_of_selected,
    bound=lambda facts: _plain(facts) / facts.largest,
    premises=(FINITE, PROFITABLE),
    golden=("gadget-lemma-7-restricted-G10",),
)


def _capped_of_selected(facts: SlotFacts, *, augmented: bool) -> float:
    """Return the augmented LP with (5) of the rings that the plain, or the augmented, LP with (5) selects."""
    return facts.value(augmented=True, cap=True, sizes=facts.selected(augmented=augmented, cap=True))


CHAIN = SLOTS.derived(
    "gadget/lemma-7-augmented",
    paper="GADGET, Lemma 7 and Theorem 8",
    statement="rings that the plain LP selects keep 1/Gamma of the augmented LP, with (5) in both",
    quantity="the augmented LP with (5) and the selected ring sizes alone, against that of all over Gamma",
    measure=lambda facts: _capped_of_selected(facts, augmented=False),
    relation=Relation.AT_LEAST,
    bound=lambda facts: _augmented_capped(facts) / facts.largest,
    expectation=Expectation.FALSE,
    premises=(FINITE, SOME),
    counterexamples=("gadget-lemma-7-augmented-G10",),
)

CHAIN_CORRECTED = CHAIN.corrected(
    statement="rings that the augmented LP with (5) selects itself keep 1/Gamma of it",
    measure=lambda facts: _capped_of_selected(facts, augmented=True),
    premises=(FINITE, PROFITABLE),
    golden=("gadget-lemma-7-augmented-corrected-G10",),
)


def _plain_of_averaged(facts: SlotFacts) -> float:
    return facts.value(augmented=False, sizes=facts.averaged())


HALF = SLOTS.derived(
    "gadget/selection-half",
    paper="GADGET, Lemma 7, another rule",
    statement="for concave mu_i, ring sizes max(1, floor(sum_k k chi_ik)) keep half of the LP",
    quantity="the plain LP with those ring sizes alone, against half of the plain LP",
    measure=_plain_of_averaged,
    relation=Relation.AT_LEAST,
    bound=lambda facts: _plain(facts) / 2,
    expectation=Expectation.TRUE,
    premises=(FINITE, FREE, CONCAVE, PROFITABLE),
    details=lambda facts: {"sizes": facts.averaged()},
    golden=("gadget-selection-half-G15",),
)

CLAIMS = stated(globals())
