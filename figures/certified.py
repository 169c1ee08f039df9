"""The certified optimum of a DMLRS instance, and an algorithm's ratio to it, as figures draw them."""

from __future__ import annotations

import math
import time

from dlsched.algorithms import optimum
from dlsched.models.dmlrs import Instance

_LONGEST = 600.0
"""Seconds of an optimum. Not as its limit, of which it would give each search for plans a share. Of 120 draws of
pd-ors/10, on few machines and with K of all epochs, one was seen to take over six minutes, all others at most one."""


def certified(instance: Instance) -> float:
    """Return the optimum; NaN where it is not proved after `_LONGEST` seconds."""
    end = time.perf_counter() + _LONGEST
    best = optimum(instance, stop=lambda: time.perf_counter() > end)
    return best.value if best.proved and best.value is not None else math.nan


def ratio(best: float, utility: float) -> float:
    """Return an optimum over a utility: infinite where that is 0, NaN where there is no optimum or nothing to gain."""
    if not best > 0:
        return math.nan
    return best / utility if utility else math.inf
