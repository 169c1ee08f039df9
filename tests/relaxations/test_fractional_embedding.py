"""The conditions of fractional embeddings, each broken once, and their loads by hand."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from dlsched.models.ddljs import RingProblem, RingRequest
from dlsched.relaxations import FractionalEmbedding, RingFlow

RIGHT: dict[str, Any] = {
    "weight": {"a": 0.5},
    "location": {"a": {(1, "b"): 0.5}},
    "flow": {"a": {(0, ("a", "b")): 0.5, (1, ("b", "a")): 0.5}},
}


def embedding(size: int = 2, **changes: Any) -> FractionalEmbedding:
    """Return half of a ring of two on servers a and b, in a problem whose link to the switch is too narrow."""
    shares = tuple(
        (arc, Fraction(limit)) for arc, limit in (((("a", "b"),), 1), ((("b", "a"),), 1), ((("b", "s"),), 0))
    )
    nodes: dict[str, dict[str, Fraction]] = {"a": {"g": Fraction(2)}, "b": {"g": Fraction(2)}, "s": {}}
    request = RingRequest("J", {1: Fraction(1), 2: Fraction(2)}, {"g": Fraction(2)}, Fraction(1))
    return FractionalEmbedding(RingProblem(nodes, shares, (request,)), {("J", size): RingFlow(size, **RIGHT | changes)})


def test_half_a_ring() -> None:
    half = embedding()
    half.check()
    assert half.profit == 1
    assert half.embedded("J") == 0.5
    assert half.node_loads() == {("a", "g"): 1, ("b", "g"): 1}
    assert half.arc_loads() == {("a", "b"): 0.5, ("b", "a"): 0.5}


@pytest.mark.parametrize(
    ("condition", "by", "changes"),
    [
        ("sign", 0.25, {"flow": {"a": {**RIGHT["flow"]["a"], (0, ("b", "a")): -0.25}}}),
        ("valid", 0.125, {"location": {"a": {(1, "b"): 0.375, (1, "s"): 0.125}}}),
        ("valid", 0.25, {"flow": {"a": {**RIGHT["flow"]["a"], (0, ("b", "s")): 0.25}}}),
        ("valid", 0.5, {"size": 3}),
        ("A1", 0.5, {"weight": {"a": 1.5}}),
        ("A2", 0.25, {"location": {"a": {(1, "b"): 0.25}}}),
        ("A3", 0.5, {"flow": {"a": {(0, ("a", "b")): 0.5}}}),
        ("nodes", 1.0, {"weight": {"a": 0.75, "b": 0.75}, "location": {"a": {(1, "b"): 0.75}, "b": {(1, "a"): 0.75}}}),
        ("links", 0.5, {"flow": {"a": {(0, ("a", "b")): 1.5, (1, ("b", "a")): 0.5}}}),
    ],
)
def test_broken_conditions(condition: str, by: float, changes: dict[str, Any]) -> None:
    broken = embedding(**changes)
    assert broken.residuals()[condition] == pytest.approx(by)
    with pytest.raises(ValueError, match="the fractional embedding breaks"):
        broken.check()
