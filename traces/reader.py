"""What a reader is: a function that makes an instance of files of a public format."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from dlsched.arguments import checked
from dlsched.models.options import options_of
from dlsched.models.registry import Registry


@dataclass(frozen=True, slots=True)
class Reader:
    """A reader of a public format.

    Attributes
    ----------
    name : str
        Of the format, on the command line.
    problem : str
        Name of the problem whose instances it makes.
    title : str
        What it reads, in a line.
    read : callable
        ``(**options) -> Instance``, or ``(path, **options) -> Instance`` where an instance is made of one file. What
        the command line offers is made from its keyword parameters and from what its docstring says of them.

    Examples
    --------
    >>> from dlsched.models import hadar
    >>> from dlsched.traces import Reader
    >>> def made(*, jobs: int = 2):
    ...     return hadar.random(0, jobs=jobs)
    >>> mine = Reader("mine", "hadar", "what my cluster writes", made)
    >>> len(mine.read(jobs=4).jobs)
    4
    """

    name: str
    problem: str
    title: str
    read: Callable[..., Any]

    @property
    def options(self) -> type:
        """A frozen dataclass of what may be chosen."""
        return options_of(self.read)


READERS: Registry[Reader] = Registry("readers", Reader, lambda reader: reader.name)


def readers() -> tuple[Reader, ...]:
    """Return every reader.

    Examples
    --------
    >>> from dlsched.traces import readers
    >>> {entry.name: entry.problem for entry in readers() if entry.problem == "hadar"}
    {'alibaba': 'hadar', 'csv': 'hadar', 'gavel': 'hadar', 'philly': 'hadar', 'tiresias': 'hadar'}
    """
    return tuple(READERS.all().values())


@checked
def reader(name: str) -> Reader:
    r"""Return the reader of a format.

    Raises
    ------
    InputError
        If there is none; the message lists those there are.

    Examples
    --------
    >>> from pathlib import Path
    >>> from dlsched.traces import reader
    >>> _ = Path("log.csv").write_text("name,arrival,gang,seconds\nbert,0,2,600\ngan,60,1,120\n")
    >>> instance = reader("csv").read("log.csv", cluster="gpu=2", slots=10, slot_seconds=60)
    >>> [(job.name, job.arrival, job.gang, int(job.iterations)) for job in instance.jobs]
    [('bert', 1, 2, 1200), ('gan', 2, 1, 120)]
    """
    return READERS.get(name)
