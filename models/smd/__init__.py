"""The SMD problem: jobs reserve resources and split them into workers and parameter servers (Yu, Wu, Ji, Liu).

>>> from dlsched.models import build, read, smd, solve
>>> instance = smd.random(0)
>>> model = build("smd/milp", instance)
>>> _ = solve(model)
>>> schedule = read(model, instance)
>>> smd.check(instance, schedule), smd.utility(instance, schedule)
([], 27.0)
"""

from dlsched.exports import attach

__getattr__, __dir__, __all__ = attach(__name__)
