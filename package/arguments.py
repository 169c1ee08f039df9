"""Arguments of public functions: what cannot be used is refused in one line that says what was expected and what came.

A value of the wrong type is a `TypeError`, one out of range an `InputError`; both begin with the argument's name.
"""

from __future__ import annotations

import difflib
import inspect
import math
import numbers
import os
import types
import typing
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from fnmatch import fnmatchcase
from fractions import Fraction
from functools import wraps
from typing import Annotated, Any, ParamSpec, TypeVar

import numpy as np
import numpy.typing as npt
from annotated_types import Ge

from dlsched.errors import InputError, cut

P = ParamSpec("P")
R = TypeVar("R")
V = TypeVar("V")
Floats = npt.NDArray[np.float64]
Seed = int | np.random.Generator
"""A seed, or a generator that goes on from where it is."""

AtLeast0 = Annotated[int, Ge(0)]
"""A whole number with a limit, which `checked` keeps and the command's help tells."""

AtLeast1 = Annotated[int, Ge(1)]
AtLeast2 = Annotated[int, Ge(2)]

_LISTED = 20
"""Names that a message lists; of more, the five nearest. Arbitrary: all algorithms are listed, in four lines of a
terminal; all formulations are not."""

_PROBLEMS = "dlsched.models."
_SHORT = (type(None), numbers.Number, np.bool_, str, os.PathLike)
_PARTS = ("Instance", "Schedule", "Job")


class UnknownName(InputError, KeyError):
    """There is nothing of the name that was asked for; the message lists what there is, or what is nearest."""

    __str__ = Exception.__str__


def named(kind: str, name: str, among: Mapping[str, V]) -> V:
    """Return what has a name.

    Parameters
    ----------
    kind : str
        What the names are of, e.g. ``preset``.
    name : str
    among : mapping

    Raises
    ------
    UnknownName
    """
    try:
        return among[name]
    except (KeyError, TypeError):
        raise UnknownName(f"unknown {kind} {_shown(name)}; {_nearest(str(name), list(among))}") from None


def plain(name: str) -> str:
    """Return a name with one spelling: packages have underscores where claims and figures have hyphens."""
    return name.replace("_", "-").rstrip("/")


def matching(name: str, among: Iterable[str]) -> list[str]:
    """Return those of some names that one stands for: itself, what stands below it (``hadar``), or a pattern's."""
    pattern = plain(name)
    return [known for known in among if fnmatchcase(plain(known), pattern) or plain(known).startswith(f"{pattern}/")]


def _nearest(name: str, names: list[str]) -> str:
    if len(names) <= _LISTED:
        return f"there are {', '.join(names) or 'none'}"
    return f"of {len(names)}, the nearest are {', '.join(difflib.get_close_matches(name, names, n=5, cutoff=0))}"


def at_least(least: float, **given: float | None) -> None:
    """Refuse numbers below a limit; None stands for an argument that was left out.

    Raises
    ------
    InputError
    """
    for name, value in given.items():
        if value is not None and value < least:
            raise InputError(f"{name}: {_shown(value)} must {f'be at least {least}' if least else 'not be negative'}")


def not_negative(**given: float | Fraction | None) -> None:
    """Refuse numbers that are negative or infinite; None stands for an argument that was left out.

    Raises
    ------
    InputError
    """
    for name, value in given.items():
        if value is not None and not 0 <= value < math.inf:
            raise InputError(f"{name}: {_shown(value)} must {'not be negative' if value < 0 else 'be finite'}")


def positive(**given: float | Fraction | None) -> None:
    """Refuse numbers that are not positive and finite; None stands for an argument that was left out.

    Raises
    ------
    InputError
    """
    for name, value in given.items():
        if value is not None and not 0 < value < math.inf:
            raise InputError(f"{name}: {_shown(value)} must be {'positive' if value <= 0 else 'finite'}")


def between(least: float, most: float, **given: float | None) -> None:
    """Refuse numbers outside a range, whose ends belong to it; None stands for an argument that was left out.

    Raises
    ------
    InputError
    """
    for name, value in given.items():
        if value is not None and not least <= value <= most:
            raise InputError(f"{name}: {_shown(value)} is not between {least} and {most}")


def expect_share(*, whole: bool = True, **given: float | Fraction | None) -> None:
    """Refuse numbers that are no share, in (0, 1]; None stands for an argument that was left out.

    Parameters
    ----------
    whole : bool
        Whether 1 is taken too.
    **given
        Numbers by the argument's name.

    Raises
    ------
    InputError
    """
    for name, value in given.items():
        if value is not None and not (0 < value < 1 or (whole and value == 1)):
            raise InputError(f"{name}: {_shown(value)} is not in (0, 1{']' if whole else ')'}")


def floats(name: str, values: Any) -> Floats:
    """Return an array of floats.

    Raises
    ------
    InputError
        If something in it is no number, or rows differ in length.
    """
    try:
        return np.asarray(values, dtype=float)
    except (TypeError, ValueError) as error:
        raise InputError(f"{name}: must be an array of numbers: {error}") from None


def finite(name: str, values: Any) -> Floats:
    """Return an array of finite floats.

    Raises
    ------
    InputError
        As `floats`, and if one is NaN or infinite.
    """
    array = floats(name, values)
    bad = np.argwhere(~np.isfinite(array))
    if len(bad):
        at = tuple(bad[0].tolist())
        place = f"entry {at[0] if len(at) == 1 else at} is " if at else ""
        raise InputError(f"{name}: {place}{array[at]}, which is no finite number")
    return array


def vector(name: str, values: Any, size: int) -> Floats:
    """Return a vector of floats of a given size.

    Raises
    ------
    InputError
        As `floats`, and if it has another shape.
    """
    array = floats(name, values)
    if array.shape != (size,):
        raise InputError(f"{name}: has shape {array.shape}, not ({size},)")
    return array


def seed_of(seed: Seed) -> int:
    """Return a seed: the given one, or one drawn from the given generator.

    Raises
    ------
    InputError
        If the seed is negative.
    """
    if isinstance(seed, np.random.Generator):
        return int(seed.integers(2**63))
    at_least(0, seed=seed)
    return seed


def generator(rng: Seed) -> np.random.Generator:
    """Return a generator of random numbers: the given one, or a new one of that seed.

    Raises
    ------
    InputError
        If the seed is negative.
    """
    if isinstance(rng, np.random.Generator):
        return rng
    at_least(0, seed=rng)
    return np.random.default_rng(rng)


def expect(name: str, value: Any, *kinds: type) -> None:
    """Refuse a value that is of none of some classes.

    Raises
    ------
    TypeError
    """
    if type(value) not in kinds:  # a rule is made for what is looked at further, as this is asked in loops
        _Rule(tuple(map(_class, kinds)), frozenset(kinds)).taken(name, value)


def expect_model(model: Any) -> None:
    """Refuse what is not a model or block of Pyomo with its data.

    Raises
    ------
    TypeError
        If it is not of Pyomo.
    InputError
        If it is abstract, or an indexed block.
    """
    import pyomo.environ as pyo

    if isinstance(model, pyo.Block) and model.is_indexed():
        raise InputError(f"model: '{model.name}' is an indexed block: take one of its members")
    if not _is_block(model):
        is_kernel = type(model).__module__.startswith("pyomo.core.kernel.")
        remedy = ": write it with pyomo.environ" if is_kernel else _attribute("model", model, _is_block)
        raise TypeError(f"model: {called(type(model))} is not a Pyomo model or block{remedy}")
    if not model.is_constructed():
        raise InputError(f"model: '{model.name}' is abstract: call create_instance() first")


def _is_block(value: Any) -> bool:
    # A block of pyomo.kernel has the first only, and a class has both.
    return not isinstance(value, type) and hasattr(value, "component_data_objects") and hasattr(value, "is_constructed")


def checked(function: Callable[P, R]) -> Callable[P, R]:
    """Hold the arguments of a public function against its annotations.

    A whole number may be Python's or numpy's, a number also a fraction; both reach the function as Python's `int` and
    `float`. A bool is neither, and NaN is no number. For a `StrEnum`, the names of its members will do. What is in a
    container is left to the function.
    """
    parameters = inspect.signature(function).parameters
    by_position = [name for name, parameter in parameters.items() if parameter.kind is parameter.POSITIONAL_OR_KEYWORD]
    rules: dict[str, _Rule] = {}

    @wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        if not rules:
            hints = typing.get_type_hints(function, include_extras=True)
            rules.update({name: _Rule.of(hints.get(name, Any)) for name in parameters})
        first = [rules[name].taken(name, value) for name, value in zip(by_position, args, strict=False)]
        named = {name: rules[name].taken(name, value) if name in rules else value for name, value in kwargs.items()}
        return function(*first, *args[len(first) :], **named)  # type: ignore[arg-type]

    return call


@dataclass(frozen=True, slots=True)
class _Kind:
    """One of the things that an annotation allows."""

    text: str
    has: Callable[[Any], bool]
    taken: Callable[[Any], Any] = lambda value: value
    document: str = ""


@dataclass(frozen=True, slots=True)
class _Rule:
    """What an annotation allows: any of some kinds, and everything where there is none.

    Most calls are right, and many are in loops: objects of the classes in `plain` are taken without a further look.
    """

    kinds: tuple[_Kind, ...]
    plain: frozenset[type]
    least: int | None = None

    @classmethod
    def of(cls, hint: Any) -> _Rule:
        members = list(_members(hint))
        if any(member in (Any, object) or isinstance(member, TypeVar) for member in members):
            return cls((), frozenset())
        if any(_is_enum(member) for member in members):
            members = [member for member in members if member is not str]
        members.sort(key=lambda member: _RANK.get(member, 0))
        plain = frozenset(member for member in members if isinstance(member, type) and member is not float)
        return cls(tuple(_PLAIN.get(member) or _class(member) for member in members), plain, least_of(hint))

    def taken(self, name: str, value: Any) -> Any:
        """Return the value as the function is to get it."""
        found = value if type(value) in self.plain or not self.kinds else self._converted(name, value)
        if self.least is not None:
            at_least(self.least, **{name: found})
        return found

    def _converted(self, name: str, value: Any) -> Any:
        for kind in self.kinds:
            if kind.has(value):
                try:
                    return kind.taken(value)
                except (ValueError, OverflowError):
                    raise InputError(f"{name}: {_shown(value)} is not {kind.text}") from None
        expected = " or ".join(dict.fromkeys(kind.text for kind in self.kinds))
        remedies = (_remedy(name, value, kind) for kind in self.kinds if kind.document)
        raise TypeError(f"{name}: expected {expected}, got {described(value)}{next(filter(None, remedies), '')}")


def _attribute(name: str, value: Any, fits: Callable[[Any], bool]) -> str:
    """Return what to do where the value only holds what was asked for, as the result of a run holds a schedule."""
    return f": pass its .{name}" if fits(getattr(value, name, None)) else ""


def _remedy(name: str, value: Any, kind: _Kind) -> str:
    if isinstance(value, str | os.PathLike):
        return f": read it with {kind.document}.load"
    return f": read it with {kind.document}.parse" if isinstance(value, Mapping) else _attribute(name, value, kind.has)


def least_of(hint: Any) -> int | None:
    """Return the limit that `AtLeast0` and its like set to an argument; None where there is none."""
    if typing.get_origin(hint) is not Annotated:
        return None
    return next((typing.cast(int, rule.ge) for rule in hint.__metadata__ if isinstance(rule, Ge)), None)


def _members(hint: Any) -> Iterator[Any]:
    if typing.get_origin(hint) is Annotated:
        hint = typing.get_args(hint)[0]
    if typing.get_origin(hint) in (typing.Union, types.UnionType):
        for member in typing.get_args(hint):
            yield from _members(member)
    else:
        yield hint


def _is_enum(hint: Any) -> bool:
    return isinstance(hint, type) and issubclass(hint, StrEnum)


def _is_bool(value: Any) -> bool:
    return isinstance(value, bool | np.bool_)


def _is_sequence(value: Any) -> bool:
    """Tell whether something is a sequence or, as an array or a series, numpy's idea of one."""
    if isinstance(value, Sequence):
        return not isinstance(value, str | bytes)
    return hasattr(value, "__array__") and not isinstance(value, np.generic)


def _number(value: Any) -> float:
    number = float(value)
    if math.isnan(number):
        raise ValueError
    return int(value) if isinstance(value, numbers.Integral) else number


_RANK: dict[Any, int] = {int: 1, float: 2, type(None): 3}
"""Which kinds an annotation's value is tried for last: an int before a float, so that it stays one, and then None."""

_PLAIN: dict[Any, _Kind] = {
    type(None): _Kind("None", lambda value: value is None),
    bool: _Kind("true or false", _is_bool, bool),
    int: _Kind("a whole number", lambda value: isinstance(value, numbers.Integral) and not _is_bool(value), int),
    float: _Kind("a number", lambda value: isinstance(value, numbers.Real) and not _is_bool(value), _number),
    str: _Kind("text", lambda value: isinstance(value, str)),
}


def _class(hint: Any) -> _Kind:
    kind = typing.get_origin(hint) or hint
    if _is_enum(kind):
        return _Kind(f"one of {', '.join(kind)}", lambda value: isinstance(value, str), kind)
    if kind is Callable:
        return _Kind("a function", callable)
    if kind in (Sequence, np.ndarray):
        return _Kind("a sequence", _is_sequence)
    if kind in (Mapping, dict):
        return _Kind("a mapping", lambda value: isinstance(value, Mapping))
    if kind is os.PathLike:
        return _Kind("a path", lambda value: isinstance(value, os.PathLike))
    if kind is Iterable:
        return _Kind("an iterable", lambda value: isinstance(value, Iterable) and not isinstance(value, str | bytes))
    name = kind.__qualname__ if hasattr(kind, "load") and hasattr(kind, "parse") else ""
    return _Kind(called(kind), lambda value: isinstance(value, kind), document=name)


def called(kind: type) -> str:
    """Return what the objects of a class are called, e.g. ``an instance of hadar``."""
    if kind is type(None):
        return "None"
    package, _, module = kind.__module__.rpartition(".")
    home = package if kind.__module__.startswith("dlsched.") or module.startswith("_") else kind.__module__
    if home == "builtins":
        return _articled(kind.__qualname__)
    if home.startswith(_PROBLEMS):
        name = kind.__qualname__.lower() if kind.__qualname__ in _PARTS else kind.__qualname__
        return f"{_articled(name)} of {home.removeprefix(_PROBLEMS)}"
    return _articled(f"{home}.{kind.__qualname__}")


def _articled(noun: str) -> str:
    return f"{'an' if noun[0] in 'aeiouAEIOU' else 'a'} {noun}"


def described(value: Any) -> str:
    """Return a value, or what it is, in a few words."""
    if isinstance(value, type):
        return f"the class {value.__qualname__}"
    if isinstance(value, float) and value.is_integer():
        return float.__repr__(value)  # no whole number, and to be told from one
    return _shown(value) if isinstance(value, _SHORT) else called(type(value))


def _shown(value: Any) -> str:
    if isinstance(value, str | os.PathLike):
        text = repr(os.fspath(value))
    else:
        text = f"{value:.15g}" if isinstance(value, float) else str(value)
    return cut(text)
