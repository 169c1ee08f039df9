"""The linear programs of ring embeddings, as arrays and as Pyomo models, and their way back to the formulation."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np

from dlsched.arithmetic import dot, sparse_product
from dlsched.models.ddljs.requests import RingProblem
from dlsched.relaxations.contract import array_of
from dlsched.relaxations.matrix_model import Key, MatrixModel, matrix_model
from dlsched.relaxations.ring_copies import Ints, Layout, RingCopies, Substrate, blocks
from dlsched.solvers.builder import Builder
from dlsched.solvers.matrix import Floats, Matrix
from dlsched.solvers.solution import SolverError
from dlsched.solvers.solve import solve_to_optimality


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
        What solved it: ``"knapsack"``, ``"columns"``, or a HiGHS method.

    Examples
    --------
    >>> import networkx as nx
    >>> from dlsched.models.ddljs import RingProblem, RingRequest
    >>> from dlsched.relaxations import plain_vne
    >>> net = nx.Graph([("a", "b", {"bandwidth": 1})])
    >>> net.add_nodes_from("ab", capacity={"gpu": 3})
    >>> sizes = {"bert": {2: 3}, "vit": {2: 4, 4: 5}, "gpt": {1: 2}}
    >>> jobs = [RingRequest(job, profit, {"gpu": 1}, 1) for job, profit in sizes.items()]
    >>> lp = plain_vne(RingProblem.of(net, jobs))
    >>> found = lp.solve()
    >>> print({(name, size): round(weight, 6) for (name, size), weight in found.weights.items()})
    {('bert', 2): 1.0, ('vit', 2): 0.5, ('vit', 4): 0.5, ('gpt', 1): 1.0}
    >>> prices = dict(zip(lp.row_keys(), found.duals.round(6).tolist()))
    >>> print(prices["node", ("a", "gpu")], prices["request", ("vit",)])
    0.5 3.0
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
    cap : bool
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

    layout: ClassVar[Layout]

    problem: RingProblem
    sizes: Mapping[str, int] | None
    cap: bool
    substrate: Substrate
    copies: tuple[RingCopies, ...]
    matrix: Matrix
    kept: Ints

    @classmethod
    def of(cls, problem: RingProblem, sizes: Mapping[str, int] | None, cap: bool) -> Self:
        """Return the program of a problem; parameters as in `augmented_vne`."""
        substrate, found = blocks(problem, sizes)
        links = len(problem.requests) + substrate.capacity.size
        upper = [np.ones(len(problem.requests)), substrate.capacity.ravel(), substrate.bandwidth]
        shared = links + len(substrate.bandwidth)
        row, column = shared, 0
        copies = []
        for block in found:
            ring = RingCopies(block, cls.layout, cap, column, row)
            copies.append(ring)
            column, row = column + ring.columns, row + ring.rows
        builder, c = Builder(-1), np.zeros(column)
        lower = np.zeros(row)
        lower[:shared] = -np.inf
        for ring in copies:
            ring.put(builder, len(problem.requests), links)
            ring.room_part(lower)[...] = -np.inf
            c[ring.weights] = ring.block.profit
        builder.columns(np.inf, cost=c)
        builder.rows(lower, np.concatenate([*upper, np.zeros(row - shared)]))
        whole = builder.matrix()
        kept = np.flatnonzero(np.diff(whole.A.indptr))
        matrix = replace(whole, A=whole.A[kept], row_lower=whole.row_lower[kept], row_upper=whole.row_upper[kept])
        return cls(problem, None if sizes is None else dict(sizes), cap, substrate, tuple(copies), matrix, kept)

    @property
    def shared_rows(self) -> int:
        """The number of rows that rings share: those of requests, nodes and links; they come first."""
        return len(self.problem.requests) + self.substrate.capacity.size + len(self.substrate.bandwidth)

    @property
    def all_rows(self) -> int:
        """The number of rows, those without entries included."""
        return self.shared_rows + sum(ring.rows for ring in self.copies)

    def all_duals(self, duals: Floats) -> Floats:
        """Return duals of the matrix's rows as duals of all rows, 0 for those without entries."""
        full = np.zeros(self.all_rows)
        full[self.kept] = duals
        return full

    def is_like(self, other: RingLp) -> bool:
        """Tell whether another program is of the same problem, sizes and cap."""
        return (self.problem, self.sizes, self.cap) == (other.problem, other.sizes, other.cap)

    @property
    def model(self) -> Any:
        """The program as a Pyomo model with the same rows and columns; built when first asked for."""
        return self._built.model

    @cached_property
    def _built(self) -> MatrixModel:
        name = f"{self.layout.value} LP of G-VNE"
        return matrix_model(self.matrix, self.column_keys(), self.row_keys(), name=name, objective="profit")

    @cached_property
    def source(self) -> Any:
        """The formulation (12)-(19) of the same requests and ring sizes; built when first asked for."""
        from dlsched.models.ddljs.gvne import embedding_program

        problem = self.problem
        if self.sizes is not None:
            chosen = [request for request in problem.requests if request.name in self.sizes]
            problem = problem.keeping(request.only(self.sizes[request.name]) for request in chosen)
        return embedding_program(problem, cap=self.cap)

    def column_keys(self) -> Iterator[Key]:
        """Yield component and index of each column: ``x`` or ``chi``, ``varrho`` or ``hosted``, ``theta``."""
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
        return {ring.name: float(point[ring.weights].sum()) for ring in self.copies}

    def solution(self, point: Floats, duals: Floats, method: str) -> VneSolution:
        """Return a point with its value and weights."""
        return VneSolution(self.matrix.value(point), point, duals, self.weights(point), method)

    def solve(self) -> VneSolution:
        """Solve the program."""
        return self.simplex()

    def simplex(self) -> VneSolution:
        """Solve the whole program by the simplex method of HiGHS.

        Notes
        -----
        Presolve is off: it takes longer than the dual simplex on 500 000 columns, and makes that slower where links
        bind.
        """
        found = solve_to_optimality(self.matrix, presolve=False, duals=True)
        if found is None or found.row_duals is None:
            raise SolverError("a linear program of ring embeddings has no point, although embedding nothing is one")
        return self.solution(np.maximum(found.x, 0.0), found.row_duals, "simplex")

    def certify(self, solution: VneSolution) -> dict[str, float]:
        """Return the residuals of a point and its duals: all within rounding of 0 proves that the point is optimal.

        Returns
        -------
        dict
            ``primal`` (rows and bounds), ``dual`` (signs of duals and reduced costs), ``gap`` (between the two values).
        """
        matrix, duals = self.matrix, solution.duals
        inequality = np.isneginf(matrix.row_lower)
        reduced = matrix.c - sparse_product(matrix.A.T, duals)
        return {
            "primal": matrix.residual(solution.point),
            "dual": max(0.0, float(reduced.max(initial=0.0)), float(-duals[inequality].min(initial=0.0))),
            "gap": abs(matrix.value(solution.point) - float(dot(matrix.row_upper, duals))),
        }

    def point_array(self, x: Any) -> Floats:
        """Return the ``x`` of `recover` as an array of shape (columns,)."""
        return array_of("x", x, len(self.matrix.c), lambda: self._built.columns)

    def duals_array(self, duals: Any) -> Floats | None:
        """Return the ``duals`` of `recover` as an array of shape (rows,), None where there are none."""
        return None if duals is None else array_of("duals", duals, len(self.kept), lambda: self._built.rows)
