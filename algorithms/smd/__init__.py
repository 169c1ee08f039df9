"""SMD (Yu, Wu, Ji, Liu): sums of ratios, randomized rounding and a knapsack, as printed and corrected."""

from dlsched.models._lazy import attach

__getattr__, __dir__, __all__ = attach(__name__)
