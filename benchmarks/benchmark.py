"""What a benchmark is: a family of instances, the ways that are measured side by side on each, and what is aimed at."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Self


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one way came to on one instance.

    Attributes
    ----------
    phases : mapping of str to float
        Wall seconds of each part. Those of `AFTER` come after the first proof: routes that confirm it, and checks.
    value, bound : float or None
        Of the best schedule, and on any schedule; None where the way has none, or found none.
    proved : bool
    notes : mapping of str to float or str
        What else was measured.
    """

    phases: Mapping[str, float]
    value: float | None = None
    bound: float | None = None
    proved: bool = False
    notes: Mapping[str, float | str] = field(default_factory=dict)


AFTER = frozenset({"second route", "check"})

Way = Callable[[Any, float], Outcome]
"""Of an instance and a limit in seconds."""


@dataclass(frozen=True, kw_only=True)
class Benchmark:
    """A family, and the ways that are measured on it.

    Attributes
    ----------
    name : str
        E.g. ``hadar/12``.
    title : str
        What it is, in a line.
    draw, smoke : callable
        Return the instance of a seed; `smoke` a small one, for tests.
    data : str
        A file below the folder of public data, which `draw` then gets as its second argument; empty for none.
    ways : mapping of str to Way
        The first is the own one, with which the others are compared.
    aim : str
        What is to be reached; empty for none.
    seeds : int
        How many, from 0.
    limit : float
        Seconds of a way on an instance.
    grows : bool
        The ways are one method at growing sizes, and their names are these sizes.
    """

    name: str
    title: str
    draw: Callable[..., Any]
    smoke: Callable[[int], Any]
    ways: Mapping[str, Way]
    aim: str = ""
    data: str = ""
    seeds: int = 5
    limit: float = 60.0
    grows: bool = False

    def tasks(self, seeds: int | None) -> list[tuple[str, str, int]]:
        """Return (name, way, seed), the ways in turn: what disturbs a machine for a while disturbs all of them."""
        return [(self.name, way, seed) for seed in range(self.seeds if seeds is None else seeds) for way in self.ways]


@dataclass(frozen=True, slots=True)
class Row:
    """An outcome, and what the process took that it was measured in.

    Attributes
    ----------
    benchmark, way : str
    seed : int
    outcome : Outcome
    cpu : float
        Seconds of the processor, instance and imports left out.
    memory : float
        Peak, MB.
    """

    benchmark: str
    way: str
    seed: int
    outcome: Outcome
    cpu: float
    memory: float

    @property
    def first(self) -> float:
        """Wall seconds until the first proof, or until the end without one."""
        return sum(seconds for phase, seconds in self.outcome.phases.items() if phase not in AFTER)

    @property
    def gap(self) -> float | None:
        """How much better than the value the bound is, as a share of the value; None without both."""
        value, bound = self.outcome.value, self.outcome.bound
        if self.outcome.proved:
            return 0.0
        return None if not value or bound is None else max(0.0, abs(bound / value - 1))

    def dump(self) -> dict[str, Any]:
        """Return plain JSON data."""
        return asdict(self)

    @classmethod
    def parse(cls, data: dict[str, Any]) -> Self:
        """Return the row of what `dump` returned."""
        return cls(**{**data, "outcome": Outcome(**data["outcome"])})
