"""What the optima that a verdict asks for rest on: a proof over the rationals, or floating-point solvers.

Exhaustive searches in whole numbers count as exact, and so does a checked schedule where all that is asked is whether
the optimum is above 0. What one solver says of a program for which no tree is found counts as no more than agreement.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from dlsched.algorithms.exact.result import Proof

_ASKED: ContextVar[set[Proof] | None] = ContextVar("what the optima asked for rest on", default=None)


def rests_on(proof: Proof | None) -> None:
    """Say, whenever facts hand out an optimum, what it rests on; nothing where it is not proved."""
    asked = _ASKED.get()
    if asked is not None and proof is not None:
        asked.add(proof)


@contextmanager
def asked() -> Iterator[set[Proof]]:
    """Yield what the optima rest on that are handed out in the block."""
    found: set[Proof] = set()
    token = _ASKED.set(found)
    try:
        yield found
    finally:
        _ASKED.reset(token)


def weakest(proofs: set[Proof]) -> Proof | None:
    """Return what a verdict rests on that asked for these: agreement, where one is no more than that."""
    return Proof.AGREED if Proof.AGREED in proofs else next(iter(proofs), None)
