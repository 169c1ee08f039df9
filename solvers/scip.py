"""A matrix, or a nonlinear Pyomo model, through SCIP: the independent second solver (PySCIPOpt, extra ``certify``)."""

from __future__ import annotations

import io
import math
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from dlsched.errors import InputError
from dlsched.extras import from_extra
from dlsched.halt import left, run_in_thread
from dlsched.solvers.matrix import Floats, Matrix, UnfitNumberError
from dlsched.solvers.options import SolverOptions
from dlsched.solvers.scaling import INFINITE, LARGE, LEAST_COST
from dlsched.solvers.solution import RawSolution, Solution, Status
from dlsched.tolerances import FEASIBLE, TOLERANCE

_STATUS = {status.value: status for status in (Status.OPTIMAL, Status.INFEASIBLE, Status.UNBOUNDED)}


def solve_scip(
    matrix: Matrix, asked: SolverOptions, tell: Callable[[float, Floats | None], None] | None = None
) -> RawSolution:
    """Solve a matrix with SCIP; `tell` as for `dlsched.solvers.solve.solve_here`.

    Raises
    ------
    MissingExtra
        If PySCIPOpt is not installed.
    """
    pyscipopt = import_scip()
    scip, variables = _loaded(pyscipopt, matrix)
    _apply(pyscipopt, scip, asked)
    if tell is not None:
        _tell_news(pyscipopt, scip, variables, tell)
    summary = optimized(scip)
    if summary.status not in (Status.OPTIMAL, Status.FEASIBLE):
        return RawSolution(summary, None, left_open=scip.getStatus() == "inforunbd")
    return RawSolution(summary, np.array([scip.getVal(v) for v in variables]))


def _tell_news(pyscipopt: Any, scip: Any, variables: list[Any], tell: Callable[[float, Floats | None], None]) -> None:
    """Tell bounds and points as SCIP finds them."""
    kinds = pyscipopt.SCIP_EVENTTYPE

    class News(pyscipopt.Eventhdlr):
        def eventinit(self) -> None:
            self.model.catchEvent(kinds.BESTSOLFOUND, self)
            self.model.catchEvent(kinds.NODESOLVED, self)

        def eventexit(self) -> None:
            self.model.dropEvent(kinds.BESTSOLFOUND, self)
            self.model.dropEvent(kinds.NODESOLVED, self)

        def eventexec(self, event: Any) -> None:
            bound = float(self.model.getDualbound())
            x = None
            if event.getType() == kinds.BESTSOLFOUND:
                best = self.model.getBestSol()
                x = np.array([self.model.getSolVal(best, v) for v in variables])
            tell(bound if abs(bound) < INFINITE else float("nan"), x)

    scip.includeEventhdlr(News(), "news", "tells bounds and points")


def import_scip() -> Any:
    """Return the module `pyscipopt`.

    Raises
    ------
    MissingExtra
        If PySCIPOpt is not installed.
    """
    return from_extra("certify", "pyscipopt", "solver scip needs PySCIPOpt")


def _apply(pyscipopt: Any, scip: Any, asked: SolverOptions) -> None:
    """Set the tolerance, and what is asked."""
    scip.setParam("numerics/feastol", FEASIBLE)
    # It would ask SoPlex for less than it takes.
    scip.setParam("constraints/nonlinear/tightenlpfeastol", False)
    scip.setParam("limits/gap", asked.gap)
    # It would take Ctrl-C for itself and end as if nothing had happened.
    scip.setParam("misc/catchctrlc", False)
    if asked.time_limit is not None and np.isfinite(asked.time_limit):
        scip.setParam("limits/time", float(asked.time_limit))
    if asked.seed is not None:
        scip.setParam("randomization/randomseedshift", asked.seed)
    if not asked.presolve:
        scip.setPresolve(pyscipopt.SCIP_PARAMSETTING.OFF)
    if any(abs(variable.getObj()) > LARGE for variable in scip.getVars()):
        # What SCIP 10 fixes for the sake of costs is wrong where one is above 1e6: 27 + 2/3 became 1.2e11.
        for kind in ("strong", "weak"):
            scip.setParam(f"misc/allow{kind}dualreds", False)


def optimized(scip: Any) -> Solution:
    """Let SCIP optimize; where it breaks off with an error of its own, there is no solution."""
    version = f"{scip.getMajorVersion()}.{scip.getMinorVersion()}.{scip.getTechVersion()}"
    start = time.perf_counter()
    try:
        # Not in a new thread each time: in its 64th, a nonlinear model ended the process (SCIP 10.0.2).
        run_in_thread(scip.optimizeNogil, scip.interruptSolve, same=True)
    except MemoryError:
        raise
    except Exception:  # PySCIPOpt has no class of its own for SCIP's errors, e.g. of its LP solver
        return Solution(Status.NO_SOLUTION, None, None, None, time.perf_counter() - start, 0, "scip", version)
    seconds = time.perf_counter() - start
    status = _STATUS.get(scip.getStatus(), Status.FEASIBLE if scip.getNSols() else Status.NO_SOLUTION)
    bound = float(scip.getDualbound())
    finite = abs(bound) < scip.infinity() and status is not Status.INFEASIBLE
    nodes = int(scip.getNTotalNodes())
    return Solution(status, None, bound if finite else None, None, seconds, nodes, "scip", version)


def _loaded(pyscipopt: Any, matrix: Matrix) -> tuple[Any, list[Any]]:
    scip = pyscipopt.Model()
    scip.hideOutput()
    kinds = np.where(matrix.integer, "I", "C")
    variables = [
        scip.addVar(lb=_finite(lb), ub=_finite(ub), vtype=str(kind), obj=float(cost))
        for lb, ub, kind, cost in zip(matrix.lower, matrix.upper, kinds, matrix.c, strict=True)
    ]
    scip.addObjoffset(matrix.offset)
    if matrix.sense == -1:
        scip.setMaximize()
    A = matrix.A
    for i in range(A.shape[0]):
        entries = slice(A.indptr[i], A.indptr[i + 1])
        terms = [(variables[j], float(a)) for j, a in zip(A.indices[entries], A.data[entries], strict=True) if a]
        body = pyscipopt.quicksum(a * v for v, a in terms)
        _add_row(scip, pyscipopt, body, terms, float(matrix.row_lower[i]), float(matrix.row_upper[i]))
    return scip, variables


def _add_row(scip: Any, pyscipopt: Any, body: Any, terms: list[Any], lower: float, upper: float) -> None:
    if not terms:
        if lower > TOLERANCE or upper < -TOLERANCE:
            fixed = scip.addVar(lb=0.0, ub=0.0)
            scip.addCons(fixed >= 1.0)
        return
    if lower == upper:
        scip.addCons(body == upper)
    elif np.isfinite(lower) and np.isfinite(upper):
        scip.addCons(pyscipopt.scip.ExprCons(body, lower, upper))
    elif np.isfinite(upper):
        scip.addCons(body <= upper)
    elif np.isfinite(lower):
        scip.addCons(body >= lower)


def _finite(bound: float) -> float | None:
    return float(bound) if np.isfinite(bound) else None


_HEADER = 10
"""Lines of an NL file before its first section (Gay, Writing .nl Files, 2005)."""

_DROPPED = 1 / INFINITE
"""Within a sum of functions SCIP drops factors that are so small: of 1e-20 it has kept them, of 1e-25 it has not."""

_SECTIONS = "CJOGVrbkxdFSL"
"""What the first line of each section begins with."""

_SHARED = "a named expression"

_TAKEN = frozenset({"o0", "o2", "o3", "o5", "o15", "o16", "o39", "o41", "o42", "o43", "o44", "o46", "o54"})
"""The functions of an NL file that SCIP 10's reader takes, by code; of others it says so on the terminal, unasked."""

_RULE = "solver scip takes sums, products, quotients, powers, abs, sqrt, exp, log, log10, sin and cos"

_OTHERS = {
    "f": "an external function",
    "o13": "floor",
    "o14": "ceil",
    "o35": "a condition (Expr_if)",
    "o37": "tanh",
    "o38": "tan",
    "o40": "sinh",
    "o45": "cosh",
    "o47": "atanh",
    "o49": "atan",
    "o50": "asinh",
    "o51": "asin",
    "o52": "acosh",
    "o53": "acos",
}


def solve_nonlinear(model: Any, asked: SolverOptions) -> tuple[Solution, Any]:
    """Solve a factorable nonlinear model to global optimality, or as far as the time goes (`dlsched.halt.left`).

    Returns
    -------
    summary : Solution
    point : pyomo.environ.ComponentMap or None
        Variable to value, integers rounded; variables in no row and not in the objective are left out.

    Raises
    ------
    ImportError
        If PySCIPOpt is not installed.
    UnfitNumberError
        If the objective, a row or a bound has a number that is NaN, or infinite to SCIP; a ValueError.
    InputError
        If one has a function that SCIP has not, or a variable is fixed beyond its bounds; a ValueError.
    """
    import pyomo.environ as pyo

    pyscipopt = import_scip()
    scip = pyscipopt.Model()
    scip.hideOutput()
    variables, factor = _passed(model, scip)
    if not variables:
        return Solution.unasked(Status.OPTIMAL, "scip"), pyo.ComponentMap()
    _apply(pyscipopt, scip, replace(asked, time_limit=left()))
    summary = optimized(scip)
    if summary.bound is not None:
        summary = replace(summary, bound=summary.bound / factor)
    if summary.status is Status.UNBOUNDED and all(math.isfinite(end) for v in variables for end in _ends(v)):
        summary = replace(summary, status=Status.NO_SOLUTION)  # a value from 1e20 on is infinite to SCIP
    if summary.status not in (Status.OPTIMAL, Status.FEASIBLE):
        return summary, None
    values = {variable.name: scip.getVal(variable) for variable in scip.getVars()}
    pairs = ((variables[int(name[1:])], value) for name, value in values.items() if name[1:].isdigit())
    point = pyo.ComponentMap((v, round(value) if v.is_integer() else value) for v, value in pairs)
    return summary, point


def _ends(variable: Any) -> tuple[float, float]:
    lower, upper = variable.bounds
    return -math.inf if lower is None else lower, math.inf if upper is None else upper


def _refuse_fixed_beyond(model: Any) -> None:
    """Refuse a variable that is fixed beyond its bounds, which no longer matter where the model is linear.

    Pyomo's writer of NL files calls its model infeasible, as it does one with a row that does not hold.
    """
    import pyomo.environ as pyo

    for variable in model.component_data_objects(pyo.Var, active=True, descend_into=True):
        lower, upper = _ends(variable)
        if variable.fixed and variable.value is not None and not lower <= variable.value <= upper:
            raise InputError(f"{variable.name}: is fixed at {variable.value}, beyond its bounds {variable.bounds}")


def _passed(model: Any, scip: Any) -> tuple[list[Any], float]:
    """Hand the model over as an NL file: SCIP calls the k-th variable i(k), b(k) or x(k).

    Returns
    -------
    variables : list
    factor : float
        What its objective is multiplied by.
    """
    from pyomo.common.errors import DeveloperError, InfeasibleConstraintException
    from pyomo.opt import WriterFactory

    from dlsched.solvers.compiler import look_into_relations

    stream = io.StringIO()
    look_into_relations()
    try:
        written = WriterFactory("nl_v2").write(model, stream, linear_presolve=False, scale_model=False)
    except DeveloperError as error:
        raise InputError(f"the model has what Pyomo cannot write: {' '.join(str(error).split())}") from error
    except InfeasibleConstraintException:
        _refuse_fixed_beyond(model)
        raise
    text = stream.getvalue()
    for place, function in _functions(text, written):
        if function not in _TAKEN:
            raise InputError(f"{place}: has {_OTHERS.get(function, 'a function that is not known')}; {_RULE}")
    for place, number in _numbers(text, written):
        if not abs(number) < INFINITE:
            raise UnfitNumberError(
                f"{place}: has the number {number:.6g}; solver scip takes numbers below {INFINITE:g} in size"
            )
    factor = _objective_factor(model)
    if written.variables:  # SCIP reads no file without
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "model.nl"
            file.write_text(text if factor == 1.0 else _with_objective_times(factor, text), encoding="utf-8")
            scip.readProblem(str(file))
    return list(written.variables), factor


def _objective_factor(model: Any) -> float:
    """Return the power of two that makes 1 of an objective that is small within all bounds, as SCIP forgives 1e-7.

    Raises
    ------
    UnfitNumberError
        If it is so small that SCIP drops numbers of it.
    """
    import pyomo.environ as pyo
    from pyomo.common.errors import InfeasibleConstraintException
    from pyomo.contrib.fbbt.fbbt import compute_bounds_on_expr

    objective = next(model.component_data_objects(pyo.Objective, active=True, descend_into=True))
    try:
        ends = compute_bounds_on_expr(objective.expr)
    except (InfeasibleConstraintException, OverflowError):  # it has no value within the bounds, or a huge one
        return 1.0
    most = max(math.inf if end is None else abs(end) for end in ends)
    if not 0.0 < most < LEAST_COST:
        return 1.0
    if most < _DROPPED:
        raise UnfitNumberError(
            f"{objective.name}: is at most {most:.6g} in size, and solver scip drops numbers below {_DROPPED:g}; "
            "use other units"
        )
    return float(np.ldexp(1.0, -int(np.frexp(most)[1])))


def _with_objective_times(factor: float, text: str) -> str:
    """Return an NL file with its objective multiplied: O has its nonlinear part, G what variables cost beside it."""
    lines = text.splitlines()
    found, section = lines[:_HEADER], ""
    for line in filter(None, lines[_HEADER:]):
        if line[0] in _SECTIONS:
            section = line[0]
        elif section == "G":
            variable, cost = line.split()
            line = f"{variable} {float(cost) * factor!r}"
        found.append(line)
        if line[0] == "O":
            found += ["o2", f"n{factor!r}"]
    return "\n".join(found) + "\n"


def _functions(text: str, written: Any) -> Iterator[tuple[str, str]]:
    """Yield the codes of the functions in an NL file (``o38``; ``f`` of an external one), each with what it is in."""
    for section, place, words in _lines(text, written):
        if section in ("C", "O", "V") and words[0][0] in "of":
            yield place, words[0] if words[0][0] == "o" else "f"


def _numbers(text: str, written: Any) -> Iterator[tuple[str, float]]:
    """Yield the numbers of an NL file, each with the name of what it is in."""
    for section, place, words in _lines(text, written):
        if section in ("r", "b"):
            yield from ((place, float(word)) for word in words[1:])
        elif section in ("J", "G", "V") and len(words) == 2:
            yield place, float(words[1])
        elif words[0][0] == "n":
            yield place, float(words[0][1:])


def _lines(text: str, written: Any) -> Iterator[tuple[str, str, list[str]]]:
    """Yield the lines within the sections of an NL file: the section, the name of what it is about, the words.

    The sections: C and O hold the nonlinear parts of rows and objective, V what they share; J and G the linear ones; r
    and b the sides of rows and the bounds of variables.
    """
    names = {
        "C": [row.name for row in written.constraints],
        "J": [row.name for row in written.constraints],
        "O": [objective.name for objective in written.objectives],
        "G": [objective.name for objective in written.objectives],
        "r": [row.name for row in written.constraints],
        "b": [variable.name for variable in written.variables],
    }
    section, number = "", 0
    for line in text.splitlines()[_HEADER:]:
        words = line.split("#")[0].split()
        if not words:
            continue
        if words[0][0] in _SECTIONS:
            section, number = words[0][0], int(words[0][1:] or 0)
            continue
        yield section, names[section][number] if section in names else _SHARED, words
        number += section in ("r", "b")
