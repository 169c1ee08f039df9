"""The augmented LP of G-VNE for rings: its solutions decompose into mappings.

Symbols (GADGET, Section V-C): chi_ik = sum_w x^w; the other symbols as in `fractional_embedding`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from dlsched.models.arguments import checked, vector
from dlsched.models.ddljs.requests import RingProblem
from dlsched.models.matrix import Floats
from dlsched.relaxations.fractional_embedding import FractionalEmbedding, Located, RingFlow, Routed
from dlsched.relaxations.knapsack_vne import knapsack_vne
from dlsched.relaxations.plain_vne import plain_vne
from dlsched.relaxations.ring_copies import RingCopies
from dlsched.relaxations.ring_lp import RingLp, VneSolution, ring_lp
from dlsched.relaxations.ring_master import by_columns

_NOTHING = 1e-9


@dataclass(frozen=True, eq=False)
class AugmentedVne(RingLp):
    """The augmented LP; see `augmented_vne`."""

    def solve(self) -> VneSolution:
        """Solve the program.

        Without placement and caps the knapsack LP gives an optimum. Else mappings are generated: without caps their
        combinations are all points that count; with caps one is optimal where it attains the bound of the plain LP.
        Where none does, the simplex method of HiGHS takes the whole program.
        """
        placement = any(request.allowed is not None for request in self.problem.requests)
        if not placement:
            knapsack = knapsack_vne(self.problem, sizes=self.sizes, cap=self.cap)
            optimum = knapsack.solve()
            if not self.cap:
                return knapsack.lift(optimum, self)
            bound = replace(optimum, duals=knapsack.lift_duals(optimum, self))
        elif self.cap:
            plain = plain_vne(self.problem, sizes=self.sizes, cap=True)
            optimum = plain.solve()
            bound = replace(optimum, duals=plain.lift_duals(optimum, self))
        return by_columns(self, bound if self.cap else None) or RingLp.solve(self)

    @checked
    def recover(self, point: Floats) -> FractionalEmbedding:
        """Return the fractional embedding of a point of shape (columns,); values below 1e-9 count 0."""
        point = vector("point", point, self.matrix.A.shape[1])
        positive = np.flatnonzero(point > _NOTHING)
        flows = {}
        for ring in self.copies:
            mine = positive[(positive >= ring.column_start) & (positive < ring.column_start + ring.columns)]
            if len(mine):
                flows[ring.block.request.name, ring.block.size] = _ring_flow(ring, mine, point)
        return FractionalEmbedding(self.problem, flows)


def _ring_flow(ring: RingCopies, columns: np.ndarray, point: Floats) -> RingFlow:
    """Return the part of a point that belongs to one ring; `columns` are its positive ones."""
    names, arcs = ring.block.substrate.names, ring.block.substrate.problem.arcs
    ring_nodes, nodes = ring.located
    weight: dict[str, float] = {}
    location: dict[str, dict[Located, float]] = defaultdict(dict)
    flow: dict[str, dict[Routed, float]] = defaultdict(dict)
    copies, places = np.divmod(columns - ring.column_start, ring.width)
    values = point[columns].tolist()
    for copy, place, value in zip(copies.tolist(), places.tolist(), values, strict=True):
        w = names[ring.block.hosts[0][copy]]
        if place == 0:
            weight[w] = value
        elif place <= len(nodes):
            location[w][int(ring_nodes[place - 1]), names[nodes[place - 1]]] = value
        else:
            edge, arc = divmod(place - 1 - len(nodes), len(ring.block.arcs))
            flow[w][edge, arcs[ring.block.arcs[arc]]] = value
    return RingFlow(ring.block.size, weight, dict(location), dict(flow))


@checked
def augmented_vne(problem: RingProblem, *, sizes: Mapping[str, int] | None = None, cap: bool = False) -> AugmentedVne:
    """Return the augmented LP of a ring problem.

    For each request i, ring size k and valid node w of ring node 0 there is a copy of the ring::

        max sum pi_ik x_ik^w
        (A1) sum_kw x_ik^w <= 1                                                            each i
        (A2) sum_u varrho_a^u[w] = x^w                                                     a = 1..k-1
        (A3) out_u(theta_a[w]) - in_u(theta_a[w]) = varrho_a^u[w] - varrho_{a+1 mod k}^u[w]  each u and a
        (A5) demands of all ring nodes on u stay within g^{u,r}, flows on a link within its bandwidth

    where varrho_0^u[w] = x^w for u = w, else 0. All bounds but 0 follow. Each solution is a convex combination of
    mappings and of circulations, which the plain LP's need not be.

    Parameters
    ----------
    problem : RingProblem
    sizes : mapping of request name to ring size, optional
        Embed only these requests, with this ring size; by default all sizes at once, of which a solution mixes any.
    cap : bool
        Add what whole embeddings satisfy (5): no more of a ring's nodes on u than fit there alone, in each copy
        sum_{a>=1} varrho_a^u[w] <= (m_iu - 1 where u = w) x^w.

    Raises
    ------
    ValueError
        If a request of that name, or its ring size, does not exist.

    Source: GADGET, Section V-C, after Rost and Schmid, who route from both ends of a cut cycle; for a ring one cut node
    is enough. GADGET gives no validity filters and no rule for rings of one and two nodes: here a node or link is valid
    if it can carry one ring node or edge, a ring of one node has no edge, one of two has an edge in each direction.
    """
    return AugmentedVne(**ring_lp(problem, sizes, cap, augmented=True))
