"""Hadar instances for tests: of middle size, with whole numbers or with those of a user's own data."""

from __future__ import annotations

import random
from collections.abc import Callable
from fractions import Fraction
from typing import Any

Number = int | float | str


def middle(seed: int, *, jitter: float = 0.0) -> dict[str, Any]:
    """Up to four types, eight jobs and ten slots; half of the instances have jobs that complete for nothing.

    With jitter, every rate, amount of work and utility, and the length of a slot, is off by up to that share, with 16
    digits.
    """
    rng = random.Random(seed)
    types = [f"r{i}" for i in range(rng.randint(1, 4))]
    slots = rng.randint(3, 10)
    machines = [{"name": f"m{h}", "devices": {r: rng.randint(0, 4) for r in types}} for h in range(rng.randint(1, 3))]
    devices = sum(n for machine in machines for n in machine["devices"].values())
    if not devices:
        machines[0]["devices"][types[0]] = devices = 2

    def jittered(x: Number) -> Number:
        return float(Fraction(x)) * (1 + rng.uniform(-jitter, jitter)) if jitter else x

    worthless = rng.random() < 0.5
    return {
        "slots": slots,
        "slot_seconds": jittered(1),
        "device_types": types,
        "machines": machines,
        "jobs": [_job(rng, f"j{j}", types, devices, slots, worthless, jittered) for j in range(rng.randint(2, 8))],
    }


def _job(
    rng: random.Random,
    name: str,
    types: list[str],
    devices: int,
    slots: int,
    worthless: bool,
    jittered: Callable[[Number], Number],
) -> dict[str, Any]:
    arrival = rng.randint(1, max(1, slots // 2) if rng.random() < 0.8 else slots)
    durations = slots - arrival + 1
    values = sorted((jittered(rng.randint(0, 40)) for _ in range(durations)), key=float, reverse=True)
    if worthless:
        last = rng.randint(0, durations - 1)
        values = [v if d <= last else 0 for d, v in enumerate(values)]
    rates = {r: rng.choice(["0", "1/2", "2/3", "1", "3/2", "2", "3"]) for r in types}
    if not any(map(Fraction, rates.values())):
        rates[types[0]] = "1"
    gang = min(rng.choice([1, 1, 2, 2, 3, 4, 5]), devices)
    most = gang * max(map(Fraction, rates.values()))
    needed = most * rng.randint(1, 2 * durations) / 2 * rng.choice([Fraction(1), Fraction(1, 2), Fraction(2, 3)])
    return {
        "name": name,
        "arrival": arrival,
        "gang": gang,
        "iterations": jittered(str(max(Fraction(1, 2), needed))),
        "rate": {r: jittered(x) if Fraction(x) else 0 for r, x in rates.items()},
        "utility": {"kind": "table", "values": values},
    }


def nearly(data: dict[str, Any], seed: int) -> dict[str, Any]:
    """Return an instance of the same sizes in which some slots at a rate do a job's work, but for rounding the rate.

    The rate is rounded to 4 to 14 digits, up or down: the work is done in those slots, or takes one more.
    """
    rng = random.Random(seed)
    jobs = []
    for job in data["jobs"]:
        iterations = Fraction(job["iterations"])
        rates = dict(job["rate"])
        for r in rates:
            if rng.random() < 0.7:
                rate = float(iterations / rng.randint(1, 4) / job["gang"])
                rates[r] = float(f"{rate:.{rng.randint(4, 14)}g}")
        jobs.append(job | {"iterations": float(iterations), "rate": rates})
    return data | {"jobs": jobs}
