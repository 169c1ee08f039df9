"""The exact method of DMLRS instances, and the program that its certificates are about.

What solves is imported when it is called: checking a certificate takes none of it.
"""

from __future__ import annotations

from dlsched.algorithms.algorithm import ExactMethod
from dlsched.algorithms.exact.dmlrs.rationals import program, read
from dlsched.lazy import later

EXACT = ExactMethod(
    "exact",
    "dmlrs",
    "branch and price over schedules",
    later("dlsched.algorithms.exact.dmlrs.solver", "solve"),
    program=program,
    read=read,
    # A schedule that is found there closes nodes here.
    searches=(later("dlsched.algorithms.exact.dmlrs.solver", "improve", seed=1),),
)
