"""FIND_ALLOC of Algorithm 2: what one job would take of the cluster in one round, and what that is worth."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction

from dlsched.algorithms.hadar.occupancy import Counts, Occupancy, merged
from dlsched.algorithms.run import Variant
from dlsched.models.hadar import Instance, Job

State = tuple[int, ...]
"""gamma_h^r in the round, by cell."""


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

    ``rank`` is by cell, -1 where the job makes no progress; ``value`` and ``completion`` are by rank.
    """

    rank: list[int]
    value: list[float]
    completion: list[int]


class Finder:
    """FIND_ALLOC for the jobs of one round.

    Printed: types are sorted by rate, descending; for every type to start from, the gang is filled from there
    downwards, on each machine by itself (packed) and over all machines (unpacked, which adds `comm_cost`); the cheapest
    is taken, and refused unless mu_j > 0. What "all allocations" ranges over is not printed; this is the reading with
    the fewest choices that still compares types.

    Corrected: the allocation of the greatest mu_j. For every bottleneck level the cheapest eligible devices are exact,
    on each machine by itself and over all machines (module `commit` has the argument); `comm_cost` is due where an
    allocation spans machines. An allocation whose estimated completion is after the horizon is worth nothing.

    Parameters
    ----------
    instance : Instance
    occupancy : Occupancy
    variant : Variant
    comm_cost : float
        Utility that an allocation over several machines costs in a round.
    slot : int
        The round.
    remaining : dict of str to Fraction
        Iterations left, by job.
    """

    def __init__(
        self,
        instance: Instance,
        occupancy: Occupancy,
        variant: Variant,
        comm_cost: float,
        slot: int,
        remaining: dict[str, Fraction],
    ) -> None:
        self._instance, self._occupancy, self._slot, self._remaining = instance, occupancy, slot, remaining
        self._printed = variant is Variant.PRINTED
        self._comm_cost = comm_cost
        self._capacity: State = tuple(occupancy.capacity.tolist())
        self._machine = [machine for machine, _ in occupancy.cells]
        self._prices: dict[tuple[int, int], float] = {}
        self._views: dict[str, _View] = {}

    @property
    def empty(self) -> State:
        """The state in which nothing is allocated."""
        return (0,) * len(self._capacity)

    def is_full(self, state: State) -> bool:
        """Tell whether no device is left."""
        return state == self._capacity

    def cost(self, prices_at: State, state: State) -> float:
        """Return sum_h,r k w of all that is allocated in `state`, at the prices of another state."""
        return math.fsum(self._price(cell, prices_at[cell]) * n for cell, n in enumerate(state) if n)

    def find(self, job: Job, state: State) -> Offer | None:
        """Return the allocation that FIND_ALLOC takes in a state; None (null) if it refuses all."""
        view = self._view(job)
        free = [c - n for c, n in zip(self._capacity, state, strict=True)]
        price = [self._price(cell, n) if free[cell] else 0.0 for cell, n in enumerate(state)]
        best: tuple[float, float, Counts, int] | None = None
        for counts, due in self._candidates(job.gang, view.rank, free, price):
            cost = math.fsum(price[cell] * n for cell, n in counts) + (self._comm_cost if due else 0.0)
            rank = min(view.rank[cell] for cell, _ in counts)
            payoff = view.value[rank] - cost
            aim = cost if self._printed else -payoff
            if best is None or aim < best[0]:
                best = (aim, payoff, counts, view.completion[rank])
        return Offer(merged(best[2]), best[1], best[3]) if best and best[1] > 0 else None

    def _view(self, job: Job) -> _View:
        if job.name not in self._views:
            rates = [job.rate_on(r) for _, r in self._occupancy.cells]
            levels = sorted({rate for rate in rates if rate})
            completions = [self._completion(job, rate) for rate in levels]
            self._views[job.name] = _View(
                [levels.index(rate) if rate else -1 for rate in rates],
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

    def _candidates(
        self, gang: int, rank: list[int], free: list[int], price: list[float]
    ) -> Iterator[tuple[Counts, bool]]:
        """Yield each allocation, and whether `comm_cost` is due for it; where that is 0, packing saves nothing."""
        packing = self._printed or self._comm_cost > 0
        usable = [cell for cell, level in enumerate(rank) if level >= 0 and free[cell]]
        if self._printed:
            usable.sort(key=lambda cell: (-rank[cell], price[cell]))
        else:
            usable.sort(key=price.__getitem__)
        for level in sorted({rank[cell] for cell in usable}, reverse=True):
            if self._printed:
                eligible = [cell for cell in usable if rank[cell] <= level]
            else:
                eligible = [cell for cell in usable if rank[cell] >= level]
            for cells in self._by_machine(eligible) if packing else ():
                if counts := _fill(gang, cells, free):
                    yield counts, False
            if counts := _fill(gang, eligible, free):
                yield counts, self._printed or len({self._machine[cell] for cell, _ in counts}) > 1

    def _by_machine(self, cells: list[int]) -> Iterable[list[int]]:
        groups: dict[str, list[int]] = {}
        for cell in cells:
            groups.setdefault(self._machine[cell], []).append(cell)
        return groups.values()

    def _price(self, cell: int, devices: int) -> float:
        key = (cell, devices)
        if key not in self._prices:
            self._prices[key] = self._occupancy.price(cell, devices)
        return self._prices[key]


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
