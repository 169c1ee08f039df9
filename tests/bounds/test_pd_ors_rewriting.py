"""(19) rewritten as (23)-(26), the thesis's likewise, and what is said of size: by enumeration and by hand."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from fractions import Fraction

import numpy as np
import pytest

from dlsched.bounds import Status, check
from dlsched.bounds.claim import decide
from dlsched.bounds.pd_ors import rewriting, size
from dlsched.bounds.pd_ors.rewriting import RewritingFacts
from dlsched.bounds.pd_ors.slot import ExternalSlot
from dlsched.bounds.pd_ors.sources import slot as draw
from dlsched.bounds.witness import shipped
from dlsched.models import InputError
from dlsched.models.dmlrs import Instance, preset

Counts = tuple[tuple[int, int], ...]


def parsed(name: str, **changes: object) -> ExternalSlot:
    return ExternalSlot.parse({**shipped(name).instance, **changes})


def placements(slot: ExternalSlot, most: int) -> Iterator[tuple[Counts, Fraction]]:
    """Every placement of up to so many workers and servers on each machine that fits, with what it costs."""
    each = []
    for room, prices in zip(slot.room, slot.prices, strict=True):
        rows = list(zip(slot.worker, slot.server, room, strict=True))
        each.append(
            [
                (counts, sum(p * (a * counts[0] + b * counts[1]) for p, (a, b, _) in zip(prices, rows, strict=True)))
                for counts in itertools.product(range(most + 1), repeat=2)
                if all(a * counts[0] + b * counts[1] <= left for a, b, left in rows)
            ]
        )
    for chosen in itertools.product(*each):
        yield tuple(counts for counts, _ in chosen), sum((cost for _, cost in chosen), Fraction(0))


def journal(slot: ExternalSlot, counts: Counts) -> bool:
    """(2) as S >= W/gamma, (4), and (20) at the external rate."""
    workers, servers = (sum(pair[k] for pair in counts) for k in (0, 1))
    return slot.workers <= workers <= slot.most_workers and servers * slot.workers >= workers * slot.servers


def thesis(slot: ExternalSlot, counts: Counts) -> bool:
    """(3.2), (3.5), (3.19), and (3.4) pair by pair, with b^(e) = servers and B = workers."""
    workers, servers = (sum(pair[k] for pair in counts) for k in (0, 1))
    load = sum(w * slot.servers for w, _ in counts for _, s in counts if s)
    bears = 0 < load <= servers * slot.workers
    return bears and slot.workers <= workers <= slot.most_workers and servers <= workers


@pytest.mark.slow
@pytest.mark.parametrize("rule", [journal, thesis])
def test_the_problem_has_the_least_cost_over_all_placements(rule: Callable[[ExternalSlot, Counts], bool]) -> None:
    found = 0
    for seed in range(60):
        slot = draw(np.random.default_rng(seed))
        most = math.floor(slot.most_workers)
        if len(slot.room) > 2 or most > 6:
            continue
        least = min((cost for counts, cost in placements(slot, 2 * most) if rule(slot, counts)), default=math.inf)
        facts = RewritingFacts(slot, 0)
        assert least == (facts.problem if rule is journal else facts.thesis_problem)
        found += least < math.inf
    assert found > 5


def test_in_either_reading_the_printed_program_costs_less_than_what_trains() -> None:
    """E1: five workers cost 7; with one server 8, with the five of (2) 20."""
    facts = RewritingFacts(parsed("pd-ors-rewriting-E1"), 0)
    assert (facts.without_servers(), facts.with_a_server, facts.problem, facts.with_servers()) == (7, 8, 20, 20)


def test_a_need_of_v_kappa_over_gamma_servers_is_less_than_2() -> None:
    """4.1 workers and gamma = 4.5: .91 servers are one, but five whole workers want two."""
    one = parsed("pd-ors-rewriting-E1", workers="4.1", servers="41/45")
    facts = RewritingFacts(one, 0)
    assert (facts.wanted, facts.servers_for(facts.wanted), math.ceil(one.servers)) == (5, 2, 1)
    assert facts.with_servers() == facts.problem == 7 + 1 + 1


def test_the_thesis_drops_the_most_workers_and_the_most_servers() -> None:
    """With K = 1 for two workers (3.2) fails; with b^(e) = 2 B four servers for two workers break (3.5)."""
    for change in ({"most_workers": 1}, {"servers": 4, "room": [[9, 9], [9, 9]]}):
        facts = RewritingFacts(parsed("pd-ors-thesis-rewriting-two-homes", **change), 0)
        assert facts.thesis() < facts.thesis_problem == facts.thesis_at_home() == math.inf


@pytest.mark.slow
def test_too_many_placements_are_not_gone_through() -> None:
    verdict = decide(rewriting.REWRITING, parsed("pd-ors-rewriting-E1", room=[[99, 99]] * 3, most_workers=99))
    assert (verdict.status, verdict.reason) == (Status.UNDECIDED, "more than 1000000 placements to go through")


def test_what_25_asks_for() -> None:
    """Ten workers of ten: G = 1.804 at delta = .5, and at least 16 of 18.04 in every outcome."""
    ten = size.batch_job(3, 100, 10, 10)
    verdict = check("pd-ors/row-25-data-set", ten)
    assert (verdict.status, verdict.measured) == (Status.VIOLATED, 0)
    (job,) = ten.jobs
    assert (job.work * job.external_time, job.samples, job.most_workers) == (10, 100, 10)
    assert check("pd-ors/row-25-data-set", ten, far_more=11).status is Status.PREMISE_FAILS
    assert check("pd-ors/row-25", ten).status is Status.PREMISE_FAILS
    with pytest.raises(InputError, match="no parameter"):
        check("pd-ors/row-25", ten, far_more=3)


def test_where_the_batch_is_far_larger_no_outcome_breaks_25() -> None:
    """50 G = 65.3 workers of F = 100, on three machines at most 68: what is assumed is what is said."""
    fifty = Instance.parse(shipped("pd-ors-row-25-fifty-workers").instance)
    assert check("pd-ors/row-25", fifty).status is Status.VACUOUS
    assert [size.BatchFacts(job, 0).kept_by_all for job in (fifty, size.batch_job(3, 100, 10, 10))] == [1, 0]


def test_a_batch_of_few_more_samples_than_workers_may_keep_25_and_need_not() -> None:
    """One worker, F = 5 on one machine: G = 5.2 at delta = .5, and with probability .8 there are five."""
    gain = 1 + math.log(6) + math.sqrt(math.log(6) ** 2 + 2 * math.log(6))
    verdict = check("pd-ors/row-25-data-set", size.batch_job(1, 50, 1, 5))
    assert verdict.measured == pytest.approx(6 - gain)


@pytest.mark.parametrize(("machines", "ratio"), [(1, 4.002440), (10, 3.240323), (400, 2.350792)])
def test_the_ratio_falls_with_the_machines(machines: int, ratio: float) -> None:
    """W_2 = 10, delta = .3 and r = 2, 11, 401."""
    alike = parsed("pd-ors-ratio-size-ten-workers", room=[[10]] * machines, prices=[[1]] * machines)
    placement = size.SlotFacts(alike, 0).printed
    assert placement.widths.packings == machines + 1
    assert 3 * placement.widths.shrink(0.3) / 0.3 == pytest.approx(ratio, rel=1e-6)


def test_jobs_of_the_evaluation_need_more_workers_than_a_batch_has_samples() -> None:
    """So that (21) comes through states with all of the F workers: V kappa_E is above F for every job."""
    instance = preset("paper", 0)
    assert all(job.work * job.external_time > job.most_workers for job in instance.jobs)
