"""GADGET (Yu et al.) for the DDLJS problem: greedy slot after slot, rings by randomized rounding.

>>> from dlsched.algorithms import gadget
>>> from dlsched.models import ddljs
>>> instance = ddljs.random(0)
>>> drawn = gadget.run(instance, seed=1)
>>> best = gadget.run(instance, embedding="exact")
>>> drawn.utility, best.utility, ddljs.check(instance, best.schedule)
(11.0, 11.0, [])
"""

from dlsched.exports import attach

__getattr__, __dir__, __all__ = attach(__name__)
