"""Every constant of the rooms says why it is as large, and every tolerance stands in `dlsched.tolerances`.

A constant is a name in capitals, of a module or a class, for numbers that are written out. The docstring below it says
where they come from: measured, from a paper, from a format, or arbitrary. Numbers so small that they can only be
tolerances stand in the one module, but for those that data are drawn with.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

import pytest

from tests import paths

TOLERANCES = "package/tolerances.py"
SMALL = 1e-3
"""Numbers up to this are taken for tolerances: no share, no time and no rate of an algorithm is as small."""

DRAWN = {"families.py", "presets.py", "random.py", "sources.py"}
"""Files that draw data: their small numbers are ranges of it."""

NUMERIC = (
    ast.BinOp,
    ast.Call,
    ast.Constant,
    ast.Dict,
    ast.Load,
    ast.Name,
    ast.Set,
    ast.Tuple,
    ast.UnaryOp,
    ast.operator,
    ast.unaryop,
)
"""What an expression of numbers that are written out is made of."""

NUMBERS_OF = {"Fraction", "exp", "float", "int", "log", "max", "min", "power"}
"""What it may call: other calls make something else of numbers."""


def constants(body: list[ast.stmt]) -> Iterator[tuple[ast.stmt, str, bool]]:
    """Yield the constants of a module or class, their names, and whether a docstring follows."""
    for statement, below in zip(body, [*body[1:], None], strict=True):
        match statement:
            case ast.Assign(targets=[target], value=value) | ast.AnnAssign(target=target, value=ast.expr() as value):
                names = [name.id for name in ast.walk(target) if isinstance(name, ast.Name)]
                if _is_written(value) and names and all(name.lstrip("_").isupper() for name in names):
                    yield statement, ", ".join(names), _is_docstring(below)


def _is_written(value: ast.expr) -> bool:
    """Tell whether an expression is of numbers that are written out."""
    nodes = list(ast.walk(value))
    called = {node.func.id for node in nodes if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)}
    return (
        all(isinstance(node, NUMERIC) for node in nodes)
        and called <= NUMBERS_OF
        and any(isinstance(node, ast.Constant) and type(node.value) in {int, float} for node in nodes)
    )


def _is_docstring(statement: ast.stmt | None) -> bool:
    match statement:
        case ast.Expr(value=ast.Constant(value=str(text))):
            return bool(text.strip())
    return False


def unexplained(source: str) -> Iterator[tuple[int, str]]:
    """Yield line and names of constants without a docstring."""
    tree = ast.parse(source)
    for body in [tree.body, *(node.body for node in ast.walk(tree) if isinstance(node, ast.ClassDef))]:
        yield from ((statement.lineno, names) for statement, names, explained in constants(body) if not explained)


def small(source: str) -> Iterator[tuple[int, float]]:
    """Yield line and value of floats, and of fractions of powers of ten, that can only be tolerances."""
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Constant(value=float(value)) if 0 < value <= SMALL:
                yield node.lineno, value
            case ast.Call(
                func=ast.Name("Fraction"),
                args=[ast.Constant(value=1), ast.BinOp(ast.Constant(value=10), ast.Pow(), ast.Constant(value=int(n)))],
            ) if 10.0**-n <= SMALL:
                yield node.lineno, 10.0**-n


def files() -> dict[str, str]:
    """The sources of the rooms, by path."""
    every = {
        file.relative_to(paths.ROOT).as_posix(): file
        for room in paths.ROOMS
        for file in (paths.ROOT / room).rglob("*.py")
    }
    return {place: file.read_text(encoding="utf-8") for place, file in every.items()}


@pytest.mark.slow
def test_every_constant_has_its_reason() -> None:
    lines = [
        f"{place}:{line}: {names}: say in a docstring below it why it is as large"
        for place, source in files().items()
        for line, names in unexplained(source)
    ]
    assert not lines, "\n" + "\n".join(lines)


@pytest.mark.slow
def test_no_constant_is_bound_twice() -> None:
    """The second would be the first one's value, too, wherever that is used."""
    for place, source in files().items():
        names = [name for _, names, _ in constants(ast.parse(source).body) for name in names.split(", ")]
        assert len(names) == len(set(names)), f"{place}: {sorted({n for n in names if names.count(n) > 1})}"


@pytest.mark.slow
def test_every_tolerance_stands_in_one_module() -> None:
    lines = [
        f"{place}:{line}: {value:g}: name it in {TOLERANCES}"
        for place, source in files().items()
        if place != TOLERANCES and place.rpartition("/")[2] not in DRAWN
        for line, value in small(source)
    ]
    assert not lines, "\n" + "\n".join(lines)


@pytest.mark.parametrize(
    "source",
    [
        "MOST = 20",
        "_MOST: int = 2 * 10**6\nOTHER = 'text'",
        "LOW, HIGH = 0.5, -1.0",
        "SHARE = Fraction(1, 3)\n''",
        "NEEDS = {'gpu': (0, 4)}\n# a comment is no docstring",
        "class A:\n    MOST = 3\n    name: str",
        "FIRST = 1\nSECOND = 2\n'''Why they are so.'''",
    ],
)
def test_what_lacks_a_reason(source: str) -> None:
    assert len(list(unexplained(source))) == 1


@pytest.mark.parametrize(
    "source",
    [
        "MOST = 20\n'''Arbitrary.'''",
        "LOW, HIGH = 0.5, -1.0\n'''From the paper.'''",
        "NAMES = ('a', 'b')",
        "SILENT = True",
        "lower = 3",
        "HALF = OTHER / other.size",
        "FIRST, SECOND = theorems(5)",
        "def f():\n    MOST = 3",
    ],
)
def test_what_needs_none(source: str) -> None:
    assert not list(unexplained(source))


def test_which_numbers_are_small() -> None:
    source = "a = 1e-9 * x + f(y=1e-3, z=-2e-4) + 0.0 + 0.01 + 1 + len('1e-9')"
    assert [value for _, value in small(source)] == [1e-9, 1e-3, 2e-4]
