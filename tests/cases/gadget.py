"""Shared pieces of the tests of GADGET's claims: shipped cases, and small instances by hand."""

from __future__ import annotations

from typing import Any

from dlsched.bounds.witness import shipped
from dlsched.models.ddljs import Instance


def case(name: str) -> Any:
    return shipped(f"gadget-{name}").read_instance()


def job(name: str, workers: int, utility: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {
        "name": name,
        "arrival": 1,
        "max_workers": workers,
        "worker": {"gpu": 1},
        "progress": 1,
        "bandwidth": 1,
        "utility": utility,
        **more,
    }


def line(slope: int) -> dict[str, Any]:
    return {"kind": "linear", "intercept": 0, "slope": -slope}


def instance(slots: int, servers: list[int], jobs: list[dict[str, Any]], **more: Any) -> Instance:
    nodes = [{"name": f"server{s + 1}", "capacity": {"gpu": c}} for s, c in enumerate(servers)]
    return Instance.parse({"slots": slots, "resources": ["gpu"], "nodes": nodes, "jobs": jobs, **more})
