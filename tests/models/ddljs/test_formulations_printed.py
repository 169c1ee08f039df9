"""What GADGET's DDLJS says as printed, by its counterexamples; path sets, refusals, the time of an iteration (1)."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pyomo.environ as pyo
import pytest

from dlsched.models import build, catalog, read, solve
from dlsched.models.ddljs import Instance, RingProblem, check
from dlsched.models.ddljs.circulation import slot_circulation
from dlsched.models.ddljs.job import iteration_time
from dlsched.models.ddljs.joint import joint_sizes
from dlsched.models.ddljs.routes import simple_paths
from dlsched.tolerances import TOLERANCE
from tests.cases.ddljs import built, instance, job, problem
from tests.longer import longer
from tests.oracles import ddljs as oracle
from tests.strategies.ddljs import drawn, tight

TRIANGLE = built({"a": 1, "b": 1, "c": 1}, [("a", "b", 1), ("b", "c", 1), ("c", "a", 1)], job())


def printed(data: dict[str, Any] | Instance, name: str = "ddljs/offline-printed", **options: Any) -> Any:
    of = data if isinstance(data, Instance) else Instance.parse(data)
    model = build(name, of, **options)
    if name.endswith(("offline-printed", "slot-printed")):
        pyo.TransformationFactory("gdp.bigm").apply_to(model)
    return model


def value(model: Any) -> float:
    found = solve(model, threads=1).objective
    assert found is not None
    return found


@pytest.mark.parametrize("name", ["ddljs/offline-printed", "ddljs/slot-printed"])
def test_degree_two_at_every_server(name: str) -> None:
    """Three servers, two workers: (9) as printed leaves one, or a ghost on the third server."""
    assert value(printed(TRIANGLE, name, literal=())) == 2
    assert value(printed(TRIANGLE, name, literal=("(9)",))) == 1
    assert value(printed(TRIANGLE, name)) == value(printed(TRIANGLE, name, literal=("(5)", "(9)"))) == 2


@pytest.mark.parametrize("room", [2, 1])
@pytest.mark.parametrize("name", ["ddljs/offline-printed", "ddljs/slot-printed"])
def test_a_ring_of_more_servers_than_workers(name: str, room: int) -> None:
    """By (5) as printed alone, two workers at a and b of a cycle reach each other by c, which may have no room."""
    cycle = [("a", "b", 1), ("b", "c", 1), ("c", "a", 1)]
    data = built({"a": 2, "b": 2, "c": room}, cycle, job(max_workers=2, worker={"gpu": 2}), duplex=False)
    for literal, best in (((), 1), (("(5)",), 2), (("(5)", "(8)"), 2)):
        assert value(printed(data, name, literal=literal, paths="single-hop")) == best
        rules = oracle.Rules(single_hop=True, ghosts="(5)" in literal, literal="(8)" in literal)
        assert oracle.optimum(data, rules)[0] == best


def test_several_small_cycles_have_degree_two() -> None:
    """G4: two pairs of servers that nothing joins."""
    model = printed(instance("G4"), literal=("(9)",))
    assert value(model) == 4
    assert value(printed(instance("G4"), literal=("(5)", "(8)"))) == 2
    with pytest.raises(ValueError, match=r"does not join .*: \(9\) as printed lets"):
        read(model, instance("G4"))


@pytest.mark.slow
def test_a_link_under_several_paths() -> None:
    """G5: by (8) as printed two rings share a link that carries one."""
    model = printed(instance("G5"), literal=("(8)",))
    assert value(model) == 20
    broken = check(instance("G5"), read(model, instance("G5")))
    assert {violation.rule for violation in broken} == {"(8) bandwidth"}
    assert value(printed(instance("G5"), literal=("(5)",))) == 11


@pytest.mark.slow
@pytest.mark.parametrize("seed", longer(range(12), *range(6, 12)))
def test_readings_one_by_one(seed: int) -> None:
    """By exhaustive search; (9) with cycles of both directions is a little more than with directed rings."""
    data = tight(drawn(seed, jobs=2, servers=3))
    of = Instance.parse(data)
    for literal, rules in (((), oracle.Rules()), (("(8)",), oracle.Rules(literal=True))):
        best = float(oracle.optimum(data, rules)[0])
        assert value(printed(of, literal=literal)) == pytest.approx(best, abs=TOLERANCE)
    best = float(oracle.optimum(data, oracle.Rules(ghosts=True, single_hop=True))[0])
    assert value(printed(of, literal=("(5)",), paths="single-hop")) == pytest.approx(best, abs=TOLERANCE)
    best = float(oracle.optimum(data, oracle.Rules(everywhere=True))[0])
    assert value(printed(of, literal=("(9)",))) >= best - TOLERANCE


def test_g16_rings_by_ceil_break_the_budget() -> None:
    """F = 5 and l = 2 pay for two workers; ceil(2.5) is 3, and the slot-wise ILP has no row against it."""
    of = Instance.parse(built({"s": 10}, [], job(max_workers=3, worker={"gpu": 2}, budget={"gpu": 5})))
    model = printed(of, "ddljs/gvne-printed")
    assert value(model) == 3
    assert [violation.rule for violation in check(of, read(model, of).schedule)] == ["(3) budget"]
    assert value(printed(of, "ddljs/gvne")) == 2
    assert value(printed(of, "ddljs/gvne-printed", so_far={"job1": 2})) == 1
    assert value(printed(of, "ddljs/gvne", so_far={"job1": 2})) == 0


def test_the_joint_relaxation_leaves_a_job_no_ring() -> None:
    """One server of 3: all of it for the first job, 1.5 workers; whole workers get 3 then, and 4 without."""
    triple = {"kind": "linear", "intercept": 0, "slope": -3}
    data = built({"s": 3}, [], job("1", max_workers=5, worker={"gpu": 2}, utility=triple), job("2", max_workers=5))
    of = Instance.parse(data)
    assert joint_sizes(of, 1, {}) == {"1": 2, "2": 0}
    assert value(printed(of, "ddljs/gvne-printed")) == 3
    assert value(printed(of, "ddljs/gvne")) == 4
    assert float(oracle.optimum(data)[0]) == 4


def test_a_table_keeps_its_last_value_past_the_budget() -> None:
    table = {"kind": "table", "values": [0, 1, 3]}
    data = built({"s": 10}, [], job(max_workers=3, worker={"gpu": 2}, budget={"gpu": 5}, utility=table))
    assert value(printed(data, "ddljs/gvne-printed")) == 3


def test_shared_links_count_both_directions() -> None:
    """G2 on a half-duplex link: the ring of two takes it twice."""
    pair = built({"a": 1, "b": 1}, [("a", "b", 1)], job(), duplex="half")
    wide = pair | {"links": [{"source": "a", "target": "b", "bandwidth": 2}]}
    for name in ("ddljs/offline-circulation", "ddljs/offline-milp", "ddljs/gvne", "ddljs/slot-circulation"):
        assert value(build(name, Instance.parse(pair))) == 1
        assert value(build(name, Instance.parse(wide))) == 2


def test_simple_paths() -> None:
    of = Instance.parse(TRIANGLE)
    assert set(simple_paths(of, "single-hop")) == set(of.arcs)
    assert len(simple_paths(of)) == len(set(simple_paths(of))) == 12
    assert all(len(set(path)) == len(path) for path in simple_paths(of))
    assert len(simple_paths(instance("G5"))) == 12
    with pytest.raises(ValueError, match="more than 11 simple paths"):
        simple_paths(of, limit=11)
    with pytest.raises(ValueError, match="must be one of all, single-hop"):
        simple_paths(of, "some")


@pytest.mark.slow
def test_too_many_paths_are_not_written_out() -> None:
    names = [f"s{n}" for n in range(10)]
    links = [(u, v, 1) for i, u in enumerate(names) for v in names[:i]]
    of = Instance.parse(built(dict.fromkeys(names, 1), links, job()))
    for name in ("ddljs/offline", "ddljs/offline-milp", "ddljs/slot"):
        with pytest.raises(ValueError, match="use ddljs/offline-circulation"):
            build(name, of)
    assert value(build("ddljs/offline-circulation", of)) == 2


def test_placements_are_refused() -> None:
    data = TRIANGLE | {"jobs": [job(placement=[["a"], ["b"]])]}
    for entry in catalog():
        if entry.problem == "ddljs" and "gvne" not in entry.name:
            with pytest.raises(ValueError, match=r"cannot tell workers apart .* use ddljs/gvne") as refusal:
                entry.build(Instance.parse(data))
            assert "\n" not in str(refusal.value)
    assert value(printed(data, "ddljs/gvne")) == value(printed(data, "ddljs/gvne-printed")) == 2
    with pytest.raises(ValueError, match="use ddljs/gvne"):
        slot_circulation(problem("G9_cap1"))


def test_data_that_are_refused() -> None:
    of = Instance.parse(TRIANGLE)
    for name in ("ddljs/slot", "ddljs/slot-printed", "ddljs/slot-circulation", "ddljs/gvne", "ddljs/gvne-printed"):
        with pytest.raises(ValueError, match=r"slot: 2 is outside 1\.\.1"):
            build(name, of, slot=2)
        with pytest.raises(TypeError, match="slot: expected a whole number, got '1'"):
            build(name, of, slot="1")
        job = of.jobs[0].name
        with pytest.raises(TypeError, match=rf"so_far\.{job}: expected a whole number, got 0\.5"):
            build(name, of, so_far={job: 0.5})
        with pytest.raises(ValueError, match=rf"so_far\.{job}: -1 must not be negative"):
            build(name, of, so_far={job: -1})
        with pytest.raises(ValueError, match=r"so_far\.nobody: is not a job of the instance"):
            build(name, of, so_far={"nobody": 1})
    with pytest.raises(ValueError, match=r"'\(7\)' must be one of \(5\), \(8\), \(9\)"):
        build("ddljs/offline-printed", of, literal=("(7)",))


def test_requests_without_a_place() -> None:
    whole = problem("G14")
    nowhere = RingProblem({u: {} for u in whole.nodes}, whole.shares, whole.requests)
    assert value(slot_circulation(nowhere)) == 0


def test_iteration_time() -> None:
    """By hand: 12 Gbit over 2 and 4 Gbit/s take 4 workers 9 (1 + 1/4) s; then 10 samples of .1 s, .5 s and .25 s."""
    gigabit = 10**9
    data: dict[str, Any] = {
        "gradient": 12 * gigabit,
        "bandwidth": 2 * gigabit,
        "speed": 4 * gigabit,
        "forward": 0.1,
        "minibatch": 10,
        "backward": 0.5,
        "latency": 0.25,
    }
    assert iteration_time(1, **data) == Fraction(7, 4)
    assert iteration_time(4, **data) == Fraction(45, 4) + Fraction(7, 4)
    assert iteration_time(2, **data) < iteration_time(3, **data) < 15 + Fraction(7, 4)
    for name, wrong in (("bandwidth", 0), ("speed", -1), ("gradient", -1), ("latency", -1)):
        with pytest.raises(ValueError, match=name):
            iteration_time(2, **data | {name: wrong})
    with pytest.raises(ValueError, match="workers: 0"):
        iteration_time(0, **data)
