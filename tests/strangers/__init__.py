"""Ordinary Pyomo models, in the shapes that people write who never saw dlsched, each with an answer from elsewhere.

`linear`, `whole` and `beyond` hold the builders; next to each stands its answer, found without Pyomo and without
dlsched: by scipy from arrays, by networkx, by trying everything, or by hand.
"""

from .beyond import MODELS as BEYOND
from .linear import MODELS as LINEAR
from .whole import MODELS as WHOLE

STRANGERS = (*LINEAR, *WHOLE, *BEYOND)
