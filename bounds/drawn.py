"""What the drawn instances of several papers have in common."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from dlsched.models.utility import Table


def falling(rng: np.random.Generator, start: int, slots: int) -> Table:
    """Return a table of positive values in tenths from `start` on, falling by at most about a fifth a slot."""
    tenths = [10 * start]
    for _ in range(slots - 1):
        tenths.append(max(1, tenths[-1] * int(rng.integers(80, 101)) // 100))
    return Table(values=tuple(Fraction(value, 10) for value in tenths))
