"""What a solver says of a program, and what is raised where it has no answer."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Self

from dlsched.readable import Readable, Section, facts
from dlsched.solvers.matrix import Floats


class SolverError(RuntimeError):
    """A solver ended without an optimum and without a proof that there is none; the message says how it ended."""


class ResidualError(SolverError):
    """The solver's point breaks a row, a bound or integrality by more than the tolerance."""


class Status(StrEnum):
    """How a solve ended."""

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

    def _sections(self) -> Iterable[Section]:
        found = facts(objective=self.objective, bound=self.bound, gap=self.gap, seconds=self.seconds, nodes=self.nodes)
        yield Section(f"Solution: {self.status}", [*found, ("solver", f"{self.solver} {self.version}".rstrip())])


@dataclass(frozen=True, slots=True)
class RawSolution:
    """What a solver returned for a matrix: `Solution`, the point and, for an LP, row duals and reduced costs."""

    summary: Solution
    x: Floats | None
    row_duals: Floats | None = None
    reduced_costs: Floats | None = None
