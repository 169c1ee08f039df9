"""The DMLRS problem: jobs of co-located workers and parameter servers (Yu et al., PD-ORS, and its thesis version)."""

from dlsched.exports import attach

__getattr__, __dir__, __all__ = attach(__name__)
