"""What the linear programs of ring embeddings have in common: substrate and requests as arrays."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from dlsched.models.ddljs.requests import RingProblem, RingRequest
from dlsched.solvers.matrix import Floats

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Substrate:
    """A ring problem's nodes, arcs and limits as arrays.

    Attributes
    ----------
    names : tuple of str
        Nodes.
    tail, head : ndarray of int, shape (arcs,)
        Ends of the arcs, in the order of `RingProblem.arcs`.
    share : ndarray of int, shape (arcs,)
        The share whose bandwidth an arc uses.
    bandwidth : ndarray, shape (shares,)
    capacity : ndarray, shape (nodes, resources)
        g^{u,r}, for the resources of `RingProblem.resources`.
    """

    problem: RingProblem
    names: tuple[str, ...]
    tail: Ints
    head: Ints
    share: Ints
    bandwidth: Floats
    capacity: Floats

    @classmethod
    def of(cls, problem: RingProblem) -> Substrate:
        """Take the arrays from a problem."""
        names = tuple(problem.nodes)
        index = {u: n for n, u in enumerate(names)}
        ends = np.array([(index[u], index[v]) for u, v in problem.arcs], dtype=np.int64).reshape(-1, 2)
        share = np.repeat(np.arange(len(problem.shares)), [len(arcs) for arcs, _ in problem.shares])
        capacity = np.array([[float(problem.nodes[u].get(r, 0)) for r in problem.resources] for u in names])
        return cls(
            problem,
            names,
            ends[:, 0],
            ends[:, 1],
            share,
            np.array([float(limit) for _, limit in problem.shares]),
            capacity.reshape(len(names), len(problem.resources)),
        )


@dataclass(frozen=True, eq=False)
class RingBlock:
    """A request with one ring size.

    Attributes
    ----------
    number : int
        Of the request.
    request : RingRequest
    size : int
        k.
    hosts : tuple of ndarray of int
        Valid nodes of each ring node 0..k-1.
    arcs : ndarray of int
        Valid arcs; none for a ring of one node.
    room : ndarray of int, shape (nodes,)
        m_iu, how many of the request's ring nodes fit on a node.
    demand : ndarray, shape (resources,)
    """

    substrate: Substrate
    number: int
    request: RingRequest
    size: int
    hosts: tuple[Ints, ...]
    arcs: Ints
    room: Ints
    demand: Floats

    @property
    def profit(self) -> float:
        """pi_ik."""
        return float(self.request.profit[self.size])

    @property
    def bandwidth(self) -> float:
        """b_i."""
        return float(self.request.bandwidth)

    @cached_property
    def nodes(self) -> Ints:
        """The nodes at which flow is conserved: those with a valid arc, and valid ones."""
        ends = self.substrate.tail[self.arcs], self.substrate.head[self.arcs]
        return np.unique(np.concatenate([*ends, *self.hosts]))


def blocks(problem: RingProblem, sizes: Mapping[str, int] | None) -> tuple[Substrate, tuple[RingBlock, ...]]:
    """Return the substrate and a block for each request and ring size.

    Parameters
    ----------
    problem : RingProblem
    sizes : mapping of request name to ring size, optional
        Only this size of each request; a request that is not named has none. All sizes where it is left out.

    Raises
    ------
    ValueError
        If a request of that name, or its ring size, does not exist.
    """
    known = {request.name: request for request in problem.requests}
    for name, size in (sizes or {}).items():
        if name not in known or size not in known[name].profit:
            raise ValueError(f"there is no request {name!r} with ring size {size}")
    substrate = Substrate.of(problem)
    found: list[RingBlock] = []
    for number, request in enumerate(problem.requests):
        chosen = request.sizes if sizes is None else tuple(sizes[n] for n in (request.name,) if n in sizes)
        found.extend(_of_request(substrate, number, request, chosen))
    return substrate, tuple(found)


def _of_request(substrate: Substrate, number: int, request: RingRequest, sizes: tuple[int, ...]) -> Iterator[RingBlock]:
    problem = substrate.problem
    room = np.array([problem.room(request, u) for u in substrate.names], dtype=np.int64)
    limits = {limit: request.bandwidth <= limit for _, limit in problem.shares}
    wide = np.array([limits[limit] for _, limit in problem.shares], dtype=bool)
    arcs = np.flatnonzero(wide[substrate.share]) if len(substrate.share) else np.zeros(0, dtype=np.int64)
    demand = np.array([float(request.demand.get(r, 0)) for r in problem.resources])
    valid = [np.flatnonzero(room)] * max(sizes, default=0)
    if request.allowed is not None:
        allowed = [np.array([u in some for u in substrate.names]) for some in request.allowed[: len(valid)]]
        valid = [np.flatnonzero((room > 0) & some) for some in allowed]
    for size in sizes:
        reachable = arcs if size > 1 else arcs[:0]
        yield RingBlock(substrate, number, request, size, tuple(valid[:size]), reachable, room, demand)
