"""Every family of cases by name, and how long one of its cases may take."""

from __future__ import annotations

from tests.audit import calls, floats, inputs
from tests.audit.case import Case

FAMILIES = {**floats.MAKERS, **inputs.MAKERS, **calls.MAKERS}


def case(family: str, seed: int) -> Case:
    """Return the case of a family and a seed."""
    return FAMILIES[family](seed)


def seconds(family: str) -> float:
    """Return the seconds after which a case of a family counts as hanging."""
    return 300.0 if family in floats.MAKERS else float(inputs.SECONDS)


def count(family: str, cases: int) -> int:
    """Return how many of so many cases a family gets: a tenth where a case is a hundred solves."""
    return -(-cases // 10) if family.startswith("floats/") else cases
