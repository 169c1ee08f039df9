"""The LP relaxation of G-VNE, and the ring sizes that its solution selects.

Symbols (GADGET, Section V-C): chi_ik weight of request i with ring size k; pi_ik profit; kappa_i selected size.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from dlsched.arguments import checked
from dlsched.errors import InputError, shown
from dlsched.models.ddljs.requests import RingProblem
from dlsched.models.numbers import slack
from dlsched.relaxations.contract import Point, Recovery
from dlsched.relaxations.ring_copies import Layout
from dlsched.relaxations.ring_lp import RingLp, VneSolution
from dlsched.solvers.matrix import Floats
from dlsched.tolerances import TOLERANCE

ROWS = {
    "request": "one_size",
    "node": "node_load",
    "link": "link_load",
    "locations": "placed",
    "balance": "flow",
    "room": "cap",
}
"""The formulation's constraint that each row of the program is."""


@dataclass(frozen=True, eq=False)
class PlainVne(RingLp, Recovery[Point]):
    """The plain LP; see `plain_vne`.

    Examples
    --------
    >>> import networkx as nx
    >>> from dlsched.models import solve
    >>> from dlsched.models.ddljs import RingProblem, RingRequest
    >>> from dlsched.relaxations import plain_vne
    >>> net = nx.Graph([("a", "b", {"bandwidth": 2})])
    >>> net.add_nodes_from("ab", capacity={"gpu": 3})
    >>> jobs = [RingRequest(job, {4: 8}, {"gpu": 1}, 1) for job in ("bert", "vit")]
    >>> lp = plain_vne(RingProblem.of(net, jobs))
    >>> found = lp.solve()
    >>> print(round(found.value, 6), {what: round(off, 9) for what, off in lp.certify(found).items()})
    12.0 {'primal': 0.0, 'dual': 0.0, 'gap': 0.0}
    >>> point = lp.recover(found.point, found.duals)
    >>> print({u: round(point.duals[lp.source.node_load[u, "gpu"]], 6) for u in "ab"})
    {'a': 2.0, 'b': 2.0}
    """

    layout: ClassVar[Layout] = Layout.PLAIN

    def _recovered(self, x: Any, duals: Any) -> Point:
        return self.on_source(self.point_array(x), self.duals_array(duals), self.source)

    def on_source(self, point: Floats, duals: Floats | None, source: Any) -> Point:
        """Return a point of this program, and its duals, as a point of the formulation that it relaxes.

        Parameters
        ----------
        point : ndarray of shape (columns,)
        duals : ndarray of shape (rows,), optional
        source : pyomo.environ.ConcreteModel
            `RingLp.source`, of this program or of one of another layout.
        """
        found = Point()
        variables = {"chi": source.size, "varrho": source.place, "theta": source.route}
        for (name, index), value in zip(self.column_keys(), point.tolist(), strict=True):
            found.values[variables[name][index]] = value
        found.values.update((embedded, 0.0) for embedded in source.embedded.values())
        for (i, _), weight in self.weights(point).items():
            found.values[source.embedded[i]] += weight
        if duals is not None:
            for (name, index), dual in zip(self.row_keys(), duals.tolist(), strict=True):
                found.duals[source.component(ROWS[name])[index]] = dual
        return found

    def lift_duals(self, solution: VneSolution, into: RingLp) -> Floats:
        """Return duals of the augmented LP, feasible and of the same value: an upper bound on it.

        The locations, balances and rooms of each copy get the duals of the plain LP's. What x^w then needs is the sum
        of what chi and the location of ring node 0 on w need in the plain LP.

        Parameters
        ----------
        solution : VneSolution
            Of this program.
        into : RingLp
            The augmented LP of the same problem, sizes and `cap`.
        """
        if into.layout is not Layout.AUGMENTED or not self.is_like(into):
            raise InputError("the duals lift into the augmented LP of the same problem, sizes and cap")
        own, full = self.all_duals(solution.duals), np.zeros(into.all_rows)
        full[: self.shared_rows] = own[: self.shared_rows]
        for mine, theirs in zip(self.copies, into.copies, strict=True):
            theirs.located_part(full)[...] = mine.located_part(own)[:, 1:]
            theirs.balance_part(full)[...] = mine.balance_part(own)
            theirs.room_part(full)[...] = mine.room_part(own)
        return full[into.kept]


@checked
def plain_vne(problem: RingProblem, *, sizes: Mapping[str, int] | None = None, cap: bool = False) -> PlainVne:
    """Return the LP relaxation of G-VNE (12)-(19).

    Rows: sum_k chi_ik <= 1 with rho_i left out as their sum (13); sum_u varrho_ika^u = chi_ik; flows balanced (15);
    demands within capacities (16)-(19).

    Parameters
    ----------
    problem : RingProblem
    sizes : mapping of request name to ring size, optional
        Only these requests and sizes; by default all.
    cap : bool
        Add sum_a varrho_ika^u <= m_iu chi_ik, which whole embeddings satisfy by (5).

    Notes
    -----
    A solution need not be a convex combination of embeddings: on a directed cycle, half flows between nodes that
    alternate take half of what an embedding takes.

    Examples
    --------
    >>> import networkx as nx
    >>> from dlsched.models import solve
    >>> from dlsched.models.ddljs import RingProblem, RingRequest
    >>> from dlsched.relaxations import plain_vne
    >>> net = nx.Graph([("a", "b", {"bandwidth": 1})])
    >>> net.add_nodes_from("ab", capacity={"gpu": 2})
    >>> problem = RingProblem.of(net, [RingRequest("bert", {3: 6}, {"gpu": 1}, 1)])
    >>> lp = plain_vne(problem)
    >>> print(round(lp.solve().value, 6), round(solve(lp.source).objective, 6))
    6.0 0.0
    """
    return PlainVne.of(problem, sizes, cap)


@checked
def select_rings(
    problem: RingProblem, weights: Mapping[tuple[str, int], float], rule: str = "profit"
) -> dict[str, int]:
    """Return the ring size kappa_i of each request, of those that have weights.

    Parameters
    ----------
    problem : RingProblem
    weights : mapping of (request name, ring size) to float
        chi_ik of an LP solution, e.g. `VneSolution.weights`.
    rule : {"profit", "mean"}
        ``profit``: the size with the largest pi_ik chi_ik, the smallest of several. ``mean``: the largest size that is
        at most sum_k k chi_ik, else the smallest.

    Raises
    ------
    InputError
        If there is no such rule, or a weight is of no ring of the problem or no number.

    References
    ----------
    GADGET, Lemma 7, whose printed maximum is the value, not the size; the LP with the selected sizes keeps at
    least 1 / max_i |Q_i| of the LP's value. The rule by means is not in the paper.

    Examples
    --------
    >>> from dlsched.models.ddljs import RingProblem, RingRequest
    >>> from dlsched.relaxations import plain_vne, select_rings
    >>> jobs = [RingRequest("bert", {1: 3, 4: 6}, {"gpu": 1}, 0), RingRequest("vit", {1: 3, 4: 7}, {"gpu": 1}, 0)]
    >>> problem = RingProblem({"a": {"gpu": 6}}, (), jobs)
    >>> whole = plain_vne(problem).solve()
    >>> print({ring: round(weight, 6) for ring, weight in whole.weights.items()}, round(whole.value, 6))
    {('bert', 1): 0.666667, ('bert', 4): 0.333333, ('vit', 1): 0.0, ('vit', 4): 1.0} 11.0
    >>> sizes = select_rings(problem, whole.weights)
    >>> print(sizes, round(plain_vne(problem, sizes=sizes).solve().value, 6))
    {'bert': 1, 'vit': 4} 10.0
    """
    if rule not in ("profit", "mean"):
        raise InputError(f"unknown rule {rule!r}; there are profit, mean")
    rings = {(request.name, size) for request in problem.requests for size in request.sizes}
    for ring, weight in weights.items():
        if ring not in rings:
            raise InputError(f"weights: {shown(ring)} is not a request of the problem with a size of its ring")
        if math.isnan(weight):
            raise InputError(f"weights: that of {shown(ring)} is not a number")
    selected = {}
    for request in problem.requests:
        chi = {size: weights[request.name, size] for size in request.sizes if (request.name, size) in weights}
        if not chi:
            continue
        if rule == "mean":
            mean = math.floor(math.fsum(size * weight for size, weight in chi.items()) + TOLERANCE)
            selected[request.name] = max((size for size in chi if size <= mean), default=min(chi))
        else:
            paid = {size: float(request.profit[size]) * weight for size, weight in chi.items()}
            best = max(paid.values())
            selected[request.name] = min(size for size in chi if paid[size] >= best - slack(best, unit=problem.unit))
    return selected
