"""The linear programs of a slot in exact rationals: rows and columns of the arrays, with the requests' own numbers."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

from dlsched.algorithms.exact.certificates import ExactProgram, ProgramBuilder
from dlsched.models.ddljs import RingRequest
from dlsched.relaxations.matrix_model import Key
from dlsched.relaxations.ring_lp import RingLp


def program_of(lp: RingLp, *, whole: bool = False) -> ExactProgram:
    """Return a linear program of ring embeddings in the rationals that its floats stand for.

    No column needs to be above 1, and no load of the knapsack LP above the ring's size: weights are at most 1 by the
    rows of requests, places are no more than weights, and what flows along a ring edge beyond that runs in circles.

    Parameters
    ----------
    lp : RingLp
    whole : bool
        Columns are 0 or 1: of the plain LP, the integer program (12)-(19) itself.
    """
    builder = ProgramBuilder(f"{lp.layout.value} LP of G-VNE")
    requests = {request.name: request for request in lp.problem.requests}
    owners = []
    for component, index in lp.column_keys():
        owners.append(requests[index[0]])
        cost = owners[-1].profit[index[1]] if component in ("x", "chi") else 0
        most = index[1] if component == "hosted" else 1
        builder.column(_name((component, index)), most, cost=cost, integer=whole)
    A = lp.matrix.A
    for row, key in enumerate(lp.row_keys()):
        entries = slice(A.indptr[row], A.indptr[row + 1])
        found = zip(A.indices[entries].tolist(), A.data[entries].tolist(), strict=True)
        terms = [(column, _exact(key, owners[column], value)) for column, value in found]
        builder.row(_name(key), terms, *_sides(key, lp))
    return builder.program()


def _name(key: Key) -> str:
    return f"{key[0]}[{','.join(map(str, key[1]))}]"


def _exact(row: Key, request: RingRequest, value: float) -> Fraction:
    """Return a coefficient: a need in the row of a node, a bandwidth in that of a link, a whole number elsewhere."""
    kind, index = row
    if kind == "node":
        exact = request.demand[index[1]]
    else:
        exact = request.bandwidth if kind == "link" else Fraction(round(value))
    if not math.isclose(exact, value):
        raise RuntimeError(f"{_name(row)}: {value} is not {exact}: report this instance")
    return exact


def _sides(row: Key, lp: RingLp) -> tuple[Any, Any]:
    kind, index = row
    match kind:
        case "request":
            return None, 1
        case "node":
            return None, lp.problem.nodes[index[0]].get(index[1], 0)
        case "link":
            return None, lp.problem.capacity[index[0], index[1]]
        case "room":
            return None, 0
    return 0, 0
