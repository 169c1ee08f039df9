"""Numbers that floats cannot hold, or whose products they cannot, are refused where they stand, before any solver."""

from __future__ import annotations

import copy
import inspect
from collections.abc import Iterator
from fractions import Fraction
from types import ModuleType
from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError

from dlsched.algorithms import optimum
from dlsched.errors import InputError
from dlsched.models import ddljs, dmlrs, hadar, smd
from dlsched.models.utility import Utility

FAMILIES = [(package, name) for package in (hadar, dmlrs, smd, ddljs) for name in package.PRESETS]
BEYOND = ["1e400", "-1e400", "1e-400", "9" * 399, "1/" + "9" * 398, 10**400, 10**101, 1e300, 1e-300, 5e-324]
PARSE = TypeAdapter(Utility).validate_python


def numbers(data: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """Yield the paths of all numbers of JSON data, of a list's entries that of the first."""
    if isinstance(data, dict):
        for key, value in data.items():
            if key != "origin":
                yield from numbers(value, (*path, key))
    elif isinstance(data, list):
        for entry in data[:1]:
            yield from numbers(entry, (*path, 0))
    elif isinstance(data, int | float) and not isinstance(data, bool):
        yield path


def place(path: tuple[str | int, ...]) -> str:
    return "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path).removeprefix(".")


@pytest.mark.slow
@pytest.mark.parametrize(("package", "name"), FAMILIES, ids=[f"{p.__name__.split('.')[-1]}-{n}" for p, n in FAMILIES])
def test_every_number_of_an_instance(package: ModuleType, name: str) -> None:
    taken = inspect.signature(package.PRESETS[name]).parameters
    data = package.preset(name, 0, **{"jobs": 1} if "jobs" in taken else {}).dump()
    for path in numbers(data):
        for value in BEYOND:
            bad = copy.deepcopy(data)
            inner = bad
            for key in path[:-1]:
                inner = inner[key]
            inner[path[-1]] = value
            with pytest.raises(InputError) as refused:
                package.Instance.parse(bad)
            message = str(refused.value)
            assert message.startswith(place(path)), (path, value)
            assert "\n" not in message
            assert len(message) < 250


def one_gpu(**changed: Any) -> dict[str, Any]:
    job = {"name": "j", "arrival": 1, "gang": 1, "iterations": 1, "rate": {"a": 1}, "utility": table(1)}
    machine = {"name": "m", "devices": {"a": 1}}
    return {"slots": 1, "device_types": ["a"], "machines": [machine], "jobs": [job | changed]}


def table(*values: object) -> dict[str, Any]:
    return {"kind": "table", "values": list(values)}


@pytest.mark.parametrize("value", [1e20, "1e20", 1e-9, 1e12, "1/3", 1e100, "1e-100", 0])
def test_numbers_within_the_range(value: object) -> None:
    instance = hadar.Instance.parse(one_gpu(utility=table(value)))
    assert instance.jobs[0].utility(0) == pytest.approx(float(Fraction(str(value))), rel=1e-6, abs=0)
    assert hadar.Instance.parse(instance.dump()) == instance


def test_large_utilities_are_solved() -> None:
    assert optimum(hadar.Instance.parse(one_gpu(utility=table(1e20)))).value == pytest.approx(1e20)


@pytest.mark.parametrize("count", [10**18 + 1, 10**30, 10**100])
def test_counts_that_machine_integers_do_not_hold(count: int) -> None:
    data = one_gpu()
    data["machines"][0]["devices"]["a"] = count
    with pytest.raises(InputError, match=r"^machines\[0\]\.devices\.a: [0-9.e+]+ must be at most 1e18"):
        hadar.Instance.parse(data)


def synchronous(**changed: Any) -> dict[str, Any]:
    job = {
        "name": "a",
        "arrival": 1,
        "epochs": 1,
        "samples": 1,
        "batch": 1,
        "slots_per_sample": 1,
        "gradient_size": 1,
        "workers_per_server": 1,
        "internal_rate": 1,
        "external_rate": 1,
        "worker": {"g": 1},
        "server": {"g": 1},
        "utility": table(5),
    }
    return {"slots": 1, "resources": ["g"], "machines": [{"name": "m", "capacity": {"g": 2}}], "jobs": [job | changed]}


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"epochs": 1e60, "samples": 1e60}, "all of its work, 1e+120 must be 0 or between"),
        ({"gradient_size": 1e60, "internal_rate": 1e-60}, "slots per unit of work within a machine, 2e+120 must be"),
        ({"gradient_size": 1e60, "external_rate": 1e-60}, "slots per unit of work between machines, 2e+120 must be"),
        ({"workers_per_server": 1e-60}, "its servers, 1e+60 must be at most 1e18"),
    ],
)
def test_what_numbers_make(changed: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError) as refused:
        dmlrs.Instance.parse(synchronous(**changed))
    assert str(refused.value).startswith(f"jobs[0]: {message}")


def test_iterations_of_a_slot() -> None:
    data = one_gpu(rate={"a": 1e60}) | {"slot_seconds": 1e60}
    with pytest.raises(InputError, match=r"^jobs\[0\]\.rate\.a: iterations a slot, 1e\+120 must be"):
        hadar.Instance.parse(data)


def test_coefficients_of_measured_training() -> None:
    data = smd.preset("paper", 0, jobs=1).dump()
    data["jobs"][0]["training"] |= {"iterations": 1e60, "model_size": 1e60}
    with pytest.raises(InputError, match=r"^jobs\[0\]\.training: theta\d, \S+ must be"):
        smd.Instance.parse(data)


@pytest.mark.parametrize(
    ("exponent", "value"), [(100, 2.0**100), (2.5, 2.0**2.5), ("1/3", 2.0 ** (1 / 3)), (1e-100, 1.0)]
)
def test_exponents_within_the_range(exponent: object, value: float) -> None:
    assert PARSE({"kind": "power", "scale": 1, "exponent": exponent})(2) == pytest.approx(value)


@pytest.mark.parametrize("exponent", [100.5, 5000, 10**9, "1e50"])
def test_exponents_beyond_it(exponent: object) -> None:
    with pytest.raises(ValidationError, match="must be at most 100"):
        PARSE({"kind": "power", "scale": 1, "exponent": exponent})


def ring(utility: dict[str, Any], progress: int) -> dict[str, Any]:
    job = {"name": "j", "arrival": 1, "max_workers": 1, "worker": {"g": 1}, "progress": progress, "bandwidth": 0}
    nodes = [{"name": "s", "capacity": {"g": 1}}]
    return {"slots": 2, "resources": ["g"], "nodes": nodes, "links": [], "jobs": [job | {"utility": utility}]}


@pytest.mark.parametrize(
    ("utility", "progress"),
    [
        ({"kind": "power", "scale": 1, "exponent": 60}, 100),
        ({"kind": "power", "scale": -1, "exponent": 60}, 100),
        ({"kind": "power", "scale": 1, "exponent": 99.5}, 10**4),
        ({"kind": "linear", "intercept": 0, "slope": -1e99}, 10**4),
    ],
)
def test_values_of_a_utility(utility: dict[str, Any], progress: int) -> None:
    assert ddljs.Instance.parse(ring(utility, 1)).jobs
    with pytest.raises(InputError, match=r"^jobs\[0\]\.utility: is above 1e100 in size at 2"):
        ddljs.Instance.parse(ring(utility, progress))


def test_rising_powers_of_a_duration_are_refused_by_their_ends() -> None:
    data = one_gpu(utility={"kind": "power", "scale": 1, "exponent": 16}) | {"slots": 10**6}
    with pytest.raises(InputError, match=r"^jobs\[0\]\.utility: increases with the duration"):
        hadar.Instance.parse(data)
    data = one_gpu(utility={"kind": "power", "scale": -1, "exponent": 100}) | {"slots": 10**6}
    with pytest.raises(InputError, match=r"^jobs\[0\]\.utility: is above 1e100 in size at 1e\+6"):
        hadar.Instance.parse(data)
