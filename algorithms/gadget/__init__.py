"""GADGET (Yu et al.) for the DDLJS problem: greedy slot after slot, rings by randomized rounding."""

from dlsched.exports import attach

__getattr__, __dir__, __all__ = attach(__name__)
