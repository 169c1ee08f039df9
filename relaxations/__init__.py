"""From a model to an easier model, and back.

Each transformation returns a frozen result that keeps to one contract, `Transformed`: ``.model``, a new Pyomo model,
and ``.recover``, which maps a point and duals of that model back to the source; the source is never changed. What a
transformation cannot do it refuses with a `TransformationRefused` that names the component, the reason and the remedy.
`dlsched.relaxations.conformance` checks all of this, on any transformation.

The transformations are also Pyomo's: ``TransformationFactory("dlsched.lp_relaxation")``, ``"dlsched.lift_bounds"``,
``"dlsched.lp_dual"`` and ``"dlsched.charnes_cooper"``, whether this room or ``pyomo.environ`` is imported first.
"""

from dlsched.exports import attach
from dlsched.relaxations.registration import register_with_pyomo

__getattr__, __dir__, __all__ = attach(__name__)
register_with_pyomo()
