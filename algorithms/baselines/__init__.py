"""What the papers compare with: one folder a problem, one file a scheduler."""

from dlsched.exports import attach

__getattr__, __dir__, __all__ = attach(__name__)
