"""Seeded families of mixed programs and of one-slot placements, on which the claims about rounding are checked.

None is a counterexample written down: each describes a kind of program, and violations in it are found by drawing.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from dlsched.arithmetic import exact_power, integer_product
from dlsched.bounds.claim import Source
from dlsched.bounds.optima import relaxed_optimum
from dlsched.bounds.pd_ors.mixed import MixedProgram
from dlsched.bounds.pd_ors.slot import ExternalSlot

Integers = np.ndarray


def mixed(rng: np.random.Generator) -> MixedProgram:
    """Return 2-4 variables under 1-2 cover and 1-3 packing rows, at an optimum of the relaxation."""
    while True:
        n = int(rng.integers(2, 5))
        cover = _rows(rng, int(rng.integers(1, 3)), n)
        packing = _rows(rng, int(rng.integers(1, 4)), n)
        middle = rng.integers(0, 9, size=n)
        needs = np.maximum(1, integer_product(cover, middle) // 2)
        limits = np.maximum(
            packing.max(axis=1), integer_product(packing, middle) // 2 + rng.integers(0, 3, size=len(packing))
        )
        found = _program(rng.integers(1, 10, size=n), cover, needs, packing, limits, _delta(rng, 3))
        if found is not None:
            return found


def narrow(rng: np.random.Generator) -> MixedProgram:
    """Return odd cycles, of each edge of which an end is to be taken, rows that hold one or two edges, a small delta.

    A half of every vertex is the only optimum of the relaxation, as the cost of a vertex is shared by its two edges. No
    row holds an edge of the first vertex: that one and every second one after it keep all rows.
    """
    pairs = int(rng.integers(1, 6))
    n, held = 2 * pairs + 1, int(rng.integers(1, min(pairs, 2) + 1))
    edges = np.eye(n, dtype=int) + np.roll(np.eye(n, dtype=int), 1, axis=1)
    rows = pairs // held
    packing = edges[1 : 2 * rows * held : 2].reshape(rows, held, n).sum(axis=1)
    copies = int(rng.integers(2)) * int(rng.integers(10, 100)) + 1
    delta = Fraction(1) if rng.integers(2) else _delta(rng, 6)
    return MixedProgram(
        cost=_rationals(integer_product(edges.T, rng.integers(1, 6, size=n))),
        cover=tuple(map(_rationals, edges)),
        needs=(Fraction(1),) * n,
        packing=tuple(map(_rationals, packing)),
        limits=(Fraction(held),) * rows,
        point=(Fraction(1, 2),) * n,
        delta=delta,
        copies=copies,
    )


def uneven(rng: np.random.Generator) -> MixedProgram:
    """Return a great need, met by a roomy variable after some that fill rows with a fraction of a unit's room."""
    small = int(rng.integers(2, 7))
    rooms = [Fraction(int(v), 40) for v in rng.integers(rng.integers(1, 3), 5, size=small)]
    need = int(rng.integers(200, 2000))
    units = np.eye(small, small + 1, dtype=int)
    delta = Fraction(int(rng.integers(2, 11)), 10)
    return MixedProgram(
        cost=(*_rationals(rng.integers(1, 10, size=small)), Fraction(20)),
        cover=((Fraction(1),) * (small + 1),),
        needs=(Fraction(need),),
        packing=tuple(map(_rationals, units)),
        limits=tuple(rooms),
        point=(*rooms, need - sum(rooms)),
        delta=delta,
    )


def spread(rng: np.random.Generator) -> MixedProgram:
    """Return a cover and a packing row over tens of variables below 1, so that sums vary around what is needed."""
    need, count = int(rng.integers(1, 6)), int(rng.integers(20, 60))
    room = need + int(rng.integers(0, 3))
    return MixedProgram(
        cost=(Fraction(int(rng.integers(1, 4))), Fraction(5)),
        cover=((Fraction(1), Fraction(1)),),
        needs=(Fraction(need),),
        packing=((Fraction(1), Fraction(0)), (Fraction(0), Fraction(1))),
        limits=(Fraction(room), Fraction(room)),
        point=(Fraction(need, count), Fraction(0)),
        delta=Fraction(1, exact_power(4, int(rng.integers(0, 4)))),
        counts=(count, 1),
        copies=int(rng.integers(1, 4)),
    )


def dear(rng: np.random.Generator) -> MixedProgram:
    """Return a great need, met for nothing but for a fraction of a unit, which costs all there is to pay."""
    need, delta = int(rng.integers(200, 2000)), Fraction(int(rng.integers(2, 11)), 10)
    share = delta / 3 * Fraction(int(rng.integers(30, 130)), 100)
    return MixedProgram(
        cost=(Fraction(0), Fraction(1)),
        cover=((Fraction(1), Fraction(1)),),
        needs=(Fraction(need),),
        packing=((Fraction(1), Fraction(0)),),
        limits=(need - share,),
        point=(need - share, share),
        delta=delta,
    )


def batches(rng: np.random.Generator) -> MixedProgram:
    """Return many copies of one cover row over hundreds of variables far below 1, in roomy packing rows."""
    need, count = int(rng.integers(25, 45)), int(rng.integers(350, 450))
    return MixedProgram(
        cost=(Fraction(1),),
        cover=((Fraction(1),),),
        needs=(Fraction(need),),
        packing=((Fraction(1),),),
        limits=(Fraction(exact_power(10, int(rng.integers(5, 8)))),),
        point=(Fraction(need, count),),
        delta=Fraction(1),
        counts=(count,),
        copies=int(rng.integers(60, 200)),
    )


def slot(rng: np.random.Generator) -> ExternalSlot:
    """Return 1-3 machines with 1-2 resources, room for some workers and servers each, sometimes for none."""
    machines, resources = int(rng.integers(1, 4)), int(rng.integers(1, 3))
    worker, server = rng.integers(0, 3, size=resources), rng.integers(0, 3, size=resources)
    worker[rng.integers(resources)] += 1
    server[rng.integers(resources)] += 1
    room = rng.integers(2, 15, size=(machines, resources))
    if machines > 1 and not rng.integers(4):
        room[0, rng.integers(resources)] = 0
    need = Fraction(int(rng.integers(1, 2 * machines + 2)), int(rng.integers(1, 3)))
    return _slot(rng, room, worker, server, need, Fraction(math.ceil(need) + int(rng.integers(0, 4))))


def crumbs(rng: np.random.Generator) -> ExternalSlot:
    """Return cheap machines with a fraction of a worker's room, beside a roomy one that takes hundreds."""
    small, parts = int(rng.integers(1, 5)), int(rng.choice([40, 400]))
    room = np.array(
        [[Fraction(int(v), parts)] for v in rng.integers(rng.integers(1, 3), 5, size=small)] + [[Fraction(2000)]]
    )
    need = Fraction(int(rng.integers(200, 900)))
    found = _slot(rng, room, np.array([1]), np.array([1]), need, need + 1)
    prices = (*((Fraction(int(v)),) for v in rng.integers(1, 10, size=small)), (Fraction(20),))
    return found.model_copy(update={"prices": prices, "delta": Fraction(int(rng.integers(3, 11)), 10)})


def _slot(
    rng: np.random.Generator, room: Integers, worker: Integers, server: Integers, need: Fraction, most: Fraction
) -> ExternalSlot:
    return ExternalSlot(
        room=tuple(map(_rationals, room)),
        prices=tuple(map(_rationals, rng.integers(1, 12, size=room.shape))),
        worker=_rationals(worker),
        server=_rationals(server),
        workers=need,
        servers=need / int(rng.integers(1, 3)),
        most_workers=most,
        delta=Fraction(int(rng.integers(1, 11)), 10),
    )


def _rows(rng: np.random.Generator, rows: int, n: int) -> Integers:
    """Return rows of small integers, none of them 0."""
    found = rng.integers(0, 3, size=(rows, n))
    found[np.arange(rows), rng.integers(n, size=rows)] += 1
    return found


def _program(
    cost: Integers, cover: Integers, needs: Integers, packing: Integers, limits: Integers, delta: Fraction
) -> MixedProgram | None:
    """Return the program at an optimum of its relaxation; None where that is infeasible."""
    rows = tuple(map(_rationals, cover)), _rationals(needs), tuple(map(_rationals, packing)), _rationals(limits)
    point = relaxed_optimum(_rationals(cost), *rows)
    if point is None:
        return None
    names = ("cover", "needs", "packing", "limits")
    return MixedProgram(cost=_rationals(cost), point=point, delta=delta, **dict(zip(names, rows, strict=True)))


def _rationals(values: Integers) -> tuple[Fraction, ...]:
    return tuple(Fraction(v) for v in values.tolist())


def _delta(rng: np.random.Generator, digits: int) -> Fraction:
    return Fraction(1, exact_power(10, int(rng.integers(0, digits + 1))))


MIXED = Source("pd-ors/mixed", mixed)
NARROW = Source("pd-ors/narrow", narrow, cost=2)
UNEVEN = Source("pd-ors/uneven", uneven)
SPREAD = Source("pd-ors/spread", spread)
DEAR = Source("pd-ors/dear", dear)
BATCHES = Source("pd-ors/batches", batches)
SLOT = Source("pd-ors/slot", slot)
CRUMBS = Source("pd-ors/crumbs", crumbs)
