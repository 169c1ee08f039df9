"""What indices stand for, in the words of the model's own Sets: ``work['a', 2]`` is of job a, slot 2."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

_EQUATIONS = re.compile(r"^(?:\([^()]*\)\s*)+")
_PARTS = re.compile(r",? and |, ")
_ARTICLE = re.compile(r"^(?:the numbers? of|the|their|those|all|other) ")
_NOUN = re.compile(r"^[a-z-]+(?: types?| groups?)?\b", re.IGNORECASE)
"""One word, or two that are one: ``device types``."""

_PRONOUNS = {"those", "them", "the", "one", "pair", "every", "each"}


def place_of(data: Any) -> str:
    """Return what a member of an indexed component is about, as far as its Sets say it: ``job a, slot 2``.

    A Set says it at the start of its ``doc``, one plural a position: ``jobs, machines, and slots that ...``.

    Parameters
    ----------
    data : ComponentData
    """
    component = data.parent_component()
    if not component.is_indexed():
        return ""
    index = data.index()
    values = index if isinstance(index, tuple) else (index,)
    nouns = [noun for own in component.index_set().subsets() for noun in nouns_of(own)]
    if len(nouns) != len(values):
        return ""
    return ", ".join(f"{noun} {value}" for noun, value in zip(nouns, values, strict=True) if noun)


def nouns_of(index: Any) -> Iterator[str]:
    """Yield what each position of a Set's members is, in the singular; empty where its ``doc`` does not say it."""
    size = index.dimen if isinstance(index.dimen, int) else 1
    parts = _PARTS.split(_EQUATIONS.sub("", index.doc or ""))
    for k in range(size):
        yield _singular(parts[k]) if size <= len(parts) else ""


def _singular(part: str) -> str:
    match = _NOUN.match(_ARTICLE.sub("", part))
    noun = match.group() if match else ""
    if noun in _PRONOUNS or not noun.endswith("s"):
        return ""
    return noun[:-3] + "y" if noun.endswith("ies") else noun[:-1]
