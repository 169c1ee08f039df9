"""Hadar's claims (Sultana et al.), printed and corrected, and the instances they are checked on."""

from dlsched.bounds.hadar import competitive, complexity, equivalence, initial_dual, motivation, prices
from dlsched.bounds.hadar.sources import SOURCES as SOURCES

CLAIMS = (
    *complexity.CLAIMS,
    *competitive.CLAIMS,
    *initial_dual.CLAIMS,
    *prices.CLAIMS,
    *equivalence.CLAIMS,
    *motivation.CLAIMS,
)
"""Every claim of the paper but Theorem 3 and its corollary, which are about HadarE."""
