"""Lemma 5 and Theorem 6: submodularity over slots, the sets of schedules, and what Algorithm 1 keeps of OPT."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from dlsched.bounds.claim import Expectation, Premise, always, stated
from dlsched.bounds.comparison import Relation
from dlsched.bounds.gadget.facts import (
    CONCAVE,
    FINITE,
    GADGET,
    HYPOTHESES,
    NON_DECREASING,
    OPT_POSITIVE,
    RELAYED,
    SINGLE_HOP,
    GadgetFacts,
)
from dlsched.bounds.gadget.families import CONCAVE as CONCAVE_FAMILY
from dlsched.bounds.gadget.families import LASTING, OUTAGES, THRESHOLDS, TINY
from dlsched.bounds.gadget.horizon import Counts, Horizon
from dlsched.bounds.gadget.submodularity import uneven

_CONCAVE_ON_GROUND = Premise[GadgetFacts](
    "every mu_i is concave on 0, zeta_i, 2 zeta_i, ... as far as the sets get",
    lambda facts: facts.concave_on_ground,
    source="Section IV-3",
)

LEMMA_5 = GADGET.printed(
    "gadget/lemma-5",
    paper="GADGET, Lemma 5",
    statement="F, the utility of all that a set of allocations gives, is submodular",
    quantity="the greatest that the gain of an allocation at B exceeds its gain at a subset A, over sets of up to "
    "5 allocations, against 0",
    measure=lambda facts: facts.curvature.excess,
    relation=Relation.AT_MOST,
    bound=always(0),
    expectation=Expectation.TRUE,
    premises=(FINITE, _CONCAVE_ON_GROUND, NON_DECREASING),
    details=lambda facts: facts.curvature.dump(),
    sources=(TINY, CONCAVE_FAMILY, OUTAGES),
    golden=("gadget-lemma-5-G1",),
)

SUBMODULAR = LEMMA_5.derived(
    "gadget/section-6-submodular",
    paper="GADGET, Lemma 5 and Section VI-1",
    statement="Lemma 5 also covers the Sigmoid utilities of Section VI, which are not concave below lambda_3",
    expectation=Expectation.FALSE,
    premises=(FINITE,),
    sources=(TINY, THRESHOLDS),
    counterexamples=("gadget-section-6-submodular-sigmoid",),
)


def _half_of_opt(facts: GadgetFacts) -> Fraction:
    return facts.opt / 2


def _values(facts: GadgetFacts) -> dict[str, Any]:
    return {"opt": float(facts.opt), "greedy": [float(facts.greedy[0]), float(facts.greedy[-1])]}


THEOREM_6 = GADGET.printed(
    "gadget/theorem-6",
    paper="GADGET, Theorem 6, where slots are solved exactly (alpha = 1)",
    statement="Algorithm 1 is alpha/(alpha + 1)-competitive: with alpha = 1, it keeps half of the optimum",
    quantity="the least utility of Algorithm 1 with exact slots over all ways to break ties, against OPT/2",
    measure=lambda facts: facts.greedy[0],
    relation=Relation.AT_LEAST,
    bound=_half_of_opt,
    expectation=Expectation.TRUE,
    premises=(*HYPOTHESES, OPT_POSITIVE),
    details=_values,
    sources=(TINY, CONCAVE_FAMILY, OUTAGES),
    golden=("gadget-theorem-6-G6", "gadget-theorem-6-G12"),
)

SECTION_6 = THEOREM_6.derived(
    "gadget/section-6-utilities",
    paper="GADGET, Theorem 6 and Section VI-1",
    statement="Theorem 6 also covers the Sigmoid utilities of Section VI, which are not concave below lambda_3",
    expectation=Expectation.FALSE,
    premises=(FINITE, OPT_POSITIVE),
    sources=(THRESHOLDS,),
    counterexamples=("gadget-section-6-utilities-G11",),
)

NEGATIVE = THEOREM_6.derived(
    "gadget/negative-utilities",
    paper="GADGET, Theorem 6 and the logarithms of Section IV-3",
    statement="Theorem 6 also holds where F(empty) is below 0, as with log(x + offset) and an offset below 1",
    expectation=Expectation.FALSE,
    premises=(FINITE, CONCAVE, NON_DECREASING, OPT_POSITIVE),
    sources=(),
    counterexamples=("gadget-negative-utilities-logarithms",),
)


def _approximate_share(facts: GadgetFacts) -> Fraction:
    """Return alpha/(1 + alpha) OPT."""
    return facts.alpha / (1 + facts.alpha) * facts.opt


APPROXIMATE = GADGET.printed(
    "gadget/theorem-6-approximate",
    paper="GADGET, Theorem 6",
    statement="with slots solved to alpha of the value (10), Algorithm 1 is alpha/(alpha + 1)-competitive",
    quantity="the least utility of Algorithm 1 over all choices worth alpha of the best value (10), against "
    "alpha/(alpha + 1) OPT",
    measure=lambda facts: facts.horizon().greedy(facts.alpha, of_value=True)[0],
    relation=Relation.AT_LEAST,
    bound=_approximate_share,
    expectation=Expectation.FALSE,
    premises=(*HYPOTHESES, OPT_POSITIVE),
    sources=(CONCAVE_FAMILY, LASTING),
    counterexamples=("gadget-theorem-6-approximate-idle",),
    open=(
        "of which objective alpha is a ratio: of that of (10), the utility of all slots so far, as the theorem says "
        "and as is measured here; or of that of (12), what the slot adds, which Section V-C solves in place of (10) "
        "and Theorem 8 bounds: the corrected claim, which is true"
    ),
)

APPROXIMATE_CORRECTED = APPROXIMATE.corrected(
    statement="with slots solved to alpha of the increment (12), Algorithm 1 is alpha/(alpha + 1)-competitive",
    quantity="the least utility of Algorithm 1 over all choices worth alpha of the best increment, against "
    "alpha/(alpha + 1) OPT",
    measure=lambda facts: facts.horizon().greedy(facts.alpha)[0],
    golden=("gadget-theorem-6-approximate-corrected-idle",),
)

_USED = (
    "whether y_s >= 1 where x_s = 1, a worker on every server in use, which is supposed here; (5) is y_s <= x_s "
    "min{...} alone"
)

PATHS = GADGET.derived(
    "gadget/theorem-6-paths",
    paper="GADGET, Theorem 6 and (5)-(9)",
    statement="Theorem 6 holds whatever the path sets are, e.g. with single links as paths, where every server in use "
    "has a worker",
    quantity="the least utility of Algorithm 1 with exact slots, against half of the optimum, both with these paths",
    measure=lambda facts: facts.horizon(SINGLE_HOP).greedy()[0],
    relation=Relation.AT_LEAST,
    bound=lambda facts: facts.optimum(SINGLE_HOP) / 2,
    expectation=Expectation.FALSE,
    premises=(*HYPOTHESES, OPT_POSITIVE),
    open=_USED,
    sources=(OUTAGES,),
    counterexamples=("gadget-theorem-6-paths-G13",),
)

PATHS_CORRECTED = PATHS.corrected(
    statement="Theorem 6 holds with all simple paths, where every server in use has a worker",
    measure=lambda facts: facts.greedy[0],
    bound=_half_of_opt,
    golden=("gadget-theorem-6-paths-corrected-G13",),
)

PATHS_LITERAL = PATHS.derived(
    "gadget/theorem-6-paths-literal",
    statement="by (5) as printed, which lets a server in use have no worker, Theorem 6 holds whatever the path sets "
    "are, e.g. with single links as paths",
    measure=lambda facts: facts.horizon(RELAYED).greedy()[0],
    bound=lambda facts: facts.optimum(RELAYED) / 2,
    expectation=Expectation.TRUE,
    golden=("gadget-theorem-6-paths-literal-G13",),
)


def _allocations(facts: GadgetFacts) -> dict[str, Any]:
    return {"allocations": [[slot, list(counts)] for slot, counts in facts.ground]}


MATROID = GADGET.printed(
    "gadget/partition-matroid",
    paper="GADGET, Section V-B, above Lemma 5",
    statement="finding an optimal feasible schedule is finding an optimal independent set of the partition matroid: "
    "one allocation a slot",
    quantity="the greatest F of a choice of one allocation a slot, against OPT",
    measure=lambda facts: facts.boundless,
    relation=Relation.EQUAL,
    bound=lambda facts: facts.opt,
    expectation=Expectation.FALSE,
    premises=HYPOTHESES,
    sources=(LASTING,),
    counterexamples=("gadget-partition-matroid-two-workers",),
)

MATROID_CORRECTED = MATROID.corrected(
    statement="it is, with mu_i(zeta_i min(n_i, K_i)) in place of (3)",
    quantity="the greatest sum of those of a choice of one allocation a slot, against OPT",
    measure=lambda facts: facts.truncated,
    golden=("gadget-partition-matroid-corrected-two-workers",),
)

P_SYSTEM = GADGET.derived(
    "gadget/p-system",
    paper="GADGET, proof of Theorem 6, with (3)",
    statement="the schedules that keep (3) are a 1-system",
    quantity="p, the greatest ratio of the sizes of two maximal schedules within a set of up to 5 allocations, "
    "against 1",
    measure=lambda facts: uneven(facts.ground, facts.instance, budgets=True),
    relation=Relation.AT_MOST,
    bound=always(1),
    expectation=Expectation.FALSE,
    premises=(Premise("some allocation is possible", lambda facts: bool(facts.ground)),),
    details=_allocations,
    sources=(LASTING,),
    counterexamples=("gadget-p-system-two-workers", "gadget-p-system-three-workers"),
)

P_SYSTEM_CORRECTED = P_SYSTEM.corrected(
    statement="without (3), schedules with one allocation a slot are a 1-system",
    measure=lambda facts: uneven(facts.ground, facts.instance, budgets=False),
    golden=("gadget-p-system-corrected-two-workers",),
)


def _gaps(horizon: Horizon) -> int:
    """Return the number of counts of a slot that are not possible although more of one job is."""
    return sum(1 for _ in _missing(horizon))


def _missing(horizon: Horizon) -> Iterator[tuple[int, Counts]]:
    """Yield (slot, counts) of what is not possible although more of one job is."""
    for slot, vectors in enumerate(horizon.slots, start=1):
        for vector, job in itertools.product(sorted(vectors), range(len(horizon.instance.jobs))):
            less = tuple(n - (i == job) for i, n in enumerate(vector))
            if vector[job] and less not in vectors:
                yield slot, less


CLOSURE = GADGET.derived(
    "gadget/downward-closure",
    paper="GADGET, (5)-(9)",
    statement="with single links alone as paths, and a worker on every server in use, the counts of a slot are closed "
    "under lowering them",
    quantity="counts of a slot that are not possible although one worker more of a job is, against 0",
    measure=lambda facts: _gaps(facts.horizon(SINGLE_HOP)),
    relation=Relation.AT_MOST,
    bound=always(0),
    expectation=Expectation.FALSE,
    open=_USED,
    sources=(OUTAGES,),
    counterexamples=("gadget-downward-closure-G13",),
)

CLOSURE_CORRECTED = CLOSURE.corrected(
    statement="with all simple paths, and a worker on every server in use, the counts of a slot are closed under "
    "lowering them",
    measure=lambda facts: _gaps(facts.horizon()),
    sources=(TINY, CONCAVE_FAMILY, OUTAGES),
    golden=("gadget-downward-closure-corrected-G13",),
)

CLOSURE_LITERAL = CLOSURE.derived(
    "gadget/downward-closure-literal",
    statement="by (5) as printed, which lets a server in use have no worker, the counts of a slot are closed under "
    "lowering them, whatever the path sets are, e.g. with single links alone",
    measure=lambda facts: _gaps(facts.horizon(RELAYED)),
    expectation=Expectation.TRUE,
    golden=("gadget-downward-closure-literal-G13",),
)

CLAIMS = stated(globals())
