"""FIND_ALLOC of Algorithm 2: what one job would take of the cluster in one round, and what that is worth."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction

from dlsched.algorithms.hadar.occupancy import Cells, Counts, merged
from dlsched.algorithms.run import Variant
from dlsched.models.hadar import Instance, Job

State = tuple[int, ...]
"""gamma_h^r in the round, by cell."""

MAX_STATES = 2048
"""States of Algorithm 2's recursion in a round, at most, by default; of so many the stocks are kept, some kilobytes
each."""


@dataclass(frozen=True, slots=True)
class Offer:
    """An allocation of one round.

    Attributes
    ----------
    counts : Counts
    payoff : float
        mu_j: utility at the estimated completion less the cost of this round.
    completion : int
        Completion slot, if the job kept this allocation's rate.
    """

    counts: Counts
    payoff: float
    completion: int


@dataclass(frozen=True, slots=True)
class _View:
    """What a job sees of the cluster: its types ranked by rate, the slowest 0, and what each rank is worth.

    ``rank`` has the types on which it makes progress; ``value`` and ``completion`` are by rank.
    """

    rank: dict[str, int]
    value: list[float]
    completion: list[int]


@dataclass(frozen=True, slots=True)
class _Stock:
    """What is free in a state: by cell devices and the price of one, by type the cells with some, cheapest first."""

    free: list[int]
    price: list[float]
    cells: dict[str, list[int]]


class Finder:
    """FIND_ALLOC for the jobs of one round.

    Printed: types are sorted by rate, descending; for every type to start from, the gang is filled from there
    downwards, on each machine by itself (packed) and over all machines (unpacked, which adds `comm_cost`); the cheapest
    is taken, and refused unless mu_j > 0. What "all allocations" ranges over is not printed; this is the reading with
    the fewest choices that still compares types. The text packs a job "in the minimum possible server" (line 24), and
    does not say what that is for a gang larger than every machine: here it has no packed allocation, only unpacked
    ones, which all add `comm_cost`.

    Corrected: the allocation of the greatest mu_j. For every bottleneck level the cheapest eligible devices are exact,
    on each machine by itself and over all machines (module `commit` has the argument); `comm_cost` is due where an
    allocation spans machines. An allocation whose estimated completion is after the horizon is worth nothing.

    Parameters
    ----------
    instance : Instance
    cells : Cells
    variant : Variant
    comm_cost : float
        Utility that an allocation over several machines costs in a round.
    slot : int
        The round.
    remaining : mapping of str to Fraction
        Iterations left, by job.
    used : iterable of Counts
        What is allocated in the round already.

    Attributes
    ----------
    start : State
        The state in which nothing more than that is allocated.
    """

    def __init__(
        self,
        instance: Instance,
        cells: Cells,
        variant: Variant,
        comm_cost: float,
        slot: int,
        remaining: Mapping[str, Fraction],
        used: Iterable[Counts] = (),
    ) -> None:
        self._instance, self._cells, self._slot, self._remaining = instance, cells, slot, remaining
        self._printed = variant is Variant.PRINTED
        self._comm_cost = comm_cost
        self._capacity: State = tuple(cells.capacity.tolist())
        self._types = [r for _, r in cells.cells]
        self._views: dict[str, _View] = {}
        self._stocks: dict[State, _Stock] = {}
        self.start: State = (0,) * len(self._capacity)
        for counts in used:
            self.start = after(self.start, counts)

    def is_full(self, state: State) -> bool:
        """Tell whether no device is left."""
        return state == self._capacity

    def cost(self, prices_at: State, state: State) -> float:
        """Return sum_h,r k w of all that is allocated in `state`, at the prices of another state."""
        return math.fsum(self._cells.price(cell, prices_at[cell]) * n for cell, n in enumerate(state) if n)

    def find(self, job: Job, state: State) -> Offer | None:
        """Return the allocation that FIND_ALLOC takes in a state; None (null) if it refuses all."""
        view, stock = self._view(job), self._stock(state)
        best: tuple[float, float, Counts, int] | None = None
        for counts, due in self._candidates(job.gang, view.rank, stock):
            cost = math.fsum([stock.price[cell] * n for cell, n in counts]) + (self._comm_cost if due else 0.0)
            rank = min([view.rank[self._types[cell]] for cell, _ in counts])
            payoff = view.value[rank] - cost
            aim = cost if self._printed else -payoff
            if best is None or aim < best[0]:
                best = (aim, payoff, counts, view.completion[rank])
        return Offer(merged(best[2]), best[1], best[3]) if best and best[1] > 0 else None

    def _stock(self, state: State) -> _Stock:
        """Return what is free in a state; jobs are often asked about the same ones."""
        if state not in self._stocks:
            if len(self._stocks) == MAX_STATES:
                self._stocks.clear()
            free = [c - n for c, n in zip(self._capacity, state, strict=True)]
            price = self._cells.all_prices(state)
            cells: dict[str, list[int]] = {}
            for cell in sorted([cell for cell, left in enumerate(free) if left], key=price.__getitem__):
                cells.setdefault(self._types[cell], []).append(cell)
            self._stocks[state] = _Stock(free, price, cells)
        return self._stocks[state]

    def _view(self, job: Job) -> _View:
        if job.name not in self._views:
            rates = {r: job.rate_on(r) for r in self._instance.device_types if job.rate_on(r)}
            levels = sorted(set(rates.values()))
            completions = [self._completion(job, rate) for rate in levels]
            self._views[job.name] = _View(
                {r: levels.index(rate) for r, rate in rates.items()},
                [self._value(job, completion) for completion in completions],
                completions,
            )
        return self._views[job.name]

    def _completion(self, job: Job, rate: Fraction) -> int:
        rounds = math.ceil(self._remaining[job.name] / (job.gang * rate * self._instance.slot_seconds))
        return self._slot + rounds - 1

    def _value(self, job: Job, completion: int) -> float:
        late = completion > self._instance.slots and not self._printed
        return 0.0 if late else job.utility(completion - job.arrival)

    def _candidates(self, gang: int, rank: dict[str, int], stock: _Stock) -> Iterator[tuple[Counts, bool]]:
        """Yield each allocation, and whether `comm_cost` is due for it; where that is 0, packing saves nothing."""
        packing = self._printed or self._comm_cost > 0
        usable = [r for r in rank if r in stock.cells]
        ordered: list[tuple[int, float, int, int]] = []
        for r in usable:
            level, first = rank[r], -rank[r] if self._printed else 0
            cells = stock.cells[r] if packing else _enough(gang, stock.cells[r], stock.free)
            ordered += [(first, stock.price[cell], cell, level) for cell in cells]
        ordered.sort()
        for level in sorted({rank[r] for r in usable}, reverse=True):
            if self._printed:
                eligible = [cell for _, _, cell, own in ordered if own <= level]
            else:
                eligible = [cell for _, _, cell, own in ordered if own >= level]
            for cells in self._by_machine(eligible) if packing else ():
                if counts := _fill(gang, cells, stock.free):
                    yield counts, False
            if counts := _fill(gang, eligible, stock.free):
                spans = packing and len({self._cells.cells[cell][0] for cell, _ in counts}) > 1
                yield counts, self._printed or spans

    def _by_machine(self, cells: list[int]) -> Iterable[list[int]]:
        groups: dict[str, list[int]] = {}
        for cell in cells:
            groups.setdefault(self._cells.cells[cell][0], []).append(cell)
        return groups.values()


def _enough(gang: int, cells: list[int], free: list[int]) -> list[int]:
    """Return the first cells that have a gang's devices together; all of them where they have fewer."""
    for i, cell in enumerate(cells):
        gang -= free[cell]
        if gang <= 0:
            return cells[: i + 1]
    return cells


def _fill(gang: int, cells: list[int], free: list[int]) -> Counts:
    """Return a gang filled from the cells in their order; empty where they do not have enough devices."""
    counts = []
    for cell in cells:
        if gang <= free[cell]:
            counts.append((cell, gang))
            return tuple(counts)
        counts.append((cell, free[cell]))
        gang -= free[cell]
    return ()


def after(state: State, counts: Counts) -> State:
    """Return the state in which an allocation has been added to another."""
    result = list(state)
    for cell, n in counts:
        result[cell] += n
    return tuple(result)
