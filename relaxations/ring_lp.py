"""The plain and the augmented linear program of ring embeddings, as arrays and as Pyomo models."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from dlsched.models.arithmetic import dot, sparse_product
from dlsched.models.ddljs.requests import RingProblem
from dlsched.models.failure import SolverError
from dlsched.models.matrix import Floats, Matrix
from dlsched.models.optimal import solve_to_optimality
from dlsched.relaxations.ring_blocks import Entries, Ints, Substrate, blocks
from dlsched.relaxations.ring_copies import Key, RingCopies


@dataclass(frozen=True, eq=False)
class VneSolution:
    """An optimum of a linear program of ring embeddings.

    Attributes
    ----------
    value : float
    point : ndarray, shape (columns,)
    duals : ndarray, shape (rows,)
        Change of the value for one more unit of right-hand side.
    weights : dict of (request name, ring size) to float
        chi_ik.
    method : str
        What solved it: ``"knapsack"``, or a HiGHS method.
    """

    value: float
    point: Floats
    duals: Floats
    weights: dict[tuple[str, int], float]
    method: str


@dataclass(frozen=True, eq=False)
class RingLp:
    """A linear program of ring embeddings.

    Attributes
    ----------
    problem : RingProblem
    sizes : mapping of str to int, or None
    cap, augmented : bool
    substrate : Substrate
    copies : tuple of RingCopies
        For each request and ring size where its columns and rows are.
    matrix : Matrix
        Rows: one for each request (A1), for each node and resource, for each share of bandwidth (A5), then for each
        ring and copy that its nodes are placed (A2), its flows balanced (A3), and with `cap` the room of nodes. Rows
        without entries are left out.
    kept : ndarray of int
        Numbers of the matrix's rows among all.
    """

    problem: RingProblem
    sizes: Mapping[str, int] | None
    cap: bool
    augmented: bool
    substrate: Substrate
    copies: tuple[RingCopies, ...]
    matrix: Matrix
    kept: Ints

    @property
    def all_rows(self) -> int:
        """The number of rows, those without entries included."""
        shared = len(self.problem.requests) + self.substrate.capacity.size + len(self.substrate.bandwidth)
        return shared + sum(ring.rows for ring in self.copies)

    @property
    def model(self) -> Any:
        """The program as a Pyomo model with the same rows and columns; made anew each time."""
        from dlsched.relaxations.ring_model import pyomo_model

        return pyomo_model(self.matrix, list(self.column_keys()), list(self.row_keys()))

    def column_keys(self) -> Iterator[Key]:
        """Yield component and index of each column: ``x`` or ``chi``, ``varrho``, ``theta``."""
        for ring in self.copies:
            yield from ring.column_keys()

    def row_keys(self) -> Iterator[Key]:
        """Yield component and index of each row."""
        everything = list(self._all_rows())
        yield from (everything[row] for row in self.kept.tolist())

    def _all_rows(self) -> Iterator[Key]:
        yield from (("request", (request.name,)) for request in self.problem.requests)
        yield from (("node", (u, r)) for u in self.substrate.names for r in self.problem.resources)
        yield from (("link", arcs[0]) for arcs, _ in self.problem.shares)
        for ring in self.copies:
            yield from ring.row_keys()

    def weights(self, point: Floats) -> dict[tuple[str, int], float]:
        """Return chi_ik at a point: how much of each request is embedded with each ring size."""
        return {(r.block.request.name, r.block.size): float(point[r.weights].sum()) for r in self.copies}

    def solve(self) -> VneSolution:
        """Solve the program by the simplex method of HiGHS."""
        value, point, duals = optimum(self.matrix)
        return VneSolution(value, point, duals, self.weights(point), "simplex")

    def certify(self, solution: VneSolution) -> dict[str, float]:
        """Return the residuals of a point and its duals: all within rounding of 0 proves that the point is optimal.

        Returns
        -------
        dict
            ``primal`` (rows and bounds), ``dual`` (signs of duals and reduced costs), ``gap`` (between the two values).
        """
        return certificate(self.matrix, solution.point, solution.duals)


def certificate(matrix: Matrix, point: Floats, duals: Floats) -> dict[str, float]:
    """Return how far a point and row duals are from proving each other optimal.

    Parameters
    ----------
    matrix : Matrix
        A maximisation over x >= 0 with rows ``=`` or ``<=`` a right-hand side.
    point, duals : ndarray
    """
    inequality = np.isneginf(matrix.row_lower)
    reduced = matrix.c - sparse_product(matrix.A.T, duals)
    return {
        "primal": matrix.residual(point),
        "dual": max(0.0, float(reduced.max(initial=0.0)), float(-duals[inequality].min(initial=0.0))),
        "gap": abs(matrix.value(point) - float(dot(matrix.row_upper, duals))),
    }


def optimum(matrix: Matrix) -> tuple[float, Floats, Floats]:
    """Return the value, a point and row duals of an optimum of a bounded, feasible linear program.

    Notes
    -----
    Presolve is off: it takes longer than the dual simplex on 500 000 columns, and makes that slower where links bind.
    """
    found = solve_to_optimality(matrix, presolve=False, duals=True)
    if found is None or found.row_duals is None:
        raise SolverError("a linear program of ring embeddings has no point, although embedding nothing is one")
    point = np.maximum(found.x, 0.0)
    return matrix.value(point), point, found.row_duals


def ring_lp(problem: RingProblem, sizes: Mapping[str, int] | None, cap: bool, augmented: bool) -> dict[str, Any]:
    """Return the attributes of a `RingLp`; parameters as in `augmented_vne`."""
    substrate, found = blocks(problem, sizes)
    requests, links = len(problem.requests), len(problem.requests) + substrate.capacity.size
    shared = links + len(substrate.bandwidth)
    row, column = shared, 0
    copies = []
    for block in found:
        ring = RingCopies(block, augmented, cap, column, row)
        copies.append(ring)
        column, row = column + ring.columns, row + ring.rows
    entries, c = Entries(), np.zeros(column)
    lower, upper = np.zeros(row), np.zeros(row)
    upper[:shared] = np.concatenate([np.ones(requests), substrate.capacity.ravel(), substrate.bandwidth])
    lower[:shared] = -np.inf
    for ring in copies:
        ring.put(entries, requests, links)
        ring.room_rows(lower)[...] = -np.inf
        c[ring.weights] = ring.block.profit
    matrix, kept = without_empty_rows(entries.matrix(row, column), c, lower, upper)
    return {
        "problem": problem,
        "sizes": None if sizes is None else dict(sizes),
        "cap": cap,
        "augmented": augmented,
        "substrate": substrate,
        "copies": tuple(copies),
        "matrix": matrix,
        "kept": kept,
    }


def without_empty_rows(A: sp.csr_array, c: Floats, lower: Floats, upper: Floats) -> tuple[Matrix, Ints]:
    """Return a maximisation over x >= 0 and the numbers of the rows that have entries."""
    kept = np.flatnonzero(np.diff(A.indptr))
    starts = np.append(A.indptr[kept], A.indptr[-1])
    columns = len(c)
    matrix = Matrix(
        c=c,
        offset=0.0,
        sense=-1,
        A=sp.csr_array((A.data, A.indices, starts), shape=(len(kept), columns)),
        row_lower=lower[kept],
        row_upper=upper[kept],
        lower=np.zeros(columns),
        upper=np.full(columns, np.inf),
        integer=np.zeros(columns, dtype=bool),
    )
    return matrix, kept
