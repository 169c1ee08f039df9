"""The entries of the DDLJS formulations in the catalog."""

from __future__ import annotations

from types import MappingProxyType

from dlsched.models.formulation import Formulation, Kind

_NOW = {"slot": "1", "so_far": "no job has had anything"}
_EMBEDDING = ("(12)", "(13)", "(14)", "(15)", "(16)", "(17)", "(18)", "(19)")

_PATHS = {"paths": "all simple paths"}
_LITERAL = {"literal": "(5), (8) and (9)"}
_SLOT = ("(2)", "(4)", "(5)", "(6)", "(7)", "(8)", "(9)", "(10)", "(11)")
_DDLJS = ("(2)", "(3)", "(4)", "(5)", "(6)", "(7)", "(8)", "(9)")

FORMULATIONS = (
    Formulation(
        "ddljs/offline",
        "ddljs",
        "DDLJS over paths, corrected: no server, one server or a ring, per job and slot",
        _DDLJS,
        Kind.EXACT,
        "ddljs.offline:build",
        MappingProxyType(_PATHS),
        disjunctive=True,
    ),
    Formulation(
        "ddljs/offline-milp",
        "ddljs",
        "the same with its disjunction written out",
        _DDLJS,
        Kind.EXACT,
        "ddljs.offline_milp:build",
        MappingProxyType(_PATHS),
    ),
    Formulation(
        "ddljs/offline-circulation",
        "ddljs",
        "DDLJS with rings as circulations, no paths: what a MILP solver should get",
        _DDLJS,
        Kind.EXACT,
        "ddljs.circulation:build",
    ),
    Formulation(
        "ddljs/offline-printed",
        "ddljs",
        "DDLJS as printed: (5) lets servers without workers relay, (8) is by path, (9) speaks of every server",
        _DDLJS,
        Kind.AS_PRINTED,
        "ddljs.offline_printed:build",
        MappingProxyType(_PATHS | _LITERAL),
        disjunctive=True,
    ),
    Formulation(
        "ddljs/slot",
        "ddljs",
        "the workers and rings of one slot, over paths, corrected",
        _SLOT,
        Kind.EXACT,
        "ddljs.slot:build",
        MappingProxyType(_NOW | _PATHS),
        disjunctive=True,
    ),
    Formulation(
        "ddljs/slot-printed",
        "ddljs",
        "the same with (5), (8) and (9) as printed",
        _SLOT,
        Kind.AS_PRINTED,
        "ddljs.slot:build_printed",
        MappingProxyType(_NOW | _PATHS | _LITERAL),
        disjunctive=True,
    ),
    Formulation(
        "ddljs/slot-circulation",
        "ddljs",
        "what rings can add in one slot, as circulations: what a MILP solver should get",
        (*_SLOT, "(12)"),
        Kind.EXACT,
        "ddljs.circulation:build_slot",
        MappingProxyType(_NOW),
    ),
    Formulation(
        "ddljs/gvne",
        "ddljs",
        "G-VNE: what rings of chosen sizes add in one slot, valid places and routes only",
        _EMBEDDING,
        Kind.EXACT,
        "ddljs.gvne:build",
        MappingProxyType(_NOW | {"cap": "False: no row for the workers that fit on one node"}),
    ),
    Formulation(
        "ddljs/gvne-printed",
        "ddljs",
        "the same as printed: ring sizes by a joint relaxation rounded up, any place and route",
        _EMBEDDING,
        Kind.AS_PRINTED,
        "ddljs.gvne:build_printed",
        MappingProxyType(_NOW),
    ),
)
