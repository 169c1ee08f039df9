"""Whether one level for each job fits the machines in a slot, by best fit, for many vectors at once.

What has to be placed are items: workers and servers one by one, or bundles of them. The room on a machine, and what an
item needs, are single integers, so that one subtraction tells whether all resources suffice and the smallest remainder
is the best fit. "Does not fit" may be wrong, "fits" may not; exact search is `bin_completion`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from dlsched.algorithms.exact.dmlrs.schedules import JobSchedule, Schedules
from dlsched.algorithms.exact.dmlrs.slots import Alternative, Ints, SlotJob, Slots
from dlsched.halt import polled
from dlsched.models.dmlrs import Schedule
from dlsched.models.dmlrs.job import Placement

Bools = npt.NDArray[np.bool_]

Counted = list[tuple[int, int]]
"""Items by number, ascending, and how many there are of each."""

_BITS = 62
"""Of integers that NumPy subtracts without overflow, sign and one bit to spare; Python's own hold more."""

_SEEMING = 2.5
"""Factor by which items may seem larger where their order is changed: by trial, 1.3 finds half as many that fit."""


class Coding:
    """Resources side by side in one integer, each below a bit that a difference clears where it does not suffice.

    Parameters
    ----------
    capacity : ndarray of shape (machines, resources)
    first : int
        Resource of the highest bits: rooms compare by it first.

    Attributes
    ----------
    guard : int
        A difference of room and needs is room again where all of these bits are set.
    largest : int
        More than any room.
    rooms : ndarray of shape (machines,)
        The empty machines.
    """

    def __init__(self, capacity: Ints, first: int = 0) -> None:
        self._most = capacity.max(axis=0, initial=0).tolist()
        self._widths = [int(amount).bit_length() + 1 for amount in self._most]
        self._shifts = [0] * len(self._most)
        bits = 0
        for r in ((first - 1 - k) % len(self._most) for k in range(len(self._most))):
            self._shifts[r], bits = bits, bits + self._widths[r]
        self.dtype = np.int64 if bits <= _BITS else object
        self.guard = sum(1 << s + w - 1 for s, w in zip(self._shifts, self._widths, strict=True))
        self.largest = 1 << bits
        self.rooms = self.code(capacity) + self.guard

    def code(self, amounts: Ints) -> Ints:
        """Return amounts (..., resources) as integers (...); what no machine has is one more than the largest has."""
        found: Ints = np.zeros(amounts.shape[:-1], dtype=self.dtype)
        for r, (shift, most) in enumerate(zip(self._shifts, self._most, strict=True)):
            found = found + (np.minimum(amounts[..., r], most + 1).astype(self.dtype) << shift)
        return found

    def read(self, rooms: Ints) -> Ints:
        """Return the amounts of rooms."""
        amounts = [(rooms >> s) & ((1 << w - 1) - 1) for s, w in zip(self._shifts, self._widths, strict=True)]
        return np.stack(amounts, axis=-1) if amounts else np.zeros((*rooms.shape, 0), dtype=self.dtype)

    def recode(self, rooms: Ints, other: Coding) -> Ints:
        """Return rooms in another coding in this one."""
        return rooms if other is self else self.code(other.read(rooms)) + self.guard

    def place_all(self, rooms: Ints, needs: Ints) -> tuple[Ints, Ints]:
        """Place items of many vectors one by one, each where it leaves the least.

        Parameters
        ----------
        rooms : ndarray of shape (vectors, machines)
        needs : ndarray of shape (vectors, items)
            0 where a vector has fewer items; of shape (1, items) where all have the same ones.

        Returns
        -------
        homes : ndarray of shape (vectors, items)
            Machines; -1 from the first item on that fits nowhere.
        rooms : ndarray of shape (vectors, machines)
            What is left, of those that fit.
        """
        rooms, fits = rooms.copy(), np.ones(len(rooms), dtype=bool)
        flat, rows = rooms.reshape(-1), np.arange(len(rooms)) * rooms.shape[1]
        homes = np.full((len(rooms), needs.shape[1]), -1, dtype=np.int64)
        for k in polled(range(needs.shape[1])):
            left = rooms - needs[:, k, None]
            np.putmask(left, (left & self.guard) != self.guard, self.largest)
            home = left.argmin(axis=1)
            at = rows + home
            flat[at] = least = left.take(at)
            fits &= (least < self.largest).astype(bool)
            homes[:, k] = np.where(fits, home, -1)
            if not fits.any():
                break
        return homes, rooms


@dataclass(frozen=True, slots=True)
class Item:
    """What has to be on one machine: a worker, a server or a bundle of them, of a job by number."""

    needs: tuple[int, ...]
    job: int
    workers: int
    servers: int


class Items:
    """The items of all levels of the jobs of a cluster, by number.

    Attributes
    ----------
    items : tuple of Item
        The largest first, by the share of a resource of the whole cluster.
    coding : Coding
        Of all rooms.
    codings : list of (Coding, ndarray of shape (items + 1,))
        One for each resource that may decide, `coding` first, with what the items need in it, and 0 after the last one.
    """

    def __init__(self, slots: Slots) -> None:
        self.slots = slots
        total = [max(1, amount) for amount in slots.capacity.sum(axis=0).tolist()]

        def size(item: Item) -> float:
            return max((need / whole for need, whole in zip(item.needs, total, strict=True)), default=0.0)

        def order(item: Item) -> tuple[float, tuple[int, ...], int, int]:
            return -size(item), item.needs, item.job, item.workers

        choices = {(i, c) for i, job in enumerate(slots.jobs) for level in polled(job.alternatives) for c in level}
        self.items = tuple(sorted({item for i, choice in choices for item in self._needed(i, choice)}, key=order))
        self._sizes = np.array([*map(size, self.items), 0.0])
        self._number = {item: k for k, item in enumerate(self.items)}
        self._of: dict[tuple[int, Alternative], Counted] = {}
        codings = [Coding(slots.capacity, r) for r in range(max(1, len(total)))]
        needs = np.array([item.needs for item in self.items] + [(0,) * len(total)], dtype=slots.capacity.dtype)
        self.codings = [(coding, coding.code(needs)) for coding in codings]
        self.coding = codings[0]

    def _needed(self, i: int, choice: Alternative) -> dict[Item, int]:
        """Return the items of an alternative, and how many there are of each."""
        job = self.slots.jobs[i]
        if choice.internal:
            return {Item(job.needs(choice), i, choice.workers, choice.servers): 1}
        return {Item(job.worker, i, 1, 0): choice.workers, Item(job.server, i, 0, 1): choice.servers}

    def of(self, i: int, choice: Alternative) -> Counted:
        """Return the items of a job's alternative."""
        if (i, choice) not in self._of:
            needed = self._needed(i, choice).items()
            self._of[i, choice] = sorted((self._number[item], count) for item, count in needed)
        return self._of[i, choice]

    def one_by_one(self, i: int, choice: Alternative) -> list[int]:
        """Return the number of each single item of a job's alternative, ascending."""
        return [k for k, count in self.of(i, choice) for _ in range(count)]

    def add(self, rooms: Ints, i: int, choice: Alternative) -> tuple[Bools, Ints]:
        """Add a job's alternative to rooms, shape (vectors, machines), by best fit; return where it fits, and rooms."""
        numbers = np.array(self.one_by_one(i, choice), dtype=np.int64)
        return self._best_fit(rooms, np.broadcast_to(numbers, (len(rooms), len(numbers))), range(len(self.codings)))

    def place(self, levels: npt.NDArray[np.integer], shuffles: int) -> tuple[Bools, Ints]:
        """Place vectors, shape (vectors, jobs), on the empty machines by best fit; return which fit, and rooms.

        Of each job the first alternatives, the largest items first; then the last ones; then some times alternatives at
        random, items that are large rather first.
        """
        rng = np.random.default_rng(len(levels))
        rooms = np.repeat(self.coding.rooms[None], len(levels), axis=0)
        fits = np.zeros(len(levels), dtype=bool)
        for time in range(2 + shuffles):
            todo = np.flatnonzero(~fits)
            if not len(todo):
                break
            shape, codings = (len(todo), levels.shape[1]), range(len(self.codings))
            if time < 2:
                numbers = self._singles(levels[todo], np.full(shape, time))
            else:
                numbers = self._singles(levels[todo], rng.integers(0, 2, shape))
                seeming = self._sizes[numbers] * rng.uniform(1.0, _SEEMING, numbers.shape)
                numbers = np.take_along_axis(numbers, np.argsort(-seeming, axis=1, kind="stable"), axis=1)
                codings = codings[time % len(codings) :][:1]
            good, left = self._best_fit(rooms[todo], numbers, codings)
            fits[todo[good]], rooms[todo[good]] = True, left[good]
        return fits, rooms

    @cached_property
    def _pairs(self) -> list[tuple[Ints, Ints]]:
        """By job, numbers of items and how many, two at most of each (level, first or last alternative)."""
        found = []
        for i, job in enumerate(self.slots.jobs):
            numbers, counts = np.zeros((2, job.levels + 1, 2, 2), dtype=np.int64)
            for level, choices in enumerate(job.alternatives, 1):
                for which, choice in enumerate((choices[0], choices[-1])):
                    for place, (number, count) in enumerate(self.of(i, choice)):
                        numbers[level, which, place], counts[level, which, place] = number, count
            found.append((numbers, counts))
        return found

    def _singles(self, levels: npt.NDArray[np.integer], alternatives: Ints) -> Ints:
        """Return the numbers of the single items of vectors, the largest first, and a number too many behind them."""
        at = [(levels[:, i], alternatives[:, i]) for i in range(len(self._pairs))]
        numbers, counts = (
            np.concatenate([pairs[k][where] for pairs, where in zip(self._pairs, at, strict=True)], axis=1)
            for k in (0, 1)
        )
        order = np.argsort(numbers, axis=1, kind="stable")
        numbers, counts = (np.take_along_axis(each, order, axis=1) for each in (numbers, counts))
        lengths = counts.sum(axis=1)
        flat = np.repeat(numbers.ravel(), counts.ravel())
        row = np.repeat(np.arange(len(levels)), lengths)
        place = np.arange(len(flat)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
        singles = np.full((len(levels), lengths.max(initial=0)), len(self.items))
        singles[row, place] = flat
        return singles

    def _best_fit(self, rooms: Ints, numbers: Ints, codings: Iterable[int]) -> tuple[Bools, Ints]:
        """Place items in their order, by best fit in the sense of some codings in turn; as `Coding.place_all`."""
        fits, left = np.zeros(len(rooms), dtype=bool), rooms.copy()
        for k in codings:
            todo = np.flatnonzero(~fits)
            if not len(todo):
                break
            coding, codes = self.codings[k]
            homes, after = coding.place_all(coding.recode(left[todo], self.coding), codes[numbers[todo]])
            good = (homes >= 0).all(axis=1)
            fits[todo[good]], left[todo[good]] = True, self.coding.recode(after[good], coding)
        return fits, left

    def placement(self, placed: Iterable[tuple[int, int, int]]) -> dict[str, Placement]:
        """Return (workers, servers) by machine for each job, of (number of an item, machine, how many)."""
        found: dict[str, dict[str, tuple[int, int]]] = {}
        for number, home, count in placed:
            item, machine = self.items[number], self.slots.machines[home]
            on = found.setdefault(self.slots.jobs[item.job].name, {})
            workers, servers = on.get(machine, (0, 0))
            on[machine] = (workers + count * item.workers, servers + count * item.servers)
        return dict(found)


@dataclass(frozen=True, slots=True, eq=False)
class _Ladder:
    """Things that a job places one after the other, and how many of the first ones its levels take.

    Attributes
    ----------
    counts : ndarray of shape (things, 2)
        Workers and servers of each thing.
    needs : ndarray of shape (things,)
    levels : tuple of (int, int)
        Each level that the things reach, with how many of them it takes; a level once an alternative.
    """

    counts: Ints
    needs: Ints
    levels: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True, eq=False)
class Things:
    """What a job has on the machines.

    Attributes
    ----------
    slots, machines, needs : ndarray of shape (things,)
    counts : ndarray of shape (things, 2)
        Workers and servers of each thing.
    """

    slots: Ints
    machines: Ints
    needs: Ints
    counts: Ints


@dataclass(frozen=True, slots=True, eq=False)
class Ways:
    """How the levels of a job fit.

    Attributes
    ----------
    by_level : dict of int to list
        The alternatives that fit somewhere, cheapest last: with the slots in which it does, and the machines
        of its things, shape (slots, things).
    """

    job: int
    by_level: dict[int, list[tuple[Bools, Ints, _Ladder]]]


class Machines:
    """The room on the machines in every slot beside the plans of some jobs, and where these have their things.

    What fits a slot is found by best fit, one worker or server after the other, in all slots at once; of a job's levels
    each needs what the one below it does and some more, so one pass tells which levels fit.

    Parameters
    ----------
    schedules : Schedules
    """

    def __init__(self, schedules: Schedules) -> None:
        self.schedules, self.jobs = schedules, schedules.jobs
        self._coding = Coding(schedules.slots.capacity)
        self._empty: Ints = np.repeat(self._coding.rooms[None], schedules.slots.slots, axis=0)
        self._rooms = self._empty.copy()
        self._ladders = [self._ladders_of(job) for job in polled(self.jobs)]
        self._idle = np.zeros((schedules.slots.slots, schedules.slots.most_levels + 1), dtype=bool)
        self._idle[:, 0] = True
        self._ends = [int(np.flatnonzero(row > 0).max(initial=-1)) + 1 for row in schedules.utility]

    def _ladders_of(self, job: SlotJob) -> list[_Ladder]:
        """Return ladders that have all alternatives of a job, the cheapest ones last."""
        choices = {choice for level in job.alternatives for choice in level}
        one_by_one: list[tuple[int, int]] = []
        taken: dict[Alternative, int] = {}
        found = []
        for choice in sorted(choices, key=lambda choice: (choice.internal, choice.workers)):
            if choice.internal:
                found.append(self._ladder(job, [(choice.workers, choice.servers)], {choice: 1}))
            elif job.together:
                things = [(0, choice.servers), *[(1, 0)] * choice.workers]
                found.append(self._ladder(job, things, {choice: len(things)}))
            else:
                workers, servers = (sum(column) for column in zip((0, 0), *one_by_one, strict=True))
                one_by_one += [(0, 1)] * (choice.servers - servers) + [(1, 0)] * (choice.workers - workers)
                taken[choice] = len(one_by_one)
        return [self._ladder(job, one_by_one, taken), *found] if taken else found

    def _ladder(self, job: SlotJob, counts: list[tuple[int, int]], taken: dict[Alternative, int]) -> _Ladder:
        needs = [job.needs(Alternative(True, *each)) for each in counts]
        amounts = np.array(needs, dtype=self.schedules.slots.capacity.dtype)
        levels = enumerate(job.alternatives, 1)
        reached = tuple((level, taken[choice]) for level, choices in levels for choice in choices if choice in taken)
        return _Ladder(np.array(counts, dtype=np.int64), self._coding.code(amounts), reached)

    def fits(self, i: int) -> tuple[Bools, Ways]:
        """Return which levels of a job that has nothing yet fit, shape (slots, levels + 1), and how."""
        first, end = self.jobs[i].arrival, self._ends[i]
        fits = self._idle.copy()
        ways: dict[int, list[tuple[Bools, Ints, _Ladder]]] = defaultdict(list)
        rooms = self._rooms[first:end]
        for ladder in self._ladders[i]:
            homes, _ = self._coding.place_all(rooms, ladder.needs[None])
            placed = homes >= 0
            for level, taken in ladder.levels:
                inside = placed[:, taken - 1]
                fits[first:end, level] |= inside
                ways[level].append((inside, homes[:, :taken], ladder))
        return fits, Ways(i, ways)

    def put(self, schedule: JobSchedule, ways: Ways) -> Things:
        """Place a schedule whose levels fit so; return what it has."""
        first, parts = self.jobs[ways.job].arrival, []
        for t, level in enumerate(schedule.levels):
            if level:
                homes, ladder = next((h, a) for inside, h, a in reversed(ways.by_level[level]) if inside[t - first])
                at = homes[t - first]
                parts.append((np.full(len(at), t), at, ladder.needs[: len(at)], ladder.counts[: len(at)]))
        things = Things(*(np.concatenate(column) for column in zip(*parts, strict=True)))
        self.take(things)
        return things

    def take(self, things: Things) -> None:
        """Place things where they were."""
        np.subtract.at(self._rooms, (things.slots, things.machines), things.needs)

    def leave(self, things: Things) -> None:
        """Take things away."""
        np.add.at(self._rooms, (things.slots, things.machines), things.needs)

    def repack(self, plan: dict[int, Things]) -> dict[int, Things]:
        """Place all that is there anew, the largest first, in the slots in which it then fits."""
        if not plan:
            return plan
        slots, needs = (np.concatenate([getattr(each, f) for each in plan.values()]) for f in ("slots", "needs"))
        order = np.lexsort((-needs, slots))
        rank = np.empty(len(order), dtype=np.int64)
        rank[order] = np.arange(len(order)) - np.searchsorted(slots[order], slots[order])
        listed = np.zeros((len(self._empty), int(rank.max()) + 1), dtype=self._empty.dtype)
        listed[slots, rank] = needs
        homes, rooms = self._coding.place_all(self._empty, listed)
        good = homes[:, -1] >= 0
        self._rooms[good] = rooms[good]
        found, first = {}, 0
        for i, old in plan.items():
            at = homes[old.slots, rank[first : first + len(old.slots)]]
            first += len(old.slots)
            found[i] = Things(old.slots, np.where(good[old.slots], at, old.machines), old.needs, old.counts)
        return found

    def schedule(self, plan: dict[int, Things]) -> Schedule:
        """Return what jobs have as a schedule."""
        found = {}
        for i, things in plan.items():
            job: dict[int, dict[str, tuple[int, int]]] = defaultdict(dict)
            columns = things.slots.tolist(), things.machines.tolist(), things.counts.tolist()
            for t, h, (workers, servers) in zip(*columns, strict=True):
                machine = self.schedules.slots.machines[h]
                before = job[t + 1].get(machine, (0, 0))
                job[t + 1][machine] = before[0] + workers, before[1] + servers
            found[self.jobs[i].name] = job
        return Schedule.of(found)
