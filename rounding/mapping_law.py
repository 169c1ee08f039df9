"""Exact laws of rounded mappings: profit, loads, feasibility, and what repeated draws return.

Requests are independent, so each law is a convolution over them. The law of one row needs its loads only; a
probability that concerns many rows at once convolves their vectors, merged where the rest no longer matters.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import groupby, product

from dlsched.arguments import at_least
from dlsched.arithmetic import exact_power
from dlsched.errors import InputError
from dlsched.models.ddljs.requests import RingProblem
from dlsched.models.ddljs.rings import Arc
from dlsched.models.numbers import amount, to_integers
from dlsched.rounding.convolution import Term, distribution, probability_beyond
from dlsched.rounding.mapping_table import (
    FEASIBLE,
    Acceptance,
    MappingTable,
    Option,
    Row,
    Weighted,
)
from dlsched.rounding.probability import MAX_OUTCOMES

Law = dict[Fraction, Fraction]
"""Value to probability, ascending; the probabilities add up to 1."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """One outcome of rounding all requests.

    Attributes
    ----------
    probability, profit : Fraction
    chosen : tuple of Option
        For each request, in the order of the problem.

    Examples
    --------
    >>> from fractions import Fraction
    >>> from dlsched.models.ddljs import RingMapping, RingProblem, RingRequest
    >>> from dlsched.rounding import MappingLaw, WeightedMapping
    >>> jobs = [RingRequest(job, {1: worth}, {"gpu": 2}, 0) for job, worth in (("bert", 6), ("vit", 4))]
    >>> problem = RingProblem({"a": {"gpu": 3}}, (), jobs)
    >>> on_a = RingMapping(("a",), ())
    >>> weighted = {job.name: [WeightedMapping(Fraction(3, 4), 1, on_a)] for job in jobs}
    >>> for outcome in MappingLaw(problem, weighted).outcomes():
    ...     print(outcome.probability, outcome.profit)
    1/16 0
    3/16 4
    3/16 6
    9/16 10
    """

    probability: Fraction
    profit: Fraction
    chosen: tuple[Option, ...]


class MappingLaw:
    """The law of one unconditional draw, and of what repeated draws return.

    Parameters
    ----------
    problem : RingProblem
    weighted : mapping of str to sequence of WeightedMapping
        As `dlsched.rounding.decompose` returns it.

    Raises
    ------
    InputError
        As `MappingTable.of`; methods raise it where a convolution has too many distinct sums.

    References
    ----------
    GADGET, Algorithm 2, steps 7-9, and Theorem 8.

    Examples
    --------
    >>> from dlsched.models.ddljs import RingProblem, RingRequest
    >>> from dlsched.relaxations import augmented_vne
    >>> from dlsched.rounding import MappingLaw, decompose
    >>> jobs = [RingRequest(f"job{k}", {2: 3 + k}, {"gpu": 1}, 0) for k in range(4)]
    >>> problem = RingProblem({"a": {"gpu": 7}}, (), jobs)
    >>> lp = augmented_vne(problem)
    >>> law = MappingLaw(problem, decompose(lp.recover(lp.solve().point)))
    >>> print({str(profit): str(p) for profit, p in law.profit().items()})
    {'15': '1/2', '18': '1/2'}
    >>> print(law.violation("a", "gpu"), law.accepted(), law.accepted(rounds=5))
    1/2 1/2 31/32
    """

    def __init__(self, problem: RingProblem, weighted: Weighted) -> None:
        self.table = MappingTable.of(problem, weighted)
        possible = [tuple(o for o in options if o.probability) for options in self.table.options.values()]
        self._options = sorted(possible, key=lambda options: max(len(o.loads) for o in options), reverse=True)
        self._weights = [to_integers(o.probability for o in options)[0] for options in self._options]

    def profit(self) -> Law:
        """Return the law of the profit."""
        return self._law([[option.profit for option in options] for options in self._options])

    def load(self, place: Row | str | Arc, resource: str | None = None) -> Law:
        """Return the law of A^{u,r} of a node and resource, or of the load of an arc's link.

        Parameters
        ----------
        place : str or arc or row
            A node (with `resource`), or an arc; a half-duplex link carries both its arcs.
        resource : str, optional

        Raises
        ------
        KeyError
            If there is no such node, resource or arc.
        """
        return self._law(self._loads(self.table.row(place, resource)))

    def violation(
        self,
        place: Row | str | Arc,
        resource: str | None = None,
        *,
        factor: float | Fraction = 1,
        reaches: bool = False,
        acceptance: Acceptance | None = None,
        rounds: int = 1,
    ) -> Fraction:
        """Return P(load > factor * capacity) of a node and resource, or of an arc's link.

        Parameters
        ----------
        place, resource
            As for `load`.
        factor : float or Fraction
            beta^r or gamma; a float stands for the fraction that is meant by it, as in `Acceptance`.
        reaches : bool
            Return P(load >= factor * capacity) instead, as Theorem 8 prints it, which is 1 where the capacity is 0.
        acceptance : Acceptance, optional
            Of what Algorithm 2 returns after at most `rounds` draws: the first that is accepted, else the last. By
            default of a single draw.
        rounds : int
            u_b.
        """
        row = self.table.row(place, resource)
        limit = amount("factor", factor) * self.table.capacity[row]
        if reaches:
            _, scale = to_integers(load for loads in self._loads(row) for load in loads)
            limit = Fraction(math.ceil(limit * scale) - 1, scale)
        return 1 - self._returned({row: limit}, None, acceptance, rounds)

    def profit_below(
        self, least: float | Fraction, *, acceptance: Acceptance | None = None, rounds: int = 1
    ) -> Fraction:
        """Return P(profit < least); parameters as for `violation`."""
        return 1 - self._returned({}, amount("least", least), acceptance, rounds)

    def accepted(self, acceptance: Acceptance = FEASIBLE, rounds: int = 1) -> Fraction:
        """Return the probability that one of some draws is accepted; by default, that it keeps all capacities."""
        at_least(0, rounds=rounds)
        once = self._within(acceptance.limits(self.table), acceptance.least)
        return 1 - exact_power(1 - once, rounds)

    def outcomes(self) -> Iterator[Outcome]:
        """Yield every outcome of a draw with its probability.

        Raises
        ------
        InputError
            If there are more than `MAX_OUTCOMES`.
        """
        possible = [tuple(o for o in options if o.probability) for options in self.table.options.values()]
        if math.prod(map(len, possible)) > MAX_OUTCOMES:
            raise InputError(f"there are more than {MAX_OUTCOMES} outcomes: ask for the probability of an event")
        for chosen in product(*possible):
            probability = math.prod((o.probability for o in chosen), start=Fraction(1))
            yield Outcome(probability, sum((o.profit for o in chosen), Fraction(0)), chosen)

    def returned(self, acceptance: Acceptance, rounds: int) -> list[Outcome]:
        """Return the law of what Algorithm 2 returns: the first accepted of some draws, else the last.

        Parameters
        ----------
        acceptance : Acceptance
        rounds : int
            u_b, at least 1.
        """
        once = list(self.outcomes())
        good = [acceptance.accepts(self.table, outcome.chosen) for outcome in once]
        first, last = _factors(
            sum((o.probability for o, fits in zip(once, good, strict=True) if fits), Fraction(0)), rounds
        )
        weights = [outcome.probability * (first if fits else last) for outcome, fits in zip(once, good, strict=True)]
        return [Outcome(p, o.profit, o.chosen) for p, o in zip(weights, once, strict=True) if p]

    def best(self, rounds: int) -> list[Outcome]:
        """Return the law of the most profitable of some draws, the first of them where several are."""
        at_least(1, rounds=rounds)
        law, below = [], Fraction(0)
        once = sorted(self.outcomes(), key=lambda outcome: outcome.profit)
        for _, group in groupby(once, key=lambda outcome: outcome.profit):
            tied = list(group)
            here = sum((outcome.probability for outcome in tied), Fraction(0))
            share = (exact_power(below + here, rounds) - exact_power(below, rounds)) / here
            law += [Outcome(outcome.probability * share, outcome.profit, outcome.chosen) for outcome in tied]
            below += here
        return law

    def _loads(self, row: Row) -> list[list[Fraction]]:
        return [[option.loads.get(row, Fraction(0)) for option in options] for options in self._options]

    def _law(self, values: list[list[Fraction]]) -> Law:
        """Return the law of a sum, from the value of each option of each request."""
        scaled, scale = _scaled(values)
        terms = [_term(weights, [(n,) for n in column]) for weights, column in zip(self._weights, scaled, strict=True)]
        sums = distribution(terms, 1)
        return {Fraction(total, scale): sums[(total,)] for (total,) in sorted(sums)}

    def _within(self, limits: Mapping[Row, Fraction], least: Fraction | None) -> Fraction:
        """Return the probability that loads are at most their limits and the profit is at least the least."""
        columns, room = [], []
        for row, limit in limits.items():
            scaled, scale = _scaled(self._loads(row))
            columns.append(scaled)
            room.append(math.floor(limit * scale))
        if least is not None:
            scaled, scale = _scaled([[-option.profit for option in options] for options in self._options])
            columns.append(scaled)
            room.append(math.floor(-least * scale))
        terms = [
            _term(weights, [tuple(column[i][k] for column in columns) for k in range(len(weights))])
            for i, weights in enumerate(self._weights)
        ]
        return 1 - probability_beyond(terms, tuple(room))

    def _returned(
        self, limits: Mapping[Row, Fraction], least: Fraction | None, acceptance: Acceptance | None, rounds: int
    ) -> Fraction:
        """Return the probability that what Algorithm 2 returns keeps limits and has a least profit."""
        once = self._within(limits, least)
        if acceptance is None:
            return once
        wanted, floor = acceptance.limits(self.table), acceptance.least
        both = self._within(
            {row: min(limit, limits.get(row, limit)) for row, limit in {**limits, **wanted}.items()},
            max((least, floor), key=lambda bound: -math.inf if bound is None else bound),
        )
        first, last = _factors(self._within(wanted, floor), rounds)
        return both * first + (once - both) * last


def _factors(accepted: Fraction, rounds: int) -> tuple[Fraction, Fraction]:
    """Return by what a draw's probability is multiplied where it is accepted, and where it is not."""
    at_least(1, rounds=rounds)
    fails = 1 - accepted
    last = exact_power(fails, rounds - 1)
    return ((1 - last * fails) / accepted if accepted else Fraction(rounds)), last


def _scaled(values: list[list[Fraction]]) -> tuple[list[list[int]], int]:
    flat, scale = to_integers(value for column in values for value in column)
    integers = iter(flat)
    return [[next(integers) for _ in column] for column in values], scale


def _term(weights: list[int], vectors: list[tuple[int, ...]]) -> Term:
    """Return a request's options as a term, options with the same vector merged."""
    merged: dict[tuple[int, ...], int] = {}
    for weight, vector in zip(weights, vectors, strict=True):
        merged[vector] = merged.get(vector, 0) + weight
    return [(weight, vector) for vector, weight in merged.items()]
