"""Named families of instances: choosing one, and drawing numbers, the same way for all problems."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any, Protocol, TypeVar

import numpy as np

from dlsched.arguments import checked, generator, named

I_co = TypeVar("I_co", covariant=True)


class Preset(Protocol[I_co]):
    """A function that returns an instance of a named family."""

    def __call__(self, name: str, seed: int | np.random.Generator = 0, **sizes: Any) -> I_co:
        """Return an instance of the family of that name."""


def chooser(presets: Mapping[str, Callable[..., I_co]]) -> Preset[I_co]:
    """Return the function `preset` of a problem.

    Parameters
    ----------
    presets : mapping
        Family name to its function of a generator and sizes.

    Examples
    --------
    >>> from dlsched.models.hadar import random
    >>> from dlsched.models.presets import chooser
    >>> preset = chooser({"tiny": lambda rng, jobs=1: random(rng, jobs=jobs, machines=1, slots=2)})
    >>> len(preset("tiny", 7, jobs=2).jobs)
    2
    """

    @checked
    def preset(name: str, seed: int | np.random.Generator = 0, **sizes: Any) -> I_co:
        """Return an instance of a named family.

        Parameters
        ----------
        name : str
            A key of the problem's `PRESETS`.
        seed : int or numpy.random.Generator
        **sizes
            As the family's function takes them, e.g. ``jobs=12``.

        Raises
        ------
        TypeError
            If the family does not take one of the sizes, or a value is of another type.
        InputError
            If there is no such family; the message lists those there are.

        Examples
        --------
        >>> from dlsched.models import hadar
        >>> sorted(hadar.PRESETS)
        ['benchmark', 'motivation', 'paper', 'random']
        >>> len(hadar.preset("benchmark", 7, jobs=12).jobs)
        12
        """
        return named("preset", name, presets)(generator(seed), **sizes)

    return preset


def drawn_needs(rng: np.random.Generator, ranges: Mapping[str, tuple[int, int]]) -> dict[str, Fraction]:
    """Return whole needs drawn uniformly from ranges, by resource; what is 0 is left out."""
    drawn = {r: int(rng.integers(low, high + 1)) for r, (low, high) in ranges.items()}
    return {r: Fraction(amount) for r, amount in drawn.items() if amount}


def rounded(value: float, parts: int) -> Fraction:
    """Return a number rounded to a multiple of one over so many parts."""
    return Fraction(round(value * parts), parts)
