"""SMD's claims (Yu, Wu, Ji, Liu), printed, derived and corrected, and the instances they are checked on."""

from dlsched.bounds.smd import figures, inner, omega, overall, selection, speed

CLAIMS = (*speed.CLAIMS, *inner.CLAIMS, *omega.CLAIMS, *overall.CLAIMS, *selection.CLAIMS, *figures.CLAIMS)
"""Every claim of the paper."""
