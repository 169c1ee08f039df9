"""Exact certificates: an optimum proved over the rationals, and re-checked without a solver."""

from dlsched.exports import attach

__getattr__, __dir__, __all__ = attach(__name__)
