"""The augmented LP of G-VNE for rings: its solutions decompose into mappings.

Symbols (GADGET, Section V-C): chi_ik = sum_w x^w; the other symbols as in `fractional_embedding`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from dlsched.arguments import checked
from dlsched.lazy import pyo
from dlsched.models.ddljs.requests import RingProblem
from dlsched.relaxations.contract import Point, Recovery
from dlsched.relaxations.fractional_embedding import FractionalEmbedding, Located, RingFlow, Routed
from dlsched.relaxations.knapsack_vne import knapsack_vne
from dlsched.relaxations.plain_vne import ROWS, PlainVne, plain_vne
from dlsched.relaxations.ring_copies import Layout, RingCopies
from dlsched.relaxations.ring_lp import RingLp, VneSolution
from dlsched.relaxations.ring_master import by_columns
from dlsched.solvers.matrix import Floats
from dlsched.tolerances import ZERO

_SMALL_EXPONENT, _LARGE_EXPONENT = 10, 20
"""Problems whose largest profit is between these powers of two (1e-3, 1e6) are solved as they are: column generation
compares with 1 what mappings earn and paths cost, and its solver sees 1e-9."""


@dataclass(frozen=True, eq=False)
class AugmentedVne(RingLp, Recovery["RecoveredEmbedding"]):
    """The augmented LP; see `augmented_vne`.

    Examples
    --------
    >>> import networkx as nx
    >>> from dlsched.models.ddljs import RingProblem, RingRequest
    >>> from dlsched.relaxations import augmented_vne
    >>> net = nx.Graph([("a", "b", {"bandwidth": 2})])
    >>> net.add_nodes_from("ab", capacity={"gpu": 2})
    >>> problem = RingProblem.of(net, [RingRequest("bert", {4: 6}, {"gpu": 1}, 1)])
    >>> lp = augmented_vne(problem, cap=True)
    >>> embedding = lp.recover(lp.solve().point)
    >>> print({u: round(load, 6) for (u, _), load in embedding.node_loads().items()})
    {'a': 2.0, 'b': 2.0}
    >>> print(max(embedding.residuals().values()) < 1e-9)
    True
    """

    layout: ClassVar[Layout] = Layout.AUGMENTED

    def solve(self) -> VneSolution:
        """Solve the program.

        Without placement and caps the knapsack LP gives an optimum. Else mappings are generated: without caps their
        combinations are all points that count; with caps one is optimal where it attains the bound of the plain LP.
        Where none does, the simplex method of HiGHS takes the whole program.
        """
        exponent = -int(np.frexp(self.matrix.c.max(initial=0.0))[1])
        if not -_LARGE_EXPONENT <= exponent <= _SMALL_EXPONENT:
            return self._solved_in_units_of(exponent)
        bound = None
        if all(request.allowed is None for request in self.problem.requests):
            knapsack = knapsack_vne(self.problem, sizes=self.sizes, cap=self.cap)
            optimum = knapsack.solve()
            if not self.cap:
                return knapsack.lift(optimum, self)
            bound = replace(optimum, duals=knapsack.lift_duals(optimum, self))
        elif self.cap:
            plain = self._plain()
            optimum = plain.solve()
            bound = replace(optimum, duals=plain.lift_duals(optimum, self))
        return by_columns(self, bound) or self.simplex()

    def _solved_in_units_of(self, exponent: int) -> VneSolution:
        """Solve with all profits times a power of two, and return what is found in the problem's own unit."""
        factor = Fraction(1 << max(0, exponent), 1 << max(0, -exponent))
        requests = (
            replace(request, profit={k: factor * worth for k, worth in request.profit.items()})
            for request in self.problem.requests
        )
        found = augmented_vne(self.problem.keeping(requests), sizes=self.sizes, cap=self.cap).solve()
        return self.solution(found.point, np.ldexp(found.duals, -exponent), found.method)

    def _plain(self) -> PlainVne:
        return plain_vne(self.problem, sizes=self.sizes, cap=self.cap)

    def _recovered(self, x: Any, duals: Any) -> RecoveredEmbedding:
        return RecoveredEmbedding(self, self.point_array(x), self.duals_array(duals))

    def on_source(self, point: Floats) -> Any:
        """Return the values of the formulation's variables at a point: those of a ring's copies added up."""
        plain = self._plain()
        collapsed = np.zeros(len(plain.matrix.c))
        for mine, theirs in zip(self.copies, plain.copies, strict=True):
            columns, first = mine.of_point(point), len(mine.block.hosts[0])
            into, total = theirs.of_point(collapsed)[0], columns.sum(axis=0)
            into[0], into[1 : 1 + first], into[1 + first :] = total[0], columns[:, 0], total[1:]
        return plain.on_source(collapsed, None, self.source).values


class RecoveredEmbedding(FractionalEmbedding, Point):
    """A point of the augmented LP: the fractional embedding that it is, and its values on the formulation.

    Parameters
    ----------
    program : AugmentedVne
    point : ndarray of shape (columns,)
        Values up to `ZERO` count 0 in the fractional embedding.
    duals : ndarray of shape (rows,), optional
        Those of requests, nodes and links are duals of the formulation, too.
    """

    _program: AugmentedVne
    _point: Floats
    _duals: Floats | None

    def __init__(self, program: AugmentedVne, point: Floats, duals: Floats | None) -> None:
        positive = np.flatnonzero(point > ZERO)
        flows = {}
        for ring in program.copies:
            mine = positive[(positive >= ring.column_start) & (positive < ring.column_start + ring.columns)]
            if len(mine):
                flows[ring.name] = _ring_flow(ring, mine, point)
        FractionalEmbedding.__init__(self, program.problem, flows)
        vars(self).update(_program=program, _point=point, _duals=duals)

    # Made when asked for: decomposing needs none of them, and the formulation can take longer to build than the LP.
    @cached_property
    def values(self) -> Any:
        """Formulation's variable to value: those of a ring's copies added up."""
        return self._program.on_source(self._point)

    @cached_property
    def duals(self) -> Any:
        """Formulation's constraint to its dual, for the constraints that rings share."""
        if self._duals is None:
            return pyo.ComponentMap()
        source, shared = self._program.source, self._program.shared_rows
        keys = zip(self._program.row_keys(), self._program.kept.tolist(), self._duals.tolist(), strict=True)
        return pyo.ComponentMap(
            (source.component(ROWS[name])[index], dual) for (name, index), row, dual in keys if row < shared
        )

    @cached_property
    def reduced_costs(self) -> Any:
        """Empty: the copies' are none of the formulation's."""
        return pyo.ComponentMap()


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
    InputError
        If a request of that name, or its ring size, does not exist.

    References
    ----------
    GADGET, Section V-C, after Rost and Schmid, who route from both ends of a cut cycle; for a ring one cut node
    is enough. GADGET gives no validity filters and no rule for rings of one and two nodes: here a node or link is valid
    if it can carry one ring node or edge, a ring of one node has no edge, one of two has an edge in each direction.

    Examples
    --------
    >>> import networkx as nx
    >>> from dlsched.models.ddljs import RingProblem, RingRequest
    >>> from dlsched.relaxations import augmented_vne, plain_vne
    >>> net = nx.relabel_nodes(nx.cycle_graph(4, create_using=nx.DiGraph), dict(enumerate("abcd")))
    >>> net.add_nodes_from("abcd", capacity={"gpu": 5})
    >>> nx.set_edge_attributes(net, 1, "bandwidth")
    >>> ends = frozenset("ac"), frozenset("bd")
    >>> problem = RingProblem.of(net, [RingRequest(job, {2: 6}, {"gpu": 1}, 1, ends) for job in ("bert", "vit")])
    >>> print(round(plain_vne(problem).solve().value, 6), round(augmented_vne(problem).solve().value, 6))
    12.0 6.0
    """
    return AugmentedVne.of(problem, sizes, cap)
