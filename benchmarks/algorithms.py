"""What algorithms, transformations and the simulator take, beside other ways to do the same."""

from __future__ import annotations

import importlib.util
import itertools
import statistics
import time
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import pyomo.environ as pyo

from benchmarks.benchmark import Benchmark, Outcome, Way
from dlsched.algorithms import gadget, pd_ors
from dlsched.algorithms.baselines.ddljs import drf, fifo, las
from dlsched.algorithms.baselines.hadar.drf import Drf
from dlsched.algorithms.baselines.hadar.fifo import Fifo
from dlsched.algorithms.baselines.hadar.las import Las
from dlsched.algorithms.baselines.hadar.srtf import Srtf
from dlsched.algorithms.baselines.hadar.tiresias import Tiresias
from dlsched.algorithms.hadar import Hadar, constants
from dlsched.algorithms.simulator import Policy, metrics, simulate
from dlsched.models import compile_model, ddljs, dmlrs, smd
from dlsched.models.ddljs.gvne import embedding_program
from dlsched.models.hadar import Instance
from dlsched.models.ratio import Floats, FractionalSum, Ratio
from dlsched.models.solve import solve
from dlsched.relaxations import LinearProgram, Planar, augmented_vne, plain_vne, sum_of_ratios
from dlsched.relaxations.ratio_grid import Sweep
from dlsched.rounding import gain_packing, sample_violations, width


def _seconds(work: Callable[[], Any]) -> tuple[float, Any]:
    start = time.perf_counter()
    result = work()
    return time.perf_counter() - start, result


def _run(algorithm: Callable[..., Any], **options: Any) -> Way:
    """Return a run of an algorithm as a way, its schedule's value beside the seconds; the limit is not enforced."""

    def way(instance: Any, limit: float) -> Outcome:
        seconds, run = _seconds(lambda: algorithm(instance, seed=0, **options))
        return Outcome({"run": seconds}, value=run.utility)

    return way


def _gadget(name: str, family: str, title: str, **sizes: Any) -> Benchmark:
    return Benchmark(
        name=f"gadget/{name}",
        title=title,
        draw=partial(ddljs.preset, family, **sizes),
        smoke=partial(ddljs.preset, "benchmark", servers=3, jobs=2, slots=2),
        ways={
            "filled": _run(gadget.run, variant="filled"),
            "exact, 2 s a slot": _run(gadget.run, variant="filled", embedding="exact", seconds_per_slot=2.0),
            "corrected": _run(gadget.run),
            "printed": _run(gadget.run, variant="printed"),
            "fifo": _run(fifo.run),
            "drf": _run(drf.run),
            "las": _run(las.run),
        },
    )


def _first_slot(seed: int, *, servers: int, jobs: int, tight: bool = False) -> ddljs.RingProblem:
    return ddljs.slot_problem(ddljs.preset("benchmark", seed, servers=servers, jobs=jobs, tight=tight), 1)


def _augmented(*, every: bool, cap: bool) -> Way:
    """Return the augmented LP, with the largest ring of each job or with all, as a way."""

    def way(problem: ddljs.RingProblem, limit: float) -> Outcome:
        sizes = None if every else {request.name: max(request.profit) for request in problem.requests}
        built, program = _seconds(lambda: augmented_vne(problem, sizes=sizes, cap=cap))
        took, solution = _seconds(program.solve)
        rows, columns = program.matrix.A.shape
        residual = max(program.certify(solution).values())
        notes = {"rows": rows, "columns": columns, "method": solution.method, "residual": residual}
        return Outcome({"build": built, "solve": took}, solution.value, solution.value, residual < 1e-6, notes)

    return way


def _built(build: Callable[[ddljs.RingProblem], Any]) -> Way:
    """Return the building of a program as a way: once before the clock starts, so that imports do not count."""

    def way(problem: ddljs.RingProblem, limit: float) -> Outcome:
        build(_first_slot(0, servers=3, jobs=2))
        return Outcome({"build": _seconds(lambda: build(problem))[0]})

    return way


def _in_linopy() -> dict[str, Way]:
    if importlib.util.find_spec("linopy") is None:
        return {}
    from benchmarks.linopy_vne import linopy_model

    return {"linopy": _built(linopy_model), "linopy, its matrix": _built(lambda p: linopy_model(p).matrices.A)}


class Rebuilt:
    """The oracle as a modelling language invites it: a Charnes-Cooper model for each grid point, built and solved."""

    def __init__(self, problem: FractionalSum) -> None:
        self._problem = problem

    def bounds(self) -> tuple[Floats, Floats]:
        """Return l_j and phi_j."""
        return Planar(self._problem).bounds()

    def sweep(self, last: int, grids: Sequence[Floats]) -> Sweep:
        """Solve a model for each combination of caps."""
        others = [ratio for j, ratio in enumerate(self._problem.ratios) if j != last]
        best = Sweep()
        for caps in itertools.product(*(grid.tolist() for grid in grids)):
            model = _charnes_cooper(self._problem, last, list(zip(others, caps, strict=True)))
            if solve(model).objective is not None:
                x = np.array([y.value for y in model.y.values()]) / model.t.value
                best = best.joined(Sweep(sum(caps) + pyo.value(model.ratio), x, 1))
        return best


def _charnes_cooper(problem: FractionalSum, last: int, caps: list[tuple[Ratio, float]]) -> Any:
    region, target = problem.polytope, problem.ratios[last]
    model = pyo.ConcreteModel()
    model.y = pyo.Var(range(len(region.lower)))
    model.t = pyo.Var(domain=pyo.NonNegativeReals)

    def linear(coefficients: Floats, constant: float) -> Any:
        return sum(a * model.y[i] for i, a in enumerate(coefficients.tolist()) if a) + constant * model.t

    model.ratio = pyo.Objective(expr=linear(target.numerator, target.numerator_constant))
    model.unit = pyo.Constraint(expr=linear(target.denominator, target.denominator_constant) == 1)
    model.lower = pyo.Constraint(model.y.index_set(), rule=lambda m, i: m.y[i] >= region.lower[i] * m.t)
    model.limit = pyo.Constraint(
        range(len(region.A)), rule=lambda m, r: linear(region.A[r], 0.0) <= region.row_upper[r] * m.t
    )
    model.cap = pyo.Constraint(
        range(len(caps)),
        rule=lambda m, k: (
            linear(caps[k][0].numerator, caps[k][0].numerator_constant)
            <= caps[k][1] * linear(caps[k][0].denominator, caps[k][0].denominator_constant)
        ),
    )
    return model


def _searched(oracle: Any, epsilon: float) -> Way:
    """Return Algorithm 1 of SMD by an oracle as a way, over the largest job of an instance."""

    def way(instance: smd.Instance, limit: float) -> Outcome:
        job = max(instance.jobs, key=lambda job: min(job.most_workers, job.most_servers))
        problem = smd.ratios(job)
        seconds, found = _seconds(lambda: sum_of_ratios(problem, epsilon=epsilon, oracle=oracle))
        notes = {"grid points": found.points, "microseconds a point": 1e6 * seconds / found.points}
        return Outcome({"search": seconds}, value=found.cost, notes=notes)

    return way


def _rounding(seed: int, *, rows: int) -> tuple[Any, Any, Any]:
    rng = np.random.default_rng(seed)
    B = rng.integers(0, 4, size=(rows, rows))
    x = rng.uniform(0, 3, size=rows)
    return B, np.ceil(B @ x), x


def _sampled(problem: tuple[Any, Any, Any], limit: float) -> Outcome:
    B, b, x = problem
    gain = gain_packing(width(B, b), len(b), 0.5)

    def sample() -> Any:
        return sample_violations(B, b, x, np.random.default_rng(0), _DRAWS, gain)

    times = [_seconds(sample)[0] for _ in range(3)]
    return Outcome({"sample": statistics.median(times)})


def _product(problem: tuple[Any, Any, Any], limit: float) -> Outcome:
    """Take the product of a 0-1 matrix of the draws' shape with the rows, in the precision that the sampler uses."""
    rng, columns = np.random.default_rng(1), np.ascontiguousarray(problem[0].T, dtype=np.float32)
    up = (rng.random((_DRAWS, len(columns))) < 0.5).astype(np.float32)
    return Outcome({"product": statistics.median(_seconds(lambda: up @ columns)[0] for _ in range(3))})


_DRAWS = 100_000
"""Of a sampling. Arbitrary: some seconds."""

_TYPES = {"V100": Fraction(1), "P100": Fraction(1, 2), "K80": Fraction(1, 4)}
"""Speeds. Arbitrary."""


def synthetic(seed: int, *, jobs: int, nodes: int, slot: int = 1, load: float = 0.9) -> Instance:
    """Draw jobs of a cluster with nodes of 4 devices, and the time over which they arrive.

    V100, P100 and K80 in turn, half and a quarter as fast; gangs of 1, 2, 4 and 8 (70, 10, 15 and 5 %); run times on
    V100 log-normal about 20 minutes; arrivals uniform over the time in which the work would fill `load` of the cluster,
    all at the beginning for 0.
    """
    rng, names = np.random.default_rng(seed), list(_TYPES)
    gangs = rng.choice([1, 2, 4, 8], p=[0.7, 0.1, 0.15, 0.05], size=jobs)
    seconds = np.round(np.exp(rng.normal(7, 1, size=jobs))).astype(int) + 60
    mean = sum(float(_TYPES[names[h % 3]]) for h in range(nodes)) / nodes
    span = float((gangs * seconds).sum()) / (4 * nodes * mean * load) if load else 1.0
    arrivals = np.sort(rng.integers(0, max(1, int(span)), size=jobs)) // slot
    base = rng.integers(10, 200, size=jobs)
    return Instance.parse(
        {
            "slots": min(10**6, int((3 * span + 10**6) / slot)),
            "slot_seconds": slot,
            "device_types": names,
            "machines": [{"name": f"node{h}", "devices": {names[h % 3]: 4}} for h in range(nodes)],
            "jobs": [
                {
                    "name": f"job{j}",
                    "arrival": int(arrivals[j]) + 1,
                    "gang": int(gangs[j]),
                    "iterations": int(gangs[j] * seconds[j] * base[j]),
                    "rate": {r: int(base[j]) * factor for r, factor in _TYPES.items()},
                    "utility": {"kind": "hyperbolic", "scale": int(gangs[j] * seconds[j] * base[j])},
                }
                for j in range(jobs)
            ],
        }
    )


def _over_time(make: Callable[[Instance], Policy], rounds: int | None) -> Way:
    def way(instance: Instance, limit: float) -> Outcome:
        seconds, simulation = _seconds(lambda: simulate(instance, make(instance), round_seconds=rounds))
        found = metrics(simulation)
        notes: dict[str, float | str] = {"decisions": len(simulation.moments), "done": found.done}
        notes |= {"GRU": float(found.gru), "changed": float(found.changed)}
        if found.jct is not None:
            notes["mean JCT, h"] = float(found.jct.mean) / 3600
        return Outcome({"simulate": seconds}, notes=notes)

    return way


def _decision(jobs: int) -> Way:
    """Return Hadar's first decision on so many jobs, all there, as a way; no other comes before the end."""

    def way(seed: int, limit: float) -> Outcome:
        instance = synthetic(seed, jobs=jobs, nodes=max(3, jobs // 4), slot=360, load=0)
        simulation = simulate(instance, Hadar(), round_seconds=360, horizon=360)
        return Outcome({"decision": simulation.moments[0].seconds})

    return way


def _pd_ors(jobs: int, *, share: int = 1, multiple: int = 6) -> Way:
    """Return a run of PD-ORS on so many jobs, a share of as many machines, and a tenth as many slots, as a way."""

    def way(seed: int, limit: float) -> Outcome:
        sizes = {"jobs": jobs, "machines": jobs // share, "slots": max(4, jobs // 10)}
        instance = dmlrs.preset("benchmark", seed, **sizes, multiple=multiple)
        seconds, run = _seconds(lambda: pd_ors.run(instance))
        return Outcome({"run": seconds}, value=run.utility)

    return way


def _horizon(jobs: int, *, share: int = 1, variant: str = "corrected") -> Way:
    """Return a run of GADGET on so many jobs and slots, and a share of as many servers, as a way."""

    def way(seed: int, limit: float) -> Outcome:
        instance = ddljs.preset("paper", seed, jobs=jobs, servers=jobs // share, slots=jobs)
        seconds, run = _seconds(lambda: gadget.run(instance, variant=variant))
        return Outcome({"run": seconds}, value=run.utility)

    return way


def _rounds(jobs: int) -> Way:
    """Return so many jobs on 64 nodes in Hadar's rounds of 6 minutes as a way."""

    def way(seed: int, limit: float) -> Outcome:
        return _over_time(lambda p: Hadar(incremental=True), 360)(synthetic(seed, jobs=jobs, nodes=64), limit)

    return way


_SIZES = (62, 125, 250, 500, 1000)
"""Four doublings, up to what a datacentre has."""


def _growth(
    name: str, title: str, way: Callable[[int], Way], sizes: Sequence[int], limit: float, aim: str
) -> Benchmark:
    """Return one algorithm at growing sizes: the instances are the ways' own, of a seed."""
    ways = {f"{size}": way(size) for size in sizes}
    return Benchmark(name=name, title=title, draw=int, smoke=int, ways=ways, seeds=1, limit=limit, aim=aim, grows=True)


BENCHMARKS = (
    _gadget("paper", "paper", "100 jobs of the paper's ranges, 50 servers, 200 slots", jobs=100),
    _gadget("iterations", "paper", "the same with budgets read as iterations", jobs=100, budget="iterations"),
    _gadget("crowded", "paper", "150 jobs of the paper's ranges, 20 servers", jobs=150, servers=20),
    _gadget(
        "tight", "benchmark", "50 servers, tight links, 100 jobs, 20 slots", servers=50, jobs=100, slots=20, tight=True
    ),
    Benchmark(
        name="augmented-vne/50-20",
        title="the augmented LP of one slot with 50 servers and 20 jobs",
        draw=partial(_first_slot, servers=50, jobs=20),
        smoke=partial(_first_slot, servers=4, jobs=2),
        ways={
            "all rings": _augmented(every=True, cap=False),
            "all rings, caps": _augmented(every=True, cap=True),
            "largest rings": _augmented(every=False, cap=False),
            "largest rings, caps": _augmented(every=False, cap=True),
        },
    ),
    Benchmark(
        name="plain-vne/50-20",
        title="building the plain LP of one slot with 50 servers and 20 jobs",
        draw=partial(_first_slot, servers=50, jobs=20),
        smoke=partial(_first_slot, servers=4, jobs=2),
        ways={
            "arrays": _built(plain_vne),
            "Pyomo": _built(embedding_program),
            "Pyomo, compiled": _built(lambda problem: compile_model(embedding_program(problem))),
            **_in_linopy(),
        },
    ),
    Benchmark(
        name="algorithm-1/coarse",
        title="Algorithm 1 of SMD on the largest of 20 jobs, eps = .1",
        draw=partial(smd.preset, "paper", jobs=20),
        smoke=partial(smd.preset, "random", limit=40),
        ways={
            "closed form": _searched(Planar, 0.1),
            "warm linear programs": _searched(LinearProgram, 0.1),
            "Pyomo models built anew": _searched(Rebuilt, 0.1),
        },
        seeds=3,
    ),
    Benchmark(
        name="algorithm-1/fine",
        title="the same, eps = .01",
        draw=partial(smd.preset, "paper", jobs=20),
        smoke=partial(smd.preset, "paper", jobs=1),
        ways={"closed form": _searched(Planar, 0.01)},
        aim="1 s",
        seeds=3,
    ),
    Benchmark(
        name="rounding/400",
        title="10^5 roundings of 400 variables against 400 rows",
        draw=partial(_rounding, rows=400),
        smoke=partial(_rounding, rows=20),
        ways={"sample_violations": _sampled, "the matrix product in it": _product},
        seeds=3,
    ),
    Benchmark(
        name="simulator/10000",
        title="10 000 jobs on 64 nodes of 4 devices; at events, Drf, Las and Hadar in rounds of 6 minutes",
        draw=partial(synthetic, jobs=10_000, nodes=64),
        smoke=partial(synthetic, jobs=20, nodes=3),
        ways={
            "FIFO": _over_time(lambda p: Fifo(), None),
            "FIFO, EASY backfill": _over_time(lambda p: Fifo(backfill="easy"), None),
            "Tiresias": _over_time(lambda p: Tiresias(), None),
            "SRTF": _over_time(lambda p: Srtf(), None),
            "DRF": _over_time(lambda p: Drf(), 360),
            "LAS": _over_time(lambda p: Las(), 360),
            "Hadar, incremental": _over_time(lambda p: Hadar(incremental=True), 360),
            "Hadar, incremental, printed prices": _over_time(
                lambda p: Hadar(incremental=True, prices=constants(p, "printed")), 360
            ),
        },
        aim="one policy within 10 minutes; 30 % of Hadar's rounds change (its Section IV-B)",
        seeds=1,
        limit=600.0,
    ),
    _growth(
        "hadar-decision/growth",
        "Hadar's decision in one round, by jobs, as many devices",
        _decision,
        (32, 64, 128, 256, 512, 1024, 2048),
        60.0,
        "2048 jobs within 5 s",
    ),
    _growth(
        "hadar-rounds/growth",
        "jobs on 64 nodes of 4 devices in Hadar's rounds of 6 minutes, incremental",
        _rounds,
        (39, 78, 156, 312, 625, 1250, 2500, 5000, 10_000),
        600.0,
        "10 000 jobs within 10 minutes",
    ),
    _growth(
        "pd-ors/growth",
        "a run of PD-ORS, by jobs; as many machines, a tenth as many slots",
        _pd_ors,
        _SIZES,
        600.0,
        "1000 jobs within 10 minutes",
    ),
    _growth(
        "pd-ors-contended/growth",
        "the same with half as many machines, each half as large: jobs are turned away",
        partial(_pd_ors, share=2, multiple=3),
        _SIZES,
        600.0,
        "1000 jobs within 10 minutes",
    ),
    _growth(
        "gadget/growth",
        "a run of GADGET, by jobs; as many servers and slots",
        _horizon,
        _SIZES,
        600.0,
        "1000 jobs within 10 minutes",
    ),
    _growth(
        "gadget-contended/growth",
        "the same by our own rules (filled) on an eighth as many servers",
        partial(_horizon, share=8, variant="filled"),
        _SIZES,
        600.0,
        "1000 jobs within 10 minutes",
    ),
)
