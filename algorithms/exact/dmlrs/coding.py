"""Room and needs as single integers, so that one subtraction tells whether all resources suffice."""

from __future__ import annotations

from collections.abc import Sequence

from dlsched.algorithms.exact.dmlrs.slots import Ints

Needs = tuple[int, ...]


class Coding:
    """Resources side by side in one integer, each below a bit that a difference clears where it does not suffice.

    Parameters
    ----------
    capacity : ndarray of shape (machines, resources)
    first : int
        Resource of the highest bits: rooms compare by it first.

    Attributes
    ----------
    guard : int
        A difference of room and needs is room again where all of these bits are set.
    rooms : tuple of int
        The empty machines.
    """

    def __init__(self, capacity: Ints, first: int = 0) -> None:
        total = capacity.sum(axis=0).tolist()
        count = len(total)
        self._widths = [int(amount).bit_length() + 1 for amount in total]
        rising = [(first - 1 - k) % count for k in range(count)]
        self._shifts = [0] * count
        shift = 0
        for r in rising:
            self._shifts[r] = shift
            shift += self._widths[r]
        self.guard = sum(1 << s + w - 1 for s, w in zip(self._shifts, self._widths, strict=True))
        self.rooms = tuple(self.code(row) | self.guard for row in capacity.tolist())

    def code(self, amounts: Sequence[int]) -> int:
        """Return amounts as one integer; those of one item may not be more than all machines have."""
        return sum(amount << shift for amount, shift in zip(amounts, self._shifts, strict=True))

    def read(self, room: int) -> Needs:
        """Return the amounts of a room."""
        return tuple((room >> s) & ((1 << w - 1) - 1) for s, w in zip(self._shifts, self._widths, strict=True))
