"""The certified optimum of SMD instances: each job's best point, and the knapsack over their reservations."""

from dlsched.exports import attach

__getattr__, __dir__, __all__ = attach(__name__)
