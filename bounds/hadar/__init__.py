"""Hadar's claims (Sultana et al.), printed, derived and corrected, and the instances they are checked on."""

from dlsched.bounds.hadar import (
    abstract,
    competitive,
    evaluation,
    modelling,
    motivation,
    physical,
    prices,
    ratios,
    theorem_3,
)

CLAIMS = (
    *modelling.CLAIMS,
    *competitive.CLAIMS,
    *prices.CLAIMS,
    *motivation.CLAIMS,
    *abstract.CLAIMS,
    *ratios.CLAIMS,
    *evaluation.CLAIMS,
    *theorem_3.CLAIMS,
    *physical.CLAIMS,
)
"""Every claim of the paper."""
