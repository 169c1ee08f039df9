"""PD-ORS (Yu, Liu, Wu, Ji, Bentley) for the DMLRS problem, journal and thesis: prices, responses, certificate."""

from dlsched.exports import attach

__getattr__, __dir__, __all__ = attach(__name__)
