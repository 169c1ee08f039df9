"""Examples in docstrings print what stands there."""

from __future__ import annotations

import doctest
import importlib
import importlib.util
import inspect
import re
from pathlib import Path
from typing import Any

import pytest

from dlsched.models import hadar
from dlsched.models.registry import GROUPS
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


@pytest.mark.slow
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


REFERENCE = re.compile(r"`(dlsched(?:\.\w+)+)`")
NO_OBJECTS = {f"dlsched.{name}" for name in (*GROUPS, "lift_bounds", "lp_relaxation", "lp_dual", "charnes_cooper")}
"""Groups of entry points, and what Pyomo knows transformations as."""


def there_is(name: str) -> bool:
    """Tell whether the longest beginning of a dotted name that is a module has the rest."""
    parts = name.split(".")
    length = next(n for n in range(len(parts), 0, -1) if is_module(".".join(parts[:n])))
    thing: Any = importlib.import_module(".".join(parts[:length]))
    for part in parts[length:]:
        thing = getattr(thing, part, None)
    return thing is not None


def is_module(name: str) -> bool:
    try:
        return importlib.util.find_spec(name) is not None
    except ModuleNotFoundError:
        return False


@pytest.mark.slow
def test_what_docstrings_and_pages_refer_to_is_there() -> None:
    files = [*(file for room in paths.ROOMS for file in (paths.ROOT / room).rglob("*.py"))]
    files += [paths.ROOT / "README.md", *(paths.ROOT / "docs").rglob("*.md")]
    names = {name: file for file in files for name in REFERENCE.findall(file.read_text(encoding="utf-8"))}
    assert [f"{file}: {name}" for name, file in names.items() if name not in NO_OBJECTS and not there_is(name)] == []


def test_sources_have_a_section_of_their_own() -> None:
    """numpydoc takes a line that is in none for a part of the section before it."""
    pattern = re.compile(r"^ +Sources?: ", re.MULTILINE)
    files = [file for room in paths.ROOMS for file in (paths.ROOT / room).rglob("*.py")]
    assert [str(file) for file in files if pattern.search(file.read_text(encoding="utf-8"))] == []
