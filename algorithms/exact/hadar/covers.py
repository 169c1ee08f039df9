"""Numbers of slots that complete a job, as linear rows without fractional numbers among them.

A job is done iff ``sum v_l n_l >= 1``, n_l slots at level l, which v_l of its iterations take. For whole numbers that
says the same as every *cover* row ``sum a_l n_l >= 1``, ``a >= 0``, in which all *least* complete numbers have at least
1: any complete n is at least one of these in each level. The rows that no others imply are the facets of the hull of
complete numbers, that is, the vertices of all such a (Fulkerson's blocking polyhedron); they are found by double
description (Motzkin et al. 1953; the combinatorial test of adjacency: Fukuda and Prodon 1996), in integers.

With one level a is one over the slots needed. Where a job has few slots left, least numbers of more slots are left out,
which makes rows stronger.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction

from dlsched.models.numbers import to_integers

_MOST = 64
"""Least complete numbers, and rows, beyond which a job keeps its shares alone. Arbitrary: a tenth of a second or so."""

Shares = tuple[Fraction, ...]
Whole = tuple[int, ...]


def cover_rows(shares: Sequence[Fraction], slots: int) -> list[list[Shares]]:
    """Return the rows of a job for each number of slots that it may have had, from 1 on.

    Parameters
    ----------
    shares : sequence of Fraction
        v_l, above 0 and at most 1.
    slots : int

    Returns
    -------
    list of list of tuple of Fraction
        The a of each row. A job that cannot be done yet has one row, without anything that is at least 1.
    """
    alone = [tuple(shares)]
    least = _least(shares, slots)
    if least is None:
        return [alone] * slots
    size = len(shares) + 1
    # Rays (a, b) of ``a, b >= 0`` with ``a n >= b`` for all n so far: those with b are the vertices.
    cuts: list[Whole] = [tuple(int(i == j) for j in range(size)) for i in range(size)]
    rays = list(cuts)
    rows: list[list[Shares]] = []
    for upto in range(1, slots + 1):
        for n in least:
            if sum(n) == upto and len(rays) <= _MOST:
                rays = _cut(rays, cuts, (*n, -1))
        vertices = [tuple(Fraction(a, ray[-1]) for a in ray[:-1]) for ray in rays if ray[-1]]
        rows.append(sorted(vertices) if len(rays) <= _MOST else alone)
    return rows


def _least(shares: Sequence[Fraction], slots: int) -> list[Whole] | None:
    """Return the least complete numbers of at most so many slots; None where they are too many."""
    (need, *works), _ = to_integers([Fraction(1), *shares])
    found = []
    for n in _complete(works, need, slots):
        done = _product(works, n)
        if all(done - work < need for work, k in zip(works, n, strict=True) if k):
            found.append(n)
            if len(found) > _MOST:
                return None
    return found


def _complete(works: Sequence[int], need: int, slots: int) -> Iterator[Whole]:
    """Yield numbers at all levels, the last one as small as can be."""
    enough = max(0, -(-need // works[0]))
    if len(works) == 1:
        if enough <= slots:
            yield (enough,)
        return
    for k in range(min(enough, slots) + 1):
        for rest in _complete(works[1:], need - k * works[0], slots - k):
            yield (k, *rest)


def _cut(rays: list[Whole], cuts: list[Whole], cut: Whole) -> list[Whole]:
    """Return the rays of a cone after one more cut, which is added to those that it has."""
    values = [_product(cut, ray) for ray in rays]
    tight = [frozenset(i for i, own in enumerate(cuts) if not _product(own, ray)) for ray in rays]
    made = [ray for ray, value in zip(rays, values, strict=True) if value >= 0]
    for i, above in enumerate(values):
        for j, below in enumerate(values):
            if above > 0 > below:
                both = tight[i] & tight[j]
                if not any(both <= other for k, other in enumerate(tight) if k not in (i, j)):
                    between = [above * q - below * p for p, q in zip(rays[i], rays[j], strict=True)]
                    made.append(tuple(a // math.gcd(*between) for a in between))
    cuts.append(cut)
    return made


def _product(one: Sequence[int], other: Sequence[int]) -> int:
    return sum(a * b for a, b in zip(one, other, strict=True))
