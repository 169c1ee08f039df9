"""The certified optimum of Hadar instances: column generation, cuts, branching, and a replay of the whole proof."""

from dlsched.exports import attach

__getattr__, __dir__, __all__ = attach(__name__)
