"""The SMD problem: jobs reserve resources and split them into workers and parameter servers (Yu, Wu, Ji, Liu)."""

from dlsched.exports import attach

__getattr__, __dir__, __all__ = attach(__name__)
