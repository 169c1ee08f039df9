"""What the readers of all formats share: where something was read from, and values in error messages."""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass
from pathlib import Path

PathLike = str | os.PathLike[str]


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
    def of(cls, path: PathLike) -> Source:
        """Return the source of a file that can be read."""
        return cls(str(path), Path(path).name, hashlib.sha256(Path(path).read_bytes()).hexdigest())


def shown(value: object) -> str:
    """Return a value as an error message shows it, cut to 60 characters."""
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."
