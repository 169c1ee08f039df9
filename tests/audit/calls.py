"""Python calls of public functions with arguments that do not fit: a refusal in one line, or an answer."""

from __future__ import annotations

import contextlib
import functools
import inspect
import io
import math
import tempfile
from collections.abc import Callable, Iterator
from fractions import Fraction
from importlib import import_module
from typing import Any

import numpy as np
import pyomo.environ as pyo

from dlsched.models import InputError, build
from dlsched.models.ddljs import random as ddljs_random
from dlsched.models.hadar import Schedule as HadarSchedule
from dlsched.models.hadar import random as hadar_random
from dlsched.models.smd import random as smd_random
from tests.audit.case import Case, Fault

_ROOMS = (
    *("models", "models.hadar", "models.smd", "models.dmlrs", "models.ddljs", "relaxations", "rounding"),
    *("algorithms", "bounds", "traces.gavel", "traces.topology_zoo"),
)
_SLOW = frozenset({"verify", "attack"})
"""Take minutes where the arguments do fit; the command's cases call them."""

_REFUSALS = (InputError, ValueError, TypeError, KeyError, ImportError, NotImplementedError)


@functools.cache
def _functions() -> dict[str, Callable[..., Any]]:
    """Return every public function by its full name."""
    found = {}
    for room in _ROOMS:
        module = import_module(f"dlsched.{room}")
        for name in sorted(set(getattr(module, "__all__", dir(module)))):
            value = getattr(module, name)
            if name.startswith("_") or name in _SLOW or not callable(value) or inspect.isclass(value):
                continue
            if getattr(value, "__module__", "").startswith("dlsched."):
                found[f"{room}.{name}"] = value
    return found


def _values(rng: np.random.Generator) -> dict[str, Callable[[], Any]]:
    """Return what may be passed: name to how it is made anew."""
    instance = hadar_random(np.random.default_rng(1))
    plain: tuple[Any, ...] = (
        *(None, True, 0, 1, -1, 3, 2**70, 0.5, -0.5, 1e308, math.nan, math.inf, Fraction(1, 3), "", "random", "hadar"),
        *("hadar/p1", "hadar/theorem-2", "no/such", b"x", [], [0.5], [1, 2], [math.nan], [[1.0, 2.0]], ["a"], {}),
        *({"a": 1}, {"slots": 3}, (), (1, 2), {1}, object(), 1j, 0.0, "printed", "1,2"),
    )
    made: dict[str, Callable[[], Any]] = {repr(value)[:40]: (lambda value=value: value) for value in plain}
    made |= {
        "a Hadar instance": lambda: instance,
        "a DDLJS instance": lambda: ddljs_random(np.random.default_rng(1)),
        "an SMD instance": lambda: smd_random(np.random.default_rng(1)),
        "an empty Hadar schedule": lambda: HadarSchedule.parse({"problem": "hadar", "jobs": {}}),
        "a model": lambda: build("hadar/hall", instance),
        "an empty model": pyo.ConcreteModel,
        "an abstract model": pyo.AbstractModel,
        "a generator": lambda: np.random.default_rng(0),
        "an array": lambda: np.array([0.5, 0.25]),
        "an integer array": lambda: np.array([1, 2, 3]),
        "a matrix": lambda: np.ones((2, 2)),
        "an array of NaN": lambda: np.full(3, math.nan),
        "an empty array": lambda: np.array([]),
        "an array of objects": lambda: np.array([None, "a"], dtype=object),
        "a function": lambda: len,
    }
    return made


_LIKELY = {
    "instance": "a Hadar instance",
    "model": "a model",
    "rng": "a generator",
    "x": "an array",
    "schedule": "an empty Hadar schedule",
}
"""What fits a parameter of that name, so that calls get past their first argument."""


def make(seed: int) -> Case:
    """Return the case of a seed."""
    rng = np.random.default_rng([seed, 77])
    functions, values = _functions(), _values(rng)
    name = list(functions)[int(rng.integers(len(functions)))]
    function = functions[name]
    arguments = {}
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        parameters = []
    for parameter in parameters:
        if parameter.kind in (parameter.VAR_KEYWORD, parameter.VAR_POSITIONAL):
            continue
        if parameter.default is not parameter.empty and rng.random() < 0.7:
            continue
        fitting = _LIKELY.get(parameter.name)
        likely = fitting is not None and rng.random() < 0.6
        arguments[parameter.name] = fitting if likely else list(values)[int(rng.integers(len(values)))]
    if arguments and rng.random() < 0.05:
        del arguments[next(iter(arguments))]
    told = ", ".join(f"{key}={value}" for key, value in arguments.items())
    return Case(f"{name}({told})", arguments, lambda: list(_faults(function, arguments, values)))


def _faults(
    function: Callable[..., Any], arguments: dict[str, str], values: dict[str, Callable[[], Any]]
) -> Iterator[Fault]:
    positional = [
        name
        for name, parameter in inspect.signature(function).parameters.items()
        if parameter.kind is parameter.POSITIONAL_ONLY
    ]
    first = [values[arguments[name]]() for name in positional if name in arguments]
    others = {name: values[value]() for name, value in arguments.items() if name not in positional}
    quiet = io.StringIO()
    with (
        tempfile.TemporaryDirectory() as folder,
        contextlib.chdir(folder),
        contextlib.redirect_stdout(quiet),
        contextlib.redirect_stderr(quiet),
    ):
        try:
            function(*first, **others)
        except _REFUSALS as error:
            if "\n" in str(error).strip():
                yield Fault("message", f"{type(error).__name__}: more than one line: {str(error)[:300]!r}")
        except Exception as error:
            yield Fault("exception", f"{type(error).__name__}: {' '.join(str(error).split())[:300]} ({_place(error)})")


def _place(error: Exception) -> str:
    where = error.__traceback__
    while where is not None and where.tb_next is not None:
        where = where.tb_next
    assert where is not None
    return f"{'/'.join(where.tb_frame.f_code.co_filename.split('/')[-3:])}:{where.tb_lineno}"


MAKERS: dict[str, Callable[[int], Case]] = {"inputs/call": make}
