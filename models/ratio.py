"""Linear-fractional functions and their sums over a polytope: the general form (12) of the SMD paper, as arrays."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from dlsched.arithmetic import dot

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Ratio:
    """A linear-fractional function (a.x + q) / (c.x + d).

    Attributes
    ----------
    numerator, denominator : ndarray of shape (n,)
        a and c.
    numerator_constant, denominator_constant : float
        q and d.

    Examples
    --------
    >>> import numpy as np
    >>> from dlsched.models import Ratio
    >>> steps = Ratio(np.array([1.0, 0.0]), 6.0, np.array([0.0, 1.0]), 0.0)  # (w + 6) / p
    >>> steps(np.array([[2.0, 1.0], [2.0, 4.0]])).tolist()
    [8.0, 2.0]
    """

    numerator: Floats
    numerator_constant: float
    denominator: Floats
    denominator_constant: float

    @property
    def is_zero(self) -> bool:
        """Whether it is 0 wherever it is defined."""
        return not self.numerator.any() and not self.numerator_constant

    def __call__(self, x: Floats) -> Floats:
        """Return its value at points x, an array of shape (..., n)."""
        above = dot(x, self.numerator) + self.numerator_constant
        return np.asarray(above / (dot(x, self.denominator) + self.denominator_constant))


@dataclass(frozen=True, slots=True, eq=False)
class Polytope:
    """{x : row_lower <= A x <= row_upper, lower <= x <= upper}.

    Attributes
    ----------
    A : ndarray of shape (m, n)
    row_lower, row_upper : ndarray of shape (m,)
    lower, upper : ndarray of shape (n,)
        Infinite where there is no bound.
    names : tuple of str
        Of the variables; may be empty.

    Examples
    --------
    >>> import numpy as np
    >>> from dlsched.models import Polytope
    >>> A, most, infinite = np.array([[2.0, 1.0]]), np.array([9.0]), np.full(2, np.inf)
    >>> limits = Polytope(A, -infinite[:1], most, np.ones(2), infinite, ("w", "p"))
    >>> limits.name(1)
    'p'
    >>> [bool(np.all(limits.A @ x <= limits.row_upper)) for x in ([3.0, 3.0], [4.0, 3.0])]
    [True, False]
    """

    A: Floats
    row_lower: Floats
    row_upper: Floats
    lower: Floats
    upper: Floats
    names: tuple[str, ...] = ()

    def name(self, i: int) -> str:
        """Return the name of a variable, its number where it has none."""
        return self.names[i] if self.names else f"number {i}"

    def excess(self, x: Floats) -> float:
        """Return by how much the point x, of shape (n,), breaks the worst row or bound; 0 where it is inside."""
        rows = dot(self.A, x)
        below = np.concatenate([self.row_lower - rows, self.lower - x])
        above = np.concatenate([rows - self.row_upper, x - self.upper])
        return float(max(0.0, below.max(initial=0.0), above.max(initial=0.0)))


@dataclass(frozen=True, slots=True, eq=False)
class FractionalSum:
    """A sum of linear-fractional functions to be minimised over a polytope (12).

    Attributes
    ----------
    ratios : tuple of Ratio
    polytope : Polytope

    Examples
    --------
    >>> import numpy as np
    >>> from dlsched.models import FractionalSum, Polytope, Ratio
    >>> box = Polytope(np.zeros((0, 1)), np.zeros(0), np.zeros(0), np.array([1.0]), np.array([4.0]))
    >>> rising = Ratio(np.array([1.0]), 0.0, np.array([0.0]), 1.0)  # w
    >>> falling = Ratio(np.array([0.0]), 4.0, np.array([1.0]), 0.0)  # 4 / w
    >>> total = FractionalSum((rising, falling), box)
    >>> [sum(float(ratio(np.array([w]))) for ratio in total.ratios) for w in (1.0, 2.0, 4.0)]
    [5.0, 4.0, 5.0]
    """

    ratios: tuple[Ratio, ...]
    polytope: Polytope

    @property
    def numbers(self) -> tuple[object, ...]:
        """All that decides its optimum, bit by bit; it can be hashed."""
        of, within = self.ratios, self.polytope
        sides = (within.A, within.row_lower, within.row_upper, within.lower, within.upper)
        constants = tuple((ratio.numerator_constant, ratio.denominator_constant) for ratio in of)
        arrays = (array for ratio in of for array in (ratio.numerator, ratio.denominator))
        return constants, within.A.shape, *((a.dtype.str, a.tobytes()) for a in (*arrays, *sides))

    def __call__(self, x: Floats) -> Floats:
        """Return the sum at points x, an array of shape (..., n)."""
        return np.asarray(sum((ratio(x) for ratio in self.ratios), np.zeros(x.shape[:-1])))
