"""Bad input: the one error for it, and how values stand in its message."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import islice

_LONGEST = 60
"""Characters of a value or a name in a message. Arbitrary: with place and rule it stays within two lines."""

_MOST = 10
"""Names that a message lists. Arbitrary: enough to see which they are."""


class InputError(ValueError):
    """What a user handed in cannot be used; the message names the place, the value and the rule, in one line.

    Examples
    --------
    >>> from dlsched.models import InputError, hadar
    >>> try:
    ...     instance = hadar.Instance.load("no.json")
    ... except InputError as error:
    ...     print(error)
    no.json: no such file
    """


@contextmanager
def noting(text: str) -> Iterator[None]:
    """Add to what is raised in the block where that was, which a traceback ends with: a plug-in's code may raise it."""
    try:
        yield
    except Exception as error:
        error.add_note(text)
        raise


def shown(value: object) -> str:
    """Return a value as an error message shows it, cut to 60 characters."""
    return cut(repr(value))


def cut(text: str, longest: int = _LONGEST) -> str:
    """Return a text, cut to so many characters."""
    return text if len(text) <= longest else text[: longest - 3] + "..."


def few(names: Iterable[str]) -> str:
    """Return the sorted names as an error message lists them: at most ten of them."""
    ordered = sorted(names)
    left = f" and {len(ordered) - _MOST} more" if len(ordered) > _MOST else ""
    return ", ".join(map(cut, islice(ordered, _MOST))) + left
