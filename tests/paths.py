"""Where the tests find things."""

from __future__ import annotations

import tomllib
from pathlib import Path

TESTS = Path(__file__).resolve().parent
ROOT = TESTS.parent
GOLDEN = TESTS / "golden"
DATA = TESTS / "data"

_PACKAGES = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["setuptools"]["packages"]
ROOMS = ("package", *sorted({name.split(".")[1] for name in _PACKAGES if "." in name}))
"""The folders of the sources."""
