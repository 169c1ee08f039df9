"""What the instances share whose jobs are worth less the longer they take: those of Hadar, DMLRS and SMD."""

from __future__ import annotations

from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

from dlsched.models.document import Document


class TimedInstance(Document):
    """An instance whose jobs have utilities of their completion times, of which none increases.

    `jobs` is a field of each problem's own: here it would be the first in the JSON file.
    """

    if TYPE_CHECKING:
        jobs: tuple[Any, ...]

    @cached_property
    def greatest_utility(self) -> Fraction:
        """What the most useful job can be worth: the unit that differences of utility are judged by."""
        return max((job.utility.exact(0) for job in self.jobs), default=Fraction(0))
