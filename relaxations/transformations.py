"""The transformations under the names that Pyomo's ``TransformationFactory`` knows them by.

``create_using(model)`` returns the new model and leaves the source as it was; ``apply_to(model)`` changes the model
itself, where that makes sense; ``recover(new_model, ...)`` maps a point and duals back, as `Transformed.recover` does.

Every user of Pyomo who imports `dlsched.relaxations` pays for this module, so it imports what a transformation needs
when one is used.
"""

from __future__ import annotations

from typing import Any, ClassVar

import pyomo.environ as pyo
from pyomo.common.config import ConfigDict, ConfigValue

from dlsched import relaxations
from dlsched.errors import InputError


class _Transformation:
    """What the registered transformations share: options, and the result kept with the new model."""

    CONFIG = ConfigDict()
    function: ClassVar[str]
    """The name of the function in `dlsched.relaxations`."""

    def create_using(self, model: Any, **options: Any) -> Any:
        """Return the transformed model; the source is unchanged.

        Parameters
        ----------
        model : pyomo.environ.ConcreteModel
        **options
            As declared in `CONFIG`.

        Raises
        ------
        TransformationRefused
            If the transformation cannot do it; the message names the component, the reason and the remedy.
        """
        result = getattr(relaxations, self.function)(model, **self._options(options))
        result.model.private_data()["result"] = result
        return result.model

    def apply_to(self, model: Any, **options: Any) -> None:
        """Transform the model itself; parameters and errors as for `create_using`."""
        model.private_data()["result"] = self._in_place(model, **self._options(options))

    def recover(self, model: Any, x: Any = None, duals: Any = None, *, load: bool = False) -> relaxations.Point:
        """Map a point and duals of a transformed model to its source.

        Parameters
        ----------
        model : pyomo.environ.ConcreteModel
            What `create_using` returned, or `apply_to` changed.
        x, duals, load
            As for `Transformed.recover`.

        Raises
        ------
        InputError
            If the model does not come from this module.
        """
        result = model.private_data().get("result")
        if result is None:
            raise InputError(f"'{model.name}' does not come from a dlsched transformation")
        point: relaxations.Point = result.recover(x, duals, load=load)
        return point

    def _options(self, given: dict[str, Any]) -> dict[str, Any]:
        config = self.CONFIG(given.pop("options", {}))
        config.set_value(given)
        return dict(config.items())

    def _in_place(self, model: Any, **options: Any) -> Any:
        """Transform the model itself, and return the result."""
        raise relaxations.TransformationRefused(
            f"'{model.name}' cannot be changed in place, since its variables would no longer be its points: "
            "use create_using"
        )


@pyo.TransformationFactory.register("dlsched.lp_relaxation", doc="Continuous relaxation: integer domains become real")
class LpRelaxation(_Transformation):
    """`dlsched.relaxations.relax` as a Pyomo transformation; no options."""

    function = "relax"

    def _in_place(self, model: Any, **options: Any) -> relaxations.Relaxation:
        from dlsched.relaxations.lp import check_relaxable, relax_in_place
        from dlsched.relaxations.tree import identity

        check_relaxable(model)
        return relaxations.Relaxation(model, model, relax_in_place(model), identity(model))


@pyo.TransformationFactory.register("dlsched.lift_bounds", doc="Variable bounds, signs and fixings become rows")
class LiftBounds(_Transformation):
    """`dlsched.relaxations.lift_bounds` as a Pyomo transformation."""

    CONFIG = ConfigDict("dlsched.lift_bounds")
    CONFIG.declare(
        "objective_constant",
        ConfigValue(
            default=True,
            domain=bool,
            description="Carry the objective's constant on a variable that a row keeps at 1",
        ),
    )
    function = "lift_bounds"

    def _in_place(self, model: Any, **options: Any) -> relaxations.LiftedBounds:
        from dlsched.relaxations.lifting import check_liftable, lift_in_place
        from dlsched.relaxations.tree import identity

        check_liftable(model)
        to_source = identity(model)
        return relaxations.LiftedBounds(model, model, to_source, lift_in_place(model, **options))


@pyo.TransformationFactory.register("dlsched.lp_dual", doc="Dual of a linear program, named like its source")
class LpDual(_Transformation):
    """`dlsched.relaxations.dual` as a Pyomo transformation; no options, and no `apply_to`."""

    function = "dual"


@pyo.TransformationFactory.register("dlsched.charnes_cooper", doc="Linear program of a linear-fractional one")
class CharnesCooperTransformation(_Transformation):
    """`dlsched.relaxations.charnes_cooper` as a Pyomo transformation; no options, and no `apply_to`."""

    function = "charnes_cooper"


pyo.Block.register_private_data_initializer(dict)
