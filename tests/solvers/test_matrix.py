"""A matrix of arrays: what it takes for one, and what it refuses by name."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from dlsched.errors import InputError
from dlsched.solvers import Matrix, solve_matrix

ENTRIES = [[1.0, 2.0], [0.0, 1.0]]
KINDS = [sp.csr_array, sp.csc_array, sp.coo_array, sp.lil_array, sp.csr_matrix, sp.csc_matrix, np.array, list]


def program(**changed: Any) -> Matrix:
    """Minimise -x - y where x + 2 y <= 4, y <= 1, 0 <= x, y <= 9: -4 at (4, 0)."""
    parts: dict[str, Any] = {
        "c": np.full(2, -1.0),
        "offset": 0.0,
        "sense": 1,
        "A": sp.csr_array(ENTRIES),
        "row_lower": np.full(2, -np.inf),
        "row_upper": np.array([4.0, 1.0]),
        "lower": np.zeros(2),
        "upper": np.full(2, 9.0),
        "integer": np.zeros(2, dtype=bool),
    }
    return Matrix(**parts | changed)


@pytest.mark.parametrize("dtype", [float, int])
@pytest.mark.parametrize("kind", KINDS)
def test_rows_are_rows_in_whatever_kind_of_matrix(kind: Any, dtype: Any) -> None:
    """In columns the program was another: x <= 4, 2 x + y <= 1, worth -1."""
    matrix = program(A=kind(np.array(ENTRIES, dtype=dtype).tolist()))
    assert isinstance(matrix.A, sp.csr_array)
    assert matrix.A.dtype == float
    assert solve_matrix(matrix).summary.objective == pytest.approx(-4)


def test_a_matrix_of_rows_is_not_copied() -> None:
    A, whole = sp.csr_array(ENTRIES), np.zeros(2, dtype=bool)
    matrix = program(A=A, integer=whole)
    assert matrix.A is A
    assert matrix.integer is whole


@pytest.mark.parametrize("whole", [[True, False], (1, 0), np.array([1, 0]), np.array([1.0, 0.0])])
def test_truth_values_of_any_kind(whole: Any) -> None:
    matrix = program(integer=whole)
    assert matrix.integer.dtype == bool
    assert matrix.integer.tolist() == [True, False]


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"sense": 0}, "sense: 0 is neither 1, to minimise, nor -1, to maximise"),
        ({"sense": "min"}, "sense: 'min' is neither 1, to minimise, nor -1, to maximise"),
        ({"c": np.ones(3)}, "c: has shape (3,), not (2,)"),
        ({"c": None}, "c: has shape (), not (2,)"),
        ({"lower": 0.0}, "lower: has shape (), not (2,)"),
        ({"upper": np.ones(1)}, "upper: has shape (1,), not (2,)"),
        ({"row_lower": np.ones((2, 1))}, "row_lower: has shape (2, 1), not (2,)"),
        ({"row_upper": []}, "row_upper: has shape (0,), not (2,)"),
        ({"integer": [True]}, "integer: has shape (1,), not (2,)"),
        ({"integer": np.ones(3, dtype=bool)}, "integer: has shape (3,), not (2,)"),
        ({"integer": [0.5, 0]}, "integer: must be an array of truth values, not [0.5, 0]"),
        ({"A": np.ones(2)}, "A: has shape (2,); it must have rows and columns"),
        ({"A": np.ones((1, 2, 2))}, "A: has shape (1, 2, 2); it must have rows and columns"),
        ({"A": None}, "A: has shape (); it must have rows and columns"),
        ({"A": sp.csr_array(ENTRIES) * 1j}, "A: must be a matrix of numbers, not of complex128"),
        ({"A": sp.csr_array([[1.0, 2.0]])}, "row_lower: has shape (2,), not (1,)"),
        ({"A": np.ones((2, 3))}, "c: has shape (2,), not (3,)"),
    ],
)
def test_what_is_no_program_is_refused_by_name(changed: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError) as caught:
        program(**changed)
    assert str(caught.value) == message
