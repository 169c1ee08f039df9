"""Where the instances come from on which claims are checked: shipped cases, and seeded draws that search violations.

Every claim that names a source is checked on the same draws of it, so that what an instance costs (an optimum, a run)
is paid once. A draw depends on the seed, the source's name and the position alone, never on what else is checked.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from types import MappingProxyType
from typing import Any

import numpy as np

from dlsched.bounds.catalog import keyed
from dlsched.bounds.claim import Claim, Expectation, Source, Verdict, among, decided
from dlsched.errors import noting
from dlsched.models.document import Document

CASE = "case"
_SEED_BITS = 53
"""Of a run's seed: any reader of JSON keeps as many, as floats do."""


@dataclass(frozen=True, slots=True)
class Task:
    """One instance and the claims to check on it.

    Attributes
    ----------
    source : str
        Name of an instance source, or ``case`` for a shipped witness.
    position : int
        Number of the draw, from 0; of a case, its place among the claim's cases.
    name : str
        Of a shipped witness; empty for a draw.
    entropy : int
        Seed of the whole search.
    claims : tuple of (id, variant)
    parameters : tuple of (name, value)
        Of the claims that have them, where they are not as in the paper.
    """

    source: str
    position: int
    name: str
    entropy: int
    claims: tuple[tuple[str, str], ...]
    parameters: tuple[tuple[str, Any], ...] = ()


def draw(source: Source[Document], position: int, entropy: int) -> tuple[Document, int]:
    """Return the instance at a position of a source, and the seed for the runs on it."""
    stream = np.random.SeedSequence(entropy, spawn_key=(zlib.crc32(source.name.encode()), position))
    instances, runs = stream.spawn(2)
    seed = int(runs.generate_state(1, np.uint64)[0]) >> (64 - _SEED_BITS)
    return source.draw(np.random.default_rng(instances)), seed


def plan(
    claims: Iterable[Claim[Any]],
    instances: int,
    entropy: int,
    parameters: Mapping[str, Any] = MappingProxyType({}),
    each: int = 0,
) -> Iterator[Task]:
    """Yield the shipped cases of the claims, then their draws, in a fixed order.

    Shipped cases are of the paper's parameters: there are none with others.

    Parameters
    ----------
    claims : iterable of Claim
    instances : int
        Draws of each source, fewer of those that cost more.
    entropy : int
        Seed of the whole search.
    parameters : mapping of str to value
        Not as in the paper.
    each : int
        Instances of each claim that is known to be true: where the draws of its sources are fewer, there are more of
        all of them, for the same time of each, of which such claims alone are checked.
    """
    chosen, own = tuple(claims), tuple(sorted(parameters.items()))
    for known in chosen:
        if among(known, parameters):
            continue
        for position, name in enumerate(dict.fromkeys(known.counterexamples + known.golden)):
            yield Task(CASE, position, name, entropy, (known.key,))
    usual = {source.name: source.draws(instances) for known in chosen for source in known.sources}
    draws = _enough(chosen, usual, each)
    concerned, true = _by_source(chosen), _by_source(filter(_is_true, chosen))
    for position in range(max(draws.values(), default=0)):
        for name in sorted(draws):
            if position < draws[name]:
                asked = concerned if position < usual[name] else true
                yield Task(name, position, "", entropy, asked[name], own)


def _by_source(claims: Iterable[Claim[Any]]) -> dict[str, tuple[tuple[str, str], ...]]:
    """Return the keys of the claims on which the draws of each source bear."""
    found: dict[str, list[tuple[str, str]]] = {}
    for known in claims:
        for source in known.sources:
            found.setdefault(source.name, []).append(known.key)
    return {name: tuple(keys) for name, keys in found.items()}


def _enough(claims: Iterable[Claim[Any]], usual: Mapping[str, int], each: int) -> dict[str, int]:
    """Return the draws of each source with which every true claim has so many instances."""
    draws = dict(usual)
    # Claims with one source leave no choice; what they ask for may do for the others.
    for known in sorted(filter(_is_true, claims), key=lambda known: len(known.sources)):
        missing = each - sum(draws[source.name] for source in known.sources)
        # From all sources: what one of them draws may keep a premise, or be able to break the claim, hardly ever.
        shares = sum(Fraction(1, source.cost) for source in known.sources)
        for source in known.sources if missing > 0 else ():
            draws[source.name] += math.ceil(missing / (shares * source.cost))
    return draws


def _is_true(known: Claim[Any]) -> bool:
    """Tell whether a claim is about single instances, and known to be true of them."""
    return known.expectation is Expectation.TRUE and not known.sampled


def evaluate(task: Task) -> list[Verdict]:
    """Return the verdict of each of the task's claims on its instance."""
    asked = keyed(task.claims)
    with noting(f"on {task.name or f'draw {task.position} of {task.source}, seed {task.entropy}'}"):
        if task.name:
            case = asked[0].case(task.name)
            instance, seed = case.read_instance(), case.seed
        else:
            source = next(source for source in asked[0].sources if source.name == task.source)
            instance, seed = draw(source, task.position, task.entropy)
        return list(decided(asked, instance, seed, dict(task.parameters)))
