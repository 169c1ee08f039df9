"""The baselines of DDLJS: schedules against the oracle, where they place rings, and each policy by hand."""

from __future__ import annotations

from fractions import Fraction
from types import ModuleType
from typing import Any

import pytest

from dlsched.algorithms import Run
from dlsched.algorithms.baselines.ddljs import drf, fifo, las
from dlsched.algorithms.baselines.ddljs.rounds import MOST, Fixed, Round
from dlsched.algorithms.rings import Occupancy, Substrate, place
from dlsched.errors import InputError
from dlsched.models.ddljs import Embedding, Instance, RingProblem, RingRequest, Schedule, check
from tests.cases.ddljs import built, instance, instance_data, job
from tests.longer import in_two
from tests.oracles import ddljs as oracle
from tests.oracles.ddljs_rules import total, violations
from tests.strategies.ddljs import drawn, with_placement

BASELINES = [fifo, drf, las]
STAR = [("a", "hub", 1), ("b", "hub", 1), ("c", "hub", 1)]


def rounds(result: Run[Schedule]) -> list[Round]:
    return [event for event in result.log if isinstance(event, Round)]


def fixed(result: Run[Schedule]) -> dict[str, int]:
    return {event.job: event.workers for event in result.log if isinstance(event, Fixed)}


def with_numbers(baseline: ModuleType, given: Instance, **wanted: int) -> Run[Schedule]:
    """Return the run of the first seed that draws these numbers of workers."""
    return next(run for run in (baseline.run(given, seed=seed) for seed in range(500)) if fixed(run) == wanted)


@pytest.mark.slow
@in_two(40, 150)
@pytest.mark.parametrize("baseline", BASELINES)
def test_schedules_are_feasible_and_worth_what_is_said(baseline: ModuleType, seeds: range) -> None:
    rings = waiting = 0
    for seed in seeds:
        data = with_placement(seed, drawn(seed, jobs=4, servers=4, resources=2, slots=3).dump())
        given = Instance.parse(data)
        result = baseline.run(given, seed=seed)
        assert violations(data, result.schedule.dump()) == set()
        assert check(given, result.schedule) == []
        assert result.utility == pytest.approx(float(total(data, result.schedule.dump()) or 0))
        rings += sum(bool(embedding.ring) for _, _, embedding in result.schedule.items())
        waiting += sum(len(event.waiting) for event in rounds(result))
    assert rings > 0.2 * len(seeds)
    assert waiting > 0.2 * len(seeds)


@pytest.mark.parametrize("baseline", BASELINES)
def test_no_schedule_beats_the_optimum(baseline: ModuleType) -> None:
    for seed in range(20):
        data = with_placement(seed, drawn(seed, jobs=2, servers=3, slots=2).dump())
        result = baseline.run(Instance.parse(data), seed=seed)
        assert result.utility <= float(oracle.optimum(data)[0]) + 1e-9


@pytest.mark.parametrize("baseline", BASELINES)
def test_runs_are_repeatable(baseline: ModuleType) -> None:
    given = drawn(3, jobs=4, servers=4, slots=3)
    assert baseline.run(given, seed=5) == baseline.run(given, seed=5)


@pytest.mark.parametrize("baseline", [fifo, las])
def test_numbers_of_workers_are_drawn_and_capped(baseline: ModuleType) -> None:
    data = built({"a": 20}, [], job("many", max_workers=10), job("few", max_workers=3), job("none", worker={"gpu": 21}))
    events = [baseline.run(Instance.parse(data), seed=seed).log[:3] for seed in range(60)]
    drawn = {event.drawn for log in events for event in log}
    assert drawn == set(range(1, MOST + 1))
    assert {event.workers for log in events for event in log if event.job == "many"} == drawn
    assert all(log[1].workers == min(log[1].drawn, 3) and log[2].workers == 0 for log in events)


@pytest.mark.parametrize("baseline", BASELINES)
def test_budgets_end_jobs(baseline: ModuleType) -> None:
    data = built({"a": 2}, [], job("paid", budget={"gpu": 5}), slots=9)
    result = baseline.run(Instance.parse(data), seed=0)
    assert result.utility == 5
    assert len(rounds(result)) == len(result.schedule.embeddings("paid"))


@pytest.mark.parametrize("baseline", BASELINES)
def test_a_job_that_must_get_something_and_does_not_is_named(baseline: ModuleType) -> None:
    """Two jobs of a slot on one GPU, of which the second is worth minus infinity: no defect of the baseline."""
    must = {"kind": "log", "scale": 1, "offset": 0}
    jobs = [job("first", max_workers=1), job("second", max_workers=1, utility=must)]
    message = "^job second: log utility at 0 is minus infinity: the job must get something; this scheduler gives it"
    with pytest.raises(InputError, match=message):
        baseline.run(Instance.parse(built({"s": 1}, [], *jobs)))
    assert baseline.run(Instance.parse(built({"s": 2}, [], *jobs))).utility == 1


def test_fifo_serves_the_first_to_arrive_and_blocks() -> None:
    data = built({"a": 3}, [], job("first"), job("second", arrival=2), job("third", arrival=3, max_workers=1), slots=4)
    result = with_numbers(fifo, Instance.parse(data), first=2, second=2, third=1)
    assert [event.workers for event in rounds(result)] == [{"first": 2}] * 4
    assert [event.waiting for event in rounds(result)] == [(), ("second",), ("second", "third"), ("second", "third")]


def test_fifo_passes_over_what_cannot_run_in_the_slot() -> None:
    links = [("a", "b", 1)]
    data = built({"a": 1, "b": 1}, links, job("pair"), job("one", max_workers=1), slots=2)
    down = {"2": [{"source": "a", "target": "b", "bandwidth": 0}]}
    result = with_numbers(fifo, Instance.parse(data | {"bandwidth_by_slot": down}), pair=2, one=1)
    assert [event.workers for event in rounds(result)] == [{"pair": 2}, {"one": 1}]


def test_fifo_on_g11_is_a_hundred_times_the_greedy() -> None:
    result = fifo.run(instance("G11"))
    assert result.utility == pytest.approx(100.0474, abs=1e-4)
    assert instance_data("G11")["jobs"][0]["name"] == "S"


def test_least_attained_service_takes_turns_and_passes_over() -> None:
    data = built({"a": 2}, [], job("x"), job("y"), job("z", max_workers=1), slots=5)
    result = with_numbers(las, Instance.parse(data), x=2, y=2, z=1)
    assert [event.workers for event in rounds(result)] == [{"x": 2}, {"y": 2}, {"z": 1}, {"z": 1}, {"x": 2}]


def test_dominant_shares_are_levelled() -> None:
    """The example of Ghodsi et al.: 9 CPUs and 18 GB; tasks of (1, 4) and (3, 1) get 3 and 2."""
    a, b = (
        job("A", max_workers=9, worker={"cpu": 1, "ram": 4}),
        job("B", max_workers=9, worker={"cpu": 3, "ram": 1}),
    )
    data = built({}, [], a, b) | {"resources": ["cpu", "ram"]}
    data["nodes"] = [{"name": "s", "capacity": {"cpu": 9, "ram": 18}}]
    (event,) = rounds(drf.run(Instance.parse(data)))
    assert event.workers == {"A": 3, "B": 2}


def test_dominant_shares_move_a_ring_when_it_grows() -> None:
    data = built({"a": 2, "b": 3}, [], job("A", max_workers=3))
    assert drf.run(Instance.parse(data)).schedule.embeddings("A")[1].workers == {"b": 3}


def ring_problem(capacity: dict[str, int], links: list[tuple[str, str, Any]], workers: int, **more: Any) -> RingProblem:
    shares = tuple(
        ((arc,), Fraction(b)) for u, v, b in links for arc in (((u, v), (v, u)) if "half" not in more else ((u, v),))
    )
    if "half" in more:
        shares = tuple((((u, v), (v, u)), Fraction(b)) for u, v, b in links)
    request = RingRequest(
        "job",
        dict.fromkeys(range(1, workers + 1), Fraction(0)),
        {"gpu": Fraction(1)},
        Fraction(1),
        more.get("allowed"),
    )
    return RingProblem({u: {"gpu": Fraction(n)} for u, n in capacity.items()}, shares, (request,))


def placed(problem: RingProblem, workers: int) -> Embedding | None:
    substrate = Substrate.of(problem)
    return place(Occupancy(substrate), substrate.needs["job"], workers)


@pytest.mark.parametrize(
    ("capacity", "workers", "expected"),
    [
        ({"a": 4, "b": 2, "c": 3, "hub": 0}, 2, {"b": 2}),
        ({"a": 1, "b": 2, "c": 1, "hub": 0}, 3, {"b": 2, "a": 1}),
        ({"a": 1, "b": 1, "c": 1, "hub": 0}, 3, {"a": 1, "b": 1, "c": 1}),
        ({"a": 1, "b": 1, "c": 1, "hub": 0}, 4, None),
    ],
)
def test_rings_are_on_few_servers(capacity: dict[str, int], workers: int, expected: dict[str, int] | None) -> None:
    found = placed(ring_problem(capacity, STAR, workers), workers)
    assert (None if found is None else found.workers) == expected


def test_rings_go_where_a_cycle_can_be_closed() -> None:
    """The large pair x, y has no way back; a, b and c have one."""
    links = [*STAR, ("x", "hub", 0), ("y", "hub", 0)]
    found = placed(ring_problem({"x": 2, "y": 2, "a": 1, "b": 1, "c": 1, "hub": 0}, links, 3), 3)
    assert found is not None
    assert set(found.workers) == {"a", "b", "c"}
    assert all(times == 1 for times in found.loads().values())


def test_both_directions_may_share_a_bandwidth() -> None:
    links = [("a", "b", 1)]
    assert placed(ring_problem({"a": 1, "b": 1}, links, 2), 2) is not None
    assert placed(ring_problem({"a": 1, "b": 1}, links, 2, half=True), 2) is None
    assert placed(ring_problem({"a": 1, "b": 1}, [("a", "b", 2)], 2, half=True), 2) is not None


def test_workers_with_places_of_their_own() -> None:
    allowed = (frozenset({"a", "b"}), frozenset({"b"}), frozenset({"a"}))
    found = placed(ring_problem({"a": 2, "b": 2, "hub": 0}, STAR[:2], 3, allowed=allowed), 3)
    assert found is not None
    assert found.order in (("a", "b", "a"), ("b", "b", "a"))
    assert placed(ring_problem({"a": 2, "b": 0, "hub": 0}, STAR[:2], 3, allowed=allowed), 2) is None


def test_occupancy_gives_back_what_it_took() -> None:
    problem = ring_problem({"a": 1, "b": 1, "c": 1, "hub": 0}, [(u, v, Fraction(3, 2)) for u, v, _ in STAR], 3)
    substrate = Substrate.of(problem)
    occupancy, need = Occupancy(substrate), substrate.needs["job"]
    ring = place(occupancy, need, 3)
    assert ring is not None
    occupancy.take(need, ring)
    assert not occupancy.fits(need, ring)
    assert {ratio for _, _, ratio in occupancy.node_loads()} == {1.0}
    # A hop takes two thirds of a link: half of one more is left, and no more.
    assert len(occupancy.distances(0, need.hop // 2)) == 4
    assert len(occupancy.distances(0, need.hop)) == 1
    occupancy.give(need, ring)
    assert occupancy.fits(need, ring)
    assert not list(occupancy.node_loads())
    assert len(occupancy.distances(0, substrate.limits[0])) == 4
