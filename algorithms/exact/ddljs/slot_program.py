"""The embedding problem of one slot as one mixed-integer program: a block a request, and the rows that they share."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction

from dlsched.algorithms.exact.ddljs.blocks import Block, circulation_block, ring_node_block
from dlsched.algorithms.exact.ddljs.network import Network
from dlsched.halt import polled
from dlsched.models.ddljs.requests import RingProblem
from dlsched.models.ddljs.rings import Arc, Embedding
from dlsched.models.numbers import to_integers
from dlsched.solvers.builder import Builder
from dlsched.solvers.matrix import Floats, Matrix

_LARGE = 10**9
"""Coefficients below this are whole numbers to a solver, with room for its tolerances."""


@dataclass(frozen=True, slots=True)
class SlotProgram:
    """A slot's program.

    Attributes
    ----------
    matrix : Matrix
        Maximises the profit.
    blocks : dict of str to Block
        By request.
    """

    matrix: Matrix
    blocks: dict[str, Block]

    def read(self, x: Floats) -> dict[str, Embedding]:
        """Return the embeddings at a point."""
        found = {name: block.read(x) for name, block in self.blocks.items()}
        return {name: embedding for name, embedding in found.items() if embedding is not None}

    def try_read(self, x: Floats) -> dict[str, Embedding] | None:
        """Return the embeddings at a point; None where its rings are not whole (a program without the core)."""
        try:
            return self.read(x)
        except ValueError:
            return None

    def workers(self, x: Floats) -> dict[str, dict[str, int]]:
        """Return workers by request and server at a point."""
        counts = {name: block.hosting(x) for name, block in self.blocks.items()}
        return {name: workers for name, workers in counts.items() if workers}


def write_blocks(program: Builder, problem: RingProblem, network: Network, *, core: bool = True) -> dict[str, Block]:
    """Write the block of every request of a slot and the rows of its nodes and links."""
    blocks: dict[str, Block] = {}
    for request in problem.requests:
        blocks[request.name] = (
            circulation_block(program, problem, request, network, core=core)
            if request.allowed is None
            else ring_node_block(program, problem, request)
        )
    _capacity_rows(program, problem, blocks)
    return blocks


def slot_program(problem: RingProblem, *, core: bool = True) -> SlotProgram:
    """Return the program of a slot's embedding problem (12)-(19).

    Parameters
    ----------
    problem : RingProblem
    core : bool
        False leaves out how rings run through the core of the network (see `Network`): an upper bound.
    """
    program = Builder(-1)
    blocks = write_blocks(program, problem, Network.of(problem.nodes, problem.arcs), core=core)
    for request in problem.requests:
        for size, terms in blocks[request.name].sizes.items():
            for column, _ in terms:
                program.price(column, float(request.profit[size]))
    return SlotProgram(program.matrix(), blocks)


def _capacity_rows(program: Builder, problem: RingProblem, blocks: Mapping[str, Block]) -> None:
    """Write (18) and (19), those left out that all requests together keep: numbers may be beyond a solver's there."""
    nodes: dict[tuple[str, str], list[tuple[int, Fraction]]] = defaultdict(list)
    arcs: dict[Arc, list[tuple[int, Fraction]]] = defaultdict(list)
    most: dict[str, Fraction] = defaultdict(Fraction)
    widest = Fraction(0)
    for request in polled(problem.requests):
        block, largest = blocks[request.name], max(request.profit, default=0)
        # A ring has at most a hop a worker, and a hop uses no link twice.
        widest += request.bandwidth * largest
        for r, need in request.demand.items():
            most[r] += need * largest
        for u, terms in block.on_node.items():
            for r, need in request.demand.items():
                nodes[u, r] += [(column, value * need) for column, value in terms]
        for arc, terms in block.on_arc.items():
            arcs[arc] += [(column, value * request.bandwidth) for column, value in terms]
    for (u, r), loads in nodes.items():
        limit = problem.nodes[u].get(r, Fraction(0))
        if limit < most[r]:
            _at_most(program, loads, limit)
    for group, limit in problem.shares:
        if limit < len(group) * widest:
            _at_most(program, [term for arc in group for term in arcs.get(arc, ())], limit)


def _at_most(program: Builder, terms: Iterable[tuple[int, Fraction]], limit: Fraction) -> None:
    """Write the row ``terms <= limit`` where all columns are whole at every solution.

    It is scaled to coprime integers, the limit rounded down; where they get too large for a solver, to at most 1.
    """
    kept = [(column, value) for column, value in terms if value]
    if not kept:
        return
    whole, _ = to_integers([*(value for _, value in kept), limit])
    divisor = math.gcd(*whole[:-1])
    if max(whole) < _LARGE * divisor:
        values: list[float] = [value // divisor for value in whole[:-1]]
        upper = float(whole[-1] // divisor)
    else:
        most = max(value for _, value in kept)
        values = [float(value / most) for _, value in kept]
        upper = float(limit / most)
    program.row(zip((column for column, _ in kept), values, strict=True), upper=upper)
