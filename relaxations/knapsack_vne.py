"""The knapsack LP of ring embeddings, which the larger LPs equal where bandwidth does not bind them.

Symbols: chi_ik weight of request i with ring size k; L_iku how many of its ring nodes node u hosts (a fractional
number); m_iu how many fit there.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from dlsched.arguments import checked
from dlsched.errors import InputError
from dlsched.models.ddljs.requests import RingProblem
from dlsched.relaxations.contract import Point, Recovery, TransformationRefused
from dlsched.relaxations.plain_vne import plain_vne
from dlsched.relaxations.ring_copies import Layout
from dlsched.relaxations.ring_lp import RingLp, VneSolution
from dlsched.solvers.matrix import Floats


@dataclass(frozen=True, eq=False)
class KnapsackVne(RingLp, Recovery[Point]):
    """The knapsack LP; see `knapsack_vne`. Its columns are chi_ik and, as ``hosted``, L_iku of valid nodes.

    Examples
    --------
    >>> import networkx as nx
    >>> from dlsched.models.ddljs import RingProblem, RingRequest
    >>> from dlsched.relaxations import augmented_vne, knapsack_vne
    >>> net = nx.Graph([("a", "b", {"bandwidth": 1})])
    >>> net.add_nodes_from("ab", capacity={"gpu": 1.5})
    >>> problem = RingProblem.of(net, [RingRequest("bert", {3: 6}, {"gpu": 1}, 1)])
    >>> small, large = knapsack_vne(problem), augmented_vne(problem)
    >>> found = small.solve()
    >>> print({u: round(load, 6) for u, load in small.loads(found.point)["bert", 3].items()})
    {'a': 1.5, 'b': 1.5}
    >>> lifted = small.lift(found, large)
    >>> print({what: round(off, 9) for what, off in large.certify(lifted).items()})
    {'primal': 0.0, 'dual': 0.0, 'gap': 0.0}
    """

    layout: ClassVar[Layout] = Layout.KNAPSACK

    def solve(self) -> VneSolution:
        """Solve the program."""
        return replace(self.simplex(), method="knapsack")

    def loads(self, point: Floats) -> dict[tuple[str, int], dict[str, float]]:
        """Return L_iku at a point, by request and ring size."""
        names = self.substrate.names
        found = {}
        for ring in self.copies:
            loads = ring.of_point(point)[0, 1:].tolist()
            found[ring.name] = {names[u]: load for u, load in zip(ring.located[1], loads, strict=True)}
        return found

    def _recovered(self, x: Any, duals: Any) -> Point:
        """Return the point of the plain LP that a point of this program gives; its ring nodes are spread alike."""
        plain, y = plain_vne(self.problem, sizes=self.sizes, cap=self.cap), self.duals_array(duals)
        point = self._lifted(self.point_array(x), plain)
        return plain.on_source(point, None if y is None else self._lifted_duals(y, plain), self.source)

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
        InputError
            If `into` is another problem's, or augmented with `cap`: bandwidth counts there.
        """
        if into.layout is Layout.AUGMENTED and self.cap:
            raise InputError("with cap the augmented LP can be below the knapsack LP; only duals lift")
        duals = self.lift_duals(solution, into)
        return into.solution(self._lifted(solution.point, into), duals, "knapsack")

    def _lifted(self, point: Floats, into: RingLp) -> Floats:
        full = np.zeros(len(into.matrix.c))
        for mine, theirs in zip(self.copies, into.copies, strict=True):
            weight, *loads = mine.of_point(point)[0].tolist()
            valid, nodes, columns = mine.located[1], theirs.located[1], theirs.of_point(full)
            hosted = np.zeros(len(self.substrate.names))
            hosted[valid] = np.array(loads) / mine.block.size
            if into.layout is Layout.AUGMENTED:
                columns[:, 0] = hosted[valid]
                columns[:, 1 : 1 + len(nodes)] = np.where(valid[:, None] == nodes, hosted[nodes], 0.0)
            else:
                columns[0, 0] = weight
                columns[0, 1 : 1 + len(nodes)] = hosted[nodes]
        return full

    def lift_duals(self, solution: VneSolution, into: RingLp) -> Floats:
        """Return duals of a larger LP, feasible and of the same value: an upper bound on it.

        Parameters as in `lift`, but `into` may also be the augmented LP with `cap`.
        """
        if not self.is_like(into):
            raise InputError("the two programs are not of the same problem, sizes and cap")
        return self._lifted_duals(solution.duals, into)

    def _lifted_duals(self, duals: Floats, into: RingLp) -> Floats:
        own, full = self.all_duals(duals), np.zeros(into.all_rows)
        full[: self.shared_rows] = own[: self.shared_rows]
        for mine, theirs in zip(self.copies, into.copies, strict=True):
            room = np.zeros(len(self.substrate.names))
            room[mine.capped] = mine.room_part(own)[0]
            theirs.located_part(full)[...] = mine.located_part(own)
            theirs.room_part(full)[...] = room[theirs.capped]
        return full[into.kept]


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
    TransformationRefused
        If a request's ring nodes may be told apart (`allowed`).
    InputError
        If a request or ring size does not exist.

    References
    ----------
    Not in GADGET; corollary of its (12)-(19).

    Examples
    --------
    >>> import networkx as nx
    >>> from dlsched.models.ddljs import RingProblem, RingRequest
    >>> from dlsched.relaxations import knapsack_vne, plain_vne
    >>> net = nx.relabel_nodes(nx.cycle_graph(20, create_using=nx.DiGraph), str)
    >>> net.add_nodes_from(list(net), capacity={"gpu": 1})
    >>> nx.set_edge_attributes(net, 1, "bandwidth")
    >>> jobs = [RingRequest(f"job{i}", {2: 3, 4: 5}, {"gpu": 1}, 1) for i in range(20)]
    >>> problem = RingProblem.of(net, jobs)
    >>> for lp in (plain_vne(problem), knapsack_vne(problem)):
    ...     print(len(lp.matrix.c), round(lp.solve().value, 6))
    4840 30.0
    840 30.0
    """
    told = next((request.name for request in problem.requests if request.allowed is not None), None)
    if told is not None:
        raise TransformationRefused(
            f"request {told!r} has a placement of its own for each ring node, which no knapsack tells: use plain_vne"
        )
    return KnapsackVne.of(problem, sizes, cap)
