"""What the papers compare with: one folder a problem, one file a scheduler.

>>> from dlsched.algorithms.baselines.smd import esw, optimus
>>> from dlsched.models import smd
>>> instance = smd.preset("random", 1, jobs=4)
>>> esw.run(instance).utility, optimus.run(instance).utility
(0.0, 22.0)
"""

from dlsched.exports import attach

__getattr__, __dir__, __all__ = attach(__name__)
