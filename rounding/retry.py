"""Rounding until a point is good enough: Algorithm 2 of the SMD paper, printed and corrected."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from dlsched.arguments import at_least, checked, generator
from dlsched.arithmetic import exact_power
from dlsched.errors import InputError
from dlsched.rounding.independent import Floats, Ints, round_independent
from dlsched.rounding.probability import Number, outcome_distribution

Predicate = Callable[[Ints], bool]
"""Tells whether an integer point, of shape (n,), is feasible."""

MAX_ROUNDS = 10_000
"""Rounds after which the printed algorithm, which need not end, is given up. Arbitrary: an outcome that has not come by
then has, at 99 %, a probability below 5e-4."""


@dataclass(frozen=True, slots=True, eq=False)
class Rounded:
    """What rounding until feasible gave.

    Attributes
    ----------
    x : ndarray of int64, shape (n,), or None
        None where no round was feasible.
    rounds : int
        Rounds made.
    feasible : int
        Rounds that were feasible.

    Examples
    --------
    >>> from dlsched.rounding import round_until_feasible
    >>> fits = lambda point: 2 * point[0] + 3 * point[1] <= 4
    >>> found = round_until_feasible([0.5, 1.5], fits, 7, rounds=20, cost=lambda point: -5 * point[0] - 6 * point[1])
    >>> print(found.x, found.feasible, "of", found.rounds)
    [0 1] 5 of 20
    """

    x: Ints | None
    rounds: int
    feasible: int


@checked
def round_until_feasible(
    x: Sequence[float] | Floats,
    feasible: Predicate,
    rng: np.random.Generator | int,
    *,
    rounds: int,
    cost: Callable[[Ints], float | Fraction] | None = None,
    draw: Callable[[np.random.Generator], Ints] | None = None,
    variant: str = "corrected",
) -> Rounded:
    """Round a point several times.

    Printed, "if infeasible or cnt < F then cnt++ and go to 2" is taken literally: the point of the first round after F
    others that is feasible, however good earlier ones were; it may never end, and is given up after `MAX_ROUNDS`.
    Corrected: the cheapest feasible point of F rounds.

    Parameters
    ----------
    x : array_like of shape (n,)
        The point that is rounded, its gain applied.
    feasible : callable
        Of an integer point.
    rng : numpy.random.Generator or int
        A generator, or a seed.
    rounds : int
        F, at least 1.
    cost : callable, optional
        Of a feasible integer point; without it the first feasible one is the best.
    draw : callable, optional
        One rounding, of the generator; independent rounding of x by default.
    variant : {"corrected", "printed"}

    Raises
    ------
    InputError
        If there is no round to make, or the variant is unknown.

    References
    ----------
    SMD, Algorithm 2.

    Examples
    --------
    >>> import pyomo.environ as pyo
    >>> from dlsched.models import solve
    >>> from dlsched.relaxations import relax
    >>> from dlsched.rounding import round_until_feasible
    >>> m = pyo.ConcreteModel()
    >>> m.x = pyo.Var([1, 2, 3], domain=pyo.Binary)
    >>> m.room = pyo.Constraint(expr=3 * m.x[1] + 4 * m.x[2] + 5 * m.x[3] <= 8)
    >>> m.worth = pyo.Objective(expr=4 * m.x[1] + 5 * m.x[2] + 6 * m.x[3], sense=pyo.maximize)
    >>> relaxation = relax(m)
    >>> solution = solve(relaxation.model)
    >>> x = [relaxation.recover().values[v] for v in m.x.values()]
    >>> def fits(point):
    ...     m.x.set_values(dict(zip(m.x, point.tolist())))
    ...     return pyo.value(m.room.body) <= 8
    >>> found = round_until_feasible(x, fits, 7, rounds=20, cost=lambda point: -(point @ [4, 5, 6]))
    >>> print([round(v, 6) for v in x], found.x, found.feasible)
    [1.0, 1.0, 0.2] [1 1 0] 18
    """
    at_least(1, rounds=rounds)
    rng = generator(rng)
    if variant not in ("corrected", "printed"):
        raise InputError(f"variant: {variant!r} is neither 'corrected' nor 'printed'")
    sample = draw or (lambda generator: round_independent(x, generator)[0])
    if variant == "printed":
        return _literally(feasible, rng, rounds, sample)
    points = [sample(rng) for _ in range(rounds)]
    good = [point for point in points if feasible(point)]
    best = min(good, key=cost) if good and cost else next(iter(good), None)
    return Rounded(best, rounds, len(good))


def _literally(
    feasible: Predicate, rng: np.random.Generator, rounds: int, sample: Callable[[np.random.Generator], Ints]
) -> Rounded:
    good = 0
    for count in range(max(MAX_ROUNDS, rounds + 1)):
        point = sample(rng)
        fits = feasible(point)
        good += fits
        if fits and count >= rounds:
            return Rounded(point, count + 1, good)
    return Rounded(None, count + 1, good)


@checked
def success_probability(x: Sequence[Number], feasible: Predicate, rounds: int = 1) -> Fraction:
    """Return the exact probability that at least one of some independent roundings of x is feasible.

    Parameters
    ----------
    x : sequence of n numbers
        The point that is rounded, its gain applied.
    feasible : callable
        Of an integer point.
    rounds : int
        F.

    Raises
    ------
    InputError
        As `outcome_distribution`, and if the rounds are negative.

    Examples
    --------
    >>> from fractions import Fraction
    >>> from dlsched.rounding import success_probability
    >>> x, fits = [Fraction(1, 2), Fraction(3, 2)], lambda point: 2 * point[0] + 3 * point[1] <= 4
    >>> print([str(success_probability(x, fits, rounds)) for rounds in (1, 2, 5)])
    ['1/4', '7/16', '781/1024']
    """
    at_least(0, rounds=rounds)
    law = outcome_distribution(x)
    once = sum((p for point, p in zip(law.points, law.probabilities, strict=True) if feasible(point)), Fraction(0))
    return 1 - exact_power(1 - once, rounds)
