"""Rows for whole numbers: the hulls of what completes a job, and of what runs in a slot.

*Covering.* A job is done iff ``sum v_l n_l >= 1``, n_l slots at level l, which v_l of its iterations take. For whole
numbers that says the same as all rows ``sum a_l n_l >= 1``, ``a >= 0``, in which every *least* complete n has 1 or
more: any complete n is at least one of these in each level. Where a job has few slots left, complete numbers of more
slots are left out, which makes rows stronger.

*Packing.* Gangs fit iff ``sum W_k n_k <= C``, n_k gangs of W_k devices, of which there are no more than so many jobs.
That says the same as all rows ``sum a_k n_k <= 1``, ``a >= 0``, in which every *greatest* n that fits has 1 or less.

The rows that no others imply are vertices of all such a, in packing those that none other exceeds (Fulkerson's blocking
and anti-blocking polyhedra), and facets of the hull of whole numbers. They are found by double description (Motzkin et
al. 1953; the combinatorial test of adjacency: Fukuda and Prodon 1996), in integers.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from operator import le, mul

from dlsched.models.numbers import to_integers

_MOST = 64
"""Least or greatest numbers, and rows, beyond which there is one plain row. Arbitrary: a tenth of a second or so."""

Coefficients = tuple[Fraction, ...]
Whole = tuple[int, ...]


def covering(shares: Sequence[Fraction], slots: int) -> list[list[Coefficients]]:
    """Return the rows, all with 1 at least, of a job for each number of slots that it may have had, from 1 on.

    Parameters
    ----------
    shares : sequence of Fraction
        v_l, above 0 and at most 1, falling.
    slots : int

    Returns
    -------
    list of list of tuple of Fraction
        The a of each row. A job that cannot be done yet has one row, without anything that is 1.
    """
    plain = [tuple(shares)]
    (need, *works), _ = to_integers([Fraction(1), *shares])
    least = _few(_least(works, need, slots))
    if least is None:
        return [plain] * slots
    vertices = _Vertices(len(shares))
    rows: list[list[Coefficients]] = []
    for upto in range(1, slots + 1):
        for n in least:
            if sum(n) == upto:
                vertices.cut((*n, -1))
        rows.append(plain if vertices.too_many else vertices.listed())
    return rows


def packing(sizes: Sequence[int], most: Sequence[int], room: int) -> list[Coefficients]:
    """Return the rows, all with 1 at most, of a slot.

    Parameters
    ----------
    sizes : sequence of int
        W_k, each at most the room, falling.
    most : sequence of int
        Jobs of that size, at least 1.
    room : int
        C.

    Returns
    -------
    list of tuple of Fraction
        The a of each row; those of ``n_k <= most_k`` among them.
    """
    plain = [tuple(Fraction(size, room) for size in sizes)]
    greatest = _few(_greatest(sizes, most, room))
    if greatest is None:
        return plain
    vertices = _Vertices(len(sizes))
    for n in greatest:
        vertices.cut((*(-k for k in n), 1))
    if vertices.too_many:
        return plain
    found = vertices.listed()
    return [row for row in found if not any(row != other and all(map(le, row, other)) for other in found)]


def _few(numbers: Iterator[Whole]) -> list[Whole] | None:
    """Return what is listed; None where it is too much."""
    found = list(itertools.islice(numbers, _MOST + 1))
    return found if len(found) <= _MOST else None


def _least(works: Sequence[int], need: int, slots: int) -> Iterator[Whole]:
    """Yield the least complete numbers of so many slots at most.

    What is more than enough is less than one slot at the last level with any, and so at all: works fall.
    """
    enough = max(0, -(-need // works[0]))
    if enough > slots:
        return
    if len(works) == 1:
        yield (enough,)
        return
    for k in range(enough + 1):
        for rest in _least(works[1:], need - k * works[0], slots - k):
            yield (k, *rest)


def _greatest(sizes: Sequence[int], most: Sequence[int], room: int) -> Iterator[Whole]:
    """Yield the greatest numbers that fit.

    At each size there are so many that, with all smaller gangs, no room is left for another one: sizes fall.
    """
    if not sizes:
        yield ()
        return
    largest = min(most[0], room // sizes[0])
    spare = (room - _product(sizes[1:], most[1:])) // sizes[0]
    for k in range(min(largest, max(0, spare)), largest + 1):
        for rest in _greatest(sizes[1:], most[1:], room - k * sizes[0]):
            yield (k, *rest)


class _Vertices:
    """The vertices of all ``a >= 0`` that cuts leave, as the rays (a, b), ``b >= 0``, of a cone: those with b.

    Attributes
    ----------
    too_many : bool
        There are more than are kept; no cut counts any more.
    """

    def __init__(self, columns: int) -> None:
        size = columns + 1
        units = [tuple(int(i == j) for j in range(size)) for i in range(size)]
        # Each with the cuts on which it is 0, the signs of a and b first.
        self._rays: dict[Whole, frozenset[int]] = {ray: frozenset({*range(size)} - {i}) for i, ray in enumerate(units)}
        self._cuts = size
        self.too_many = False

    def cut(self, cut: Whole) -> None:
        """Keep the rays on which a cut is 0 or more, and those between one of these and one that goes."""
        if self.too_many:
            return
        values = {ray: _product(cut, ray) for ray in self._rays}
        made = {
            ray: tight if values[ray] else tight | {self._cuts} for ray, tight in self._rays.items() if values[ray] >= 0
        }
        above, below = ([ray for ray, value in values.items() if sign * value > 0] for sign in (1, -1))
        for one, other in itertools.product(above, below):
            tight = self._rays[one] & self._rays[other]
            if not any(tight <= own for ray, own in self._rays.items() if ray not in (one, other)):
                between = [values[one] * q - values[other] * p for p, q in zip(one, other, strict=True)]
                divisor = math.gcd(*between)
                made[tuple(a // divisor for a in between)] = tight | {self._cuts}
        self._rays = made
        self._cuts += 1
        self.too_many = len(made) > _MOST

    def listed(self) -> list[Coefficients]:
        """Return a of each vertex."""
        return sorted(tuple(Fraction(a, ray[-1]) for a in ray[:-1]) for ray in self._rays if ray[-1])


def _product(one: Sequence[int], other: Sequence[int]) -> int:
    return sum(map(mul, one, other))
