"""A schedule with given worker-slots: slot by slot, each leaving only what the rest can embed."""

from __future__ import annotations

from collections import defaultdict

import numpy as np

from dlsched.algorithms.exact.ddljs.slot_class import Weights
from dlsched.algorithms.exact.ddljs.worked import Worked
from dlsched.halt import poll
from dlsched.models.ddljs.rings import Embedding
from dlsched.models.ddljs.schedule import Schedule

_TRIES = 12
"""How often a slot is embedded anew because what it left was too much for the rest."""


def dive(worked: Worked, wanted: Weights, rng: np.random.Generator) -> Schedule | None:
    """Return a schedule in which each job gets its worker-slots; None where none was found."""
    names = worked.classes[0].names
    found: dict[str, dict[int, Embedding]] = defaultdict(dict)
    counts = worked.counts
    rest = wanted.copy()
    noise = rng.integers(0, 3, size=len(rest))
    for number, slots in enumerate(worked.classes):
        for slot in slots.slots:
            counts[number] -= 1
            embeddings = _step(worked, number, rest, counts, noise)
            if embeddings is None:
                return None
            for name, embedding in embeddings.items():
                found[name][slot] = embedding
            rest = rest - _sizes(names, embeddings)
    return None if rest.any() else Schedule.of(found)


def _step(worked: Worked, number: int, rest: Weights, counts: list[int], noise: Weights) -> dict[str, Embedding] | None:
    """Return embeddings of one slot after which the other slots can embed the rest."""
    slots = worked.classes[number]
    for _ in range(_TRIES):
        poll()
        embeddings = slots.embed(rest + noise, rest, worked.needs(rest, counts))
        if embeddings is None:
            return None
        after = rest - _sizes(slots.names, embeddings)
        if not after.any() or worked.covers(after, counts):
            return embeddings
    return None


def _sizes(names: tuple[str, ...], embeddings: dict[str, Embedding]) -> Weights:
    return np.array([embeddings[name].size if name in embeddings else 0 for name in names], dtype=np.int64)
