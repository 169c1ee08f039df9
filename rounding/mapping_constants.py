"""The constants of GADGET's Theorem 8: by how much rounding overloads nodes and links, at most, as a rule.

With V and E the substrate's nodes and links, and u valid for i where l_i^r <= g^{u,r} for all r,

    beta^r = 1 + eps^r sqrt(2 Delta^r ln|V|),  gamma = 1 + eps_E sqrt(2 Delta_E ln|E|),
    eps^r = max d_max^r(i,u) / g^{u,r},  Delta^r = max_u sum_i (C_max^r(i,u) / d_max^r(i,u))^2,

and likewise for links, over the valid u with d_max > 0: d_max is what one ring node (edge) needs, C_max the most that a
valid mapping puts on a node (link). For one unconditional draw of a decomposed solution, by Hoeffding's inequality,
P(A^{u,r} >= beta^r g^{u,r}) <= |V|^-4 where g > 0 and Delta^r > 0, and P(A^e >= gamma e) <= |E|^-4; and profit is below
a third of the LP's with probability at most exp(-2/9), if no request's profit alone exceeds the LP's value. The printed
theorem leaves eps undefined and gives no probability for the profit.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction

from dlsched.arguments import checked, not_negative
from dlsched.arithmetic import exact_power, exp, log
from dlsched.models.ddljs.requests import RingProblem, RingRequest
from dlsched.models.numbers import amount
from dlsched.rounding.mapping_table import Acceptance, MappingTable, Weighted

PROFIT_MISS = exp(-2 / 9)
"""At most this is P(profit < a third of the LP's value)."""


@dataclass(frozen=True, slots=True)
class MappingConstants:
    """The constants of Theorem 8.

    Attributes
    ----------
    epsilon : dict of str to Fraction
        eps^r by resource; 0 where no node is valid for anyone.
    epsilon_links : Fraction
        eps_E.
    delta : dict of str to int
        Delta^r(V_S).
    delta_links : int
        Delta(E_S), or an upper bound on it: a ring of k nodes may use a link k times.
    nodes, links : int
        |V_S| and |E_S|; a half-duplex link counts once.

    Examples
    --------
    >>> from dlsched.models.ddljs import RingProblem, RingRequest
    >>> from dlsched.rounding import mapping_constants
    >>> jobs = [RingRequest(f"job{k}", {2: 3}, {"gpu": 1}, 0) for k in range(4)]
    >>> problem = RingProblem({u: {"gpu": 5} for u in "abcdef"}, (), jobs)
    >>> constants = mapping_constants(problem)
    >>> print(round(constants.beta["gpu"], 3), constants.node_bound, round(constants.miss, 3))
    2.514 1/1296 0.805
    """

    epsilon: dict[str, Fraction]
    epsilon_links: Fraction
    delta: dict[str, int]
    delta_links: int
    nodes: int
    links: int

    @property
    def beta(self) -> dict[str, float]:
        """beta^r by resource."""
        return {r: _factor(eps, self.delta[r], self.nodes) for r, eps in self.epsilon.items()}

    @property
    def gamma(self) -> float:
        """The factor for links."""
        return _factor(self.epsilon_links, self.delta_links, self.links)

    @property
    def node_bound(self) -> Fraction:
        """|V_S|^-4, the bound on P(A^{u,r} >= beta^r g^{u,r})."""
        return Fraction(1, exact_power(self.nodes, 4))

    @property
    def link_bound(self) -> Fraction:
        """|E_S|^-4, the bound on P(A^e >= gamma e); 1 where there is no link."""
        return Fraction(1, exact_power(max(1, self.links), 4))

    @property
    def miss(self) -> float:
        """A bound on the probability that a draw is not accepted: exp(-2/9) + |R| |V|^-3 + |E|^-3."""
        links = 1 / exact_power(self.links, 3) if self.links else 0.0
        return PROFIT_MISS + len(self.epsilon) * 1 / exact_power(self.nodes, 3) + links

    def acceptance(self, least_profit: Fraction | float | None) -> Acceptance:
        """Return what Algorithm 2 accepts: (alpha, beta^r, gamma)-approximate solutions.

        beta^r and gamma are irrational, and no fraction is meant by their floats: they are taken at their exact values.

        Parameters
        ----------
        least_profit : number or None
            alpha times the LP's value.
        """
        return Acceptance(least_profit, {r: Fraction(beta) for r, beta in self.beta.items()}, Fraction(self.gamma))


@checked
def mapping_constants(
    problem: RingProblem,
    sizes: Mapping[str, int] | None = None,
    *,
    caps: bool = False,
    epsilon: Fraction | float | None = None,
) -> MappingConstants:
    """Return the constants of Theorem 8.

    Parameters
    ----------
    problem : RingProblem
    sizes : mapping of str to int, optional
        The ring size of each request that is rounded; requests left out are not. By default each request's largest,
        which covers a decomposition over all sizes.
    caps : bool
        Mappings put no more ring nodes on a node than fit there, as (5) asks; else any number, as Rost and Schmid's
        valid mappings may.
    epsilon : number, optional
        One eps for all, in place of eps^r and eps_E; 1 is what holds for every problem.

    Raises
    ------
    KeyError
        If a size names no request of the problem.

    References
    ----------
    GADGET, Theorem 8 with the definitions before it; corrected.

    Examples
    --------
    >>> from dlsched.models.ddljs import RingProblem, RingRequest
    >>> from dlsched.relaxations import augmented_vne
    >>> from dlsched.rounding import MappingLaw, decompose, mapping_constants
    >>> jobs = [RingRequest(f"job{k}", {2: 3 + k}, {"gpu": 1}, 0) for k in range(4)]
    >>> problem = RingProblem({u: {"gpu": 3} for u in "ab"}, (), jobs)
    >>> constants, lp = mapping_constants(problem), augmented_vne(problem)
    >>> law = MappingLaw(problem, decompose(lp.recover(lp.solve().point)))
    >>> beta = constants.beta["gpu"]
    >>> print(round(beta, 3), law.violation("a", "gpu", factor=beta), "<=", constants.node_bound)
    2.57 0 <= 1/16
    """
    not_negative(epsilon=epsilon)
    if sizes is None:
        sizes = {request.name: max(request.profit) for request in problem.requests if request.profit}
    largest = [(problem.request(name), size) for name, size in sizes.items()]
    fixed = None if epsilon is None else amount("epsilon", epsilon)
    eps: dict[str, Fraction] = {}
    delta: dict[str, int] = {}
    for r in problem.resources:
        eps[r], delta[r] = _of_resource(problem, largest, r, caps)
        eps[r] = eps[r] if fixed is None else fixed
    eps_links, delta_links = _of_links(problem, largest)
    return MappingConstants(
        eps, eps_links if fixed is None else fixed, delta, delta_links, len(problem.nodes), len(problem.shares)
    )


def third(problem: RingProblem, weighted: Weighted) -> Fraction:
    """Return alpha = 1/3 of the value of the decomposed fractional embedding."""
    return MappingTable.of(problem, weighted).expected_profit / 3


def _factor(epsilon: Fraction, delta: int, count: int) -> float:
    return 1 + float(epsilon) * math.sqrt(2 * delta * log(max(1, count)))


def _of_resource(
    problem: RingProblem, largest: list[tuple[RingRequest, int]], resource: str, caps: bool
) -> tuple[Fraction, int]:
    """Return eps^r and Delta^r."""
    eps, sums = Fraction(0), dict.fromkeys(problem.nodes, 0)
    free = all(request.allowed is None for request, _ in largest)
    places = tuple(dict.fromkeys(problem.kinds.values())) if free else problem.servers
    for request, size in largest:
        need = request.demand.get(resource, Fraction(0))
        if not need:
            continue
        for u, count in _hosted(problem, request, size, places).items():
            eps = max(eps, need / problem.nodes[u][resource])
            held = min(count, problem.room(request, u)) if caps else count
            sums[u] += held * held
    return eps, max(sums.values(), default=0)


def _hosted(problem: RingProblem, request: RingRequest, size: int, places: Iterable[str]) -> dict[str, int]:
    """Return for each valid node how many of the ring's nodes it may host, RS-valid; of `places` if all are alike."""
    if request.allowed is None:
        return {u: size for u in places if problem.room(request, u)}
    counts: dict[str, int] = {}
    for a in range(size):
        for u in problem.hosts(request, a):
            counts[u] = counts.get(u, 0) + 1
    return counts


def _of_links(problem: RingProblem, largest: list[tuple[RingRequest, int]]) -> tuple[Fraction, int]:
    """Return eps_E and the bound on Delta(E_S)."""
    limits = problem.limits
    rings = [(request.bandwidth, size) for request, size in largest if size > 1 and request.bandwidth and limits]
    carried = [(bandwidth, size) for bandwidth, size in rings if bandwidth <= limits[-1]]
    tightest = (b / limits[bisect_left(limits, b)] for b in {b for b, _ in carried})
    return max(tightest, default=Fraction(0)), sum(size * size for _, size in carried)
