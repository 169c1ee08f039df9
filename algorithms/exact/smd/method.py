"""The exact method of SMD instances, and the program that its certificates are about.

What solves is imported when it is called: checking a certificate takes none of it.
"""

from __future__ import annotations

from dlsched.algorithms.algorithm import ExactMethod
from dlsched.algorithms.exact.smd.rationals import program
from dlsched.lazy import later

EXACT = ExactMethod(
    "exact",
    "smd",
    "each job by itself in rationals, then a knapsack",
    later("dlsched.algorithms.exact.smd.solver", "solve"),
    own_unit=False,
    program=program,
)
