"""SMD (Yu, Wu, Ji, Liu): sums of ratios, randomized rounding and a knapsack, as printed and corrected.

>>> from dlsched.algorithms import smd
>>> from dlsched.models.smd import preset
>>> instance = preset("random", 1, jobs=4)
>>> smd.run(instance, seed=0).utility
22.0
>>> smd.run(instance, inner="exact", outer="exact").utility
22.0
"""

from dlsched.exports import attach

__getattr__, __dir__, __all__ = attach(__name__)
