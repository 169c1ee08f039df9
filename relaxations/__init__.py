"""From a model to an easier model, and back.

Each transformation returns a frozen result with ``.model``, a new Pyomo model, and ``.recover``, which maps a point and
duals of that model back to the source; the source is never changed. What a transformation cannot do it refuses with a
`TransformationRefused` that names the component.

The transformations are also Pyomo's: ``TransformationFactory("dlsched.lp_relaxation")``, ``"dlsched.lift_bounds"``,
``"dlsched.lp_dual"`` and ``"dlsched.charnes_cooper"``. Pyomo has no plugin hook for other packages and this room does
not import Pyomo until something is asked of it, so they are registered by ``import dlsched.relaxations`` after
``import pyomo.environ``, or as soon as a name of this room is used.
"""

import importlib
import sys
from typing import Any

from dlsched.models._lazy import attach

_resolve, __dir__, __all__ = attach(__name__)


def __getattr__(name: str) -> Any:
    if name in __all__:
        importlib.import_module(f"{__name__}.transformations")
    return _resolve(name)


if "pyomo.environ" in sys.modules:
    importlib.import_module(f"{__name__}.transformations")
