"""Exact certificates: random programs against enumeration, every kind of tampering, the known false certificates."""

from __future__ import annotations

import copy
import itertools
import json
import time
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any, Literal

import numpy as np
import pytest

from dlsched.algorithms import ExactCertificate, ExactProgram, ProgramBuilder, check_certificate, optimum
from dlsched.algorithms.exact import dispatch
from dlsched.algorithms.exact.certificates import Beaten, ExactProof, GaveUp, Refuted, prove_exactly, vipr_lines
from dlsched.algorithms.exact.certificates.certificate import Tree
from dlsched.algorithms.exact.certificates.check import check_tree
from dlsched.algorithms.exact.certificates.tree import prove
from dlsched.algorithms.exact.result import Proof
from dlsched.errors import InputError
from dlsched.halt import Halt, until
from dlsched.models import dmlrs, hadar, smd
from tests import paths
from tests.algorithms.exact.test_certify import TRUE, WRONG, golden
from tests.longer import longer
from tests.oracles.vipr import verified

WORK = 10**7
"""More than any of these programs takes."""

Kind = Literal["whole", "halves", "floats"]


def drawn(seed: int, kind: Kind) -> ExactProgram:
    """A program of two to five integer columns within small bounds, and up to four rows of any kind of sides."""
    rng = np.random.default_rng([seed, *kind.encode()])

    def number(low: int, high: int) -> Fraction:
        if kind == "floats":
            return Fraction(float(rng.uniform(low, high)))
        return Fraction(int(rng.integers(low, high + 1)), 1 if kind == "whole" else int(rng.integers(1, 4)))

    built = ProgramBuilder("none", "maximize" if seed % 2 else "minimize", number(-2, 2))
    n = int(rng.integers(2, 6))
    for j in range(n):
        low = int(rng.integers(-2, 1))
        built.column(f"x{j}", low + int(rng.integers(0, 4)), lower=low, cost=number(-5, 5), integer=True)
    for i in range(int(rng.integers(0, 5))):
        side, width = number(-4, 6), number(0, 3)
        lower, upper = [(None, side), (side, None), (side - width, side), (side, side)][
            rng.choice(4, p=[0.5, 0.2, 0.2, 0.1])
        ]
        terms = [(j, number(-4, 4)) for j in range(n) if rng.random() < 0.8]
        built.row(f"r{i}", terms, lower, upper)
    return built.program()


def all_but_met(program: ExactProgram, seed: int) -> ExactProgram:
    """The program with the sides of its rows moved by less than a solver sees, outwards or inwards."""
    rng = np.random.default_rng(seed)
    rows = []
    for row in program.rows:
        trifle = Fraction(int(rng.integers(-1, 2)), 10 ** int(rng.integers(9, 14)))
        sides = [None if side is None else side + trifle for side in (row.lower, row.upper)]
        rows.append(replace(row, lower=sides[0], upper=sides[1]))
    return replace(program, rows=tuple(rows))


def enumerated(program: ExactProgram) -> Fraction | None:
    """The optimum, by trying every point; None where there is none."""
    values = []
    for x in itertools.product(*(range(int(c.lower or 0), int(c.upper or 0) + 1) for c in program.columns)):
        for row in program.rows:
            activity = sum((a * x[j] for j, a in row.terms.items()), Fraction(0))
            if (row.lower is not None and activity < row.lower) or (row.upper is not None and activity > row.upper):
                break
        else:
            values.append(program.constant + sum(c.cost * v for c, v in zip(program.columns, x, strict=True)))
    best = max if program.sense == "maximize" else min
    return best(values, default=None)


@pytest.mark.parametrize("kind", ["whole", "halves", "floats"])
@pytest.mark.parametrize("seed", longer(range(150), *range(50, 150)))
def test_random_programs_are_proved_as_they_are(seed: int, kind: Kind) -> None:
    program = drawn(seed, kind)
    value = enumerated(program)
    sign = 1 if program.sense == "maximize" else -1
    tree = prove(program, value, work=WORK)
    assert check_tree(program, tree.nodes, tree.bound, tree.lattice) == (len(tree.nodes) + 1) // 2
    if value is None:
        assert tree.bound is None
    else:
        assert tree.bound is not None
        assert 0 <= sign * (tree.bound - value) <= Fraction(1, 10**11)
        if kind != "floats":
            assert tree.bound == value
        for wrong in (value - sign * Fraction(1, 100), None):
            with pytest.raises((GaveUp, Beaten)):
                prove(program, wrong, work=WORK)
    text = "\n".join(vipr_lines(program, tree.nodes, tree.bound, tree.lattice))
    name = "infeas" if value is None else "max" if sign > 0 else "min"
    assert verified(text) == (name, None if tree.bound is None else tree.bound - program.constant)


@pytest.mark.parametrize("seed", longer(range(150), *range(50, 150)))
def test_programs_with_rows_that_points_break_by_a_trifle_are_proved(seed: int) -> None:
    """A solver takes such points for feasible ones, and the best one for beaten: the search once went on for ever."""
    program = all_but_met(drawn(seed, "whole"), seed)
    value = enumerated(program)
    tree = prove(program, value, work=WORK)
    assert check_tree(program, tree.nodes, tree.bound, tree.lattice)
    assert tree.bound == value


@pytest.mark.parametrize("seed", range(40))
def test_no_tree_proves_less_than_the_optimum(seed: int) -> None:
    """The same leaves, told to prove a bound that the optimum exceeds."""
    program = drawn(seed, "halves")
    value = enumerated(program)
    if value is None:
        return
    tree = prove(program, value, work=WORK)
    wrong = value - (1 if program.sense == "maximize" else -1) * Fraction(1, 10**9)
    with pytest.raises(Refuted, match="beyond the bound"):
        check_tree(program, tree.nodes, wrong, tree.lattice)


def test_a_continuous_column_that_is_free_needs_no_bound() -> None:
    """By hand: y <= 2x + 1/3 - z with z = y - x is 2y <= 3x + 1/3, so that y is 5/3 at x = 1."""
    built = ProgramBuilder("none")
    x, y, z = built.binary("x"), built.column("y", lower=None, cost=1), built.column("z", lower=None)
    built.row("difference", [(z, 1), (y, -1), (x, 1)], 0, 0)
    built.row("most", [(y, 1), (x, -2), (z, 1)], upper=Fraction(1, 3))
    tree = prove(built.program(), Fraction(5, 3), work=WORK)
    assert tree.bound == Fraction(5, 3)
    assert check_tree(built.program(), tree.nodes, tree.bound, tree.lattice)


def test_limits_are_kept() -> None:
    program = drawn(3, "floats")
    with pytest.raises(GaveUp, match="no tree"):
        prove(program, enumerated(program), work=0)
    with pytest.raises(Halt), until(lambda: True):
        prove(program, enumerated(program), work=WORK)


# --- documents


def h6() -> tuple[hadar.Instance, ExactProof]:
    """A Hadar instance whose tree branches, and its proof."""
    for seed in range(100):
        instance = hadar.preset("random", seed, jobs=4, slots=4)
        found = optimum(instance).exact
        assert found is not None
        if len(found.tree.nodes) > 4 and found.tree.lattice is not None:
            return instance, found
    raise AssertionError("no seed has a tree that branches")


@pytest.fixture(scope="module")
def document() -> dict[str, Any]:
    """The JSON of a certificate."""
    data: dict[str, Any] = json.loads(json.dumps(h6()[1].document().dump()))
    return data


@pytest.mark.slow
def test_a_certificate_proves_its_value(document: dict[str, Any]) -> None:
    proved = check_certificate(ExactCertificate.parse(document))
    assert proved.value == proved.bound == Fraction(document["value"])
    assert proved.leaves == (len(document["nodes"]) + 1) // 2


def _leaf(data: dict[str, Any]) -> dict[str, str]:
    """The multipliers of the leaf that has the most."""
    leaves = [node["multipliers"] for node in data["nodes"] if "multipliers" in node]
    return dict_of(max(leaves, key=len))


def dict_of(leaf: Any) -> dict[str, str]:
    """Return a dict as such."""
    assert isinstance(leaf, dict)
    return leaf


def _first_branching(data: dict[str, Any]) -> int:
    return next(i for i, node in enumerate(data["nodes"]) if "column" in node)


def _multiplier(data: dict[str, Any]) -> None:
    leaf = _leaf(data)
    row = max(leaf, key=lambda row: abs(Fraction(leaf[row])))
    leaf[row] = str(Fraction(leaf[row]) * 10**6)


def _multiplier_sign(data: dict[str, Any]) -> None:
    leaf = _leaf(data)
    row = max(leaf, key=lambda row: abs(Fraction(leaf[row])))
    leaf[row] = str(-Fraction(leaf[row]))


def _no_such_row(data: dict[str, Any]) -> None:
    _leaf(data)["100000"] = "1"


def _bound(data: dict[str, Any]) -> None:
    data["bound"] = str(Fraction(data["bound"]) - Fraction(data["lattice"]))


def _bound_dropped(data: dict[str, Any]) -> None:
    del data["bound"]


def _value(data: dict[str, Any]) -> None:
    data["value"] = str(Fraction(data["value"]) + 1)


def _coarser_lattice(data: dict[str, Any]) -> None:
    data["lattice"] = str(Fraction(data["lattice"]) * 7)


def _negative_lattice(data: dict[str, Any]) -> None:
    data["lattice"] = "-1"


def _leaf_dropped(data: dict[str, Any]) -> None:
    del data["nodes"][-1]


def _branching_dropped(data: dict[str, Any]) -> None:
    del data["nodes"][_first_branching(data)]


def _branching_moved(data: dict[str, Any]) -> None:
    data["nodes"][_first_branching(data)]["at"] += 5


def _branching_on_nothing(data: dict[str, Any]) -> None:
    data["nodes"][_first_branching(data)]["column"] = 10**6


def _leaf_added(data: dict[str, Any]) -> None:
    data["nodes"].append(copy.deepcopy(data["nodes"][-1]))


def _said_to_be_empty(data: dict[str, Any]) -> None:
    node = next(node for node in data["nodes"] if "multipliers" in node)
    node["farkas"] = node.pop("multipliers")


def _job_dropped_from_the_schedule(data: dict[str, Any]) -> None:
    data["schedule"]["jobs"].popitem()


def _schedule_dropped(data: dict[str, Any]) -> None:
    del data["schedule"]


def _device_added(data: dict[str, Any]) -> None:
    machine = data["instance"]["machines"][0]
    machine["devices"] = {r: n + 3 for r, n in machine["devices"].items()}


def _device_added_with_its_digest(data: dict[str, Any]) -> None:
    """The digest is right again; now the cluster has room for what the leaves say it has not."""
    for machine in data["instance"]["machines"]:
        machine["devices"] = {r: n + 9 for r, n in machine["devices"].items()}
    data["sha256"] = hadar.Instance.parse(data["instance"]).digest


def _worth_more_with_its_digest(data: dict[str, Any]) -> None:
    for job in data["instance"]["jobs"]:
        job["utility"] = {"kind": "step", "value": 1000, "deadline": 100}
    data["sha256"] = hadar.Instance.parse(data["instance"]).digest


def _not_an_instance(data: dict[str, Any]) -> None:
    data["instance"]["jobs"][0]["gang"] = 10**6


def _digest(data: dict[str, Any]) -> None:
    data["sha256"] = "0" * 64


def _formulation(data: dict[str, Any]) -> None:
    data["formulation"] = "hadar/aggregate"


TAMPERED: dict[Callable[[dict[str, Any]], None], str] = {
    _multiplier: "node .*: its multipliers allow",
    _multiplier_sign: "node .*: (its multipliers allow|a multiplier goes with)",
    _no_such_row: "node .*: the program has only",
    _bound: "node .*: its multipliers allow|bound: ",
    _bound_dropped: "bound: ",
    _value: "schedule: is worth",
    _coarser_lattice: "lattice: ",
    _negative_lattice: "lattice: ",
    _leaf_dropped: "node .*: is missing",
    _branching_dropped: "node ",
    _branching_moved: "node ",
    _branching_on_nothing: "node .*: column 1000000 is not",
    _leaf_added: "node .*: stands behind the last leaf",
    _said_to_be_empty: "node .*: its ray does not show",
    _job_dropped_from_the_schedule: "schedule: is worth",
    _schedule_dropped: "schedule: is worth",
    _device_added: "instance: its digest",
    _device_added_with_its_digest: "node ",
    _worth_more_with_its_digest: "schedule: is worth",
    _not_an_instance: r"instance or schedule: jobs\[0\].gang",
    _digest: "instance: its digest",
    _formulation: "formulation: is hadar/hall",
}


@pytest.mark.parametrize("tamper", TAMPERED, ids=lambda tamper: tamper.__name__.strip("_"))
def test_tampering_is_caught(document: dict[str, Any], tamper: Callable[[dict[str, Any]], None]) -> None:
    data = copy.deepcopy(document)
    tamper(data)
    with pytest.raises(Refuted, match=f"^({TAMPERED[tamper]})"):
        check_certificate(ExactCertificate.parse(data))


@pytest.mark.parametrize("seed", range(60))
def test_random_tampering_never_proves_what_is_not_so(document: dict[str, Any], seed: int) -> None:
    """Whatever number is changed: either the checker refuses, or what it says is still true of the instance."""
    rng = np.random.default_rng(seed)
    data = copy.deepcopy(document)
    node = data["nodes"][rng.integers(len(data["nodes"]))]
    if "column" in node:
        node[str(rng.choice(["column", "at"]))] = int(rng.integers(-1, 40)) % 30
    else:
        leaf = next(iter(node.values()))
        leaf[str(rng.integers(0, 30))] = f"{rng.integers(-50, 50)}/{rng.integers(1, 9)}"
    try:
        proved = check_certificate(ExactCertificate.parse(data))
    except Refuted:
        return
    assert (str(proved.value), str(proved.bound)) == (document["value"], document["bound"])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"certificate": "dlsched-exact-2"}, "certificate"),
        ({"nodes": [{"multipliers": {"0": "1/0"}}]}, r"^nodes\[0\].multipliers.0: has denominator 0"),
        ({"nodes": [{"multipliers": {"0": 0.5}}]}, r'^nodes\[0\].multipliers.0: must be a string "p" or "p/q"'),
        ({"nodes": [{"multipliers": {"-1": "1"}}]}, "greater than or equal to 0"),
        ({"nodes": [{"column": 0, "at": 0.5}]}, r"^nodes\[0\].at: 0.5"),
        ({"bound": "9" * 5000}, "digits"),
        ({"bound": "nan"}, '"p/q"'),
        ({"more": 1}, "unknown field"),
    ],
)
def test_what_is_no_certificate_is_refused(document: dict[str, Any], change: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        ExactCertificate.parse(document | change)


def test_an_unknown_problem_is_bad_input(document: dict[str, Any]) -> None:
    with pytest.raises(InputError, match="problem"):
        check_certificate(ExactCertificate.parse(document | {"problem": "none"}))


def test_a_tree_of_any_depth_is_checked() -> None:
    """Branching on one column two thousand times, deeper than Python's calls may go."""
    built = ProgramBuilder("none")
    built.column("x", 3000, integer=True, cost=1)
    tree = prove(built.program(), Fraction(3000), work=WORK)
    (leaf,) = tree.nodes
    deep = [node for at in range(2000) for node in ({"column": 0, "at": at}, leaf.model_dump())]
    said = {"certificate": "dlsched-exact-1", "problem": "", "formulation": "", "sha256": "", "instance": {}}
    certificate = ExactCertificate.model_validate({**said, "nodes": [*deep, leaf.model_dump()]})
    assert check_tree(built.program(), certificate.nodes, Fraction(3000), None) == 2001


# --- the known false certificates


@pytest.mark.parametrize("name", ["false-dmlrs", "false-dmlrs2"])
def test_a_false_optimum_of_dmlrs_is_never_certified(name: str) -> None:
    """The value 1 was once proved by two routes that shared one matrix; a schedule is worth 5."""
    instance = dmlrs.Instance.load(paths.GOLDEN / f"{name}.json")
    found = optimum(instance)
    assert (found.value, found.proof) == (5.0, Proof.EXACT)
    poor = dmlrs.Schedule(jobs={})
    with pytest.raises((GaveUp, Beaten)):
        prove_exactly(instance, poor)
    best = found.schedule
    fewer = [best.without([job]) for job in best.jobs]
    assert all(float(dmlrs.utility(instance, plan)) < 5 for plan in fewer)
    for plan in fewer:
        with pytest.raises((GaveUp, Beaten)):
            prove_exactly(instance, plan)


def test_the_wrong_optimum_of_highs_is_never_certified() -> None:
    """Neither in floats nor as the rationals that the floats are; see `test_certify`."""
    matrix = golden()
    built = ProgramBuilder("none", "minimize")
    for j, cost in enumerate(matrix.c):
        upper = None if np.isinf(matrix.upper[j]) else Fraction(matrix.upper[j])
        built.column(f"x{j}", upper, cost=Fraction(cost), integer=bool(matrix.integer[j]))
    for i in range(len(matrix.row_lower)):
        entries = slice(matrix.A.indptr[i], matrix.A.indptr[i + 1])
        terms = zip(matrix.A.indices[entries].tolist(), map(Fraction, matrix.A.data[entries]), strict=True)
        sides = [None if np.isinf(side) else Fraction(side) for side in (matrix.row_lower[i], matrix.row_upper[i])]
        built.row(f"r{i}", terms, *sides)
    program = built.program()
    for value in (WRONG, (WRONG + TRUE) / 2):
        with pytest.raises((GaveUp, Beaten)):
            prove(program, -Fraction(value), work=WORK // 10)


def test_a_coefficient_that_solvers_drop_counts() -> None:
    """y <= 1e-10 x with x up to 1e12 allows y = 100; solvers once proved 0."""
    built = ProgramBuilder("none")
    x, y = built.column("x", 10**12), built.column("y", 1000, integer=True, cost=1)
    built.row("least", [(y, 1), (x, -Fraction(1, 10**10))], upper=0)
    assert prove(built.program(), Fraction(100), work=WORK).bound == 100
    for wrong in (0, 99):
        with pytest.raises((GaveUp, Beaten)):
            prove(built.program(), Fraction(wrong), work=WORK)


def test_a_schedule_that_is_not_the_best_is_beaten() -> None:
    instance, found = h6()
    assert found.schedule is not None
    with pytest.raises((GaveUp, Beaten)):
        prove_exactly(instance, hadar.Schedule(jobs={}))


def test_smd_says_what_its_proof_rests_on() -> None:
    instance = smd.preset("random", 3)
    found = optimum(instance)
    assert found.proof is Proof.EXACT
    assert found.exact is not None
    assert isinstance(found.exact.tree, Tree)
    proved = check_certificate(ExactCertificate.parse(found.exact.document().dump()))
    assert float(proved.value or 0) == found.value
    assert found.value == pytest.approx(found.bound, rel=1e-12)


@pytest.mark.slow
def test_time_for_a_certificate_that_is_not_found_is_time_after_the_first_proof(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def slow(instance: Any, schedule: Any, *, work: int) -> ExactProof:
        time.sleep(0.5)
        raise GaveUp("in the test")

    monkeypatch.setattr(dispatch, "prove_exactly", slow)
    found = optimum(hadar.preset("benchmark", 0, jobs=2, machines=2, types=2, slots=3))
    assert found.evidence[-1] == "not exact: in the test"
    assert found.seconds_proved > 0.5
