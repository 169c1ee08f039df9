"""What the instances of all problems share: field types, and checks of the names in them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, Field

from dlsched.errors import cut, few, shown
from dlsched.models.numbers import LARGEST, in_range, size_of
from dlsched.models.utility import Utility

MAX_NAME = 256
"""Characters of a name. Arbitrary: with a bound, messages, tables and the names in a model stay readable."""

MAX_SLOTS = 10**6
"""Slots of an instance. Arbitrary: with slots of a second these are eleven days, and tables by slot still fit a
memory."""

MAX_COUNT = 10**18
"""Counts are at most this: machine integers hold them, and the sum of nine."""


def countable(count: int) -> int:
    """Refuse a count that machine integers cannot hold.

    Raises
    ------
    ValueError
        If it is above `MAX_COUNT`.
    """
    if count > MAX_COUNT:
        raise ValueError(f"{size_of(Fraction(count))} must be at most 1e18, so that machine integers hold it")
    return count


Count = Annotated[int, Field(strict=True, ge=0), AfterValidator(countable)]
Ordinal = Annotated[int, Field(strict=True, ge=1), AfterValidator(countable)]
Name = Annotated[str, Field(strict=True, min_length=1, max_length=MAX_NAME)]
Amount = Annotated[int, Field(strict=True, ge=-MAX_COUNT, le=MAX_COUNT)]
"""A number in a schedule, which the checker judges: a negative one breaks a rule."""


def distinct(place: str, names: Sequence[str], suffix: str = "") -> None:
    """Refuse a name that appears twice.

    Parameters
    ----------
    place : str
        Where the names stand, e.g. ``jobs``.
    names : sequence of str
    suffix : str
        What leads from an entry of `place` to its name, e.g. ``.name``.

    Raises
    ------
    ValueError
        If two names are the same.
    """
    seen: dict[str, int] = {}
    for i, name in enumerate(names):
        if name in seen:
            raise ValueError(f"{place}[{i}]{suffix}: {name!r} is already the name of {place}[{seen[name]}]")
        seen[name] = i


def known(place: str, names: Iterable[str], kind: str, listed: str, among: Iterable[str]) -> None:
    """Refuse a name that the instance does not list.

    Parameters
    ----------
    place : str
    names : iterable of str
    kind : str
        What the names are of, e.g. ``device type``.
    listed : str
        The field that lists them.
    among : iterable of str

    Raises
    ------
    ValueError
        If a name is not among them.
    """
    allowed = set(among)
    for name in names:
        if name not in allowed:
            raise ValueError(f"{place}.{cut(name)}: unknown {kind}; {listed} lists {few(allowed)}")


def made_of_numbers(place: str, what: str, value: Fraction) -> None:
    """Refuse what an instance's numbers make where it is out of their range.

    Parameters
    ----------
    place : str
    what : str
        Its name.
    value : Fraction

    Raises
    ------
    ValueError
        If it is neither 0 nor between 1e-100 and 1e100 in size.
    """
    try:
        in_range(value)
    except ValueError as error:
        raise ValueError(f"{place}: {what}, {error}") from None


def moderate(place: str, utility: Utility, *points: Fraction | int) -> None:
    """Refuse a utility whose values are beyond what floats can add up and multiply.

    Parameters
    ----------
    place : str
        Of the utility.
    utility : Utility
    *points : Fraction or int
        Arguments that count, among them those of the extreme values.

    Raises
    ------
    ValueError
        If a value is above 1e100 in size. A log utility at 0 is not judged.
    """
    for point in points:
        try:
            value = abs(utility.exact(point))
        except OverflowError:
            value = Fraction(LARGEST * LARGEST)
        except ValueError:
            continue
        if value > LARGEST:
            raise ValueError(f"{place}: is above 1e100 in size at {size_of(Fraction(point))}; it must be at most that")


def falling(place: str, utility: Utility, points: Sequence[int], of: str = "duration") -> None:
    """Refuse a utility of a completion time that rises anywhere, or falls below 0.

    Parameters
    ----------
    place : str
        Of the utility.
    utility : Utility
    points : sequence of int
        Ascending arguments that count.
    of : str
        What the arguments are.

    Raises
    ------
    ValueError
    """
    moderate(place, utility, points[0], points[-1])
    try:
        fits, last = utility.is_monotone(points, increasing=False), utility(points[-1])
    except ValueError as error:
        raise ValueError(f"{place}: {error}") from None
    if not fits:
        raise ValueError(f"{place}: increases with the {of}; it must be non-increasing")
    if last < 0:
        raise ValueError(f"{place}: is {last:.6g} at {points[-1]}; a utility of the {of} must not be negative")


_SLOT = re.compile(r"0|-?[1-9][0-9]{0,17}")
"""Up to `MAX_COUNT`: which slots there are the instance knows, and the checker judges."""


def _plain_slots(value: Any) -> Any:
    """Refuse keys such as ``02``, which would be the same slot as ``2``."""
    for key in value if isinstance(value, dict) else ():
        if isinstance(key, str) and not _SLOT.fullmatch(key):
            raise ValueError(f"{shown(key)} is not the number of a slot")
    return value


PlainSlots = BeforeValidator(_plain_slots)
"""For a dict by slot: every key is a whole number in its plain form."""
