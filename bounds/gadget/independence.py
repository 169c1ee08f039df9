"""What the proof of Theorem 6 says of the set of schedules: a 1-system, and slots closed under lowering counts."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

from dlsched.bounds.claim import Claim, Expectation, Premise, Variant
from dlsched.bounds.comparison import Relation
from dlsched.bounds.gadget.facts import SINGLE_HOP, GadgetFacts
from dlsched.bounds.gadget.families import CONCAVE, LASTING, OUTAGES, TINY
from dlsched.bounds.gadget.horizon import Counts, Horizon
from dlsched.bounds.gadget.submodularity import uneven

_P_SYSTEM: dict[str, Any] = {
    "id": "gadget/p-system",
    "paper": "GADGET, proof of Theorem 6",
    "quantity": "p, the greatest ratio of the sizes of two maximal schedules within a set of up to 5 allocations, "
    "against 1",
    "bound": lambda facts: 1,
    "relation": Relation.AT_MOST,
    "facts": GadgetFacts,
    "premises": (Premise("some allocation is possible", lambda facts: bool(facts.ground)),),
    "sources": (LASTING,),
    "details": lambda facts: {"allocations": [[slot, list(counts)] for slot, counts in facts.ground]},
}

P_SYSTEM = Claim(
    variant=Variant.PRINTED,
    statement="the schedules that keep (3) are a 1-system",
    measure=lambda facts: uneven(facts.ground, facts.instance, budgets=True),
    expectation=Expectation.FALSE,
    counterexamples=("gadget-p-system-two-workers", "gadget-p-system-three-workers"),
    **_P_SYSTEM,
)

P_SYSTEM_CORRECTED = Claim(
    variant=Variant.CORRECTED,
    statement="without (3), schedules with one allocation a slot are a 1-system; mu_i(zeta_i min(n_i, K_i)) stands for "
    "(3)",
    measure=lambda facts: uneven(facts.ground, facts.instance, budgets=False),
    expectation=Expectation.TRUE,
    golden=("gadget-p-system-corrected-two-workers",),
    **_P_SYSTEM,
)


def _gaps(horizon: Horizon) -> Iterator[tuple[int, Counts]]:
    """Yield (slot, counts) of what is not possible although more of one job is."""
    for slot, vectors in enumerate(horizon.slots, start=1):
        for vector, job in itertools.product(sorted(vectors), range(len(horizon.instance.jobs))):
            less = tuple(n - (i == job) for i, n in enumerate(vector))
            if vector[job] and less not in vectors:
                yield slot, less


_CLOSURE: dict[str, Any] = {
    "id": "gadget/downward-closure",
    "paper": "GADGET, (7)-(9)",
    "quantity": "counts of a slot that are not possible although one worker more of a job is, against 0",
    "bound": lambda facts: 0,
    "relation": Relation.AT_MOST,
    "facts": GadgetFacts,
}

CLOSURE = Claim(
    variant=Variant.PRINTED,
    statement="with single links alone as paths, the counts of a slot are closed under lowering them",
    measure=lambda facts: len(list(_gaps(facts.horizon(SINGLE_HOP)))),
    expectation=Expectation.FALSE,
    sources=(OUTAGES,),
    counterexamples=("gadget-downward-closure-G13",),
    **_CLOSURE,
)

CLOSURE_CORRECTED = Claim(
    variant=Variant.CORRECTED,
    statement="with all simple paths, the counts of a slot are closed under lowering them",
    measure=lambda facts: len(list(_gaps(facts.horizon()))),
    expectation=Expectation.TRUE,
    sources=(TINY, CONCAVE, OUTAGES),
    golden=("gadget-downward-closure-corrected-G13",),
    **_CLOSURE,
)

CLAIMS = (P_SYSTEM, P_SYSTEM_CORRECTED, CLOSURE, CLOSURE_CORRECTED)
