"""Modules that are imported when something in them is first used, functions when they are called.

Pyomo takes most of a second to import. A module that defines formulations is imported whenever formulations are
listed, and needs Pyomo only once it builds one: ``from dlsched.lazy import pyo`` stands for ``import pyomo.environ as
pyo`` there.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from functools import partial
from types import ModuleType
from typing import TYPE_CHECKING, Any

__all__ = ["gdp", "later", "nx", "pyo", "sp", "without_statistics"]


class _Lazy(ModuleType):
    """Stands for a module; `importlib.util.LazyLoader` is not safe where two threads use it first."""

    def __getattr__(self, name: str) -> Any:
        if self.__name__.startswith("scipy"):
            without_statistics()
        value = getattr(importlib.import_module(self.__name__), name)
        setattr(self, name, value)
        return value


def later(module: str, name: str, **options: Any) -> Callable[..., Any]:
    """Return a function of a module that is imported when it is called; options are passed on."""
    return partial(_call, module, name, **options)


def _call(module: str, name: str, *args: Any, **kwargs: Any) -> Any:
    return getattr(importlib.import_module(module), name)(*args, **kwargs)


def without_statistics() -> None:
    """Let SciPy be imported without scipy.stats, which Pyomo (6.10.1) has imported with it: a second of each process.

    Nothing is missing: SciPy imports a part of it when the part is first used. Where it is imported already, nothing is
    gained.
    """
    if "scipy" not in sys.modules:
        from pyomo.common import dependencies

        if isinstance(dependencies.scipy_available, dependencies.DeferredImportIndicator):
            dependencies.scipy_available._callback = None


if TYPE_CHECKING:
    import networkx as nx
    import pyomo.environ as pyo
    import scipy.sparse as sp
    from pyomo import gdp
else:
    pyo = _Lazy("pyomo.environ")
    gdp = _Lazy("pyomo.gdp")
    nx = _Lazy("networkx")
    sp = _Lazy("scipy.sparse")
