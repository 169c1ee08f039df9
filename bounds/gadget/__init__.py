"""Claims of GADGET (Yu, Tian, Ji, Wu, Rajan, Liu), and the instances they are checked on."""

from dlsched.bounds.gadget import (
    evaluation,
    independence,
    load,
    lottery,
    modelling,
    overall,
    overload,
    relaxed,
    retries,
    sizes,
    temporal,
)
from dlsched.bounds.gadget.families import FAMILIES

CLAIMS = (
    *temporal.CLAIMS,
    *independence.CLAIMS,
    *modelling.CLAIMS,
    *sizes.CLAIMS,
    *relaxed.CLAIMS,
    *lottery.CLAIMS,
    *retries.CLAIMS,
    *overload.CLAIMS,
    *overall.CLAIMS,
    *evaluation.CLAIMS,
)
"""Every claim of the paper."""

SOURCES = {**FAMILIES, **load.SOURCES}
"""Every family of instances by its name."""
