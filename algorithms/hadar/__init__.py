"""Hadar (Sultana et al.): the primal-dual of its analysis, and Algorithms 1 and 2, as printed and corrected.

>>> from dlsched.algorithms import hadar
>>> from dlsched.models.hadar import random
>>> instance = random(0)
>>> run = hadar.run(instance)
>>> run.utility
34.0
>>> run.utility <= hadar.dual_value(instance, run)
True
"""

from dlsched.exports import attach

__getattr__, __dir__, __all__ = attach(__name__)
