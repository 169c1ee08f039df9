"""What the papers say of their models: the speed (1), Fact 1, R-DMLRS and its dual."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from dlsched.bounds.claim import Expectation, Premise, Undecided, always, stated
from dlsched.bounds.comparison import Interval, Relation
from dlsched.bounds.facts import optimal_schedule, over_schedules
from dlsched.bounds.pd_ors.facts import MAX_SCHEDULES, PD_ORS, PdOrsFacts
from dlsched.bounds.pd_ors.families import ASYNC, RISING, TINY
from dlsched.models.dmlrs import AsyncJob, Job
from dlsched.models.dmlrs.schedules import Counts, placements


def _placements(facts: PdOrsFacts) -> Iterator[tuple[Job | AsyncJob, Counts]]:
    """Yield every placement of every job in a slot of the empty cluster."""
    for job in facts.instance.jobs:
        try:
            found = placements(facts.instance, job, limit=MAX_SCHEDULES)
        except ValueError as limit:
            raise Undecided(str(limit)) from None
        for placement in found:
            yield job, placement


def _totals(placement: Counts) -> tuple[int, int]:
    return sum(w for w, _ in placement.values()), sum(s for _, s in placement.values())


def _exact_speed(job: Job, placement: Counts) -> Fraction:
    """Return the samples of a slot by (1), with the servers there are."""
    workers, servers = _totals(placement)
    rates = [job.rate_between(h, p) for h, (w, _) in placement.items() if w for p, (_, s) in placement.items() if s]
    transfer = 2 * job.gradient_size / servers / min(rates)
    return workers / (job.slots_per_sample + transfer / Fraction(job.batch, workers))


def _speeds(facts: PdOrsFacts, *, nominal: bool) -> list[Fraction]:
    """Return nominal over exact speed; of the placements with exactly gamma workers a server, or of all."""
    found = []
    for job, placement in _placements(facts):
        workers, servers = _totals(placement)
        if isinstance(job, Job) and (not nominal or workers == job.workers_per_server * servers):
            found.append(job.progress(placement) / _exact_speed(job, placement))
    return found


SPEED = PD_ORS.printed(
    "pd-ors/speed",
    paper="PD-ORS, (1)-(3)",
    statement="with gamma workers a server, the samples of (1) are those of (3)",
    quantity="greatest samples by (3) over those by (1), over placements with exactly gamma workers a server",
    measure=lambda facts: max(_speeds(facts, nominal=True)),
    relation=Relation.EQUAL,
    bound=lambda facts: min(_speeds(facts, nominal=True)),
    expectation=Expectation.TRUE,
    premises=(
        Premise("some placement has exactly gamma workers a server", lambda facts: bool(_speeds(facts, nominal=True))),
    ),
    sources=(TINY,),
    golden=("pd-ors-speed-D4",),
)

SPEED_CORRECTED = SPEED.corrected(
    statement="with at least workers/gamma servers, the samples of (3) are at most those of (1)",
    quantity="greatest samples by (3) over those by (1), over all placements",
    measure=lambda facts: max(_speeds(facts, nominal=False)),
    relation=Relation.AT_MOST,
    bound=always(1),
    premises=(Premise("some job fits", lambda facts: bool(_speeds(facts, nominal=False))),),
    golden=("pd-ors-speed-corrected-D4",),
)


def _together(placement: Counts) -> bool:
    """Tell whether |P| = |W| = 1 and P = W."""
    workers = {h for h, (w, _) in placement.items() if w}
    servers = {h for h, (_, s) in placement.items() if s}
    return len(workers) == 1 and workers == servers


def _internal(job: Job | AsyncJob, placement: Counts, machine: str | None) -> bool:
    """Tell whether the workers, or those of one machine, exchange at b^(i) with all servers."""
    workers = [h for h, (w, _) in placement.items() if w and machine in (None, h)]
    servers = [p for p, (_, s) in placement.items() if s]
    return min(job.rate_between(h, p) for h in workers for p in servers) == job.internal_rate


def _mismatches(facts: PdOrsFacts) -> int:
    """Return of how many placements Fact 1 of the journal is wrong."""
    return sum(_internal(job, placement, None) != _together(placement) for job, placement in _placements(facts))


def _worker_mismatches(facts: PdOrsFacts, *, printed: bool) -> int:
    """Return of how many placements and machines Fact 1 of the thesis is wrong; corrected: internal iff P = {h}."""
    wrong = 0
    for job, placement in _placements(facts):
        servers = {h for h, (_, s) in placement.items() if s}
        for h in (h for h, (w, _) in placement.items() if w):
            said = _together(placement) if printed else servers == {h}
            wrong += _internal(job, placement, h) != said
    return wrong


FASTER_INSIDE = Premise[PdOrsFacts]("b^(i) > b^(e)", lambda facts: facts.faster_inside)

FACT_1 = PD_ORS.printed(
    "pd-ors/fact-1",
    paper="PD-ORS, Fact 1",
    statement="b = b^(i) if and only if |P| = |W| = 1 and P = W",
    quantity="placements in a slot of which that is wrong",
    measure=_mismatches,
    relation=Relation.AT_MOST,
    bound=always(0),
    expectation=Expectation.TRUE,
    premises=(FASTER_INSIDE,),
    sources=(TINY,),
    golden=("pd-ors-fact-1-D4",),
)

THESIS_FACT_1 = PD_ORS.printed(
    "pd-ors-thesis/fact-1",
    paper="PD-ORS thesis, Fact 1",
    statement="min_p 2g/b(h,p) = 2g/b^(i) if and only if |P| = |W| = 1 and P = W",
    quantity="placements and machines of which that is wrong",
    measure=lambda facts: _worker_mismatches(facts, printed=True),
    relation=Relation.AT_MOST,
    bound=always(0),
    expectation=Expectation.FALSE,
    premises=(FASTER_INSIDE,),
    sources=(ASYNC,),
    counterexamples=("pd-ors-thesis-fact-1-two-machines",),
)

THESIS_FACT_1_CORRECTED = THESIS_FACT_1.corrected(
    statement="a worker on machine h is internal if and only if P = {h}",
    measure=lambda facts: _worker_mismatches(facts, printed=False),
    golden=("pd-ors-thesis-fact-1-corrected-two-machines",),
)


def _relaxation(facts: PdOrsFacts) -> Interval:
    """Return the optimum of R-DMLRS."""
    return over_schedules("dmlrs/schedules", facts.instance, facts.schedules)


def _dual(facts: PdOrsFacts) -> Interval:
    """Return the optimum of D-R-DMLRS."""
    return over_schedules("dmlrs/dual", facts.instance, facts.schedules)


EQUIVALENCE = PD_ORS.printed(
    "pd-ors/equivalence",
    paper="PD-ORS, Section 4.1",
    statement="R-DMLRS (8)-(9) is equivalent to DMLRS",
    quantity="the optimum of R-DMLRS over all schedules, against OPT",
    measure=_relaxation,
    relation=Relation.EQUAL,
    bound=lambda facts: facts.opt,
    expectation=Expectation.TRUE,
    schedule=optimal_schedule,
    sources=(TINY, ASYNC),
    golden=("pd-ors-equivalence-D3", "pd-ors-equivalence-D8"),
)

DUAL_OPTIMUM = PD_ORS.printed(
    "pd-ors/dual-optimum",
    paper="PD-ORS, Appendix C",
    statement="the optimum of R-DMLRS is also the optimum of D-R-DMLRS",
    quantity="the optimum of D-R-DMLRS (10)-(11), against that of R-DMLRS",
    measure=_dual,
    relation=Relation.EQUAL,
    bound=_relaxation,
    expectation=Expectation.FALSE,
    schedule=optimal_schedule,
    sources=(TINY, RISING),
    counterexamples=("pd-ors-dual-optimum-D10",),
)

DUAL_OPTIMUM_CORRECTED = DUAL_OPTIMUM.corrected(
    statement="the optimum of D-R-DMLRS is at least that of R-DMLRS",
    relation=Relation.AT_LEAST,
    golden=("pd-ors-dual-optimum-corrected-D10",),
)

CLAIMS = stated(globals())
