"""The entries of the SMD formulations in the catalog."""

from __future__ import annotations

from types import MappingProxyType

from dlsched.models.formulation import Formulation, Kind

FORMULATIONS = (
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
)
