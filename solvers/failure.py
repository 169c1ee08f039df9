"""What is raised where a solver has no answer."""

from __future__ import annotations


class SolverError(RuntimeError):
    """A solver ended without an optimum and without a proof that there is none; the message says how it ended."""


class ResidualError(SolverError):
    """The solver's point breaks a row, a bound or integrality by more than the tolerance."""
