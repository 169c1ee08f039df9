"""A cluster over time: what a policy decides, what comes of it exactly, and what that is worth."""

from dlsched.exports import attach

__getattr__, __dir__, __all__ = attach(__name__)
