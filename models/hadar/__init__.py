"""The Hadar problem: gang-scheduled jobs on machines with several device types (Sultana et al., P1 to P3)."""

from dlsched.exports import attach

__getattr__, __dir__, __all__ = attach(__name__)
