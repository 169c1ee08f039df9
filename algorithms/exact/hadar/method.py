"""The exact method of Hadar instances, and the program that its certificates are about.

What solves is imported when it is called: checking a certificate takes none of it.
"""

from __future__ import annotations

from dlsched.algorithms.algorithm import ExactMethod
from dlsched.algorithms.exact.hadar.rationals import program
from dlsched.lazy import later

EXACT = ExactMethod(
    "exact",
    "hadar",
    "a tree over completion slots, certified by replay",
    later("dlsched.algorithms.exact.hadar.solver", "solve"),
    program=program,
    # A schedule that is found there closes nodes here.
    searches=(later("dlsched.algorithms.exact.hadar.solver", "improve", seed=1),),
)
