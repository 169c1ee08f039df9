"""From a fractional point to an integral one, with exact probabilities."""

from dlsched.exports import attach

__getattr__, __dir__, __all__ = attach(__name__)
