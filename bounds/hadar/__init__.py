"""Hadar's claims (Sultana et al.), printed, derived and corrected, and the instances they are checked on."""

from dlsched.bounds.hadar import abstract, competitive, modelling, motivation, prices

CLAIMS = (*modelling.CLAIMS, *competitive.CLAIMS, *prices.CLAIMS, *motivation.CLAIMS, *abstract.CLAIMS)
"""Every claim of the paper but Theorem 3 and its corollary, which are about HadarE."""
