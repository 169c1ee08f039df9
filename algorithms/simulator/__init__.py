"""A cluster over time: what a policy decides, what comes of it exactly, and what that is worth.

>>> from dlsched.algorithms import simulator
>>> from dlsched.algorithms.baselines.hadar.srtf import Srtf
>>> from dlsched.models import hadar
>>> simulation = simulator.simulate(hadar.random(0), Srtf(), round_seconds=None)
>>> {job: float(end) for job, end in simulation.completions.items()}
{'job3': 2.125, 'job2': 2.1666666666666665}
>>> measured = simulator.metrics(simulation)
>>> measured.done, float(measured.utility)
(2, 34.0)
"""

from dlsched.exports import attach

__getattr__, __dir__, __all__ = attach(__name__)
