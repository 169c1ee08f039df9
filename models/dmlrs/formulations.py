"""The entries of the DMLRS formulations in the catalog."""

from __future__ import annotations

from types import MappingProxyType

from dlsched.models.formulation import Formulation, Kind

_SCHEDULES = MappingProxyType({"schedules": "every schedule of every job in which no slot can be dropped"})
_SLOT = MappingProxyType(
    {
        "job": "the first job",
        "workload": "an equal share of the job's work in each slot",
        "prices": "1 for every machine and resource",
        "residuals": "the machines' capacities",
    }
)

FORMULATIONS = (
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
