"""GADGET's figures: what one draw of them measures, and that it decides nothing by itself."""

from __future__ import annotations

import numpy as np
import pytest

from dlsched.algorithms import gadget
from dlsched.algorithms.baselines.ddljs import drf, fifo, las
from dlsched.algorithms.exact.ddljs import embed
from dlsched.bounds.catalog import check, claims_named
from dlsched.bounds.claim import Expectation, Variant
from dlsched.bounds.comparison import Status
from dlsched.bounds.gadget.evaluation import EVERY, Figures, iterations, one_slot, resized, section_6
from dlsched.models.ddljs import preset, slot_problem
from tests.cases.gadget import instance, job, line

FIGURES = claims_named(["gadget/baselines-*", "gadget/evaluation*", "gadget/embedded-ratio-*"])
GUESSED = ("baselines-drf", "embedded-ratio-links", "evaluation-at-most")
"""Where another reading, or another number that is not printed, gives another sign."""


@pytest.mark.slow
def test_no_instance_decides_what_a_figure_reports() -> None:
    small = preset("paper", 3, jobs=8, servers=4, slots=EVERY)
    assert len(FIGURES) == 8
    for claim in FIGURES:
        assert claim.sampled
        assert claim.guessed == (claim.id.partition("/")[2] in GUESSED)
        assert (claim.expectation is Expectation.OPEN) == claim.guessed
        assert all(source.cost > 1 for source in claim.sources)
        verdict = check(claim.id, small)
        assert verdict.status is Status.UNDECIDED
        assert verdict.measured is not None
        assert verdict.bound is not None


@pytest.mark.slow
def test_baselines_are_compared_one_by_one_on_the_same_seed() -> None:
    small = preset("paper", 3, jobs=8, servers=4, slots=EVERY)
    for name, module in (("fifo", fifo), ("drf", drf), ("las", las)):
        verdict = check(f"gadget/baselines-{name}", small, 5)
        assert verdict.measured == gadget.run(small, seed=5, variant="printed").utility
        assert verdict.bound == module.run(small, seed=5).utility
    doubles = check("gadget/baselines-in-doubles", small, 5)
    assert doubles.measured == gadget.run(small, seed=5, variant="printed", idle=False).utility


def test_draws_have_the_sizes_of_the_paper() -> None:
    drawn = section_6(np.random.default_rng(0))
    assert (len(drawn.servers), drawn.slots) == (50, 200)
    assert one_slot(np.random.default_rng(0)).slots == 1


def test_budgets_of_figure_4_are_drawn_in_both_readings() -> None:
    """F in 1000..6000 worker-slots is not reached by 5 a slot in 200 slots; in iterations, 50..500 a worker, it is."""
    slots, ended = section_6(np.random.default_rng(0)), iterations(np.random.default_rng(0))
    for one, other in zip(slots.jobs, ended.jobs, strict=True):
        assert one.budget_slots is not None
        assert one.budget_slots >= 1000
        assert other.budget_slots == one.budget_slots // one.progress <= 120
    for name in ("fifo", "drf", "las"):
        (claim,) = claims_named(f"gadget/baselines-{name}")
        assert [source.name for source in claim.sources] == ["ddljs/section-6", "ddljs/section-6-iterations"]


@pytest.mark.slow
def test_embeddings_are_compared_with_optima_of_their_slots() -> None:
    """Where every slot is compared, all that is added is what the run is worth beyond nothing."""
    facts = Figures(preset("paper", 3, jobs=8, servers=4, slots=EVERY), 0)
    added, best = facts.embedded
    assert 0 < added <= best * (1 + 1e-6)
    events = [event for event in facts.printed.log if getattr(event, "slot", 1) % EVERY == 0]
    assert added == sum(event.profit for event in events if hasattr(event, "profit"))
    ends = [check(f"gadget/evaluation{name}", facts.instance) for name in ("", "-at-most")]
    assert [(end.measured, end.bound) for end in ends] == [(added, 0.6 * best), (added, 0.8 * best)]


@pytest.mark.parametrize(("bandwidth", "embedded"), [(1, {"wide"}), (0, {"wide", "narrow"})])
def test_more_bandwidth_can_leave_a_job_without_a_ring(bandwidth: int, embedded: set[str]) -> None:
    """Two servers of one GPU: over a link the job that is worth more takes both, and none needs one alone."""
    link = {"source": "server1", "target": "server2", "bandwidth": bandwidth}
    jobs = [job("wide", 2, line(2)), job("narrow", 1, line(1))]
    two = instance(1, [1, 1], jobs, links=[link], duplex=True)
    assert set(embed(slot_problem(two, 1)).embeddings) == embedded


def test_resizing_changes_capacities_alone() -> None:
    small = preset("random", 0, varying=True)
    larger = resized(small, lambda have: have + 1, lambda most: 2 * most)
    for before, after in zip(small.nodes, larger.nodes, strict=True):
        more = 1 if before in small.servers else 0
        assert [after.capacity_of(r) for r in small.resources] == [
            before.capacity_of(r) + more for r in small.resources
        ]
    assert [2 * link.bandwidth for link in small.links] == [link.bandwidth for link in larger.links]
    assert larger.jobs == small.jobs


@pytest.mark.parametrize("claim", FIGURES, ids=lambda claim: claim.id)
def test_figures_say_where_they_stand_and_what_they_leave_open(claim: object) -> None:
    assert isinstance(claim, type(FIGURES[0]))
    assert "Fig. " in claim.paper
    assert (claim.open != "") == (claim.variant is not Variant.CORRECTED)
