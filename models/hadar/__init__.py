"""The Hadar problem: gang-scheduled jobs on machines with several device types (Sultana et al., P1 to P3)."""

from dlsched.models._lazy import attach

__getattr__, __dir__, __all__ = attach(__name__)
