"""The integer program over weighted mappings: of each request's mappings at most one, within all capacities.

Weights play no part in it. Its optimum is at least as good as any feasible draw.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from dlsched.arguments import at_least, between, checked
from dlsched.models.ddljs.requests import RingProblem
from dlsched.models.numbers import to_integers
from dlsched.rounding.mapping_table import FEASIBLE, MappingTable, Option, Weighted
from dlsched.rounding.mappings import RoundedMappings, rounded
from dlsched.solvers.builder import Builder
from dlsched.solvers.failure import ResidualError
from dlsched.solvers.matrix import Matrix
from dlsched.solvers.solution import Status
from dlsched.solvers.solve import MOST_SEED, solve_matrix

_LARGEST = 2**40
"""Sum of a row's loads as whole numbers up to which they are passed so: far below what floats add exactly (2**53) and
what solvers refuse (1e15). Arbitrary below these."""


@dataclass(frozen=True, slots=True, eq=False)
class MappingChoice:
    """The best choice among weighted mappings.

    Attributes
    ----------
    chosen : RoundedMappings
        Keeps all capacities, in exact arithmetic.
    bound : float
        The least upper bound that the solver claims on any choice.
    proved : bool
        Whether the solver claims that there is no better one.
    """

    chosen: RoundedMappings
    bound: float
    proved: bool


@checked
def choose_mappings(
    problem: RingProblem,
    weighted: Weighted,
    *,
    time_limit: float | None = None,
    seed: int | None = None,
    presolve: bool = True,
) -> MappingChoice:
    """Choose the most profitable feasible combination of mappings.

    Parameters
    ----------
    problem : RingProblem
    weighted : mapping of str to sequence of WeightedMapping
        As `dlsched.rounding.decompose` returns it.
    time_limit : float, optional
        Seconds.
    seed, presolve
        As for `dlsched.models.solve`.

    Raises
    ------
    ValueError
        As `MappingTable.of`.
    ResidualError
        If the solver's choice exceeds a capacity in exact arithmetic.
    """
    at_least(0, time_limit=time_limit)
    between(0, MOST_SEED, seed=seed)
    table = MappingTable.of(problem, weighted)
    columns = [
        (i, option)
        for i, options in enumerate(table.options.values())
        for option in options[1:]
        if all(load <= table.capacity[row] for row, load in option.loads.items())
    ]
    raw = solve_matrix(_matrix(table, columns), time_limit=time_limit, seed=seed, presolve=presolve)
    chosen = [options[0] for options in table.options.values()]
    if raw.x is not None:
        for (i, option), taken in zip(columns, raw.x.tolist(), strict=True):
            if taken:
                chosen[i] = option
    if not FEASIBLE.accepts(table, chosen):
        raise ResidualError("the solver's choice of mappings exceeds a capacity in exact arithmetic")
    trivial = sum((max(o.profit for o in options) for options in table.options.values()), Fraction(0))
    bound = raw.summary.bound
    return MappingChoice(
        rounded(table, chosen, 0, FEASIBLE),
        float(trivial) if bound is None else bound,
        raw.summary.status is Status.OPTIMAL,
    )


def _matrix(table: MappingTable, columns: list[tuple[int, Option]]) -> Matrix:
    """Return one row for each request and each row of the table; loads are whole numbers where they stay small."""
    program = Builder(-1)
    chosen = program.columns(1.0, cost=[float(option.profit) for _, option in columns], integer=True)
    program.add(program.rows(upper=np.ones(len(table.options)))[[i for i, _ in columns]], chosen, 1.0)
    for row in table.rows:
        loads = [option.loads.get(row, Fraction(0)) for _, option in columns]
        limit = min(table.capacity[row], sum(loads, Fraction(0)))
        integers, scale = to_integers(loads)
        whole = sum(integers) < _LARGEST
        terms = zip(chosen.tolist(), map(float, integers if whole else loads), strict=True)
        program.row([term for term in terms if term[1]], upper=float(limit * scale // 1 if whole else limit))
    return program.matrix()
