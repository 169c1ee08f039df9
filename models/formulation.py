"""What a formulation is: one way to write a problem as a Pyomo model, announced by an entry of the catalog."""

from __future__ import annotations

import importlib
import logging
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType
from typing import Any

from dlsched.models.arguments import expect
from dlsched.models.halt import Halt, cut


class Kind(StrEnum):
    """What a formulation is to its problem."""

    EXACT = "exact"
    RELAXATION = "relaxation"
    AS_PRINTED = "as printed"


@dataclass(frozen=True, slots=True)
class Formulation:
    """One way to write a problem as a Pyomo model.

    Attributes
    ----------
    name : str
        ``problem/formulation``.
    problem : str
    title : str
        What it is, in a line.
    equations : tuple of str
        The paper's numbers that its components carry at the start of their ``doc``.
    kind : Kind
    builder : str
        ``module:function`` below `dlsched.models`; called with the instance and the data.
    data : mapping of str to str
        Extra arguments of the builder, with what is used where one is left out.
    disjunctive : bool
        Whether the model is a GDP, to be transformed with ``gdp.bigm`` or ``gdp.hull`` before it is solved.
    linear : bool
        Whether its rows and objective are linear; else a global solver is needed (``solver="scip"``).
    """

    name: str
    problem: str
    title: str
    equations: tuple[str, ...]
    kind: Kind
    builder: str
    data: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    disjunctive: bool = False
    linear: bool = True

    def build(self, instance: Any, **data: Any) -> Any:
        """Return the Pyomo model of an instance.

        Raises
        ------
        Halt
            If the work (`dlsched.models.halt`) is over before the model is built.
        TypeError
            If `data` has an argument that the formulation does not take, or the instance is of another problem.
        """
        unknown = sorted(set(data) - set(self.data))
        if unknown:
            raise TypeError(f"{self.name} takes {', '.join(self.data) or 'no data'}, not {', '.join(unknown)}")
        expect(self.name, instance, importlib.import_module(f"dlsched.models.{self.problem}").Instance)
        module, function = self.builder.split(":")
        builder = getattr(importlib.import_module(f"dlsched.models.{module}"), function)
        from pyomo.common.gc_manager import PauseGC

        logging.getLogger("pyomo.core").addFilter(_is_no_halt)
        with PauseGC():
            return cut(lambda: builder(instance, **data))


def _is_no_halt(record: logging.LogRecord) -> bool:
    """Tell what is worth a line: Pyomo writes one about whatever a rule raises."""
    return not isinstance(sys.exc_info()[1], Halt)
