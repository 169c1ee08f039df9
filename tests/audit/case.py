"""What an audit checks: a case of a family and a seed, and the faults that it shows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Fault:
    """Something that must not be.

    Attributes
    ----------
    kind : str
        ``wrong``, ``infeasible``, ``unproved``, ``unsolved``, ``exception``, ``traceback``, ``message``, ``hang``,
        ``memory``, ``ended`` or ``files``.
    message : str
        One line.
    """

    kind: str
    message: str


@dataclass(frozen=True)
class Case:
    """A case, reproducible from its family and seed.

    Attributes
    ----------
    title : str
        What was drawn.
    shown : object
        What to print for a reader who repeats it: JSON data or text.
    faults : callable
        Runs it.
    """

    title: str
    shown: Any
    faults: Callable[[], list[Fault]]
