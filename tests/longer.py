"""Which of a test's cases are left to `make audit`."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from functools import wraps
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis.strategies import SearchStrategy

Test = Callable[..., None]


def longer(cases: Iterable[Any], *long: Any) -> list[Any]:
    """Return the cases of a parametrized test, some of them marked as long: seconds for what the others show as well.

    The values of a case are one, or a tuple of them.
    """
    marked = []
    for case in cases:
        values = case if isinstance(case, tuple) else (case,)
        marked.append(pytest.param(*values, marks=pytest.mark.long if case in long else ()))
    return marked


def examples(few: int, many: int, **drawn: SearchStrategy[Any]) -> Callable[[Test], Test]:
    """Mark a test that hypothesis draws arguments for: on few examples, and on many as a long one."""

    def mark(test: Test) -> Test:
        tests = {count: settings(max_examples=count)(given(**drawn)(test)) for count in (few, many)}

        @pytest.mark.parametrize("count", longer([few, many], many))
        @wraps(test)
        def on_examples(count: int, **others: Any) -> None:
            tests[count](**others)

        signature = inspect.signature(test)
        own = [parameter for name, parameter in signature.parameters.items() if name not in drawn]
        count = inspect.Parameter("count", inspect.Parameter.KEYWORD_ONLY)
        on_examples.__signature__ = signature.replace(parameters=[*own, count])  # type: ignore[attr-defined]
        return on_examples

    return mark
