"""Which of a test's cases are left to `make audit`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest
from hypothesis import settings


def longer(cases: Iterable[Any], *long: Any) -> list[Any]:
    """Return the cases of a parametrized test, some of them marked as long: seconds for what the others show as well.

    The values of a case are one, or a tuple of them.
    """
    marked = []
    for case in cases:
        values = case if isinstance(case, tuple) else (case,)
        marked.append(pytest.param(*values, marks=pytest.mark.long if case in long else ()))
    return marked


def examples(few: int, many: int) -> settings:
    """Return how many examples hypothesis draws for a test: few, and many in `make audit`, by its profile."""
    return settings(max_examples=many if settings.default == settings.get_profile("audit") else few)


def in_two(few: int, stop: int, start: int = 0) -> pytest.MarkDecorator:
    """Parametrize a test by seeds that it goes through: so many, and as a long one those after them."""
    seeds = [range(start, start + few), range(start + few, stop)]
    return pytest.mark.parametrize("seeds", longer(seeds, seeds[1]), ids=str)
