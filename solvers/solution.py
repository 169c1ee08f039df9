"""What a solver says of a program, and what is raised where it has no answer."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Self

from dlsched.readable import Readable, Section, facts
from dlsched.solvers.matrix import Floats
from dlsched.tolerances import TOLERANCE


class SolverError(RuntimeError):
    """A solver ended without an optimum and without a proof that there is none; the message says how it ended.

    Examples
    --------
    >>> from dlsched.solvers import Builder, SolverError, solve_to_optimality
    >>> program = Builder(sense=-1)
    >>> x = program.column(cost=1.0)
    >>> solve_to_optimality(program.matrix())
    Traceback (most recent call last):
        ...
    dlsched.solvers.solution.SolverError: no solver decided the program (HiGHS: unbounded; HiGHS without...
    """


class ResidualError(SolverError):
    """The solver's point breaks a row, a bound or integrality by more than the tolerance.

    Examples
    --------
    >>> from dlsched.solvers import Builder, ResidualError, solve_matrix
    >>> program = Builder(sense=-1)
    >>> _ = program.row([(program.column(cost=2.0), 1.0)], upper=3.0)
    >>> try:
    ...     x = solve_matrix(program.matrix()).x
    ... except ResidualError:  # the point that HiGHS's presolve led to breaks a row
    ...     x = solve_matrix(program.matrix(), presolve=False).x
    >>> x.tolist()
    [3.0]
    """


class Status(StrEnum):
    """How a solve ended.

    Examples
    --------
    >>> import pyomo.environ as pyo
    >>> from dlsched.models import Status, solve
    >>> m = pyo.ConcreteModel()
    >>> m.x = pyo.Var(bounds=(0, 1))
    >>> m.need = pyo.Constraint(expr=m.x >= 2)
    >>> m.total = pyo.Objective(expr=m.x)
    >>> solve(m).status is Status.INFEASIBLE, solve(m).status == "infeasible"
    (True, True)
    """

    OPTIMAL = "optimal"
    FEASIBLE = "feasible"
    INFEASIBLE = "infeasible"
    UNBOUNDED = "unbounded"
    NO_SOLUTION = "no_solution"


@dataclass(frozen=True, slots=True)
class Solution(Readable):
    """What a solver found; the values are in the model.

    Attributes
    ----------
    status : Status
    objective : float or None
        Value of the loaded point; None where there is none.
    bound : float or None
        Best bound on the optimum that the solver claims; None where it has none.
    gap : float or None
        ``|bound - objective| / max(unit, |objective|)``; the unit is 1, or the largest term of the objective where that
        is less.
    seconds : float
        Of the solver alone.
    nodes : int
        Of the branch-and-bound tree, 0 for an LP.
    solver, version : str

    Examples
    --------
    >>> import pyomo.environ as pyo
    >>> from dlsched.models import solve
    >>> m = pyo.ConcreteModel()
    >>> m.x = pyo.Var(domain=pyo.NonNegativeIntegers)
    >>> m.room = pyo.Constraint(expr=2 * m.x <= 7)
    >>> m.total = pyo.Objective(expr=m.x, sense=pyo.maximize)
    >>> found = solve(m)
    >>> str(found.status), found.objective, found.bound, found.gap, found.nodes
    ('optimal', 3.0, 3.0, 0.0, 0)
    """

    status: Status
    objective: float | None
    bound: float | None
    gap: float | None
    seconds: float
    nodes: int
    solver: str
    version: str

    @classmethod
    def unasked(cls, status: Status, solver: str) -> Self:
        """Return what is known before a solver was asked."""
        return cls(status, None, None, None, 0.0, 0, solver, "")

    def with_value(self, value: float, unit: float = 1.0) -> Self:
        """Return the same with the objective of a point, and the gap that it leaves."""
        gap = None if self.bound is None else abs(self.bound - value) / max(unit, abs(value))
        return replace(self, objective=value, gap=gap)

    def if_reached(self) -> Self:
        """Return the same, called feasible where it was optimal and its value is not that of its bound."""
        is_apart = self.gap is not None and self.gap > TOLERANCE
        return replace(self, status=Status.FEASIBLE) if self.status is Status.OPTIMAL and is_apart else self

    def _sections(self) -> Iterable[Section]:
        found = facts(objective=self.objective, bound=self.bound, gap=self.gap, seconds=self.seconds, nodes=self.nodes)
        yield Section(f"Solution: {self.status}", [*found, ("solver", f"{self.solver} {self.version}".rstrip())])


@dataclass(frozen=True, slots=True)
class RawSolution:
    """What a solver returned for a matrix: `Solution`, the point and, for an LP, row duals and reduced costs.

    `left_open` is whether it says that the program is unbounded or infeasible, and not which.

    Examples
    --------
    >>> from dlsched.solvers import Builder, solve_matrix
    >>> program = Builder(sense=-1)
    >>> x = program.column(9.0, cost=2.0)
    >>> _ = program.row([(x, 1.0)], upper=3.0)
    >>> found = solve_matrix(program.matrix())
    >>> str(found.summary.status), found.x.tolist(), found.row_duals.tolist()
    ('optimal', [3.0], [2.0])
    """

    summary: Solution
    x: Floats | None
    row_duals: Floats | None = None
    reduced_costs: Floats | None = None
    left_open: bool = False
