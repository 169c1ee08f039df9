"""The certified optimum of DDLJS instances, and of the embedding problem of one slot."""

from dlsched.exports import attach

__getattr__, __dir__, __all__ = attach(__name__)
