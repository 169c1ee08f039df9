"""Optima in any unit of utility, and of resources: the same schedule, the same proof; and instances that were wrong."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

from dlsched.algorithms import optimum
from dlsched.algorithms.algorithm import exact_method
from dlsched.algorithms.exact import dispatch
from dlsched.algorithms.exact.anytime import Bracket
from dlsched.algorithms.exact.ddljs import embed
from dlsched.algorithms.exact.dmlrs.fragmented import solve_fragmented
from dlsched.algorithms.exact.result import Proof
from dlsched.models import ddljs, dmlrs, hadar, smd
from dlsched.models.ddljs.requests import slot_problem
from tests import paths

GOLDEN = paths.GOLDEN
PROBLEMS = {"hadar": hadar, "dmlrs": dmlrs, "ddljs": ddljs, "smd": smd}
AMOUNTS = ("values", "height", "scale", "intercept", "slope", "value")


def times(value: Any, factor: Fraction) -> Any:
    if isinstance(value, list):
        return [times(each, factor) for each in value]
    return str(Fraction(str(value)) * factor)


def in_utility_unit(data: dict[str, Any], factor: Fraction) -> dict[str, Any]:
    """The instance with all utilities multiplied."""
    data = json.loads(json.dumps(data))
    for job in data["jobs"]:
        job["utility"] = {k: times(v, factor) if k in AMOUNTS else v for k, v in job["utility"].items()}
    return data


def in_resource_unit(data: dict[str, Any], factor: Fraction) -> dict[str, Any]:
    """The instance with all capacities and needs multiplied."""
    data = json.loads(json.dumps(data))
    for holder in (*data.get("machines", ()), *data.get("nodes", ()), *data["jobs"], data):
        for field in ("capacity", "worker", "server", "limit", "budget"):
            if isinstance(holder.get(field), dict):
                holder[field] = {r: times(v, factor) for r, v in holder[field].items()}
    return data


@pytest.mark.parametrize("problem", PROBLEMS)
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("factor", [Fraction(1, 10**9), Fraction(10**9), Fraction(10**20), Fraction(1, 7)], ids=str)
def test_the_unit_of_utility_is_no_matter(problem: str, seed: int, factor: Fraction) -> None:
    models: Any = PROBLEMS[problem]
    data = models.preset("random", seed).dump()
    before = optimum(models.Instance.parse(data))
    after = optimum(models.Instance.parse(in_utility_unit(data, factor)))
    assert before.proved
    assert after.proved
    assert after.schedule.dump() == before.schedule.dump()
    assert after.value == pytest.approx(before.value * float(factor), rel=1e-12, abs=0)
    assert after.bound == pytest.approx(before.bound * float(factor), rel=1e-9, abs=0)


@pytest.mark.parametrize("problem", ["dmlrs", "ddljs", "smd"])
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("factor", [Fraction(1, 10**9), Fraction(10**12), Fraction(1000, 1024**3)], ids=str)
def test_the_unit_of_resources_is_no_matter(problem: str, seed: int, factor: Fraction) -> None:
    models: Any = PROBLEMS[problem]
    data = models.preset("random", seed).dump()
    before = optimum(models.Instance.parse(data))
    after = optimum(models.Instance.parse(in_resource_unit(data, factor)))
    assert before.proved
    assert after.proved
    assert after.value == pytest.approx(before.value, rel=1e-9)


def test_evidence_and_progress_are_told_in_the_instance_s_own_unit() -> None:
    data = json.loads((GOLDEN / "dmlrs-small-units.json").read_text())
    told: list[tuple[float, float]] = []
    large = dmlrs.Instance.parse(in_utility_unit(data, Fraction(10**12)))
    found = optimum(large, progress=lambda phase, value, bound: told.append((value, bound)))
    assert (found.value, found.proved) == (5e12, True)
    assert any("5e+12" in line for line in found.evidence)
    assert told[-1] == pytest.approx((5e12, 5e12))
    assert all(type(line) is str for line in json.loads(json.dumps(found.evidence)))


def test_evidence_of_one_slot_is_told_as_utility() -> None:
    """A job is worth something that gets nothing; the slot's profits are beyond that."""
    found = optimum(ddljs.Instance.load(GOLDEN / "ddljs-worth-something-idle.json"))
    amounts = [part for line in found.evidence for part in getattr(line, "parts", ()) if isinstance(part, float)]
    assert amounts
    assert min(amounts) >= found.value


@pytest.mark.parametrize("factor", [Fraction(1, 10**9), Fraction(10**9)], ids=str)
def test_the_unit_of_a_slot_s_profits_is_no_matter(factor: Fraction) -> None:
    data = ddljs.preset("benchmark", 1, servers=5, jobs=5, tight=True).dump()
    before = embed(slot_problem(ddljs.Instance.parse(data), 1))
    after = embed(slot_problem(ddljs.Instance.parse(in_utility_unit(data, factor)), 1))
    assert (before.proved, after.proved) == (True, True)
    assert after.value == pytest.approx(before.value * float(factor), rel=1e-9, abs=0)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("false-dmlrs", 5.0),
        ("false-dmlrs2", 5.0),
        ("dmlrs-small-units", 5.0),
        ("dmlrs-float2", 1.0),
        ("dmlrs-bytes", 0.35),
    ],
)
def test_instances_that_were_proved_wrongly_or_not_at_all(name: str, value: float) -> None:
    """By hand: what fits runs, the more useful first; as it was, 1 was proved where 5 is feasible, or nothing was."""
    instance = dmlrs.Instance.load(GOLDEN / f"{name}.json")
    found = optimum(instance)
    assert (found.value, found.proved) == (value, True)
    assert found.bound == pytest.approx(value)
    assert dmlrs.check(instance, found.schedule) == []


def test_amounts_without_a_common_unit_are_packed() -> None:
    """By hand: both jobs, worth 1 each, fit. As one integer, a need is between 2^63 and 2^64: once an error."""
    instance = dmlrs.Instance.load(GOLDEN / "dmlrs-no-common-unit.json")
    assert optimum(instance, work=0).value == 2
    schedule, bound, _ = solve_fragmented(instance, exact=True)
    assert (dmlrs.utility(instance, schedule), dmlrs.check(instance, schedule)) == (2, [])
    assert bound == pytest.approx(2)


def test_what_solvers_miss_is_read_from_the_exact_program() -> None:
    """By hand: on the one machine the job, worth 1, is done; 3e9 beside 1 is too much for the solvers' tolerances."""
    instance = dmlrs.Instance.load(GOLDEN / "dmlrs-async-fast-links.json")
    found = optimum(instance)
    assert (found.value, found.bound, found.proof) == (1, 1, Proof.EXACT)
    assert dmlrs.check(instance, found.schedule) == []


def test_rings_that_solvers_miss_are_read_from_the_exact_program() -> None:
    """By exhaustive search; needs are off thousandths of the one server by 1e-12."""
    instance = ddljs.Instance.load(GOLDEN / "ddljs-all-but-fits.json")
    found = optimum(instance)
    assert (found.value, found.proof) == (pytest.approx(9.545177444480), Proof.EXACT)
    assert ddljs.check(instance, found.schedule) == []


@pytest.mark.parametrize("read", [None, lambda instance, point: None, lambda instance, point: dmlrs.Schedule.of({})])
def test_a_point_that_cannot_be_read_leaves_a_bound(read: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dispatch, "exact_method", lambda name: replace(exact_method(name), read=read))
    found = optimum(dmlrs.Instance.load(GOLDEN / "dmlrs-async-fast-links.json"))
    assert (found.value, found.bound, found.proved) == (0, 1, False)


def test_work_that_all_but_fits_is_certified() -> None:
    """By hand: j3, worth 25.15, needs all devices in both slots but for 1e-9; the others are worth 3."""
    found = optimum(hadar.Instance.load(GOLDEN / "hadar-all-but-fits.json"))
    assert (found.value, found.proof) == (25.15, Proof.EXACT)


def test_the_better_schedule_of_the_instance_that_was_proved_wrongly() -> None:
    instance = dmlrs.Instance.load(GOLDEN / "false-dmlrs.json")
    better = dmlrs.Schedule.load(GOLDEN / "false-dmlrs-better.json")
    assert dmlrs.check(instance, better) == []
    assert dmlrs.utility(instance, better) == 5


def test_a_bound_below_a_schedule_counts_no_more() -> None:
    known = Bracket(0.0, 100.0)
    known.bound(1.0, "one route")
    known.bound(6.0, "another")
    assert (known.value, known.upper, known.closed()) == (0.0, 1.0, False)
    assert known.raise_to(5.0)
    assert (known.value, known.upper, known.closed()) == (5.0, 6.0, False)
    assert list(known.refuted) == ["one route: nothing better than 1, refuted (5 is feasible)"]
    assert not known.raise_to(4.0)
    known.bound(None, "a third")
    known.bound(5.0 + 1e-7, "a third")
    assert known.closed()


@pytest.mark.parametrize("problem", PROBLEMS)
@pytest.mark.parametrize("seed", range(3))
def test_the_greatest_utility_is_that_of_all_that_can_be_had(problem: str, seed: int) -> None:
    instance: Any = PROBLEMS[problem].preset("random", seed)
    if problem == "ddljs":
        worth = [abs(job.value(n)) for job in instance.jobs for n in range(instance.most(job) + 1)]
    else:
        worth = [job.utility.exact(x) for job in instance.jobs for x in range(30)]
    assert instance.greatest_utility == max(worth)


@pytest.mark.parametrize("factor", [Fraction(1, 10**12), Fraction(10**12)], ids=str)
@pytest.mark.parametrize("name", ["hadar-theorem-2-lone-job", "pd-ors-theorem-6-whole-machine"])
def test_a_claim_fails_in_any_unit_of_utility(name: str, factor: Fraction) -> None:
    """In a unit in which all utilities are below the tolerance, no bound would be exceeded."""
    from dlsched.bounds import check
    from dlsched.bounds.witness import shipped

    witness = shipped(name)
    instance = type(witness.read_instance()).parse(in_utility_unit(witness.instance, factor))
    verdict = check(witness.claim, instance, witness.seed, witness.variant)
    assert verdict.status.value == "violated"
