"""The papers' claims as things that run: does a claim hold on this instance, and if not, where is the witness."""

from dlsched.exports import attach

__getattr__, __dir__, __all__ = attach(__name__)
