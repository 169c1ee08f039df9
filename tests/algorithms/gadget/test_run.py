"""GADGET: golden greedy values, schedules against the oracle, what is logged, and what the variants do."""

from __future__ import annotations

from typing import Any

import pytest

from dlsched.algorithms import Run, gadget
from dlsched.algorithms.baselines.ddljs import fifo
from dlsched.algorithms.gadget import SlotEmbedding
from dlsched.models import InputError
from dlsched.models.ddljs import Instance, Schedule, check, preset
from dlsched.models.numbers import agree, exceeds
from tests.cases.ddljs import built, expected, instance, job
from tests.longer import in_two
from tests.oracles import ddljs as oracle
from tests.oracles.ddljs_rules import total, violations
from tests.strategies.ddljs import drawn, with_placement

VARIANTS = ["corrected", "printed", "filled"]
RUNS: list[dict[str, Any]] = [
    {"variant": "corrected"},
    {"variant": "printed"},
    {"variant": "printed", "sizes": "joint", "idle": False},
    {"variant": "printed", "vertex": "colocated"},
    {"variant": "printed", "vertex": "spread"},
    {"variant": "filled"},
    {"variant": "corrected", "embedding": "exact"},
    {"variant": "printed", "embedding": "exact"},
]
PAIR = [("a", "b", 0)]


def events(result: Run[Schedule]) -> list[SlotEmbedding]:
    return [event for event in result.log if isinstance(event, SlotEmbedding)]


@pytest.mark.parametrize(
    ("name", "value"),
    [("G1", "greedy_min"), ("G13", "greedy_all_paths"), *((g, "greedy") for g in ("G6", "G7", "G11", "G12"))],
)
def test_the_exact_greedy_has_the_golden_values(name: str, value: str) -> None:
    result = gadget.run(instance(name), embedding="exact")
    assert agree(result.utility, expected(name)[value])
    assert all(event.exact is not None and event.exact.proved for event in events(result))


@pytest.mark.slow
def test_the_exact_greedy_is_a_greedy() -> None:
    for seed in range(40):
        data = with_placement(seed, drawn(seed, jobs=2, servers=3, slots=2).dump())
        least, most = oracle.greedy(data)
        value = gadget.run(Instance.parse(data), embedding="exact").utility
        assert float(least) - 1e-6 <= value <= float(most) + 1e-6


@pytest.mark.slow
@in_two(8, 30)
@pytest.mark.parametrize("options", RUNS)
def test_schedules_are_feasible_and_worth_what_is_said(options: dict[str, Any], seeds: range) -> None:
    workers = 0
    for seed in seeds:
        data = with_placement(seed, drawn(seed, jobs=4, servers=4, resources=2, slots=3).dump())
        given = Instance.parse(data)
        result = gadget.run(given, seed=seed, **options)
        assert violations(data, result.schedule.dump()) == set()
        assert check(given, result.schedule) == []
        worth = float(total(data, result.schedule.dump()) or 0)
        assert result.utility == pytest.approx(worth)
        start = sum(float(one.value(0)) for one in given.jobs)
        assert agree(start + sum(event.profit for event in events(result)), worth)
        workers += sum(sum(event.workers.values()) for event in events(result))
    assert workers > 2 * len(seeds)


@pytest.mark.parametrize("options", RUNS)
def test_runs_are_repeatable(options: dict[str, Any]) -> None:
    given = preset("benchmark", 2, servers=6, jobs=6, slots=3, tight=True)
    assert gadget.run(given, seed=5, **options) == gadget.run(given, seed=5, **options)


@pytest.mark.slow
def test_no_schedule_beats_the_optimum() -> None:
    for seed in range(20):
        data = with_placement(seed, drawn(seed, jobs=2, servers=3, slots=2).dump())
        best = float(oracle.optimum(data)[0])
        for variant in VARIANTS:
            assert not exceeds(gadget.run(Instance.parse(data), seed=seed, variant=variant).utility, best)


@pytest.mark.slow
def test_a_slot_keeps_no_more_than_its_relaxation_and_its_draw() -> None:
    fitted = 0
    for seed in range(8):
        given = preset("benchmark", seed, servers=8, jobs=10, slots=3, tight=True)
        for event in events(gadget.run(given, seed=seed, variant="filled")):
            rounding = event.rounding
            assert rounding is not None
            assert rounding.kept <= rounding.raw * (1 + 1e-9)
            assert not exceeds(event.profit, rounding.relaxation)
            assert event.profit >= rounding.kept
            assert rounding.accepted == (not rounding.stripped)
            fitted += bool(event.filled)
    assert fitted > 5


@pytest.mark.slow
def test_more_draws_are_never_worse_in_one_slot() -> None:
    given = preset("benchmark", 1, servers=50, jobs=20, tight=True)
    found = [gadget.run(given, seed=3, draws=draws, variant="filled").utility for draws in (1, 3, 10, 30)]
    assert found == sorted(found)
    assert found[0] < found[-1]


@pytest.mark.slow
def test_the_exact_slot_is_worth_at_least_any_rounding() -> None:
    for seed in range(4):
        given = preset("benchmark", seed, servers=8, jobs=8, tight=True)
        (best,) = events(gadget.run(given, embedding="exact"))
        assert best.exact is not None
        assert best.exact.proved
        for variant in VARIANTS:
            (event,) = events(gadget.run(given, variant=variant, seed=seed))
            assert not exceeds(event.profit, best.profit)


def two_servers(bandwidth: int, slots: int = 1) -> Instance:
    """One job of up to two workers on two one-GPU servers; each worker-slot is worth 1."""
    return Instance.parse(built({"a": 1, "b": 1}, [("a", "b", bandwidth)], job("J"), slots=slots))


@pytest.mark.parametrize("vertex", ["capped", "colocated", "spread"])
def test_discarding_what_does_not_fit_loses_everything(vertex: str) -> None:
    """G10 slot after slot: the plain program selects two workers, and no link joins the servers for one each."""
    printed = gadget.run(two_servers(0, 5), variant="printed", vertex=vertex)
    assert printed.utility == 0
    for event in events(printed):
        assert event.rounding is not None
        assert event.selection is not None
        assert (event.selection.relaxation, event.rounding.kept) == pytest.approx((2, 0))
        assert event.selection.sizes == {"J": 2}
    # Selected by the program that is rounded, or filled up, it is one worker.
    for variant in ("corrected", "filled"):
        assert gadget.run(two_servers(0, 5), variant=variant).utility == 5


@pytest.mark.parametrize(("vertex", "value"), [("capped", 2), ("colocated", 0), ("spread", 2)])
def test_which_optimum_is_rounded_decides(vertex: str, value: int) -> None:
    """With an ample link both workers fit, one a server; an optimum of the same value has both on one."""
    printed = gadget.run(two_servers(9), variant="printed", vertex=vertex)
    (event,) = events(printed)
    assert event.rounding is not None
    assert (event.rounding.relaxation, event.rounding.raw) == pytest.approx((2, 2))
    assert event.rounding.overload == (2 if vertex == "colocated" else 1)
    assert printed.utility == value


def odd_cycle() -> Instance:
    """Three jobs that need two of three resources each, so that one fits; each of the linear program's parts is 1/2."""
    pairs = {"1": ("p", "q"), "2": ("q", "r"), "3": ("p", "r")}
    jobs = [job(name, max_workers=1, worker=dict.fromkeys(pair, 1)) for name, pair in pairs.items()]
    data = built({"s": 1}, [], *jobs)
    return Instance.parse(
        data | {"resources": list("pqr"), "nodes": [{"name": "s", "capacity": dict.fromkeys("pqr", 1)}]}
    )


@pytest.mark.slow
def test_only_an_unfilled_run_leaves_room() -> None:
    """A draw embeds 0 to 3 of the jobs, of which one fits; filled, one always does."""
    for variant, found in (("printed", {0, 1}), ("corrected", {0, 1}), ("filled", {1})):
        assert {gadget.run(odd_cycle(), seed=n, variant=variant, draws=2).utility for n in range(60)} == found


@pytest.mark.slow
def test_the_print_counts_draws_from_one() -> None:
    for variant, draws, utility in (("printed", 0, {0}), ("corrected", 1, {0, 1})):
        runs = [gadget.run(odd_cycle(), seed=n, variant=variant, draws=1) for n in range(30)]
        assert {event.rounding.draws for one in runs for event in events(one) if event.rounding} == {draws}
        assert {one.utility for one in runs} == utility


def test_ring_sizes_rounded_up_break_the_budget() -> None:
    """G16: a budget for 2.5 workers of 2 GPUs; three are chosen, and may not be had."""
    data = built({"s": 10}, [], job("J", max_workers=5, worker={"gpu": 2}, budget={"gpu": 5}))
    given = Instance.parse(data)
    for sizes in ("alone", "joint"):
        (event,) = events(gadget.run(given, variant="printed", sizes=sizes))
        assert event.rounding is not None
        assert event.rounding.stripped == {"J": 3}
        assert gadget.run(given, variant="printed", sizes=sizes).utility == 0
    assert gadget.run(given, variant="printed", sizes="floor").utility == 2
    assert gadget.run(given).utility == 2


def test_without_a_proof_jobs_with_places_of_their_own_are_not_rounded() -> None:
    for seed in range(5):
        given = Instance.parse(with_placement(seed, drawn(seed, jobs=4, servers=4, slots=2).dump()))
        for event in events(gadget.run(given, variant="filled", embedding="exact", seconds_per_slot=0)):
            assert event.exact is not None
            assert event.rounding is None


@pytest.mark.parametrize("sizes", ["alone", "joint"])
def test_what_is_left_goes_to_no_one_beyond_the_budget(sizes: str) -> None:
    """A budget for 2.5 workers, with gains that count, and with gains too small to count beside another job's."""
    poor = job("poor", max_workers=5, budget={"gpu": "5/2"}, utility={"kind": "sqrt", "scale": 1})
    rich = job("rich", max_workers=1, utility={"kind": "sqrt", "scale": 10**9})
    for jobs in ((poor,), (poor, rich)):
        given = Instance.parse(built({"s": 9}, [], *jobs))
        for options in RUNS:
            assert check(given, gadget.run(given, **options | {"sizes": sizes}).schedule) == []


def test_the_joint_relaxation_can_bound_a_job_too_tightly() -> None:
    """One server of 3; two GPUs a worker and 3k, one GPU and k: the relaxation leaves job 2 without workers."""
    data = built(
        {"s": 3},
        [],
        job("1", max_workers=5, worker={"gpu": 2}, utility={"kind": "linear", "intercept": 0, "slope": -3}),
        job("2", max_workers=5),
    )
    given = Instance.parse(data)
    printed = gadget.run(given, variant="printed", embedding="exact", sizes="joint")
    (event,) = events(printed)
    assert event.active == 1
    assert printed.utility == 3
    assert gadget.run(given, variant="printed", embedding="exact").utility == 4
    assert gadget.run(given, embedding="exact").utility == 4


def test_the_greedy_can_lose_nearly_everything_to_fifo() -> None:
    greedy, first = gadget.run(instance("G11"), embedding="exact"), fifo.run(instance("G11"))
    assert agree(greedy.utility, 0.8807970779778823)
    assert first.utility > 100 * greedy.utility


@pytest.mark.slow
def test_jobs_far_from_a_gain_get_what_nobody_wants() -> None:
    """A logistic utility whose first gains are below the smallest double, and a job that has all it can use."""
    steep = {"kind": "sigmoid", "height": 10, "steepness": -1, "midpoint": 1000}
    far = job("far", progress=100, utility=steep, max_workers=1)
    further = job("further", progress=80, utility=steep, max_workers=1)
    data = built({"s": 2}, [], further, far, job("done", max_workers=1, budget={"gpu": 1}), slots=15)
    for variant in VARIANTS:
        result = gadget.run(Instance.parse(data), variant=variant)
        assert [event.idle for event in events(result)[:3]] == [("far",), ("far", "further"), ("further",)]
        assert result.utility == pytest.approx(21)
        assert gadget.run(Instance.parse(data), variant=variant, idle=False).utility == pytest.approx(1)


def test_workers_that_nobody_wants_cost_nothing() -> None:
    """A utility falls before it rises: three workers would lose 1 in slot 1, and later there is no room for six."""
    falls = job("falls", max_workers=3, utility={"kind": "table", "values": [3, 3, 1, 2, 3, 3, 9]})
    late = job("late", arrival=2, max_workers=3, utility={"kind": "table", "values": [0, 0, 0, 100]})
    given = Instance.parse(built({"s": 3}, [], falls, late, slots=2))
    for variant in VARIANTS:
        for method in ("rounding", "exact"):
            first, _ = events(result := gadget.run(given, variant=variant, embedding=method))
            assert (first.workers, first.idle, first.profit) == ({"falls": 1}, ("falls",), 0)
            assert result.utility == 103


def test_a_gain_that_no_solver_sees_counts_as_none() -> None:
    """Beside a job worth 1 a slot, one whose first worker adds 1e-10 of that and whose ninth adds 10."""
    tiny = ["1/10000000000"] * 8
    late = job("late", max_workers=1, utility={"kind": "table", "values": [0, *tiny, *[10] * 9]})
    data = built({"s": 2}, [], job("now", max_workers=1), late, slots=9)
    for variant in VARIANTS:
        assert gadget.run(Instance.parse(data), variant=variant).utility == pytest.approx(19)


def test_worthless_workers_are_not_given() -> None:
    falling = job("falling", utility={"kind": "linear", "intercept": 5, "slope": 1})
    flat = job("flat", utility={"kind": "linear", "intercept": 5, "slope": 0})
    for options in RUNS:
        result = gadget.run(Instance.parse(built({"s": 4}, [], falling, flat)), **options)
        assert result.schedule.jobs == {}
        assert result.utility == 10


def test_progress_is_told() -> None:
    told: list[tuple[int, int]] = []
    given = Instance.parse(built({"s": 1}, [], job(), slots=3))
    gadget.run(given, progress=lambda slot, slots: told.append((slot, slots)))
    assert told == [(1, 3), (2, 3), (3, 3)]


def test_an_exact_slot_may_end_early() -> None:
    given = preset("benchmark", 4, servers=8, jobs=8, tight=True)
    result = gadget.run(given, variant="filled", embedding="exact", seconds_per_slot=0)
    assert check(given, result.schedule) == []
    (event,) = events(result)
    assert event.exact is not None
    assert event.profit >= event.exact.value
    (rounded,) = events(gadget.run(given, variant="filled"))
    assert event.profit >= rounded.profit


@pytest.mark.parametrize("variant", VARIANTS)
def test_nothing_to_do(variant: str) -> None:
    none = Instance.parse(built({"s": 1}, []))
    too_large = Instance.parse(built({"s": 1}, [], job(worker={"gpu": 2})))
    for given in (none, too_large):
        result = gadget.run(given, variant=variant)
        assert result.schedule.jobs == {}
        assert result.utility == 0


@pytest.mark.parametrize("options", RUNS)
def test_a_log_utility_at_zero_is_refused(options: dict[str, Any]) -> None:
    logged = job("J2", utility={"kind": "log", "scale": 1, "offset": 0})
    with pytest.raises(InputError, match=r"job J2: .*minus infinity"):
        gadget.run(Instance.parse(built({"s": 1}, [], job(), logged)), **options)


def test_bad_parameters_are_refused() -> None:
    given = Instance.parse(built({"s": 1}, [], job()))
    with pytest.raises(InputError, match="draws"):
        gadget.run(given, draws=0)
    for name in ("variant", "embedding", "sizes", "relaxation", "vertex"):
        wrong: dict[str, Any] = {name: "magic"}
        with pytest.raises(ValueError, match="magic"):
            gadget.run(given, **wrong)
