"""A slot's linear program with all workers of a ring on one node, as a law of ring sizes and nodes for each job.

The plain and the augmented LP without (5) have the same value, and "all k workers on node u" is a valid mapping.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from fractions import Fraction

from dlsched.algorithms.gadget.classes import server_classes, weights
from dlsched.models.ddljs import RingProblem
from dlsched.models.numbers import rational

Choice = tuple[int, str, Fraction]
"""Ring size, node and probability; size 0 for no ring."""


@dataclass(frozen=True, slots=True)
class Colocated:
    """An optimum of the program.

    Attributes
    ----------
    value : float
    parts : dict of request name to dict of (ring size, node) to Fraction
    """

    value: float
    parts: dict[str, dict[tuple[int, str], Fraction]]

    def options(self, name: str, *, places: bool) -> list[Choice]:
        """Return what a request is rounded to: no ring first; with or without the node of the ring."""
        found: dict[tuple[int, str], Fraction] = defaultdict(Fraction)
        for (size, node), part in self.parts.get(name, {}).items():
            found[size, node if places else ""] += part
        rest = 1 - sum(found.values(), Fraction(0))
        return [(0, "", rest), *((size, node, part) for (size, node), part in found.items())]


def colocated(problem: RingProblem) -> Colocated:
    """Solve the program; weights that rounding carried past 1 are scaled."""
    classes = server_classes(problem)
    found, value = weights(problem, classes, cap=False)
    parts: dict[str, dict[tuple[int, str], Fraction]] = defaultdict(dict)
    for (name, size), by_class in found.items():
        for number, part in by_class.items():
            servers = classes[number].servers
            for node in servers:
                parts[name][size, node] = rational(part) / len(servers)
    for chosen in parts.values():
        most = max(Fraction(1), sum(chosen.values(), Fraction(0)))
        chosen.update({key: part / most for key, part in chosen.items()})
    return Colocated(value, dict(parts))


class Programs:
    """The programs of one substrate, each solved once: with straight utilities those of many slots are the same."""

    def __init__(self) -> None:
        self._solved: dict[tuple[tuple[str, tuple[tuple[int, Fraction], ...]], ...], Colocated] = {}

    def solve(self, problem: RingProblem) -> Colocated:
        """Return an optimum."""
        key = tuple((request.name, tuple(request.profit.items())) for request in problem.requests)
        if key not in self._solved:
            self._solved[key] = colocated(problem)
        return self._solved[key]


def selected_sizes(problem: RingProblem, solution: Colocated) -> dict[str, int]:
    """Return kappa_i = argmax_k pi_ik chi_ik, the smallest of equals, of the requests with rho_i > 0."""
    chosen = {}
    for request in problem.requests:
        chi: dict[int, Fraction] = defaultdict(Fraction)
        for (size, _), part in solution.parts.get(request.name, {}).items():
            chi[size] += part
        if chi:
            chosen[request.name] = max(chi, key=lambda k: (request.profit[k] * chi[k], -k))
    return chosen
