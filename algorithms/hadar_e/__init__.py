"""HadarE (Sultana et al., Section V): every job is forked into copies that train on several nodes at the same time.

>>> from dlsched.algorithms import hadar_e
>>> instance = hadar_e.figure_6()
>>> hadar = hadar_e.run(instance, copies=1)
>>> forked = hadar_e.run(instance)
>>> hadar_e.completions(instance, hadar.schedule)
{'J1': 3, 'J2': 4, 'J3': 8}
>>> hadar_e.completions(instance, forked.schedule)
{'J1': 1, 'J2': 2, 'J3': 4}
"""

from dlsched.exports import attach

__getattr__, __dir__, __all__ = attach(__name__)
