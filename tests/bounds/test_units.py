"""Verdicts do not depend on the unit of utility: below the tolerance of 1e-6 nothing holds or fails for that alone."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import pytest

from dlsched.bounds import Witness, check, claim
from dlsched.bounds.witness import shipped, shipped_names
from dlsched.models import hadar, smd
from tests.longer import longer


def instances() -> Iterator[tuple[str, Any]]:
    """Yield the names of all witnesses of jobs that have utilities, with their instances."""
    for name in shipped_names():
        instance = shipped(name).read_instance()
        jobs = getattr(instance, "jobs", ())
        if jobs and all(hasattr(job, "utility") for job in jobs):
            yield name, instance


def in_units(instance: Any, factor: Fraction) -> Any:
    jobs = tuple(job.model_copy(update={"utility": job.utility.times(factor)}) for job in instance.jobs)
    return instance.model_copy(update={"jobs": jobs})


INSTANCES = dict(instances())
LONG = [
    "pd-ors-dual-feasible-small-jobs",
    "pd-ors-theorem-5-batches-of-five",
    "pd-ors-theorem-5-small-jobs",
    "pd-ors-theorem-6-small-jobs",
]
"""A second and more each, where other witnesses of the same claims take none."""


@pytest.mark.slow
@pytest.mark.parametrize("name", longer(INSTANCES, *LONG))
def test_shipped_witnesses(name: str) -> None:
    witness: Witness = shipped(name)
    scaled = in_units(INSTANCES[name], Fraction(1, 10**9))
    assert check(witness.claim, scaled, witness.seed, witness.variant, **witness.parameters).status == witness.status


FAR = [
    "gadget-utilities-G11",
    "gadget-utilities-energy",
    "hadar-equivalence-H2",
    "pd-ors-dual-optimum-D10",
    "pd-ors-dual-optimum-corrected-D10",
    "pd-ors-dual-optimum-small-jobs",
]
"""Witnesses with which solvers see programs of their own, or a verdict compares with a number of its own."""


@pytest.mark.slow
@pytest.mark.parametrize("factor", [Fraction(1, 10**30), Fraction(10**30)], ids=["tiny", "huge"])
@pytest.mark.parametrize("name", FAR)
def test_utilities_beyond_what_solvers_tell_from_0_or_infinity(name: str, factor: Fraction) -> None:
    witness: Witness = shipped(name)
    assert check(witness.claim, in_units(INSTANCES[name], factor), 0, witness.variant).status == witness.status


def in_units_of_resources(document: Any, factor: Fraction) -> Any:
    """Return a document with all amounts of resources multiplied, whatever they are of."""
    if isinstance(document, list):
        return [in_units_of_resources(part, factor) for part in document]
    if not isinstance(document, dict):
        return document
    return {
        key: {r: str(Fraction(str(amount)) * factor) for r, amount in part.items()}
        if key in {"capacity", "worker", "server", "limit", "budget"} and part
        else in_units_of_resources(part, factor)
        for key, part in document.items()
    }


@pytest.mark.slow
@pytest.mark.parametrize("factor", [Fraction(1, 7 * 10**9), Fraction(10**9, 3)], ids=["large", "small"])
@pytest.mark.parametrize(
    "name",
    [
        "gadget-theorem-8-returned-corrected-wheel",
        "gadget-violation-horizon-coupled",
        "pd-ors-dual-optimum-D10",
        "pd-ors-thesis-fact-1-two-machines",
        "smd-decomposition-S7",
    ],
)
def test_units_of_resources(name: str, factor: Fraction) -> None:
    witness: Witness = shipped(name)
    instance = INSTANCES[name]
    scaled = type(instance).parse(in_units_of_resources(instance.dump(), factor))
    assert scaled != instance
    assert check(witness.claim, scaled, witness.seed, witness.variant, **witness.parameters).status == witness.status


def verdicts(id: str, instance: Any, factors: list[Fraction]) -> set[tuple[str, str]]:
    found = (check(id, in_units(instance, factor)) for factor in factors)
    return {(verdict.status.value, verdict.reason) for verdict in found}


UNITS = [Fraction(1), Fraction(1, 10**5), Fraction(1, 10**7), Fraction(1, 10**12), Fraction(10**9)]


LONE = {
    "slots": 10,
    "slot_seconds": 1,
    "device_types": ["k80"],
    "machines": [{"name": "m1", "devices": {"k80": 2}}],
    "jobs": [
        {
            "name": "J1",
            "arrival": 1,
            "gang": 1,
            "iterations": 8,
            "rate": {"k80": 1},
            "utility": {"kind": "table", "values": [1] * 10},
        }
    ],
}


@pytest.mark.slow
def test_premises_about_dual_values() -> None:
    """D_0 = 2.5 and OPT = 1 of a lone job; of D11, D_I = 104.67 and OPT = 1000."""
    assert verdicts("hadar/lemma-1", hadar.Instance.parse(LONE), UNITS) == {("premise-fails", "D_0 <= OPT/2")}
    ((status, reason),) = verdicts("pd-ors/lemma-8", INSTANCES["pd-ors-dual-feasible-corrected-D11"], UNITS)
    assert (status, "D_I >= OPT" in reason) == ("premise-fails", True)


def test_chances_of_a_part_of_the_optimum() -> None:
    """One round of Algorithm 2 keeps the limits of S1 with four resources with .0279, not 15/16, in any unit."""
    instance = INSTANCES["smd-theorem-5-one-round-four-resources"]
    for unit in UNITS:
        verdict = check("smd/theorem-5-one-round", in_units(instance, unit))
        assert verdict.measured == pytest.approx((1 - 0.02785205861784083) * 16)


@pytest.mark.parametrize("unit", [Fraction(1), Fraction(1, 10**12), Fraction(10**9)])
def test_how_near_a_time_is_to_the_least(unit: Fraction) -> None:
    """Algorithm 1 takes some 1e6 for a job whose least time is 1010, which is not within 1.01 of it."""
    theta = [str(Fraction(part) * unit) for part in ("0", "1/10000", "10", "1000000")]
    job = {
        "name": "job",
        "worker": {"gpu": 1},
        "server": {"cpu": 1},
        "limit": {"gpu": 1, "cpu": 1000},
        "utility": {"kind": "step", "value": 1, "deadline": str(600000 * unit)},
        "training": {"mode": "async", "kind": "coefficients", "theta": theta},
    }
    instance = smd.Instance.parse({"resources": ["gpu", "cpu"], "capacity": {"gpu": 1, "cpu": 1000}, "jobs": [job]})
    for seed in range(3):
        verdict = check("smd/theorem-5-ratio", instance, seed=seed)
        assert verdict.status.value == "premise-fails"
        assert verdict.reason == "Algorithm 1 is within 1 + eps_1 of each job's tau*"


@pytest.mark.parametrize("unit", UNITS)
def test_a_point_that_is_no_optimum(unit: Fraction) -> None:
    """Least x + 2 y, x + y >= 1, x <= 1: x-bar = (0, 1) costs 2 and the optimum is 1."""
    program = {"cost": [str(unit), str(2 * unit)], "cover": [[1, 1]], "needs": [1], "packing": [[1, 0]], "limits": [1]}
    instance = claim("pd-ors/lemma-1-ratio").instance_type.parse({**program, "point": [0, 1], "delta": 0.5})
    for id in ("pd-ors/lemma-1-ratio", "pd-ors/lemma-1", "pd-ors-thesis/lemma-1"):
        verdict = check(id, instance)
        assert (verdict.status.value, verdict.reason) == ("premise-fails", "x-bar is an optimum of the relaxation")
