"""What there is: problems, algorithms, claims, readers and figures of all that is installed, and of plug-ins.

A distribution names what it adds as entry points of its ``pyproject.toml``, in the groups of `GROUPS`; this package
names its own in the same way. An entry is an object, several, or a function that returns them, and is imported when
something of its group is first asked for. What cannot be used is told in one line and hides nothing else. A module that
is not installed is named with `load`, or in the environment variable `VARIABLE`.
"""

from __future__ import annotations

import importlib
import os
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass
from functools import cache, partial
from importlib import metadata
from types import MappingProxyType, ModuleType
from typing import Any, Generic, TypeVar

from dlsched.arguments import named
from dlsched.errors import InputError
from dlsched.models.document import Document

T = TypeVar("T")

INTERFACE = 1
"""Version of what plug-ins rely on; a plug-in's modules may say for which they are written, as `DLSCHED_INTERFACE`."""

VARIABLE = "DLSCHED_PLUGINS"
"""Environment variable with modules to load, separated by commas."""

GROUPS = MappingProxyType({name: name.upper() for name in ("problems", "algorithms", "claims", "readers", "figures")})
"""Groups of entry points, without ``dlsched.``, and the names under which a module that is loaded has such objects."""

_OWN = "dlsched"


class PluginWarning(UserWarning):
    """A plug-in, or an entry of one, is left out; the message says which and why.

    Examples
    --------
    >>> import warnings
    >>> from dlsched.plugins import PluginWarning
    >>> from dlsched.traces import readers
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("error", PluginWarning)  # a reader that cannot be used ends the program
    ...     names = [entry.name for entry in readers()]
    >>> "csv" in names
    True
    """


@dataclass(frozen=True, slots=True)
class Entry:
    """Something that a distribution or a module adds to a group.

    Attributes
    ----------
    name : str
    origin : str
        What to call it in a message.
    module : str
        That is imported for it.
    load : callable
        Returns what it names.
    own : bool
        Whether it is this package's.
    """

    name: str
    origin: str
    module: str
    load: Callable[[], Any]
    own: bool = False


class Registry(Generic[T]):
    """The objects of one group by name.

    Parameters
    ----------
    group : str
        A key of `GROUPS`.
    kind : type
        Of its objects.
    key : callable
        The name of an object, which is unique.
    order : callable, optional
        What objects are sorted by; else they stand as they come.
    parts : callable, optional
        What an object brings along, by name: two objects may share a part, but not have two parts of one name.
    """

    def __init__(
        self,
        group: str,
        kind: type[T],
        key: Callable[[T], str],
        order: Callable[[T], Any] | None = None,
        parts: Callable[[T], Mapping[str, object]] = lambda item: {},
    ) -> None:
        self._group, self._kind, self._key, self._order, self._parts = group, kind, key, order, parts
        self._known: dict[str, dict[str, T]] = {}
        self._loaded = 0

    def all(self) -> dict[str, T]:
        """Return every object by name, in a fixed order: this package's own, then others', if they are not sorted."""
        return self.some("")

    def some(self, ending: str) -> dict[str, T]:
        """Return objects by name: of this package's own only those of entries whose names end so, and all of others'.

        Nothing is imported for the rest of its own.
        """
        modules = _modules()
        if self._loaded != len(modules):
            self._loaded, self._known = len(modules), {}
        if ending not in self._known:
            among = (entry for entry in entries(self._group) if not entry.own or entry.name.endswith(ending))
            self._known[ending] = self._known.get("") or self._gathered(among)
        return self._known[ending]

    def get(self, name: str) -> T:
        """Return the object of a name.

        Raises
        ------
        InputError
            If there is none; the message lists the names there are.
        """
        return self.some(name.replace("/", "-")).get(name) or named(self._group.removesuffix("s"), name, self.all())

    def _gathered(self, among: Iterable[Entry]) -> dict[str, T]:
        found: dict[str, T] = {}
        origins: dict[str, str] = {}
        parts: dict[str, object] = {}
        what = self._group.removesuffix("s")
        for entry in among:
            for item, name, own in self._items(entry):
                taken = [part for part, value in own.items() if parts.get(part, value) != value]
                if name in found and found[name] is not item:
                    _leave_out(f"{entry.origin}: {what} {name!r} is there from {origins[name]}")
                elif taken:
                    _leave_out(
                        f"{entry.origin}: {what} {name!r} has a {taken[0]!r} that is not the one of another {what}"
                    )
                else:
                    found[name], origins[name] = item, entry.origin
                    parts |= own
        if self._order is None:
            return found
        return {self._key(item): item for item in sorted(found.values(), key=self._order)}

    def _items(self, entry: Entry) -> Iterator[tuple[T, str, Mapping[str, object]]]:
        """Yield the objects of an entry, with their names and parts; what is none is left out."""
        try:
            value = entry.load()
            written_for = getattr(sys.modules.get(entry.module), "DLSCHED_INTERFACE", INTERFACE)
            if written_for != INTERFACE:
                _leave_out(f"{entry.origin}: is written for interface {written_for!r} of dlsched; this is {INTERFACE}")
                return
            if not isinstance(value, self._kind) and callable(value):
                value = value()
            listed = list(value) if isinstance(value, Iterable) and not isinstance(value, str) else [value]
        except (Exception, SystemExit) as error:
            _leave_out(f"{entry.origin}: {type(error).__name__}: {error}")
            return
        for item in listed:
            if not isinstance(item, self._kind):
                _leave_out(f"{entry.origin}: expected a {self._kind.__name__}, not {type(item).__name__}")
                continue
            try:
                title: object = self._key(item)
                own = self._parts(item)
            except Exception as error:
                _leave_out(f"{entry.origin}: a {self._kind.__name__}: {type(error).__name__}: {error}")
                continue
            if not isinstance(title, str):
                _leave_out(f"{entry.origin}: a {self._kind.__name__} is named {title!r}, which is no string")
            elif wrong := _wrong_field(item):
                _leave_out(f"{entry.origin}: {type(item).__name__} {title!r}: {wrong}")
            else:
                yield item, title, own


def _wrong_field(item: Any) -> str:
    """Return which text, function or document of an object is none: any command may stumble over it; else nothing."""
    for own in fields(item) if is_dataclass(item) else ():
        value, kind = getattr(item, own.name), str(own.type)
        if kind == "str" and not isinstance(value, str):
            return f"{own.name} is {value!r}, which is no string"
        optional = kind.endswith("| None") and value is None
        if kind.startswith("Callable") and not optional and not callable(value):
            return f"{own.name} is {value!r}, which cannot be called"
        if kind.startswith("type[") and not optional and not (isinstance(value, type) and issubclass(value, Document)):
            return f"{own.name} is {value!r}, which is no class of documents"
    return ""


def entries(group: str) -> list[Entry]:
    """Return what is added to a group: by this package, by other distributions, by modules that were loaded."""
    attribute = GROUPS[group]
    modules = [
        Entry(module.__name__, f"module {module.__name__}", module.__name__, partial(getattr, module, attribute))
        for module in _modules()
        if hasattr(module, attribute)
    ]
    return [*_installed(group), *modules]


@cache
def _installed(group: str) -> list[Entry]:
    """Return the entries of installed distributions, this package's own first."""
    found = []
    for point in metadata.entry_points(group=f"{_OWN}.{group}"):
        distribution = point.dist.name if point.dist is not None else "?"
        origin = f"{distribution}, entry point {point.name!r}"
        found.append(Entry(point.name, origin, point.module, point.load, distribution == _OWN))
    if group == "problems" and not any(entry.own for entry in found):
        raise RuntimeError("dlsched is not installed as a distribution: its entry points are missing")
    return sorted(found, key=lambda entry: (not entry.own, "" if entry.own else entry.origin))


def foreign() -> tuple[str, ...]:
    """Return the top-level modules that are not this package's and add something to any group."""
    found = {entry.module.split(".")[0] for group in GROUPS for entry in entries(group)}
    return tuple(sorted(found - {_OWN}))


def load(name: str) -> ModuleType:
    r"""Import a module that is not installed as a distribution, and add what it has.

    Parameters
    ----------
    name : str
        As Python imports it, also from the current folder. The module has one or more of PROBLEMS, ALGORITHMS, CLAIMS,
        READERS and FIGURES: an object, several, or a function that returns them.

    Raises
    ------
    InputError
        If it cannot be imported, or adds nothing.

    Examples
    --------
    >>> from pathlib import Path
    >>> from dlsched.plugins import load
    >>> _ = Path("half_a_plugin.py").write_text("SPEED = 2\n")
    >>> load("half_a_plugin")
    Traceback (most recent call last):
        ...
    dlsched.errors.InputError: plug-in half_a_plugin: adds nothing; expected one of PROBLEMS, ALGORITHMS...
    """
    try:
        module = _imported(name)
    except (Exception, SystemExit) as error:
        raise InputError(f"plug-in {name}: {type(error).__name__}: {error}") from None
    if not any(hasattr(module, attribute) for attribute in GROUPS.values()):
        raise InputError(f"plug-in {name}: adds nothing; expected one of {', '.join(GROUPS.values())}")
    if module not in _LOADED:
        _LOADED.append(module)
    return module


def loaded() -> tuple[str, ...]:
    """Return the names of the modules that were loaded: worker processes load the same.

    Examples
    --------
    >>> from dlsched.plugins import loaded
    >>> "my_paper" in loaded()
    False
    """
    return tuple(module.__name__ for module in _LOADED)


_LOADED: list[ModuleType] = []
_TOLD: set[str] = set()


def _imported(name: str) -> ModuleType:
    if "" in sys.path or os.getcwd() in sys.path:
        return importlib.import_module(name)
    # A script finds modules in its own folder only; whoever names one means the current folder.
    sys.path.append(os.getcwd())
    try:
        return importlib.import_module(name)
    finally:
        sys.path.remove(os.getcwd())


def _modules() -> list[ModuleType]:
    """Return the modules that were loaded, those that the environment names too; tell which of these cannot be."""
    for name in filter(None, os.environ.get(VARIABLE, "").split(",")):
        if name not in loaded() and name not in _TOLD:
            try:
                load(name)
            except InputError as error:
                _TOLD.add(name)
                _leave_out(str(error))
    return _LOADED


def _leave_out(message: str) -> None:
    line = " ".join(message.split())
    if line not in _TOLD:
        _TOLD.add(line)
        warnings.warn(f"{line}; it is left out", PluginWarning, stacklevel=2)
