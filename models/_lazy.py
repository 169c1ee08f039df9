"""Lazy exports of a package: a name is imported when it is first asked for, so that importing a room stays fast."""

from __future__ import annotations

import ast
import importlib
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any


def attach(package: str) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """Return the ``__getattr__``, ``__dir__`` and ``__all__`` of a package whose exports its ``__init__.pyi`` lists.

    The stub is what type checkers and editors read; taking the names from it leaves one list to keep. A function may
    share its module's name (`solve`): importing the submodule would bind the module in the package, so the package
    keeps the function instead, in whatever order things are imported.

    Parameters
    ----------
    package : str
        The package's ``__name__``.
    """
    this = sys.modules[package]
    exports = _stub(Path(str(this.__file__)).with_suffix(".pyi"))

    def resolve(name: str) -> Any:
        if name not in exports:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        module = importlib.import_module(f"{package}.{exports[name] or name}")
        value = getattr(module, name) if exports[name] else module
        setattr(this, name, value)
        return value

    def names() -> list[str]:
        return sorted({*exports, *(name for name in vars(this) if name.startswith("__"))})

    this.__class__ = _preferring({name for name, submodule in exports.items() if name == submodule})
    return resolve, names, sorted(exports)


def _stub(path: Path) -> dict[str, str]:
    """Return public name to submodule, ``""`` where the name is itself a submodule."""
    statements = ast.parse(path.read_text(encoding="utf-8")).body
    imports = [node for node in statements if isinstance(node, ast.ImportFrom) and node.level == 1]
    return {alias.asname or alias.name: node.module or "" for node in imports for alias in node.names}


def _preferring(homonyms: set[str]) -> type[ModuleType]:
    class _Package(ModuleType):
        def __setattr__(self, name: str, value: Any) -> None:
            if name in homonyms and isinstance(value, ModuleType):
                value = getattr(value, name, value)
            super().__setattr__(name, value)

    return _Package
