"""HiGHS: a program solved once, and a linear one that grows and stays warm. Nothing else imports highspy.

HiGHS takes NaN for a number, drops small coefficients and refuses others with a status that is easily overlooked, and
then solves another program than the one that was meant. So every number is looked at before it is handed over (here or
by `dlsched.solvers.scaling`), and the status of every call is read.
"""

from __future__ import annotations

import math
import os
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cache, partial
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from dlsched.arguments import vector
from dlsched.errors import InputError
from dlsched.halt import Halt, current, poll, run_in_thread
from dlsched.lazy import sp
from dlsched.solvers.matrix import Floats, Matrix, UnfitNumberError, expect_sense
from dlsched.solvers.options import SolverOptions
from dlsched.solvers.refinement import LinearOptimum, is_better_ray, refined, slack_rows
from dlsched.solvers.scaling import INFINITE, REFUSED
from dlsched.solvers.solution import RawSolution, Solution, SolverError, Status
from dlsched.tolerances import FEASIBLE, LEAST_DROPPED, TOLERANCE


@cache
def _quiet() -> Any:
    """Return the class of a `highspy.Highs` that prints nothing; not made before that, as importing it takes long."""
    import highspy

    class Quiet(highspy.Highs):
        def enableCallbacks(self) -> None:
            # Where callbacks are enabled HiGHS 1.16 prints its version, and its constructor enables them: no caller
            # can be earlier.
            self.setOptionValue("output_flag", False)
            super().enableCallbacks()

    return Quiet


def loaded(matrix: Matrix, **options: Any) -> Any:
    """Return a silent `highspy.Highs` that holds the matrix.

    Parameters
    ----------
    matrix : Matrix
    **options
        HiGHS options by name, e.g. ``mip_rel_gap=0.0``.
    """
    import highspy

    solver = _quiet()()
    for name, value in options.items():
        if solver.setOptionValue(name, value) != highspy.HighsStatus.kOk:
            raise ValueError(f"HiGHS has no option {name} = {value!r}")
    rows, columns = matrix.A.shape
    # Arrays go straight into passModel: filling a HighsLp converts them number by number, three times as slow.
    status = solver.passModel(
        columns,
        rows,
        matrix.A.nnz,
        int(highspy.MatrixFormat.kRowwise),
        int(highspy.ObjSense.kMinimize if matrix.sense == 1 else highspy.ObjSense.kMaximize),
        matrix.offset,
        matrix.c,
        matrix.lower,
        matrix.upper,
        matrix.row_lower,
        matrix.row_upper,
        matrix.A.indptr.astype(np.int32),
        matrix.A.indices.astype(np.int32),
        matrix.A.data.astype(float),
        matrix.integer.astype(np.int32),
    )
    if status == highspy.HighsStatus.kError:
        raise ValueError("HiGHS refused the model: it has numbers that `dlsched.solvers.scaling.scaled` would name")
    return solver


@contextmanager
def interruptible(solver: Any, interrupted: Callable[[], bool] | None = None) -> Iterator[None]:
    """Let a `highspy.Highs` that runs in the block end, as if time were up, where the work is over.

    It asks in all its phases that can (`dlsched.halt`).

    Parameters
    ----------
    solver : highspy.Highs
    interrupted : callable, optional
        Where it tells True, HiGHS ends too.
    """
    asked = [tells for tells in (current(), interrupted) if tells is not None]
    if not asked:
        yield
        return

    def ask(event: Any) -> None:
        if any(tells() for tells in asked):
            event.interrupt()

    callbacks = (solver.cbMipInterrupt, solver.cbSimplexInterrupt, solver.cbIpmInterrupt)
    for callback in callbacks:
        callback.subscribe(ask)
    try:
        yield
    finally:
        for callback in callbacks:
            callback.unsubscribe(ask)


def solve_highs(
    matrix: Matrix, asked: SolverOptions, tell: Callable[[float, Floats | None], None] | None = None
) -> RawSolution:
    """Solve a matrix, whose numbers HiGHS keeps; `tell` as for `dlsched.solvers.solve.solve_here`."""
    options: dict[str, Any] = {"mip_rel_gap": asked.gap, "mip_abs_gap": 0.0 if asked.gap == 0.0 else TOLERANCE}
    options |= {} if asked.time_limit is None else {"time_limit": float(asked.time_limit)}
    options |= {} if asked.seed is None else {"random_seed": asked.seed}
    options |= {} if asked.presolve else {"presolve": "off"}
    options |= {} if asked.nodes is None else {"mip_max_nodes": asked.nodes}
    options |= {} if asked.threads is None else {"threads": min(asked.threads, os.cpu_count() or 1)}
    solver = loaded(matrix, **options)
    # HiGHS before 1.13 has no such option, and then looks for cuts.
    solver.setOptionValue("mip_allow_cut_separation_at_nodes", asked.cuts)
    if tell is not None:
        solver.cbMipInterrupt += lambda event: tell(event.data_out.mip_dual_bound, None)
        solver.cbMipImprovingSolution += lambda event: tell(
            event.data_out.mip_dual_bound, np.array(event.data_out.mip_solution)
        )
    start = time.perf_counter()
    interrupted = threading.Event()
    # The number of HiGHS's threads is fixed, for a whole Python thread, by the first model that it solves there: a
    # second number is an error, and resetting it would take effect for everybody's models.
    run = solver.run if asked.threads is None else partial(run_in_thread, solver.run, interrupted.set)
    with interruptible(solver, interrupted.is_set):
        run()
        for way in _OTHER_WAYS[: 1 if matrix.integer.any() else None]:
            if not _is_undecided(solver, linear=not matrix.integer.any()):
                break
            for name, value in (("presolve", "off"), *way.items()):
                solver.setOptionValue(name, value)
            solver.clearSolver()
            run()
    return _read_highs(solver, matrix, time.perf_counter() - start)


_SCALED = 2
"""HiGHS's default `simplex_scale_strategy`; 0 is to leave the numbers as they are."""

_INTERIOR_ITERATIONS = 1000
"""Of the interior points, at most, which take some dozens. Of a program with sides of 1e12 and an optimum of 1.8 they
have been seen to go to and fro between two points for ever (1.15.1)."""

_OTHER_WAYS: tuple[dict[str, Any], ...] = (
    {"simplex_strategy": 0},
    {"simplex_strategy": 4},
    {"solver": "ipm", "ipm_iteration_limit": _INTERIOR_ITERATIONS},
    {"solver": "simplex", "simplex_strategy": 4, "simplex_scale_strategy": 0},
)
"""HiGHS's choice, its primal simplex method, its interior points, and the primal simplex method on the numbers as they
are: where one ends without a result, another has one.

Of programs that have a point or none by a part in 1e12, both simplex methods have been seen to say nothing; of some
that have none by a part in 1e5, all but the last.
"""


def _is_undecided(solver: Any, *, linear: bool) -> bool:
    """Tell whether HiGHS has to be asked once more, without its presolve."""
    import highspy

    codes = highspy.HighsModelStatus
    status = solver.getModelStatus()
    failed = (codes.kUnboundedOrInfeasible, codes.kPresolveError, codes.kSolveError, codes.kPostsolveError)
    unknown = (codes.kUnknown, codes.kIterationLimit)
    return status in failed or (linear and (status in unknown or _is_word_of_presolve(solver)))


def _is_word_of_presolve(solver: Any) -> bool:
    """Tell whether HiGHS calls a linear program infeasible and has no basis that shows why.

    Its presolve has been seen to say so of one that has an optimum at a distance from every side: 1e-6 x + .1 y to
    maximise, -1e-4 x - 9.999999999 y >= 3, -2e4 <= x <= -1e4, -.2 <= y <= -.1 (1.15.1; equal reduced costs but for
    1e-10).
    """
    import highspy

    infeasible = solver.getModelStatus() == highspy.HighsModelStatus.kInfeasible
    return infeasible and not solver.getInfo().basis_validity and solver.getOptionValue("presolve")[1] != "off"


def _read_highs(solver: Any, matrix: Matrix, seconds: float) -> RawSolution:
    import highspy

    Code = highspy.HighsModelStatus

    info, solution = solver.getInfo(), solver.getSolution()
    integral = bool(matrix.integer.any())
    has_point = int(info.primal_solution_status) == int(highspy.SolutionStatus.kSolutionStatusFeasible)
    status = {
        Code.kOptimal: Status.OPTIMAL,
        Code.kModelEmpty: Status.OPTIMAL,
        Code.kInfeasible: Status.INFEASIBLE,
        Code.kUnbounded: Status.UNBOUNDED,
    }.get(solver.getModelStatus(), Status.FEASIBLE if has_point else Status.NO_SOLUTION)
    bound = None
    if integral and status not in (Status.UNBOUNDED, Status.INFEASIBLE) and np.isfinite(info.mip_dual_bound):
        bound = float(info.mip_dual_bound)
    elif status is Status.OPTIMAL:
        bound = float(info.objective_function_value)
    nodes = max(0, int(info.mip_node_count)) if integral else 0
    summary = Solution(status, None, bound, None, seconds, nodes, "highs", solver.version())
    if status not in (Status.OPTIMAL, Status.FEASIBLE):
        return RawSolution(summary, None, left_open=solver.getModelStatus() == Code.kUnboundedOrInfeasible)
    x = np.asarray(solution.col_value, dtype=float)
    if integral or not solution.dual_valid:
        return RawSolution(summary, x)
    row_duals, costs = np.asarray(solution.row_dual, dtype=float), np.asarray(solution.col_dual, dtype=float)
    if status is not Status.OPTIMAL:
        return RawSolution(summary, x, row_duals, costs)
    taken = LinearOptimum.of(matrix, x, row_duals)
    found = refined(matrix, taken, partial(_corrected, solver.getBasis(), slack_rows(matrix)))
    if found.dual and _is_cheaply_unbounded(matrix, found.dual):
        return RawSolution(replace(summary, status=Status.UNBOUNDED, bound=None), None)
    if found is taken:
        return RawSolution(summary, x, row_duals, costs)
    return RawSolution(replace(summary, bound=matrix.value(found.x)), found.x, found.row_duals, found.reduced_costs)


def _is_cheaply_unbounded(matrix: Matrix, lack: float) -> bool:
    """Tell whether a linear program with a point has ever better ones, along a ray whose cost HiGHS takes for 0.

    Parameters
    ----------
    matrix : Matrix
    lack : float
        The reduced cost that is left where a bound is not reached: the costs are multiplied until it is near 1.
    """
    import highspy

    if np.isfinite(matrix.lower).all() and np.isfinite(matrix.upper).all():
        return False
    if not len(matrix.row_lower):
        return True  # each column is at the bound that its cost asks for, if there is one; HiGHS has no ray then
    exponent = -int(np.frexp(lack)[1])
    solver = loaded(replace(matrix, c=np.ldexp(matrix.c, exponent), offset=0.0), presolve="off")
    with interruptible(solver):
        solver.run()
    if solver.getModelStatus() != highspy.HighsModelStatus.kUnbounded:
        return False
    _, has_ray, ray = solver.getPrimalRay()
    return bool(has_ray) and is_better_ray(matrix, np.asarray(ray, dtype=float))


def _corrected(basis: Any, slack_rows: npt.NDArray[np.int64], matrix: Matrix) -> tuple[Floats, Floats] | None:
    """Solve what is left of a linear program (`refined`) from the basis that it ended with."""
    import highspy

    solver = loaded(matrix)
    rows = np.array(basis.row_status, dtype=object)
    start = highspy.HighsBasis()
    start.col_status = [*basis.col_status, *rows[slack_rows]]
    rows[slack_rows] = highspy.HighsBasisStatus.kLower
    start.row_status, start.valid = rows.tolist(), True
    solver.setBasis(start)
    with interruptible(solver):
        solver.run()
    if solver.getModelStatus() != highspy.HighsModelStatus.kOptimal:
        return None
    solution = solver.getSolution()
    return np.asarray(solution.col_value, dtype=float), np.asarray(solution.row_dual, dtype=float)


def infeasible_rows(matrix: Matrix) -> tuple[list[int], list[int]]:
    """Return rows of a linear program, whose numbers HiGHS keeps, that have no point, by HiGHS's word.

    Returns
    -------
    lower, upper : list of int
        The rows whose lower, and whose upper side is named; none where HiGHS finds none.
    """
    import highspy

    # Versions before this strategy had a name look for rows anyway; later ones, for trivial conflicts only.
    strategy = int(getattr(highspy.IisStrategy, "kIisStrategyFromLp", 0))
    solver = loaded(matrix, iis_strategy=strategy)
    with interruptible(solver):
        status, found = solver.getIis()
    if status == highspy.HighsStatus.kError:
        return [], []
    codes = highspy.IisBoundStatus
    named = list(zip(map(int, found.row_index_), found.row_bound_, strict=True))
    lower = [row for row, side in named if side in (codes.kIisBoundStatusLower, codes.kIisBoundStatusBoxed)]
    upper = [row for row, side in named if side in (codes.kIisBoundStatusUpper, codes.kIisBoundStatusBoxed)]
    return lower, upper


class Basis:
    """A basis of a `Session`, which can grow with its columns.

    HiGHS makes a list of what each column is, a third of a millisecond for a thousand, so it is asked for it once.
    """

    def __init__(self, found: Any) -> None:
        self._found = found
        self._columns: list[Any] | None = None

    def of(self, columns: int, nonbasic: Any) -> Any:
        """Return HiGHS's basis of so many columns, those behind its own nonbasic."""
        if self._columns is None:
            self._columns = list(self._found.col_status)
        missing = columns - len(self._columns)
        if missing:
            self._columns += [nonbasic] * missing
            self._found.col_status = self._columns
        return self._found


_NO_LIMIT = 2**31 - 1
"""Of iterations: HiGHS's own default."""

_UNASKED = 1_000_000
"""Iterations times rows and columns in which a warm session is not asked whether to stop: less than .1 s."""


class Session:
    """A linear program that grows and stays warm: each solve starts from the basis of the last one.

    Parameters
    ----------
    sense : {1, -1}
        1 to minimise, -1 to maximise.
    tolerance : float, optional
        By how much rows, bounds and reduced costs may be off; 1e-7 where it is left out, as in HiGHS.

    Raises
    ------
    InputError
        If `sense` is neither 1 nor -1; by every method that takes arrays, if one has another shape than the others or
        the program ask for.
    UnfitNumberError
        By every method that takes numbers: names the row or column where one is NaN, infinite on the wrong side, or of
        a size that HiGHS drops, refuses or takes for infinity. A ValueError.
    SolverError
        By every method: HiGHS refuses the call for another reason.

    Examples
    --------
    >>> import numpy as np
    >>> from dlsched.solvers import Session
    >>> master = Session(sense=-1)
    >>> master.add_rows(np.array([-np.inf]), np.array([4.0]), np.zeros((1, 0)))
    >>> master.add_columns(np.array([3.0]), np.array([1.0]), np.array([[2.0]]))
    >>> value, x, prices = master.solve()
    >>> value, x.tolist(), prices.tolist()
    (3.0, [1.0], [0.0])
    >>> master.add_columns(np.array([5.0]), np.array([9.0]), np.array([[1.0]]))
    >>> value, x, prices = master.solve()
    >>> value, x.tolist(), prices.tolist()
    (20.0, [0.0, 4.0], [5.0])
    """

    def __init__(self, sense: Literal[1, -1], tolerance: float = FEASIBLE) -> None:
        import highspy

        expect_sense(sense)
        self._highs = _quiet()()
        self._codes = highspy.HighsModelStatus
        self._error = highspy.HighsStatus.kError
        self._nonbasic = highspy.HighsBasisStatus.kLower
        self._options: dict[str, Any] = {}
        self._set("small_matrix_value", LEAST_DROPPED)
        self._set("primal_feasibility_tolerance", tolerance)
        self._set("dual_feasibility_tolerance", tolerance)
        both = highspy.ObjSense
        self._read(self._highs.changeObjectiveSense(both.kMinimize if sense == 1 else both.kMaximize), "the sense")
        self._stale, self._solved = False, False

    def add_rows(self, lower: Floats, upper: Floats, A: Any) -> None:
        """Append rows; `A` is a sparse matrix of shape (new rows, columns so far)."""
        A, self._stale = sp.csr_array(A), True
        first = int(self._highs.getNumRow())
        lower, upper = vector("lower", lower, np.size(lower)), vector("upper", upper, np.size(lower))
        _expect_shape("A", A, len(lower), int(self._highs.getNumCol()))
        _refuse_sides(lower, upper, "row", range(first, first + len(lower)))
        _refuse_coefficients(A.data, lambda at: (first + _before(A.indptr, at), A.indices[at]))
        status = self._highs.addRows(
            len(lower), lower, upper, A.nnz, A.indptr.astype(np.int32), A.indices.astype(np.int32), A.data.astype(float)
        )
        self._read(status, f"{len(lower)} more rows behind row {first - 1}")

    def add_row(self, lower: float, upper: float, columns: npt.NDArray[np.int32], values: Floats) -> None:
        """Append one row by its nonzeros."""
        self._stale = True
        row = int(self._highs.getNumRow())
        values = vector("values", values, np.size(columns))
        _refuse_side(lower, upper, "row", row)
        for column, value in zip(columns.tolist(), values.tolist(), strict=True):
            _refuse_coefficient(row, column, value)
        self._read(self._highs.addRow(lower, upper, len(columns), columns, values), f"row {row}")

    def add_columns(self, c: Floats, upper: Floats, A: Any, lower: Floats | None = None) -> None:
        """Append columns between `lower`, or 0, and `upper`; `A` has shape (rows so far, new columns) and is sparse."""
        A = sp.csc_array(A)
        _expect_shape("A", A, int(self._highs.getNumRow()), np.size(c))
        self.add_columns_of(c, upper, A.indptr, A.indices, A.data.astype(float), lower)

    def add_columns_of(
        self, c: Floats, upper: Floats, starts: Any, rows: Any, values: Floats, lower: Floats | None = None
    ) -> None:
        """Append columns as `add_columns` does, their entries given as scipy's ``csc_array`` has them."""
        first = int(self._highs.getNumCol())
        c = vector("c", c, np.size(c))
        lower = np.zeros(len(c)) if lower is None else vector("lower", lower, len(c))
        upper = vector("upper", upper, len(c))
        if len(starts) != len(c) + 1 or starts[-1] != len(values) or len(rows) != len(values):
            raise InputError(
                f"starts: of {len(c)} columns, {len(rows)} rows and {len(values)} values there must be {len(c) + 1}, "
                "the last of them the number of values"
            )
        _refuse_costs(c, first)
        _refuse_sides(lower, upper, "column", range(first, first + len(c)))
        _refuse_coefficients(values, lambda at: (rows[at], first + _before(starts, at)))
        status = self._highs.addCols(
            len(c), c, lower, upper, len(values), starts.astype(np.int32), rows.astype(np.int32), values
        )
        self._read(status, f"{len(c)} more columns behind column {first - 1}")

    def bound_columns(
        self, upper: Floats, lower: Floats | None = None, columns: npt.NDArray[np.int32] | None = None
    ) -> None:
        """Replace the bounds of some columns, or of all; their lower bounds are 0 where they are left out."""
        self._stale = True
        columns = np.arange(self._highs.getNumCol(), dtype=np.int32) if columns is None else columns
        upper = vector("upper", upper, len(columns))
        lower = np.zeros(len(upper)) if lower is None else vector("lower", lower, len(upper))
        _refuse_sides(lower, upper, "column", columns)
        self._read(self._highs.changeColsBounds(len(columns), columns, lower, upper), "bounds of columns")

    def set_costs(self, c: Floats) -> None:
        """Replace the objective coefficients of all columns."""
        self._stale = True
        c = vector("c", c, int(self._highs.getNumCol()))
        _refuse_costs(c, 0)
        self._read(self._highs.changeColsCost(len(c), np.arange(len(c), dtype=np.int32), c), "costs of columns")

    def set_coefficient(self, row: int, column: int, value: float) -> None:
        """Replace one coefficient."""
        self._stale = True
        _refuse_coefficient(row, column, value)
        self._read(self._highs.changeCoeff(row, column, value), f"a coefficient of row {row}, column {column}")

    def bound_rows(self, rows: npt.NDArray[np.int32], lower: Floats, upper: Floats) -> None:
        """Replace the bounds of some rows."""
        lower, upper = vector("lower", lower, len(rows)), vector("upper", upper, len(rows))
        for row, low, high in zip(rows.tolist(), lower.tolist(), upper.tolist(), strict=True):
            _refuse_side(low, high, "row", row)
            self._read(self._highs.changeRowBounds(row, low, high), f"the sides of row {row}")

    def delete_rows(self, rows: npt.NDArray[np.int32]) -> None:
        """Remove rows; those behind them move up."""
        self._read(self._highs.deleteRows(len(rows), rows), f"to delete the rows {rows.tolist()}")

    def delete_columns(self, columns: npt.NDArray[np.int32]) -> None:
        """Remove columns; those behind them move up."""
        self._read(self._highs.deleteCols(len(columns), columns), f"to delete the columns {columns.tolist()}")

    def basis(self) -> Basis:
        """Return the basis of the last solve, for `start_from`."""
        return Basis(self._highs.getBasis())

    def start_from(self, basis: Basis) -> None:
        """Start the next solve from the basis of an earlier one; since then, columns may have been added, no rows."""
        self._stale = True
        self._read(self._highs.setBasis(basis.of(int(self._highs.getNumCol()), self._nonbasic)), "a basis")

    def solve(self) -> tuple[float, Floats, Floats] | None:
        """Return the objective, the point and the row duals of an optimum; None if there is none.

        A dual is the change of the objective for one more unit of right-hand side. None means that HiGHS has found the
        program infeasible or unbounded.

        Raises
        ------
        SolverError
            If HiGHS ends otherwise, also from scratch and without presolve.
        Halt
            If the work is over (`dlsched.halt`); the session can be used again.

        Notes
        -----
        Where only columns were added, the last basis is feasible and the primal simplex goes on from it; else HiGHS
        chooses. On some programs of two rows its primal simplex ends without a result, and the dual one does not.
        """
        warm = 0 if self._stale else 4
        self._stale = False
        usual: dict[str, Any] = {"presolve": "choose", "solver": "choose", "simplex_scale_strategy": _SCALED}
        ways = (
            {"simplex_strategy": warm},
            {"simplex_strategy": 0},
            *({"presolve": "off", **way} for way in _OTHER_WAYS),
        )
        for number, way in enumerate(ways):
            for name, value in (usual | way).items():
                self._set(name, value)
            if self._decided(briefly=not number and self._solved):
                self._solved = True
                break
            ending = self._highs.modelStatusToString(self._highs.getModelStatus())
            self._highs.clearSolver()
        else:
            raise SolverError(f"HiGHS did not solve a linear program, also not from scratch: {ending}")
        if self._highs.getModelStatus() != self._codes.kOptimal:
            return None
        solution = self._highs.getSolution()
        value = float(self._highs.getObjectiveValue())
        return value, np.array(solution.col_value, dtype=float), np.array(solution.row_dual, dtype=float)

    def ray(self) -> Floats | None:
        """Return multipliers of the rows that show why the last solve found no point; None where HiGHS has none.

        Positive ones go with upper, negative ones with lower sides: the weighted sum of rows and bounds says 0 < 0.

        Raises
        ------
        Halt
            If the work is over (`dlsched.halt`).
        """
        if self._highs.getModelStatus() != self._codes.kInfeasible:
            return None
        poll()
        with interruptible(self._highs):
            _, found, values = self._highs.getDualRay()
        return -np.array(values, dtype=float) if found else None

    def _unasked(self) -> int:
        return max(1, _UNASKED // (1 + int(self._highs.getNumRow()) + int(self._highs.getNumCol())))

    def _decided(self, *, briefly: bool) -> bool:
        """Run HiGHS, and tell whether it found an optimum or that there is none.

        Where it goes on from a basis it is not asked for its first iterations whether to stop: of programs that take
        a millisecond, answering would be a twentieth.
        """
        poll()
        codes = self._codes
        self._set("simplex_iteration_limit", self._unasked() if briefly else _NO_LIMIT)
        if briefly:
            self._highs.run()
        if not briefly or self._highs.getModelStatus() == codes.kIterationLimit:
            self._set("simplex_iteration_limit", _NO_LIMIT)
            with interruptible(self._highs):
                self._highs.run()
        status = self._highs.getModelStatus()
        if status == codes.kInterrupt:
            raise Halt
        known = (codes.kOptimal, codes.kInfeasible, codes.kUnbounded, codes.kUnboundedOrInfeasible)
        return status in known and not _is_word_of_presolve(self._highs)

    def _set(self, option: str, value: Any) -> None:
        if self._options.get(option) != value:
            self._read(self._highs.setOptionValue(option, value), f"the option {option} = {value!r}")
            self._options[option] = value

    def _read(self, status: Any, what: str) -> None:
        if status == self._error:
            raise SolverError(f"HiGHS refused {what}")


def _expect_shape(name: str, A: Any, height: int, width: int) -> None:
    if A.shape != (height, width):
        raise InputError(f"{name}: has shape {A.shape}, not ({height}, {width})")


def _refuse_coefficient(row: int, column: int, value: float) -> None:
    if value != 0 and not LEAST_DROPPED < abs(value) < REFUSED:
        raise UnfitNumberError(
            f"row {row}: the coefficient of column {column} is {value:.6g}; HiGHS keeps numbers above "
            f"{LEAST_DROPPED:g} and below {REFUSED:g}"
        )


def _refuse_coefficients(values: Floats, place: Callable[[int], tuple[int, int]]) -> None:
    """Refuse a number that HiGHS drops or refuses; `place` tells the row and column of each."""
    size = np.abs(values)
    bad = (size != 0) & ~((size > LEAST_DROPPED) & (size < REFUSED))
    if bad.any():
        at = int(bad.argmax())
        row, column = map(int, place(at))
        _refuse_coefficient(row, column, float(values[at]))


def _before(starts: Any, at: int) -> int:
    """Return the row or column of scipy's compressed arrays in which an entry stands."""
    return int(np.searchsorted(starts, at, side="right")) - 1


def _refuse_costs(c: Floats, first: int) -> None:
    bad = ~(np.abs(c) < INFINITE)
    if bad.any():
        at = int(bad.argmax())
        raise UnfitNumberError(
            f"objective: the coefficient of column {first + at} is {c[at]:.6g}, not a number below {INFINITE:g}"
        )


def _refuse_side(lower: float, upper: float, kind: str, number: int) -> None:
    for side, value, free in (("lower", lower, -math.inf), ("upper", upper, math.inf)):
        if value != free and not abs(value) < INFINITE:
            raise UnfitNumberError(
                f"{kind} {number}: the {side} bound is {value:.6g}; it must be below {INFINITE:g} in size, or {free}"
            )


def _refuse_sides(lower: Floats, upper: Floats, kind: str, numbers: Sequence[int] | npt.NDArray[np.int32]) -> None:
    good = ((np.abs(lower) < INFINITE) | (lower == -np.inf)) & ((np.abs(upper) < INFINITE) | (upper == np.inf))
    for at in np.flatnonzero(~good).tolist():
        _refuse_side(float(lower[at]), float(upper[at]), kind, int(numbers[at]))
