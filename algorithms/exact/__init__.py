"""Certified optima: one package a problem, and the certification that all share."""

from dlsched.exports import attach

__getattr__, __dir__, __all__ = attach(__name__)
