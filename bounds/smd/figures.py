"""What the figures of the evaluation report, in the paper's ranges: averages, of SMD and its baselines in pairs."""

from __future__ import annotations

from dlsched.bounds.claim import Claim, Expectation, always, stated
from dlsched.bounds.comparison import Relation
from dlsched.bounds.smd.facts import FALLING, SMD, SmdFacts
from dlsched.bounds.smd.sources import EVALUATION

_OPEN = (
    "the unit of gamma_3, what a virtual machine has (the limits are multiples of it), and the speed model: guessed, "
    "see the origin of a draw; other guesses decide otherwise"
)
_ADMITTED = "; guessed too: how the baselines meet (2), here by (16), solved exactly, as SMD does"


def _outperforms(id: str, baseline: str, name: str) -> Claim[SmdFacts]:
    """Return the claim that SMD is worth more than a baseline."""
    return SMD.printed(
        id,
        paper="SMD, Section V, Figs. 7 and 8",
        statement=f"SMD (M = 1, eps = .01) significantly outperforms {name} in utility, with 50 jobs and 1 to 5 units",
        quantity=f"mean utility of SMD, against that of {name} on the same instances",
        measure=lambda facts: facts.evaluated.utility,
        relation=Relation.AT_LEAST,
        bound=lambda facts: facts.baselines[baseline],
        sampled=True,
        guessed=True,
        expectation=Expectation.OPEN,
        premises=(FALLING,),
        open=_OPEN + _ADMITTED,
        sources=(EVALUATION,),
    )


SMD_ESW = _outperforms("smd/evaluation-esw", "esw", "ESW")
SMD_OPTIMUS = _outperforms("smd/evaluation", "optimus", "Optimus")


def used_share(facts: SmdFacts) -> float:
    """Return what the admitted jobs of SMD use of what they reserve, the mean over the resources that they need."""
    instance, jobs = facts.instance, facts.evaluated.schedule.jobs
    shares = []
    for r in instance.resources:
        admitted = [(instance.job(name), point) for name, point in jobs.items()]
        used = sum(job.uses(p.workers, p.servers).get(r, 0) for job, p in admitted)
        reserved = sum(job.limit_of(r) for job, _ in admitted)
        if reserved:
            shares.append(float(used / reserved))
    return sum(shares) / len(shares) if shares else 0.0


USED = SMD.printed(
    "smd/used-resources",
    paper="SMD, Section V, Fig. 12",
    statement="the resources that SMD uses are at most half of those that users reserve (in print 30 to 50 %)",
    quantity="mean share used of what is reserved, over the resources, against 1/2",
    measure=used_share,
    relation=Relation.AT_MOST,
    bound=always(0.5),
    sampled=True,
    guessed=True,
    expectation=Expectation.OPEN,
    premises=(FALLING,),
    open=_OPEN,
    sources=(EVALUATION,),
)

CLAIMS = stated(globals())
