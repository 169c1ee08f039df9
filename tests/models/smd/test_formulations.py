"""The SMD formulations agree with each other, with the certified optimum and with an exhaustive search."""

from __future__ import annotations

import json
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pyomo.environ as pyo
import pytest

from dlsched.bounds.witness import shipped
from dlsched.models import InputError, build, compile_model, read, residuals, smd, solve
from dlsched.models.numbers import agree
from dlsched.models.smd import Instance, Schedule, best_point, check, exact_utility, points, preset, ratios, utility
from dlsched.models.smd import milp as milp_module
from dlsched.models.smd.layered import layered_time, layered_utility
from dlsched.relaxations import sum_of_ratios
from dlsched.solvers.solution import Status
from dlsched.solvers.solve import solve_matrix
from dlsched.tolerances import TOLERANCE
from tests import paths
from tests.longer import longer
from tests.models.smd.test_oracle import small
from tests.oracles import smd as oracle
from tests.strategies import smd as smd_strategies

GOLDEN = json.loads((paths.GOLDEN / "smd.json").read_text())
CASES = {case["name"]: case for case in GOLDEN["instances"]}


def chosen(model: Any) -> Schedule:
    return Schedule.of({i: (w, p) for (i, w, p), z in model.chosen.items() if z.value > 0.5})


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_golden_optimum(name: str) -> None:
    instance = Instance.parse(CASES[name]["instance"])
    best = float(oracle.rational(CASES[name]["optimum"]))
    model = build("smd/milp", instance)
    assert solve(model).objective == pytest.approx(best, abs=TOLERANCE)
    schedule = chosen(model)
    assert check(instance, schedule) == []
    assert float(exact_utility(instance, schedule)) == pytest.approx(best)
    assert solve(build("smd/knapsack", instance)).objective == pytest.approx(best, abs=TOLERANCE)
    assert solve(build("smd/minlp", instance), solver="scip").objective == pytest.approx(best, abs=TOLERANCE)


@pytest.mark.parametrize("name", CASES)
def test_golden_inner_optimum(name: str) -> None:
    """SCIP on the sum of ratios finds the time that trying every point finds."""
    instance = Instance.parse(CASES[name]["instance"])
    for job in instance.jobs:
        point = best_point(job)
        if point is None:
            with pytest.raises(InputError, match="leave no room for one worker and one server"):
                build("smd/inner", instance, job=job.name)
            continue
        model = build("smd/inner", instance, job=job.name)
        solution = solve(model, solver="scip")
        assert solution.objective == pytest.approx(float(point.time), abs=TOLERANCE)
        counts = round(model.workers.value), round(model.servers.value)
        assert agree(job.training.time(*counts), point.time)


@pytest.mark.parametrize("seed", longer(range(60), *range(20, 60)))
def test_formulations_and_exhaustive_search_agree(seed: int) -> None:
    data = small(seed)
    instance = Instance.parse(data)
    best, _ = oracle.optimum(data)
    model = build("smd/milp", instance)
    assert agree(solve(model).objective, best)
    assert agree(oracle.value(data, chosen(model).dump()), best)
    assert oracle.violations(data, chosen(model).dump()) == []
    assert agree(solve(build("smd/knapsack", instance)).objective, best)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(0, 60, 2))
def test_the_minlp_and_exhaustive_search_agree(seed: int) -> None:
    """Utilities of every kind, also those that fall by steps."""
    data = small(seed)
    model = build("smd/minlp", Instance.parse(data))
    solution = solve(model, solver="scip", time_limit=60)
    assert solution.status is Status.OPTIMAL
    assert agree(solution.objective, oracle.optimum(data)[0])
    assert max(residuals(model).values(), default=0.0) <= 1e-6 * max(1, *(v.value for v in model.workers.values()), 1)


@pytest.mark.parametrize("seed", range(20))
def test_the_minlp_says_what_the_paper_says_at_every_point(seed: int) -> None:
    """Its rows hold exactly where (2) and (3) do, and its objective is (1) there."""
    data = smd_strategies.draw(seed, jobs=1)
    data["jobs"][0]["utility"] = {"kind": "hyperbolic", "scale": 12}
    instance = Instance.parse(data)
    model = build("smd/minlp", instance)
    for job, plain in ((instance.job(i), data["jobs"][0]) for i in model.I):
        for w in range(1, job.most_workers + 1):
            for p in range(1, job.most_servers + 1):
                model.workers[job.name].set_value(w)
                model.servers[job.name].set_value(p)
                model.admitted[job.name].set_value(1)
                time = oracle.completion_time(plain, w, p)
                assert pyo.value(model.completion_time[job.name]) == pytest.approx(float(time))
                assert pyo.value(model.total_utility) == pytest.approx(float(oracle.worth(plain, time)))
                holds = max(residuals(model).values()) <= 1e-9
                plan = {"jobs": {job.name: {"workers": w, "servers": p}}}
                assert holds == (oracle.violations(data, plan) == [])


@pytest.mark.parametrize("seed", longer(range(40), *range(14, 40)))
def test_lp_bounds_are_ordered(seed: int) -> None:
    """The MILP over all points has the knapsack's LP bound: its points differ in the objective alone."""
    instance = Instance.parse(smd_strategies.draw(seed))
    bounds = [
        solve_matrix(compile_model(build(name, instance)).relaxed()).summary.objective
        for name in ("smd/milp", "smd/knapsack")
    ]
    assert agree(bounds[0], bounds[1])
    exact = solve(build("smd/milp", instance)).objective
    assert exact is not None
    assert bounds[0] >= exact - TOLERANCE * max(1, exact)


@pytest.mark.parametrize("seed", range(30))
def test_the_layered_program_takes_each_points_own_critical_path(seed: int) -> None:
    rng = np.random.default_rng(seed)
    data = smd_strategies.draw(seed, jobs=2)
    for job in data["jobs"]:
        job["training"] = smd_strategies.measured(rng)
    instance = Instance.parse(data)
    best = Fraction(0)
    options = [[None, *map(tuple, points(job).tolist())] for job in instance.jobs]
    for a in options[0]:
        for b in options[1]:
            plan = {job.name: pt for job, pt in zip(instance.jobs, (a, b), strict=True) if pt}
            if check(instance, Schedule.of(plan)) == []:
                times = ((instance.job(n), layered_time(instance.job(n).training, *pt)) for n, pt in plan.items())
                best = max(best, sum((job.utility.exact(time) for job, time in times), Fraction(0)))
    assert agree(solve(build("smd/milp-layers", instance)).objective, best)


def test_layers_matter() -> None:
    """b=(3,3,3), f=1, r=(2,2,2): with doubled transfers another path is critical than at the measured times."""
    layers = [{"forward": 1, "backward": 3, "transfer": 2}] * 3
    training = {
        "kind": "measured",
        "mode": "sync",
        "iterations": 1,
        "global_batch": 100,
        "model_size": 6,
        "bandwidth": 1,
        "overlap": "wait-free",
        "layers": layers,
    }
    data = CASES["S1"]["instance"]
    job = data["jobs"][0] | {"training": training, "utility": {"kind": "hyperbolic", "scale": 100}, "limit": {"r1": 3}}
    instance = Instance.parse(data | {"jobs": [job]})
    parsed = instance.jobs[0].training
    assert parsed.time(1, 1) == layered_time(parsed, 1, 1) == 300 + 9 + 4
    assert parsed.time(2, 1) == 150 + 9 + 8
    assert layered_time(parsed, 2, 1) == 150 + 3 + 16
    assert solve(build("smd/milp", instance)).objective == pytest.approx(100 / 168)
    model = build("smd/milp-layers", instance)
    assert solve(model).objective == pytest.approx(100 / 170)
    schedule = read(model, instance)
    assert layered_utility(instance, schedule) == pytest.approx(100 / 170)
    assert utility(instance, schedule) == pytest.approx(100 / 168)


def test_the_knapsack_over_given_utilities() -> None:
    instance = Instance.parse(CASES["S3"]["instance"])
    assert solve(build("smd/knapsack", instance, utilities={"J1": 7, "J3": Fraction(1, 2)})).objective == 7
    assert solve(build("smd/knapsack", instance, utilities={})).objective == 0
    with pytest.raises(InputError, match=r"utilities\.J9: is not a job of the instance"):
        build("smd/knapsack", instance, utilities={"J9": 1})
    with pytest.raises(InputError, match=r"utilities\.J1: -1 must not be negative"):
        build("smd/knapsack", instance, utilities={"J1": -1})


def test_the_inner_problem_of_no_job() -> None:
    instance = Instance.parse(CASES["S5"]["instance"])
    assert build("smd/inner", instance).name == "SMD inner problem of J1"
    with pytest.raises(InputError, match="unknown job 'J9'; there are J1, J2, J3, J4"):
        build("smd/inner", instance, job="J9")
    with pytest.raises(InputError, match="no job's limits leave room"):
        build("smd/inner", instance.model_copy(update={"jobs": instance.jobs[2:3]}))


@pytest.mark.parametrize("name", ["smd/milp", "smd/milp-layers", "smd/knapsack", "smd/minlp"])
def test_no_jobs(name: str) -> None:
    instance = Instance.parse(CASES["S1"]["instance"] | {"jobs": []})
    assert solve(build(name, instance), solver="scip").objective == 0


def test_too_many_points_are_not_written_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(milp_module, "MAX_POINTS", 10)
    with pytest.raises(InputError, match="more than 10 feasible"):
        build("smd/milp", Instance.parse(CASES["S1"]["instance"]))


@pytest.mark.slow
def test_the_papers_ranges_at_their_size() -> None:
    """Fifty jobs of the evaluation: tens of thousands of points, the same value as the decomposition."""
    instance = preset("paper", 0, jobs=12, units=2, mode="async")
    joint = solve(build("smd/milp", instance)).objective
    assert agree(joint, solve(build("smd/knapsack", instance)).objective)


@pytest.mark.slow
def test_random_instances_are_worth_something() -> None:
    values = [solve(build("smd/knapsack", smd.random(np.random.default_rng(s)))).objective for s in range(20)]
    assert sum(value is not None and value > 0 for value in values) >= 10


# (case, job, its l and phi, J, continuous optimum), by hand and as `dlsched.relaxations.sum_of_ratios` brackets it.
BOXES = [
    ("S2", "J1", [(2, 5), (0.5, 8), (3, 12)], 1, 9.9172),
    ("S3", "J1", [(2, 11), (1.2, 6)], 0, 5.4904),
]


@pytest.mark.parametrize(("case", "job", "box", "last", "optimum"), BOXES)
def test_the_box_of_ratios_and_its_optimum(case: str, job: str, box: list[Any], last: int, optimum: float) -> None:
    instance = Instance.parse(CASES[case]["instance"])
    model = build("smd/ratio-box", instance, job=job)
    assert [j for j in range(len(box)) if j not in model.G] == [last]
    for j in model.G:
        assert (model.least[j], model.greatest[j]) == pytest.approx(box[j])
    assert solve(model, solver="scip").objective == pytest.approx(optimum, abs=1e-4)
    assert sum(map(pyo.value, model.ratio.values())) == pytest.approx(optimum, abs=1e-4)


@pytest.mark.parametrize("seed", longer(range(12), *range(6, 12)))
def test_the_ratios_of_the_paper_and_the_grid_agree(seed: int) -> None:
    """(13) lies between Algorithm 1's bound and point; (14) at the grid point of the latter is its cost."""
    instance = smd.random(np.random.default_rng(seed))
    job = next(job for job in instance.jobs if job.can_run and ratios(job).ratios)
    fine = sum_of_ratios(ratios(job), epsilon=0.001)
    model = build("smd/ratio-box", instance, job=job.name)
    optimum = solve(model, solver="scip").objective
    assert optimum is not None
    assert fine.bound - 1e-6 <= optimum <= fine.value + 1e-6
    caps = [float(ratio(fine.x)) for j, ratio in enumerate(ratios(job).ratios) if j in model.G]
    at = build("smd/ratio-caps", instance, job=job.name, caps=[cap * (1 + 1e-9) for cap in caps])
    capped = solve(at, solver="scip").objective
    assert capped is not None
    assert optimum - 1e-5 <= capped <= fine.value + 1e-5


def test_caps_below_every_point_leave_nothing() -> None:
    """The printed grid of the ledger's example: its only point has no x, as (14) says."""
    instance = Instance.parse(shipped("smd-algorithm-1-no-point").instance)
    printed = sum_of_ratios(ratios(instance.jobs[0]), epsilon=0.5, variant="printed")
    for caps in product(*printed.grids):
        model = build("smd/ratio-caps", instance, caps=list(map(float, caps)))
        assert solve(model, solver="scip").status is Status.INFEASIBLE
    with pytest.raises(InputError, match="caps: has 1 entries for 2 ratios"):
        build("smd/ratio-caps", instance, caps=[1])
