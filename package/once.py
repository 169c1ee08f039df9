"""Blocks in which what is asked for twice is computed once.

The claims about one instance ask for the same programs by different ways: a relaxation is one of the facts of two
subjects, one variant of an algorithm solves what another has solved. None of them can hand a result to the other, so
what costs is kept by what it is asked with, until the outermost block ends. Work that may be cut short
(`dlsched.halt`) is never kept.

>>> from dlsched.once import computing_once, once
>>> @once(lambda number: number)
... def square(number):
...     print("computing")
...     return number * number
>>> with computing_once():
...     square(3), square(3)
computing
(9, 9)
>>> square(3)
computing
9
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import wraps
from typing import Any, ParamSpec, TypeVar

from dlsched.halt import current

P = ParamSpec("P")
R = TypeVar("R")

Known = dict[tuple[object, Hashable], Any]
"""What was computed, by function and key."""

_KNOWN: ContextVar[Known | None] = ContextVar("what is computed already", default=None)


@contextmanager
def computing_once(known: Known | None = None) -> Iterator[None]:
    """Keep, in the block, what functions marked with `once` return.

    Parameters
    ----------
    known : dict, optional
        Where it is kept, for blocks that go on from each other; in a block within a block, where that one keeps it.
    """
    if _KNOWN.get() is not None:
        yield
        return
    token = _KNOWN.set({} if known is None else known)
    try:
        yield
    finally:
        _KNOWN.reset(token)


def once(key: Callable[..., Hashable]) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Mark a function that is computed once in a block for the same key.

    Parameters
    ----------
    key : callable
        Of the function's arguments: all that decides what it returns, so that equal keys have equal results; None
        where a call is to be made in any case. What the function returns must not be changed by who gets it.
    """

    def mark(compute: Callable[P, R]) -> Callable[P, R]:
        @wraps(compute)
        def answer(*args: P.args, **kwargs: P.kwargs) -> R:
            known = _KNOWN.get()
            own = None if known is None or current() is not None else key(*args, **kwargs)
            if known is None or own is None:
                return compute(*args, **kwargs)
            if (compute, own) not in known:
                known[compute, own] = compute(*args, **kwargs)
            found: R = known[compute, own]
            return found

        return answer

    return mark
