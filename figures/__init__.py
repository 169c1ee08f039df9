"""The papers' figures, measured: presets, paired draws, tables and pictures."""

from dlsched.exports import attach

__getattr__, __dir__, __all__ = attach(__name__)
