"""The golden instances of GADGET as dlsched objects, with their expected values, and a few more made by hand."""

from __future__ import annotations

import json
import re
from fractions import Fraction
from typing import Any

from dlsched.models.ddljs import Instance, RingProblem, RingRequest
from dlsched.models.numbers import rational
from tests import paths

RECORDS: dict[str, dict[str, Any]] = {
    record["id"]: record for record in json.loads((paths.GOLDEN / "gadget.json").read_text())
}
"""By name: what the records say. `expect` has the values."""
OFFLINE = tuple(name for name, record in RECORDS.items() if record["kind"] == "ddljs")
SLOTS = tuple(name for name, record in RECORDS.items() if record["kind"] == "slot")

_NUMBER = r"([\d.]+)"
_SIGMOID = re.compile(rf"{_NUMBER}/\(1\+exp\(-{_NUMBER}\*\(x-{_NUMBER}\)\)\)")
_CAPPED = re.compile(rf"{_NUMBER}\*min\(x,{_NUMBER}\)")
_LINE = re.compile(rf"(?:{_NUMBER}\*)?x(?:/{_NUMBER})?")


def expected(name: str) -> dict[str, float]:
    """Return the golden values of a record."""
    values: dict[str, float] = RECORDS[name]["expect"]
    return values


def instance(name: str) -> Instance:
    """Return an offline record as an instance."""
    return Instance.parse(instance_data(name))


def instance_data(name: str) -> dict[str, Any]:
    """Return an offline record as an instance's JSON."""
    record = RECORDS[name]
    assert record["kind"] == "ddljs"
    links = [{"source": u, "target": v, "bandwidth": b} for u, v, b in record["links"]]
    data = {
        "slots": record["T"],
        "resources": list(next(iter(record["nodes"].values()))),
        "nodes": [{"name": u, "capacity": capacity} for u, capacity in record["nodes"].items()],
        "links": links,
        "jobs": [_job(job, fields, record["T"]) for job, fields in record["jobs"].items()],
    }
    if record["links_t"]:
        assert set(record["links_t"].values()) == {"all capacities 0"}
        data["bandwidth_by_slot"] = {t: [link | {"bandwidth": 0} for link in links] for t in record["links_t"]}
    return data


def _job(name: str, fields: dict[str, Any], slots: int) -> dict[str, Any]:
    return {
        "name": name,
        "arrival": fields["a"],
        "max_workers": fields["N"],
        "worker": fields["l"],
        "budget": {r: need * fields["K"] for r, need in fields["l"].items()},
        "progress": fields["zeta"],
        "bandwidth": fields["b"],
        "utility": utility(fields["mu"], fields["zeta"] * fields["N"] * slots),
    }


def utility(mu: str | dict[str, int], last: int) -> dict[str, Any]:
    """Return a utility of the records in the form of instances; tables go up to the argument `last`."""
    if isinstance(mu, dict):
        return {"kind": "table", "values": [mu[str(x)] for x in range(len(mu))]}
    if mu == "sqrt(x)":
        return {"kind": "sqrt", "scale": 1}
    if found := _SIGMOID.fullmatch(mu):
        height, steepness, midpoint = found.groups()
        return {"kind": "sigmoid", "height": height, "steepness": f"-{steepness}", "midpoint": midpoint}
    if found := _CAPPED.fullmatch(mu):
        slope, cap = map(int, found.groups())
        return {"kind": "table", "values": [slope * min(x, cap) for x in range(last + 1)]}
    found = _LINE.fullmatch(mu)
    assert found is not None, mu
    slope = rational(found[1] or "1") / rational(found[2] or "1")
    return {"kind": "linear", "intercept": 0, "slope": f"{-slope.numerator}/{slope.denominator}"}


def problem(name: str) -> RingProblem:
    """Return a record of one slot as ring requests on their substrate (budgets left out)."""
    record = RECORDS[name]
    assert record["kind"] == "slot"
    nodes = {u: {r: rational(c) for r, c in capacity.items()} for u, capacity in record["nodes"].items()}
    shares = tuple((((u, v),), rational(b)) for u, v, b in record["links"])
    return RingProblem(nodes, shares, tuple(_request(job, fields) for job, fields in record["jobs"].items()))


def _request(name: str, fields: dict[str, Any]) -> RingRequest:
    allow = fields.get("allow")
    return RingRequest(
        name,
        {int(k): Fraction(profit) for k, profit in fields["pi"].items()},
        {r: rational(need) for r, need in fields["l"].items()},
        rational(fields["b"]),
        None if allow is None else tuple(frozenset(allow[str(a)]) for a in range(len(allow))),
    )


def job(name: str = "job1", **changes: Any) -> dict[str, Any]:
    """A job of one-GPU workers."""
    return {
        "name": name,
        "arrival": 1,
        "max_workers": 2,
        "worker": {"gpu": 1},
        "progress": 1,
        "bandwidth": 1,
        "utility": {"kind": "linear", "intercept": 0, "slope": -1},
    } | changes


def built(
    capacity: dict[str, int], links: list[tuple[str, str, Any]], /, *jobs: dict[str, Any], **changes: Any
) -> dict[str, Any]:
    """An instance's JSON: GPUs by node, links (full duplex), one slot."""
    return {
        "slots": 1,
        "resources": ["gpu"],
        "nodes": [{"name": u, "capacity": {"gpu": n}} for u, n in capacity.items()],
        "links": [{"source": u, "target": v, "bandwidth": b} for u, v, b in links],
        "duplex": True,
        "jobs": list(jobs),
    } | changes
