"""Look-ups by the names that a user types; an unknown name is refused with the names there are."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple


class Algorithm(NamedTuple):
    """An algorithm's name, the problem it is for, and the module of its ``run``; two problems may share a name."""

    name: str
    problem: str
    module: str


ALGORITHMS = (
    Algorithm("hadar", "hadar", "dlsched.algorithms.hadar"),
    Algorithm("gavel", "hadar", "dlsched.algorithms.baselines.hadar.gavel"),
    Algorithm("smd", "smd", "dlsched.algorithms.smd"),
    Algorithm("esw", "smd", "dlsched.algorithms.baselines.smd.esw"),
    Algorithm("optimus", "smd", "dlsched.algorithms.baselines.smd.optimus"),
    Algorithm("pd_ors", "dmlrs", "dlsched.algorithms.pd_ors"),
    Algorithm("fifo", "dmlrs", "dlsched.algorithms.baselines.dmlrs.fifo"),
    Algorithm("drf", "dmlrs", "dlsched.algorithms.baselines.dmlrs.drf"),
    Algorithm("dorm", "dmlrs", "dlsched.algorithms.baselines.dmlrs.dorm"),
    Algorithm("oasis", "dmlrs", "dlsched.algorithms.baselines.dmlrs.oasis"),
    Algorithm("gadget", "ddljs", "dlsched.algorithms.gadget"),
    Algorithm("fifo", "ddljs", "dlsched.algorithms.baselines.ddljs.fifo"),
    Algorithm("drf", "ddljs", "dlsched.algorithms.baselines.ddljs.drf"),
    Algorithm("las", "ddljs", "dlsched.algorithms.baselines.ddljs.las"),
)
"""Every algorithm that `dlsched run` knows."""


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


def algorithm(name: str, file: Path) -> tuple[Any, Any, Any]:
    """Return the problem package and the ``run`` of an algorithm for the instance in a file, and the file's JSON.

    The file is read only where several problems have an algorithm of that name, else its JSON is None.

    Raises
    ------
    InputError
        If there is no such algorithm, or several problems have one of that name and the file fits none of them.
    """
    choose("algorithm", name, dict.fromkeys(entry.name for entry in ALGORITHMS))
    entries = [entry for entry in ALGORITHMS if entry.name == name]
    entry, data = (entries[0], None) if len(entries) == 1 else _fitting(name, entries, file)
    return problem(entry.problem), importlib.import_module(entry.module).run, data


def _fitting(name: str, entries: list[Algorithm], file: Path) -> tuple[Algorithm, Any]:
    from dlsched.models.document import InputError, read_json

    data = read_json(file)
    fields = set(data) if isinstance(data, dict) else set()
    for entry in entries:
        known = problem(entry.problem).Instance.model_fields
        if fields <= set(known) and all(field in fields for field, info in known.items() if info.is_required()):
            return entry, data
    raise InputError(
        f"{file}: {name} runs on {' and '.join(e.problem for e in entries)}; this is an instance of neither"
    )
