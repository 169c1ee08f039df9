"""SMD's claims (Yu, Wu, Ji, Liu), printed and corrected, and the instances they are checked on."""

from dlsched.bounds.smd import fractional, overall, rounding, selection, speed
from dlsched.bounds.smd.sources import SOURCES as SOURCES

CLAIMS = (*speed.CLAIMS, *fractional.CLAIMS, *rounding.CLAIMS, *overall.CLAIMS, *selection.CLAIMS)
"""Every claim of the paper."""
