"""Schedulers that the Hadar paper compares with."""

from dlsched.exports import attach

__getattr__, __dir__, __all__ = attach(__name__)
