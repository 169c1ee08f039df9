"""What the constraints (7)-(9) say as printed, against what they are meant to say; and the example utilities."""

from __future__ import annotations

from typing import Any

from dlsched.bounds.claim import Expectation, Premise, always, stated
from dlsched.bounds.comparison import Relation
from dlsched.bounds.gadget.facts import BY_PATH, DEGREES, EVERYWHERE, FINITE, GADGET, GadgetFacts
from dlsched.bounds.gadget.families import CONCAVE, PAIRS, THRESHOLDS, TINY
from dlsched.bounds.gadget.shape import conforms
from dlsched.models.utility import Linear, Log, Sqrt

BANDWIDTH = GADGET.printed(
    "gadget/path-bandwidth",
    paper="GADGET, (8)",
    statement="(8), path by path, keeps the bandwidth of every link",
    quantity="the optimum with (8), against that with the links' bandwidths",
    measure=lambda facts: facts.optimum(BY_PATH),
    relation=Relation.AT_MOST,
    bound=lambda facts: facts.opt,
    expectation=Expectation.FALSE,
    premises=(FINITE,),
    sources=(PAIRS,),
    counterexamples=("gadget-path-bandwidth-G5",),
)

BANDWIDTH_CORRECTED = BANDWIDTH.corrected(
    statement="bandwidths summed over all paths on a link imply (8)",
    relation=Relation.AT_LEAST,
    sources=(PAIRS, CONCAVE),
    golden=("gadget-path-bandwidth-corrected-G5",),
)

CYCLES = GADGET.printed(
    "gadget/cycles",
    paper="GADGET, (9)",
    statement="a degree of two on every server of a job guarantees only one big cycle",
    quantity="the optimum with one path in and one out of each server of a job, against that with one ring",
    measure=lambda facts: facts.optimum(DEGREES),
    relation=Relation.AT_MOST,
    bound=lambda facts: facts.opt,
    expectation=Expectation.FALSE,
    premises=(FINITE,),
    sources=(PAIRS,),
    counterexamples=("gadget-cycles-G4",),
)

CYCLES_CORRECTED = CYCLES.corrected(
    statement="on at most three servers, one path in and one out of each server of a job make one ring",
    premises=(FINITE, Premise("at most three servers", lambda facts: len(facts.instance.servers) <= 3)),
    sources=(TINY, CONCAVE),
    golden=("gadget-cycles-corrected-G3",),
)

RINGS = GADGET.printed(
    "gadget/printed-rings",
    paper="GADGET, (9)",
    statement="(9) for all i and all servers s says that the servers of job i form a ring",
    quantity="the optimum with (9) on all servers and at least one worker where x = 1, against that with rings",
    measure=lambda facts: facts.optimum(EVERYWHERE),
    relation=Relation.EQUAL,
    bound=lambda facts: facts.opt,
    expectation=Expectation.FALSE,
    premises=(FINITE,),
    sources=(PAIRS,),
    counterexamples=("gadget-printed-rings-three-servers",),
)


def _unlike(facts: GadgetFacts) -> list[str]:
    return [job.name for job in facts.instance.jobs if not conforms(job, facts.instance.most(job))]


def _unlike_details(facts: GadgetFacts) -> dict[str, Any]:
    return {"jobs": _unlike(facts)}


def _rises_and_bends(facts: GadgetFacts) -> bool:
    return all(
        isinstance(u, Sqrt) or (isinstance(u, Log) and u.offset > 0) or (isinstance(u, Linear) and u.slope <= 0)
        for u in (job.utility for job in facts.instance.jobs)
    )


UTILITIES = GADGET.printed(
    "gadget/utilities",
    paper="GADGET, Sections IV-B and VI",
    statement="the example utilities, sqrt, log and sigmoid, are non-decreasing and concave",
    quantity="jobs whose utility is not finite at 0, non-decreasing and concave, against 0",
    measure=lambda facts: len(_unlike(facts)),
    relation=Relation.AT_MOST,
    bound=always(0),
    expectation=Expectation.FALSE,
    details=_unlike_details,
    sources=(THRESHOLDS,),
    counterexamples=("gadget-utilities-G11", "gadget-utilities-log"),
)

UTILITIES_CORRECTED = UTILITIES.corrected(
    statement="C sqrt(x), log(c + x) with c > 0 and rising lines are finite at 0, non-decreasing and concave",
    premises=(Premise("every utility is one of these", _rises_and_bends),),
    sources=(CONCAVE,),
    golden=("gadget-utilities-corrected-log",),
)

CLAIMS = stated(globals())
