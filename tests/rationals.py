"""Comparing a program in exact rationals with the compiled formulation that it restates."""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from dlsched.algorithms.exact.certificates import ExactProgram
from dlsched.solvers.matrix import Matrix

_RELATIVE = 1e-12
"""What a float may be off the rational that it stands for, after a few roundings."""


def assert_restates(program: ExactProgram, matrix: Matrix) -> None:
    """Assert that a program is a compiled formulation: columns, objective and rows by name, coefficient by coefficient.

    A row and its negative are the same. The program may have what compiling leaves out: columns in no row and of no
    cost, and rows without terms that hold.
    """
    assert matrix.sense == (-1 if program.sense == "maximize" else 1)
    assert _same(program.constant, matrix.offset)
    _assert_columns(program, matrix)
    names = [column.name for column in program.columns]
    rows = {}
    for row in program.rows:
        if row.terms:
            rows[row.name] = _row({names[j]: a for j, a in row.terms.items()}, row.lower, row.upper)
        else:
            assert (row.lower or 0) <= 0 <= (row.upper or 0), row.name
    assert sorted(rows) == sorted(matrix.row_names)
    for i, name in enumerate(matrix.row_names):
        entries = slice(matrix.A.indptr[i], matrix.A.indptr[i + 1])
        found = zip(matrix.A.indices[entries], matrix.A.data[entries], strict=True)
        terms = {matrix.column_names[j]: value for j, value in found if value}
        assert _same_row(rows[name], _row(terms, matrix.row_lower[i], matrix.row_upper[i])), name


def _assert_columns(program: ExactProgram, matrix: Matrix) -> None:
    used = {j for row in program.rows for j in row.terms} | {j for j, c in enumerate(program.columns) if c.cost}
    columns = {program.columns[j].name: program.columns[j] for j in used}
    assert set(columns) <= set(matrix.column_names) <= {column.name for column in program.columns}
    for j, name in enumerate(matrix.column_names):
        if name in columns:
            column = columns[name]
            assert column.integer == matrix.integer[j], name
            assert _same(column.cost, matrix.c[j]), name
            assert _same(_side(column.lower, -1), matrix.lower[j]), name
            assert _same(_side(column.upper, 1), matrix.upper[j]), name


Row = tuple[Mapping[str, Any], Any, Any]


def _row(terms: Mapping[str, Any], lower: Any, upper: Any) -> Row:
    """Return a row whose first coefficient by name is positive, with infinities for sides that are not there."""
    lower, upper = _side(lower, -1), _side(upper, 1)
    if terms[min(terms)] > 0:
        return terms, lower, upper
    return {name: -value for name, value in terms.items()}, -upper, -lower


def _same_row(one: Row, other: Row) -> bool:
    alike = one[0].keys() == other[0].keys() and all(_same(value, other[0][name]) for name, value in one[0].items())
    return alike and _same(one[1], other[1]) and _same(one[2], other[2])


def _side(value: Fraction | float | None, sign: int) -> Fraction | float:
    return sign * math.inf if value is None else value


def _same(one: Fraction | float, other: float) -> bool:
    return math.isclose(one, other, rel_tol=_RELATIVE, abs_tol=0.0)
