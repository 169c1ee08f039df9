"""The exact method of DDLJS instances, and the program that its certificates are about.

What solves is imported when it is called: checking a certificate takes none of it.
"""

from __future__ import annotations

from dlsched.algorithms.algorithm import ExactMethod
from dlsched.algorithms.exact.ddljs.rationals import program
from dlsched.lazy import later

EXACT = ExactMethod(
    "exact",
    "ddljs",
    "slots one by one at prices of worker-slots, or all in one program",
    later("dlsched.algorithms.exact.ddljs.solver", "solve"),
    program=program,
    read=later("dlsched.algorithms.exact.ddljs.solver", "read_point"),
    beside=(later("dlsched.algorithms.exact.ddljs.solver", "solve", whole=True),),
)
