"""Examples in docstrings print what stands there."""

from __future__ import annotations

import doctest
import importlib
import inspect
from pathlib import Path

import pytest

from dlsched.models import hadar
from tests import paths, snippets

ROOMS = ("models", "relaxations", "rounding", "algorithms", "bounds", "figures", "traces", "solvers")
SHOWN = [
    path
    for room in ROOMS
    for path in sorted((paths.ROOT / room).rglob("*.py"))
    if ">>> " in path.read_text(encoding="utf-8")
]

COMPLETE = (
    "models",
    "models.hadar",
    "models.dmlrs",
    "models.smd",
    "models.ddljs",
    "solvers",
    "traces",
    "figures",
    "plugins",
    "relaxations",
    "relaxations.conformance",
    "rounding",
    "algorithms",
    "algorithms.exact",
    "algorithms.exact.certificates",
    "algorithms.gadget",
    "algorithms.hadar",
    "algorithms.hadar_e",
    "algorithms.pd_ors",
    "algorithms.simulator",
    "algorithms.smd",
    "bounds",
)
"""Each public module, class and function of these has an example."""

KINDS = inspect.ismodule, inspect.isclass, inspect.isroutine
"""What has a docstring of its own: numbers and aliases of types have none."""


@pytest.mark.parametrize("path", SHOWN, ids=lambda path: str(path.relative_to(paths.ROOT)))
def test_examples(path: Path, tmp_path: Path) -> None:
    inside = (path.parent if path.stem == "__init__" else path.with_suffix("")).relative_to(paths.ROOT)
    module = importlib.import_module(".".join(("dlsched", *inside.parts)))
    found = [test for test in doctest.DocTestFinder().find(module) if test.examples]
    assert found
    for test in found:
        assert test.docstring is not None
        snippets.run_examples(test.docstring, test.name, {}, tmp_path)


def test_the_example_of_a_function_that_another_returns(tmp_path: Path) -> None:
    """`doctest` finds what stands in a module or a class, and `preset` is made for each problem by one function."""
    assert hadar.preset.__doc__ is not None
    snippets.run_examples(hadar.preset.__doc__, "preset", {}, tmp_path)


@pytest.mark.parametrize("room", COMPLETE)
def test_every_public_name_has_an_example(room: str) -> None:
    module = importlib.import_module(f"dlsched.{room}")
    public = {name: getattr(module, name) for name in module.__all__}
    shown = {name: thing for name, thing in public.items() if any(kind(thing) for kind in KINDS)}
    assert shown
    assert [name for name, thing in shown.items() if ">>> " not in (thing.__doc__ or "")] == []
