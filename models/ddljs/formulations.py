"""The entries of the DDLJS formulations in the catalog."""

from __future__ import annotations

from types import MappingProxyType

from dlsched.models.formulation import Formulation, Kind

_NOW = {"slot": "1", "so_far": "no job has had anything"}
_EMBEDDING = ("(12)", "(13)", "(14)", "(15)", "(16)", "(17)", "(18)", "(19)")

FORMULATIONS = (
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
