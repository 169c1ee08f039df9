"""The multi-dimensional 0-1 knapsack problem, exactly or to a guaranteed part of the optimum."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from fractions import Fraction

from dlsched.algorithms.exact.knapsack import solve_exact
from dlsched.algorithms.knapsack_scheme import MAX_LPS, Exact, Problem, Selection, frieze_clarke, subset_size
from dlsched.arguments import at_least, checked


class Method(StrEnum):
    """How a knapsack problem is solved."""

    SCHEME = "scheme"
    EXACT = "exact"
    LP_FLOOR = "lp-floor"


@checked
def solve_knapsack(
    values: Sequence[Exact],
    weights: Sequence[Sequence[Exact]],
    capacity: Sequence[Exact],
    *,
    method: Method | str = Method.SCHEME,
    epsilon: Exact = 0.5,
    max_lps: int = MAX_LPS,
) -> Selection:
    """Choose items of the largest value that fit, exactly or to a guaranteed part of it.

    Parameters
    ----------
    values : sequence of I numbers
        Not negative.
    weights : sequence of I sequences of R numbers
        Not negative.
    capacity : sequence of R numbers
        Not negative.
    method : {"scheme", "exact", "lp-floor"}
        ``"lp-floor"`` is the scheme of size 0, which guarantees nothing.
    epsilon : number
        The scheme's value is at least 1 - epsilon of the optimum. It fixes the subset size with the items that fit and
        are worth something, and with the rows that all of these together exceed.
    max_lps : int
        The most linear programs that the scheme may solve.

    Raises
    ------
    ValueError
        If a number is negative, the shapes do not fit, epsilon is not in (0, 1).
    TooManyProgramsError
        If the scheme is not done after `max_lps` programs.
    """
    at_least(0, max_lps=max_lps)
    problem = Problem.of(values, weights, capacity)
    how = Method(method)
    if how is Method.EXACT:
        found = solve_exact(problem.values, problem.weights, problem.capacity)
        useful = tuple(sorted(i for i in found.chosen if problem.values[i]))
        value = problem.worth(useful)
        guarantee = Fraction(1) if found.proved or not found.bound else min(Fraction(1), value / found.bound)
        return Selection(useful, value, None, guarantee, 0, 0)
    if how is Method.LP_FLOOR:
        return frieze_clarke(problem, 0, max_lps=max_lps)
    size = subset_size(len(problem.items), len(problem.rows), epsilon)
    return frieze_clarke(problem, size, max_lps=max_lps)
