"""The plain, augmented and knapsack LPs of ring embeddings: golden values, order, symmetries, lifted optima."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pyomo.environ as pyo
import pytest

from dlsched.models import InputError, compile_model
from dlsched.models.ddljs import RingProblem, RingRequest, random, slot_problem
from dlsched.models.ddljs.gvne import embedding_program
from dlsched.models.ddljs.presets import benchmark
from dlsched.models.solve import solve
from dlsched.relaxations import TransformationRefused, augmented_vne, knapsack_vne, plain_vne, relax, select_rings
from dlsched.relaxations.conformance import Case, Kind, Relation, Transformation, check
from dlsched.relaxations.matrix_model import Key
from dlsched.relaxations.ring_lp import RingLp
from dlsched.solvers.solve import solve_matrix
from tests.cases import ddljs as cases
from tests.longer import longer
from tests.oracles.ddljs_slot import best

EXACT = 1e-7
PROGRAMS: dict[str, tuple[Callable[..., RingLp], bool]] = {
    "plain": (plain_vne, False),
    "aug": (augmented_vne, False),
    "plain_cap": (plain_vne, True),
    "aug_cap": (augmented_vne, True),
}
GOLDEN = [(name, value) for name in cases.SLOTS for value in PROGRAMS if value in cases.expected(name)]


def near(value: float) -> Any:
    return pytest.approx(value, rel=1e-7, abs=1e-7)


def optimum(lp: RingLp) -> float:
    """Solve, and let the residuals prove the optimum."""
    solution = lp.solve()
    assert max(lp.certify(solution).values()) < EXACT
    assert solution.value == near(
        sum(float(lp.problem.request(i).profit[k]) * x for (i, k), x in solution.weights.items())
    )
    return solution.value


def drawn(seed: int, placement: bool = False, **options: Any) -> RingProblem:
    """Return the first slot of a random instance; with placement, rings of one or two allowed sets a request."""
    rng = np.random.default_rng(seed)
    problem = slot_problem(random(rng, slots=1, resources=1 + seed % 2, half=seed % 3 == 0, **options), 1)
    if not placement:
        return problem
    servers = np.array(problem.servers)
    return problem.keeping(
        RingRequest(
            q.name,
            q.profit,
            q.demand,
            q.bandwidth,
            tuple(frozenset(rng.choice(servers, size=min(2, len(servers)), replace=False).tolist()) for _ in q.sizes),
        )
        for q in problem.requests
    )


@pytest.mark.parametrize(("name", "value"), GOLDEN)
def test_golden_values(name: str, value: str) -> None:
    program, cap = PROGRAMS[value]
    assert optimum(program(cases.problem(name), cap=cap)) == near(cases.expected(name)[value])


def test_ring_2_alone_of_two_servers_without_bandwidth() -> None:
    problem = cases.problem("G10")
    only = {"J": 2}
    assert optimum(plain_vne(problem, sizes=only, cap=True)) == near(2)
    assert optimum(augmented_vne(problem, sizes=only, cap=True)) == near(cases.expected("G10")["aug_cap_ring2"])
    assert optimum(augmented_vne(problem, sizes={"J": 1}, cap=True)) == near(1)


@pytest.mark.parametrize("placement", [False, True])
@pytest.mark.parametrize("seed", longer(range(40), *range(15, 40)))
def test_the_programs_are_in_order(seed: int, placement: bool) -> None:
    problem = drawn(seed, placement, servers=3, jobs=2 + seed % 2)
    plain, augmented = optimum(plain_vne(problem)), optimum(augmented_vne(problem))
    plain_cap, augmented_cap = optimum(plain_vne(problem, cap=True)), optimum(augmented_vne(problem, cap=True))
    whole = float(best(problem)[0])
    assert plain >= augmented - EXACT
    assert plain >= plain_cap - EXACT
    assert augmented >= augmented_cap - EXACT
    assert plain_cap >= augmented_cap - EXACT
    assert augmented_cap >= whole - EXACT
    if not placement:
        assert augmented == near(plain)
        for cap, value in ((False, plain), (True, plain_cap)):
            assert knapsack_vne(problem, cap=cap).solve().value == near(value)


@pytest.mark.parametrize("cap", [False, True])
@pytest.mark.parametrize("seed", range(15))
def test_the_plain_program_is_the_relaxation_of_the_formulation(seed: int, cap: bool) -> None:
    problem = drawn(seed, seed % 2 == 0, servers=3, jobs=2)
    relaxed = solve_matrix(compile_model(relax(embedding_program(problem, cap=cap)).model))
    assert optimum(plain_vne(problem, cap=cap)) == near(relaxed.summary.objective or 0.0)


@pytest.mark.parametrize("name", ["G9_cap1", "G14"])
@pytest.mark.parametrize("value", PROGRAMS)
def test_the_pyomo_model_has_the_same_rows(name: str, value: str) -> None:
    program, cap = PROGRAMS[value]
    lp = program(cases.problem(name), cap=cap)
    model = lp.model
    compiled = compile_model(model)
    assert solve(model).objective == near(lp.solve().value)
    rows = _places(model, lp.row_keys(), compiled.rows)
    columns = _places(model, lp.column_keys(), compiled.columns)
    assert sorted(rows) == list(range(lp.matrix.A.shape[0]))
    assert sorted(columns) == list(range(lp.matrix.A.shape[1]))
    assert np.array_equal(compiled.A.toarray()[np.ix_(rows, columns)], lp.matrix.A.toarray())
    assert np.array_equal(compiled.c[columns], lp.matrix.c)
    for side in ("row_lower", "row_upper"):
        assert np.array_equal(getattr(compiled, side)[rows], getattr(lp.matrix, side))


def _places(model: Any, keys: Iterator[Key], compiled: Sequence[Any]) -> list[int]:
    """Return where the components of the keys stand among compiled rows or columns."""
    place = {id(component): n for n, component in enumerate(compiled)}
    return [place[id(model.component(name)[index if len(index) > 1 else index[0]])] for name, index in keys]


@pytest.mark.parametrize("seed", range(15))
def test_recovered_points_are_fractional_embeddings(seed: int) -> None:
    problem = drawn(seed, seed % 2 == 1, servers=4, jobs=3, workers=4)
    for cap in (False, True):
        lp = augmented_vne(problem, cap=cap)
        solution = lp.solve()
        embedding = lp.recover(solution.point)
        embedding.check()
        assert embedding.profit == near(solution.value)
        for (name, size), ring in embedding.flows.items():
            assert ring.total == near(solution.weights[name, size])


@pytest.mark.slow
@pytest.mark.parametrize("cap", [False, True])
@pytest.mark.parametrize("program", [plain_vne, augmented_vne, knapsack_vne])
@pytest.mark.parametrize("seed", longer(range(6), *range(3, 6)))
def test_points_are_recovered_on_the_formulation(seed: int, program: Callable[..., Any], cap: bool) -> None:
    """From arrays and from the Pyomo model, of all ring sizes and of some: `dlsched.relaxations.conformance`."""
    problem = drawn(seed, seed % 2 == 1 and program is not knapsack_vne, servers=3, jobs=3)
    some = {request.name: max(request.profit) for request in problem.requests[:2]}
    for sizes in (None, some):
        check(
            Transformation(
                lambda given, sizes=sizes: program(given, sizes=sizes, cap=cap),
                program.__name__,
                Kind.RINGS,
                Relation.BOUND,
                refuses=frozenset(),
                duals=program is not augmented_vne,
            ),
            Case(lambda: problem, kind=Kind.RINGS),
        )
        lp = program(problem, sizes=sizes, cap=cap)
        solution = lp.solve()
        point = lp.recover(solution.point, solution.duals, load=True)
        assert pyo.value(lp.source.added_utility) == near(solution.value)
        prices = [point.duals[row] for row in lp.source.one_size.values() if row in point.duals]
        assert len(prices) == len(some if sizes else problem.requests)
        assert min(prices, default=0) >= -EXACT


@pytest.mark.parametrize("cap", [False, True])
@pytest.mark.parametrize("seed", longer(range(15), *range(6, 15)))
def test_knapsack_optima_are_optima_of_the_larger_programs(seed: int, cap: bool) -> None:
    problem = drawn(seed, servers=4, jobs=3, workers=4)
    for sizes in (None, {q.name: max(q.profit) for q in problem.requests[:2]}):
        knapsack = knapsack_vne(problem, sizes=sizes, cap=cap)
        solution = knapsack.solve()
        for larger in (plain_vne, augmented_vne)[: 1 if cap else 2]:
            lp = larger(problem, sizes=sizes, cap=cap)
            lifted = knapsack.lift(solution, lp)
            assert max(lp.certify(lifted).values()) < EXACT
            assert lifted.value == near(lp.simplex().value)
        augmented = augmented_vne(problem, sizes=sizes, cap=cap)
        duals = knapsack.lift_duals(solution, augmented)
        assert (augmented.matrix.c - augmented.matrix.A.T @ duals).max(initial=0.0) < EXACT
        assert float(augmented.matrix.row_upper @ duals) == near(solution.value)


@pytest.mark.parametrize("cap", [False, True])
@pytest.mark.parametrize("seed", range(15))
def test_all_ways_to_solve_agree(seed: int, cap: bool) -> None:
    problem = drawn(seed, True, servers=4, jobs=3, workers=4)
    lp = augmented_vne(problem, cap=cap)
    whole = lp.simplex()
    found = lp.solve()
    assert found.value == near(whole.value)
    assert found.method == "columns" or cap or not problem.requests
    assert max(lp.certify(found).values()) < EXACT
    plain = plain_vne(problem, cap=cap)
    bound = plain.solve()
    duals = plain.lift_duals(bound, lp)
    assert (lp.matrix.c - lp.matrix.A.T @ duals).max(initial=0.0) < EXACT
    assert float(lp.matrix.row_upper @ duals) == near(bound.value)


@pytest.mark.parametrize("unit", [Fraction(1, 10**12), Fraction(10) ** 25])
@pytest.mark.parametrize("seed", longer(range(15), *range(6, 15)))
def test_the_unit_of_utility_changes_nothing(seed: int, unit: Fraction) -> None:
    problem = drawn(seed, True, servers=4, jobs=3, workers=4)
    scaled = problem.keeping(
        replace(request, profit={k: unit * worth for k, worth in request.profit.items()})
        for request in problem.requests
    )
    expected, lp = augmented_vne(problem).solve(), augmented_vne(scaled)
    found = lp.solve()
    assert found.value / float(unit) == near(expected.value)
    assert found.method == expected.method
    residuals = lp.certify(found)
    assert residuals["primal"] < EXACT
    assert max(residuals["dual"], residuals["gap"]) < EXACT * float(unit)


@pytest.mark.slow
@pytest.mark.parametrize("tight", [False, True])
def test_benchmark_programs_are_solved_by_mappings(tight: bool) -> None:
    problem = slot_problem(benchmark(np.random.default_rng(1), servers=20, jobs=20, tight=tight), 1)
    lp = augmented_vne(problem, cap=True)
    solution = lp.solve()
    assert lp.matrix.A.shape[1] > 150_000
    assert solution.method == "columns"
    assert solution.value == near(knapsack_vne(problem, cap=True).solve().value)
    assert max(lp.certify(solution).values()) < EXACT
    lp.recover(solution.point).check()


@pytest.mark.parametrize(("name", "cap", "method"), [("G9_cap1", False, "columns"), ("G3_acc1", True, "simplex")])
def test_how_golden_values_are_found(name: str, cap: bool, method: str) -> None:
    """In G3 half of each of three spread pairs beats any mixture of mappings: only the whole program has the value."""
    assert augmented_vne(cases.problem(name), cap=cap).solve().method == method


@pytest.mark.parametrize("cap", [False, True])
@pytest.mark.parametrize("name", ["G9_cap1", "G9_cap1.5", "G14"])
def test_values_do_not_depend_on_names_and_roots(name: str, cap: bool) -> None:
    problem = cases.problem(name)
    rng = np.random.default_rng(3)
    nodes = list(problem.nodes)
    new = dict(zip(nodes, rng.permutation(nodes).tolist(), strict=True))
    order = rng.permutation(nodes).tolist()
    requests = [
        RingRequest(
            f"{q.name}'",
            q.profit,
            q.demand,
            q.bandwidth,
            q.allowed and tuple(frozenset(new[u] for u in q.allowed[a - 1]) for a in range(len(q.allowed))),
        )
        for q in reversed(problem.requests)
    ]
    renamed = RingProblem(
        {new[u]: problem.nodes[u] for u in order},
        tuple((tuple((new[u], new[v]) for u, v in arcs), limit) for arcs, limit in reversed(problem.shares)),
        tuple(requests),
    )
    assert optimum(augmented_vne(renamed, cap=cap)) == near(optimum(augmented_vne(problem, cap=cap)))
    assert optimum(plain_vne(renamed, cap=cap)) == near(optimum(plain_vne(problem, cap=cap)))


def line() -> RingProblem:
    """Return three servers in a line and two requests for rings of 1 to 3 nodes."""
    shares = tuple((((u, v),), Fraction(5)) for u, v in ("ab", "ba", "bc", "cb"))
    requests = (RingRequest(i, {k: Fraction(k) for k in (1, 2, 3)}, {"g": Fraction(1)}, Fraction(1)) for i in "AB")
    return RingProblem({u: {"g": Fraction(3)} for u in "abc"}, shares, tuple(requests))


def test_sizes() -> None:
    assert plain_vne(line()).matrix.A.shape[1] == 82
    assert augmented_vne(line()).matrix.A.shape[1] == 192
    assert augmented_vne(line(), sizes={"B": 2}).matrix.A.shape[1] == 36
    assert augmented_vne(line(), sizes={}).solve().value == 0


@pytest.mark.parametrize("seed", range(8))
def test_selected_rings_keep_their_part(seed: int) -> None:
    problem = drawn(seed, servers=3, jobs=3, workers=4, utility="concave")
    for cap in (False, True):
        solution = augmented_vne(problem, cap=cap).solve()
        selected = select_rings(problem, solution.weights)
        kept = sum(float(problem.request(i).profit[k]) * solution.weights[i, k] for i, k in selected.items())
        largest = max((len(q.sizes) for q in problem.requests), default=1)
        assert kept >= solution.value / largest - EXACT
        assert optimum(augmented_vne(problem, sizes=selected, cap=cap)) >= kept - EXACT
        means = select_rings(problem, solution.weights, "mean")
        assert set(means) == set(selected) == {q.name for q in problem.requests}


def test_ring_selection() -> None:
    problem = line()
    weights = {("A", 1): 0.6, ("A", 2): 0.3, ("A", 3): 0.1, ("B", 1): 0.0, ("B", 2): 0.1, ("B", 3): 0.9}
    assert select_rings(problem, weights) == {"A": 1, "B": 3}
    assert select_rings(problem, weights, "mean") == {"A": 1, "B": 2}
    assert select_rings(problem, {("A", 2): 0.0, ("A", 3): 0.0}) == {"A": 2}
    with pytest.raises(InputError, match="unknown rule 'median'"):
        select_rings(problem, weights, "median")
    for ring, weight, says in ((("C", 1), 1.0, r"\('C', 1\)"), (("A", 9), 1.0, "size"), (("A", 2), math.nan, "number")):
        with pytest.raises(InputError, match=f"^weights: .*{says}"):
            select_rings(problem, {ring: weight})


@pytest.mark.parametrize("unit", [Fraction(1, 10**9), Fraction(1), Fraction(10**9)])
def test_selected_rings_do_not_depend_on_the_unit_of_the_profit(unit: Fraction) -> None:
    """Of half of 1 and half of 6, and of 1/10 of 1 and 9/10 of 7, the larger pays more in any unit."""
    rings = {"A": {1: unit, 4: 6 * unit}, "B": {1: unit, 4: 7 * unit}}
    jobs = tuple(RingRequest(name, profit, {"g": Fraction(1)}, Fraction(0)) for name, profit in rings.items())
    weights = {("A", 1): 0.5, ("A", 4): 0.5, ("B", 1): 0.1, ("B", 4): 0.9}
    assert select_rings(RingProblem({"s": {"g": Fraction(6)}}, (), jobs), weights) == {"A": 4, "B": 4}


def test_what_is_refused() -> None:
    with pytest.raises(InputError, match="no request 'C' with ring size 1"):
        augmented_vne(line(), sizes={"C": 1})
    with pytest.raises(InputError, match="no request 'A' with ring size 4"):
        plain_vne(line(), sizes={"A": 4})
    with pytest.raises(TransformationRefused, match="placement of its own"):
        knapsack_vne(cases.problem("G9_cap1"))
    knapsack = knapsack_vne(line(), cap=True)
    with pytest.raises(InputError, match="can be below the knapsack LP"):
        knapsack.lift(knapsack.solve(), augmented_vne(line(), cap=True))
    plain = plain_vne(line())
    with pytest.raises(InputError, match="of the same problem, sizes and cap"):
        plain.lift_duals(plain.solve(), augmented_vne(line(), cap=True))
    with pytest.raises(InputError, match="not of the same problem"):
        knapsack.lift_duals(knapsack.solve(), plain_vne(line()))
