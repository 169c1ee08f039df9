"""What is installed is what stands in the tree, rooms import only to their left, and importing stays light."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import sysconfig
import tomllib
from collections.abc import Iterator
from functools import cache
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests import paths
from tests.forks import OTHERS, Fresh

pytestmark = pytest.mark.process

ROOT = paths.ROOT
ROOMS = ["solvers", "models", "relaxations", "rounding", "algorithms", "bounds", "traces", "figures", "cli"]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
PLACES = {"package": "dlsched", **{room: f"dlsched.{room}" for room in ROOMS}}
"""The folders at the top, and what they are imported as."""

SHARED = {path.stem for path in (ROOT / "package").glob("*.py")} - {"__init__", "__main__", "plugins"}
"""What serves all rooms."""

SOURCES = sorted(path for folder in PLACES for path in (ROOT / folder).rglob("*.py"))


def module_of(folder: Path) -> str:
    """What a folder is imported as."""
    top, *below = folder.relative_to(ROOT).parts
    return ".".join((PLACES[top], *below))


def test_the_package_list_is_the_tree() -> None:
    folders = {path.parent for path in SOURCES if path.name == "__init__.py"}
    assert set(PROJECT["tool"]["setuptools"]["packages"]) == set(map(module_of, folders))
    assert PROJECT["tool"]["setuptools"]["package-dir"] == {name: folder for folder, name in PLACES.items()}


def test_the_wheel_holds_every_module_and_data_file() -> None:
    site = sysconfig.get_path("purelib")
    distribution = next(iter(metadata.distributions(name="dlsched", path=[site])))
    assert distribution.version == PROJECT["project"]["version"]
    installed = {str(file) for file in distribution.files or []}
    wanted = [p for top in PLACES for p in (ROOT / top).rglob("*") if p.suffix in {".py", ".pyi", ".json", ".typed"}]
    names = {str(p.relative_to(ROOT)): f"{module_of(p.parent).replace('.', '/')}/{p.name}" for p in wanted}
    assert [path for path, name in names.items() if name not in installed] == []


SOLVERS = {
    "highspy": {"solvers/highs.py"},
    "pyscipopt": {"solvers/scip.py"},
    "scipy.optimize": set(),
}
"""Where each solver may be imported."""


@cache
def imported(path: Path) -> tuple[str, ...]:
    """Return the full names that a file imports, wherever in it."""
    names: list[str] = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and not node.level:
            names += [f"{node.module}.{alias.name}" for alias in node.names]
    return tuple(names)


@pytest.mark.parametrize("solver", SOLVERS)
def test_there_is_one_way_to_a_solver(solver: str) -> None:
    importing = {
        str(path.relative_to(ROOT))
        for path in SOURCES
        if any(f"{name}.".startswith(f"{solver}.") for name in imported(path))
    }
    assert importing <= SOLVERS[solver]


def _exports(room: str) -> Iterator[tuple[str, str, list[str]]]:
    """Each package, a submodule of it, and the public names from there; names of submodules themselves are under ""."""
    for stub in (ROOT / room).rglob("__init__.pyi"):
        package = ".".join(("dlsched", *stub.parent.relative_to(ROOT).parts))
        found: dict[str, list[str]] = {}
        for node in ast.parse(stub.read_text()).body:
            if isinstance(node, ast.ImportFrom):
                found.setdefault(node.module or "", []).extend(alias.asname or alias.name for alias in node.names)
        yield from ((package, module, names) for module, names in found.items())


CHECK = """
import importlib, os, pkgutil, types

def check(package, name, last, is_module):
    module = importlib.import_module(package)
    if last:
        for info in pkgutil.iter_modules(module.__path__):
            importlib.import_module(f"{package}.{info.name}")
    value = getattr(module, name)
    exec(f"from {package} import {name}")
    assert name in dir(module)
    assert getattr(module, name) is value
    assert isinstance(value, types.ModuleType) == is_module, value
"""


@pytest.fixture(scope="module")
def others() -> Iterator[Fresh]:
    """A process with what others bring, and what each check needs."""
    with Fresh(f"{OTHERS}{CHECK}") as process:
        yield process


@pytest.mark.parametrize("room", ROOMS)
def test_every_public_name_imports_in_a_fresh_process(room: str, others: Fresh) -> None:
    """The name first and, where a submodule has its name, also after every submodule of its package.

    Names from one submodule share a process, as do those of a package after all its submodules: whichever is first, it
    is that submodule that is imported, or all are. A name that a submodule has is first in a process of its own.
    """
    cases: list[list[tuple[str, str, bool, bool]]] = []
    after: dict[str, list[tuple[str, str, bool, bool]]] = {}
    for package, module, names in _exports(room):
        folder = ROOT.joinpath(*package.split(".")[1:])
        if not module:
            cases += [[(package, name, False, True)] for name in names]
            continue
        homonyms = [name for name in names if (folder / f"{name}.py").exists()]
        after.setdefault(package, []).extend((package, name, True, False) for name in homonyms)
        # The first of these is as good as alone, whatever comes after it.
        together = [*homonyms[:1], *(name for name in names if name not in homonyms)]
        cases += [[(package, name, False, False)] for name in homonyms[1:]]
        cases.append([(package, name, False, False) for name in together])
    for each in filter(None, [*cases, *after.values()]):
        done = others.run("; ".join(f"check{case}" for case in each))
        assert (done.returncode, done.stderr) == (0, ""), each


@pytest.mark.parametrize("path", SOURCES, ids=lambda p: str(p.relative_to(ROOT)))
def test_rooms_import_only_to_their_left(path: Path) -> None:
    room = path.relative_to(ROOT).parts[0]
    if room == "package" and path.name in ("__main__.py", "plugins.py"):
        return
    left = {"solvers", "models", "traces"} if room == "traces" else {*ROOMS[: [*PLACES].index(room)]}
    allowed = left | SHARED
    for name in imported(path):
        parts = name.split(".")
        assert parts[0] != "tests"
        if parts[0] == "dlsched":
            assert parts[1] in allowed, f"{path.relative_to(ROOT)} imports {name}"


def test_importing_a_room_is_light() -> None:
    code = "import sys\n" + "\n".join(f"import dlsched.{room}" for room in ROOMS)
    heavy = {"pyomo", "numpy", "scipy", "cvxpy", "highspy", "networkx", "matplotlib", "pydantic"}
    code += f"\nheavy = {heavy} & set(sys.modules)\nassert not heavy, heavy"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def _pins() -> dict[str, tuple[Requirement, list[str]]]:
    """Each pinned distribution's requirement and its options, as pip reads the lines."""
    text = (ROOT / "constraints.txt").read_text().replace("\\\n", " ")
    lines = [line.split() for line in text.splitlines() if not line.startswith("#")]
    cut = [next(i for i, word in enumerate(line) if word.startswith("--")) for line in lines]
    requirements = [(Requirement(" ".join(line[:at])), line[at:]) for line, at in zip(lines, cut, strict=True)]
    return {canonicalize_name(requirement.name): (requirement, options) for requirement, options in requirements}


def test_every_pin_is_one_version_with_the_hashes_of_its_files_and_no_address() -> None:
    for requirement, options in _pins().values():
        (pin,) = requirement.specifier
        assert (pin.operator, requirement.url) == ("==", None)
        assert options
        for option in options:
            assert re.fullmatch(r"--hash=sha256:[0-9a-f]{64}", option), f"{requirement}: {option}"
    assert "://" not in (ROOT / "constraints.txt").read_text()


def test_the_pins_are_what_the_package_asks_for() -> None:
    """Nothing is resolved when they are installed."""
    project, pins = PROJECT["project"], _pins()
    asked = [*PROJECT["build-system"]["requires"], *project["dependencies"]]
    asked += [line for lines in project["optional-dependencies"].values() for line in lines]
    for requirement in map(Requirement, asked):
        if requirement.name != "dlsched":
            (pin,) = pins[canonicalize_name(requirement.name)][0].specifier
            assert pin.version in requirement.specifier, f"{requirement}: make lock"
