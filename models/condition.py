"""What tells some indices from others in the algebra of a model: a condition on their letters, in LaTeX."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any

Index = tuple[Any, ...]
_Atom = tuple[str, Callable[[Index], bool]]
"""A condition, and whether it is true of an index."""


def condition(
    letters: Sequence[str],
    indices: Sequence[Index],
    chosen: Sequence[bool],
    members: Mapping[str, Collection[Index]],
    shown: Callable[[Any], str],
) -> str | None:
    """Return what is true of the chosen indices and of no other: one condition or two; None where none is found.

    Parameters
    ----------
    letters : sequence of str
        Of the positions of an index.
    indices : sequence of tuple
    chosen : sequence of bool
        Which of them.
    members : mapping of str to collection of tuple
        Of Sets, by their symbols.
    shown : callable
        How a value of a position is written.
    """
    inside = [index for index, is_chosen in zip(indices, chosen, strict=True) if is_chosen]
    outside = [index for index, is_chosen in zip(indices, chosen, strict=True) if not is_chosen]
    atoms = itertools.chain(_values(letters, inside, outside, shown), _atoms(letters, indices, members))
    true = [(text, holds) for text, holds in atoms if all(map(holds, inside))]
    excluded = {text: [not holds(index) for index in outside] for text, holds in true}
    for size in (1, 2):
        for told in itertools.combinations(excluded, size):
            if all(map(any, zip(*(excluded[text] for text in told), strict=True))):
                return ",\\, ".join(told)
    return None


def _values(
    letters: Sequence[str], inside: Sequence[Index], outside: Sequence[Index], shown: Callable[[Any], str]
) -> Iterator[_Atom]:
    """Yield that a position is what it is in all the chosen indices, or is not what it is in all the others."""
    for some, sign, wanted in ((inside, "=", True), (outside, "\\ne", False)):
        for k, values in enumerate(zip(*some, strict=True)):
            if len(set(values)) == 1:
                yield f"{letters[k]} {sign} {shown(values[0])}", _at(k, values[0], wanted)


def _atoms(
    letters: Sequence[str], indices: Sequence[Index], members: Mapping[str, Collection[Index]]
) -> Iterator[_Atom]:
    numbers = [k for k in range(len(letters)) if all(type(index[k]) is int for index in indices)]
    for a, b in itertools.combinations(range(len(letters)), 2):
        is_number = a in numbers and b in numbers
        for sign, holds in _RELATIONS if is_number else _RELATIONS[:2]:
            yield f"{letters[b]} {sign.format(letters[a])}", _between(holds, a, b)
    for k in numbers:
        own = [index[k] for index in indices]
        for value in dict.fromkeys((min(own), max(own))):
            yield f"{letters[k]} = {value}", _at(k, value, True)
            yield f"{letters[k]} \\ne {value}", _at(k, value, False)
    for name, known in members.items():
        for at in itertools.permutations(range(len(letters)), len(next(iter(known), ()))):
            if at:
                told = letters[at[0]] if len(at) == 1 else f"({','.join(letters[k] for k in at)})"
                yield f"{told} \\in {name}", _in(at, known, True)
                yield f"{told} \\notin {name}", _in(at, known, False)


_RELATIONS: tuple[tuple[str, Callable[[Any, Any], bool]], ...] = (
    ("= {}", lambda b, a: b == a),
    ("\\ne {}", lambda b, a: b != a),
    ("= {} - 1", lambda b, a: b == a - 1),
    ("< {}", lambda b, a: b < a),
    ("> {}", lambda b, a: b > a),
)
"""How one position of an index may stand to an earlier one: the first two of anything, the others of numbers."""


def _between(holds: Callable[[Any, Any], bool], a: int, b: int) -> Callable[[Index], bool]:
    return lambda index: holds(index[b], index[a])


def _at(k: int, value: Any, wanted: bool) -> Callable[[Index], bool]:
    return lambda index: (index[k] == value) == wanted


def _in(at: Sequence[int], known: Collection[Index], wanted: bool) -> Callable[[Index], bool]:
    return lambda index: (tuple(index[k] for k in at) in known) == wanted
