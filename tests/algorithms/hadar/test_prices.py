"""Hadar's price constants (6), (7) and its price function (5): the golden numbers, the options and the guards."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import assume, given

from dlsched.algorithms.hadar import PriceConstants, constants, earliest_completion
from dlsched.models.hadar import Instance
from tests import paths
from tests.oracles import hadar as oracle
from tests.strategies.hadar import hadar_data

GOLDEN = json.loads((paths.GOLDEN / "hadar.json").read_text(encoding="utf-8"))
CASES = {case["name"]: case for case in GOLDEN["cases"]}


def instance(name: str) -> Instance:
    return Instance.model_validate(CASES[name]["instance"])


def one_device(*jobs: dict[str, Any], slots: int = 3, types: int = 1, devices: int = 1) -> Instance:
    names = [f"t{r}" for r in range(types)]
    return Instance.model_validate(
        {
            "slots": slots,
            "device_types": names,
            "machines": [{"name": "m", "devices": dict.fromkeys(names, devices)}],
            "jobs": [
                {"name": f"j{i}", "arrival": 1, "gang": 1, "iterations": 1, "rate": {"t0": 1}, **job}
                for i, job in enumerate(jobs)
            ],
        }
    )


def table(*values: float) -> dict[str, Any]:
    return {"kind": "table", "values": list(values)}


@pytest.mark.parametrize("name", CASES)
def test_printed_constants_are_the_golden_ones(name: str) -> None:
    expected, found = CASES[name]["constants"], constants(instance(name), "printed")
    assert float(found.inverse_eta) == pytest.approx(expected["inverse_eta"], rel=1e-6)
    assert [float(x) for x in found.umin.values()] == pytest.approx([expected["umin"]] * len(found.umin), rel=1e-6)
    assert [float(x) for x in found.umax.values()] == pytest.approx([expected["umax"]] * len(found.umax), rel=1e-6)
    assert float(found.d0) == pytest.approx(expected["d0"], rel=1e-6)
    assert found.tmin == expected["tmin"]
    assert found.tmax == expected["tmax"]


def test_alpha_of_theorem_2_on_h5() -> None:
    assert constants(instance("H5"), "printed").alpha == pytest.approx(8.294050, abs=1e-6)


def test_alpha_is_at_least_one() -> None:
    flat = one_device({"utility": table(1, 1, 1)}, slots=1)
    assert constants(flat, "printed", umax="per-device").alpha == pytest.approx(math.log(4))
    assert PriceConstants({}, {}, Fraction(0), {"t": Fraction(2)}, {"t": Fraction(3)}, Fraction(0), {}).alpha == 1.0


def test_price_by_hand() -> None:
    found = constants(instance("H6"), "printed")
    assert found.price("m1", "p100", 0) == pytest.approx(0.1, rel=1e-12)
    assert found.price("m1", "p100", 2) == pytest.approx(1.357209, abs=1e-6)
    assert found.price("m1", "p100", 3) == 5.0


def test_corrected_constants_by_hand() -> None:
    # H2: T = 3, 3 devices, gangs 2 and 1, tmax 2 and 2: 1/eta = min(4, 2)/9; U at the horizon 3 and 1.
    found = constants(instance("H2"))
    assert found.inverse_eta == Fraction(2, 9)
    assert set(found.umin.values()) == {Fraction(2, 9) / 4 * Fraction(1, 2)}
    assert set(found.umax.values()) == {Fraction(9)}
    assert found.d0 == Fraction(1, 4)
    assert found.saturation == {("m1", "v100"): 1, ("m1", "p100"): 1}


def test_a_price_saturates_where_the_largest_gang_may_not_fit() -> None:
    large = one_device({"gang": 2, "utility": table(9)}, {"utility": table(5)}, devices=5)
    found = constants(large)
    assert found.saturation == {("m", "t0"): 4}
    prices = [found.price("m", "t0", n) for n in range(6)]
    assert prices[4] == prices[5] == 9.0
    assert prices[:5] == sorted(set(prices[:5]))
    assert constants(large, saturation="full").saturation == {("m", "t0"): 5}


@pytest.mark.slow
@given(hadar_data())
def test_constants_agree_with_an_independent_implementation(data: dict[str, Any]) -> None:
    cluster = Instance.model_validate(data)
    readings = {"printed": ("printed", "per-gang"), "duration": ("canonical", "per-gang"), "unit": (None, "per-device")}
    for argument, (mine, umax) in readings.items():
        for horizon_in_eta, eta in ((False, "printed"), (True, "with-T")):
            wanted = oracle.constants(data, horizon_in_eta=horizon_in_eta, argument=argument)
            found = constants(cluster, "printed", eta=eta, argument=mine, umax=umax)
            assert set(found.umin.values()) == {wanted.umin}
            assert set(found.umax.values()) == {wanted.umax}
            assert (found.inverse_eta, found.d0) == (wanted.inverse_eta, wanted.d0)
            assert (found.tmin, found.tmax) == (wanted.tmin, wanted.tmax)


@pytest.mark.slow
@given(hadar_data())
def test_corrected_initial_dual_is_at_most_a_quarter_of_the_optimum(data: dict[str, Any]) -> None:
    value, _ = oracle.optimum(data)
    assert value is not None
    found = constants(Instance.model_validate(data))
    assert 4 * found.d0 <= value
    assert (found.d0 > 0) == (value > 0)


def test_printed_initial_dual_exceeds_half_the_optimum_on_h4() -> None:
    assert constants(instance("H4"), "printed").d0 == Fraction(5, 2)
    assert constants(instance("H4")).d0 == Fraction(1, 4)


def test_a_type_without_progress_does_not_count() -> None:
    job = {"rate": {"t0": 1, "t1": 0}, "iterations": 2, "utility": table(3, 2, 1)}
    found = constants(one_device(job, types=2), "printed")
    assert (found.tmin, found.tmax) == ({"j0": 2}, {"j0": 2})


def test_worthless_at_the_horizon() -> None:
    job = {"utility": table(4, 2)}
    printed = constants(one_device(job), "printed")
    assert (printed.umin["t0"], printed.alpha) == (0, math.inf)
    assert [printed.price("m", "t0", n) for n in (0, 1)] == [0.0, 4.0]
    assert constants(one_device(job, devices=2), "printed").price("m", "t0", 1) == 0.0
    assert constants(one_device(job)).umin["t0"] == Fraction(1, 3) / 4 * 2


def test_jobs_that_cannot_finish_are_dropped() -> None:
    long = {"iterations": 9, "utility": table(100, 100, 100)}
    late = {"iterations": 3, "utility": table(100, 100, 0)}
    short = {"utility": table(4, 4, 4)}
    assert constants(one_device(long, late, short)).umax["t0"] == 4
    assert constants(one_device(long, late, short)).tmin == {"j2": 1}
    assert constants(one_device(long, late, short), population="all").umax["t0"] == 100
    assert constants(one_device(long, late)).umax["t0"] == 0


def test_earliest_completion_uses_the_fastest_devices_that_make_a_gang() -> None:
    mixed = one_device({"gang": 2, "iterations": 4, "rate": {"t0": 2, "t1": 1}, "utility": table(1)}, types=2)
    assert earliest_completion(mixed, mixed.jobs[0]) == 2
    assert earliest_completion(instance("H6"), instance("H6").job("J1")) == 3
    alone = one_device({"gang": 2, "rate": {"t0": 2}, "utility": table(1)}, types=2)
    assert earliest_completion(alone, alone.jobs[0]) is None


def test_no_jobs() -> None:
    found = constants(one_device())
    assert (found.d0, found.inverse_eta, found.alpha, found.price("m", "t0", 1)) == (0, 0, 1.0, 0.0)


@pytest.mark.parametrize("option", ["eta", "argument", "umax", "population", "saturation"])
def test_an_unknown_option_is_refused(option: str) -> None:
    with pytest.raises(ValueError, match="bogus"):
        constants(instance("H1"), **{option: "bogus"})
    with pytest.raises(ValueError, match="bogus"):
        constants(instance("H1"), "bogus")


@pytest.mark.slow
@given(hadar_data())
def test_prices_never_fall_with_allocation(data: dict[str, Any]) -> None:
    cluster = Instance.model_validate(data)
    found = constants(cluster)
    assume(found.d0 > 0)
    for machine in cluster.machines:
        for r, count in machine.devices.items():
            prices = [found.price(machine.name, r, n) for n in range(count + 1)]
            assert prices == sorted(prices)
            assert prices[0] == float(found.umin[r])
            assert prices[-1] == float(found.umax[r])
