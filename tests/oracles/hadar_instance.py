"""A Hadar instance read from its raw JSON dict into exact numbers.

Numbers are rationals: a string is ``"p/q"``, a float is its nearest fraction with a denominator of at most 10**6
where that is within 1e-12 (relative), and its decimal digits otherwise. Times are slots 1..T; work is iterations.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

Counts = tuple[int, ...]


def rational(number: object) -> Fraction:
    """Return a JSON number, or a ``"p/q"`` string, as a fraction."""
    if isinstance(number, bool) or not isinstance(number, int | float | str | Fraction):
        raise ValueError(f"not a number: {number!r}")
    if not isinstance(number, float):
        return Fraction(number)
    exact = Fraction(repr(number))
    near = exact.limit_denominator(10**6)
    return near if abs(near - exact) <= abs(exact) / 10**12 else exact


def worth(utility: dict[str, Any], duration: Fraction | int) -> Fraction:
    """Return U(duration) for the ``utility`` of a job; a negative duration counts as 0.

    A table is 0 beyond its end, a step includes its deadline, a linear utility does not fall below 0. The kinds that
    are not rational are evaluated in floating point.
    """
    x = max(Fraction(0), Fraction(duration))
    kind = utility["kind"]
    if kind == "table":
        values = utility["values"]
        if x.denominator != 1:
            raise ValueError(f"a table has no value at {x}")
        return rational(values[int(x)]) if x < len(values) else Fraction(0)
    if kind == "step":
        return rational(utility["value"]) if x <= rational(utility["deadline"]) else Fraction(0)
    if kind == "linear":
        return max(Fraction(0), rational(utility["intercept"]) - rational(utility["slope"]) * x)
    if kind == "hyperbolic":
        return rational(utility["scale"]) / (1 + x)
    if kind == "sigmoid":
        height, steepness, midpoint = (float(rational(utility[f])) for f in ("height", "steepness", "midpoint"))
        exponent = steepness * (float(x) - midpoint)
        return Fraction(height / (1 + math.exp(exponent))) if exponent < 700 else Fraction(0)
    if kind == "log":
        return Fraction(float(rational(utility["scale"])) * math.log(float(rational(utility["offset"])) + float(x)))
    raise ValueError(f"a {kind} utility increases with time, which Hadar does not allow")


@dataclass(frozen=True, slots=True)
class Job:
    """One job; ``need`` and ``speed`` are integers on a scale of the job's own.

    ``speed[c]`` is what the whole gang does in one slot when the slowest device it uses is of the type of cell ``c``.
    """

    name: str
    arrival: int
    gang: int
    iterations: Fraction
    rate: dict[str, Fraction]
    utility: dict[str, Any]
    need: int
    speed: tuple[int, ...]

    def at(self, slot: int) -> Fraction:
        """Return the utility of completing in ``slot``."""
        return worth(self.utility, slot - self.arrival)

    def progress(self, counts: Counts) -> int:
        """Return the scaled work of one slot on ``counts`` devices by cell: the slowest used type decides, (1b)."""
        return min(self.speed[cell] for cell, count in enumerate(counts) if count)


@dataclass(frozen=True, slots=True)
class Problem:
    """An instance; a *cell* is one machine and one of the device types it has, ``capacity`` counts by cell."""

    slots: int
    seconds: Fraction
    cells: tuple[tuple[str, str], ...]
    capacity: Counts
    jobs: tuple[Job, ...]

    def gangs(self, job: Job, room: Counts) -> Iterator[Counts]:
        """Yield every way to take exactly ``job.gang`` devices out of ``room``, machine by machine, type by type."""

        def fill(cell: int, missing: int) -> Iterator[Counts]:
            if cell == len(room):
                if missing == 0:
                    yield ()
                return
            for count in range(min(room[cell], missing), -1, -1):
                for rest in fill(cell + 1, missing - count):
                    yield (count, *rest)

        return (counts for counts in fill(0, job.gang) if job.progress(counts) > 0)

    def schedule(self, chosen: dict[str, dict[int, Counts]]) -> dict[str, Any]:
        """Return the schedule dict of ``{job: {slot: counts by cell}}``."""
        jobs: dict[str, Any] = {}
        for name, by_slot in chosen.items():
            slots: dict[str, dict[str, dict[str, int]]] = {}
            for slot, counts in sorted(by_slot.items()):
                for (machine, kind), count in zip(self.cells, counts, strict=True):
                    if count:
                        slots.setdefault(str(slot), {}).setdefault(machine, {})[kind] = count
            jobs[name] = {"slots": slots}
        return {"problem": "hadar", "jobs": jobs}


def problem(data: dict[str, Any]) -> Problem:
    """Read an instance in its JSON form."""
    seconds = rational(data["slot_seconds"])
    cells = [(m["name"], kind) for m in data["machines"] for kind in data["device_types"] if m["devices"].get(kind)]
    devices = {m["name"]: m["devices"] for m in data["machines"]}
    capacity = tuple(int(devices[machine][kind]) for machine, kind in cells)
    jobs = tuple(_job(raw, seconds, cells) for raw in data["jobs"])
    return Problem(int(data["slots"]), seconds, tuple(cells), capacity, jobs)


def _job(raw: dict[str, Any], seconds: Fraction, cells: list[tuple[str, str]]) -> Job:
    gang = int(raw["gang"])
    rate = {kind: rational(number) for kind, number in raw["rate"].items()}
    iterations = rational(raw["iterations"])
    if iterations <= 0 or gang < 1:
        raise ValueError(f"job {raw['name']}: iterations and gang must be positive")
    speed = [gang * rate.get(kind, Fraction(0)) * seconds for _, kind in cells]
    scale = math.lcm(iterations.denominator, *(s.denominator for s in speed))
    need = int(iterations * scale)
    return Job(
        name=raw["name"],
        arrival=int(raw["arrival"]),
        gang=gang,
        iterations=iterations,
        rate=rate,
        utility=raw["utility"],
        need=need,
        speed=tuple(int(s * scale) for s in speed),
    )
