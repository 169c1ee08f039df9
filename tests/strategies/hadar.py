"""hypothesis strategies for tiny instances that exhaustive search can solve."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

TYPES = ("fast", "slow")


@st.composite
def hadar_data(draw: st.DrawFn, *, jobs: int = 3, slots: int = 3, devices: int = 2) -> dict[str, Any]:
    """A tiny Hadar instance as plain JSON data."""
    horizon = draw(st.integers(1, slots))
    counts = st.integers(0, devices)
    machines = [
        {"name": f"m{h}", "devices": {r: n for r in TYPES if (n := draw(counts))}}
        for h in range(draw(st.integers(1, 2)))
    ]
    total = sum(n for machine in machines for n in machine["devices"].values())
    if not total:
        machines[0]["devices"] = {"fast": 1}
        total = 1
    return {
        "slots": horizon,
        "slot_seconds": draw(st.sampled_from([1, "1/2", 2])),
        "device_types": list(TYPES),
        "machines": machines,
        "jobs": [draw(_job(f"j{j}", total, horizon)) for j in range(draw(st.integers(1, jobs)))],
    }


@st.composite
def _job(draw: st.DrawFn, name: str, devices: int, horizon: int) -> dict[str, Any]:
    rates = {r: f"{draw(st.integers(0, 6))}/2" for r in TYPES}
    rates[draw(st.sampled_from(TYPES))] = f"{draw(st.integers(1, 6))}/2"
    return {
        "name": name,
        "arrival": draw(st.integers(1, horizon)),
        "gang": draw(st.integers(1, min(3, devices))),
        "iterations": draw(st.sampled_from([1, 2, 3, "5/2", 5, 8, "26/3"])),
        "rate": rates,
        "utility": draw(_utility(horizon)),
    }


@st.composite
def _utility(draw: st.DrawFn, horizon: int) -> dict[str, Any]:
    kind = draw(st.sampled_from(["table", "step", "linear", "hyperbolic"]))
    if kind == "table":
        values = sorted(draw(st.lists(st.integers(0, 20), min_size=1, max_size=horizon)), reverse=True)
        return {"kind": "table", "values": values}
    if kind == "step":
        return {"kind": "step", "value": draw(st.integers(0, 20)), "deadline": draw(st.integers(0, horizon))}
    if kind == "linear":
        return {"kind": "linear", "intercept": draw(st.integers(0, 20)), "slope": draw(st.integers(0, 9))}
    return {"kind": "hyperbolic", "scale": draw(st.integers(0, 20))}
