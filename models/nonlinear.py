"""A nonlinear Pyomo model, integers included, through SCIP's spatial branch and bound (extra ``certify``)."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path
from typing import Any

from dlsched.models.numbers import TOLERANCE
from dlsched.models.scip import apply_settings, import_scip, read_scip


def solve_nonlinear(
    model: Any, time_limit: float | None, gap: float, seed: int | None, presolve: bool
) -> tuple[str, Any, float | None, int, str, float]:
    """Solve a factorable nonlinear model to global optimality.

    Returns
    -------
    status : str
        A value of `dlsched.models.solve.Status`.
    point : pyomo.environ.ComponentMap or None
        Variable to value, integers rounded; variables in no row and not in the objective are left out.
    bound : float or None
    nodes : int
    version : str
    seconds : float
        Of the solver alone.

    Raises
    ------
    MissingExtra
        If PySCIPOpt is not installed.
    """
    import pyomo.environ as pyo

    pyscipopt = import_scip()
    scip = pyscipopt.Model()
    scip.hideOutput()
    variables = _passed(model, scip)
    apply_settings(pyscipopt, scip, time_limit, gap, seed, presolve)
    start = time.perf_counter()
    scip.optimize()
    seconds = time.perf_counter() - start
    status, bound, nodes, version = read_scip(scip)
    if status not in ("optimal", "feasible"):
        return status, None, bound, nodes, version, seconds
    values = {variable.name: scip.getVal(variable) for variable in scip.getVars()}
    pairs = ((variables[int(name[1:])], value) for name, value in values.items() if name[1:].isdigit())
    point = pyo.ComponentMap((v, round(value) if v.is_integer() else value) for v, value in pairs)
    return status, point, bound, nodes, version, seconds


def _passed(model: Any, scip: Any) -> list[Any]:
    """Hand the model over as an NL file, and return its variables: SCIP calls the k-th of them i(k), b(k) or x(k)."""
    from pyomo.opt import WriterFactory

    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "model.nl"
        with file.open("w", encoding="utf-8") as stream:
            written = WriterFactory("nl_v2").write(model, stream, linear_presolve=False, scale_model=False)
        scip.readProblem(str(file))
    scip.setParam("numerics/feastol", TOLERANCE / 1000)
    return list(written.variables)
