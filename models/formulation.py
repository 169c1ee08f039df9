"""What a formulation is: one way to write a problem as a Pyomo model, and to read a schedule off the solved model."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType
from typing import Any, Generic, TypeVar

from dlsched.arguments import expect
from dlsched.halt import Halt, cut
from dlsched.models.document import Document

I = TypeVar("I", bound=Document)  # noqa: E741


class Kind(StrEnum):
    """What a formulation is to its problem."""

    EXACT = "exact"
    RELAXATION = "relaxation"
    AS_PRINTED = "as printed"
    SUBPROBLEM = "subproblem"


class UnreadableModel(ValueError):
    """A model that nothing can be read from; the message says what was expected."""


@dataclass(frozen=True, slots=True)
class Formulation(Generic[I]):
    """One way to write a problem as a Pyomo model.

    Attributes
    ----------
    name : str
        ``problem/formulation``.
    instance : type
        Of the instances that it is for.
    title : str
        What it is, in a line.
    equations : tuple of str
        The paper's numbers that its components carry at the start of their ``doc``.
    kind : Kind
    builder : callable
        ``(instance, **data) -> model``.
    reader : callable, optional
        ``(solved model, instance) -> schedule``; of a part of a problem, its piece of one. A relaxation has none.
    data : mapping of str to str
        Extra arguments of the builder, with what is used where one is left out.
    disjunctive : bool
        Whether the model is a GDP, to be transformed with ``gdp.bigm`` or ``gdp.hull`` before it is solved.
    linear : bool
        Whether its rows and objective are linear; else a global solver is needed (``solver="scip"``).
    """

    name: str
    instance: type[I]
    title: str
    equations: tuple[str, ...]
    kind: Kind
    builder: Callable[..., Any]
    reader: Callable[[Any, I], Any] | None = None
    data: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    disjunctive: bool = False
    linear: bool = True

    @property
    def problem(self) -> str:
        """Name of the problem."""
        return self.name.split("/")[0]

    def build(self, instance: I, **data: Any) -> Any:
        """Return the Pyomo model of an instance.

        Raises
        ------
        Halt
            If the work (`dlsched.halt`) is over before the model is built.
        TypeError
            If `data` has an argument that the formulation does not take, or the instance is of another problem.
        """
        unknown = sorted(set(data) - set(self.data))
        if unknown:
            raise TypeError(f"{self.name} takes {', '.join(self.data) or 'no data'}, not {', '.join(unknown)}")
        expect(self.name, instance, self.instance)
        from pyomo.common.gc_manager import PauseGC

        logging.getLogger("pyomo.core").addFilter(_is_no_halt)
        with PauseGC():
            model = cut(lambda: self.builder(instance, **data))
        model.built_as = _Built(self.name, instance.digest)
        return model

    def read(self, model: Any, instance: I) -> Any:
        """Return the schedule that a solved model stands for; of a part of a problem, its piece of one.

        Parameters
        ----------
        model : pyomo.environ.ConcreteModel
            As `build` returns it, also after ``gdp.bigm`` or ``gdp.hull``, with the values of a solution.
        instance : Instance
            What it was built from.

        Raises
        ------
        TypeError
            If the instance is of another problem.
        UnreadableModel
            If nothing can be read back from the formulation, or the model is of another one, of another instance, or
            not solved; a ValueError.
        """
        expect(self.name, instance, self.instance)
        if self.reader is None:
            raise UnreadableModel(f"{self.name} is a {self.kind}: its points are no schedules")
        built = getattr(model, "built_as", None)
        if not isinstance(built, _Built):
            raise UnreadableModel(f"{self.name}: expected a model that {self.name} has built")
        if built.name != self.name:
            raise UnreadableModel(f"{self.name}: expected a model of its own, not one of {built.name}")
        if built.digest != instance.digest:
            raise UnreadableModel(f"{self.name}: the model was built from another instance")
        _refuse_unsolved(self.name, model)
        return self.reader(model, instance)


@dataclass(frozen=True, slots=True)
class _Built:
    """Which formulation has built a model, and of which instance; it stays with copies of the model."""

    name: str
    digest: str


def _refuse_unsolved(name: str, model: Any) -> None:
    import pyomo.environ as pyo

    for variable in model.component_data_objects(pyo.Var, active=True, descend_into=(pyo.Block, *_disjunct())):
        if variable.value is None:
            raise UnreadableModel(f"{name}: the model has no solution ({variable.name} has no value): solve it first")


def _disjunct() -> tuple[type, ...]:
    from pyomo.gdp import Disjunct

    return (Disjunct,)


def _is_no_halt(record: logging.LogRecord) -> bool:
    """Tell what is worth a line: Pyomo writes one about whatever a rule raises."""
    return not isinstance(sys.exc_info()[1], Halt)
