"""The catalog of formulations: tests, benchmarks, the command line and the documentation iterate it."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType
from typing import Any


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
        TypeError
            If `data` has an argument that the formulation does not take, or the instance is of another problem.
        """
        unknown = sorted(set(data) - set(self.data))
        if unknown:
            raise TypeError(f"{self.name} takes {', '.join(self.data) or 'no data'}, not {', '.join(unknown)}")
        expected = importlib.import_module(f"dlsched.models.{self.problem}").Instance
        if not isinstance(instance, expected):
            raise TypeError(f"{self.name} needs an instance of {self.problem}, not {type(instance).__name__}")
        module, function = self.builder.split(":")
        builder = getattr(importlib.import_module(f"dlsched.models.{module}"), function)
        from pyomo.common.gc_manager import PauseGC

        with PauseGC():
            return builder(instance, **data)


_SCHEDULES = MappingProxyType({"schedules": "every schedule of every job in which no slot can be dropped"})
_SLOT = MappingProxyType(
    {
        "job": "the first job",
        "workload": "an equal share of the job's work in each slot",
        "prices": "1 for every machine and resource",
        "residuals": "the machines' capacities",
    }
)

_CATALOG = (
    Formulation(
        "hadar/p1",
        "hadar",
        "P1: every job must finish",
        ("(1)", "(1a)", "(1b)", "(1c)", "(1d)", "(1e)"),
        Kind.AS_PRINTED,
        "hadar.p1:build",
        disjunctive=True,
    ),
    Formulation(
        "hadar/p1-admission",
        "hadar",
        "P1 in which a job may be rejected",
        ("(1)", "(1a)", "(1b)", "(1c)", "(1d)", "(1e)"),
        Kind.EXACT,
        "hadar.p1:build_admission",
        disjunctive=True,
    ),
    Formulation(
        "hadar/p2",
        "hadar",
        "P2: choose one of the given schedules for each job",
        ("(2)", "(2a)", "(2b)", "(2c)"),
        Kind.EXACT,
        "hadar.p2:build",
        _SCHEDULES,
    ),
    Formulation(
        "hadar/p3",
        "hadar",
        "P3: the dual of P2's LP relaxation",
        ("(3)", "(3a)"),
        Kind.RELAXATION,
        "hadar.p3:build",
        _SCHEDULES,
    ),
    Formulation(
        "hadar/aggregate",
        "hadar",
        "machines summed to types, bottleneck binaries, continuous counts, work-by-slot rows",
        ("(1)", "(1a)", "(1b)", "(1c)", "(1d)", "(1e)"),
        Kind.EXACT,
        "hadar.aggregate:build",
    ),
    Formulation(
        "hadar/hall",
        "hadar",
        "no devices: Hall's condition for the gangs of a slot, work-by-slot rows",
        ("(1)", "(1a)", "(1b)", "(1c)", "(1d)", "(1e)"),
        Kind.EXACT,
        "hadar.hall:build",
    ),
    Formulation(
        "smd/minlp",
        "smd",
        "Problem (1), its ratios written out: nonlinear, for a global solver",
        ("(1)", "(2)", "(3)"),
        Kind.EXACT,
        "smd.minlp:build",
        linear=False,
    ),
    Formulation(
        "smd/milp",
        "smd",
        "Problem (1) over every feasible number of workers and servers",
        ("(1)", "(2)", "(3)"),
        Kind.EXACT,
        "smd.milp:build",
    ),
    Formulation(
        "smd/milp-layers",
        "smd",
        "Problem (1) with the critical path through the layers of each point, not a constant eta",
        ("(1)", "(2)", "(3)"),
        Kind.EXACT,
        "smd.milp:build_layers",
    ),
    Formulation(
        "smd/inner",
        "smd",
        "the inner problem of one job, its completion time a sum of ratios: nonlinear",
        ("(6)", "(7)", "(12)"),
        Kind.EXACT,
        "smd.single:build",
        MappingProxyType({"job": "the first job that can run"}),
        linear=False,
    ),
    Formulation(
        "smd/knapsack",
        "smd",
        "the outer problem: which jobs to admit, at given utilities",
        ("(2)", "(16)"),
        Kind.EXACT,
        "smd.knapsack:build",
        MappingProxyType({"utilities": "the exact optimum of each job's inner problem"}),
    ),
    Formulation(
        "dmlrs/compact",
        "dmlrs",
        "DMLRS of the journal: idle, internal or external, per job and slot",
        ("(1)", "(2)", "(3)", "(4)", "(5)", "(6)", "(7)"),
        Kind.EXACT,
        "dmlrs.compact:build",
        disjunctive=True,
    ),
    Formulation(
        "dmlrs/async",
        "dmlrs",
        "DMLRS of the thesis: idle, or all servers on one machine, per job and slot",
        ("(3.1)", "(3.2)", "(3.3)", "(3.4)", "(3.5)", "(3.6)", "(3.7)"),
        Kind.EXACT,
        "dmlrs.asynchronous:build",
        disjunctive=True,
    ),
    Formulation(
        "dmlrs/compact-milp",
        "dmlrs",
        "a home on one machine or spread over all, journal and thesis: what a MILP solver should get",
        ("(1)", "(2)", "(3)", "(4)", "(5)", "(6)", "(7)"),
        Kind.EXACT,
        "dmlrs.aggregate:build",
    ),
    Formulation(
        "dmlrs/aggregate",
        "dmlrs",
        "compact-milp with identical machines summed: an upper bound",
        ("(1)", "(2)", "(3)", "(4)", "(5)", "(6)", "(7)"),
        Kind.RELAXATION,
        "dmlrs.aggregate:build_summed",
    ),
    Formulation(
        "dmlrs/schedules",
        "dmlrs",
        "R-DMLRS: choose one of the given schedules for each job",
        ("(8)", "(9)"),
        Kind.EXACT,
        "dmlrs.reformulated:build",
        _SCHEDULES,
    ),
    Formulation(
        "dmlrs/dual",
        "dmlrs",
        "D-R-DMLRS: the dual of R-DMLRS's LP relaxation",
        ("(10)", "(11)"),
        Kind.RELAXATION,
        "dmlrs.dual:build",
        _SCHEDULES,
    ),
    Formulation(
        "dmlrs/external-slot",
        "dmlrs",
        "the cheapest workers and servers of one job in one slot, on any machines, with the row that the print forgets",
        ("(2)", "(23)", "(24)", "(25)", "(26)"),
        Kind.EXACT,
        "dmlrs.external_slot:build",
        _SLOT,
    ),
    Formulation(
        "dmlrs/external-slot-printed",
        "dmlrs",
        "the same as printed: no row asks for servers",
        ("(23)", "(24)", "(25)", "(26)"),
        Kind.AS_PRINTED,
        "dmlrs.external_slot:build_printed",
        _SLOT,
    ),
)


def catalog() -> tuple[Formulation, ...]:
    """Return all formulations."""
    return _CATALOG


def formulation(name: str) -> Formulation:
    """Return the formulation of that name.

    Raises
    ------
    KeyError
        If there is none; the message lists those there are.
    """
    for entry in _CATALOG:
        if entry.name == name:
            return entry
    raise KeyError(f"no formulation {name!r}; there are {', '.join(entry.name for entry in _CATALOG)}")


def build(name: str, instance: Any, **data: Any) -> Any:
    """Return the Pyomo model of an instance in the formulation of that name.

    Parameters
    ----------
    name : str
        As in `catalog`, e.g. ``"hadar/p1"``.
    instance : Instance
        Of the formulation's problem.
    **data
        What the formulation takes beside the instance; see `Formulation.data`.
    """
    return formulation(name).build(instance, **data)
