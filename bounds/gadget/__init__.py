"""Claims of GADGET (Yu, Tian, Ji, Wu, Rajan, Liu), and the instances they are checked on."""

from dlsched.bounds.gadget import independence, modelling, temporal
from dlsched.bounds.gadget.families import FAMILIES

CLAIMS = (*temporal.CLAIMS, *independence.CLAIMS, *modelling.CLAIMS)
"""Every claim of the paper."""

SOURCES = FAMILIES
"""Every family of instances by its name."""
