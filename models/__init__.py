"""What the papers state: instances, formulations, schedules; solve and inspect them."""

from dlsched.exports import attach

__getattr__, __dir__, __all__ = attach(__name__)
