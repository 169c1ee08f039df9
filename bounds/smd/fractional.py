"""The inner problem's sum of ratios: denominators, the grid, and Algorithm 1's guarantee."""

from __future__ import annotations

from typing import Any

from dlsched import relaxations
from dlsched.bounds.claim import Claim, Expectation, Premise, Variant
from dlsched.bounds.comparison import Interval, Relation
from dlsched.bounds.smd.facts import COARSE, SmdFacts
from dlsched.bounds.smd.sources import INNER, TINY
from dlsched.models.smd import Job, ratios

RUNNING = Premise("some job can run, and takes time", lambda facts: bool(facts.running))


def _vanishing(job: Job, least: float) -> int:
    """Return how many ratios of (12) have a denominator that is 0 where w = p = least."""
    return sum(
        1 for ratio in ratios(job).ratios if float(ratio.denominator.sum()) * least + ratio.denominator_constant <= 0
    )


_DENOMINATORS: dict[str, Any] = {
    "id": "smd/positive-denominators",
    "paper": "SMD, (12)",
    "quantity": "ratios whose denominator vanishes somewhere on Omega, against 0",
    "bound": lambda facts: 0,
    "relation": Relation.AT_MOST,
    "facts": SmdFacts,
    "premises": (RUNNING,),
    "sources": (TINY,),
}

DENOMINATORS = Claim(
    variant=Variant.PRINTED,
    statement="all denominators of (12) are positive on Omega = {A x <= C, x >= 0}",
    measure=lambda facts: max(_vanishing(job, 0.0) for job in facts.running),
    expectation=Expectation.FALSE,
    counterexamples=("smd-positive-denominators-S3",),
    **_DENOMINATORS,
)

DENOMINATORS_CORRECTED = Claim(
    variant=Variant.CORRECTED,
    statement="all denominators of (12) are positive on {A x <= C, x >= 1}, ratios that are identically 0 left out",
    measure=lambda facts: max(_vanishing(job, 1.0) for job in facts.running),
    expectation=Expectation.TRUE,
    golden=("smd-positive-denominators-corrected-S1",),
    **_DENOMINATORS,
)


def _overshoot(found: relaxations.SumOfRatios) -> float:
    """Return the greatest phi_j over the last step of ratio j's grid."""
    gridded = [j for j in range(len(found.lower)) if j != found.last]
    return max((float(found.upper[j] / grid[-1]) for j, grid in zip(gridded, found.grids, strict=True)), default=1.0)


GRID = Claim(
    id="smd/grid-covers",
    paper="SMD, Step 2.1",
    variant=Variant.PRINTED,
    statement="each point chi of the box has a grid point nu with nu_j <= chi_j <= (1 + eps) nu_j",
    quantity="the greatest phi_j over the last step of its grid, against 1 + eps, at eps = 1/2",
    measure=lambda facts: max(_overshoot(found) for found in facts.coarse["printed"].values()),
    bound=lambda facts: 1 + COARSE,
    relation=Relation.AT_MOST,
    expectation=Expectation.TRUE,
    facts=SmdFacts,
    premises=(RUNNING,),
    sources=(INNER,),
    golden=("smd-grid-covers-S2",),
)


def _worst(facts: SmdFacts, variant: str) -> Interval:
    """Return the least time over the time at Algorithm 1's point, of the worst job; 0 where there is no point."""
    values = [(facts.coarse[variant][job.name].value, facts.least_time(job)) for job in facts.running]
    return Interval(
        min(least.low / value if value else 1.0 for value, least in values),
        min(least.high / value if value else 1.0 for value, least in values),
    )


def _details(facts: SmdFacts) -> dict[str, Any]:
    return {
        variant: {
            name: {
                "points": r.points,
                "feasible": r.feasible,
                "cost": r.cost if r.feasible else None,
                "x": None if r.x is None else r.x.tolist(),
            }
            for name, r in found.items()
        }
        for variant, found in facts.coarse.items()
    }


_ALGORITHM_1: dict[str, Any] = {
    "id": "smd/algorithm-1",
    "paper": "SMD, Algorithm 1",
    "quantity": "the least time of the continuous relaxation over the time at Algorithm 1's point, against 1/(1 + eps)",
    "bound": lambda facts: 1 / (1 + COARSE),
    "relation": Relation.AT_LEAST,
    "facts": SmdFacts,
    "premises": (RUNNING,),
    "details": _details,
    "sources": (INNER,),
}

ALGORITHM_1 = Claim(
    variant=Variant.PRINTED,
    statement="Algorithm 1 is an eps-approximation of the continuous inner problem",
    measure=lambda facts: _worst(facts, "printed"),
    expectation=Expectation.FALSE,
    counterexamples=("smd-algorithm-1-no-point", "smd-algorithm-1-bad-point"),
    golden=("smd-algorithm-1-S2",),
    **_ALGORITHM_1,
)

ALGORITHM_1_CORRECTED = Claim(
    variant=Variant.CORRECTED,
    statement="with phi_j as the last step of each grid, Algorithm 1 is an eps-approximation",
    measure=lambda facts: _worst(facts, "corrected"),
    expectation=Expectation.TRUE,
    golden=("smd-algorithm-1-corrected-no-point", "smd-algorithm-1-corrected-bad-point"),
    **_ALGORITHM_1,
)

CLAIMS = (DENOMINATORS, DENOMINATORS_CORRECTED, GRID, ALGORITHM_1, ALGORITHM_1_CORRECTED)
