"""What facts of several classes about one (instance, seed) have in common, computed once for all of them.

Claims of one subject have the same facts. Claims of others have facts of other classes, or with other parameters, that
inherit what depends on neither: an optimum, a run.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any, Generic, Self, TypeVar, overload

T = TypeVar("T")


class Sharing:
    """Facts that may share what is computed of their instance and seed."""

    @cached_property
    def known(self) -> dict[shared[Any], Any]:
        """What is computed already; `dlsched.bounds.claim.decided` gives all facts of an instance and seed the same."""
        return {}


class shared(Generic[T]):
    """A property of `Sharing` that depends on instance and seed alone, computed when it is first asked for.

    Parameters
    ----------
    compute : callable
        Of the facts. It says nothing of what the value rests on (`dlsched.bounds.evidence.rests_on`), as only the
        first to ask would hear it.
    """

    def __init__(self, compute: Callable[[Any], T]) -> None:
        self._compute = compute
        self.__doc__ = compute.__doc__

    @overload
    def __get__(self, facts: None, owner: type) -> Self: ...
    @overload
    def __get__(self, facts: Sharing, owner: type) -> T: ...
    def __get__(self, facts: Sharing | None, owner: type) -> Self | T:
        if facts is None:
            return self
        if self not in facts.known:
            facts.known[self] = self._compute(facts)
        value: T = facts.known[self]
        return value
