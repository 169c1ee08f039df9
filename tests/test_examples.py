"""The examples in docstrings do what stands there."""

from __future__ import annotations

import doctest
import importlib

import pytest

from tests import paths

ROOMS = ("solvers", "models", "relaxations", "rounding", "algorithms", "bounds", "traces", "figures")
MODULES = sorted(
    ".".join(("dlsched", *path.relative_to(paths.ROOT).with_suffix("").parts))
    for room in ROOMS
    for path in (paths.ROOT / room).rglob("*.py")
    if "    >>> " in path.read_text(encoding="utf-8")
)


@pytest.mark.parametrize("module", MODULES)
def test_examples(module: str) -> None:
    found = doctest.testmod(importlib.import_module(module))
    assert found.attempted
    assert not found.failed
