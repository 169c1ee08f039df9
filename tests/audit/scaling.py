"""Instances with other numbers: jittered to ordinary floats, or in other units, as JSON documents of any problem.

Both keep a document valid: what must be a whole number stays, tables keep their order and length, shares stay below 1.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from tests.audit.numerals import number, rational

Data = dict[str, Any]

_KEPT = frozenset(
    {"slots", "arrival", "gang", "max_workers", "batch", "chunks", "devices", "exponent"}
    | {"name", "source", "target", "kind", "mode", "overlap", "resources", "device_types", "placement", "origin"}
)
"""Fields that hold whole numbers or no numbers, and exponents, which the exhaustive searches know whole only."""

_HEIGHTS = {
    "table": ("values",),
    "sigmoid": ("height",),
    "sqrt": ("scale",),
    "log": ("scale",),
    "linear": ("intercept", "slope"),
    "power": ("scale",),
    "hyperbolic": ("scale",),
    "step": ("value",),
}
"""The fields of a utility, by kind, that have the unit of utility."""


@dataclass(frozen=True)
class Rescaled:
    """An instance in other units.

    Attributes
    ----------
    data : dict
        The instance.
    utility : Fraction
        What one unit of utility of the source became: the optimum is that many times the source's.
    """

    data: Data
    utility: Fraction


def problem_of(data: Data) -> str:
    """Return the problem whose instance a document is."""
    for field, problem in (("device_types", "hadar"), ("nodes", "ddljs"), ("machines", "dmlrs")):
        if field in data:
            return problem
    return "smd"


def jittered(instance: Data, rng: np.random.Generator, share: float = 0.04) -> Data:
    """Return an instance whose numbers are multiplied by random factors.

    Parameters
    ----------
    instance : dict
        JSON form, of any problem.
    rng : numpy.random.Generator
    share : float
        Factors lie in 1 - share .. 1 + share; the products are doubles, with all their digits.

    Returns
    -------
    dict
        A valid instance of the same problem and sizes. Zeros stay 0, integers that must be integers stay.
    """
    tabled = any(job["utility"]["kind"] == "table" for job in instance["jobs"])
    kept = _KEPT | {"progress"} if tabled else _KEPT

    def shake(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: copy.deepcopy(item) if key in kept else shake(item) for key, item in value.items()}
        if isinstance(value, list):
            return [shake(item) for item in value]
        if isinstance(value, bool) or not _is_number(value):
            return value
        return float(rational(value)) * (1 + share * float(rng.uniform(-1, 1)))

    data: Data = shake(instance)
    for job, source in zip(data["jobs"], instance["jobs"], strict=True):
        _mended(data, job, source)
    return data


def _mended(data: Data, job: Data, source: Data) -> None:
    """Restore what the factors may have broken in a job: the order of a table, its length, and shares."""
    if job["utility"]["kind"] == "table":
        before = [rational(v) for v in source["utility"]["values"]]
        if before == sorted(before, reverse=True):
            job["utility"]["values"].sort(reverse=True)
        elif before == sorted(before):
            job["utility"]["values"].sort()
        _lengthened(data, job)
    training = job.get("training", {})
    if "alpha" in training:
        training["alpha"] = min(1, training["alpha"])
    if "slice" in training and training.get("layers"):
        training["slice"] = min(training["slice"], training["layers"][0]["transfer"])


def _lengthened(data: Data, job: Data) -> None:
    """Let the table of a DDLJS job reach as far as any budget and capacity could let the job get."""
    if "progress" in job:
        values = job["utility"]["values"]
        most = int(rational(job["progress"])) * job["max_workers"] * data["slots"]
        values.extend(values[-1:] * (most + 1 - len(values)))


def rescaled(instance: Data, rng: np.random.Generator, *, wide: bool = True) -> Rescaled:
    """Return the same instance in other units.

    Every resource has a unit of its own, and so have data, work, time and utility where the problem has them and the
    utilities let time change. All products are exact, so that the two instances have the same schedules.

    Parameters
    ----------
    instance : dict
        JSON form, of any problem.
    rng : numpy.random.Generator
    wide : bool
        Units of 1e-9 to 1e12, of utility 1e-9 to 1e18; else of 1e-3 to 1e3, of utility at most 1.
    """
    data = copy.deepcopy(instance)
    utility = _unit(rng, -9, 18 if rng.random() < 0.2 else 9) if wide else _unit(rng, -3, 0)
    for job in data["jobs"]:
        for field in _HEIGHTS[job["utility"]["kind"]]:
            _multiply(job["utility"], field, utility)

    def unit() -> Fraction:
        return _unit(rng, -9, 12) if wide else _unit(rng, -3, 3)

    for resource in data.get("resources", ()):
        factor = unit()
        for amounts in _amounts(data):
            if resource in amounts:
                _multiply(amounts, resource, factor)
    _UNITS[problem_of(data)](data, unit)
    return Rescaled(data, utility)


def _amounts(data: Data) -> Iterator[Data]:
    """Yield every dict of amounts by resource."""
    if "capacity" in data:
        yield data["capacity"]
    for place in (*data.get("machines", ()), *data.get("nodes", ())):
        yield place.get("capacity", {})
    for job in data["jobs"]:
        for field in ("worker", "server", "limit", "budget"):
            yield job.get(field) or {}


def _hadar(data: Data, unit: Callable[[], Fraction]) -> None:
    seconds = unit()
    data.setdefault("slot_seconds", 1)
    _multiply(data, "slot_seconds", seconds)
    for job in data["jobs"]:
        work = unit()
        _multiply(job, "iterations", work)
        for type_ in job["rate"]:
            _multiply(job["rate"], type_, work / seconds)


def _dmlrs(data: Data, unit: Callable[[], Fraction]) -> None:
    for job in data["jobs"]:
        size, work = unit(), unit()
        for field in ("internal_rate", "external_rate", "server_rate"):
            if field in job:
                _multiply(job, field, size)
        _multiply(job, "gradient_size", size / work)
        amount, time = (
            ("minibatches_per_chunk", "slots_per_minibatch") if "chunks" in job else ("samples", "slots_per_sample")
        )
        _multiply(job, amount, work)
        _multiply(job, time, 1 / work)


def _smd(data: Data, unit: Callable[[], Fraction]) -> None:
    for job in data["jobs"]:
        time, size, training = unit(), unit(), job["training"]
        if not _slower(job["utility"], time):
            time = Fraction(1)
        if training["kind"] == "coefficients":
            training["theta"] = [number(rational(theta) * time) for theta in training["theta"]]
            continue
        for field in ("forward", "backward", "slice", "beta1", "beta2"):
            if training.get(field) is not None:
                _multiply(training, field, time)
        for layer in training.get("layers") or ():
            for field in ("forward", "backward", "transfer"):
                if field in layer:
                    _multiply(layer, field, time)
        _multiply(training, "model_size", size)
        _multiply(training, "bandwidth", size / time)


def _ddljs(data: Data, unit: Callable[[], Fraction]) -> None:
    width = unit()
    for link in (
        *data.get("links", ()),
        *(x for links in (data.get("bandwidth_by_slot") or {}).values() for x in links),
    ):
        _multiply(link, "bandwidth", width)
    for job in data["jobs"]:
        _multiply(job, "bandwidth", width)
        progress = unit()
        if _slower(job["utility"], progress):
            _multiply(job, "progress", progress)


_UNITS = {"hadar": _hadar, "dmlrs": _dmlrs, "smd": _smd, "ddljs": _ddljs}


def _slower(utility: Data, factor: Fraction) -> bool:
    """Let a utility have the same values at arguments `factor` times as large, where its kind can."""
    kind = utility["kind"]
    if kind == "sigmoid":
        _multiply(utility, "steepness", 1 / factor)
        _multiply(utility, "midpoint", factor)
    elif kind == "step":
        _multiply(utility, "deadline", factor)
    elif kind == "linear":
        _multiply(utility, "slope", 1 / factor)
    elif kind == "power" and rational(utility["exponent"]).denominator == 1:
        _multiply(utility, "scale", factor ** -int(rational(utility["exponent"])))
    else:
        return False
    return True


def _multiply(place: Data, field: str, factor: Fraction) -> None:
    value = place[field]
    if isinstance(value, list):
        place[field] = [number(rational(item) * factor) for item in value]
    else:
        place[field] = number(rational(value) * factor)


def _unit(rng: np.random.Generator, low: int, high: int) -> Fraction:
    """Return 1, a power of ten or of two, or any factor of 16 digits, within 10**low .. 10**high."""
    kind = int(rng.integers(4))
    exponent = int(rng.integers(low, high + 1))
    if kind == 0:
        return Fraction(1)
    if kind == 1:
        return Fraction(10) ** exponent
    if kind == 2:
        return Fraction(2) ** int(exponent * 3.3219)
    return Fraction(repr(float(rng.uniform(1, 10)))) * Fraction(10) ** max(low, exponent - 1)


def _is_number(value: Any) -> bool:
    if isinstance(value, int | float):
        return True
    try:
        return isinstance(value, str) and Fraction(value) is not None
    except ValueError:
        return False
