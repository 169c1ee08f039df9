"""Problem (10)-(11): the workers and rings of one slot, when what happened before is known.

Symbols: z_{i,t-1} worker-slots so far, `so_far`; I[t] active jobs, those that have arrived and can pay for another
worker-slot; delta_ik `count`, 1 where job i gets k workers in the slot.

The objective is the whole utility mu_i(zeta_i (z_{i,t-1} + k)) of the active jobs. (11) is read in whole worker-slots,
k <= K_i - z_{i,t-1}.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from dlsched.lazy import pyo
from dlsched.models.ddljs.frame import Stage, one_slot, utilities
from dlsched.models.ddljs.instance import Instance
from dlsched.models.ddljs.offline import LITERAL, corrected, printed, shapes
from dlsched.models.ddljs.read import read_slot, read_slot_printed
from dlsched.models.formulation import Formulation, Kind
from dlsched.models.parameters import declare


def build(
    instance: Instance, slot: int = 1, so_far: Mapping[str, int] | None = None, paths: str = "all"
) -> pyo.ConcreteModel:
    """Return the problem of one slot as a generalised disjunctive program.

    Parameters
    ----------
    instance : Instance
    slot : int
        t, of 1..T.
    so_far : mapping of str to int, optional
        z_{i,t-1} by job; jobs left out have had nothing.
    paths : {"all", "single-hop"}
        Every simple path between servers, or links from server to server only.

    Raises
    ------
    InputError
        If a job has a placement, the slot is outside 1..T, or there are too many paths to write out.

    References
    ----------
    GADGET, (10)-(11) with (2), (4)-(9) corrected.
    """
    stage = one_slot(instance, "ddljs/slot", slot, so_far or {})
    m = corrected(instance, stage, paths, "DDLJS in one slot")
    shapes(m)
    _utilities(m, stage, slot, so_far or {})
    return m


def build_printed(
    instance: Instance,
    slot: int = 1,
    so_far: Mapping[str, int] | None = None,
    paths: str = "all",
    literal: Collection[str] = LITERAL,
) -> pyo.ConcreteModel:
    """Return the problem of one slot with (5), (8) and (9) as printed.

    Parameters
    ----------
    instance : Instance
    slot : int
    so_far : mapping of str to int, optional
    paths : {"all", "single-hop"}
        As in `build`.
    literal : collection of {"(5)", "(8)", "(9)"}
        Which equations stand as printed; the others are corrected.

    Raises
    ------
    InputError
        As `build`, or if `literal` names another equation.

    References
    ----------
    GADGET, (10)-(11), as printed.
    """
    stage = one_slot(instance, "ddljs/slot-printed", slot, so_far or {})
    m = printed(instance, stage, paths, literal)
    _utilities(m, stage, slot, so_far or {})
    return m


def _utilities(m: Any, stage: Stage, slot: int, so_far: Mapping[str, int]) -> None:
    utilities(
        m, stage.values, "(10) utility of the active jobs", "(11) workers, within what is left of the job's budget"
    )
    m.slot = slot
    declare(m, "so_far", (m.I,), {i: so_far.get(i, 0) for i in m.I}, "z_i[t-1], worker-slots so far [worker-slots]")


SLOT = Formulation(
    "ddljs/slot",
    Instance,
    "the workers and rings of one slot, over paths, corrected",
    ("(2)", "(4)", "(5)", "(6)", "(7)", "(8)", "(9)", "(10)", "(11)"),
    Kind.SUBPROBLEM,
    build,
    read_slot,
    data={"slot": "1", "so_far": "no job has had anything", "paths": "all simple paths"},
    disjunctive=True,
)

SLOT_PRINTED = Formulation(
    "ddljs/slot-printed",
    Instance,
    "the same with (5), (8) and (9) as printed",
    ("(2)", "(4)", "(5)", "(6)", "(7)", "(8)", "(9)", "(10)", "(11)"),
    Kind.SUBPROBLEM,
    build_printed,
    read_slot_printed,
    data={"slot": "1", "so_far": "no job has had anything", "paths": "all simple paths", "literal": "(5), (8) and (9)"},
    disjunctive=True,
)
