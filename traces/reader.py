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
    """Return every reader."""
    return tuple(READERS.all().values())


@checked
def reader(name: str) -> Reader:
    """Return the reader of a format.

    Raises
    ------
    InputError
        If there is none; the message lists those there are.
    """
    return READERS.get(name)
