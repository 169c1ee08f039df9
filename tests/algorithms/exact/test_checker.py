"""What the checker of exact certificates is: one short file, and no solver in anything that it needs."""

from __future__ import annotations

import ast
import importlib.util
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from dlsched.algorithms import optimum
from dlsched.models import ddljs, dmlrs, hadar, smd

CHECKER = "dlsched.algorithms.exact.certificates.check"

SOLVERS = ("highspy", "pyscipopt", "cvxpy", "pyomo", "scipy", "networkx")
"""What finds optima and trees, and what models are written with."""

NEEDED = {
    "dlsched",
    "dlsched.algorithms",
    "dlsched.algorithms.algorithm",
    "dlsched.algorithms.exact",
    "dlsched.algorithms.exact.certificates",
    "dlsched.algorithms.exact.certificates.certificate",
    "dlsched.algorithms.exact.certificates.check",
    "dlsched.algorithms.exact.certificates.program",
    "dlsched.algorithms.exact.result",
    "dlsched.algorithms.run",
    "dlsched.arguments",
    "dlsched.errors",
    "dlsched.exports",
    "dlsched.halt",
    "dlsched.lazy",
    "dlsched.models",
    "dlsched.models.document",
    "dlsched.models.files",
    "dlsched.models.formulation",
    "dlsched.models.numbers",
    "dlsched.models.options",
    "dlsched.models.parameters",
    "dlsched.models.places",
    "dlsched.models.problem",
    "dlsched.models.registry",
    "dlsched.models.schedule",
    "dlsched.readable",
    "dlsched.tolerances",
}
"""All of this package that the checker imports; a problem's instances, schedules and writer come on top."""


def source(module: str) -> Path | None:
    """The file of a module, None where there is no such module; packages are imported for it, which export lazily."""
    try:
        spec = importlib.util.find_spec(module)
    except ModuleNotFoundError:
        return None
    return None if spec is None or spec.origin is None else Path(spec.origin)


def imported(module: str) -> Iterator[str]:
    """The modules that a module imports when it is imported: not in functions, and not what only type checkers read."""
    path = source(module)
    assert path is not None
    todo: list[ast.AST] = [ast.parse(path.read_text(encoding="utf-8"))]
    while todo:
        node = todo.pop()
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            todo += node.orelse
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{module} imports relatively"
            yield node.module or ""
            yield from (name for alias in node.names if source(name := f"{node.module}.{alias.name}"))
        elif not isinstance(node, ast.FunctionDef):
            todo += ast.iter_child_nodes(node)


def closure(module: str) -> set[str]:
    """A module, what it imports, and so on: all of this package by name, of others the top name."""
    found: set[str] = set()
    todo = [module]
    while todo:
        name = todo.pop()
        if name.split(".")[0] != "dlsched":
            found.add(name.split(".")[0])
        elif name not in found:
            found.add(name)
            todo += [*imported(name), *([name.rpartition(".")[0]] if "." in name else [])]
    return found


EXAMPLES = re.compile(r'\n\n *Examples\n *-{8}\n.*?\n *(?=""")', re.DOTALL)
"""The last section of a docstring: nothing of it has to be trusted."""


def test_the_checker_is_short() -> None:
    path = source(CHECKER)
    assert path is not None
    assert len(EXAMPLES.sub("", path.read_text(encoding="utf-8")).splitlines()) < 200


def test_the_checker_needs_no_solver() -> None:
    """By the import statements: what is trusted has a name, and nothing of it imports a solver or a modelling tool."""
    needed = closure(CHECKER)
    assert {name for name in needed if name.startswith("dlsched")} == NEEDED
    assert needed.isdisjoint(SOLVERS)


@pytest.mark.slow
@pytest.mark.parametrize(
    "module",
    [
        f"dlsched.algorithms.exact.{name}"
        for name in ("certificates.tree", "hadar.solver", "smd.solver", "dmlrs.solver", "ddljs.solver")
    ],
)
def test_what_finds_optima_and_trees_needs_one(module: str) -> None:
    """The walk finds solvers where there are some."""
    assert "dlsched.solvers.highs" in closure(module)


CODE = """
import sys
class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in SOLVERS:
            raise ModuleNotFoundError(f"{name} is not there", name=name)
sys.meta_path.insert(0, Absent())
from dlsched.algorithms import ExactCertificate, check_certificate
for file in sys.argv[1:]:
    print(check_certificate(ExactCertificate.load(file)).value)
"""


@pytest.mark.process
def test_certificates_of_all_problems_check_where_no_solver_is_installed(tmp_path: Path) -> None:
    values, files = [], []
    for problem in (hadar, smd, dmlrs, ddljs):
        found = optimum(problem.preset("random", 3)).exact
        assert found is not None
        values.append(str(found.value))
        files.append(str(tmp_path / f"{found.problem}.json"))
        Path(files[-1]).write_text(json.dumps(found.document().dump()))
    code = f"SOLVERS = {SOLVERS!r}{CODE}"
    run = subprocess.run(
        [sys.executable, "-c", code, *files], env=os.environ, capture_output=True, text=True, check=True
    )
    assert run.stdout.split() == values
