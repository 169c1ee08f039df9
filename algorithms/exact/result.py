"""What an exact method returns."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from enum import StrEnum
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Self

from dlsched.readable import Readable, Section, facts

if TYPE_CHECKING:
    from dlsched.algorithms.exact.certificates.certificate import ExactProof

Progress = Callable[[str, float, float], None]
"""Called with the phase, the value of the best schedule known and the least upper bound known."""


class Note(str):
    """A line of evidence, whose amounts of utility can be told in another unit.

    Parameters
    ----------
    *parts : str or float
        Text as it stands; a number is an amount of utility.
    """

    __slots__ = ("parts",)
    parts: tuple[str | float, ...]

    def __new__(cls, *parts: str | float) -> Self:
        """Join the parts."""
        note = super().__new__(cls, "".join(part if isinstance(part, str) else f"{part:.9g}" for part in parts))
        note.parts = parts
        return note

    def times(self, factor: float) -> Note:
        """Return the line with its amounts multiplied."""
        return Note(*(part if isinstance(part, str) else part * factor for part in self.parts))

    def plus(self, amount: float) -> Note:
        """Return the line with its amounts increased."""
        return Note(*(part if isinstance(part, str) else part + amount for part in self.parts))


class Proof(StrEnum):
    """What a proved optimum rests on."""

    EXACT = "exact"
    """A certificate over the rationals, which any checker can follow."""
    AGREED = "agreed"
    """Two routes of floating-point solvers that agree."""


@dataclass(frozen=True, slots=True)
class Optimum(Readable):
    """A certified optimum, or what is known of it.

    Attributes
    ----------
    value : float or None
        Utility of `schedule`; None where no schedule is known (or none exists).
    bound : float or None
        The least upper bound known; None where no schedule exists.
    schedule : Schedule or None
        Passed the problem's checker.
    proved : bool
        Value and bound agree within `dlsched.tolerances.TOLERANCE` of the greatest utility of a job, or of the
        value where that is more, and `proof` says how that is known.
    evidence : tuple of str
        The routes.
    seconds_found : float
        Until the value was found and first proved (or time was up).
    seconds_proved : float
        Spent on the second route after that, and on the certificate, also where none was found.
    exact : ExactProof or None
        That nothing is better, over the rationals; ``exact.document()`` is the certificate.

    Examples
    --------
    >>> from dlsched.algorithms import optimum
    >>> from dlsched.models import hadar
    >>> best = optimum(hadar.random(0))
    >>> best.value, best.bound, best.proof.value
    (34.0, 34.0, 'exact')
    >>> sorted(best.schedule.jobs)
    ['job2', 'job3']
    """

    value: float | None
    bound: float | None
    schedule: Any
    proved: bool
    evidence: tuple[str, ...]
    seconds_found: float
    seconds_proved: float
    exact: ExactProof | None = field(default=None, repr=False)

    @property
    def proof(self) -> Proof | None:
        """What it rests on; None where it is not proved."""
        if self.exact is not None:
            return Proof.EXACT
        return Proof.AGREED if self.proved else None

    @property
    def gap(self) -> float | None:
        """How far the bound is from the value, as a share of the value.

        0 where both are the same, infinite where only the value is 0; None where no schedule is known.

        Examples
        --------
        >>> from dlsched.algorithms import Optimum
        >>> found = Optimum(8.0, 10.0, None, False, (), 1.0, 0.0)
        >>> found.gap
        0.25
        >>> print(found)
        Optimum: not proved
          value          8
          bound          10
          gap            0.25
          seconds found  1
        """
        if self.value is None or self.bound is None:
            return None
        apart = abs(self.bound - self.value)
        return apart / abs(self.value) if self.value else math.inf if apart else 0.0

    def _sections(self) -> Iterable[Section]:
        none = "no schedule is feasible, " if self.proved and self.value is None else ""
        status = f"proved, {self.proof}" if self.proved else "not proved"
        found = facts(value=self.value, bound=self.bound, gap=self.gap)
        spent = facts(seconds_found=self.seconds_found, seconds_proved=self.seconds_proved or None)
        yield Section(f"Optimum: {none}{status}", [*found, *spent, *facts(evidence="; ".join(self.evidence))])

    def times(self, factor: float) -> Optimum:
        """Return the same with all amounts of utility multiplied."""
        return replace(
            self,
            value=None if self.value is None else self.value * factor,
            bound=None if self.bound is None else self.bound * factor,
            evidence=tuple(note.times(factor) if isinstance(note, Note) else note for note in self.evidence),
        )


_GREATEST = 100
"""A size that tolerances of 1e-6 to 1e-9 suit; benchmark families draw utilities up to it."""


def unit_of(greatest: Fraction) -> Fraction:
    """Return the unit in which a greatest value is 100; 1 where it is 0."""
    return greatest / _GREATEST or Fraction(1)
