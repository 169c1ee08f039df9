"""GADGET (Yu, Tian, Ji, Wu, Rajan, Liu) for the DDLJS problem: a greedy slot after slot, rings by randomized rounding."""

from dlsched.models._lazy import attach

__getattr__, __dir__, __all__ = attach(__name__)
