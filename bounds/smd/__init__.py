"""SMD's claims (Yu, Wu, Ji, Liu), printed and corrected, and the instances they are checked on."""

from dlsched.bounds.smd import inner, overall, selection, speed

CLAIMS = (*speed.CLAIMS, *inner.CLAIMS, *overall.CLAIMS, *selection.CLAIMS)
"""Every claim of the paper."""
