"""HadarE (Sultana et al., Section V): every job is forked into copies that train on several nodes at the same time."""

from dlsched.exports import attach

__getattr__, __dir__, __all__ = attach(__name__)
