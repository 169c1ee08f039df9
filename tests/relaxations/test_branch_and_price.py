"""Branch and price on choices of listed columns, against all of them; bounds are valid after every step."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import given

from dlsched.halt import Halt, until
from dlsched.models import InputError
from dlsched.relaxations import BranchAndPrice, Branching, Generated, Priced, generate_columns
from dlsched.relaxations.columns import keep
from dlsched.solvers.matrix import Floats
from tests.longer import examples
from tests.relaxations.test_columns import Choice, choices

Pair = tuple[int, int]


@dataclass(frozen=True)
class Part:
    """Columns that may be used, and blocks of which one is."""

    allowed: frozenset[Pair]
    required: frozenset[int]


class Chosen(Branching[Part, Pair]):
    """Asks whether a column is used; with `settles` false, it does not know what a single solution is worth."""

    def __init__(self, problem: Choice, settles: bool = True, looks: bool = True) -> None:
        self.problem, self.master, self.settles, self.looks = problem, problem.master(), settles, looks
        self.every = {(k, i): c for k, block in enumerate(problem.columns) for i, c in enumerate(block)}
        self.best, self.splits = -1.0, 0

    def whole(self) -> Part:
        return Part(frozenset(self.every), frozenset())

    def pricing(self, part: Part) -> Callable[[Floats], Priced]:
        def price(prices: Floats) -> Priced:
            best, columns = np.full(self.master.blocks, -np.inf), {}
            for k, i in sorted(part.allowed):
                value = self.every[k, i].value - prices @ self.every[k, i].rows
                if value > best[k]:
                    best[k], columns[k] = value, self.every[k, i]
            return Priced(best, list(columns.values()))

        return price

    def generate(
        self, part: Part, *, start: Floats, rounds: int | None, stop: Callable[[float, float], bool]
    ) -> Generated:
        allowed = np.array([c.data in part.allowed for c in self.master.columns], dtype=bool)
        self.master.restrict(allowed, np.array([k in part.required for k in range(self.master.blocks)]))
        return generate_columns(self.master, self.pricing(part), start=start, rounds=rounds, stop=stop)

    def fixed(self, part: Part, prices: Floats, cutoff: float) -> tuple[float, Part]:
        best = self.pricing(part)(prices).best
        required = np.array([k in part.required for k in range(self.master.blocks)])
        bound, share = self.master.bound(prices, best), np.where(required, best, np.maximum(best, 0.0))
        if not np.isfinite(bound):
            return bound, part
        left = [
            (k, i)
            for k, i in part.allowed
            if keep(self.every[k, i].value - prices @ self.every[k, i].rows - share[k], bound + 1e-9, cutoff)
        ]
        return bound, Part(frozenset(left), part.required)

    def questions(self, part: Part, generated: Generated) -> Sequence[Pair]:
        return [pair for pair, x in generated.recover() if 1e-6 < x < 1 - 1e-6]

    def undecided(self, part: Part) -> Sequence[Pair]:
        return sorted(pair for pair in part.allowed if pair[0] not in part.required)[:1]

    def answered(self, part: Part, question: Pair, yes: bool) -> Part | None:
        block = question[0]
        if yes:
            left = frozenset(pair for pair in part.allowed if pair[0] != block or pair == question)
            return Part(left, part.required | {block})
        left = part.allowed - {question}
        return Part(left, part.required) if part.required <= {pair[0] for pair in left} else None

    def found(self, part: Part, generated: Generated) -> float:
        chosen = generated.recover(1e-6)
        if self.looks and generated.finished and all(x > 1 - 1e-6 for _, x in chosen):
            self.take([pair for pair, _ in chosen])
        return self.best

    def take(self, pairs: list[Pair]) -> None:
        if len({k for k, _ in pairs}) == len(pairs):
            used = sum((self.every[pair].rows for pair in pairs), np.zeros(len(self.master.rhs)))
            if (used <= self.master.rhs + 1e-9).all():
                self.best = max(self.best, sum(self.every[pair].value for pair in pairs))

    def settle(self, part: Part) -> float | None:
        if not self.settles:
            return None
        self.take(sorted(part.allowed))
        return self.best

    def split(self, part: Part, question: Pair, yes: Part | None, no: Part | None) -> None:
        self.splits += 1


def tree_of(branching: Chosen) -> BranchAndPrice[Part, Pair]:
    tree = BranchAndPrice(branching, cutoff=branching.best, margin=1e-6)
    tree.start(branching.whole(), np.zeros(len(branching.master.rhs)))
    return tree


def crossed() -> Choice:
    """Three jobs in pairs on rows of 1: the LP takes half of each, worth 3; the best whole choice is worth 2."""
    return Choice([[2.0], [2.0], [2.0]], [[[1, 1, 0]], [[0, 1, 1]], [[1, 0, 1]]], [1, 1, 1])


@pytest.mark.slow
@examples(40, 150)
@given(problem=choices())
def test_it_ends_at_the_best_of_all_choices_with_a_bound_that_always_holds(problem: Choice) -> None:
    best = max(value for value, _ in problem.integral())
    for looks in (True, False):
        branching = Chosen(problem, looks=looks)
        tree = tree_of(branching)
        bound = np.inf
        while tree.step():
            assert best - 1e-7 <= tree.bound <= bound + tree.margin
            bound = tree.bound
        assert branching.best == pytest.approx(best)
        assert tree.bound == pytest.approx(best, abs=2e-6)


def test_it_branches_where_the_bound_is_not_the_value() -> None:
    branching = Chosen(crossed())
    tree = tree_of(branching)
    assert generate_columns(crossed().master(), crossed().price).bound == pytest.approx(3)
    while tree.step():
        pass
    assert branching.best == 2
    assert tree.nodes > branching.splits >= 1


def test_what_cannot_be_settled_keeps_its_bound() -> None:
    branching = Chosen(crossed(), settles=False, looks=False)
    tree = tree_of(branching)
    while tree.step():
        pass
    assert branching.best == -1
    assert tree.bound >= 2


def test_a_tree_that_is_told_to_halt_goes_on_where_it_was() -> None:
    branching = Chosen(crossed())
    tree = tree_of(branching)
    with until(lambda: True), pytest.raises(Halt):
        tree.step()
    assert (tree.nodes, tree.bound) == (0, np.inf)
    while tree.step():
        pass
    assert branching.best == 2
    assert tree.bound == pytest.approx(2, abs=2e-6)


def test_a_node_whose_bound_was_cut_short_stays_open() -> None:
    """Halted before the first columns are found, the LP's optimum is whole: nothing is open, but nothing is known."""
    over = False

    class Slow(Chosen):
        def generate(self, part: Part, **options: Any) -> Generated:
            nonlocal over
            found = generate_columns(self.master, self.pricing(part), start=options["start"], rounds=1)
            over = True
            return found

        def undecided(self, part: Part) -> Sequence[Pair]:
            return ()

    branching = Slow(crossed(), settles=False)
    tree = tree_of(branching)
    with until(lambda: over), pytest.raises(Halt):
        tree.step()
    assert tree.nodes == 0
    assert tree.step()


def test_solutions_up_to_the_cutoff_are_not_looked_for() -> None:
    branching = Chosen(crossed())
    tree = BranchAndPrice(branching, cutoff=3.0)
    tree.start(branching.whole(), np.zeros(3))
    assert tree.step()
    assert not tree.step()
    assert (tree.bound, branching.splits) == (3, 0)


@pytest.mark.parametrize(("options", "message"), [({"margin": -1.0}, "margin: -1"), ({"columns": 0}, "columns: 0")])
def test_numbers_out_of_range_are_refused(options: dict[str, float], message: str) -> None:
    with pytest.raises(InputError, match=message):
        BranchAndPrice(Chosen(crossed()), cutoff=0.0, **options)
