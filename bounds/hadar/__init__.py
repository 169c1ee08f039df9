"""Hadar's claims (Sultana et al.), printed, derived and corrected, and the instances they are checked on."""

from dlsched.bounds.hadar import competitive, evaluation, modelling, motivation, physical, prices, reported, theorem_3

CLAIMS = (
    *modelling.CLAIMS,
    *competitive.CLAIMS,
    *prices.CLAIMS,
    *motivation.CLAIMS,
    *reported.CLAIMS,
    *evaluation.CLAIMS,
    *theorem_3.CLAIMS,
    *physical.CLAIMS,
)
"""Every claim of the paper."""
