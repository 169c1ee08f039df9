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

    The stub is what type checkers and editors read; taking the names from it leaves one list to keep. The package also
    gets a class of its own, as Python's data model provides for: a function may share its module's name (`solve`), and
    an algorithm's package may be taken for its ``run``.

    Parameters
    ----------
    package : str
        The package's ``__name__``.
    """
    this = sys.modules[package]
    exports = _stub(package, Path(str(this.__file__)).with_suffix(".pyi"))

    def resolve(name: str) -> Any:
        if name not in exports:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        module = importlib.import_module(exports[name] or f"{package}.{name}")
        if not exports[name] and type(module) is ModuleType:
            module.__class__ = _Module
        value = getattr(module, name) if exports[name] else module
        setattr(this, name, value)
        return value

    def names() -> list[str]:
        return sorted({*exports, *(name for name in vars(this) if name.startswith("__"))})

    vars(this)["_exports"] = exports
    this.__class__ = _Package
    return resolve, names, sorted(exports)


def _stub(package: str, path: Path) -> dict[str, str]:
    """Return public name to the module that holds it, ``""`` where the name is itself a submodule.

    A room also exports names of rooms to its left: the stub imports those from ``dlsched``, the others relatively.
    """
    found: dict[str, str] = {}
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ImportFrom) and (node.level == 1 or (node.module or "").startswith("dlsched.")):
            home = f"{package}.{node.module}" if node.level and node.module else node.module or ""
            found |= {alias.asname or alias.name: home for alias in node.names}
    return found


class _Module(ModuleType):
    """A module that names the function to call where it is called itself."""

    def __call__(self, *args: object, **kwargs: object) -> Any:
        remedy = f": call {self.__name__}.run(instance)" if hasattr(self, "run") else ""
        raise TypeError(f"{self.__name__} is a module{remedy}")


class _Package(_Module):
    """A package whose functions stay what it exports when the modules of the same name are imported."""

    def __setattr__(self, name: str, value: Any) -> None:
        home = vars(self)["_exports"].get(name) if isinstance(value, ModuleType) else None
        if home == f"{self.__name__}.{name}":
            value = getattr(value, name, value)
        elif home:
            # The function is another module's, which may not be there yet; whoever asks for it gets it.
            return
        super().__setattr__(name, value)
