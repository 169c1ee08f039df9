"""What is known of a stranger's model."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from scipy.optimize import linprog

from dlsched.relaxations.conformance import Case, Trait

INTEGER = frozenset({Trait.INTEGER})


@dataclass(frozen=True, slots=True)
class Stranger(Case):
    """A model, its optimum, and where that is known from.

    Attributes
    ----------
    answer : callable
        Finds the optimum without Pyomo and without dlsched.
    remedy : str
        What a refusal must advise.
    """

    answer: Callable[[], float] = lambda: np.nan
    remedy: str = ""


def least(cost: Any, *, at_most: Any = None, at_least: Any = None, equal: Any = None, bounds: Any = (0, None)) -> float:
    """Return the optimum of a linear program by scipy; each argument for rows is a list of (coefficients, side)."""
    below = [(np.asarray(a, float), b) for a, b in at_most or []]
    below += [(-np.asarray(a, float), -b) for a, b in at_least or []]
    found = linprog(
        cost,
        A_ub=[a for a, _ in below] or None,
        b_ub=[b for _, b in below] or None,
        A_eq=[a for a, _ in equal or []] or None,
        b_eq=[b for _, b in equal or []] or None,
        bounds=bounds,
    )
    assert found.status == 0, found.message
    return float(found.fun)


def corners(rows: Sequence[tuple[float, float, float]]) -> Iterator[np.ndarray]:
    """Yield the corners of a polygon, the points with a x + b y <= c for each row (a, b, c)."""
    sides = np.array(rows, float)
    for pair in combinations(range(len(rows)), 2):
        system, right = sides[list(pair), :2], sides[list(pair), 2]
        if abs(np.linalg.det(system)) > 1e-9:
            corner = np.linalg.solve(system, right)
            if (sides[:, :2] @ corner <= sides[:, 2] + 1e-9).all():
                yield corner
