"""The certified optimum of the Hadar problem, against golden values, an exhaustive search and other formulations."""

from __future__ import annotations

import functools
import itertools
import json
import random
from fractions import Fraction
from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from dlsched.algorithms import Optimum, optimum
from dlsched.algorithms.exact.anytime import sharing
from dlsched.algorithms.exact.hadar import solver as exact
from dlsched.algorithms.exact.hadar.branch import Branch, PathBranching, Record
from dlsched.algorithms.exact.hadar.problem import Options, what_matters
from dlsched.algorithms.exact.hadar.replay import replay
from dlsched.algorithms.exact.hadar.rows import Hall, Separator, hall_sets, knapsack
from dlsched.models import InputError, build, read, solve
from dlsched.models.hadar import Instance, check, exact_utility, preset
from dlsched.models.numbers import agree
from dlsched.solvers.solution import SolverError
from tests import paths
from tests.cases.hadar import middle
from tests.elsewhere import Elsewhere
from tests.longer import examples, in_two, longer
from tests.oracles import hadar as oracle
from tests.strategies.hadar import hadar_data

GOLDEN = json.loads((paths.GOLDEN / "hadar.json").read_text(encoding="utf-8"))
CASES = {case["name"]: case for case in GOLDEN["cases"]}


def tiny(seed: int, *, irregular: bool = False) -> dict[str, Any]:
    """Three types and up to four slots and jobs; irregular rates and works are rationals with large denominators."""
    rng = random.Random(seed)
    types = ["a", "b", "c"][: rng.randint(1, 3)]
    slots = rng.randint(1, 4)
    machines = [{"name": f"m{h}", "devices": {r: rng.randint(0, 3) for r in types}} for h in range(rng.randint(1, 2))]
    if not any(n for machine in machines for n in machine["devices"].values()):
        machines[0]["devices"] = {types[0]: 1}
    devices = sum(n for machine in machines for n in machine["devices"].values())
    jobs = []
    for j in range(rng.randint(1, 4)):
        arrival = rng.randint(1, slots)
        values = sorted((rng.choice([0, 1, 2, 3, 5, 8, 13]) for _ in range(slots - arrival + 1)), reverse=True)
        rate: dict[str, Any] = {r: round(rng.uniform(0.5, 6), 12) if irregular else rng.randint(0, 3) for r in types}
        if not any(rate.values()):
            rate[types[0]] = 1
        jobs.append(
            {
                "name": f"j{j}",
                "arrival": arrival,
                "gang": rng.randint(1, min(4, devices)),
                "iterations": round(rng.uniform(1, 20), 10) if irregular else rng.choice([1, 2, 3, 5, 8, 12, "26/3"]),
                "rate": rate,
                "utility": {"kind": "table", "values": values},
            }
        )
    return {"slots": slots, "slot_seconds": 1, "device_types": types, "machines": machines, "jobs": jobs}


def assert_optimal(data: dict[str, Any], found: Optimum) -> None:
    instance = Instance.parse(data)
    expected, _ = oracle.optimum(data)
    assert expected is not None
    assert found.proved
    assert found.value == pytest.approx(float(expected), abs=1e-6)
    assert found.bound == pytest.approx(float(expected), abs=2e-6 * max(1.0, float(expected)))
    assert check(instance, found.schedule) == []
    assert float(exact_utility(instance, found.schedule)) == found.value


@pytest.mark.parametrize("name", CASES)
def test_golden(name: str) -> None:
    found = optimum(Instance.parse(CASES[name]["instance"]))
    assert found.proved
    assert found.value == pytest.approx(float(oracle.rational(CASES[name]["p2"])), abs=1e-6)


@pytest.mark.slow
@examples(20, 60)
@given(data=hadar_data())
def test_agrees_with_exhaustive_search(data: dict[str, Any]) -> None:
    assert_optimal(data, optimum(Instance.parse(data)))


@pytest.mark.slow
@in_two(20, 60)
@pytest.mark.parametrize("irregular", [False, True])
@pytest.mark.usefixtures("no_heuristics")
def test_tree_alone_agrees_with_exhaustive_search(irregular: bool, seeds: range) -> None:
    branched = 0
    for seed in seeds:
        data = tiny(seed, irregular=irregular)
        found = optimum(Instance.parse(data))
        assert_optimal(data, found)
        branched += "branch, cut and price" in str(found.evidence)
    assert branched > len(seeds) / 3


@pytest.mark.slow
@pytest.mark.usefixtures("no_heuristics")
@in_two(20, 60)
def test_any_order_of_questions_leads_to_the_optimum(seeds: range, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(PathBranching, "questions", lambda self, part, generated: [])
    for seed in seeds:
        data = tiny(seed)
        assert_optimal(data, optimum(Instance.parse(data)))


@pytest.mark.slow
@pytest.mark.usefixtures("no_heuristics")
def test_rounded_work_agrees_with_exhaustive_search(monkeypatch: pytest.MonkeyPatch) -> None:
    refined = []
    lacks = exact.Solver.lacks

    def counted(self: Any, path: Any) -> bool:
        refined.append(lacks(self, path))
        return refined[-1]

    monkeypatch.setattr(exact.Solver, "lacks", counted)
    for seed in range(60):
        data = tiny(seed, irregular=True)
        assert_optimal(data, exact.solve(Instance.parse(data), max_states=4))
    assert any(refined)


@pytest.mark.slow
@pytest.mark.parametrize("seed", longer(range(5), 0, 2, 4))
def test_agrees_with_the_hall_formulation(seed: int) -> None:
    instance = preset("benchmark", seed, jobs=5, machines=3, types=3, slots=6)
    found = optimum(instance)
    model = build("hadar/hall", instance)
    solution = solve(model)
    assert found.proved
    assert solution.objective is not None
    assert agree(found.value or 0.0, solution.objective)
    schedule = read(model, instance)
    assert check(instance, schedule) == []
    assert agree(float(exact_utility(instance, schedule)), solution.objective)


@pytest.mark.slow
@settings(deadline=None, max_examples=30)
@given(hadar_data())
def test_hall_formulation_agrees_with_exhaustive_search(data: dict[str, Any]) -> None:
    expected, _ = oracle.optimum(data)
    assert solve(build("hadar/hall", Instance.parse(data))).objective == pytest.approx(float(expected or 0), abs=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("limit", [0.0, 0.3])
def test_value_and_bound_are_valid_when_time_is_up(limit: float) -> None:
    instance = preset("benchmark", 1, jobs=8, machines=4, types=3, slots=10)
    found = optimum(instance, time_limit=limit)
    assert check(instance, found.schedule) == []
    assert found.value is not None
    assert found.bound is not None
    assert found.value <= 232.3 + 1e-6 <= found.bound + 2e-6
    assert float(exact_utility(instance, found.schedule)) == found.value


@pytest.mark.slow
def test_a_proof_takes_both_routes_and_reports_a_shrinking_gap() -> None:
    reports: list[tuple[str, float, float]] = []
    found = optimum(
        preset("benchmark", 1, jobs=8, machines=4, types=3, slots=10),
        progress=lambda phase, lower, upper: reports.append((phase, lower, upper)),
    )
    assert found.proved
    assert any("branch, cut and price" in line for line in found.evidence)
    assert any("replayed" in line for line in found.evidence)
    assert {"search", "bound", "branch", "replay"} <= {phase for phase, _, _ in reports}
    assert all(a[1] <= b[1] and a[2] >= b[2] for a, b in itertools.pairwise(reports))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("first", "seconds", "searched"),
    [
        (0, None, "beam branch"),
        (2, None, "branch beam branch"),
        (50, None, "branch"),
        # The time for the tree alone is over with its first node, before that is told.
        (50, 600, "beam branch"),
    ],
)
def test_the_search_comes_before_the_tree_in_it_or_not_at_all(
    first: int, seconds: float | None, searched: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After so many nodes, or a share of the time: the optimum is the same."""
    jobs, told = 8, []
    monkeypatch.setattr(exact, "_NODES_FIRST", first * jobs * jobs)
    monkeypatch.setattr(exact, "_TREE_SHARE", 0.0)
    instance = preset("benchmark", 1, jobs=jobs, machines=4, types=3, slots=10)
    found = optimum(instance, time_limit=seconds, progress=lambda phase, lower, upper: told.append(phase))
    assert found.proved
    assert agree(found.value, 232.3)
    assert " ".join(phase for phase, _ in itertools.groupby(p for p in told if p in {"beam", "branch"})) == searched


@pytest.mark.slow
def test_refining_a_schedule_is_left_to_others(monkeypatch: pytest.MonkeyPatch) -> None:
    """They hear of it; an annealing and a beam come before the tree as they do in one process."""
    steps = []
    monkeypatch.setattr(exact, "_NODES_FIRST", 0)
    monkeypatch.setattr(exact.Search, "refine", lambda self, rounds: pytest.fail("a schedule is refined"))
    monkeypatch.setattr(exact.Beam, "run", lambda self, *_: steps.append("beam") or [])
    anneal = exact.Solver._anneal
    monkeypatch.setattr(exact.Solver, "_anneal", lambda self: steps.append("anneal") or anneal(self))
    instance = preset("benchmark", 1, jobs=8, machines=4, types=3, slots=10)
    with sharing(Elsewhere()):
        found = exact.solve(instance)
    assert found.proved
    assert agree(found.value, 232.3)
    assert steps[-2:] == ["anneal", "beam"]


def first_route_errs(self: exact.Solver) -> bool:
    self.upper = self.lower
    return True


def unsolved(*args: Any, **options: Any) -> Any:
    raise SolverError("the master LP has no optimum")


def replay_is_refused(*args: Any, **options: Any) -> tuple[float, str]:
    return np.inf, "not replayed: an inequality does not hold"


def replay_is_weak(*args: Any, **options: Any) -> tuple[float, str]:
    return 1000.0, "replayed 3 nodes"


@functools.cache
def undisturbed(seed: int, jitter: float) -> float | None:
    """The optimum of an instance of middle size, by the routes as they are."""
    return optimum(Instance.parse(middle(seed, jitter=jitter))).value


@pytest.mark.slow
@pytest.mark.parametrize(("seed", "jitter"), [(137, 0.0), (140, 0.0), (91, 0.05)])
@pytest.mark.parametrize(
    ("name", "instead", "says"),
    [
        ("Solver.attempt", first_route_errs, "hadar/hall: HiGHS"),
        ("Solver.attempt", unsolved, "branch, cut and price: failed (the master LP has no optimum)"),
        ("replay", replay_is_refused, "not replayed: an inequality does not hold"),
        ("replay", replay_is_weak, "replayed 3 nodes: nothing above"),
        ("Dive.run", unsolved, "replayed"),
        ("Polish.dive", unsolved, "replayed"),
    ],
)
def test_where_one_route_fails_there_is_a_next_one(
    seed: int, jitter: float, name: str, instead: Any, says: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = undisturbed(seed, jitter)
    monkeypatch.setattr(f"{exact.__name__}.{name}", instead)
    instance = Instance.parse(middle(seed, jitter=jitter))
    found = optimum(instance)
    assert found.proved
    assert found.value == pytest.approx(expected)
    assert check(instance, found.schedule) == []
    assert any(line.startswith(says) for line in found.evidence)


@pytest.mark.slow
def test_a_first_route_that_errs_is_not_proved(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exact.Solver, "attempt", first_route_errs)
    found = optimum(preset("benchmark", 1, jobs=8, machines=4, types=3, slots=10), time_limit=1.0)
    assert not found.proved


@pytest.mark.slow
def test_replay_refuses_an_inequality_that_does_not_hold() -> None:
    instance = preset("benchmark", 2, jobs=8, machines=4, types=3, slots=10)
    s = exact.Solver(instance, exact.knowledge(instance), *what_matters(instance), exact.MAX_STATES, 0)
    s.begin()
    assert s.steps()
    used = {int(k) for _, numbers, _ in s.record.steps for k in numbers}
    pool = list(s.pool)
    first = min(used)
    pool[first] = type(pool[first])(pool[first].coefficient, pool[first].rhs - 1, pool[first].hall)
    bound, note = replay(s.instance, s.jobs, s.sets, pool, s.record, s.cutoff, s.scale)
    assert bound == np.inf
    assert "does not hold" in note


def test_replay_completes_no_job_for_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """The tree knows no schedule that earns nothing, so "it completes later" can mean for the tree that it does not.

    With these questions a replay that completes for nothing says 48.
    """
    questions = PathBranching.questions
    monkeypatch.setattr(PathBranching, "questions", lambda *args: questions(*args)[:1])
    found = optimum(Instance.load(paths.GOLDEN / "hadar-unproved.json"))
    assert (found.value, found.proved) == (42, True)
    assert any("replayed 9 nodes from the instance: nothing above 42" in line for line in found.evidence)


@pytest.mark.slow
@pytest.mark.usefixtures("no_heuristics")
@pytest.mark.parametrize("seed", [79, 2037])
def test_replay_uses_no_fast_option_where_a_slow_one_does_as_much(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The tree does not either, so where it asks for the slow option and hears "no", the fast one cannot stand in."""

    def option_first(self: PathBranching, part: Any, generated: Any) -> list[Branch]:
        z = self.relaxation.running(generated)
        openness = np.minimum(z, 1 - z)
        t, option, j = (int(i) for i in np.unravel_index(openness.argmax(), openness.shape))
        return [Branch(j, t, (option,))] if openness[t, option, j] > 1e-6 else []

    monkeypatch.setattr(PathBranching, "questions", option_first)
    found = optimum(Instance.parse(middle(seed)))
    assert found.proved
    assert any("replayed" in line for line in found.evidence)


@pytest.mark.usefixtures("no_heuristics")
@pytest.mark.parametrize("seed", [63, 535])
def test_work_is_added_up_without_wrapping(seed: int) -> None:
    """Amounts of work of 16 digits, scaled to integers, have 60 bits and more."""
    assert optimum(Instance.parse(middle(seed, jitter=0.05)), time_limit=30).proved


@pytest.mark.slow
def test_replay_of_a_record_without_its_branches_proves_nothing() -> None:
    instance = preset("benchmark", 1, jobs=8, machines=4, types=3, slots=10)
    solver = exact.Solver(instance, exact.knowledge(instance), *what_matters(instance), exact.MAX_STATES, 0)
    solver.begin()
    assert solver.steps()
    found = solver.known
    cut = Record(steps=solver.record.steps)
    bound, _ = replay(instance, solver.jobs, solver.sets, solver.pool, cut, solver.cutoff, solver.scale)
    assert not agree(bound, found.value)
    assert bound > found.value


def worth(data: dict[str, Any], scale: Fraction) -> dict[str, Any]:
    """The instance with all utilities (tables) multiplied."""
    jobs = [
        job | {"utility": {"kind": "table", "values": [str(Fraction(v) * scale) for v in job["utility"]["values"]]}}
        for job in data["jobs"]
    ]
    return data | {"jobs": jobs}


def normalised(data: dict[str, Any]) -> dict[str, Any]:
    """The instance with a greatest utility of 100."""
    return worth(data, 100 / max(Fraction(1), *(Fraction(job["utility"]["values"][0]) for job in data["jobs"])))


def test_utilities_of_1e20() -> None:
    data = json.loads((paths.GOLDEN / "hadar-1e20.json").read_text(encoding="utf-8"))
    found = optimum(Instance.parse(normalised(data)))
    assert (found.value, found.proved) == (100, True)
    found = exact.solve(Instance.parse(data))
    assert (found.value, found.proved) == (2e20, True)


@pytest.mark.slow
@pytest.mark.usefixtures("no_heuristics")
@pytest.mark.parametrize("scale", [Fraction(1, 10**25), Fraction(1, 3 * 10**6), Fraction(10**20, 7), Fraction(10**90)])
def test_the_unit_of_utility_does_not_matter(scale: Fraction) -> None:
    for data in (middle(137), middle(6), middle(91, jitter=0.05)):
        one = exact.solve(Instance.parse(data))
        found = exact.solve(Instance.parse(worth(data, scale)))
        assert found.proved
        assert found.value == pytest.approx(float((one.value or 0) * scale), rel=1e-9, abs=0)
        assert found.evidence[1:-1] == one.evidence[1:-1]


@pytest.mark.parametrize("factor", [10**4, 10**20])
@pytest.mark.parametrize("seed", range(12))
def test_one_job_is_worth_all_the_others(seed: int, factor: int) -> None:
    """The others are served as far as the tolerance, relative to the greatest utility, can tell."""
    data = tiny(seed)
    first = data["jobs"][0]["utility"]
    first["values"] = [v * factor for v in first["values"]]
    data = normalised(data)
    found = optimum(Instance.parse(data))
    expected, _ = oracle.optimum(data)
    assert found.proved
    assert found.value == pytest.approx(float(expected or 0), abs=1e-4)


def test_no_jobs() -> None:
    data = CASES["H1"]["instance"] | {"jobs": []}
    found = optimum(Instance.parse(data))
    assert (found.value, found.bound, found.proved) == (0.0, 0.0, True)
    assert found.schedule.jobs == {}


def test_jobs_that_cannot_finish_are_left_out() -> None:
    data = json.loads(json.dumps(CASES["H1"]["instance"]))
    data["jobs"][0]["iterations"] = 100
    found = optimum(Instance.parse(data))
    assert (found.value, found.proved) == (0.0, True)


def test_a_cluster_without_contention_serves_everybody_at_once() -> None:
    data = json.loads(json.dumps(CASES["H1"]["instance"]))
    job = data["jobs"][0]
    data["machines"][0]["devices"] = {"v100": 3}
    data["jobs"] = [job | {"name": f"J{k}"} for k in range(3)]
    found = optimum(Instance.parse(data))
    assert found.value == 12
    assert found.proved


@pytest.mark.slow
def test_measured_throughputs() -> None:
    rate = {"v100": 35.869203207990005, "p100": 17.933017309110305, "k80": 6.1234567890123}
    jobs = [
        {
            "name": f"job{k}",
            "arrival": 1 + k % 3,
            "gang": (1, 2, 4)[k % 3],
            "iterations": 95121 // (1 + k % 2),
            "rate": {r: x * (1 + k / 7) for r, x in rate.items()},
            "utility": {"kind": "hyperbolic", "scale": 100 + k},
        }
        for k in range(4)
    ]
    data = {
        "slots": 8,
        "slot_seconds": 360,
        "device_types": list(rate),
        "machines": [{"name": "m", "devices": {"v100": 2, "p100": 2, "k80": 2}}],
        "jobs": jobs,
    }
    instance = Instance.parse(data)
    found, rounded = optimum(instance), exact.solve(instance, max_states=12)
    assert found.proved
    assert rounded.proved
    assert agree(found.value or 0.0, rounded.value or 0.0)


@pytest.mark.slow
def test_an_interrupt_goes_through() -> None:
    def interrupt(phase: str, lower: float, upper: float) -> None:
        if phase == "bound":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        optimum(preset("benchmark", 4, jobs=8, machines=4, types=3, slots=10), progress=interrupt)


def test_other_types_and_limits_are_refused() -> None:
    with pytest.raises(TypeError, match="got a dict: read it with Instance"):
        optimum({})
    with pytest.raises(ValueError, match="time_limit: -1"):
        optimum(Instance.parse(CASES["H1"]["instance"]), time_limit=-1)


@pytest.mark.slow
@examples(27, 80)
@given(gangs=st.lists(st.integers(1, 8), min_size=2, max_size=6), devices=st.integers(8, 16), data=st.data())
def test_hull_inequalities_hold_at_all_whole_points(gangs: list[int], devices: int, data: st.DataObject) -> None:
    """One separator for several points: what it keeps of one makes no other inequality wrong, and hides none."""
    weight = np.array(gangs)
    hall = Hall(1, devices, np.ones((1, len(gangs)), dtype=bool), weight)
    points = [np.array([p >> i & 1 for i in range(len(gangs))]) for p in range(2 ** len(gangs))]
    fitting = [p for p in points if weight @ p <= devices]
    kept, shares = Separator(hall), st.lists(st.integers(0, 20), min_size=len(gangs), max_size=len(gangs))
    for _ in range(4):
        y = np.array(data.draw(shares)) / 20
        found = kept.separate(y)
        if found is not None:
            alpha, beta = found
            assert all(alpha @ p <= beta for p in fitting)
            assert alpha @ y > beta
        elif Fraction(str(round(float(weight @ y), 6))) > devices:
            pytest.fail("a point that breaks the row itself was not separated")
        else:
            inside = linprog(np.zeros(len(fitting)), A_eq=[*np.array(fitting).T, np.ones(len(fitting))], b_eq=[*y, 1])
            assert inside.status == 0


def crowded(seed: int, factor: int, noise: int) -> Instance:
    """A benchmark instance in which every device is so many, and gangs are off by a few."""
    rng = random.Random(seed)
    data = preset("benchmark", seed, jobs=8, machines=4, types=3, slots=10).dump()
    for machine in data["machines"]:
        machine["devices"] = {r: n * factor for r, n in machine["devices"].items()}
    for job in data["jobs"]:
        job["gang"] = job["gang"] * factor + rng.randint(-noise, noise)
        job["rate"] = {r: x / factor for r, x in job["rate"].items()}
    return Instance.parse(data)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("factor", "noise", "expected"),
    longer(
        [(1000, 0, 261.671429), (1000, 3, 259.671429), (10**6, 3, 259.671429), (10**9, 3, 259.671429)],
        (1000, 0, 261.671429),
        (10**6, 3, 259.671429),
        (10**9, 3, 259.671429),
    ),
)
def test_gangs_of_any_size(factor: int, noise: int, expected: float) -> None:
    """The replay keeps amounts of the same future apart: merged, with gangs of 1000, it was weaker than its record."""
    found = optimum(crowded(4, factor, noise), time_limit=60)
    assert found.value == pytest.approx(expected)
    assert found.proved
    assert any("replayed" in line for line in found.evidence)


def test_crowds_are_refused_by_name() -> None:
    with pytest.raises(InputError, match=r"job job5: gang: 8\d* devices"):
        optimum(crowded(4, 10**14, 3))


@settings(deadline=None, max_examples=60)
@given(st.lists(st.tuples(st.integers(1, 40), st.integers(0, 9)), min_size=1, max_size=7), st.integers(0, 120))
def test_knapsacks_by_loads(items: list[tuple[int, int]], devices: int) -> None:
    """Weights in thousands are too many for a table over devices; the best value is the same."""
    weight, alpha = np.array(items).T
    every = np.arange(len(items))
    best, chosen = knapsack(alpha, weight * 1000, every, devices * 1000)
    assert best == knapsack(alpha, weight, every, devices)[0] == alpha @ chosen
    assert weight @ chosen <= devices


def option_of(name: str, gang: int, types: tuple[int, ...]) -> Options:
    """Return a job whose options may use types of ever larger masks."""
    works = tuple(range(len(types), 0, -1))
    return Options(name, 0, gang, 1, works, types, ("",) * len(types), (Fraction(1),))


@pytest.mark.slow
@examples(60, 200)
@given(data=st.data())
def test_hall_rows_tell_which_gangs_fit_a_slot(data: st.DataObject) -> None:
    """As the greatest flow from gangs to their types does; rows that are sums of others are missing."""
    capacity = tuple(data.draw(st.lists(st.integers(0, 5), min_size=1, max_size=5)))
    mask = st.integers(1, 2 ** len(capacity) - 1)
    jobs = []
    for number in range(data.draw(st.integers(1, 4))):
        chain = itertools.accumulate(data.draw(st.lists(mask, min_size=1, max_size=3)), lambda a, b: a | b)
        jobs.append(option_of(f"job{number}", data.draw(st.integers(1, 4)), tuple(dict.fromkeys(chain))))
    sets = hall_sets(tuple(jobs), capacity)
    for chosen in itertools.product(*(range(-1, len(job.types)) for job in jobs)):
        network = nx.DiGraph([("all", "types")])
        for job, k in zip(jobs, chosen, strict=True):
            network.add_edge("all", job.name, capacity=job.gang if k >= 0 else 0)
            for r in range(len(capacity)):
                if k >= 0 and job.types[k] >> r & 1:
                    network.add_edge(job.name, r, capacity=job.gang)
        for r, devices in enumerate(capacity):
            network.add_edge(r, "fits", capacity=devices)
        needed = sum(job.gang for job, k in zip(jobs, chosen, strict=True) if k >= 0)
        levels = np.array(chosen)[:, None]
        assert all(hall.fits(levels) for hall in sets) == (nx.maximum_flow_value(network, "all", "fits") == needed)


def test_types_that_no_job_mixes_have_a_row_each() -> None:
    jobs = tuple(option_of(f"job{k}", 2, (1 << k,)) for k in range(40))
    assert [hall.types for hall in hall_sets(jobs, (1,) * 40)] == [1 << k for k in range(40)]
