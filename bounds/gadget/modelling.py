"""What the constraints (7)-(9) say as printed, against what they are meant to say; and the example utilities."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dlsched.bounds.claim import Expectation, Premise, always, stated
from dlsched.bounds.comparison import Relation
from dlsched.bounds.gadget.facts import BY_PATH, DEGREES, EVERYWHERE, FINITE, GADGET, NON_DECREASING, GadgetFacts
from dlsched.bounds.gadget.facts import CONCAVE as BENDING
from dlsched.bounds.gadget.families import CONCAVE, PAIRS, THRESHOLDS, TINY
from dlsched.bounds.gadget.shape import conforms, is_finite, rises_and_bends
from dlsched.models.ddljs import Job
from dlsched.models.utility import Linear, Log, Sqrt

_UTILITIES = (FINITE, BENDING, NON_DECREASING)
"""What the paper assumes of utilities."""

BANDWIDTH = GADGET.printed(
    "gadget/path-bandwidth",
    paper="GADGET, Section IV-2, (8)",
    statement="(8), path by path, ensures that the bottleneck link of no activated path is exceeded",
    quantity="the optimum with (8), against that with the links' bandwidths",
    measure=lambda facts: facts.optimum(BY_PATH),
    relation=Relation.AT_MOST,
    bound=lambda facts: facts.opt,
    expectation=Expectation.FALSE,
    premises=_UTILITIES,
    sources=(PAIRS,),
    counterexamples=("gadget-path-bandwidth-two-pairs",),
)

BANDWIDTH_CORRECTED = BANDWIDTH.corrected(
    statement="bandwidths summed over all paths on a link imply (8)",
    relation=Relation.AT_LEAST,
    premises=(FINITE,),
    sources=(PAIRS, CONCAVE),
    golden=("gadget-path-bandwidth-corrected-two-pairs",),
)

CYCLES = GADGET.printed(
    "gadget/cycles",
    paper="GADGET, Section IV-2, (9)",
    statement="degree two on every server of a job guarantees only one big cycle instead of multiple small ones",
    quantity="the optimum with one path in and one out of each server of a job, against that with one ring",
    measure=lambda facts: facts.optimum(DEGREES),
    relation=Relation.AT_MOST,
    bound=lambda facts: facts.opt,
    expectation=Expectation.FALSE,
    premises=_UTILITIES,
    sources=(PAIRS,),
    counterexamples=("gadget-cycles-two-triangles", "gadget-cycles-G4"),
)

CYCLES_CORRECTED = CYCLES.corrected(
    statement="on at most three servers, one path in and one out of each server of a job make one ring",
    premises=(FINITE, Premise("at most three servers", lambda facts: len(facts.instance.servers) <= 3)),
    sources=(TINY, CONCAVE),
    golden=("gadget-cycles-corrected-G3",),
)

RINGS = GADGET.printed(
    "gadget/printed-rings",
    paper="GADGET, Section IV-2, (9)",
    statement="(9) for all i and all servers s says that the servers of job i form a ring",
    quantity="the optimum with (9) on all servers and at least one worker where x = 1, against that with rings",
    measure=lambda facts: facts.optimum(EVERYWHERE),
    relation=Relation.EQUAL,
    bound=lambda facts: facts.opt,
    expectation=Expectation.FALSE,
    premises=_UTILITIES,
    open=(
        "whether y_s >= 1 where x_s = 1, which is measured here, and without which a server of the ring may have no "
        "worker; the first witness has too few in either reading"
    ),
    sources=(PAIRS,),
    counterexamples=("gadget-printed-rings-lone-server", "gadget-printed-rings-three-servers"),
)


def _unlike(facts: GadgetFacts, conforming: Callable[[Job, int], bool]) -> list[str]:
    return [job.name for job in facts.instance.jobs if not conforming(job, facts.instance.most(job))]


def _details(conforming: Callable[[Job, int], bool]) -> Callable[[GadgetFacts], dict[str, Any]]:
    return lambda facts: {"jobs": _unlike(facts, conforming)}


def _is_named(facts: GadgetFacts) -> bool:
    return all(
        isinstance(u, Sqrt) or (isinstance(u, Log) and u.offset > 0) or (isinstance(u, Linear) and u.slope <= 0)
        for u in (job.utility for job in facts.instance.jobs)
    )


UTILITIES = GADGET.printed(
    "gadget/utilities",
    paper="GADGET, Sections IV-3 and VI-1",
    statement="mu_i is non-decreasing and concave: so are the examples, C sqrt(x), log(x) and -c(x) of a quadratic "
    "cost c, and the Sigmoid of Section VI",
    quantity="jobs whose utility is not non-decreasing and concave, against 0",
    measure=lambda facts: len(_unlike(facts, rises_and_bends)),
    relation=Relation.AT_MOST,
    bound=always(0),
    expectation=Expectation.FALSE,
    details=_details(rises_and_bends),
    sources=(THRESHOLDS,),
    counterexamples=("gadget-utilities-G11", "gadget-utilities-energy"),
    golden=("gadget-utilities-log",),
)

UTILITIES_CORRECTED = UTILITIES.corrected(
    statement="C sqrt(x), log(c + x) with c > 0 and rising lines are finite at 0, non-decreasing and concave",
    measure=lambda facts: len(_unlike(facts, conforms)),
    details=_details(conforms),
    premises=(Premise("every utility is one of these", _is_named),),
    sources=(CONCAVE,),
    golden=("gadget-utilities-corrected-log",),
)

FINITE_UTILITIES = UTILITIES.derived(
    "gadget/finite-utilities",
    paper="GADGET, Section IV-3, proportional fairness",
    statement="F of every schedule is a number, as (10), (12) and Lemma 5 need: so it is with log(x), too",
    quantity="jobs whose utility is not finite at 0, against 0",
    measure=lambda facts: len(_unlike(facts, is_finite)),
    details=_details(is_finite),
    sources=(),
    counterexamples=("gadget-finite-utilities-log",),
)

CLAIMS = stated(globals())
