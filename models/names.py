"""The names of this package's formulations, as types, so that an editor completes them; as in the catalog."""

from __future__ import annotations

from typing import Literal

DdljsFormulation = Literal[
    "ddljs/offline",
    "ddljs/offline-milp",
    "ddljs/offline-circulation",
    "ddljs/offline-printed",
    "ddljs/slot",
    "ddljs/slot-printed",
    "ddljs/slot-circulation",
    "ddljs/gvne",
    "ddljs/gvne-printed",
    "ddljs/gvne-plain",
    "ddljs/gvne-augmented",
]
DmlrsFormulation = Literal[
    "dmlrs/compact",
    "dmlrs/compact-printed",
    "dmlrs/async",
    "dmlrs/compact-milp",
    "dmlrs/aggregate",
    "dmlrs/schedules",
    "dmlrs/dual",
    "dmlrs/response",
    "dmlrs/cheapest",
    "dmlrs/one-slot",
    "dmlrs/internal-slot",
    "dmlrs/internal-slot-printed",
    "dmlrs/external-slot",
    "dmlrs/external-slot-printed",
    "dmlrs/async-external-slot",
    "dmlrs/async-external-slot-printed",
]
HadarFormulation = Literal[
    "hadar/p1",
    "hadar/p1-admission",
    "hadar/p2",
    "hadar/p3",
    "hadar/response",
    "hadar/round",
    "hadar/aggregate",
    "hadar/hall",
]
SmdFormulation = Literal[
    "smd/minlp",
    "smd/milp",
    "smd/milp-layers",
    "smd/inner",
    "smd/ratio-box",
    "smd/ratio-caps",
    "smd/knapsack",
]
