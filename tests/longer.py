"""Which of a test's cases are left to `make audit`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest


def longer(cases: Iterable[Any], *long: Any) -> list[Any]:
    """Return the cases of a parametrized test, some of them marked as long: seconds for what the others show as well.

    The values of a case are one, or a tuple of them.
    """
    marked = []
    for case in cases:
        values = case if isinstance(case, tuple) else (case,)
        marked.append(pytest.param(*values, marks=pytest.mark.long if case in long else ()))
    return marked
