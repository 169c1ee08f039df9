"""A search for instances that break a claim, or come as near to its bound as can be.

First come draws of the claim's sources, then neighbours of the nearest found so far: a number of the document one more
or one less, an entry left out, an entry twice. A violation is made smaller in the same way for as long as it stays one.
Nothing is known of the problem but its document, which refuses what is no instance.
"""

from __future__ import annotations

import copy
import json
import math
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np

from dlsched.arguments import at_least, checked, not_negative
from dlsched.bounds.catalog import claim
from dlsched.bounds.claim import Claim, Variant, Verdict, decide
from dlsched.bounds.comparison import Relation, Status
from dlsched.bounds.search import draw
from dlsched.errors import InputError
from dlsched.models.document import Document
from dlsched.readable import Readable, Section, facts

_KEPT = 5
"""Instances whose neighbours are looked at: one alone is often a dead end, many are slow. Arbitrary."""


@dataclass(frozen=True, slots=True)
class Attack(Readable):
    """What a search has found.

    Attributes
    ----------
    verdicts : mapping of Status to int
        How many instances had which verdict.
    nearest : Verdict or None
        The smallest violation, or else the verdict that came nearest to its bound; None where no instance had both
        sides.
    nearness : float or None
        The measured quantity over its bound, or the reverse where it is to be at least its bound: 1 is tight, more a
        violation.
    instance : Document or None
        Of `nearest`.

    Examples
    --------
    >>> from dlsched.bounds import attack
    >>> found = attack("hadar/theorem-1", instances=2)
    >>> found.violation.measured > found.violation.bound
    True
    >>> violation, checked = attack("hadar/theorem-1", "corrected", instances=2)
    >>> violation, checked
    (None, 5)
    """

    verdicts: Mapping[Status, int]
    nearest: Verdict | None
    nearness: float | None
    instance: Document | None

    @property
    def violation(self) -> Verdict | None:
        """The smallest violation, with its witness; None where none was found."""
        return self.nearest if self.nearest is not None and self.nearest.status is Status.VIOLATED else None

    def __iter__(self) -> Iterator[Any]:
        """Unpack as the violation and the number of instances that were checked."""
        return iter((self.violation, sum(self.verdicts.values())))

    def _sections(self) -> Iterable[Section]:
        counts = ", ".join(f"{count} {status.value}" for status, count in sorted(self.verdicts.items()))
        title = "Attack: " + ("no violation" if self.violation is None else "a violation")
        yield Section(title, facts(verdicts=counts or "none", nearness=self.nearness))
        if self.nearest is not None:
            yield from self.nearest._sections()


@checked
def attack(
    id: str,
    variant: str | Variant | None = None,
    *,
    instances: int = 1000,
    seed: int = 0,
    seconds: float | None = None,
    parameters: Mapping[str, Any] = MappingProxyType({}),
    progress: Callable[[int, int], None] | None = None,
    stop: Callable[[], bool] | None = None,
) -> Attack:
    """Search for a violation of a claim, and for the instance that comes nearest to its bound.

    Parameters
    ----------
    id : str
    variant : str or Variant, optional
        As for `claim`.
    instances : int
        Draws of each source, and then so many neighbours.
    seed : int
        Of the draws; with the same one the same instances are checked, as far as `seconds` allows.
    seconds : float, optional
        When to stop.
    parameters : mapping of str to value
        Of the claim, e.g. ``{"delta": 0.1}``; the paper's values where they are left out.
    progress : callable, optional
        Told (instances looked at, instances in all).
    stop : callable, optional
        Asked between instances; the search ends with what it has once this tells True.

    Raises
    ------
    InputError
        If there is no such claim, variant or parameter, it has no sources to draw from, or is about an average.

    Examples
    --------
    >>> from dlsched.bounds import attack
    >>> found = attack("hadar/theorem-1", instances=2)
    >>> found.violation.status.value, found.nearness > 1
    ('violated', True)
    >>> found.violation.witness.save("witness.json")
    """
    at_least(0, instances=instances, seed=seed)
    not_negative(seconds=seconds)
    target = claim(id, variant)
    if not target.sources:
        raise InputError(f"{id}: is about fixed instances only; there is nothing to search")
    if target.sampled:
        raise InputError(f"{id}: is about an average, which no instance breaks; `verify` judges it by many draws")
    search = _Search(target, target.given(parameters), np.random.default_rng([seed, instances]))
    end = time.perf_counter() + (math.inf if seconds is None else seconds)
    for n, (instance, run) in enumerate(_proposed(search, instances, seed), 1):
        search.look_at(instance, run)
        if progress is not None:
            progress(n, instances * (1 + len(target.sources)))
        if time.perf_counter() > end or (stop is not None and stop()):
            break
    return search.result()


def _proposed(search: _Search, instances: int, seed: int) -> Iterator[tuple[Document, int]]:
    for position in range(instances):
        for source in search.claim.sources:
            yield draw(source, position, seed)
    for _ in range(instances):
        found = search.neighbour()
        if found is not None:
            yield found


class _Search:
    """The nearest instances so far."""

    def __init__(self, claim: Claim[Any], parameters: Mapping[str, Any], rng: np.random.Generator) -> None:
        self.claim, self._parameters, self._rng = claim, parameters, rng
        self._verdicts: Counter[Status] = Counter()
        self._best: list[tuple[tuple[float, ...], Document, Verdict]] = []
        self._seen: set[tuple[str, int]] = set()

    def look_at(self, instance: Document, seed: int) -> None:
        """Check an instance, and keep it if it is among the nearest."""
        if (instance.digest, seed) in self._seen:
            return
        self._seen.add((instance.digest, seed))
        verdict = decide(self.claim, instance, seed, parameters=self._parameters)
        self._verdicts[verdict.status] += 1
        near = _nearness(self.claim.relation, verdict)
        if near is None:
            return
        size = len(json.dumps(instance.dump()))
        # Of violations the smallest is wanted, of others the nearest.
        rank = (1.0, -size, near) if verdict.status is Status.VIOLATED else (0.0, near, -size)
        self._best = sorted([*self._best, (rank, instance, verdict)], key=lambda entry: entry[0], reverse=True)[:_KEPT]

    def neighbour(self) -> tuple[Document, int] | None:
        """Return an instance near one of the nearest, None where what was tried is none."""
        if not self._best:
            return None
        _, instance, verdict = self._best[int(self._rng.integers(len(self._best)))]
        data = copy.deepcopy(instance.dump())
        for _ in range(int(self._rng.integers(1, 3))):
            _change(data, self._rng)
        try:
            return self.claim.instance_type.parse(data), verdict.seed
        except InputError:
            return None

    def result(self) -> Attack:
        """Return what was found."""
        if not self._best:
            return Attack(dict(self._verdicts), None, None, None)
        _, instance, verdict = self._best[0]
        return Attack(dict(self._verdicts), verdict, _nearness(self.claim.relation, verdict), instance)


def _nearness(relation: Relation, verdict: Verdict) -> float | None:
    """Return how near a verdict's sides are, from 0; None where they cannot be compared."""
    near = relation.nearness(verdict.measured, verdict.bound)
    return math.inf if near is None and verdict.status is Status.VIOLATED else near


def _change(data: Any, rng: np.random.Generator) -> None:
    """Change a number of a document by one, leave an entry of a list out, or repeat one under another name."""
    places = list(_places(data))
    if not places:
        return
    container, key = places[int(rng.integers(len(places)))]
    value = container[key]
    if isinstance(value, int | float):
        container[key] = value + int(rng.choice([-1, 1]))
    elif rng.random() < 0.5:
        del value[int(rng.integers(len(value)))]
    else:
        entry = copy.deepcopy(value[int(rng.integers(len(value)))])
        if isinstance(entry, dict) and "name" in entry:
            names = {other.get("name") for other in value if isinstance(other, dict)}
            entry["name"] = next(name for n in range(len(names) + 1) if (name := f"copy{n + 1}") not in names)
        value.append(entry)


def _places(data: Any) -> Iterator[tuple[Any, Any]]:
    """Yield where the numbers and the lists of a document stand."""
    items = data.items() if isinstance(data, dict) else enumerate(data)
    for key, value in items:
        if isinstance(value, bool | str) or value is None:
            continue
        if isinstance(value, int | float) or (isinstance(value, list) and value):
            yield data, key
        if isinstance(value, dict | list):
            yield from _places(value)
