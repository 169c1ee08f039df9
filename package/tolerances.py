"""The tolerance that all rooms share."""

TOLERANCE = 1e-6
"""Equality of objective values: ``|a - b| <= TOLERANCE * max(unit, |a|, |b|)``; the largest residual a point may have,
relative to the scale of its row."""
