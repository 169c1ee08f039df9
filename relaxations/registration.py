"""Pyomo's registry of transformations learns of ours as soon as there is one, whoever is imported first.

Pyomo has no hook for the plugins of other packages, and importing it takes far longer than importing a package whose
names are lazy. So where Pyomo is not there yet, nothing is imported, and Pyomo's own import ends with the registration.
"""

from __future__ import annotations

import importlib
import sys
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType
from typing import Any

_PYOMO = "pyomo.environ"


def register_with_pyomo() -> None:
    """Register the transformations now, or once ``pyomo.environ`` has been imported."""
    if _PYOMO in sys.modules:
        _register()
    else:
        sys.meta_path.insert(0, _Follower())


def _register() -> None:
    importlib.import_module("dlsched.relaxations.transformations")


class _Follower(MetaPathFinder):
    """Finds ``pyomo.environ`` as anybody would, and registers after it has run."""

    def find_spec(self, name: str, path: Any = None, target: ModuleType | None = None) -> ModuleSpec | None:
        spec = PathFinder.find_spec(name, path, target) if name == _PYOMO else None
        if spec is None or spec.loader is None:
            return None
        loader = spec.loader

        def run_and_register(module: ModuleType) -> None:
            del loader.exec_module
            loader.exec_module(module)
            if self in sys.meta_path:
                sys.meta_path.remove(self)
            _register()

        loader.exec_module = run_and_register  # type: ignore[method-assign]
        return spec
