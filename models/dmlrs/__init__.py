"""The DMLRS problem: jobs of co-located workers and parameter servers (Yu et al., PD-ORS, and its thesis version).

>>> from dlsched.models import build, dmlrs, read, solve
>>> instance = dmlrs.random(0)
>>> model = build("dmlrs/compact-milp", instance)
>>> _ = solve(model)
>>> schedule = read(model, instance)
>>> dmlrs.check(instance, schedule), dmlrs.utility(instance, schedule)
([], 12.0)
"""

from dlsched.exports import attach

__getattr__, __dir__, __all__ = attach(__name__)
