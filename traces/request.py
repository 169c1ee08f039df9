"""What is asked for when jobs of a trace or a log become a Hadar instance, and which of them are taken."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from typing import Any, Protocol, TypeVar

from dlsched.arguments import checked
from dlsched.errors import InputError, shown
from dlsched.models.fields import MAX_NAME, MAX_SLOTS
from dlsched.models.hadar.instance import Instance
from dlsched.models.numbers import in_range, to_json
from dlsched.models.options import pairs

COUNT = re.compile(r"[1-9]\d{0,17}")
"""A positive integer in text."""

MOST_MACHINES = 100_000
"""Arbitrary: more than any cluster has, and an instance with ten times as many is longer than files that are read."""

_TYPE = re.compile(r"[^\s=,]+")
_LEAVE_OUT = "skip leaves such jobs out and counts them"

TOO_LARGE = "larger than the cluster"
TOO_LATE = "arriving after the last slot"


class UtilityChoice(StrEnum):
    """What a job is worth after d slots; no trace says.

    Attributes
    ----------
    EFFECTIVE_THROUGHPUT
        iterations / (1 + d), Hadar's: long jobs count most.
    EQUAL
        1 / (1 + d): every job counts the same.
    FINISHED
        1 whenever it ends: the number of jobs that are done.
    """

    EFFECTIVE_THROUGHPUT = "effective-throughput"
    EQUAL = "equal"
    FINISHED = "finished"


_SAID = {
    UtilityChoice.EFFECTIVE_THROUGHPUT: "iterations / (1 + duration in slots), the effective throughput",
    UtilityChoice.EQUAL: "1 / (1 + duration in slots), the same for every job",
    UtilityChoice.FINISHED: "1 for every job that ends",
}


class Arriving(Protocol):
    """A job of a trace, as far as this module looks at it."""

    @property
    def arrival(self) -> Fraction:
        """Seconds."""


J = TypeVar("J", bound=Arriving)
Problem = tuple[str, str, str]
"""Why a job cannot be used: the reason that is counted, where it stands, and what the message says of it."""


@dataclass(frozen=True, slots=True)
class Request:
    """What is asked for, checked.

    Attributes
    ----------
    cluster : dict of str to int
        Devices by type.
    slots : int
    slot_seconds : Fraction
    jobs : int or None
        How many to take, in order of arrival; None for all.
    skip : bool
        Leave out, and count, jobs that cannot be used.
    start : int
        How many to pass over first.
    per_machine : int or None
        Devices of a machine; None for one machine per type.
    utility : UtilityChoice
    """

    cluster: dict[str, int]
    slots: int
    slot_seconds: Fraction
    jobs: int | None
    skip: bool
    start: int
    per_machine: int | None
    utility: UtilityChoice

    @classmethod
    def of(
        cls,
        cluster: Mapping[str, int] | str,
        slots: int,
        slot_seconds: Fraction | float | str,
        jobs: int | None,
        skip: bool,
        start: int,
        per_machine: int | None,
        utility: UtilityChoice | str,
    ) -> Request:
        """Check what is asked for.

        Raises
        ------
        InputError
            One line that names the option, the value and the rule.
        """
        devices = parse_cluster(cluster) if isinstance(cluster, str) else cluster
        if not 1 <= slots <= MAX_SLOTS:
            raise InputError(f"slots: {slots} must be from 1 to {MAX_SLOTS}")
        try:
            length = in_range(slot_seconds)
        except ValueError as error:
            raise InputError(f"slot_seconds: {error}") from None
        if length <= 0:
            raise InputError(f"slot_seconds: {to_json(length)} must be positive")
        for name, value in (("jobs", jobs), ("per_machine", per_machine)):
            if value is not None and value < 1:
                raise InputError(f"{name}: {value} must be positive")
        if start < 0:
            raise InputError(f"start: {start} must not be negative")
        if not devices:
            raise InputError("cluster: must have a device type")
        for r, count in devices.items():
            if count < 1:
                raise InputError(f"cluster: {r}={count} must have a positive number of devices")
        number = len(devices) if per_machine is None else sum(-(-count // per_machine) for count in devices.values())
        if number > MOST_MACHINES:
            raise InputError(
                f"cluster: {number} machines of {per_machine or 'one type'}; at most {MOST_MACHINES} are made"
            )
        return cls(dict(devices), slots, length, jobs, skip, start, per_machine, UtilityChoice(utility))

    @property
    def devices(self) -> int:
        """Devices of all types."""
        return sum(self.cluster.values())

    def available(self, path: str, jobs: Sequence[J]) -> list[J]:
        """Return jobs in order of arrival, without those that are passed over.

        Raises
        ------
        InputError
            If fewer are left than are asked for.
        """
        left = sorted(jobs, key=lambda job: job.arrival)[self.start :]
        wanted = self.jobs or 1
        if len(left) < wanted:
            asked = f"{wanted} jobs asked for " if self.jobs is not None else "no job is left " if self.start else ""
            passed = f"after passing over {self.start}" if self.start else ""
            about = f"{asked}{passed}".strip()
            raise InputError(f"{path}: {f'{about}; it has {len(jobs)}' if about else 'has no jobs'}")
        return left

    def select(
        self, path: str, available: Sequence[J], problem: Callable[[J], Problem | None]
    ) -> tuple[list[J], Counter[str]]:
        """Return the jobs to take and how many were left out, by reason.

        Raises
        ------
        InputError
            If a job cannot be used and is not to be left out, or none is left.
        """
        taken: list[J] = []
        skipped: Counter[str] = Counter()
        for job in available:
            if len(taken) == self.jobs:
                break
            found = problem(job)
            if found is None:
                taken.append(job)
            elif self.skip:
                skipped[found[0]] += 1
            else:
                raise InputError(f"{found[1]}: {found[2]} ({_LEAVE_OUT})")
        if not taken:
            reasons = ", ".join(f"{count} {reason}" for reason, count in sorted(skipped.items()))
            raise InputError(f"{path}: no job can be used: {reasons}")
        return taken, skipped

    def slot(self, job: Arriving, first: Fraction) -> int:
        """Return the slot in which a job arrives, the first of them in slot 1."""
        return 1 + (job.arrival - first) // self.slot_seconds

    def machines(self) -> Iterator[dict[str, Any]]:
        """Yield the machines."""
        for r, count in self.cluster.items():
            size = self.per_machine
            if size is None:
                yield {"name": r, "devices": {r: count}}
                continue
            for number, used in enumerate(range(0, count, size), start=1):
                yield {"name": f"{r}-{number}", "devices": {r: min(size, count - used)}}

    def utility_of(self, iterations: Fraction | int) -> dict[str, Any]:
        """Return the utility of a job of so many iterations."""
        if self.utility is UtilityChoice.FINISHED:
            return {"kind": "step", "value": 1, "deadline": self.slots}
        scale = iterations if self.utility is UtilityChoice.EFFECTIVE_THROUGHPUT else 1
        return {"kind": "hyperbolic", "scale": scale}

    def instance(self, path: str, jobs: list[dict[str, Any]], origin: dict[str, str]) -> Instance:
        """Return the instance of some jobs of a file."""
        return Instance.parse(
            {
                "slots": self.slots,
                "slot_seconds": self.slot_seconds,
                "device_types": list(self.cluster),
                "machines": list(self.machines()),
                "jobs": jobs,
                "origin": origin,
            },
            path,
        )

    def origin(self, taken: Sequence[object], skipped: Counter[str]) -> dict[str, str]:
        """Return what an instance's origin says of all this."""
        cluster = ",".join(f"{r}={count}" for r, count in self.cluster.items())
        machines = f"machines of {self.per_machine}" if self.per_machine else "one machine per device type"
        wanted = "all" if self.jobs is None else str(self.jobs)
        reasons = "; ".join(f"{count} {reason}" for reason, count in sorted(skipped.items()))
        return {
            "cluster": f"{cluster}; {machines}; a gang that spans machines runs as fast as on one",
            "jobs": f"{len(taken)} in order of arrival, {wanted} asked for, {self.start} passed over first",
            "arrival": "1 + floor(seconds since the first arrival / slot_seconds)",
            "utility": f"assumed: {_SAID[self.utility]}",
            "skipped": f"{skipped.total()} jobs" + (f": {reasons}" if reasons else ""),
        }


def fit_name(place: str, name: str) -> str:
    """Return the name of a job as it is.

    Raises
    ------
    InputError
        If it is longer than names of instances are.
    """
    if len(name) > MAX_NAME:
        raise InputError(f"{place}: {shown(name)} has {len(name)} characters; a name has at most {MAX_NAME}")
    return name


@checked
def parse_cluster(text: str) -> dict[str, int]:
    """Read ``"v100=2,p100=3,k80=1"``: devices by type.

    Raises
    ------
    InputError
        If an item is not ``type=count`` with a count of at most 18 digits, or a type is named twice.
    """
    cluster: dict[str, int] = {}
    for name, count in pairs("cluster", text).items():
        if not _TYPE.fullmatch(name) or not COUNT.fullmatch(count):
            item = f"{name}={count}" if count else name
            raise InputError(f"cluster: {shown(item)} must be TYPE=DEVICES of 1 to 1e18 devices, as in v100=2")
        cluster[name] = int(count)
    return cluster
