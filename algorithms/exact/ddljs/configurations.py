"""The offline problem (2)-(9), corrected, by what all jobs get in a slot: Dantzig-Wolfe decomposition over slots.

A configuration is a vector of ring sizes, one a job, that fit into a slot together. The master problem says in how many
slots of those that are alike each configuration is used, with at least n_i worker-slots for job i in all, at utility
mu_i(n_i). At prices p_i >= 0 of a worker-slot no schedule is worth more than

    sum_i max_n (mu_i(n) - p_i n) + sum_g m_g max_v p'v

over groups g of m_g slots that are alike and their configurations v. Each of the last maxima is an embedding problem of
one slot (`slot`), and what attains it is the configuration that the master problem lacks most. Its linear relaxation is
at most that of the pooled program, where a ring may be a mixture of rings each of which would fit alone.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from dlsched.algorithms.exact.ddljs.horizon import write_numbers
from dlsched.algorithms.exact.ddljs.slot import SlotSearch
from dlsched.halt import poll
from dlsched.models.ddljs.instance import Instance
from dlsched.models.ddljs.requests import largest_ring, problem_of, request_of
from dlsched.models.ddljs.rings import Embedding
from dlsched.models.ddljs.schedule import Schedule
from dlsched.models.numbers import exceeds
from dlsched.solvers.builder import Builder
from dlsched.solvers.matrix import Floats
from dlsched.solvers.solve import solve_matrix
from dlsched.tolerances import WHOLE

Configuration = tuple[int, ...]
"""The ring size of each job, in the instance's order."""

Prices = Mapping[str, Fraction]
"""Of a worker-slot of each job, none below 0."""

_STEPS = 1 << 40
"""Prices are whole multiples of the greatest utility over this: far finer than a solver's duals are right, and small
enough for the exact knapsack over ring sizes to count in 64 bits."""

_LOST = 100
"""How many times the greatest utility a job loses that must have a worker-slot and gets none, in the linear master
problem only: more than any price makes up for. Arbitrary."""


@dataclass(frozen=True, slots=True)
class Bound:
    """What no schedule is worth more than, at some prices.

    Attributes
    ----------
    value : Fraction
    searches : list of SlotSearch
        What each group's slots are worth the most, by one route.
    """

    value: Fraction
    searches: list[SlotSearch]


@dataclass(frozen=True, slots=True)
class Part:
    """What is settled of a schedule, and what is not.

    Attributes
    ----------
    embeddings : dict of str to dict of int to Embedding
        By job and slot.
    groups : list of list of int
        The slots that are left, those that are alike together.
    points : dict of str to dict of int to Fraction
        By job: its utility by the worker-slots that it gets in these.
    """

    embeddings: dict[str, dict[int, Embedding]]
    groups: list[list[int]]
    points: dict[str, dict[int, Fraction]]

    def with_rest(self, rest: Schedule) -> Schedule:
        """Return the whole schedule."""
        names = {**self.embeddings, **rest.jobs}
        return Schedule.of({name: self.embeddings.get(name, {}) | rest.embeddings(name) for name in names})


class Configurations:
    """The configurations so far.

    Parameters
    ----------
    instance : Instance
    points : mapping of str to mapping of int to Fraction
        By job: `dlsched.algorithms.exact.ddljs.horizon.values`.
    groups : sequence of sequences of int
        Slots that are alike.
    schedule : Schedule
        Whose slots are the first ones.

    Attributes
    ----------
    best : Bound or None
        The least so far.
    uses : dict of (int, Configuration) to float
        By group: in how many of its slots each is, in the last linear master problem.
    """

    def __init__(
        self,
        instance: Instance,
        points: Mapping[str, Mapping[int, Fraction]],
        groups: Sequence[Sequence[int]],
        schedule: Schedule,
    ) -> None:
        self.best: Bound | None = None
        self.uses: dict[tuple[int, Configuration], float] = {}
        self._points, self._groups = points, groups
        greatest = instance.greatest_utility or Fraction(1)
        self._step, self._lost = greatest / _STEPS, greatest * _LOST
        self._arrivals = [job.arrival for job in instance.jobs]
        sizes = {job.name: range(1, largest_ring(instance, job) + 1) for job in instance.jobs}
        self._requests = [request_of(job, dict.fromkeys(sizes[job.name], Fraction(0))) for job in instance.jobs]
        self._networks = [problem_of(instance, group[0], ()) for group in groups]
        # By the network that they fit into; of each, jobs that have not arrived yet are left out where it is used.
        self._found: dict[object, dict[Configuration, Mapping[str, Embedding]]] = defaultdict(dict)
        by_slot: dict[int, dict[str, Embedding]] = defaultdict(dict)
        for name, slot, embedding in schedule.items():
            by_slot[slot][name] = embedding
        for number, group in enumerate(groups):
            for slot in group:
                self._add(number, by_slot[slot])

    def _add(self, group: int, embeddings: Mapping[str, Embedding]) -> None:
        """Take what fits into a slot of a group."""
        sizes = tuple(embeddings[name].size if name in embeddings else 0 for name in self._points)
        self._found[self._networks[group].shares].setdefault(sizes, embeddings)

    def _of(self, group: int) -> dict[Configuration, Mapping[str, Embedding]]:
        """Return the configurations of a group, none of them empty."""
        present = [arrival <= self._groups[group][0] for arrival in self._arrivals]
        found: dict[Configuration, Mapping[str, Embedding]] = {}
        for sizes, embeddings in self._found[self._networks[group].shares].items():
            kept = tuple(size * here for size, here in zip(sizes, present, strict=True))
            if any(kept):
                found.setdefault(kept, embeddings)
        return found

    def generate(self, prices: Prices, tell: Callable[[Bound], None]) -> None:
        """Add configurations until the linear master problem lacks none.

        Parameters
        ----------
        prices : mapping of str to Fraction
            The first ones.
        tell : callable
            Called with each bound that is less than those before.
        """
        before = -1
        while True:
            bound = self._bound(prices)
            if self.best is None or bound.value < self.best.value:
                self.best = bound
                tell(bound)
            value, duals = self._solve_master()
            count = sum(map(len, self._found.values()))
            if duals is None or value is None or count == before:
                return
            if not exceeds(float(self.best.value), value, unit=0.0):
                return
            before, prices = count, duals

    def _solve_master(self) -> tuple[float | None, Prices | None]:
        """Solve the linear master problem; return its value and the prices that its duals are."""
        program = Builder(-1)
        columns: dict[tuple[int, Configuration], int] = {}
        got: dict[str, list[tuple[int, int]]] = {name: [] for name in self._points}
        for number, group in enumerate(self._groups):
            own = {sizes: program.column() for sizes in self._of(number)}
            program.row([(column, 1) for column in own.values()], upper=len(group))
            for sizes, column in own.items():
                columns[number, sizes] = column
                for name, size in zip(self._points, sizes, strict=True):
                    if size:
                        got[name].append((column, size))
        points = {
            name: own if 0 in own else {0: min(own.values()) - self._lost, **own} for name, own in self._points.items()
        }
        rows = write_numbers(program, points, got, more=True)
        linear = solve_matrix(program.matrix().relaxed(), threads=1)
        if linear.x is None or linear.row_duals is None:
            return None, None
        self.uses = {use: float(linear.x[column]) for use, column in columns.items()}
        return linear.summary.bound, self.prices(rows, linear.row_duals)

    def marginal(self, got: Mapping[str, int]) -> Prices:
        """Return what another worker-slot is worth to each job; nothing where it can have no more."""
        pairs = ((name, own.get(got[name]), own.get(got[name] + 1)) for name, own in self._points.items())
        return {
            name: Fraction(0) if now is None or more is None else self._step * max(0, round((more - now) / self._step))
            for name, now, more in pairs
        }

    def prices(self, rows: Mapping[str, int], duals: Floats) -> Prices:
        """Return the prices that duals of a program say, by the rows of the jobs' worker-slots."""
        step = float(self._step)
        return {name: self._step * max(0, round(-float(duals[row]) / step)) for name, row in rows.items()}

    def _bound(self, prices: Prices) -> Bound:
        """Return the bound at prices; the configurations that it finds are added."""
        searches = []
        total = Fraction(0)
        for name, own in self._points.items():
            total += max(value - prices[name] * n for n, value in own.items())
        for number, group in enumerate(self._groups):
            search = SlotSearch(
                self._networks[number].keeping(
                    replace(request, profit={size: size * prices[request.name] for size in request.profit})
                    for request, arrival in zip(self._requests, self._arrivals, strict=True)
                    if arrival <= group[0] and prices[request.name] and request.profit
                )
            )
            search.first()
            poll()
            self._add(number, search.known.best or {})
            total += len(group) * search.bound
            searches.append(search)
        return Bound(total, searches)

    def part(self, share: float) -> Part:
        """Settle the slots in which the last linear master problem is whole.

        Parameters
        ----------
        share : float
            How much of each use of a configuration counts.
        """
        groups = [list(group) for group in self._groups]
        embeddings: dict[str, dict[int, Embedding]] = defaultdict(dict)
        got, tables = Counter[str](), [self._of(number) for number in range(len(groups))]
        most = {name: max(own, key=own.__getitem__) for name, own in self._points.items()}
        for (number, sizes), times in self.uses.items():
            own = {name: size for name, size in zip(self._points, sizes, strict=True) if size}
            # More than a job can use is left to the rest.
            fits = min((most[name] - got[name]) // size for name, size in own.items())
            for _ in range(min(fits, math.floor(share * times + WHOLE))):
                slot = groups[number].pop()
                found = tables[number][sizes]
                for name, size in own.items():
                    embeddings[name][slot] = found[name]
                    got[name] += size
        points = {
            name: {n - got[name]: value for n, value in own.items() if n >= got[name]}
            for name, own in self._points.items()
        }
        return Part(embeddings, [group for group in groups if group], points)
