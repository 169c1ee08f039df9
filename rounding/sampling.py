"""How often rows break when a point is rounded many times: sampling in chunks, as fast as the matrix product in it.

A coordinate goes up with probability u. One random byte decides 255 times in 256: up below floor(256 u), down above; on
a tie, 53 further random bits decide, so that each probability is met to 2^-61. Rows are scaled to integers, and the
product runs in single precision where their sums stay below 2^24, in double precision below 2^53: then every count is
exact. Rows that need more bits are compared in double precision and, near equality, in rationals.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from dlsched.arguments import at_least, checked, finite, generator
from dlsched.arithmetic import ceil_log2, dot, integer_product
from dlsched.errors import InputError
from dlsched.models.numbers import rational, to_integers
from dlsched.rounding.independent import Floats, Ints, scale
from dlsched.tolerances import ULP

CHUNK = 2**20
"""Coordinates that are drawn at a time. Arbitrary: a few MiB."""

_TIES = 2**53
"""Values that the rest of a probability, behind its first eight bits, is compared with: a float has no more bits."""

_LARGEST = 2.0**52
"""Sum of a row of whole numbers below which it is taken as it is: half of what floats add exactly."""


@dataclass(frozen=True, slots=True, eq=False)
class Violations:
    """How often rows of B x <= b broke.

    Attributes
    ----------
    rows : ndarray of int64, shape (r,)
        Draws in which each row broke.
    joint : int
        Draws in which some row broke.
    draws : int

    Examples
    --------
    >>> from dlsched.rounding import sample_violations
    >>> found = sample_violations([[2, 3, 1], [1, 0, 4]], [4, 4], [0.5, 0.5, 0.5], 7, 10_000)
    >>> print((found.rows / found.draws).round(2), round(found.joint / found.draws, 2))
    [0.25 0.25] 0.38
    """

    rows: Ints
    joint: int
    draws: int


@checked
def sample_violations(
    B: Sequence[Sequence[float]] | Floats,
    b: Sequence[float] | Floats,
    x: Sequence[float] | Floats,
    rng: np.random.Generator | int,
    draws: int,
    gain: float = 1.0,
) -> Violations:
    """Round gain * x many times and count the draws that break each row of B x <= b, and any.

    Parameters
    ----------
    B : array_like of shape (r, n)
    b : array_like of shape (r,)
    x : array_like of shape (n,)
    rng : numpy.random.Generator or int
        A generator, or a seed.
    draws : int
    gain : float

    Raises
    ------
    InputError
        If shapes do not fit, a number is not finite, the gain is not positive, or draws is negative.

    Examples
    --------
    >>> import numpy as np
    >>> from dlsched.rounding import sample_violations, violation_probability
    >>> rng = np.random.default_rng(7)
    >>> weights, x = rng.integers(1, 100, (1, 40)), rng.random(40).round(2)
    >>> found = sample_violations(weights, [1200], x, rng, 20_000)
    >>> exact = violation_probability(weights[0].tolist(), x.tolist(), 1200)
    >>> print(round(float(exact), 3), abs(found.joint / found.draws - float(exact)) < 0.01)
    0.022 True
    """
    scaled = scale(x, gain)
    matrix, rhs = finite("B", B), finite("b", b)
    if matrix.shape != (rhs.size, scaled.size) or rhs.ndim != 1:
        raise InputError(f"B: has shape {matrix.shape}; b and x ask for ({rhs.size}, {scaled.size})")
    at_least(0, draws=draws)
    rng = generator(rng)
    floor = np.floor(scaled)
    floor += scaled - floor == 1.0  # what is a little below 0 is 1 above -1, once rounded: it always goes up
    rows = list(_by_precision(matrix, rhs, floor.astype(np.int64)))
    counts = np.zeros(rhs.size, dtype=np.int64)
    joint = 0
    for up in _ups(np.maximum(scaled - floor, 0.0), rng, draws):
        broken = np.zeros(len(up), dtype=bool)
        for group in rows:
            found = group.broken(up)
            some = found.any(axis=1)
            if some.any():
                counts[group.chosen] += np.add.reduce(found, axis=0, dtype=np.uint32)
                broken |= some
        joint += int(np.count_nonzero(broken))
    return Violations(counts, joint, draws)


def _ups(up: Floats, rng: np.random.Generator, draws: int) -> Iterator[npt.NDArray[np.bool_]]:
    """Yield which coordinates go up, as arrays of shape (draws in the chunk, n)."""
    whole = np.floor(up * 256)
    rest = up * 256 - whole
    threshold = whole.astype(np.uint8)
    height = max(1, CHUNK // max(1, up.size))
    for first in range(0, draws, height):
        shape = min(height, draws - first), up.size
        drawn = _bytes(rng, shape[0] * shape[1]).reshape(shape)
        result = drawn < threshold
        ties = np.flatnonzero(drawn == threshold)
        finer = rng.integers(_TIES, size=ties.size) < rest[ties % up.size] * _TIES
        result.reshape(-1)[ties[finer]] = True
        yield result


def _bytes(rng: np.random.Generator, count: int) -> npt.NDArray[np.uint8]:
    """Return random bytes, eight from each 64-bit integer."""
    words = rng.integers(2**64 - 1, size=-(-count // 8), dtype=np.uint64, endpoint=True)
    return words.view(np.uint8)[:count]


@dataclass(frozen=True, slots=True)
class _Row:
    """A row scaled to integers: its coefficients, and the room that the floors leave, rounded down."""

    coefficients: npt.NDArray[Any]
    room: int
    scale: int

    @property
    def bits(self) -> int:
        """Bits that its sums need."""
        return 1 + ceil_log2(max(1, int(np.abs(self.coefficients).sum()), abs(self.room)))


def _by_precision(matrix: Floats, rhs: Floats, floor: Ints) -> Iterator[_Rows]:
    """Yield the rows in groups: whose sums fit single precision, double precision, or neither."""
    rows = _integers(matrix, rhs, floor)
    for low, high, dtype in ((0, 24, np.float32), (24, 53, np.float64), (53, math.inf, None)):
        chosen = [i for i, row in enumerate(rows) if low < row.bits <= high]
        if chosen:
            yield _Rows(np.array(chosen), [rows[i] for i in chosen], dtype)


def _integers(matrix: Floats, rhs: Floats, floor: Ints) -> list[_Row]:
    """Return the rows scaled to integers; rows of integers, the usual ones, as they are."""
    integral = (matrix == np.round(matrix)).all(axis=1) & (dot(np.abs(matrix), 1.0 + np.abs(floor)) < _LARGEST)
    found = []
    for row, limit, ready in zip(matrix, rhs.tolist(), integral.tolist(), strict=True):
        if ready:
            scale, coefficients = 1, row.astype(np.int64)
        else:
            exact, scale = to_integers(map(rational, row.tolist()))
            coefficients = np.array(exact, dtype=object)
        found.append(
            _Row(coefficients, math.floor(rational(limit) * scale) - int(integer_product(coefficients, floor)), scale)
        )
    return found


class _Rows:
    """Rows that are compared in one precision.

    Parameters
    ----------
    chosen : ndarray of int
        Their numbers.
    rows : list of _Row
    dtype : numpy type or None
        Precision in which the sums are exact; None where they are not.
    """

    def __init__(self, chosen: Ints, rows: list[_Row], dtype: Any) -> None:
        self.chosen = chosen
        self._rows = rows
        self._dtype = dtype or np.float64
        self._exact = dtype is not None
        divisors = [1 if self._exact else row.scale for row in rows]
        columns = [row.coefficients / d for row, d in zip(rows, divisors, strict=True)]
        self._columns = np.array(columns, dtype=self._dtype).T.copy()
        self._factor = np.zeros((0, 0), dtype=self._dtype)
        self._sums = np.zeros((0, 0), dtype=self._dtype)
        self._room = np.array([row.room / d for row, d in zip(rows, divisors, strict=True)], dtype=self._dtype)

    def broken(self, up: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
        """Return which rows break in which draws, shape (draws, rows)."""
        if len(self._factor) != len(up):
            self._factor = np.empty(up.shape, dtype=self._dtype)
            self._sums = np.empty((len(up), len(self._room)), dtype=self._dtype)
        np.copyto(self._factor, up)
        np.matmul(self._factor, self._columns, out=self._sums)
        result: npt.NDArray[np.bool_] = self._sums > self._room
        return result if self._exact else self._rechecked(up, self._sums, result)

    def _rechecked(
        self, up: npt.NDArray[np.bool_], sums: Floats, result: npt.NDArray[np.bool_]
    ) -> npt.NDArray[np.bool_]:
        size = np.abs(self._columns).sum(axis=0) + np.abs(self._room)
        unsure = np.abs(sums - self._room) <= size * len(self._columns) * 4 * ULP
        for draw, i in np.argwhere(unsure).tolist():
            row = self._rows[i]
            result[draw, i] = row.coefficients[up[draw]].sum() > row.room
        return result
