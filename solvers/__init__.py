"""The one way to a solver: a model as arrays, their numbers made fit for a solver, and the solvers themselves."""

from dlsched.exports import attach

__getattr__, __dir__, __all__ = attach(__name__)
