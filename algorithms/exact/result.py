"""What an exact method returns."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

Progress = Callable[[str, float, float], None]
"""Called with the phase, the value of the best schedule known and the least upper bound known."""


@dataclass(frozen=True, slots=True)
class Optimum:
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
        Value and bound agree within `dlsched.models.numbers.TOLERANCE`, and two routes say so.
    evidence : tuple of str
        The routes.
    seconds_found : float
        Until the value was found and first proved (or time was up).
    seconds_proved : float
        Spent on the second route after that.
    """

    value: float | None
    bound: float | None
    schedule: Any
    proved: bool
    evidence: tuple[str, ...]
    seconds_found: float
    seconds_proved: float
