"""What the papers say of their models: the speed (1), Fact 1, R-DMLRS and its dual."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from fractions import Fraction

from dlsched.algorithms.exact.dmlrs.rationals import dual_over, over
from dlsched.bounds.claim import Expectation, Premise, Undecided, always, stated
from dlsched.bounds.comparison import Relation
from dlsched.bounds.facts import over_schedules
from dlsched.bounds.pd_ors.facts import (
    AGAINST_OPT,
    ASYNCHRONOUS,
    MAX_SCHEDULES,
    PD_ORS,
    SOME_SCHEDULE,
    SYNCHRONOUS,
    PdOrsFacts,
)
from dlsched.bounds.pd_ors.families import ASYNC, RISING, TINY
from dlsched.models.dmlrs import AsyncJob, Job
from dlsched.models.dmlrs.frame import fitting
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
    paper="PD-ORS, Section 3 2), (1)-(3)",
    statement="with gamma workers a server, the samples of (1) are those of (3)",
    quantity="samples by (3) over those by (1), where farthest from 1, with exactly gamma workers a server",
    measure=lambda facts: max(_speeds(facts, nominal=True), key=lambda ratio: abs(ratio - 1)),
    relation=Relation.EQUAL,
    bound=always(1),
    expectation=Expectation.TRUE,
    premises=(
        Premise(
            "some placement has exactly gamma workers a server",
            lambda facts: bool(_speeds(facts, nominal=True)),
            "Section 3 2), (2)",
        ),
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


def _every_placement(facts: PdOrsFacts) -> list[tuple[Job | AsyncJob, Counts]]:
    """Return every placement of every job that a slot of the empty cluster has room for, with idle servers or not."""
    found = []
    for job in facts.instance.jobs:
        partial: list[Counts] = [{}]
        most = max(job.most_workers, job.most_servers)
        for machine in facts.instance.machines:
            room = [
                (w, s)
                for w in range(fitting(machine, job.worker, job.most_workers) + 1)
                for s in range(fitting(machine, job.server, most) + 1)
                if all(amount <= machine.capacity_of(r) for r, amount in job.uses(w, s).items())
            ]
            if len(partial) * len(room) > MAX_SCHEDULES:
                raise Undecided(f"job {job.name} has more than {MAX_SCHEDULES} placements")
            partial = [{**chosen, machine.name: counts} for chosen in partial for counts in room]
        found += [(job, placement) for placement in partial if _allowed(job, placement)]
    return found


def _allowed(job: Job | AsyncJob, placement: Counts) -> bool:
    """Tell whether there are workers, not too many, and servers as the job's rules want them."""
    return 0 < _totals(placement)[0] <= job.most_workers and not job.server_shortage(placement)


def _machines(placement: Counts) -> tuple[set[str], set[str]]:
    """Return W and P."""
    return {h for h, (w, _) in placement.items() if w}, {h for h, (_, s) in placement.items() if s}


def _together(placement: Counts) -> bool:
    """Tell whether |P| = |W| = 1 and P = W."""
    workers, servers = _machines(placement)
    return len(workers) == 1 and workers == servers


def _mismatches(facts: PdOrsFacts) -> int:
    """Return of how many placements Fact 1 of the journal is wrong."""
    wrong = 0
    for job, placement in _every_placement(facts):
        workers, servers = _machines(placement)
        slowest = min(job.rate_between(h, p) for h in workers for p in servers)
        wrong += (slowest == job.internal_rate) != _together(placement)
    return wrong


def _worker_mismatches(
    facts: PdOrsFacts,
    said: Callable[[str, Counts], bool],
    choose: Callable[[Iterable[Fraction]], Fraction] = min,
) -> int:
    """Return of how many placements and machines with workers it is wrong what is said to be internal.

    The rate of the workers on a machine is that of the slowest of their links, or of another one that is chosen.
    """
    wrong = 0
    for job, placement in _every_placement(facts):
        workers, servers = _machines(placement)
        for h in workers:
            rate = choose(job.rate_between(h, p) for p in servers)
            wrong += (rate == job.internal_rate) != said(h, placement)
    return wrong


def _printed_fact(machine: str, placement: Counts) -> bool:
    return _together(placement)


def _servers_here(machine: str, placement: Counts) -> bool:
    return _machines(placement)[1] == {machine}


FASTER_INSIDE = Premise[PdOrsFacts](
    "b^(i) > b^(e)", lambda facts: facts.faster_inside, "Section 3 2): in practice b^(e) << b^(i)"
)

SENDS = Premise[PdOrsFacts](
    "g > 0", lambda facts: all(job.gradient_size > 0 for job in facts.instance.jobs), "Section 3 2): the size g_i"
)

FACT_1 = PD_ORS.printed(
    "pd-ors/fact-1",
    paper="PD-ORS, Section 4.3, Fact 1",
    statement="2g/min_(p,h) b(h,p) = 2g/b^(i) if and only if |P| = |W| = 1 and P = W; otherwise it is 2g/b^(e)",
    quantity="placements in a slot of which that is wrong",
    measure=_mismatches,
    relation=Relation.AT_MOST,
    bound=always(0),
    expectation=Expectation.TRUE,
    premises=(SYNCHRONOUS, FASTER_INSIDE, SENDS),
    sources=(TINY,),
    golden=("pd-ors-fact-1-D4",),
    worst=lambda facts: len(_every_placement(facts)),
)

THESIS_FACT_1 = PD_ORS.printed(
    "pd-ors-thesis/fact-1",
    paper="PD-ORS thesis, Section 3.2.3, Fact 1",
    statement="min_p(2g/b(h,p)) = 2g/b^(i) if and only if |P| = |W| = 1 and P = W; otherwise it is 2g/b^(e)",
    quantity="placements and machines with workers of which that is wrong, read 2g/min_p b(h,p) as in (3.1)",
    measure=lambda facts: _worker_mismatches(facts, _printed_fact),
    relation=Relation.AT_MOST,
    bound=always(0),
    expectation=Expectation.FALSE,
    premises=(ASYNCHRONOUS, replace(FASTER_INSIDE, source="Section 3.1 2): in practice b^(i) >> b^(e)")),
    sources=(ASYNC,),
    counterexamples=("pd-ors-thesis-fact-1-two-machines",),
    worst=lambda facts: len(_every_placement(facts)),
    open="whether the link meant is the slowest, as in (3.1), or to the letter the one with the least 2g/b",
)

THESIS_FACT_1_FASTEST = THESIS_FACT_1.derived(
    "pd-ors-thesis/fact-1-fastest",
    statement="The same to the letter: the least 2g/b(h,p) is that of the fastest link",
    quantity="placements and machines with workers of which that is wrong",
    measure=lambda facts: _worker_mismatches(facts, _printed_fact, max),
    counterexamples=("pd-ors-thesis-fact-1-fastest-two-servers",),
)

THESIS_FACT_1_CORRECTED = THESIS_FACT_1.corrected(
    statement="the workers on machine h exchange at b^(i) if and only if P = {h}, otherwise at b^(e)",
    measure=lambda facts: _worker_mismatches(facts, _servers_here),
    golden=("pd-ors-thesis-fact-1-corrected-two-machines",),
)


def _relaxation(facts: PdOrsFacts) -> float:
    """Return the optimum of R-DMLRS."""
    return over_schedules("dmlrs/schedules", facts.instance, facts.schedules, over)


def _dual(facts: PdOrsFacts) -> float:
    """Return the optimum of D-R-DMLRS."""
    return over_schedules("dmlrs/dual", facts.instance, facts.schedules, dual_over)


EQUIVALENCE = AGAINST_OPT.printed(
    "pd-ors/equivalence",
    paper="PD-ORS, Section 4.1",
    statement="R-DMLRS (8)-(9) is equivalent to DMLRS",
    quantity="the optimum of R-DMLRS over all schedules, against OPT",
    measure=_relaxation,
    relation=Relation.EQUAL,
    bound=lambda facts: facts.opt,
    expectation=Expectation.TRUE,
    premises=(SOME_SCHEDULE,),
    sources=(TINY, ASYNC),
    golden=("pd-ors-equivalence-D3", "pd-ors-equivalence-D8"),
    open="what a schedule of Pi_i keeps: in print (3) and (4), here (2) and (7) as well, without which it may start "
    "before the job is there, and have no server",
)

DUAL_OPTIMUM = AGAINST_OPT.printed(
    "pd-ors/dual-optimum",
    paper="PD-ORS, Appendix C, first sentence",
    statement="the optimum of R-DMLRS is also the optimum of D-R-DMLRS",
    quantity="the optimum of D-R-DMLRS (10)-(11), against that of R-DMLRS",
    measure=_dual,
    relation=Relation.EQUAL,
    bound=_relaxation,
    expectation=Expectation.FALSE,
    premises=(SOME_SCHEDULE,),
    sources=(TINY, RISING),
    counterexamples=("pd-ors-dual-optimum-small-jobs", "pd-ors-dual-optimum-D10"),
)

DUAL_OPTIMUM_CORRECTED = DUAL_OPTIMUM.corrected(
    statement="the optimum of D-R-DMLRS is at least that of R-DMLRS",
    relation=Relation.AT_LEAST,
    golden=("pd-ors-dual-optimum-corrected-D10",),
)

CLAIMS = stated(globals())
