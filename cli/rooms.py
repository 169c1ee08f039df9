"""Look-ups by the names that a user types; an unknown name is refused with the names there are."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterable
from types import MappingProxyType
from typing import Any

ALGORITHMS = MappingProxyType(
    {
        "hadar": ("hadar", "dlsched.algorithms.hadar"),
        "gavel": ("hadar", "dlsched.algorithms.baselines.hadar.gavel"),
        "smd": ("smd", "dlsched.algorithms.smd"),
        "esw": ("smd", "dlsched.algorithms.baselines.smd.esw"),
        "optimus": ("smd", "dlsched.algorithms.baselines.smd.optimus"),
        "pd_ors": ("dmlrs", "dlsched.algorithms.pd_ors"),
        "fifo": ("dmlrs", "dlsched.algorithms.baselines.dmlrs.fifo"),
        "drf": ("dmlrs", "dlsched.algorithms.baselines.dmlrs.drf"),
        "dorm": ("dmlrs", "dlsched.algorithms.baselines.dmlrs.dorm"),
        "oasis": ("dmlrs", "dlsched.algorithms.baselines.dmlrs.oasis"),
    }
)
"""Algorithm name to its problem and the module of its ``run``."""


def choose(kind: str, name: str, among: Iterable[str]) -> str:
    """Return a name that must be one of those there are.

    Raises
    ------
    InputError
        If it is not.
    """
    from dlsched.models.document import InputError

    names = list(among)
    if name not in names:
        raise InputError(f"unknown {kind} {name!r}; there are {', '.join(names) or 'none'}")
    return name


def problems() -> list[str]:
    """Return the names of the problems: the packages of `dlsched.models`."""
    models = importlib.import_module("dlsched.models")
    return sorted(module.name for module in pkgutil.iter_modules(models.__path__) if module.ispkg)


def problem(name: str) -> Any:
    """Return the package of a problem."""
    return importlib.import_module(f"dlsched.models.{choose('problem', name, problems())}")


def formulation(name: str) -> Any:
    """Return a formulation of the catalog."""
    from dlsched.models.catalog import catalog

    entries = {entry.name: entry for entry in catalog()}
    return entries[choose("formulation", name, entries)]


def algorithm(name: str) -> tuple[Any, Any]:
    """Return an algorithm's problem package and its ``run``."""
    of, module = ALGORITHMS[choose("algorithm", name, ALGORITHMS)]
    return problem(of), importlib.import_module(module).run
