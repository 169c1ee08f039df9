"""How a solver is asked: what a user may choose, and what our own methods choose beside it."""

from __future__ import annotations

from dataclasses import dataclass

from dlsched.arguments import at_least, between, named

SOLVERS = ("highs", "scip")

MOST_SEED = 2**31 - 1
"""Solvers keep their seeds in 32 bits."""


@dataclass(frozen=True, slots=True)
class SolverOptions:
    """What a solver is told beside the program.

    Attributes
    ----------
    solver : {"highs", "scip"}
    time_limit : float or None
        Seconds.
    threads : int or None
    gap : float
        Relative gap at which it may stop.
    seed : int or None
    presolve : bool
    nodes : int or None
        Of HiGHS's tree, at most.
    cuts : bool
        Whether HiGHS looks for cuts below the root of its tree.
    """

    solver: str = "highs"
    time_limit: float | None = None
    threads: int | None = None
    gap: float = 0.0
    seed: int | None = None
    presolve: bool = True
    nodes: int | None = None
    cuts: bool = True


def expect_settings(
    solver: str,
    *,
    time_limit: float | None,
    threads: int | None,
    gap: float,
    seed: int | None,
    nodes: int | None = None,
) -> None:
    """Refuse a solver that is unknown, and settings out of range.

    Raises
    ------
    InputError
    """
    named("solver", solver, dict.fromkeys(SOLVERS))
    at_least(0, time_limit=time_limit, gap=gap, nodes=nodes)
    at_least(1, threads=threads)
    between(0, MOST_SEED, seed=seed)
