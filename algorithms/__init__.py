"""Certified optima, the papers' algorithms and their baselines: from an instance to a checked schedule."""

from dlsched.exports import attach

__getattr__, __dir__, __all__ = attach(__name__)
