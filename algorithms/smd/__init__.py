"""SMD (Yu, Wu, Ji, Liu): sums of ratios, randomized rounding and a knapsack, as printed and corrected."""

from dlsched.exports import attach

__getattr__, __dir__, __all__ = attach(__name__)
