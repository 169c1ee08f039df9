"""The knapsack LP of ring embeddings, which the larger LPs equal where bandwidth does not bind them.

Symbols: chi_ik weight of request i with ring size k; L_iku how many of its ring nodes node u hosts (a fractional
number); m_iu how many fit there.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from dlsched.models.arguments import checked
from dlsched.models.ddljs.requests import RingProblem
from dlsched.models.matrix import Floats, Matrix
from dlsched.relaxations.ring_blocks import Entries, Ints, RingBlock, Substrate, blocks
from dlsched.relaxations.ring_lp import RingLp, VneSolution, optimum, without_empty_rows


@dataclass(frozen=True, eq=False)
class KnapsackVne:
    """The knapsack LP; see `knapsack_vne`.

    Attributes
    ----------
    problem : RingProblem
    sizes : mapping of str to int, or None
    cap : bool
    substrate : Substrate
    blocks : tuple of RingBlock
    starts : ndarray of int
        Of each block, the column chi_ik; L_iku of its valid nodes follow. One more number at the end.
    matrix : Matrix
        Rows: requests, nodes by resource, then for each block sum_u L_iku = k chi_ik and the room of nodes.
    kept : ndarray of int
        Numbers of the matrix's rows among all; rows without entries are left out.
    """

    problem: RingProblem
    sizes: Mapping[str, int] | None
    cap: bool
    substrate: Substrate
    blocks: tuple[RingBlock, ...]
    starts: Ints
    matrix: Matrix
    kept: Ints

    def solve(self) -> VneSolution:
        """Solve the program."""
        value, point, duals = optimum(self.matrix)
        names = [(block.request.name, block.size) for block in self.blocks]
        weights = dict(zip(names, point[self.starts[:-1]].tolist(), strict=True))
        return VneSolution(value, point, duals, weights, "knapsack")

    def lift(self, solution: VneSolution, into: RingLp) -> VneSolution:
        """Return the optimum of a larger LP that an optimum of this one gives.

        Parameters
        ----------
        solution : VneSolution
            Of this program.
        into : RingLp
            The plain LP, or without `cap` the augmented one, of the same problem, sizes and `cap`.

        Returns
        -------
        VneSolution
            Point and duals of `into`, both feasible and of the same value; `RingLp.certify` checks them.

        Raises
        ------
        ValueError
            If `into` is another problem's, or augmented with `cap`: bandwidth counts there.
        """
        if into.augmented and self.cap:
            raise ValueError("with cap the augmented LP can be below the knapsack LP; only duals lift")
        duals = self.lift_duals(solution, into)
        point = np.zeros(into.matrix.A.shape[1])
        for block, ring, start in zip(self.blocks, into.copies, self.starts[:-1].tolist(), strict=True):
            valid = block.hosts[0]
            hosted = np.zeros(len(self.substrate.names))
            hosted[valid] = solution.point[start + 1 : start + 1 + len(valid)] / block.size
            columns = point[ring.column_start : ring.column_start + ring.columns].reshape(ring.copies, ring.width)
            nodes = ring.located[1]
            if into.augmented:
                columns[:, 0] = hosted[valid]
                columns[:, 1 : 1 + len(nodes)] = np.where(valid[:, None] == nodes, hosted[nodes], 0.0)
            else:
                columns[0, 0] = solution.point[start]
                columns[0, 1 : 1 + len(nodes)] = hosted[nodes]
        return VneSolution(into.matrix.value(point), point, duals, into.weights(point), "knapsack")

    def lift_duals(self, solution: VneSolution, into: RingLp) -> Floats:
        """Return duals of a larger LP, feasible and of the same value: an upper bound on it.

        Parameters as in `lift`, but `into` may also be the augmented LP with `cap`.
        """
        same = [(b.request, b.size) for b in self.blocks] == [(r.block.request, r.block.size) for r in into.copies]
        if not same or self.problem.nodes != into.problem.nodes or self.cap != into.cap:
            raise ValueError("the two programs are not of the same problem, sizes and cap")
        shared = len(self.problem.requests) + self.substrate.capacity.size
        own = np.zeros(shared + sum(1 + len(_capped(block, self.cap)) for block in self.blocks))
        own[self.kept] = solution.duals
        full = np.zeros(into.all_rows)
        full[:shared] = own[:shared]
        row = shared
        for block, ring in zip(self.blocks, into.copies, strict=True):
            capped = _capped(block, self.cap)
            rows = full[ring.row_start : ring.row_start + ring.rows].reshape(ring.copies, ring.height)
            rows[:, : block.size - ring.first] = own[row]
            room = np.zeros(len(self.substrate.names))
            room[capped] = own[row + 1 : row + 1 + len(capped)]
            rows[:, ring.height - len(ring.capped) :] = room[ring.capped]
            row += 1 + len(capped)
        return full[into.kept]


def _capped(block: RingBlock, cap: bool) -> Ints:
    """Return the valid nodes where a whole ring does not fit."""
    valid = block.hosts[0]
    return valid[block.room[valid] < block.size] if cap else valid[:0]


@checked
def knapsack_vne(problem: RingProblem, *, sizes: Mapping[str, int] | None = None, cap: bool = False) -> KnapsackVne:
    """Return the knapsack LP of a ring problem.

    ::

        max sum pi_ik chi_ik
        sum_k chi_ik <= 1,  sum_ik l_i^r L_iku <= g^{u,r},  sum_u L_iku = k chi_ik,  [cap: L_iku <= m_iu chi_ik]

    over valid nodes u. Without placement it has the value of the plain LP, with and without `cap`, and without `cap`
    that of the augmented LP, whatever the bandwidths:

    - The loads L_iku = sum_a varrho_ika^u of a plain (or augmented) solution satisfy all rows: those of the locations
      add up to sum_u L = k chi, demands are linear in L, and the rows of `cap` are the same. So the knapsack LP is no
      lower.
    - varrho_ika^u = L_iku / k for each a, without flow, is a plain solution: the ends of each ring edge are spread
      alike, so the flow 0 is balanced, and L_iku <= k chi_ik gives varrho <= chi. So the plain LP is no lower.
    - Without `cap`, x^w = L_ikw / k with all k ring nodes on w is an augmented solution, again without flow.

    The duals of this LP, repeated for all ring nodes and copies and 0 for flows and links, are duals of the other LPs:
    with beta_ik of sum_u L = k chi, sigma_iku of the cap, alpha_i and p of requests and nodes, a copy's x^w needs
    alpha + l p_w + sigma_w - (k-1) beta - sum_u m_u sigma_u >= pi, the sum of what L_ikw and chi_ik need here.

    Parameters
    ----------
    problem : RingProblem
    sizes : mapping of request name to ring size, optional
    cap : bool

    Raises
    ------
    ValueError
        If a request's ring nodes may be told apart (`allowed`), or a request or ring size does not exist.

    Source: not in GADGET; corollary of its (12)-(19).
    """
    told = next((request.name for request in problem.requests if request.allowed is not None), None)
    if told is not None:
        raise ValueError(f"request {told!r} has a placement of its own for each ring node; no knapsack tells")
    substrate, found = blocks(problem, sizes)
    requests, resources = len(problem.requests), len(problem.resources)
    shared = requests + substrate.capacity.size
    lengths = [1 + len(block.hosts[0]) for block in found]
    starts = np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)])
    entries, row, upper = Entries(), shared, [np.ones(requests), substrate.capacity.ravel()]
    lower = [np.full(shared, -np.inf)]
    for block, start in zip(found, starts[:-1].tolist(), strict=True):
        valid, loads, capped = block.hosts[0], start + 1 + np.arange(len(block.hosts[0])), _capped(block, cap)
        entries.add(block.number, start, 1.0)
        for r in np.flatnonzero(block.demand):
            entries.add(requests + valid * resources + r, loads, block.demand[r])
        entries.add(row, loads, 1.0)
        entries.add(row, start, -block.size)
        room = row + 1 + np.arange(len(capped))
        entries.add(room, loads[np.isin(valid, capped)], 1.0)
        entries.add(room, start, -block.room[capped])
        row += 1 + len(capped)
        upper.append(np.zeros(1 + len(capped)))
        lower += [np.zeros(1), np.full(len(capped), -np.inf)]
    c = np.zeros(int(starts[-1]))
    c[starts[:-1]] = [block.profit for block in found]
    matrix, kept = without_empty_rows(entries.matrix(row, len(c)), c, np.concatenate(lower), np.concatenate(upper))
    return KnapsackVne(problem, sizes, cap, substrate, found, starts, matrix, kept)
