"""A matrix through a solver, honestly: scaled, every row checked at the point that comes back, ended when work is over.

An optimum that decides something needs more than one solver's word; see `dlsched.algorithms.optimum`. A solver can also
end with neither an optimum nor a proof that there is no point, and an algorithm that takes this for "there is none" is
wrong in silence: what fails in one setting is tried in another (`solve_to_optimality`).
"""

from __future__ import annotations

import importlib.util
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from dlsched.arguments import checked
from dlsched.errors import InputError
from dlsched.halt import current, grace, left, over, poll
from dlsched.once import once
from dlsched.solvers.divisors import divided
from dlsched.solvers.highs import solve_highs
from dlsched.solvers.matrix import Floats, Matrix
from dlsched.solvers.options import SolverOptions, expect_settings
from dlsched.solvers.refinement import LinearOptimum
from dlsched.solvers.scaling import scaled
from dlsched.solvers.scip import solve_scip
from dlsched.solvers.solution import RawSolution, ResidualError, Solution, SolverError, Status
from dlsched.solvers.tightening import tightened
from dlsched.tolerances import TOLERANCE


def _asked(matrix: Matrix, *, time_limit: float | None = None, **options: Any) -> tuple[object, ...] | None:
    """Return all that decides what is found; None where the time does."""
    return None if time_limit is not None else (matrix.numbers, *sorted(options.items()))


@checked
@once(_asked)
def solve_matrix(
    matrix: Matrix,
    *,
    solver: str = "highs",
    time_limit: float | None = None,
    threads: int | None = None,
    gap: float = 0.0,
    seed: int | None = None,
    presolve: bool = True,
    cutoff: float | None = None,
    nodes: int | None = None,
    cuts: bool = True,
) -> RawSolution:
    """Solve a matrix; the parameters that are not listed are those of `dlsched.models.solve`.

    Where the work is over (`dlsched.halt`), or its time is up, the solve ends with what is known.

    Parameters
    ----------
    cutoff : float, optional
        Only points at least as good as this are looked for, so `infeasible` means that there is none.
    nodes : int, optional
        Of HiGHS's tree, at most; not negative.
    cuts : bool
        Whether HiGHS looks for cuts below the root of its tree: for nothing, where an LP has few rows and no structure.

    Raises
    ------
    InputError
        If there is no such solver, a number is out of range, or SCIP is to have several threads, or a limit on nodes or
        cuts.
    ResidualError
        If the point, its integers rounded, breaks a row or bound by more than 1e-6 of its scale.
    UnfitNumberError
        If the matrix has a number that no solver keeps.

    Examples
    --------
    >>> from dlsched.solvers import Builder, solve_matrix
    >>> program = Builder(sense=-1)
    >>> x, y = program.binary(cost=3.0), program.binary(cost=2.0)
    >>> _ = program.row([(x, 2.0), (y, 2.0)], upper=3.0)
    >>> solve_matrix(program.matrix()).summary.objective
    3.0
    >>> str(solve_matrix(program.matrix(), cutoff=3.5).summary.status)
    'infeasible'
    """
    expect_settings(solver, time_limit=time_limit, threads=threads, gap=gap, seed=seed, nodes=nodes)
    if solver == "scip":
        _refuse_highs_own(threads=threads not in (None, 1), nodes=nodes is not None, cuts=not cuts)
    if over():
        return RawSolution(Solution.unasked(Status.NO_SOLUTION, solver), None)
    sought = (matrix if cutoff is None else matrix.beyond(cutoff)).with_whole_bounds()
    if not matrix.A.shape[1]:
        return _without_columns(matrix, sought, solver)
    if (sought.integer & (sought.lower > sought.upper)).any():
        return RawSolution(Solution.unasked(Status.INFEASIBLE, solver), None)
    fit = scaled(tightened(divided(sought)))
    limits = [seconds for seconds in (time_limit, left()) if seconds is not None]
    limit = min(limits, default=None)
    options = SolverOptions(solver, limit, threads, gap, seed, presolve, nodes, cuts)
    if solver == "scip":
        start = time.perf_counter()
        unbounded = _is_unbounded(fit.matrix, limit)
        left_over = None if limit is None else max(0.0, limit - (time.perf_counter() - start))
        options = replace(options, time_limit=left_over)
        if unbounded:
            # SCIP 10 was seen to branch on one for ever, and to call a point of one optimal where rays are cheap.
            return _unbounded_or_empty(fit.matrix, options)
    raw = _solve_stoppable(fit.matrix, options)
    summary = raw.summary
    if summary.bound is not None:
        summary = replace(summary, bound=fit.value(summary.bound))
    if raw.x is None:
        return RawSolution(summary, None)
    if solver == "highs" and matrix.integer.any():
        left_over = None if limit is None else max(0.0, limit - summary.seconds)
        with grace():
            unbounded = _is_unbounded(fit.matrix, left_over)
        if unbounded:
            _expect_point(matrix, fit.point(raw.x), solver)
            return RawSolution(replace(summary, status=Status.UNBOUNDED, bound=None), None)
    x, is_worse = _mended(matrix, fit.point(raw.x), dear=_is_dear(fit.matrix, raw.x))
    if is_worse and summary.status is Status.OPTIMAL:
        summary = replace(summary, status=Status.FEASIBLE)
    where, residual = matrix.worst(x)
    if not residual <= TOLERANCE:
        if over():
            return RawSolution(replace(summary, status=Status.NO_SOLUTION), None)
        raise _broken(solver, where, residual)
    found = summary.with_value(matrix.value(x), matrix.unit)
    if solver == "scip":
        found = found.if_reached()
    if raw.row_duals is None or raw.reduced_costs is None:
        return RawSolution(found, x)
    # A cutoff's row is behind the model's own.
    duals = fit.row_duals(raw.row_duals)[: matrix.A.shape[0]]
    return RawSolution(found, x, duals, fit.reduced_costs(raw.reduced_costs))


def _mended(matrix: Matrix, x: Floats, *, dear: bool) -> tuple[Floats, bool]:
    """Return a solver's point with whole integers, and whether it is worth less than the solver's.

    The others are chosen anew where a row is broken by too much, or what was forgiven may be `dear`.
    """
    x = _rounded(matrix, x)
    if matrix.residual(x) <= TOLERANCE and not dear:
        return x, False
    chosen = _completed(matrix, x)
    return chosen, _is_worse(matrix, chosen, x)


def _refuse_highs_own(**given: bool) -> None:
    for name, is_given in given.items():
        if is_given:
            raise InputError(f"{name}: SCIP has no such setting here; HiGHS has")


def _without_columns(matrix: Matrix, sought: Matrix, solver: str) -> RawSolution:
    """Solve a matrix of constants, with a cutoff's row in `sought`. HiGHS forgets its offset, and looks at no row."""
    x = np.zeros(0)
    if sought.residual(x) > TOLERANCE:
        return RawSolution(Solution.unasked(Status.INFEASIBLE, solver), None)
    summary = replace(Solution.unasked(Status.OPTIMAL, solver), bound=matrix.offset).with_value(matrix.offset)
    return RawSolution(summary, x, np.zeros(matrix.A.shape[0]), x)


def _is_unbounded(matrix: Matrix, time_limit: float | None) -> bool:
    """Tell whether a program that has a point has ever better ones: its linear relaxation has, and vice versa.

    HiGHS 1.15.1 has been seen to call such a program's point optimal: 2 y + 5 z - 3 x to maximise, 2 x - 2 y + 5 z >=
    -4, y - 3/4 x <= 7, none negative.
    """
    rising = matrix.sense * matrix.c
    open_ = ((rising < 0) & np.isposinf(matrix.upper)) | ((rising > 0) & np.isneginf(matrix.lower))
    if not open_.any():
        return False
    found = _solve_stoppable(matrix.relaxed(), SolverOptions(time_limit=time_limit))
    return found.summary.status is Status.UNBOUNDED


def _is_dear(matrix: Matrix, x: Floats) -> bool:
    """Tell whether what a solver forgave the continuous columns of an integer program may be worth something."""
    if not matrix.integer.any() or matrix.integer.all():
        return False
    broken = LinearOptimum.of(matrix, x, np.zeros(matrix.A.shape[0])).primal
    return broken * float(np.abs(matrix.c).max(initial=0.0)) > TOLERANCE * max(matrix.unit, abs(matrix.value(x)))


def _rounded(matrix: Matrix, x: Floats) -> Floats:
    rounded: Floats = np.where(matrix.integer, np.round(x), x) + 0.0  # which makes 0 of -0.0
    return rounded


def _broken(solver: str, where: str, residual: float) -> ResidualError:
    return ResidualError(f"{solver} returned a point that breaks {where} by {residual:.3g} of its scale")


def _expect_point(matrix: Matrix, x: Floats, solver: str) -> None:
    """Refuse the point of a program without an optimum where it breaks a row: there may be none at all."""
    free = matrix.without_costs()
    x = _rounded(free, x)
    if free.residual(x) > TOLERANCE:
        x = _completed(free, x)
    where, residual = free.worst(x)
    if not residual <= TOLERANCE:
        raise _broken(solver, where, residual)


def _is_worse(matrix: Matrix, x: Floats, other: Floats) -> bool:
    value, than = matrix.value(x), matrix.value(other)
    return matrix.sense * (value - than) > TOLERANCE * max(matrix.unit, abs(value), abs(than))


def _completed(matrix: Matrix, x: Floats) -> Floats:
    """Return the point with its integers kept and the others chosen anew, where that is possible.

    A solver's integers are 1e-6 off, and its other variables fit those and not the rounded ones; and what it forgives
    a row or bound may be worth more than that.
    """
    if not matrix.integer.any() or matrix.integer.all():
        return x
    fit = scaled(matrix.fixed(x))
    with grace():
        raw = solve_here(fit.matrix)
    return x if raw.x is None else np.where(matrix.integer, x, fit.point(raw.x))


def _solve_stoppable(matrix: Matrix, asked: SolverOptions) -> RawSolution:
    """Solve in this process, or in another where the solver would not ask often enough whether to stop."""
    stop = current()
    if stop is not None:
        from dlsched.solvers.apart import is_long, solve_apart

        if is_long(matrix, asked.solver):
            return solve_apart(matrix, asked, stop)
    return solve_here(matrix, asked)


def solve_here(
    matrix: Matrix,
    asked: SolverOptions = SolverOptions(),
    tell: Callable[[float, Floats | None], None] | None = None,
) -> RawSolution:
    """Solve a matrix, whose numbers a solver keeps, in this process; the point is as the solver returned it.

    Parameters
    ----------
    matrix : Matrix
    asked : SolverOptions
    tell : callable, optional
        Called from a search tree with the bound so far and, where there is a better one, the point.
    """
    ask = solve_highs if asked.solver == "highs" else solve_scip
    raw = ask(matrix, asked, tell)
    if not raw.left_open:
        return raw
    limit = None if asked.time_limit is None else max(0.0, asked.time_limit - raw.summary.seconds)
    return _unbounded_or_empty(matrix, replace(asked, time_limit=limit))


def _unbounded_or_empty(matrix: Matrix, asked: SolverOptions) -> RawSolution:
    """Tell whether a program that has no optimum has a point: without costs it has one or none."""
    raw = _solve_stoppable(matrix.without_costs(), asked)
    summary = raw.summary
    if raw.x is not None:
        _expect_point(matrix, raw.x, asked.solver)
    found = Status.UNBOUNDED if summary.status in (Status.OPTIMAL, Status.FEASIBLE) else summary.status
    return RawSolution(replace(summary, status=found, objective=None, bound=None, gap=None), None)


_SEED = 7
"""Arbitrary: any but 0, HiGHS's own, with which it has just failed."""


@dataclass(frozen=True, slots=True, eq=False)
class OptimalPoint:
    """An optimum of a matrix.

    Attributes
    ----------
    value : float
    x : ndarray, shape (n,)
        Integers are rounded.
    row_duals : ndarray, shape (m,), or None
        Of a linear program that HiGHS solved.

    Examples
    --------
    >>> from dlsched.solvers import Builder, solve_to_optimality
    >>> program = Builder(sense=-1)
    >>> x = program.column(9.0, cost=2.0)
    >>> _ = program.row([(x, 1.0)], upper=3.0)
    >>> point = solve_to_optimality(program.matrix(), duals=True)
    >>> point.value, point.x.tolist(), point.row_duals.tolist()
    (6.0, [3.0], [2.0])
    """

    value: float
    x: Floats
    row_duals: Floats | None


@checked
def solve_to_optimality(
    matrix: Matrix,
    *,
    presolve: bool = True,
    duals: bool = False,
    accept: Callable[[Floats], bool] | None = None,
) -> OptimalPoint | None:
    """Return an optimum of a bounded matrix, its residuals checked; None only if it is proved to have no point.

    HiGHS is asked with and without presolve, then SCIP where it is installed, until one has an answer. An integer
    program has no point where two of them say so: HiGHS's presolve has been seen to lose one.

    Parameters
    ----------
    matrix : Matrix
    presolve : bool
        Whether the first attempt presolves; the second does the opposite.
    duals : bool
        Whether row duals are wanted, of a linear program; SCIP has none to give.
    accept : callable, optional
        Told a point; where it says no, the next setting is tried.

    Raises
    ------
    SolverError
        If no setting has an answer; the message says how each ended.
    Halt
        If the work is over before there is an answer.
    UnfitNumberError
        If the matrix has a number that no solver keeps.

    Examples
    --------
    >>> from dlsched.solvers import Builder, solve_to_optimality
    >>> program = Builder(sense=-1)
    >>> x, y = program.binary(cost=3.0), program.binary(cost=2.0)
    >>> _ = program.row([(x, 2.0), (y, 2.0)], upper=3.0)
    >>> solve_to_optimality(program.matrix()).value
    3.0
    >>> _ = program.row([(x, 1.0), (y, 1.0)], lower=2.0)
    >>> solve_to_optimality(program.matrix()) is None
    True
    """
    endings, empty = [], 0
    for name, setting in _attempts(presolve, duals):
        try:
            raw = solve_matrix(matrix, threads=1 if matrix.integer.any() else None, **setting)
        except ResidualError as error:
            endings.append(str(error))
            continue
        status = raw.summary.status
        if status is Status.OPTIMAL and raw.x is not None:
            found = OptimalPoint(matrix.value(raw.x), raw.x, raw.row_duals)
            if (found.row_duals is not None or not duals) and (accept is None or accept(found.x)):
                return found
            endings.append(f"{name}: a point that was refused")
            continue
        poll()
        endings.append(f"{name}: {status.value}")
        empty += status is Status.INFEASIBLE
        if empty == (2 if matrix.integer.any() else 1):
            return None
    raise SolverError(f"no solver decided the program ({'; '.join(endings)})")


def _attempts(presolve: bool, duals: bool) -> Iterator[tuple[str, dict[str, Any]]]:
    yield "HiGHS", {"presolve": presolve}
    yield f"HiGHS {'without' if presolve else 'with'} presolve", {"presolve": not presolve, "seed": _SEED}
    if not duals and importlib.util.find_spec("pyscipopt"):
        yield "SCIP", {"solver": "scip"}
