"""A nonlinear Pyomo model, integers included, through SCIP's spatial branch and bound (extra ``certify``)."""

from __future__ import annotations

import io
import math
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from dlsched.halt import left
from dlsched.solvers.scaling import INFINITE, UnfitNumberError
from dlsched.solvers.scip import apply_settings, import_scip, optimized
from dlsched.solvers.solution import Solution, Status

_HEADER = 10
"""Lines of an NL file before its first section (Gay, Writing .nl Files, 2005)."""

_SHARED = "a named expression"


def solve_nonlinear(model: Any, gap: float, seed: int | None, presolve: bool) -> tuple[Solution, Any]:
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
    """
    import pyomo.environ as pyo

    pyscipopt = import_scip()
    scip = pyscipopt.Model()
    scip.hideOutput()
    variables = _passed(model, scip)
    apply_settings(pyscipopt, scip, left(), gap, seed, presolve)
    summary = optimized(scip)
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


def _passed(model: Any, scip: Any) -> list[Any]:
    """Hand the model over as an NL file, and return its variables: SCIP calls the k-th of them i(k), b(k) or x(k)."""
    from pyomo.opt import WriterFactory

    stream = io.StringIO()
    written = WriterFactory("nl_v2").write(model, stream, linear_presolve=False, scale_model=False)
    text = stream.getvalue()
    for place, number in _numbers(text, written):
        if not abs(number) < INFINITE:
            raise UnfitNumberError(
                f"{place}: has the number {number:.6g}; solver scip takes numbers below {INFINITE:g} in size"
            )
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "model.nl"
        file.write_text(text, encoding="utf-8")
        scip.readProblem(str(file))
    return list(written.variables)


def _numbers(text: str, written: Any) -> Iterator[tuple[str, float]]:
    """Yield the numbers of an NL file, each with the name of what it is in.

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
        if words[0][0] in "CJOGVrbkxdFSL":
            section, number = words[0][0], int(words[0][1:] or 0)
        elif section in ("r", "b"):
            yield from ((names[section][number], float(word)) for word in words[1:])
            number += 1
        elif section in ("J", "G", "V") and len(words) == 2:
            yield names[section][number] if section in names else _SHARED, float(words[1])
        elif words[0][0] == "n":
            yield names[section][number] if section in names else _SHARED, float(words[0][1:])
