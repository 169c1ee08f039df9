"""What a schedule's checker reports."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Violation:
    """One rule that a schedule breaks.

    Attributes
    ----------
    rule : str
        The paper's equation and what it says, e.g. ``"(1d) capacity"``.
    place : str
        Where: job, machine, device type and slot, as far as they matter.
    message : str
        The value and the limit.
    """

    rule: str
    place: str
    message: str

    def __str__(self) -> str:
        return f"{self.place}: {self.message} [{self.rule}]"
