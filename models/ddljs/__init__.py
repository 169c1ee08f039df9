"""The DDLJS problem: jobs whose workers form rings over a network of servers (Yu et al., GADGET).

>>> from dlsched.models import build, ddljs, read, solve
>>> instance = ddljs.random(0)
>>> model = build("ddljs/offline-circulation", instance)
>>> _ = solve(model)
>>> schedule = read(model, instance)
>>> ddljs.check(instance, schedule), ddljs.utility(instance, schedule)
([], 11.0)
"""

from dlsched.exports import attach

__getattr__, __dir__, __all__ = attach(__name__)
