"""PD-ORS (Yu, Liu, Wu, Ji, Bentley) for the DMLRS problem, journal and thesis: prices, responses, certificate.

>>> from dlsched.algorithms import pd_ors
>>> from dlsched.models import dmlrs
>>> instance = dmlrs.random(0)
>>> run = pd_ors.run(instance, seed=0)
>>> run.utility, [event.job for event in run.log if event.admitted]
(12.0, ['job3'])
>>> run.utility <= pd_ors.certificate(instance, run).bound
True
"""

from dlsched.exports import attach

__getattr__, __dir__, __all__ = attach(__name__)
