"""The warm linear program: what is refused by name, what has no optimum, and what a solver fails to decide."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable
from typing import Any, Literal

import highspy
import numpy as np
import pytest
import scipy.sparse as sp

from dlsched.algorithms.exact.hadar.rows import Hall, Separator
from dlsched.errors import InputError
from dlsched.relaxations import augmented_vne
from dlsched.solvers.highs import Session, loaded
from dlsched.solvers.matrix import UnfitNumberError
from dlsched.solvers.solution import SolverError
from tests.cases import ddljs as ddljs_cases

INF = np.inf


def whole(*numbers: int) -> Any:
    return np.array(numbers, dtype=np.int32)


def reals(*numbers: float) -> Any:
    return np.array(numbers, dtype=float)


def session() -> Session:
    """Maximise 3 x + 2 y where x + y <= 4, x + 3 y <= 6, x <= 3: 11 at (3, 1)."""
    lp = Session(-1)
    lp.add_columns(reals(3, 2), reals(3, INF), sp.csc_array((0, 2)))
    lp.add_rows(reals(-INF, -INF), reals(4, 6), sp.csr_array([[1.0, 1.0], [1.0, 3.0]]))
    return lp


def optimum(lp: Session) -> float:
    found = lp.solve()
    assert found is not None
    return found[0]


def test_it_grows_shrinks_and_changes() -> None:
    lp = session()
    value, point, duals = lp.solve() or pytest.fail("no optimum")
    assert (value, point.tolist()) == (pytest.approx(11), pytest.approx([3, 1]))
    assert duals.tolist() == pytest.approx([2, 0])
    lp.add_columns(reals(10), reals(1), sp.csc_array([[1.0], [0.0]]))
    assert optimum(lp) == pytest.approx(10 + 9)
    lp.add_row(-INF, 2.0, whole(0, 2), reals(1, 1))
    assert optimum(lp) == pytest.approx(10 + 3 + 2 * 5 / 3)
    lp.delete_rows(whole(2))
    lp.delete_columns(whole(2))
    lp.set_coefficient(0, 0, 2.0)
    assert optimum(lp) == pytest.approx(6.8)
    lp.bound_rows(whole(0, 1), reals(-INF, -INF), reals(2, 2))
    lp.set_costs(reals(1, 1))
    lp.bound_columns(reals(0.5, 0.25))
    assert optimum(lp) == pytest.approx(0.75)
    lp.bound_columns(reals(0.3), columns=whole(1))
    assert optimum(lp) == pytest.approx(0.8)


NUMBERS: dict[str, Callable[[Session, float], None]] = {
    "row 2: the coefficient of column 1": lambda lp, bad: lp.add_row(0.0, 1.0, whole(0, 1), reals(1, bad)),
    "row 3: the coefficient of column 0": lambda lp, bad: lp.add_rows(
        reals(0, 0), reals(1, 1), sp.csr_array([[1.0, 1.0], [bad, 1.0]])
    ),
    "row 1: the coefficient of column 3": lambda lp, bad: lp.add_columns(
        reals(1, 1), reals(1, 1), sp.csc_array([[1.0, 1.0], [1.0, bad]])
    ),
    "row 1: the coefficient of column 0": lambda lp, bad: lp.set_coefficient(1, 0, bad),
}


def test_it_starts_from_an_earlier_basis() -> None:
    lp = session()
    assert optimum(lp) == pytest.approx(11)
    basis = lp.basis()
    lp.bound_columns(reals(0, INF))
    assert optimum(lp) == pytest.approx(4)
    lp.add_columns(reals(5), reals(INF), sp.csc_array([[1.0], [0.0]]))
    assert optimum(lp) == pytest.approx(20)
    lp.bound_columns(reals(3, INF, 0))
    lp.start_from(basis)
    assert optimum(lp) == pytest.approx(11)


@pytest.mark.parametrize("value", [np.nan, INF, -INF, 1e15, -1e18, 1e-12, -1e-300])
@pytest.mark.parametrize("place", NUMBERS)
def test_coefficients_that_highs_would_drop_or_refuse_are_named(place: str, value: float) -> None:
    lp = session()
    with pytest.raises(UnfitNumberError, match=f"{place} is {value:.6g}; HiGHS keeps".replace("+", r"\+")):
        NUMBERS[place](lp, value)
    assert optimum(lp) == pytest.approx(11)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda lp: lp.set_costs(reals(1, np.nan)), "objective: the coefficient of column 1 is nan"),
        (lambda lp: lp.set_costs(reals(1e20, 1)), r"objective: the coefficient of column 0 is 1e\+20"),
        (
            lambda lp: lp.add_columns(reals(INF), reals(1), sp.csc_array((2, 1))),
            "objective: the coefficient of column 2 is inf",
        ),
        (lambda lp: lp.bound_columns(reals(1, np.nan)), "column 1: the upper bound is nan"),
        (lambda lp: lp.bound_columns(reals(np.nan), columns=whole(1)), "column 1: the upper bound is nan"),
        (lambda lp: lp.bound_columns(reals(1, 1), reals(INF, 0)), "column 0: the lower bound is inf"),
        (lambda lp: lp.bound_columns(reals(1, 3e20)), r"column 1: the upper bound is 3e\+20"),
        (
            lambda lp: lp.add_columns(reals(1), reals(-INF), sp.csc_array((2, 1))),
            "column 2: the upper bound is -inf",
        ),
        (
            lambda lp: lp.add_rows(reals(np.nan), reals(1), sp.csr_array([[1.0, 1.0]])),
            "row 2: the lower bound is nan",
        ),
        (lambda lp: lp.add_row(-INF, np.nan, whole(0), reals(1)), "row 2: the upper bound is nan"),
        (lambda lp: lp.bound_rows(whole(1), reals(1e20), reals(INF)), r"row 1: the lower bound is 1e\+20"),
    ],
)
def test_costs_and_bounds_that_are_no_numbers_are_named(change: Callable[[Session], None], message: str) -> None:
    lp = session()
    with pytest.raises(UnfitNumberError, match=message):
        change(lp)
    assert optimum(lp) == pytest.approx(11)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda lp: lp.set_costs(reals(1)), "c: has shape (1,), not (2,)"),
        (lambda lp: lp.bound_columns(reals(1)), "upper: has shape (1,), not (2,)"),
        (lambda lp: lp.bound_columns(reals(1, 1), reals(0)), "lower: has shape (1,), not (2,)"),
        (lambda lp: lp.bound_columns(reals(1, 1), columns=whole(1)), "upper: has shape (2,), not (1,)"),
        (lambda lp: lp.bound_rows(whole(0, 1), reals(0), reals(1, 1)), "lower: has shape (1,), not (2,)"),
        (lambda lp: lp.bound_rows(whole(0), reals(0), reals(1, 1)), "upper: has shape (2,), not (1,)"),
        (lambda lp: lp.add_row(0.0, 1.0, whole(0, 1), reals(1)), "values: has shape (1,), not (2,)"),
        (lambda lp: lp.add_rows(reals(0, 0), reals(1), np.ones((2, 2))), "upper: has shape (1,), not (2,)"),
        (lambda lp: lp.add_rows(reals(0), reals(1), np.ones((2, 2))), "A: has shape (2, 2), not (1, 2)"),
        (lambda lp: lp.add_rows(reals(0), reals(1), np.ones((1, 3))), "A: has shape (1, 3), not (1, 2)"),
        (lambda lp: lp.add_columns(reals(1, 1), reals(1), np.ones((2, 2))), "upper: has shape (1,), not (2,)"),
        (
            lambda lp: lp.add_columns(reals(1), reals(1), np.ones((2, 1)), reals(0, 0)),
            "lower: has shape (2,), not (1,)",
        ),
        (lambda lp: lp.add_columns(reals(1), reals(1), np.ones((2, 2))), "A: has shape (2, 2), not (2, 1)"),
        (lambda lp: lp.add_columns(reals(1), reals(1), np.ones((1, 1))), "A: has shape (1, 1), not (2, 1)"),
        (
            lambda lp: lp.add_columns_of(reals(1, 1), reals(1), whole(0, 1, 2), whole(0, 1), reals(1, 1)),
            "upper: has shape (1,), not (2,)",
        ),
        (
            lambda lp: lp.add_columns_of(reals(1, 1), reals(1, 1), whole(0, 1), whole(0), reals(1)),
            "starts: of 2 columns, 1 rows and 1 values there must be 3, the last of them the number of values",
        ),
        (
            lambda lp: lp.add_columns_of(reals(1), reals(1), whole(0, 2), whole(0), reals(1, 1)),
            "starts: of 1 columns, 1 rows and 2 values there must be 2, the last of them the number of values",
        ),
        (
            lambda lp: lp.add_columns_of(reals(1), reals(1), whole(0, 2), whole(0), reals(1)),
            "starts: of 1 columns, 1 rows and 1 values there must be 2, the last of them the number of values",
        ),
    ],
)
def test_arrays_of_another_length_are_refused(change: Callable[[Session], None], message: str) -> None:
    """HiGHS read past the end of a short one, or changed the first columns only."""
    lp = session()
    with pytest.raises(InputError, match=f"^{re.escape(message)}$"):
        change(lp)
    assert optimum(lp) == pytest.approx(11)


def test_a_sense_is_one_of_two() -> None:
    with pytest.raises(InputError, match=r"^sense: 0 is neither 1, to minimise, nor -1, to maximise$"):
        Session(0)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda lp: lp.set_coefficient(7, 0, 1.0), "a coefficient of row 7, column 0"),
        (lambda lp: lp.bound_rows(whole(9), reals(0), reals(1)), "the sides of row 9"),
        (lambda lp: lp.delete_rows(whole(5)), r"to delete the rows \[5\]"),
        (lambda lp: lp.delete_columns(whole(4)), r"to delete the columns \[4\]"),
        (lambda lp: lp.add_row(0.0, 1.0, whole(6), reals(1)), "row 2"),
    ],
)
def test_what_is_not_there_is_refused(change: Callable[[Session], None], message: str) -> None:
    with pytest.raises(SolverError, match=f"HiGHS refused {message}"):
        change(session())


def test_an_infeasible_or_unbounded_program_has_no_optimum() -> None:
    lp = session()
    lp.add_row(5.0, INF, whole(0, 1), reals(1, 1))
    assert lp.solve() is None
    lp.delete_rows(whole(2))
    assert optimum(lp) == pytest.approx(11)
    lp.bound_rows(whole(0, 1), reals(-INF, -INF), reals(INF, INF))
    assert lp.solve() is None


@pytest.mark.parametrize("sense", [1, -1])
def test_a_ray_shows_why_there_is_no_point(sense: Literal[1, -1]) -> None:
    lp = Session(sense)
    lp.add_columns(reals(1, 1, 5), reals(1, 1, 1), sp.csc_array((0, 3)))
    A = sp.csr_array([[1.0, 1.0, 0.0], [0.0, 1.0, 1.0]])
    lp.add_rows(reals(3, -INF), reals(INF, 1), A)
    assert lp.solve() is None
    ray = lp.ray()
    assert ray is not None
    sides, reduced = np.where(ray > 0, ray * reals(0, 1), ray * reals(3, 0)), -(A.T @ ray)
    assert sides.sum() + np.maximum(reduced, 0).sum() < 0
    lp.bound_rows(whole(0), reals(1), reals(INF))
    assert lp.solve() is not None
    assert lp.ray() is None


def test_crossed_bounds_leave_no_point() -> None:
    lp = session()
    lp.bound_columns(reals(1, 1), reals(2, 0))
    assert lp.solve() is None


def test_a_solver_that_ends_without_an_answer_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    lp = session()
    monkeypatch.setattr(highspy.Highs, "run", lambda _: highspy.HighsStatus.kError)
    with pytest.raises(SolverError, match="did not solve a linear program, also not from scratch"):
        lp.solve()
    monkeypatch.undo()
    assert optimum(lp) == pytest.approx(11)


def test_a_solve_that_fails_once_is_tried_from_scratch(monkeypatch: pytest.MonkeyPatch) -> None:
    lp, calls, run = session(), [], highspy.Highs.run

    def fails_once(highs: Any) -> Any:
        calls.append(1)
        return highspy.HighsStatus.kError if len(calls) == 1 else run(highs)

    monkeypatch.setattr(highspy.Highs, "run", fails_once)
    assert optimum(lp) == pytest.approx(11)
    assert len(calls) == 2


def test_nothing_is_printed_where_a_solver_is_made(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """HiGHS 1.16 prints its version in its constructor, where callbacks are enabled, unless it is silent by then."""
    enable = highspy.Highs.enableCallbacks

    def loud(highs: Any) -> None:
        if highs.getOptionValue("output_flag")[1]:
            print("Running HiGHS")
        enable(highs)

    monkeypatch.setattr(highspy.Highs, "enableCallbacks", loud)
    highspy.Highs()
    assert "Running HiGHS" in capfd.readouterr().out
    lp = session()
    assert optimum(lp) == pytest.approx(11)
    matrix = augmented_vne(ddljs_cases.problem("G15")).matrix
    assert loaded(matrix).getNumCol() == matrix.A.shape[1]
    assert capfd.readouterr().out == ""


def test_the_number_of_threads_of_another_solve_does_not_matter() -> None:
    """HiGHS refuses to run with another number of threads than the first model of a Python thread had."""
    values = []

    def both() -> None:
        other = highspy.Highs()
        other.setOptionValue("output_flag", False)
        other.setOptionValue("threads", 2)
        other.run()
        values.append(optimum(session()))

    thread = threading.Thread(target=both)
    thread.start()
    thread.join()
    assert values == [pytest.approx(11)]


def test_a_master_that_fails_hands_over_to_the_whole_program(monkeypatch: pytest.MonkeyPatch) -> None:
    program = augmented_vne(ddljs_cases.problem("G15"), cap=True)
    expected, failures = program.solve(), []

    def fails(_: Session) -> None:
        failures.append(1)
        raise SolverError("HiGHS did not solve a linear program")

    monkeypatch.setattr(Session, "solve", fails)
    found = program.solve()
    assert found.value == pytest.approx(expected.value)
    assert max(program.certify(found).values()) < 1e-7
    assert (found.method, len(failures)) == ("simplex", 1)


def test_no_inequality_is_found_where_the_solver_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    hall = Hall(1, 5, np.ones((1, 3), dtype=bool), np.array([3, 3, 3]))
    assert Separator(hall).separate(reals(0.6, 0.6, 0.6)) is not None

    def fails(_: Session) -> None:
        raise SolverError("HiGHS did not solve a linear program")

    monkeypatch.setattr(Session, "solve", fails)
    assert Separator(hall).separate(reals(0.6, 0.6, 0.6)) is None


def test_a_program_on_which_the_primal_simplex_ends_without_a_result() -> None:
    """HiGHS 1.15.1 says "Unknown" unless it takes the dual simplex; that the value is right, weak duality shows."""
    lp = Session(-1)
    lp.add_columns(np.full(6, 1.25), np.ones(6), sp.csc_array((0, 6)))
    rows = [[0.75, 0.75, 1.75, 0.25, 1.0, 1.25], [1.75, 1.0, 0.25, 0.75, 0.5, 0.25]]
    lp.add_rows(reals(-INF, -INF), reals(2.75, 2.25), sp.csr_array(rows))
    value, point, duals = lp.solve() or pytest.fail("no optimum")
    assert (np.array(rows) @ point <= reals(2.75, 2.25) + 1e-7).all()
    least = reals(2.75, 2.25) @ duals + np.maximum(1.25 - duals @ np.array(rows), 0).sum()
    assert value == pytest.approx(least)
