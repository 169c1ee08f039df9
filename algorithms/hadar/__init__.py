"""Hadar (Sultana et al.): the primal-dual of its analysis, and Algorithms 1 and 2, as printed and corrected."""

from dlsched.exports import attach

__getattr__, __dir__, __all__ = attach(__name__)
