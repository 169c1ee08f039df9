"""The data of a model as Pyomo Params, and what becomes of a value that is changed after the model was built.

Where rows and objective hold a mutable Param and nothing else depends on it, the model *follows*: it is the model of
the new value. Where something was derived from the value (a bound, a big-M, an index set, a list of schedules), the
rest of the model is still of the old one, and whoever is given the model refuses it: `expect_current`.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Self, TypeVar

from dlsched.arguments import checked, expect_model
from dlsched.errors import InputError
from dlsched.lazy import pyo
from dlsched.models.numbers import amount, exceeds

Number = int | float | Fraction
K = TypeVar("K", bound=Hashable)


class StaleModelError(InputError):
    """A value was changed that other parts of the model come from; the message names it and says which.

    Examples
    --------
    >>> from dlsched.models import build, hadar, solve
    >>> model = build("hadar/aggregate", hadar.random(0))
    >>> model.count["type1"] = 9
    >>> solve(model)
    Traceback (most recent call last):
        ...
    dlsched.models.parameters.StaleModelError: count[type1] was changed from 3 to 9, but the levels of j...
    """


@dataclass(frozen=True, slots=True)
class Change:
    """A value of a Param that is not what its model was built with.

    Attributes
    ----------
    name : str
        Of the Param, with its index.
    old : int or float
    new : int, float or None
        None where the value was cleared.
    why : str
        What was derived from the old value, for which the model is refused; empty where it follows.

    Examples
    --------
    >>> from dlsched.models import build, changes, hadar
    >>> model = build("hadar/p1", hadar.random(0))
    >>> model.utility["job1", 2] = 99
    >>> (change,) = changes(model)
    >>> change.name, change.new, change.why
    ('utility[job1,2]', 99, '')
    >>> model.count["machine1", "type1"] = 9
    >>> [bool(change.why) for change in changes(model)]
    [False, True]
    """

    name: str
    old: float
    new: float | None
    why: str

    def __str__(self) -> str:
        """Return the change in words."""
        return f"{self.name} was changed from {self.old} to {self.new}"


class _Record(dict[str, "_Declared"]):
    """What `declare` has added to a model, by name; the model's attribute `declared`."""


@dataclass(frozen=True, slots=True)
class _Declared:
    """What a mutable Param was built with; it never changes, so copies of a model share it."""

    given: Mapping[Any, Number]
    numbers: Mapping[Any, Any]
    why: str
    falling: bool

    def __deepcopy__(self, memo: object) -> Self:
        return self


def declare(
    model: Any,
    name: str,
    index: tuple[Any, ...],
    values: Mapping[Any, Number],
    doc: str,
    *,
    within: Any = None,
    follows: bool = False,
    why: str = "",
    falling: bool = False,
) -> None:
    """Add data to a model as a Param: mutable if the model follows it, or says why not; else there to be read only.

    Parameters
    ----------
    model : pyomo.environ.ConcreteModel
    name : str
    index : tuple of Set
        Empty for a single number, whose index is None.
    values : mapping
        A number for each index; not to be changed afterwards.
    doc : str
        Symbol, what it is, and the unit in brackets: ``W_j, gang [devices]``.
    within : Set, optional
        What values it may have, by default any number.
    follows : bool
        Rows and objective hold the Param, and nothing else comes from its values.
    why : str
        What does, if something does, as a clause: ``the levels were derived from it``.
    falling : bool
        The model is right only for values that do not increase with the last index.
    """
    numbers = {key: value if type(value) in (int, float) else float(value) for key, value in values.items()}
    mutable = follows or bool(why)
    domain = pyo.Reals if within is None else within
    model.add_component(name, pyo.Param(*index, initialize=numbers, within=domain, mutable=mutable, doc=doc))
    if mutable:
        if not _record(model):
            model.declared = _Record()
        model.declared[name] = _Declared(values, numbers, why, falling)


def filled(
    what: str, given: Mapping[K, float | Fraction] | None, default: Mapping[K, Fraction], kind: str
) -> dict[K, Fraction]:
    """Return amounts by place, by default where they are left out.

    Raises
    ------
    InputError
        If a place is not among the default's, or an amount is negative or no finite number.
    """
    result = dict(default)
    for place, value in (given or {}).items():
        if place not in default:
            raise InputError(f"{what}: {place} is not {kind} of the instance")
        result[place] = amount(f"{what}: {place}", value)
        if result[place] < 0:
            raise InputError(f"{what}: {float(value):g} at {place} must not be negative")
    return result


@checked
def changes(model: Any) -> tuple[Change, ...]:
    """Return which values of a model's Params were changed since a formulation has built it.

    Parameters
    ----------
    model : pyomo.environ.ConcreteModel

    Raises
    ------
    TypeError
        If it is no Pyomo model.
    InputError
        If it is abstract.

    Examples
    --------
    >>> from dlsched.models import build, changes, hadar
    >>> model = build("hadar/p1", hadar.random(0))
    >>> changes(model)
    ()
    >>> model.count["machine1", "type1"] = 0
    >>> [f"{change.name}: {change.old:g} -> {change.new:g}" for change in changes(model)]
    ['count[machine1,type1]: 2 -> 0']
    """
    expect_model(model)
    return tuple(change for param, declared in _declared(model) for change in _changes(param, declared))


def expect_current(model: Any) -> None:
    """Refuse what is no Pyomo model with its data, and one in which a value was changed that it does not follow.

    Raises
    ------
    TypeError
        If it is not of Pyomo.
    InputError
        If it is abstract, or an indexed block.
    StaleModelError
        Naming the first such value, the old and the new one, and why; one that was cleared; or the first that is larger
        than the one before it, where the model is right only for values that do not increase.
    """
    expect_model(model)
    for param, declared in _declared(model):
        changed = list(_changes(param, declared))
        for change in changed:
            if declared.why:
                raise StaleModelError(f"{change}, but {declared.why}: build the model anew from a changed instance")
            if change.new is None:
                raise StaleModelError(f"{change}, which is no value")
        if changed and declared.falling:
            _refuse_rising(param)


def is_derived_from(param: Any) -> bool:
    """Tell whether a change of this mutable Param is refused; one that no formulation has declared is followed."""
    declared = _record(param.parent_block()).get(param.local_name)
    return declared is not None and bool(declared.why)


def exact(param: Any) -> dict[Any, Fraction]:
    """Return the values of a mutable Param, not rounded to floats: as they were given, or as they were changed."""
    declared = param.parent_block().declared[param.local_name]
    now = param.extract_values()
    return {
        key: Fraction(given if now[key] == declared.numbers[key] else now[key]) for key, given in declared.given.items()
    }


def _record(model: Any) -> Mapping[str, _Declared]:
    found = getattr(model, "declared", None)
    return found if isinstance(found, _Record) else _Record()


def _declared(model: Any) -> Iterator[tuple[Any, _Declared]]:
    """Yield the Params with what they were built with, of models within a model too; some may have been taken out."""
    for block in model.block_data_objects():
        for name, declared in _record(block).items():
            param = block.component(name)
            if param is not None:
                yield param, declared


def _changes(param: Any, declared: _Declared) -> Iterator[Change]:
    for key, data in param.items():
        new = pyo.value(data, exception=False)
        if new != declared.numbers[key]:
            yield Change(data.name, declared.numbers[key], new, declared.why)


def _refuse_rising(param: Any) -> None:
    before: dict[Any, Any] = {}
    unit = max(abs(data.value) for data in param.values())
    for key, data in param.items():
        last = before.get(key[:-1], data)
        if exceeds(data.value, last.value, unit=unit):
            raise StaleModelError(
                f"{data.name} is {data.value}, more than {last.name} with {last.value}: "
                f"the model is right only where no later value is larger"
            )
        before[key[:-1]] = data
