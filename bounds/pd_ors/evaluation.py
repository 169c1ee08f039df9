"""What the evaluation says: PD-ORS against its baselines and the optimum, in the printed ranges of Section 5.

PD-ORS is run with exact subproblems and with (13) and (14) repaired: in these ranges some jobs need no GPU, by which
(13) divides, and (21) has up to 10^8 samples a job. That is no algorithm of the paper, so that these claims are ours.
"""

from __future__ import annotations

import math
from dataclasses import replace

from dlsched.bounds.claim import Claim, Expectation, Premise, always, stated
from dlsched.bounds.comparison import Relation
from dlsched.bounds.facts import OPT_POSITIVE
from dlsched.bounds.pd_ors.facts import PD_ORS, PdOrsFacts
from dlsched.bounds.pd_ors.families import ALL_EPOCHS, FIG_3_11, FIG_3_11_HOUR, FIG_8, FIG_10, RANGES
from dlsched.models.dmlrs.instance import can_earn, fewest_slots

_EXACT = "PD-ORS with exact subproblems"
_MEASURED = f"{_EXACT} and (13), (14) repaired"
_OPEN = (
    "with which G external placements are rounded, and how often: here they are exact, the best that rounding can "
    "find for a job; what (13) is for jobs that need no GPU, by which it divides: here repaired; link rates, the "
    "length of a slot and the sizes of the machines: assumed, see the origin of a draw"
)


def _against(baseline: str, figures: str, known: Expectation) -> Claim[PdOrsFacts]:
    """Return the claim that PD-ORS is worth more, on average, than one of its baselines."""
    return PD_ORS.derived(
        f"pd-ors/evaluation-{baseline.lower()}",
        paper=f"PD-ORS, Section 5, {figures}",
        statement=f"on average {_EXACT} is worth more than {baseline}",
        quantity=f"utility of {_MEASURED}, against that of {baseline}; I = 10, 20, ..., 50, T = 20, H = 100",
        measure=lambda facts: facts.repaired.run.utility,
        relation=Relation.AT_LEAST,
        bound=lambda facts: facts.baseline(baseline),
        expectation=known,
        sources=(FIG_8,),
        sampled=True,
        open=_OPEN,
    )


EVALUATION_FIFO = _against("FIFO", "Fig. 7", Expectation.TRUE)
EVALUATION_DRF = _against("DRF", "Fig. 7", Expectation.TRUE)
EVALUATION_DORM = _against("Dorm", "Fig. 7", Expectation.TRUE)
EVALUATION_OASIS = _against("OASiS", "Fig. 8", Expectation.OPEN)

RATIO = PD_ORS.derived(
    "pd-ors/ratio-1.4",
    paper="PD-ORS, Section 5, Fig. 10",
    statement=f"the competitive ratio of {_EXACT} is between 1.0 and 1.4",
    quantity=f"OPT, against 1.4 times the utility of {_MEASURED}; I = T = 10, H = 2, 4, ..., 12",
    measure=lambda facts: facts.opt,
    relation=Relation.AT_MOST,
    bound=lambda facts: 1.4 * facts.repaired.run.utility,
    expectation=Expectation.OPEN,
    premises=(replace(OPT_POSITIVE, source="Fig. 10: there is a ratio"),),
    sources=(FIG_10,),
    sampled=True,
    open=_OPEN,
)

_MACHINES = (
    "with which G external placements are rounded: here they are exact, the best that rounding can find for a job; "
    "what (3.13) is for jobs that need no GPU, by which it divides: here repaired; the sizes of the machines; arrivals"
)

THESIS_OASIS = PD_ORS.derived(
    "pd-ors-thesis/evaluation-oasis",
    paper="PD-ORS thesis, Section 4.1, Fig. 3.11",
    statement=f"with 15 jobs {_EXACT} is worth more than 7 times what OASiS is",
    quantity=f"utility of {_MEASURED}, against 7 times that of OASiS; H = 30, T = 100, slots of ten minutes",
    measure=lambda facts: facts.repaired.run.utility,
    relation=Relation.AT_LEAST,
    bound=lambda facts: 7 * facts.baseline("OASiS"),
    expectation=Expectation.OPEN,
    sources=(FIG_3_11,),
    sampled=True,
    open=f"the length of a slot, by which transfers take more or less of the time; {_MACHINES}",
)

THESIS_OASIS_HOUR = THESIS_OASIS.derived(
    "pd-ors-thesis/evaluation-oasis-hour",
    statement="the same where a slot is an hour",
    quantity=f"utility of {_MEASURED}, against 7 times that of OASiS; H = 30, T = 100",
    expectation=Expectation.FALSE,
    open=_MACHINES,
    sources=(FIG_3_11_HOUR,),
)

AXES = {50: 1200, 100: 3500}
"""By the number of jobs, the last tick below the end of the utility's axis: 1400 in Fig. 8, 4000 in Fig. 14."""


_AS_DRAWN = Premise[PdOrsFacts](
    "there are as many jobs as in a figure, 50 or 100", lambda facts: len(facts.instance.jobs) in AXES, "Figs. 8 and 14"
)


def _share_of_axis(facts: PdOrsFacts) -> float:
    """Return what the jobs are worth at the best, each with all workers that it may have, over the last tick."""
    instance = facts.instance
    worth = (job.utility(fewest_slots(job) - 1) for job in instance.jobs if can_earn(instance, job))
    return math.fsum(worth) / AXES[len(instance.jobs)]


SECTION_5_RANGES = PD_ORS.derived(
    "pd-ors/section-5-ranges",
    paper="PD-ORS, Section 5, Figs. 8 and 14",
    statement="the printed ranges cannot give the figures: what all jobs are worth at the best, each with all workers "
    "that it may have, is on average below 1200 with 50 jobs and T = 20, where the axis goes on to 1400, and below "
    "3500 with 100 jobs and T = 80, where it goes on to 4000",
    quantity="sum over the jobs of u_i(n - 1), n = ceil(V kappa_I/F), or 0 if n is too long; over 1200 or 3500",
    measure=_share_of_axis,
    relation=Relation.AT_MOST,
    bound=always(1),
    expectation=Expectation.TRUE,
    premises=(_AS_DRAWN,),
    sources=RANGES,
    sampled=True,
)

SECTION_5_ALL_EPOCHS = PD_ORS.derived(
    "pd-ors/section-5-all-epochs",
    paper="PD-ORS, Section 5, Figs. 8 and 14",
    statement="read so that K_i counts the samples of all epochs, the same ranges do not rule the figures out from "
    "above: what all jobs are worth at the best, which the figures need and which alone does not give them, is on "
    "average at least 1200 with 50 jobs and T = 20, and at least 3500 with 100 jobs and T = 80",
    quantity="the same sum with V = K, over 1200 or 3500",
    measure=_share_of_axis,
    relation=Relation.AT_LEAST,
    bound=always(1),
    expectation=Expectation.TRUE,
    premises=(_AS_DRAWN,),
    sources=ALL_EPOCHS,
    sampled=True,
)

CLAIMS = stated(globals())
