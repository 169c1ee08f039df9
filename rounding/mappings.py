"""Weighted mappings to one mapping, or none, for each request: by randomized rounding, or by an integer program.

Weights play no part in the program (`choose_mappings`). Its optimum is at least as good as any feasible draw.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from fractions import Fraction

import numpy as np

from dlsched.arguments import at_least, between, checked, generator
from dlsched.errors import InputError
from dlsched.models.ddljs.requests import RingProblem
from dlsched.models.ddljs.rings import Embedding, embedding
from dlsched.models.numbers import to_integers
from dlsched.rounding.decomposition import WeightedMapping
from dlsched.rounding.mapping_sampling import draw_options
from dlsched.rounding.mapping_table import FEASIBLE, Acceptance, MappingTable, Option, Row, Weighted
from dlsched.solvers.builder import Builder
from dlsched.solvers.matrix import Matrix
from dlsched.solvers.options import MOST_SEED
from dlsched.solvers.solution import ResidualError, Status
from dlsched.solvers.solve import solve_matrix


class Rule(StrEnum):
    """Which draw is returned."""

    ONCE = "once"
    ACCEPTED = "accepted"
    FITTING = "fitting"
    BEST = "best"


class Order(StrEnum):
    """In which order requests are drawn where only what fits is kept."""

    GIVEN = "given"
    RANDOM = "random"


@dataclass(frozen=True, eq=False)
class RoundedMappings:
    """A mapping, or none, for each request.

    Attributes
    ----------
    table : MappingTable
    chosen : dict of str to WeightedMapping
        Of the requests that are embedded.
    profit : Fraction
    draws : int
        Draws made.
    accepted : bool
        Whether it is accepted; by default, whether it keeps all capacities.

    Examples
    --------
    >>> import networkx as nx
    >>> from fractions import Fraction
    >>> from dlsched.models.ddljs import RingMapping, RingProblem, RingRequest
    >>> from dlsched.rounding import WeightedMapping, round_mappings
    >>> net = nx.Graph([("a", "b", {"bandwidth": 1})])
    >>> net.add_nodes_from("ab", capacity={"gpu": 1})
    >>> problem = RingProblem.of(net, [RingRequest("bert", {2: 6}, {"gpu": 1}, 1)])
    >>> across = RingMapping(("a", "b"), (("a", "b"), ("b", "a")))
    >>> found = round_mappings(problem, {"bert": [WeightedMapping(Fraction(1), 2, across)]}, 7)
    >>> print(found.embeddings()["bert"].workers, found.accepted)
    {'a': 1, 'b': 1} False
    >>> print({row.arcs[0]: str(excess) for row, excess in found.overloads().items()})
    {('a', 'b'): '1'}
    """

    table: MappingTable
    chosen: dict[str, WeightedMapping]
    profit: Fraction
    draws: int
    accepted: bool

    def loads(self) -> dict[Row, Fraction]:
        """Return the load of each node and link, those without load left out."""
        return self.table.loads(_options_of(self.table, self.chosen))

    def overloads(self) -> dict[Row, Fraction]:
        """Return by how much loads exceed capacities, where they do."""
        capacity = self.table.capacity
        return {row: load - capacity[row] for row, load in self.loads().items() if load > capacity[row]}

    def embeddings(self) -> dict[str, Embedding]:
        """Return the workers and ring of each request that is embedded, as `dlsched.models.ddljs.embedding` does."""
        problem = self.table.problem
        return {
            name: embedding(one.mapping, ordered=problem.request(name).allowed is not None)
            for name, one in self.chosen.items()
        }


@checked
def round_mappings(
    problem: RingProblem,
    weighted: Weighted,
    rng: np.random.Generator | int,
    *,
    rule: str | Rule = Rule.ONCE,
    rounds: int = 1,
    acceptance: Acceptance = FEASIBLE,
    order: str | Order = Order.GIVEN,
    variant: str = "corrected",
) -> RoundedMappings:
    """Round weighted mappings: each request gets mapping omega with probability phi, independently of the others.

    With mappings of several ring sizes, size and mapping are drawn together; no ring size is selected beforehand.

    Parameters
    ----------
    problem : RingProblem
    weighted : mapping of str to sequence of WeightedMapping
        As `dlsched.rounding.decompose` returns it.
    rng : numpy.random.Generator or int
        A generator, or a seed.
    rule : {"once", "accepted", "fitting", "best"}
        ``once``: one draw, whatever it loads; its expected profit is that of the decomposed solution. ``accepted``:
        Algorithm 2, draws until one is accepted, else the last one. ``best``: the most profitable draw, whatever it
        loads. ``fitting``: request after request is drawn and kept only if it fits all nodes and links that are
        touched, beside those kept before it, in exact arithmetic; of several such draws the most profitable.
    rounds : int
        u_b, the most draws.
    acceptance : Acceptance
        See `MappingConstants.acceptance`; by default all capacities are kept.
    order : {"given", "random"}
        In which ``fitting`` goes through the requests.
    variant : {"corrected", "printed"}
        Printed, Algorithm 2 counts from 1 and draws while iter < u_b: one draw less, none at all for u_b = 1; what it
        tests before its first draw is not defined, here nothing is embedded then, which is not accepted.

    Raises
    ------
    InputError
        As `MappingTable.of`; also if there is no draw to make, or a name is unknown.

    References
    ----------
    GADGET, Algorithm 2, steps 7-9; printed and corrected.

    Examples
    --------
    >>> from fractions import Fraction
    >>> from dlsched.models.ddljs import RingMapping, RingProblem, RingRequest
    >>> from dlsched.rounding import WeightedMapping, round_mappings
    >>> jobs = [RingRequest(job, {1: 6}, {"gpu": 2}, 0) for job in ("bert", "vit")]
    >>> problem = RingProblem({"a": {"gpu": 3}}, (), jobs)
    >>> on_a = RingMapping(("a",), ())
    >>> weighted = {job.name: [WeightedMapping(Fraction(3, 4), 1, on_a)] for job in jobs}
    >>> for rule in ("once", "accepted", "best", "fitting"):
    ...     found = round_mappings(problem, weighted, 7, rule=rule, rounds=5)
    ...     print(rule, found.profit, found.accepted, sorted(found.chosen))
    once 12 False ['bert', 'vit']
    accepted 6 True ['bert']
    best 12 False ['bert', 'vit']
    fitting 6 True ['bert']
    """
    at_least(1, rounds=rounds)
    rng = generator(rng)
    if variant not in ("corrected", "printed"):
        raise InputError(f"variant: {variant!r} is neither 'corrected' nor 'printed'")
    table = MappingTable.of(problem, weighted)
    which, shuffled = Rule(rule), Order(order) is Order.RANDOM
    if which is Rule.ACCEPTED:
        return _until_accepted(table, rng, rounds if variant == "corrected" else rounds - 1, acceptance)
    if which is Rule.FITTING:
        return _best(table, lambda: _fitting(table, rng, shuffled), rounds, acceptance)
    return _best(table, lambda: _draw(table, rng), rounds if which is Rule.BEST else 1, acceptance)


def _draw(table: MappingTable, rng: np.random.Generator) -> tuple[Option, ...]:
    picks = draw_options(table, rng)[0].tolist()
    return tuple(options[pick] for options, pick in zip(table.options.values(), picks, strict=True))


def _best(
    table: MappingTable, draw: Callable[[], tuple[Option, ...]], rounds: int, acceptance: Acceptance
) -> RoundedMappings:
    """Return the most profitable draw, the first one where several are."""
    best = max((draw() for _ in range(rounds)), key=lambda chosen: math.fsum(option.profit for option in chosen))
    return rounded(table, best, rounds, acceptance)


def _until_accepted(
    table: MappingTable, rng: np.random.Generator, rounds: int, acceptance: Acceptance
) -> RoundedMappings:
    if not rounds:
        nothing = [options[0] for options in table.options.values()]
        return replace(rounded(table, nothing, 0, acceptance), accepted=False)
    count, accepted = 0, False
    while count < rounds and not accepted:
        chosen, count = _draw(table, rng), count + 1
        accepted = acceptance.accepts(table, chosen)
    return rounded(table, chosen, count, acceptance)


def _fitting(table: MappingTable, rng: np.random.Generator, shuffled: bool) -> tuple[Option, ...]:
    """Draw every request; keep, one after the other, those that still fit."""
    drawn = _draw(table, rng)
    order = rng.permutation(len(drawn)).tolist() if shuffled else range(len(drawn))
    kept = [options[0] for options in table.options.values()]
    used: dict[Row, Fraction] = defaultdict(Fraction)
    for i in order:
        if all(used[row] + load <= table.capacity[row] for row, load in drawn[i].loads.items()):
            kept[i] = drawn[i]
            for row, load in drawn[i].loads.items():
                used[row] += load
    return tuple(kept)


def rounded(table: MappingTable, chosen: Sequence[Option], draws: int, acceptance: Acceptance) -> RoundedMappings:
    """Return the options chosen for each request as a result, judged by an acceptance."""
    named = zip(table.options, chosen, strict=True)
    return RoundedMappings(
        table,
        {name: option.chosen for name, option in named if option.chosen is not None},
        sum((option.profit for option in chosen), Fraction(0)),
        draws,
        acceptance.accepts(table, chosen),
    )


def _options_of(table: MappingTable, chosen: dict[str, WeightedMapping]) -> list[Option]:
    return [
        next(option for option in options if option.chosen is chosen.get(name))
        for name, options in table.options.items()
    ]


_LARGEST = 2**40
"""Sum of a row's loads as whole numbers up to which they are passed so: far below what floats add exactly (2**53) and
what solvers refuse (1e15). Arbitrary below these."""


@dataclass(frozen=True, slots=True, eq=False)
class MappingChoice:
    """The best choice among weighted mappings.

    Attributes
    ----------
    chosen : RoundedMappings
        Keeps all capacities, in exact arithmetic.
    bound : float
        The least upper bound that the solver claims on any choice.
    proved : bool
        Whether the solver claims that there is no better one.

    Examples
    --------
    >>> from fractions import Fraction
    >>> from dlsched.models.ddljs import RingMapping, RingProblem, RingRequest
    >>> from dlsched.rounding import WeightedMapping, choose_mappings, round_mappings
    >>> jobs = [RingRequest(job, {1: worth}, {"gpu": 2}, 0) for job, worth in (("bert", 6), ("vit", 4), ("gpt", 5))]
    >>> problem = RingProblem({"a": {"gpu": 4}}, (), jobs)
    >>> on_a = RingMapping(("a",), ())
    >>> weighted = {job.name: [WeightedMapping(Fraction(2, 3), 1, on_a)] for job in jobs}
    >>> choice = choose_mappings(problem, weighted)
    >>> drawn = round_mappings(problem, weighted, 7, rule="accepted", rounds=9)
    >>> print(drawn.profit, choice.chosen.profit, round(choice.bound, 6), choice.proved)
    5 11 11.0 True
    """

    chosen: RoundedMappings
    bound: float
    proved: bool


@checked
def choose_mappings(
    problem: RingProblem,
    weighted: Weighted,
    *,
    time_limit: float | None = None,
    seed: int | None = None,
    presolve: bool = True,
) -> MappingChoice:
    """Choose the most profitable feasible combination of mappings.

    Parameters
    ----------
    problem : RingProblem
    weighted : mapping of str to sequence of WeightedMapping
        As `dlsched.rounding.decompose` returns it.
    time_limit : float, optional
        Seconds.
    seed, presolve
        As for `dlsched.models.solve`.

    Raises
    ------
    InputError
        As `MappingTable.of`.
    ResidualError
        If the solver's choice exceeds a capacity in exact arithmetic.

    Examples
    --------
    >>> from fractions import Fraction
    >>> from dlsched.models.ddljs import RingMapping, RingProblem, RingRequest
    >>> from dlsched.rounding import WeightedMapping, choose_mappings
    >>> jobs = [RingRequest(job, {1: worth}, {"gpu": 2}, 0) for job, worth in (("bert", 6), ("vit", 4), ("gpt", 5))]
    >>> problem = RingProblem({"a": {"gpu": 3}, "b": {"gpu": 2}}, (), jobs)
    >>> halves = [WeightedMapping(Fraction(1, 2), 1, RingMapping((u,), ())) for u in "ab"]
    >>> weighted = {job.name: halves for job in jobs}
    >>> choice = choose_mappings(problem, weighted)
    >>> print(sorted(choice.chosen.chosen), choice.chosen.profit)
    ['bert', 'gpt'] 11
    """
    at_least(0, time_limit=time_limit)
    between(0, MOST_SEED, seed=seed)
    table = MappingTable.of(problem, weighted)
    columns = [
        (i, option)
        for i, options in enumerate(table.options.values())
        for option in options[1:]
        if all(load <= table.capacity[row] for row, load in option.loads.items())
    ]
    raw = solve_matrix(_matrix(table, columns), time_limit=time_limit, seed=seed, presolve=presolve)
    chosen = [options[0] for options in table.options.values()]
    if raw.x is not None:
        for (i, option), taken in zip(columns, raw.x.tolist(), strict=True):
            if taken:
                chosen[i] = option
    if not FEASIBLE.accepts(table, chosen):
        raise ResidualError("the solver's choice of mappings exceeds a capacity in exact arithmetic")
    trivial = sum((max(o.profit for o in options) for options in table.options.values()), Fraction(0))
    bound = raw.summary.bound
    return MappingChoice(
        rounded(table, chosen, 0, FEASIBLE),
        float(trivial) if bound is None else bound,
        raw.summary.status is Status.OPTIMAL,
    )


def _matrix(table: MappingTable, columns: list[tuple[int, Option]]) -> Matrix:
    """Return one row for each request and each row of the table; loads are whole numbers where they stay small."""
    program = Builder(-1)
    chosen = program.columns(1.0, cost=[float(option.profit) for _, option in columns], integer=True)
    program.add(program.rows(upper=np.ones(len(table.options)))[[i for i, _ in columns]], chosen, 1.0)
    for row in table.rows:
        loads = [option.loads.get(row, Fraction(0)) for _, option in columns]
        limit = min(table.capacity[row], sum(loads, Fraction(0)))
        integers, scale = to_integers(loads)
        whole = sum(integers) < _LARGEST
        terms = zip(chosen.tolist(), map(float, integers if whole else loads), strict=True)
        program.row([term for term in terms if term[1]], upper=float(limit * scale // 1 if whole else limit))
    return program.matrix()
