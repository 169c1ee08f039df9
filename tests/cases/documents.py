"""Documents with one thing changed, and the one line that bad input is refused with."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest

from dlsched.models import InputError


def changed(document: dict[str, Any], path: str, value: Any) -> dict[str, Any]:
    """Return a document with another value at a place such as ``jobs.0.gang``; without it for an ellipsis."""
    data = copy.deepcopy(document)
    *above, last = [int(part) if part.isdigit() else part for part in path.split(".")]
    target: Any = data
    for part in above:
        target = target[part]
    if value is ...:
        del target[last]
    else:
        target[last] = value
    return data


def refused(call: Callable[..., Any], *arguments: Any, **options: Any) -> str:
    """Return the one line with which a call refuses what it is given."""
    with pytest.raises(InputError) as caught:
        call(*arguments, **options)
    assert "\n" not in str(caught.value)
    return str(caught.value)
