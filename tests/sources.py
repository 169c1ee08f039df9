"""The instance sources that claims name, by name."""

from __future__ import annotations

from dlsched.bounds import claims

SOURCES = {source.name: source for claim in claims() for source in claim.sources}
