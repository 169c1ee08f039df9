"""The certified optimum of DMLRS instances."""

from dlsched.exports import attach

__getattr__, __dir__, __all__ = attach(__name__)
