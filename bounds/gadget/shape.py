"""The hypotheses on utilities that the proofs of Lemma 5 and Theorem 6 use."""

from __future__ import annotations

import itertools
from fractions import Fraction
from functools import cached_property

from dlsched.models.ddljs import Instance, Job
from dlsched.tolerances import ROUNDING


def values(job: Job, most: int) -> list[Fraction] | None:
    """Return mu_i(zeta_i n) for n = 0, ..., most; None where one is minus infinity."""
    try:
        return [job.value(n) for n in range(most + 1)]
    except ValueError:
        return None


def _slopes(job: Job, most: int, first: int = 0) -> tuple[list[Fraction], Fraction]:
    found = [job.value(n) for n in range(first, most + 1)] if first or values(job, 0) is not None else []
    # Irrational utilities are the rationals of doubles, whose slopes can turn in the last digit.
    slack = Fraction(ROUNDING) * max(map(abs, found), default=Fraction(0))
    return [b - a for a, b in itertools.pairwise(found)], slack


def finite(instance: Instance) -> bool:
    """Tell whether every mu_i(0) is a number."""
    return all(is_finite(job, 0) for job in instance.jobs)


def concave(job: Job, most: int, first: int = 0) -> bool:
    """Tell whether mu_i is concave on 0, zeta_i, ..., most zeta_i; or from the `first` of them on."""
    slopes, slack = _slopes(job, most, first)
    return all(after <= before + slack for before, after in itertools.pairwise(slopes))


def non_decreasing(job: Job, most: int, first: int = 0) -> bool:
    """Tell whether mu_i is non-decreasing on 0, zeta_i, ..., most zeta_i; or from the `first` of them on."""
    slopes, slack = _slopes(job, most, first)
    return all(slope >= -slack for slope in slopes)


def is_finite(job: Job, most: int) -> bool:
    """Tell whether mu_i(0) is a number."""
    return values(job, 0) is not None


def rises_and_bends(job: Job, most: int) -> bool:
    """Tell whether mu_i is non-decreasing and concave, where minus infinity at 0 is both."""
    first = 0 if is_finite(job, most) else 1
    return concave(job, most, first) and non_decreasing(job, most, first)


def conforms(job: Job, most: int) -> bool:
    """Tell whether mu_i is finite at 0, non-decreasing and concave, as the theorems need."""
    return is_finite(job, most) and rises_and_bends(job, most)


class Shapes:
    """What is known of the utilities of an instance as a whole.

    Attributes
    ----------
    instance : Instance
    """

    instance: Instance

    @cached_property
    def concave(self) -> bool:
        """Whether every utility is concave as far as its job can get."""
        return all(concave(job, self.instance.most(job)) for job in self.instance.jobs)

    @cached_property
    def non_decreasing(self) -> bool:
        """Whether no utility falls as far as its job can get."""
        return all(non_decreasing(job, self.instance.most(job)) for job in self.instance.jobs)
