"""The Hadar problem: gang-scheduled jobs on machines with several device types (Sultana et al., P1 to P3).

>>> from dlsched.models import build, hadar, read, solve
>>> instance = hadar.preset("benchmark", 1, jobs=3, machines=2, types=2, slots=4)
>>> model = build("hadar/hall", instance)
>>> _ = solve(model)
>>> schedule = read(model, instance)
>>> hadar.check(instance, schedule), hadar.completions(instance, schedule)
([], {'job1': 3, 'job2': 1, 'job3': 2})
"""

from dlsched.exports import attach

__getattr__, __dir__, __all__ = attach(__name__)
