"""Claims of GADGET (Yu, Tian, Ji, Wu, Rajan, Liu), and the instances they are checked on."""

from dlsched.bounds.gadget import independence, load, modelling, overall, overload, temporal
from dlsched.bounds.gadget.families import FAMILIES

CLAIMS = (*temporal.CLAIMS, *independence.CLAIMS, *modelling.CLAIMS, *overload.CLAIMS, *overall.CLAIMS)
"""Every claim of the paper."""

SOURCES = {**FAMILIES, **load.SOURCES}
"""Every family of instances by its name."""
