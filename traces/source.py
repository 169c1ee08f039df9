"""Where something was read from, for all formats."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

from dlsched.models.files import PathLike


@dataclass(frozen=True, slots=True)
class Source:
    """Which file something was read from.

    Attributes
    ----------
    path : str
        As the user named it, for error messages.
    name : str
        Without the folders.
    sha256 : str
        Of its bytes, as hexadecimal digits.
    """

    path: str
    name: str
    sha256: str

    @classmethod
    def of(cls, path: PathLike, content: bytes) -> Source:
        """Return the source of what was read from a path."""
        return cls(str(path), Path(path).name, hashlib.sha256(content).hexdigest())
