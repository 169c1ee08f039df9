"""The certified optimum of DMLRS beyond exhaustive search: what the sum of machines proves, and what limits do."""

from __future__ import annotations

import numpy as np
import pytest

from dlsched.algorithms import optimum
from dlsched.algorithms.baselines.dmlrs import dorm, drf
from dlsched.algorithms.exact.anytime import Anytime
from dlsched.algorithms.exact.dmlrs import solver
from dlsched.algorithms.exact.dmlrs.reduction import Reduction
from dlsched.algorithms.exact.dmlrs.single_machines import single_machines
from dlsched.algorithms.exact.dmlrs.solver import improve
from dlsched.algorithms.exact.dmlrs.summed import Summed
from dlsched.algorithms.exact.result import Optimum
from dlsched.models import solve
from dlsched.models.dmlrs import Instance, check, exact_utility, preset, random, utility
from dlsched.models.numbers import agree
from dlsched.solvers.solution import SolverError
from tests.longer import longer


@pytest.mark.slow
@pytest.mark.parametrize("seed", longer([0, 1], 1))
def test_many_machines_are_summed_and_packed(seed: int) -> None:
    instance = preset("benchmark", seed, jobs=20, machines=30, slots=10, multiple=9)
    found = optimum(instance, time_limit=60)
    assert found.proved
    assert check(instance, found.schedule) == []
    assert agree(utility(instance, found.schedule), found.value)
    assert "sum of identical machines" in found.evidence[0]


@pytest.mark.parametrize(("factor", "moved"), [(1, 0), (10**9, 1)])
def test_jobs_are_moved_before_anything_else_where_branch_and_price_does_not_come(
    factor: int, moved: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It does where few workers go onto a machine, but not where some exchange faster between machines."""
    data = preset("benchmark", 0, jobs=4, machines=2, slots=4, multiple=2.0, load=0.9).dump()
    data["jobs"][0]["external_rate"] *= factor
    searches: list[object] = []
    monkeypatch.setattr(solver.Insertion, "search", lambda *arguments: searches.append(arguments))
    solver._solved(Instance.parse(data), 0, 60.0, None, None, lambda route: bool(route._inserted()))
    assert len(searches) == moved


@pytest.mark.slow
@pytest.mark.parametrize("asynchronous", [False, True])
def test_a_search_beside_the_method_finds_what_it_finds_and_proves_nothing(asynchronous: bool) -> None:
    """Of asynchronous jobs, it knows what is surely done."""
    instance = preset("random", 1, jobs=5, machines=4, slots=5, capacity=6, asynchronous=asynchronous)
    best, found = optimum(instance), improve(instance, time_limit=2)
    assert best.proved
    assert not found.proved
    assert check(instance, found.schedule) == []
    assert found.value == pytest.approx(best.value) or (asynchronous and 0 < found.value < best.value)
    assert found.bound >= best.value - 1e-6


@pytest.mark.slow
@pytest.mark.parametrize("seed", longer(range(12), 6, 9))
def test_all_routes_agree_on_small_instances(seed: int) -> None:
    """The plain program over single machines, solved once, has the certified optimum."""
    rng = np.random.default_rng(100 + seed)
    instance = random(rng, jobs=4, machines=3, slots=3, identical=seed % 2 == 0, asynchronous=seed % 3 == 0)
    found = optimum(instance)
    assert found.proved
    assert agree(found.value, solve(single_machines(instance), presolve=False).objective)
    assert agree(exact_utility(instance, found.schedule), found.value)


@pytest.mark.slow
def test_asynchronous_jobs_are_proved_by_the_sum_of_machines() -> None:
    """By two routes, though no levels of work hold for them."""
    instance = preset("random", 1, jobs=5, machines=4, slots=5, capacity=6, identical=True, asynchronous=True)
    found = optimum(instance)
    assert found.proved
    assert any("sum of identical machines" in line for line in found.evidence)


@pytest.mark.slow
@pytest.mark.parametrize("seed", longer(range(4), 0, 1, 2))
def test_where_few_workers_go_onto_a_machine_branch_and_price_comes_first(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It needs nothing of the sum then; in the other order, and where it has no answer, the optimum is the same."""
    instance = preset("benchmark", seed, jobs=4, machines=2, slots=4, multiple=2.0, load=0.9)

    def phases() -> tuple[Optimum, list[str]]:
        told: list[str] = []
        return optimum(instance, progress=lambda phase, lower, upper: told.append(phase)), told

    def refused(*arguments: object, **named: object) -> None:
        raise SolverError("no answer")

    found, told = phases()
    assert found.proved
    assert "sum of machines" not in told
    with monkeypatch.context() as patched:
        patched.setattr(solver._Solve, "_fragments", lambda self: False)
        other, told = phases()
    assert told[1] == "sum of machines"
    monkeypatch.setattr(solver, "solve_fragmented", refused)
    without, told = phases()
    assert "sum of machines" in told
    assert any("a program failed: no answer" in line for line in without.evidence)
    for each in (other, without):
        assert each.proved
        assert agree(each.value, found.value)


@pytest.mark.parametrize("packs", [False, True])
def test_only_what_the_sum_packed_is_said_to_be_packed_from_it(packs: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Insertion alone finds the optimum too, and the sum's bound confirms it."""
    if not packs:
        monkeypatch.setattr(Summed, "_pack", lambda self: False)
    found = optimum(preset("benchmark", 0, jobs=4, machines=30, slots=4, multiple=9))
    assert found.proved
    (line,) = [line for line in found.evidence if line.startswith("checked schedule worth")]
    assert ("packed from the sum" in line) == packs


def test_the_sums_bound_allows_for_what_solvers_are_off_by() -> None:
    """HiGHS has 18 for the sum as it is, where exhaustive search has 32 on the one machine."""
    common = {"arrival": 1, "gradient_size": 1, "external_rate": 1, "slots_per_sample": 0, "workers_per_server": 1}
    common |= {"epochs": 1, "batch": 1, "samples": 1, "internal_rate": 9, "worker": {"gpu": 1}, "server": {}}
    values = {"wide": [18, 14], "odd": [9, 8], "long": [20, 14]}
    jobs = [common | {"name": name, "utility": {"kind": "table", "values": own}} for name, own in values.items()]
    jobs[0]["worker"] = {"gpu": 2}
    jobs[1] |= {"internal_rate": 1, "server": {"gpu": "10000001/10000000"}}
    jobs[2] |= {"epochs": 2, "gradient_size": "3/2", "batch": 3, "slots_per_sample": "37591/100000"}
    jobs[2] |= {"samples": "225000/47591", "workers_per_server": "1/2"}
    machines = [{"name": "machine", "capacity": {"gpu": 4}}]
    instance = Instance.parse({"slots": 2, "resources": ["gpu"], "machines": machines, "jobs": jobs})
    summed = Summed.of(instance)
    summed.solve()
    assert summed.upper >= 32
    assert optimum(instance).value == 32


def test_without_time_there_is_still_a_bound_and_a_schedule() -> None:
    instance = preset("benchmark", 0, jobs=10, machines=4, slots=10, multiple=3, load=0.9)
    found = optimum(instance, time_limit=0)
    assert not found.proved
    assert found.value <= found.bound
    assert check(instance, found.schedule) == []


@pytest.mark.slow
def test_stopped_early_it_has_the_plan_of_insertion() -> None:
    """Stopped as soon as jobs have been inserted, it has a better schedule than fair shares and Dorm."""
    instance = preset("benchmark", 6, jobs=6, machines=3, slots=5)
    told: list[str] = []
    found = optimum(instance, progress=lambda phase, lower, upper: told.append(phase), stop=lambda: "insertion" in told)
    assert told[-1] == "insertion"
    assert check(instance, found.schedule) == []
    assert found.value > max(drf.run(instance).utility, dorm.run(instance).utility)


def test_stopping_keeps_what_is_known() -> None:
    instance = preset("benchmark", 0, jobs=10, machines=4, slots=10, multiple=3, load=0.9)
    found = optimum(instance, stop=lambda: True)
    assert found.value <= found.bound
    assert check(instance, found.schedule) == []


@pytest.mark.slow
def test_progress_is_told() -> None:
    instance = preset("benchmark", 1, jobs=4, machines=2, slots=4)
    told: list[tuple[str, float, float]] = []
    found = optimum(instance, progress=lambda phase, lower, upper: told.append((phase, lower, upper)))
    assert told
    assert all(lower <= upper + 1e-9 for _, lower, upper in told)
    assert told[-1][1] == pytest.approx(found.value)


def test_no_jobs() -> None:
    data = preset("benchmark", 0, jobs=1, machines=1, slots=2).dump() | {"jobs": []}
    found = optimum(Instance.parse(data))
    assert (found.value, found.bound, found.proved) == (0, 0, True)


@pytest.mark.parametrize(
    ("sizes", "routes"),
    [
        ({"machines": 4}, ["_summed", "_briefly", "_fragmented"]),
        ({"machines": 40}, ["_summed", "_fragmented"]),
        ({"machines": 4, "multiple": 4}, ["_fragmented", "_summed"]),
    ],
)
def test_routes_come_in_the_order_of_what_they_are_good_at(sizes: dict, routes: list[str]) -> None:
    instance = preset("benchmark", 0, jobs=10, slots=10, **sizes)
    solving = solver._Solve(Reduction.none(instance), Anytime(exact_utility, check), 0)
    assert [route.__name__ for route in solving._routes()] == routes


@pytest.mark.slow
@pytest.mark.parametrize("asynchronous", [False, True])
@pytest.mark.parametrize("seed", range(6))
def test_small_programs_over_single_machines_prove_what_the_other_routes_do(seed: int, asynchronous: bool) -> None:
    """Alone, without the sum of machines and branch and price."""
    instance = random(np.random.default_rng(seed), jobs=4, machines=3, slots=3, asynchronous=asynchronous)
    alone = solver._solved(instance, 0, None, None, None, solver._Solve._briefly)
    assert alone.proved
    assert agree(alone.value, optimum(instance).value)


def test_programs_over_single_machines_end_in_time_and_keep_what_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(solver, "_BRIEFLY", 0.0)
    instance = preset("benchmark", 0, jobs=4, machines=3, slots=4)
    found = solver._solved(instance, 0, None, None, None, lambda s: s._one_by_one() or s._briefly())
    assert not found.proved
    assert found.value > 0
    assert check(instance, found.schedule) == []
