"""The job of a formulation that is about one: by its name, or the first."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol, TypeVar

from dlsched.arguments import named
from dlsched.errors import InputError


class _Named(Protocol):
    @property
    def name(self) -> str: ...


J = TypeVar("J", bound=_Named)


def job_or_first(jobs: Sequence[J], name: str | None, fits: Callable[[J], bool] = lambda job: True) -> J:
    """Return the job of a name; where it is left out, the first that fits, or else the first.

    Raises
    ------
    InputError
        If there is no job of that name, or none at all.
    """
    if name is not None:
        return named("job", name, {job.name: job for job in jobs})
    if not jobs:
        raise InputError("job: the instance has none")
    return next(filter(fits, jobs), jobs[0])
