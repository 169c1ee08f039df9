"""Packages that only some users install: `pip install 'dlsched[plot]'` and the like."""

from __future__ import annotations

import importlib
from typing import Any


class MissingExtra(ImportError):
    """What was asked for needs a package that is not installed; the message says, in one line, how to install it."""


def from_extra(extra: str, module: str, purpose: str) -> Any:
    """Import a module that an extra installs.

    Parameters
    ----------
    extra : str
        Its name, e.g. ``plot``.
    module : str
    purpose : str
        What needs which package, e.g. ``a plot needs matplotlib``.

    Raises
    ------
    MissingExtra
        If it is not installed.
    """
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError:
        raise MissingExtra(f"{purpose}: pip install 'dlsched[{extra}]'") from None
