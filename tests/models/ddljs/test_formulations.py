"""The DDLJS formulations: golden and exhaustive optima, bounds, and what dropping a row does."""

from __future__ import annotations

from typing import Any

import pyomo.environ as pyo
import pytest
from pyomo.gdp import Disjunct

from dlsched.models import Status, build, catalog, read, solve
from dlsched.models.ddljs import Instance, check, embeddings_from, exact_utility, slot_problem
from dlsched.models.ddljs.circulation import slot_circulation
from dlsched.models.ddljs.gvne import embedding_program
from dlsched.models.numbers import agree
from dlsched.relaxations import relax
from dlsched.tolerances import TOLERANCE
from tests.cases.ddljs import OFFLINE, SLOTS, built, expected, instance, instance_data, job, problem
from tests.longer import longer
from tests.oracles import ddljs as oracle
from tests.paths import ROOT
from tests.strategies.ddljs import drawn, tight, with_logarithm, with_placement

ENTRIES = [entry for entry in catalog() if entry.problem == "ddljs"]
EXACT = (
    ("ddljs/offline-circulation", None),
    ("ddljs/offline-milp", None),
    ("ddljs/offline", "gdp.hull"),
    ("ddljs/offline", "gdp.bigm"),
)
PAIR = built({"a": 1, "b": 1}, [("a", "b", 1)], job(), job("job2", budget={"gpu": 1}))


def formulated(name: str, of: Instance, transformation: str | None = None, **data: Any) -> Any:
    model = build(name, of, **data)
    if transformation is not None:
        pyo.TransformationFactory(transformation).apply_to(model)
    return model


def optimum(name: str, of: Instance, transformation: str | None = None, **data: Any) -> float:
    solution = solve(formulated(name, of, transformation, **data), threads=1)
    assert solution.status is Status.OPTIMAL
    assert solution.objective is not None
    return solution.objective


def bound(model: Any) -> float:
    value = solve(relax(model).model, threads=1).objective
    assert value is not None
    return value


@pytest.mark.slow
@pytest.mark.parametrize("name", OFFLINE)
@pytest.mark.parametrize(("formulation", "transformation"), EXACT)
def test_golden_optima(formulation: str, transformation: str | None, name: str) -> None:
    """By exhaustive search: G1, G4 to G7 and G11 to G13."""
    values = expected(name)
    best = values["opt"] if "opt" in values else values["opt_all_paths"]
    found = instance(name)
    model = formulated(formulation, found, transformation)
    assert agree(solve(model, threads=1).objective, best)
    schedule = read(model, found)
    assert check(found, schedule) == []
    assert agree(exact_utility(found, schedule), best)


@pytest.mark.slow
@pytest.mark.parametrize("name", SLOTS)
def test_golden_slots(name: str) -> None:
    """By exhaustive search, the LPs by an independent program: G2, G3, G8 to G10 and G14 to G16."""
    whole, values = problem(name), expected(name)
    best = values.get("ilp", values.get("ilp_with_ceil_q"))
    assert agree(solve(embedding_program(whole), threads=1).objective, best)
    assert agree(solve(embedding_program(whole, cap=True), threads=1).objective, best)
    if all(request.allowed is None for request in whole.requests):
        model = slot_circulation(whole)
        assert agree(solve(model, threads=1).objective, best)
        sizes = {i: found.size for i, found in embeddings_from(model).items()}
        assert agree(sum(whole.request(i).profit[k] for i, k in sizes.items()), best)
    for key, cap in (("plain", False), ("plain_cap", True)):
        if key in values:
            assert bound(embedding_program(whole, cap=cap)) == pytest.approx(values[key])
    if "ilp_ring2" in values:
        pairs = whole.keeping(request.only(2) for request in whole.requests)
        for model in (embedding_program(pairs), slot_circulation(pairs)):
            assert solve(model, threads=1).objective == pytest.approx(values["ilp_ring2"])


@pytest.mark.slow
@pytest.mark.parametrize("seed", longer(range(18), *range(6, 18)))
def test_formulations_and_exhaustive_search_agree(seed: int) -> None:
    data = tight(drawn(seed)) if seed % 3 else drawn(seed).dump()
    of = Instance.parse(data)
    best = oracle.optimum(data)[0]
    for formulation, transformation in EXACT:
        model = formulated(formulation, of, transformation)
        assert agree(solve(model, threads=1).objective, best)
        schedule = read(model, of)
        assert check(of, schedule) == []
        assert agree(exact_utility(of, schedule), best)


@pytest.mark.parametrize("seed", longer(range(18), *range(7, 18)))
def test_slots_and_exhaustive_search_agree(seed: int) -> None:
    """After some worker-slots; (10) is the embedding problem plus the utility so far."""
    of = drawn(seed, jobs=3, slots=2)
    so_far = {found.name: n for n, found in enumerate(of.jobs) if found.budget_slots is None or n < found.budget_slots}
    best = oracle.best(oracle.slot_of(of.dump(), 2, so_far))[0]
    for name, data in (("ddljs/gvne", {}), ("ddljs/gvne", {"cap": True}), ("ddljs/slot-circulation", {})):
        model = build(name, of, slot=2, so_far=so_far, **data)
        assert agree(solve(model, threads=1).objective, best)
        part = read(model, of)
        assert check(of, part.schedule) == []
        added = (of.job(i).gain(so_far.get(i, 0), ring.size) for i, ring in part.embeddings.items())
        assert agree(sum(added), best)
        assert agree(part.worth, best)
    model = formulated("ddljs/slot", of, "gdp.bigm", slot=2, so_far=so_far)
    before = sum(of.job(i).value(so_far.get(i, 0)) for i in model.I)
    assert agree(solve(model, threads=1).objective, best + before)
    assert check(of, read(model, of).schedule) == []


@pytest.mark.parametrize("seed", range(12))
def test_placements_are_for_gvne(seed: int) -> None:
    data = with_placement(seed, drawn(seed, slots=1).dump())
    of = Instance.parse(data)
    model = build("ddljs/gvne", of)
    assert agree(solve(model, threads=1).objective, oracle.best(oracle.slot_of(data, 1))[0])
    assert check(of, read(model, of).schedule) == []


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(8))
def test_logarithms_at_nothing(seed: int) -> None:
    """The job with the log utility must get something, or there is no schedule."""
    data = with_logarithm(drawn(seed).dump())
    of, best = Instance.parse(data), oracle.optimum(data)[0]
    for name, transformation in (("ddljs/offline-circulation", None), ("ddljs/offline", "gdp.bigm")):
        solution = solve(formulated(name, of, transformation), threads=1)
        if best < -(10**8):
            assert solution.status is Status.INFEASIBLE
        else:
            assert agree(solution.objective, best)


BOUNDS = {
    "G4": (3, 4, 4, 4),
    "G5": (15.5, 50 / 3, 15, 20),
    "G11": (100.56085827518828,) * 4,
    "G12": (2.01,) * 4,
    "G13": (5,) * 4,
}
"""LP bounds of `EXACT`, in their order: measured, to pin how tight the formulations are."""


@pytest.mark.slow
@pytest.mark.parametrize("name", BOUNDS)
def test_lp_bounds(name: str) -> None:
    found = [bound(formulated(formulation, instance(name), transformation)) for formulation, transformation in EXACT]
    assert found == pytest.approx(BOUNDS[name])


@pytest.mark.slow
@pytest.mark.parametrize("seed", longer(range(12), *range(5, 12)))
def test_lp_bounds_are_ordered(seed: int) -> None:
    of = Instance.parse(tight(drawn(seed, jobs=2, servers=3)))
    best = optimum("ddljs/offline-circulation", of)
    circulation, milp, hull, bigm = (bound(formulated(name, of, how)) for name, how in EXACT)
    slack = TOLERANCE * max(1, bigm)
    assert min(circulation, milp) >= best - slack
    assert best - slack <= hull <= bigm + slack
    slot = slot_problem(of, 1)
    whole = solve(slot_circulation(slot), threads=1).objective
    plain, cap, circulation = (
        bound(m) for m in (embedding_program(slot), embedding_program(slot, cap=True), slot_circulation(slot))
    )
    assert whole - slack <= cap <= plain + slack
    assert whole - slack <= circulation <= plain + slack


TIGHTENING = {
    "ddljs/offline": {"several", "from_server", "to_server"},
    "ddljs/offline-milp": {"from_server", "to_server", "at_least_two", "joined_in_use", "joined_several"},
    "ddljs/offline-circulation": {"leaves", "first", "servers_needed", "no_fewer", "one_size"},
    "ddljs/gvne": set(),
}
"""Rows without which the optimum is the same on every instance tried."""


def pool() -> list[tuple[Instance, dict[str, Any]]]:
    """Small instances, each with the rows that it is there for."""
    pairs = {"a": 1, "b": 1}
    triple = {"a": 1, "b": 1, "c": 1}
    cycle = [("a", "b", 1), ("b", "c", 1), ("c", "a", 1)]
    both = [("a", "b", 1), ("b", "a", 1)]
    high = {"kind": "linear", "intercept": 0, "slope": -5}
    all_or_none = {"kind": "table", "values": [0, 0, 0, 9]}
    cases: list[tuple[dict[str, Any], dict[str, Any]]] = [
        (instance_data("G4"), {}),  # several small cycles
        (instance_data("G5"), {}),  # (8)
        (instance_data("G7"), {}),  # one count
        (PAIR, {}),
        # A server without workers would be a relay.
        (
            built(triple, cycle, job(max_workers=3), job("job2", max_workers=1, utility=high), duplex=False),
            {"paths": "single-hop"},
        ),
        (built({"a": 4}, [], job(max_workers=3, budget={"gpu": 1})), {}),  # (3)
        (built(pairs, [], job()), {}),  # no way from server to server
        (built(triple, [*both, ("a", "c", 1)], job(max_workers=3), duplex=False), {}),  # no way out of c
        (built({"c": 1} | pairs, [*both, ("c", "a", 1)], job(max_workers=3), duplex=False), {}),  # no way into c
        (built({"a": 2, "b": 1, "c": 1}, [], job(), job("job2")), {}),  # (5)
        # job2 takes all of slot 2; (2) leaves one worker's room of slot 1 empty.
        (
            built(
                {"a": 2, "b": 1},
                [("a", "b", 1)],
                job(),
                job("job2", arrival=2, max_workers=3, utility=all_or_none),
                slots=2,
            ),
            {},
        ),
    ]
    return [(Instance.parse(data), takes) for data, takes in cases]


def constraints(model: Any) -> dict[str, list[Any]]:
    found: dict[str, list[Any]] = {}
    for row in model.component_objects(pyo.Constraint, descend_into=(pyo.Block, Disjunct)):
        found.setdefault(row.local_name, []).append(row)
    return found


@pytest.mark.slow
@pytest.mark.parametrize("every", longer([4, 1], 1))
@pytest.mark.parametrize("name", TIGHTENING)
def test_dropping_a_constraint_is_caught(name: str, every: int) -> None:
    """Those that only tighten are dropped from some of the instances, or from all."""
    caught: set[str] = set()
    seen: set[str] = set()
    for number, (of, data) in enumerate(pool()):
        takes = {key: value for key, value in data.items() if name != "ddljs/gvne" and "circulation" not in name}
        how = "gdp.bigm" if name == "ddljs/offline" else None
        names = constraints(build(name, of, **takes))
        seen |= set(names)
        dropped = set(names) - caught - (TIGHTENING[name] if number % every else set())
        if not dropped:
            continue
        best = optimum(name, of, how, **takes)
        for row in dropped:
            model = build(name, of, **takes)
            for component in constraints(model)[row]:
                component.deactivate()
            if how:
                pyo.TransformationFactory(how).apply_to(model)
            solution = solve(model, threads=1)
            if solution.status is not Status.OPTIMAL or not agree(solution.objective, best):
                caught.add(row)
    assert seen - caught == TIGHTENING[name]


def test_no_jobs() -> None:
    of = Instance.parse(PAIR | {"jobs": []})
    for entry in ENTRIES:
        assert optimum(entry.name, of, "gdp.bigm" if entry.disjunctive else None) == 0


@pytest.mark.slow
def test_g13_with_single_hops() -> None:
    """Slot 2 takes the whole ring or one worker."""
    data = instance_data("G13")
    for formulation, transformation in EXACT[1:]:
        assert optimum(formulation, Instance.parse(data), transformation, paths="single-hop") == pytest.approx(5)
    cut = data["jobs"][0] | {"budget": {"g": 4}}
    for paths, best in (("single-hop", 2), ("all", 4)):
        assert optimum("ddljs/offline-milp", Instance.parse(data | {"jobs": [cut]}), paths=paths) == pytest.approx(best)


def test_the_conventions_name_components_that_there_are() -> None:
    text = (ROOT / "docs" / "conventions.md").read_text(encoding="utf-8")
    section = text.partition("## DDLJS (GADGET): symbols and units")[2].partition("\n## ")[0]
    of = Instance.parse(built({"a": 1, "b": 1}, [("a", "b", 1)], job()))
    for formulation, symbol, names in (
        ("ddljs/offline-milp", "y_is[t], x_is[t]", ("workers", "in_use")),
        ("ddljs/offline-milp", "r_i^p[t]", ("route",)),
        ("ddljs/gvne", "varrho, theta", ("place", "route")),
    ):
        (row,) = (line for line in section.splitlines() if line.startswith(f"| {symbol} |"))
        model = build(formulation, of)
        assert all(f"`{name}`" in row and model.component(name) is not None for name in names)
        assert "`hosts`" not in row
        assert "`path`" not in row
