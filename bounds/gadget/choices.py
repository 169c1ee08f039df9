"""What Algorithm 2 makes of a slot, for each optimum of its linear programs that the tool can name.

The print does not say which of several optima is rounded, and what a draw overloads depends on it. A quantity of a
slot, or of a whole run, is the interval over the optima.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from dlsched import relaxations
from dlsched.algorithms.gadget.mixtures import Fractional, Relaxation, Vertex, rounded_optimum, selected
from dlsched.bounds.claim import Undecided
from dlsched.bounds.comparison import Interval
from dlsched.bounds.gadget.rationals import program_of
from dlsched.bounds.shown import Shown, shown
from dlsched.models.ddljs import RingProblem
from dlsched.models.numbers import agree
from dlsched.rounding import Acceptance, MappingConstants, MappingLaw, mapping_constants
from dlsched.rounding.mapping_law import Outcome
from dlsched.rounding.mapping_table import LinkRow, Loads, Row
from dlsched.tolerances import AS_GOOD

VERTEX = (
    "which optimum of the linear programs is rounded: one with (5), one with each ring on one server, or one with "
    "rings spread over servers"
)
"""What Algorithm 2 leaves open."""

EPSILON = "eps, which is taken as the greatest need over capacity, as the proof needs"
"""What Theorem 8 leaves open."""

MAX_OUTCOMES = 20_000
"""Outcomes of the draw of one slot, at most. Arbitrary: limits count work and not seconds, so that verdicts are the
same everywhere."""


@dataclass(frozen=True)
class Choice:
    """One optimum of the linear programs of a slot.

    Attributes
    ----------
    problem : RingProblem
        Of the slot, with all requests.
    vertex : Vertex
    fractional : Fractional
        The optimum that is rounded, decomposed.
    """

    problem: RingProblem
    vertex: Vertex
    fractional: Fractional

    def told(self) -> Choice:
        """Return it, if it is worth the optimum of its linear program, and say to the verdict what that rests on."""
        if not agree(self._worth, self._optimum.told(), unit=self.problem.unit):
            raise Undecided("what is rounded is not shown to be an optimum of its linear program")
        return self

    @cached_property
    def _optimum(self) -> Shown:
        selection, capped = self.fractional.selection, self.vertex is Vertex.CAPPED
        sizes = None if selection is None else selection.sizes
        program = relaxations.augmented_vne(self.problem, sizes=sizes, cap=capped)
        return shown(lambda: program_of(program), lambda: program.solve().value)

    @property
    def _worth(self) -> Fraction:
        """The expected profit of a draw."""
        profits = {request.name: request.profit for request in self.problem.requests}
        several = ((profits[name], one) for name, some in self.fractional.mappings.items() for one in some)
        return sum((one.weight * profit[one.size] for profit, one in several), Fraction(0))

    @cached_property
    def law(self) -> MappingLaw:
        """The law of a draw."""
        law = MappingLaw(self.problem, self.fractional.mappings)
        outcomes = 1
        for options in law.table.options.values():
            outcomes *= len(options)
        if outcomes > MAX_OUTCOMES:
            raise Undecided(f"a draw has more than {MAX_OUTCOMES} outcomes")
        return law

    @cached_property
    def sizes(self) -> dict[str, int]:
        """The largest ring of each job that is rounded; the selected one, where one is."""
        return {name: max(one.size for one in some) for name, some in self.fractional.mappings.items() if some}

    @cached_property
    def constants(self) -> MappingConstants:
        """The constants of Theorem 8."""
        return mapping_constants(self.problem, self.sizes)

    @cached_property
    def third(self) -> Fraction:
        """A third of the value of the linear program, less what rounding of numbers may cost."""
        return self.law.table.expected_profit / 3 - Fraction(AS_GOOD * self.problem.unit)

    @cached_property
    def acceptance(self) -> Acceptance:
        """What the loop of Algorithm 2 accepts: (1/3, beta, gamma)-approximate draws."""
        return self.constants.acceptance(self.third)

    @property
    def moderate(self) -> bool:
        """Whether no ring that is rounded is worth more than the linear program."""
        value = self.fractional.value + AS_GOOD * self.problem.unit
        return all(self.problem.request(name).profit[k] <= value for name, k in self.sizes.items())

    def outcomes(self, rounds: int) -> list[Outcome]:
        """Return the law of what the loop returns; of one draw where `rounds` is 1."""
        return list(self.law.outcomes()) if rounds == 1 else self.law.returned(self.acceptance, rounds)

    def factor(self, row: Row) -> Fraction:
        """Return beta^r of a node's row, gamma of a link's, at the value of its float, as what is accepted."""
        return Fraction(self.constants.gamma if isinstance(row, LinkRow) else self.constants.beta[row.resource])

    def rare(self, row: Row) -> Fraction:
        """Return |V_S|^-4 for a node's row, |E_S|^-4 for a link's."""
        return self.constants.link_bound if isinstance(row, LinkRow) else self.constants.node_bound

    @cached_property
    def overloads(self) -> dict[Row, Fraction]:
        """The load beta g or gamma e, from which on a row is overloaded; of rows whose g and Delta are positive."""
        return {
            row: self.factor(row) * capacity
            for row, capacity in self.law.table.capacity.items()
            if capacity and self.factor(row) > 1
        }

    @cached_property
    def breakable(self) -> bool:
        """Whether valid mappings of all jobs together, by C_max, could overload a row."""
        most: dict[Row, Fraction] = dict.fromkeys(self.overloads, Fraction(0))
        for name, size in self.sizes.items():
            request = self.problem.request(name)
            hosts = set(self.problem.hosts(request))
            arcs = set(self.problem.usable(request)) if size > 1 else set()
            for row in most:
                if isinstance(row, LinkRow):
                    most[row] += size * request.bandwidth if arcs.intersection(row.arcs) else 0
                elif row.node in hosts:
                    most[row] += size * request.demand.get(row.resource, Fraction(0))
        return any(load >= self.overloads[row] for row, load in most.items())

    def overloaded(self, loads: Loads) -> frozenset[Row]:
        """Return the rows that loads overload by beta or gamma."""
        return frozenset(row for row, load in loads.items() if row in self.overloads and load >= self.overloads[row])


def choices(problem: RingProblem) -> list[Choice]:
    """Return what Algorithm 2 may round of a slot: rings selected by the plain LP, as printed."""
    return [chosen(problem, vertex) for vertex in Vertex]


def chosen(problem: RingProblem, vertex: Vertex, *, itself: bool = False, select: bool = True) -> Choice:
    """Return one of the optima.

    Parameters
    ----------
    problem : RingProblem
    vertex : Vertex
    itself : bool
        Rings are selected by the program that is rounded, see `tells_apart`.
    select : bool
        Rings are selected; else sizes and mappings are drawn together.
    """
    if not select:
        return Choice(problem, vertex, rounded_optimum(problem, Relaxation.AUTO, vertex))
    return Choice(problem, vertex, selected(problem, Relaxation.AUTO, vertex, itself=itself))


def tells_apart(problem: RingProblem, vertex: Vertex) -> bool:
    """Tell whether the program that is rounded may select other rings than the plain one.

    Without (5) and placements, the optimum that has each ring on one server is one of both.
    """
    return vertex is Vertex.CAPPED or any(request.allowed is not None for request in problem.requests)


def over(values: Iterable[float | Fraction]) -> Interval:
    """Return the interval of the values."""
    several = [float(value) for value in values]
    return Interval(min(several), max(several))
