"""What the constraints (7)-(9) say as printed, against what they are meant to say; and the example utilities."""

from __future__ import annotations

from typing import Any

from dlsched.bounds.claim import Claim, Expectation, Premise, Variant
from dlsched.bounds.comparison import Relation
from dlsched.bounds.gadget.facts import BY_PATH, DEGREES, EVERYWHERE, FINITE, GadgetFacts
from dlsched.bounds.gadget.families import CONCAVE, PAIRS, THRESHOLDS, TINY
from dlsched.bounds.gadget.plans import Rules
from dlsched.bounds.gadget.shape import conforms
from dlsched.models.utility import Linear, Log, Sqrt


def _optimum_under(rules: Rules) -> dict[str, Any]:
    return {
        "measure": lambda facts: facts.optimum(rules),
        "bound": lambda facts: facts.opt,
        "facts": GadgetFacts,
        "premises": (FINITE,),
    }


BANDWIDTH = Claim(
    id="gadget/path-bandwidth",
    paper="GADGET, (8)",
    variant=Variant.PRINTED,
    statement="(8), path by path, keeps the bandwidth of every link",
    quantity="the optimum with (8), against that with the links' bandwidths",
    relation=Relation.AT_MOST,
    expectation=Expectation.FALSE,
    sources=(PAIRS,),
    counterexamples=("gadget-path-bandwidth-G5",),
    **_optimum_under(BY_PATH),
)

BANDWIDTH_CORRECTED = Claim(
    id="gadget/path-bandwidth",
    paper="GADGET, (8)",
    variant=Variant.CORRECTED,
    statement="bandwidths summed over all paths on a link imply (8)",
    quantity="the optimum with (8), against that with the links' bandwidths",
    relation=Relation.AT_LEAST,
    expectation=Expectation.TRUE,
    sources=(PAIRS, CONCAVE),
    golden=("gadget-path-bandwidth-corrected-G5",),
    **_optimum_under(BY_PATH),
)

CYCLES = Claim(
    id="gadget/cycles",
    paper="GADGET, (9)",
    variant=Variant.PRINTED,
    statement="a degree of two on every server of a job guarantees only one big cycle",
    quantity="the optimum with one path in and one out of each server of a job, against that with one ring",
    relation=Relation.AT_MOST,
    expectation=Expectation.FALSE,
    sources=(PAIRS,),
    counterexamples=("gadget-cycles-G4",),
    **_optimum_under(DEGREES),
)

CYCLES_CORRECTED = Claim(
    id="gadget/cycles",
    paper="GADGET, (9)",
    variant=Variant.CORRECTED,
    statement="on at most three servers, one path in and one out of each server of a job make one ring",
    quantity="the optimum with one path in and one out of each server of a job, against that with one ring",
    relation=Relation.AT_MOST,
    expectation=Expectation.TRUE,
    sources=(TINY, CONCAVE),
    golden=("gadget-cycles-corrected-G3",),
    **{
        **_optimum_under(DEGREES),
        "premises": (FINITE, Premise("at most three servers", lambda facts: len(facts.instance.servers) <= 3)),
    },
)

RINGS = Claim(
    id="gadget/printed-rings",
    paper="GADGET, (9)",
    variant=Variant.PRINTED,
    statement="(9) for all i and all servers s says that the servers of job i form a ring",
    quantity="the optimum with (9) on all servers and at least one worker where x = 1, against that with rings",
    relation=Relation.EQUAL,
    expectation=Expectation.FALSE,
    sources=(PAIRS,),
    counterexamples=("gadget-printed-rings-three-servers",),
    **_optimum_under(EVERYWHERE),
)


def _unlike(facts: GadgetFacts) -> list[str]:
    return [job.name for job in facts.instance.jobs if not conforms(job, facts.instance.most(job))]


_UTILITIES: dict[str, Any] = {
    "id": "gadget/utilities",
    "paper": "GADGET, Sections IV-B and VI",
    "quantity": "jobs whose utility is not finite at 0, non-decreasing and concave, against 0",
    "measure": lambda facts: len(_unlike(facts)),
    "bound": lambda facts: 0,
    "relation": Relation.AT_MOST,
    "facts": GadgetFacts,
    "details": lambda facts: {"jobs": _unlike(facts)},
}

UTILITIES = Claim(
    variant=Variant.PRINTED,
    statement="the example utilities, sqrt, log and sigmoid, are non-decreasing and concave",
    expectation=Expectation.FALSE,
    sources=(THRESHOLDS,),
    counterexamples=("gadget-utilities-G11", "gadget-utilities-log"),
    **_UTILITIES,
)


def _rises_and_bends(facts: GadgetFacts) -> bool:
    return all(
        isinstance(u, Sqrt) or (isinstance(u, Log) and u.offset > 0) or (isinstance(u, Linear) and u.slope <= 0)
        for u in (job.utility for job in facts.instance.jobs)
    )


UTILITIES_CORRECTED = Claim(
    variant=Variant.CORRECTED,
    statement="C sqrt(x), log(c + x) with c > 0 and rising lines are finite at 0, non-decreasing and concave",
    expectation=Expectation.TRUE,
    premises=(Premise("every utility is one of these", _rises_and_bends),),
    sources=(CONCAVE,),
    golden=("gadget-utilities-corrected-log",),
    **_UTILITIES,
)

CLAIMS = (
    BANDWIDTH,
    BANDWIDTH_CORRECTED,
    CYCLES,
    CYCLES_CORRECTED,
    RINGS,
    UTILITIES,
    UTILITIES_CORRECTED,
)
