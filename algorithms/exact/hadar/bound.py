"""The column-generation bound of a Hadar instance, tightened by hull inequalities, with arcs fixed by it.

Numbers
-------
Utilities are rounded up and prices rounded to multiples of a power of two (`problem.GRID`), small enough for the
tolerance and large enough that every sum in play is a whole number of them below 2**52. Longest paths, bounds and
fixings are therefore exact, whatever the LP solver returns: it only proposes prices.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from dlsched.algorithms.exact.hadar.graph import IDLE, Bools, Graph
from dlsched.algorithms.exact.hadar.problem import GRID, TOTAL, Ints, Options
from dlsched.algorithms.exact.hadar.rows import Hall, Inequality, Separator, hall_inequality, suspicious
from dlsched.arithmetic import dot, exact_product
from dlsched.relaxations.columns import Generated, Priced, generate_columns, keep
from dlsched.relaxations.master import Column, ColumnArrays, Master
from dlsched.solvers.matrix import Floats
from dlsched.tolerances import CLEAR

_BITS = 12
"""Of the right-hand sides of rows in the master: larger ones are divided by a power of two, as rounded prices would be
too coarse for them."""

_PENALTY = 20.0
"""Cost of not serving a job that must be served, in what all jobs together are worth; more than 1 is enough."""

_NEVER = 1e6 * TOTAL
"""What is lost by what cannot be: far more than anything else, and finite, so that differences are numbers."""

_COLUMNS_A_JOB = 40
"""More columns than so many a job make the LPs slow, and most of them are in no optimum; found by trial."""


Prices = tuple[Ints, Ints, Floats]
"""(slot, inequality, price of the whole inequality) of the rows with a price."""


@dataclass(frozen=True, slots=True, eq=False)
class Path:
    """A schedule of a job.

    Attributes
    ----------
    job : int
    arcs : ndarray of shape (slots,)
        In the base graph, padded with -1.
    levels : ndarray of shape (slots,)
        Option by slot, `IDLE` where the job does not run.
    finish : int
        Completion slot, from 0.
    """

    job: int
    arcs: Ints
    levels: Ints
    finish: int


class Relaxation:
    """The master over the base graph, its rows, and what is known of them.

    Parameters
    ----------
    jobs : tuple of Options
    sets : tuple of Hall
    graph : Graph
        The base graph; shrinks by `rebase`.
    pool : sequence of Inequality
        Known already; the Hall rows first.
    """

    def __init__(
        self,
        jobs: tuple[Options, ...],
        sets: tuple[Hall, ...],
        graph: Graph,
        pool: Sequence[Inequality] = (),
    ) -> None:
        self.jobs, self.sets, self.base = jobs, sets, graph
        self.pool = list(pool) or [hall_inequality(sets, k) for k in range(len(sets))]
        self._keys = {inequality.key for inequality in self.pool}
        self._separators = [Separator(hall) for hall in sets]
        self.row_slot = np.zeros(0, dtype=np.int64)
        self.row_pool = np.zeros(0, dtype=np.int64)
        arrival = np.array([o.arrival for o in jobs])
        rows = [
            (t, k)
            for t in range(graph.slots)
            for k, hall in enumerate(sets)
            if int(hall.weight[hall.member.any(axis=0) & (arrival <= t)].sum()) > hall.devices
        ]
        self._stack()
        self._first: Ints = np.array(rows, dtype=np.int64).reshape(-1, 2)
        self.master = Master(np.zeros(0), len(jobs), _PENALTY * TOTAL)
        self._arcs = ColumnArrays(self.master, self._arcs_of)
        self._append(rows)

    def _stack(self) -> None:
        most = self.base.options
        whole = np.array([p.rhs for p in self.pool], dtype=float)
        self._divisor: Floats = np.ldexp(1.0, np.maximum(np.frexp(whole)[1] - _BITS, 0))
        weights = np.array([p.coefficient for p in self.pool], dtype=float).reshape(-1, most, len(self.jobs))
        self._weights: Floats = weights / self._divisor[:, None, None]
        self._rhs = whole / self._divisor

    @property
    def _flat(self) -> Floats:
        """The coefficients of the pool by (inequality, option and job)."""
        pool, options, jobs = self._weights.shape
        return self._weights.reshape(pool, options * jobs)

    @property
    def most_columns(self) -> int:
        """How many columns the master should have at most."""
        return _COLUMNS_A_JOB * len(self.jobs)

    def _append(self, rows: list[tuple[int, int]]) -> None:
        if not rows:
            return
        self.row_slot = np.append(self.row_slot, [t for t, _ in rows])
        self.row_pool = np.append(self.row_pool, [k for _, k in rows])
        fresh = slice(len(self.row_slot) - len(rows), None)
        coefficients = self._rows_of([c.data for c in self.master.columns], fresh).T
        self.master.add_rows(self._rhs[self.row_pool[fresh]], coefficients)

    def _rows_of(self, paths: Sequence[Path], rows: slice = slice(None)) -> Floats:
        """Return the coefficients of paths, by path and row."""
        slots = self.row_slot[rows]
        level = np.array([path.levels for path in paths], dtype=np.int64).reshape(len(paths), self.base.slots)[:, slots]
        job = np.array([path.job for path in paths], dtype=np.int64)
        return np.where(level == IDLE, 0.0, self._weights[self.row_pool[rows], level, job[:, None]])

    def priced(self, prices: Floats) -> Prices:
        """Return what does not change with the rows of the master, for a record and for nodes that wait."""
        used = np.flatnonzero(prices)
        pool = self.row_pool[used]
        price: Floats = prices[used] / self._divisor[pool]
        return self.row_slot[used], pool, price

    def with_devices(self, saved: Prices) -> Prices:
        """Return prices with those of the first rows, the devices of all sets in all slots, 0 where there is none.

        Where slots are settled one by one they bind where they did not before.
        """
        slot, pool, price = saved
        lacking = self._first[np.isin(self._numbers(*self._first.T), self._numbers(slot, pool), invert=True)]
        free = np.zeros(len(lacking))
        return np.append(slot, lacking[:, 0]), np.append(pool, lacking[:, 1]), np.append(price, free)

    def rows_with(self, saved: Prices) -> Floats:
        """Make the rows those that are named, and return the prices by row."""
        self.keep_rows(np.isin(self._numbers(self.row_slot, self.row_pool), self._numbers(*saved[:2])))
        have, wanted = self._numbers(self.row_slot, self.row_pool), self._numbers(*saved[:2])
        fresh = np.isin(wanted, have, invert=True)
        self._append(list(zip(saved[0][fresh].tolist(), saved[1][fresh].tolist(), strict=True)))
        order = np.argsort(wanted, kind="stable")
        at = order[np.searchsorted(wanted, self._numbers(self.row_slot, self.row_pool), sorter=order)]
        prices: Floats = saved[2][at] * self._divisor[self.row_pool]
        return prices

    def _numbers(self, slot: Ints, pool: Ints) -> Ints:
        return slot * len(self.pool) + pool

    def costs(self, prices: Floats) -> Floats:
        """Return the price of running by (slot, option, job), flattened, followed by the 0 of idling."""
        by_slot = np.zeros((self.base.slots, len(self.pool)))
        by_slot[self.row_slot, self.row_pool] = prices
        return np.append(exact_product(by_slot, self._flat).ravel(), 0.0)

    def pricing(self, graph: Graph) -> Callable[[Floats], Priced]:
        """Return the pricing callable of a graph cut from the base graph."""
        index = graph.price_index

        def price(prices: Floats) -> Priced:
            weight = graph.gain - self.costs(prices).take(index)
            value = graph.backward(weight)
            return Priced(graph.best(value), self._columns(graph, graph.paths(weight, value)))

        return price

    def _columns(self, graph: Graph, arcs: Ints) -> list[Column]:
        paths = _paths(graph, arcs)
        return [
            Column(p.job, p.levels.tobytes(), float(graph.gain[arcs[p.job].max()]), rows, p)
            for p, rows in zip(paths, self._rows_of(paths), strict=True)
        ]

    def paths_of(self, levels: Ints) -> list[Path]:
        """Return the paths in the base graph of the schedules that it has, from options by (job, slot)."""
        return _paths(self.base, self.base.follow(levels))

    def bound(
        self,
        graph: Graph,
        required: Bools,
        *,
        start: Floats | None = None,
        rounds: int | None = None,
        stop: Callable[[float, float], bool] | None = None,
    ) -> Generated:
        """Generate columns over a graph cut from the base graph."""
        self.master.restrict(self._within(graph.origin[np.isfinite(graph.gain)]), required)
        return generate_columns(self.master, self.pricing(graph), start=start, grid=GRID, rounds=rounds, stop=stop)

    def _within(self, arcs: Ints) -> Bools:
        """Return which columns of the master use only some arcs of the base graph."""
        alive = np.zeros(len(self.base.tail) + 1, dtype=bool)
        alive[arcs] = alive[-1] = True
        within: Bools = np.logical_and.reduce(alive[self._arcs()[0]], axis=1)
        return within

    def _arcs_of(self, paths: Sequence[Path]) -> tuple[Ints]:
        """Return the arcs of paths, shape (paths, slots)."""
        return (np.array([path.arcs for path in paths], dtype=np.int64).reshape(len(paths), self.base.slots),)

    def fixed(self, graph: Graph, required: Bools, prices: Floats, incumbent: float) -> tuple[float, Bools, Bools]:
        """Return the bound of prices, which arcs can be in a better solution, and which jobs are in all of them."""
        share, through = self._valued(graph, required, prices)
        bound = float(dot(prices, self.master.rhs)) + float(share.sum())
        if not np.isfinite(bound):
            return -np.inf, np.zeros(len(graph.tail), dtype=bool), required
        alive = keep(through - share[graph.job], bound, incumbent)
        return bound, alive, required | ~keep(-share, bound, incumbent)

    def _valued(self, graph: Graph, required: Bools, prices: Floats) -> tuple[Floats, Floats]:
        """Return the jobs' shares of the bound of some prices, and what the best schedule with each arc is worth."""
        weight = graph.gain - self.costs(prices).take(graph.price_index)
        onward, so_far = graph.backward(weight), graph.forward(weight)
        best = graph.best(onward)
        return np.where(required, best, np.maximum(best, 0.0)), so_far[graph.tail] + weight + onward[graph.head]

    def losses(self, graph: Graph, required: Bools, prices: Floats, slot: int) -> tuple[Floats, Floats]:
        """Return what a bound loses where jobs run at an option in a slot (options, jobs), or do not (jobs)."""
        share, through = self._valued(graph, required, prices)
        lost = share[graph.job] - through
        runs = (graph.slot == slot) & (graph.option != IDLE)
        idles = ((graph.slot == slot) & (graph.option == IDLE)) | (graph.finishing & (graph.slot < slot))
        running = np.full((graph.options, graph.jobs), _NEVER)
        np.minimum.at(running, (graph.option[runs], graph.job[runs]), lost[runs])
        idling = np.where(required, _NEVER, share)
        np.minimum.at(idling, graph.job[idles], lost[idles])
        later = np.flatnonzero(graph.root >= 0)
        idling[later[graph.slot[graph.onward[0, graph.root[later]]] > slot]] = 0.0
        return running, idling

    def keep_columns(self, graphs: Sequence[Graph]) -> None:
        """Forget the columns that are in none of some graphs cut from the base graph."""
        self.master.keep_columns(self._within(np.concatenate([graph.origin for graph in graphs])))

    def rebase(self, graph: Graph) -> Graph:
        """Make a graph cut from the base graph the new base; forget columns outside it and rows without a price."""
        number = np.full(len(self.base.tail) + 1, -2, dtype=np.int64)
        number[graph.origin] = np.arange(len(graph.tail))
        number[-1] = -1
        moved = [number[c.data.arcs] for c in self.master.columns]
        mask = np.array([bool((arcs != -2).all()) for arcs in moved], dtype=bool)
        self.master.keep_columns(mask)
        kept = [arcs for arcs, kept in zip(moved, mask, strict=True) if kept]
        self.master.columns = [
            Column(c.block, c.key, c.value, c.rows, Path(c.data.job, arcs, c.data.levels, c.data.finish))
            for c, arcs in zip(self.master.columns, kept, strict=True)
        ]
        self.base = graph.numbered()
        return self.base

    def keep_rows(self, mask: Bools) -> None:
        """Forget rows outside the mask; the pool keeps their inequalities."""
        self.master.keep_rows(mask)
        self.row_slot, self.row_pool = self.row_slot[mask], self.row_pool[mask]

    def running(self, generated: Generated) -> Floats:
        """Return z, how much each job runs by (slot, option, job), in the LP's optimum."""
        z = np.zeros((self.base.slots, self.base.options, len(self.jobs)))
        for path, x in generated.recover():
            t = np.flatnonzero(path.levels != IDLE)
            z[t, path.levels[t], path.job] += x
        return z

    def tighten(self, generated: Generated, *, most: int = 4, slots: slice = slice(None)) -> int:
        """Add rows that the LP's optimum breaks in some slots, at most some a slot; return how many."""
        running = self.running(generated)
        z = np.zeros_like(running)
        z[slots] = running[slots]
        if sum([self._separated(k, y) for k, hall in enumerate(self.sets) for y in (z * hall.member).sum(axis=1)]):
            self._stack()
        return self._broken(z, most)

    def _separated(self, k: int, y: Floats) -> bool:
        """Add the inequality of a Hall row's hull that a point breaks most, where it breaks one that is not known."""
        y = np.minimum(y, 1.0)
        found = self._separators[k].separate(y) if suspicious(y) else None
        if found is None:
            return False
        inequality = Inequality(np.where(self.sets[k].member, found[0], 0), found[1], k)
        if inequality.key in self._keys:
            return False
        self._keys.add(inequality.key)
        self.pool.append(inequality)
        return True

    def _broken(self, z: Floats, most: int) -> int:
        running = [np.flatnonzero(slot) for slot in z]
        used = [dot(self._flat[:, on], slot.ravel()[on]) for slot, on in zip(z, running, strict=True)]
        excess = np.array(used) / self._rhs - 1.0
        excess[self.row_slot, self.row_pool] = 0.0
        rows = []
        for t in range(self.base.slots):
            worst = np.argsort(-excess[t], kind="stable")[:most]
            rows += [(t, int(k)) for k in worst if excess[t, k] > CLEAR]
        self._append(rows)
        return len(rows)


def _paths(graph: Graph, arcs: Ints) -> list[Path]:
    """Return the paths of the jobs that have one, from their arcs by job, padded with -1."""
    jobs = np.flatnonzero(arcs[:, 0] >= 0)
    mine = arcs[jobs]
    walked = mine >= 0
    path, step = np.nonzero(walked)
    on = mine[path, step]
    levels = np.full((len(jobs), graph.slots), IDLE, dtype=np.int64)
    levels[path, graph.slot[on]] = graph.option[on]
    base = np.where(walked, graph.origin[mine], -1)
    last = graph.slot[mine[np.arange(len(jobs)), walked.sum(axis=1) - 1]]
    return [Path(*parts) for parts in zip(jobs.tolist(), base, levels, last.tolist(), strict=True)]
