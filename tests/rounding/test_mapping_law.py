"""Exact laws of rounded mappings: the numbers of Theorem 8, enumeration, sampled frequencies, repeated draws."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from dlsched.bounds.statistics import clopper_pearson
from dlsched.errors import InputError
from dlsched.models.ddljs import random
from dlsched.models.ddljs.requests import RingProblem, RingRequest, slot_problem
from dlsched.models.ddljs.rings import RingMapping
from dlsched.rounding import (
    Acceptance,
    LinkRow,
    MappingLaw,
    NodeRow,
    Outcome,
    WeightedMapping,
    convolution,
    decompose,
    mapping_constants,
    mapping_law,
    round_mappings,
    sample_mappings,
)
from tests.cases.mappings import HALF, coins, odd_cycle, one, random_combination, random_problem, request, superpose
from tests.longer import longer

CONFIDENCE = 1 - 1e-6


def random_law(seed: int, requests: int = 3) -> tuple[RingProblem, dict[str, tuple[WeightedMapping, ...]]]:
    """Weighted mappings on a random substrate, weights of few digits."""
    rng = np.random.default_rng(seed)
    problem = random_problem(rng, requests=requests, half=bool(seed % 2))
    combination = {
        name: [(Fraction(round(weight * 60), 61), mapping) for weight, mapping in pairs]
        for name, pairs in random_combination(rng, problem, most=3).items()
    }
    return problem, decompose(superpose(problem, combination))


def fits(law: MappingLaw, outcome: Outcome) -> bool:
    """Whether an outcome keeps all capacities, computed from its mappings."""
    problem, used = law.table.problem, Counter[Any]()
    for wanted, option in zip(problem.requests, outcome.chosen, strict=True):
        if option.chosen is not None:
            for node, count in option.chosen.mapping.counts().items():
                used.update({(node, r): need * count for r, need in wanted.demand.items()})
            used.update({arc: wanted.bandwidth * n for arc, n in option.chosen.mapping.loads().items()})
    nodes = all(used[u, r] <= capacity.get(r, 0) for u, capacity in problem.nodes.items() for r in problem.resources)
    return nodes and all(sum(used[arc] for arc in arcs) <= limit for arcs, limit in problem.shares)


@pytest.mark.parametrize(
    ("jobs", "nodes", "beta", "expected"),
    [
        (4, 3, 2.482303807, 0.0),
        (8, 3, 2.048147074, 0.0),
        (16, 3, 1.741151904, 0.0020904541),
        (32, 3, 1.524073537, 0.0010512008),
        (64, 3, 1.370575952, 0.0018449821),
        (32, 10, 1.758713565, 1.278007403e-6),
    ],
)
def test_theorem_8_on_one_node(jobs: int, nodes: int, beta: float, expected: float) -> None:
    """Binomial tails of n fair coins on a server with room for n/2: beta = 1 + sqrt(8 ln|V| / n)."""
    problem, weighted = coins(jobs, nodes)
    constants = mapping_constants(problem)
    assert constants.beta["g"] == pytest.approx(beta, abs=1e-8)
    assert constants.beta["g"] == pytest.approx(1 + math.sqrt(8 * math.log(nodes) / jobs))
    exceeded = MappingLaw(problem, weighted).violation("n0", "g", factor=constants.beta["g"], reaches=True)
    least = math.ceil(constants.beta["g"] * jobs / 2)
    assert exceeded == Fraction(sum(math.comb(jobs, k) for k in range(least, jobs + 1)), 2**jobs)
    assert float(exceeded) == pytest.approx(expected, abs=1e-9)
    assert exceeded <= constants.node_bound


def test_odd_cycle() -> None:
    """G8, by hand: of three fair coins, at most one head keeps the capacities."""
    problem, weighted = odd_cycle()
    law, constants = MappingLaw(problem, weighted), mapping_constants(problem)
    assert constants.beta == pytest.approx(dict.fromkeys("pqr", 3.09629414793641))
    assert (constants.delta, constants.gamma) == (dict.fromkeys("pqr", 2), 1.0)
    assert law.table.expected_profit == Fraction(3, 2)
    assert law.profit() == {0: Fraction(1, 8), 1: Fraction(3, 8), 2: Fraction(3, 8), 3: Fraction(1, 8)}
    assert law.profit_below(0.5) == Fraction(1, 8)
    assert law.accepted() == HALF
    assert law.violation("s", "p") == Fraction(1, 4)
    assert law.violation("s", "p", factor=constants.beta["p"], reaches=True) == 0
    profitable = Acceptance(least_profit=0.5, node=dict.fromkeys("pqr", 9))
    overloaded = law.accepted(profitable) - law.accepted(Acceptance(least_profit=0.5))
    assert overloaded / law.accepted(profitable) == Fraction(4, 7)


def test_returned_draws_of_the_odd_cycle() -> None:
    """Choosing by profit makes overloads likelier: 4/7 in the limit of many draws, and 1 for the best draw."""
    problem, weighted = odd_cycle()
    law = MappingLaw(problem, weighted)
    profitable = Acceptance(least_profit=0.5, node=dict.fromkeys("pqr", 9))
    overload = [
        sum(o.probability for o in law.returned(profitable, rounds) if not fits(law, o)) for rounds in (1, 2, 30)
    ]
    assert overload[:2] == [HALF, Fraction(9, 16)]
    assert overload[2] == pytest.approx(Fraction(4, 7))
    best = [sum(o.probability for o in law.best(rounds) if not fits(law, o)) for rounds in (1, 2)]
    assert best == [HALF, Fraction(3, 4)]
    assert law.accepted(profitable, rounds=3) == 1 - Fraction(1, 8) ** 3


@pytest.mark.parametrize("seed", longer(range(25), *range(9, 25)))
def test_laws_against_enumeration(seed: int) -> None:
    problem, weighted = random_law(seed)
    law = MappingLaw(problem, weighted)
    outcomes = list(law.outcomes())
    assert sum(o.probability for o in outcomes) == 1
    profits: Counter[Fraction] = Counter()
    for o in outcomes:
        profits[o.profit] += o.probability
    assert law.profit() == dict(profits)
    mean = sum((value * p for value, p in profits.items()), Fraction(0))
    assert law.table.expected_profit == mean
    assert law.profit_below(mean) == sum((p for value, p in profits.items() if value < mean), Fraction(0))
    assert law.accepted() == sum((o.probability for o in outcomes if fits(law, o)), Fraction(0))
    accept = Acceptance(mean, dict.fromkeys(problem.resources, Fraction(3, 2)), Fraction(6, 5))
    good = [o for o in outcomes if accept.accepts(law.table, o.chosen)]
    assert law.accepted(accept) == sum((o.probability for o in good), Fraction(0))
    for row in law.table.rows:
        loads: Counter[Fraction] = Counter()
        for o in outcomes:
            loads[law.table.loads(o.chosen).get(row, Fraction(0))] += o.probability
        assert law.load(row) == dict(loads)
        limit = Fraction(3, 4) * law.table.capacity[row]
        above = sum((p for load, p in loads.items() if load > limit), Fraction(0))
        assert law.violation(row, factor=Fraction(3, 4)) == above
        reached = sum((p for load, p in loads.items() if load >= limit), Fraction(0))
        assert law.violation(row, factor=Fraction(3, 4), reaches=True) == reached


@pytest.mark.parametrize("seed", longer(range(10), *range(6, 10)))
@pytest.mark.parametrize("rounds", [1, 2, 5])
def test_law_of_algorithm_2(seed: int, rounds: int) -> None:
    """What convolutions say of the returned solution agrees with its law, listed outcome by outcome."""
    problem, weighted = random_law(seed)
    law = MappingLaw(problem, weighted)
    accept = Acceptance(law.table.expected_profit / 3, dict.fromkeys(problem.resources, Fraction(5, 4)), Fraction(1))
    returned = law.returned(accept, rounds)
    assert sum(o.probability for o in returned) == 1
    kept = sum((o.probability for o in returned if accept.accepts(law.table, o.chosen)), Fraction(0))
    assert kept == law.accepted(accept, rounds)
    mean = law.table.expected_profit
    below = sum((o.probability for o in returned if o.profit < mean), Fraction(0))
    assert law.profit_below(mean, acceptance=accept, rounds=rounds) == below
    for row in law.table.rows[:4]:
        capacity = law.table.capacity[row]
        over = (o.probability for o in returned if law.table.loads(o.chosen).get(row, Fraction(0)) > capacity)
        assert law.violation(row, acceptance=accept, rounds=rounds) == sum(over, Fraction(0))
    beyond = accept.limits(law.table)
    for row in law.table.rows[:4]:
        factor = beyond[row] / law.table.capacity[row]
        assert law.violation(row, factor=factor, acceptance=accept, rounds=rounds) <= law.violation(row, factor=factor)


@pytest.mark.slow
@pytest.mark.parametrize("trials", longer([500, 1500], 1500))
@pytest.mark.parametrize("rule", ["once", "accepted", "best"])
def test_draws_follow_their_law(rule: str, trials: int) -> None:
    problem, weighted = random_law(4)
    law, rng = MappingLaw(problem, weighted), np.random.default_rng(9)
    accept = Acceptance(law.table.expected_profit, dict.fromkeys(problem.resources, Fraction(2)), Fraction(2))
    laws = {"once": list(law.outcomes()), "accepted": law.returned(accept, 3), "best": law.best(3)}
    expected: Counter[Any] = Counter()
    for o in laws[rule]:
        expected[tuple(option.chosen for option in o.chosen)] += o.probability
    drawn: Counter[Any] = Counter()
    for _ in range(trials):
        found = round_mappings(problem, weighted, rng, rule=rule, rounds=3, acceptance=accept).chosen
        drawn[tuple(found.get(r.name) for r in problem.requests)] += 1
    assert set(drawn) <= set(expected)
    for outcome, probability in expected.items():
        estimate = clopper_pearson(drawn[outcome], trials, CONFIDENCE)
        assert estimate.low <= probability <= estimate.high


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(6))
def test_samples_follow_the_laws(seed: int) -> None:
    problem, weighted = random_law(seed, requests=5)
    law, trials = MappingLaw(problem, weighted), 20_000
    sample = sample_mappings(problem, weighted, np.random.default_rng(seed), trials)
    mean = law.table.expected_profit
    accept = Acceptance(mean, dict.fromkeys(problem.resources, 1.5), 1.5)
    events = [
        (sample.accepted(), law.accepted()),
        (sample.accepted(accept), law.accepted(accept)),
        (sample.profits < float(mean) - 1e-9, law.profit_below(mean)),
    ]
    beyond = sample.beyond()
    events += [(beyond[:, i], law.violation(row)) for i, row in enumerate(sample.rows)]
    for happened, probability in events:
        estimate = clopper_pearson(int(happened.sum()), trials, CONFIDENCE)
        assert estimate.low <= probability <= estimate.high
    for draw in range(30):
        chosen = sample.chosen(draw)
        loads = law.table.loads(chosen)
        assert sample.loads[draw] == pytest.approx([float(loads.get(row, 0)) for row in sample.rows])
        assert sample.accepted()[draw] == Acceptance().accepts(law.table, chosen)
        ratios = [float(load / law.table.capacity[row]) for row, load in loads.items()]
        assert sample.overload[draw] == pytest.approx(max(ratios, default=0.0))


def test_samples_are_compared_exactly() -> None:
    """Ten thirds of 0.3 fill a server of 1 exactly; one more third does not fit. Huge denominators do not overflow."""
    for needs in (Fraction(1, 10), Fraction(1, 2**90 + 1)):
        jobs = 11
        wanted = [RingRequest(f"j{i}", {1: Fraction(1)}, {"g": needs}, Fraction(0)) for i in range(jobs)]
        problem = RingProblem({"s": {"g": 10 * needs}}, (), tuple(wanted))
        for n, fit in ((10, True), (11, False)):
            whole = {r.name: (WeightedMapping(Fraction(1), 1, one("s")),) for r in wanted[:n]}
            sample = sample_mappings(problem, whole, np.random.default_rng(0), 3)
            assert sample.accepted().tolist() == [fit] * 3
            assert MappingLaw(problem, whole).accepted() == fit


@pytest.mark.slow
@pytest.mark.parametrize("least", range(1, 11))
def test_a_least_profit_in_tenths_is_met_exactly(least: int) -> None:
    """Eight times 0.1 is 0.8, though floats add up to less: draws are accepted as often as the law says."""
    names, profit = [f"j{k}" for k in range(10)], {1: Fraction(1, 10)}
    wanted = [RingRequest(name, profit, {"g": Fraction(1)}, Fraction(0)) for name in names]
    problem = RingProblem({"s": {"g": Fraction(10)}}, (), tuple(wanted))
    weighted = {name: [WeightedMapping(HALF, 1, one("s"))] for name in names}
    acceptance = Acceptance(least_profit=Fraction(least, 10))
    exact = MappingLaw(problem, weighted).accepted(acceptance)
    assert exact == Fraction(sum(math.comb(10, k) for k in range(least, 11)), 2**10)
    sample = sample_mappings(problem, weighted, np.random.default_rng(least), 3000)
    made = [acceptance.accepts(sample.table, sample.chosen(draw)) for draw in range(3000)]
    assert sample.accepted(acceptance).tolist() == made
    interval = clopper_pearson(sum(made), 3000, CONFIDENCE)
    assert interval.low <= exact <= interval.high


def test_floats_are_the_fractions_that_are_meant() -> None:
    """Three requests of .1 of a node of .3, ten weights of .1: all fit, and the weights add up to 1."""
    wanted = tuple(RingRequest(f"j{k}", {1: 0.3}, {"g": np.float64(0.1)}, 0.2) for k in range(3))
    problem = RingProblem({"s": {"g": 0.3}}, (), wanted)
    weighted = {r.name: [WeightedMapping(0.1, 1, one("s"))] * 10 for r in wanted}
    law = MappingLaw(problem, weighted)
    assert (law.accepted(), law.profit()) == (1, {Fraction(9, 10): 1})
    assert sample_mappings(problem, weighted, 1, 20).accepted(Acceptance(least_profit=0.9)).all()
    with pytest.raises(InputError, match=r"^weight: must be a finite number, not nan$"):
        WeightedMapping(math.nan, 1, one("s"))


def test_zero_capacities() -> None:
    """P(A >= beta * 0) is 1 as printed; nothing is above 0 there."""
    problem, weighted = odd_cycle()
    law = MappingLaw(problem, weighted)
    assert law.violation("d1", "p", factor=3, reaches=True) == 1
    assert law.violation("d1", "p", factor=3) == 0


def test_half_duplex_links_add_both_directions() -> None:
    ring = RingMapping(("a", "b"), (("a", "b"), ("b", "a")))
    share = ((("a", "b"), ("b", "a")), Fraction(1))
    problem = RingProblem({u: {"g": Fraction(1)} for u in "ab"}, (share,), (request("r", {2: 1}, g=1),))
    law = MappingLaw(problem, {"r": [WeightedMapping(HALF, 2, ring)]})
    assert law.load(("b", "a")) == law.load(("a", "b")) == {0: HALF, 2: HALF}
    assert law.violation(("a", "b")) == HALF
    assert law.table.rows == (NodeRow("a", "g"), NodeRow("b", "g"), LinkRow(share[0]))
    for bad in (("a", "c"), "z"):
        with pytest.raises(KeyError, match="there is no row"):
            law.load(bad, "g")


def test_constants_by_hand() -> None:
    """Two requests on two servers and a switch; r's ring of 3 needs 2 of 4 GPUs a worker, s's ring of 2 needs 1."""
    nodes = {"a": {"g": Fraction(4)}, "b": {"g": Fraction(1)}, "x": {}}
    shares = ((("a", "x"), Fraction(4)), (("x", "a"), Fraction(1)))
    shares = tuple(((arc,), limit) for arc, limit in shares)
    problem = RingProblem(nodes, shares, (request("r", {1: 1, 3: 5}, 2, g=2), request("s", {2: 1}, 1, g=1)))
    found = mapping_constants(problem)
    assert (found.epsilon, found.epsilon_links) == ({"g": 1}, 1)
    assert (found.delta, found.delta_links) == ({"g": 3**2 + 2**2}, 3**2 + 2**2)
    assert found.beta["g"] == pytest.approx(1 + math.sqrt(2 * 13 * math.log(3)))
    assert found.gamma == pytest.approx(1 + math.sqrt(2 * 13 * math.log(2)))
    assert mapping_constants(problem, caps=True).delta == {"g": 2**2 + 2**2}
    single = mapping_constants(problem, {"r": 1, "s": 2}, epsilon=HALF)
    assert (single.delta, single.delta_links, single.epsilon) == ({"g": 1 + 2**2}, 2**2, {"g": HALF})
    assert found.miss == pytest.approx(math.exp(-2 / 9) + 1 / 27 + 1 / 8)
    accept = found.acceptance(2)
    assert accept.limit(NodeRow("a", "g"), Fraction(4)) == Fraction(found.beta["g"]) * 4
    assert accept.limit(LinkRow((("a", "x"),)), Fraction(4)) == Fraction(found.gamma) * 4


def test_limits_on_size(monkeypatch: pytest.MonkeyPatch) -> None:
    problem, weighted = coins(16)
    law = MappingLaw(problem, weighted)
    monkeypatch.setattr(mapping_law, "MAX_OUTCOMES", 2**15)
    with pytest.raises(InputError, match="more than 32768 outcomes"):
        list(law.outcomes())
    monkeypatch.setattr(convolution, "MAX_SUMS", 4)
    with pytest.raises(InputError, match="more than 4 distinct partial sums"):
        law.profit()
    law = MappingLaw(*odd_cycle())
    with pytest.raises(InputError, match="rounds: 0 must be at least 1"):
        law.returned(Acceptance(), 0)
    with pytest.raises(InputError, match="rounds: 0 must be at least 1"):
        law.best(0)
    with pytest.raises(InputError, match="rounds: -1 must not be negative"):
        law.accepted(rounds=-1)


@pytest.mark.parametrize("caps", [False, True])
@pytest.mark.parametrize("seed", range(6))
def test_constants_are_their_definitions_over_every_node_and_link(seed: int, caps: bool) -> None:
    """Sums over kinds of servers, and the least limit that carries a ring, give what loops over all of them do."""
    instance = random(seed, jobs=6, servers=9, resources=2, workers=4)
    problem = slot_problem(instance, instance.slots)
    if seed == 5:
        problem = problem.keeping(replace(r, allowed=(frozenset(problem.servers[:2]),) * 4) for r in problem.requests)
    found = mapping_constants(problem, caps=caps)
    largest = [(request, max(request.profit)) for request in problem.requests]
    for r in problem.resources:
        needy = [(request, k) for request, k in largest if request.demand.get(r)]
        valid = {(q.name, u) for q, _ in needy for u in problem.servers if problem.room(q, u) and _may(q, u)}
        shares = [q.demand[r] / problem.nodes[u][r] for q, _ in needy for u in problem.servers if (q.name, u) in valid]
        held = [
            sum(min(k, problem.room(q, u) if caps else k) ** 2 for q, k in needy if (q.name, u) in valid)
            for u in problem.servers
        ]
        assert (found.epsilon[r], found.delta[r]) == (max(shares, default=0), max(held, default=0))
    carried = [
        [(q.bandwidth / limit, k * k) for q, k in largest if k > 1 and 0 < q.bandwidth <= limit]
        for _, limit in problem.shares
    ]
    assert found.epsilon_links == max((share for each in carried for share, _ in each), default=0)
    assert found.delta_links == max((sum(k for _, k in each) for each in carried), default=0)


def _may(asked: RingRequest, node: str) -> bool:
    return asked.allowed is None or node in asked.allowed[0]


@pytest.mark.parametrize("number", [float, np.float64, Fraction])
def test_a_limit_reached_exactly_is_kept_however_its_number_is_written(number: Any) -> None:
    """1.2 is 6/5: of a capacity of 5 that allows 6, which its binary value, a little less, does not."""
    factor, least = number("1.2") if number is not Fraction else Fraction(6, 5), number(Fraction(3, 5))
    jobs = [RingRequest(name, {1: Fraction(3, 10)}, {"g": Fraction(3)}, Fraction(0)) for name in "ab"]
    problem = RingProblem({"s": {"g": Fraction(5)}}, (), jobs)
    weighted = {name: [WeightedMapping(Fraction(1), 1, RingMapping(("s",), ()))] for name in "ab"}
    law, acceptance = MappingLaw(problem, weighted), Acceptance(least, {"g": factor}, factor)
    assert law.accepted(acceptance) == 1
    assert law.violation("s", "g", factor=factor) == law.profit_below(least) == 0
    assert law.violation("s", "g", factor=factor, reaches=True) == 1
    assert round_mappings(problem, weighted, 0, acceptance=acceptance).accepted
    assert sample_mappings(problem, weighted, 0, 1).accepted(acceptance).all()
    assert mapping_constants(problem, epsilon=factor).epsilon == {"g": Fraction(6, 5)}


def test_a_limit_that_is_no_number_is_refused_by_its_name() -> None:
    law = MappingLaw(*odd_cycle())
    for bad in ({"node": dict.fromkeys("pqr", math.inf)}, {"least_profit": math.nan}):
        with pytest.raises(InputError, match=rf"^{next(iter(bad))}.*finite number"):
            law.accepted(Acceptance(**bad))
