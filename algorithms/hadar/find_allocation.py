"""FIND_ALLOC of Algorithm 2: what one job would take of the cluster in one round, and what that is worth."""

from __future__ import annotations

import math
from collections.abc import Iterator
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


class Finder:
    """FIND_ALLOC for the jobs of one round.

    Printed: types are sorted by rate, descending; for every type to start from, the gang is filled from there
    downwards, on each machine by itself (packed) and over all machines (unpacked, which adds `comm_cost`); the cheapest
    is taken, and refused unless mu_j > 0. What "all allocations" ranges over is not printed; this is the reading with
    the fewest choices that still compares types.

    Corrected: the allocation of the greatest mu_j. For every bottleneck level the cheapest eligible devices are exact,
    on each machine by itself and over all machines (`offers` has the argument); `comm_cost` is due where an
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
        self._prices: dict[tuple[int, int], float] = {}

    @property
    def empty(self) -> State:
        """The state in which nothing is allocated."""
        return (0,) * len(self._capacity)

    def is_full(self, state: State) -> bool:
        """Tell whether no device is left."""
        return state == self._capacity

    def cost(self, prices_at: State, state: State) -> float:
        """Return sum_h,r k w of all that is allocated in `state`, at the prices of another state."""
        return sum(self._price(cell, prices_at[cell]) * n for cell, n in enumerate(state) if n)

    def find(self, job: Job, state: State) -> Offer | None:
        """Return the allocation that FIND_ALLOC takes in a state; None (null) if it refuses all."""
        offers = [self._valued(job, state, counts, packed) for counts, packed in self._candidates(job, state)]
        if not offers:
            return None
        if self._printed:
            _, best = min(offers, key=lambda pair: pair[0])
        else:
            _, best = max(offers, key=lambda pair: pair[1].payoff)
        return best if best.payoff > 0 else None

    def _valued(self, job: Job, state: State, counts: Counts, packed: bool) -> tuple[float, Offer]:
        cost = sum(self._price(cell, state[cell]) * n for cell, n in counts) + (0.0 if packed else self._comm_cost)
        rate = min(job.rate_on(self._occupancy.cells[cell][1]) for cell, _ in counts)
        rounds = math.ceil(self._remaining[job.name] / (job.gang * rate * self._instance.slot_seconds))
        completion = self._slot + rounds - 1
        late = completion > self._instance.slots and not self._printed
        value = 0.0 if late else job.utility(completion - job.arrival)
        return cost, Offer(counts, value - cost, completion)

    def _candidates(self, job: Job, state: State) -> Iterator[tuple[Counts, bool]]:
        rates = [job.rate_on(r) for _, r in self._occupancy.cells]
        free = [c - n for c, n in zip(self._capacity, state, strict=True)]
        usable = [cell for cell, rate in enumerate(rates) if rate and free[cell]]
        price = {cell: self._price(cell, state[cell]) for cell in usable}
        levels = sorted({rates[cell] for cell in usable}, reverse=True)
        for level in levels:
            if self._printed:
                eligible = sorted((c for c in usable if rates[c] <= level), key=lambda c: (-rates[c], price[c]))
            else:
                eligible = sorted((c for c in usable if rates[c] >= level), key=price.__getitem__)
            yield from self._fillings(job.gang, eligible, free)

    def _fillings(self, gang: int, eligible: list[int], free: list[int]) -> Iterator[tuple[Counts, bool]]:
        """Yield the packed allocations, one a machine, and the unpacked one, filled in the order of the cells."""
        by_machine: dict[str, list[int]] = {}
        for cell in eligible:
            by_machine.setdefault(self._occupancy.cells[cell][0], []).append(cell)
        for cells in by_machine.values():
            counts = _fill(gang, cells, free)
            if counts:
                yield counts, True
        counts = _fill(gang, eligible, free)
        if counts:
            spread = len({self._occupancy.cells[cell][0] for cell, _ in counts}) > 1
            yield counts, not (spread or self._printed)

    def _price(self, cell: int, devices: int) -> float:
        key = (cell, devices)
        if key not in self._prices:
            self._prices[key] = self._occupancy.price(cell, devices)
        return self._prices[key]


def _fill(gang: int, cells: list[int], free: list[int]) -> Counts:
    """Return a gang filled from the cells in their order; empty where they do not have enough devices."""
    counts = []
    for cell in cells:
        take = min(gang, free[cell])
        counts.append((cell, take))
        gang -= take
        if not gang:
            return merged(counts)
    return ()


def after(state: State, counts: Counts) -> State:
    """Return the state in which an allocation has been added to another."""
    result = list(state)
    for cell, n in counts:
        result[cell] += n
    return tuple(result)
