"""Readers of public formats into instances."""

from dlsched.exports import attach

__getattr__, __dir__, __all__ = attach(__name__)
