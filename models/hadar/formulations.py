"""The entries of the Hadar formulations in the catalog."""

from __future__ import annotations

from types import MappingProxyType

from dlsched.models.formulation import Formulation, Kind

_SCHEDULES = MappingProxyType({"schedules": "every schedule of every job in which no slot can be dropped"})

FORMULATIONS = (
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
)
