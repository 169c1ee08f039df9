"""The golden values of GADGET, by exhaustive search; those of the plain and augmented LPs stand elsewhere."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest

from dlsched.models.ddljs import Instance
from dlsched.models.numbers import agree
from tests.cases.ddljs import OFFLINE, RECORDS, SLOTS, built, expected, instance_data, job, problem
from tests.oracles import ddljs as oracle
from tests.oracles import ddljs_degrees as degrees
from tests.oracles.ddljs_lp import config_lp
from tests.oracles.ddljs_rules import total, violations

SINGLE_HOP = oracle.Rules(single_hop=True)
LITERAL = oracle.Rules(literal=True)
SUBTOURS = oracle.Rules(subtours=True)


def optimum(data: dict[str, Any], rules: oracle.Rules = oracle.CORRECTED) -> Fraction:
    return oracle.optimum(data, rules)[0]


def greedy(data: dict[str, Any], rules: oracle.Rules = oracle.CORRECTED) -> Fraction:
    """Return what Algorithm 1 ends with where it does not depend on ties."""
    worst, best = oracle.greedy(data, rules)
    assert agree(worst, best)
    return worst


BY_HORIZON: dict[str, Callable[[dict[str, Any]], Fraction]] = {
    "opt": optimum,
    "opt_all_paths": optimum,
    "opt_without_subtour_elimination": lambda data: optimum(data, SUBTOURS),
    "opt_literal_eq8": lambda data: optimum(data, LITERAL),
    "opt_single_hop": lambda data: optimum(data, SINGLE_HOP),
    "greedy": greedy,
    "greedy_min": lambda data: oracle.greedy(data)[0],
    "greedy_all_paths": greedy,
    "greedy_single_hop": lambda data: greedy(data, SINGLE_HOP),
}


def rings_of_two(name: str) -> Fraction:
    whole = problem(name)
    return oracle.best(whole.keeping([request.only(2) for request in whole.requests]))[0]


def phi(name: str) -> float:
    """Return the weight of every embedding of the configuration LP."""
    _, weights = config_lp(problem(name))
    (weight,) = {round(w, 9) for found in weights.values() for w, _ in found}
    return weight


def outcomes(name: str) -> list[tuple[Fraction, int, bool]]:
    """Return (probability, jobs embedded, some resource overloaded) of rounding each job with probability 1/2."""
    jobs, capacity = RECORDS[name]["jobs"], RECORDS[name]["nodes"]["s"]
    found = []
    for kept in itertools.product((False, True), repeat=len(jobs)):
        chosen = [fields["l"] for fields, keep in zip(jobs.values(), kept, strict=True) if keep]
        overloaded = any(sum(needs[r] for needs in chosen) > capacity[r] for r in capacity)
        found.append((Fraction(1, 2 ** len(jobs)), len(chosen), overloaded))
    return found


def beta(name: str) -> float:
    """Return 1 + eps sqrt(2 Delta ln |V|) of Theorem 8, for rings of one and eps = demand over capacity."""
    record = RECORDS[name]
    epsilon = max(fields["l"][r] / record["nodes"]["s"][r] for fields in record["jobs"].values() for r in fields["l"])
    delta = max(sum(1 for fields in record["jobs"].values() if fields["l"][r]) for r in record["nodes"]["s"])
    return epsilon * math.sqrt(2 * delta * math.log(len(record["nodes"]))) + 1


BY_SLOT: dict[str, Callable[[str], float | Fraction]] = {
    "ilp": lambda name: oracle.best(problem(name))[0],
    "ilp_with_ceil_q": lambda name: oracle.best(problem(name))[0],
    "ilp_ring2": rings_of_two,
    "config": lambda name: config_lp(problem(name))[0],
    "correct_opt": lambda name: optimum(floors()),
    "phi": phi,
    "P_zero": lambda name: sum(p for p, jobs, _ in outcomes(name) if not jobs),
    "P_any_overload": lambda name: sum(p for p, _, overloaded in outcomes(name) if overloaded),
    "beta": beta,
}

LP_VALUES = {"plain", "aug", "plain_cap", "aug_cap", "aug_cap_ring2"}


@pytest.mark.parametrize(("name", "key"), [(name, key) for name in OFFLINE for key in expected(name)])
def test_golden_horizons(name: str, key: str) -> None:
    assert agree(BY_HORIZON[key](instance_data(name)), expected(name)[key])


@pytest.mark.parametrize(
    ("name", "key"), [(name, key) for name in SLOTS for key in expected(name) if key not in LP_VALUES]
)
def test_golden_slots(name: str, key: str) -> None:
    assert agree(BY_SLOT[key](name), expected(name)[key])


@pytest.mark.parametrize("name", OFFLINE)
def test_golden_optima_have_feasible_schedules(name: str) -> None:
    data = instance_data(name)
    value, schedule = oracle.optimum(data)
    assert violations(data, schedule) == set()
    assert total(data, schedule) == value


@pytest.mark.parametrize("name", SLOTS)
def test_the_configuration_lp_bounds_the_optimum(name: str) -> None:
    whole = problem(name)
    assert config_lp(whole)[0] >= float(oracle.best(whole)[0]) - 1e-9


@pytest.mark.parametrize("name", OFFLINE)
def test_no_job_gets_more_than_the_instance_says_is_possible(name: str) -> None:
    """G12: its B gets four worker-slots, all that its budget pays for."""
    data = instance_data(name)
    instance = Instance.parse(data)
    _, schedule = oracle.optimum(data)
    for found in instance.jobs:
        slots = schedule["jobs"].get(found.name, {"slots": {}})["slots"]
        assert sum(sum(entry["workers"].values()) for entry in slots.values()) <= instance.most(found)


def floors() -> dict[str, Any]:
    """G16 as an instance: the budget pays for two worker-slots and a half."""
    return built({"s": 10}, [], job(max_workers=3, worker={"gpu": 2}, budget={"gpu": 5}))


PAIR = built({"a": 1, "b": 1}, [("a", "b", 1)], job())


def test_g2_on_a_shared_link() -> None:
    """Each direction takes 1 of what both have."""
    assert optimum(PAIR) == 2
    assert optimum(PAIR | {"duplex": "half"}) == 1
    assert optimum(PAIR | {"duplex": "half", "links": [{"source": "a", "target": "b", "bandwidth": 2}]}) == 2


def test_g6_with_equal_utilities_depends_on_ties() -> None:
    data = instance_data("G6")
    data["jobs"][0]["utility"] = job()["utility"]
    assert oracle.greedy(data) == (2, 3)
    assert optimum(data) == 3


def test_g6_with_utilities_that_may_be_negative() -> None:
    """log(.1 + x), A's times 1.01: the greedy ends below 0."""
    data = instance_data("G6")
    for found, scale in zip(data["jobs"], (1.01, 1, 1), strict=True):
        found["utility"] = {"kind": "log", "scale": scale, "offset": 0.1}
    assert float(greedy(data)) == pytest.approx(-2.1110, abs=5e-5)
    assert float(optimum(data)) == pytest.approx(0.2869, abs=5e-5)


@pytest.mark.parametrize(("servers", "ratio"), [(2, 0.751), (3, 0.668), (4, 0.627)])
def test_g12_with_fewer_servers(servers: int, ratio: float) -> None:
    data = instance_data("G12")
    gone = {f"{kind}{n}" for kind in "sA" for n in range(servers, 4)}
    data["nodes"] = [node for node in data["nodes"] if node["name"] not in gone]
    data["links"] = [link for link in data["links"] if not {link["source"], link["target"]} & gone]
    data["bandwidth_by_slot"] = {"2": [link | {"bandwidth": 0} for link in data["links"]]}
    data["jobs"] = [found for found in data["jobs"] if found["name"] not in gone]
    for found in data["jobs"]:
        slope = Fraction(1, servers) if found["name"] == "B" else Fraction(101, 100 * servers)
        found["utility"] = {"kind": "linear", "intercept": 0, "slope": f"-{slope}"}
    data["jobs"][0] |= {"max_workers": servers, "budget": {"g": servers}}
    assert float(greedy(data) / optimum(data)) == pytest.approx(ratio, abs=1e-3)


def test_g13_has_the_whole_ring_or_one_server_in_slot_2() -> None:
    data = instance_data("G13")
    sets = [set(oracle.joint(oracle.slot_of(data, t), SINGLE_HOP)) for t in (1, 2)]
    assert sets == [{(0,), (1,)}, {(0,), (1,), (5,)}]


def test_g15_over_two_slots() -> None:
    data = {
        "slots": 2,
        "resources": ["g", "m"],
        "nodes": [{"name": "s1", "capacity": {"g": 4, "m": 4}}, {"name": "s2", "capacity": {"g": 2, "m": 6}}],
        "links": [{"source": "s1", "target": "s2", "bandwidth": 1}],
        "duplex": True,
        "jobs": [
            job("A", max_workers=4, worker={"g": 1, "m": 2}, budget={"g": 4, "m": 8}, utility=root(1)),
            job("B", max_workers=3, worker={"g": 2, "m": 1}, budget={"g": 6, "m": 3}, utility=root(2)),
        ],
    }
    assert agree(optimum(data), 2 + 2 * math.sqrt(3))
    assert agree(greedy(data), 2 + 2 * math.sqrt(3))


def root(scale: int) -> dict[str, Any]:
    return {"kind": "sqrt", "scale": scale}


def test_jobs_bound_each_for_itself_get_more_than_by_the_joint_relaxation() -> None:
    """One server of 3: the relaxation of (10) gives all of it to the first job and leaves the second no ring."""
    triple = {"kind": "linear", "intercept": 0, "slope": -3}
    data = built({"s": 3}, [], job("1", max_workers=5, worker={"gpu": 2}, utility=triple), job("2", max_workers=5))
    assert optimum(data) == 4
    assert optimum(data | {"jobs": data["jobs"][:1]}) == 3


def test_degree_two_at_every_server() -> None:
    """(9) as printed asks it of servers without workers too; only idle relay servers make up for it."""
    links = [("a", "b", 1), ("b", "c", 1), ("c", "a", 1)]
    data = built({"a": 1, "b": 1, "c": 1}, links, job())
    assert optimum(data) == 2
    assert optimum(data, oracle.Rules(everywhere=True)) == 1
    assert optimum(data, oracle.Rules(everywhere=True, ghosts=True)) == 2


def test_literal_bandwidth_counts_one_path_for_all_its_jobs() -> None:
    """Two jobs on the same two servers use the same paths: (8) as printed sums these."""
    data = built({"a": 2, "b": 2}, [("a", "b", 1)], job("1"), job("2"))
    apart = {"kind": "table", "values": [0, 0, 1]}
    data["jobs"] = [found | {"placement": [["a"], ["b"]], "utility": apart} for found in data["jobs"]]
    assert optimum(data) == optimum(data, LITERAL) == 1


def test_undirected_degree_two_needs_two_paths() -> None:
    """Two servers of a tree have one path between them; of a cycle two."""
    star, ring = [("a", "x"), ("b", "x")], [("a", "x"), ("b", "x"), ("a", "b")]
    assert list(degrees.degree_two("ab", degrees.simple_paths(star))) == []
    assert list(degrees.degree_two("ab", degrees.simple_paths(ring))) == [{("a", "b"): 2}]


@pytest.mark.slow
def test_degree_two_is_not_one_cycle() -> None:
    """Two triangles need six servers; with parallel paths, and with directions, two pairs need four."""
    assert [n for n in range(3, 7) if degrees.falls_apart(n, 1)] == [6]
    assert [n for n in range(3, 7) if degrees.falls_apart(n, 2)] == [4, 5, 6]
    names = "abcdef"
    for n in range(2, 7):
        pairs = [(u, v, 1) for u, v in zip(names[:n:2], names[1:n:2], strict=False)]
        data = built(dict.fromkeys(names[:n], 1), pairs, job(max_workers=n))
        assert optimum(data) == 2
        assert optimum(data, SUBTOURS) == (n if n % 2 == 0 else n - 1)
