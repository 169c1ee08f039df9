"""The certified optimum of the Hadar problem (P1 with admission).

Slots that cannot matter are left out (`problem`); a first schedule takes little time at any size (`greedy`).

1. Column generation over all schedules of all jobs, coupled by Hall rows, gives a bound; hull inequalities of the
   Hall rows tighten it (`dlsched.algorithms.exact.hadar.bound`, `rows`).
2. Dives into the linear program (`dive`) and a beam over the slots (`beam`) find schedules, and from there a large
   neighbourhood search (`search`) that is annealed again and again while it helps, with what good schedules make
   together (`merge`); in the tree, so does column generation over a few jobs at a time (`dive`).
3. What cannot be in a better schedule is dropped by reduced costs.
4. Branch, cut and price closes the gap (`branch`).
5. The tree is replayed from the instance by other code (`replay`): the second route.
6. Where a linear program fails, or the replay does not close what the tree has closed, general solvers are asked
   (`programs`), formulation after formulation, until value and bound are proved or time is up.

Where slots are so many that graphs of all schedules are too large, linear programs over periods of slots bound, and
schedules are lists of jobs (`periods`).

Jobs whose amounts of remaining work are too many are rounded optimistically in 1 and 4 and pessimistically in 2. A
solution of the tree that then lacks work adds the amounts along it, and the method starts again with what it knows;
and more finely where the replay, which rounds nothing, is weaker. Instances of the benchmark family with rates of 16
digits have no such jobs at the sizes that are solved; where amounts are rounded, every new start costs one root.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from functools import partial

import numpy as np

from dlsched.algorithms.exact.anytime import UNSOLVED, Anytime
from dlsched.algorithms.exact.hadar.beam import Beam
from dlsched.algorithms.exact.hadar.bound import Path, Prices, Relaxation
from dlsched.algorithms.exact.hadar.branch import Branch, Part, PathBranching, Record, Stuck
from dlsched.algorithms.exact.hadar.dive import Dive, Polish
from dlsched.algorithms.exact.hadar.graph import IDLE, build_graph
from dlsched.algorithms.exact.hadar.greedy import first_schedule
from dlsched.algorithms.exact.hadar.periods import Periods
from dlsched.algorithms.exact.hadar.problem import (
    Needs,
    Options,
    Plan,
    Scale,
    plan_of,
    schedule_of,
    what_matters,
)
from dlsched.algorithms.exact.hadar.replay import replay
from dlsched.algorithms.exact.hadar.rows import Inequality, hall_sets
from dlsched.algorithms.exact.hadar.search import Search
from dlsched.algorithms.exact.hadar.states import MAX_STATES, Rounding, build_states
from dlsched.algorithms.exact.result import Note, Optimum, Progress
from dlsched.arguments import Seed, at_least, checked, seed_of
from dlsched.halt import Halt, grace, left, over, poll, share_used
from dlsched.models.hadar import Instance, Schedule, check, exact_utility
from dlsched.relaxations.branch_and_price import BranchAndPrice
from dlsched.relaxations.columns import Generated
from dlsched.solvers.matrix import Floats
from dlsched.tolerances import TOLERANCE

_PASSES = 40
"""Of bounding and tightening at the root, at most; it mostly ends by itself, when no row is broken any more."""

_SHRUNK = 0.8
"""Share of the base graph's arcs below which it is worth to build a smaller one; columns have to be renumbered."""

_FEW, _NODES_FIRST = 30, 7200
"""Up to so many jobs the tree splits so many nodes, over the square of their number, before an annealing and a beam: 50
on (12), which are all, and 18 on (20), for searches that take as long as a dozen. With more it is schedules that lack:
on (40), 4 nodes first, a minute of one process ended on seed 1 at 1129.8 of 1134.8, and not at 1131.9 of 1135.7."""

_TREE_SHARE = 0.2
"""Of the time that is left when the tree begins, after which these searches come in any case: over 80 slots a minute
of 12 jobs is not enough for so many nodes. Arbitrary."""

_DIVES = 3
"""Dives at the root with noise, after the one without."""

_FIRST_ROUNDS = 50
"""Of the search before there are inequalities: on easy instances they end it, and on others better prices come."""

_PAIRS_A_FIRST_ROUND = 2
"""Pairs of jobs for each round of the first annealing, which had taken all of a minute with 60 jobs when it was longer,
and a beam closes more. That from a beam's plan, or a merged one, takes half as many: with as many it gains a fifth
more, and a program over what it came by gains more than that, sooner."""

_MERGE_SHARE = 0.4
"""Of the time that is left, at most, for a program over schedules of good plans. Arbitrary: most take less."""

_HELPS = 0.1
"""Of the gap that an annealing closes, at least, if there is to be another one, of twice as many rounds."""

_PAIRS_A_ROUND = 64
"""A round of the search after each node for so many pairs of jobs: a node takes longer with more of them, and this a
tenth of it."""

_NODES_A_POLISH = 4
"""Nodes after which a neighbourhood is polished, which takes as long as one of them; with one for every ten jobs after
each node, (20) seed 0 is at a bound of 647.91 after a minute, not at 647.77, and the gap is wider."""

_IN_VAIN = 8
"""Searches in vain after which there is one after every second node only, after twice as many every third, and so on.
Arbitrary: where schedules are still found it is never reached."""

_MARGIN = 0.2
"""Of the tolerance, that a solution must be better by: what value and bound differ by in the end, rounding included."""

_FINER = 8
"""By how much amounts of work are rounded less where the replay was weaker; each time costs a new tree."""

_MOST_STATES = 10**5
"""Amounts of work of a job, above which the tree is not built anew with more; memory grows with them."""

_MANY_SLOTS = 5_000_000
"""Slots that jobs may use, times slots and options, from which on slots are taken together (`periods`). Of 20 jobs over
200 slots, 1.4 million, graphs end at 1.0 % in a minute, periods at 2.9; over 600, 12.6 million, at 5.1 and 2.9 %."""

_MOST_CELLS = 24_000_000
"""Amounts of work of all jobs, times slots and options, that graphs are built for, in seven gigabytes, as far as fewer
amounts make them fewer; a job has one for each slot that it may use at least."""

_LEAST_STATES = 200
"""Amounts of work of a job that memory does not make fewer. Arbitrary: with much less, bounds say little."""

_FIRST = "branch, cut and price"
_FORMULATIONS = ("hadar/hall", "hadar/aggregate")
"""What general solvers get where the tree or its replay has no answer."""


@checked
def solve(
    instance: Instance,
    *,
    time_limit: float | None = None,
    progress: Progress | None = None,
    stop: Callable[[], bool] | None = None,
    max_states: int = MAX_STATES,
    seed: Seed = 0,
) -> Optimum:
    """Return the certified optimum of P1 with admission.

    Parameters
    ----------
    instance : Instance
    time_limit : float, optional
        Seconds, for the first proof and the second route together. When it is up, value and bound are still valid.
    progress : callable, optional
        Called with (phase, lower, upper).
    stop : callable, optional
        Asked often; where it tells True, the method ends as if time were up.
    max_states : int
        Amounts of remaining work a job may have before they are rounded.
    seed : int or numpy.random.Generator
        Of the search for schedules.
    """
    at_least(0, time_limit=time_limit)
    at_least(1, max_states=max_states)
    known = knowledge(instance, progress)
    return known.run(
        lambda: _prepared(instance, known, max_states, seed_of(seed)).steps(), time_limit=time_limit, stop=stop
    )


@checked
def improve(instance: Instance, *, time_limit: float | None = None, seed: Seed = 0) -> Optimum:
    """Look for schedules until time is up, and prove nothing: what runs beside `solve` on another processor.

    Parameters
    ----------
    instance : Instance
    time_limit : float, optional
        Seconds.
    seed : int or numpy.random.Generator
        Of the search.
    """
    known = knowledge(instance)
    return known.run(
        lambda: _prepared(instance, known, MAX_STATES, seed_of(seed)).improve(), time_limit=time_limit, stop=None
    )


def knowledge(instance: Instance, progress: Progress | None = None) -> Anytime[Schedule]:
    """Return what is known before anything is done: no job may run, and all may be worth what they are at once."""
    most = sum(max(0.0, job.utility(0)) for job in instance.jobs)
    known = Anytime[Schedule](partial(exact_utility, instance), partial(check, instance), upper=most, progress=progress)
    known.take(Schedule.of({}))
    return known


class _Refine(Exception):
    """A solution of the tree lacks work: its amounts of remaining work are to be followed exactly."""


class Solver:
    """The routes to an instance's optimum, and what they share.

    Parameters
    ----------
    instance : Instance
    known : Anytime
        Of the instance; takes what is found.
    useful : sequence of Needs
        The jobs that can earn something.
    slots : tuple of int
        That matter.
    max_states : int
        Amounts of remaining work a job may have before they are rounded.
    seed : int
        Of the search for schedules.
    """

    def __init__(
        self,
        instance: Instance,
        known: Anytime[Schedule],
        useful: Sequence[Needs],
        slots: tuple[int, ...],
        max_states: int,
        seed: int,
    ) -> None:
        self.instance, self.known, self.slots = instance, known, slots
        self.max_states, self.seed = max_states, seed
        known.take(first_schedule(instance, useful, self.slots))
        self.jobs: tuple[Options, ...] = tuple(needs.options(instance, self.slots) for needs in useful)
        self.scale = Scale.of(self.jobs)
        self.units = self.scale.units(self.jobs, len(self.slots))
        self.most = float(self.units.max(axis=1, initial=0.0).sum())
        known.unit = self.scale.utility(float(self.units.max(initial=0.0)))
        known.bound(self.scale.utility(self.most), "every job at its best")
        self.upper = self.most
        self._next_look, self._in_vain = 0, 0
        self.sets = hall_sets(self.jobs, tuple(instance.capacity.values()))
        self.exact = np.ones(len(self.jobs), dtype=bool)
        self.extra: dict[int, frozenset[int]] = {}
        self.pool: list[Inequality] = []
        self.record = Record()
        self.failed = False
        self._told = 0.0

    def steps(self) -> bool:
        """Take the routes; tell whether they prove an optimum."""
        if not self.jobs:
            self.known.note("no job can finish with a positive utility" if self.instance.jobs else "no jobs")
            return True
        try:
            return self._proved()
        except Halt:
            self.known.evidence.append(self._open())
            return False
        finally:
            self.known.evidence.insert(0, Note("checked schedule worth ", self.known.value))

    def _proved(self) -> bool:
        """Take the routes; tell whether they prove an optimum."""
        self._first_route()
        self.known.found()
        proved = self._second_route()
        while not (proved or self.failed or self.exact.all() or self.max_states > _MOST_STATES):
            self.max_states *= _FINER
            self._first_route()
            proved = self._second_route()
        return proved or self._other_routes()

    def progress(self, phase: str) -> None:
        """Report the phase and what is known; take a better schedule from those who search elsewhere."""
        if self.lower > self._told:
            self._told = self.lower
            self._take_schedule(self._best())
        self.known.bound(self.scale.utility(self.upper), _FIRST)
        self.known.tell(phase)
        if self.known.best is not None and self.known.value > self.scale.utility(self.cutoff):
            self.search.offer(plan_of(self.known.best, self.instance, self.jobs, self.slots, self.units))

    @property
    def lower(self) -> float:
        """Value of the best plan."""
        return self.search.best.value

    @property
    def margin(self) -> float:
        """How much better than the best plan a solution must be to be looked for: less than the tolerance."""
        return _MARGIN * TOLERANCE * max(float(self.units.max()), self.lower)

    @property
    def cutoff(self) -> float:
        """Solutions up to this value are not looked for."""
        return self.lower + self.margin

    def begin(self) -> None:
        """Find first schedules."""
        if not self.jobs:
            return
        states = build_states(self.jobs, len(self.slots), rounding=Rounding.PESSIMISTIC, limit=self.max_states)
        self.search = Search(self.jobs, states, self.sets, self.units, seed=self.seed)
        self.search.run(rounds=0)
        self.progress("search")

    def _first_route(self) -> None:
        """Attempt until the tree is finished or a linear program fails; take the plan and the bound."""
        finished, self.upper, self.notes = False, self.most, "column generation, cut and fixed at the root: closed"
        try:
            while not finished and self.upper > self.cutoff:
                poll()
                try:
                    finished = self.attempt()
                except _Refine:
                    self.max_states *= 2
                finally:
                    self.known.bound(self.scale.utility(self.upper), _FIRST)
        except (*UNSOLVED, Stuck) as failure:
            self.failed, self.notes = True, f"{_FIRST}: failed ({failure})"
        finally:
            self._take_schedule(self._best())

    def improve(self) -> bool:
        """Bound and search, without a tree, until the bound is reached or the work is over; prove nothing."""
        if self.jobs:
            self._relax()
            try:
                prices = self._root()
                if self.upper > self.cutoff:
                    prices = self._search(prices, refines=True)
                    self._fix(prices, self.upper)
                while self.upper > self.cutoff:
                    poll()
                    if self.beam.is_late():
                        self._anneal()
                    else:
                        prices = self._search_slots(prices, refines=True)
            except UNSOLVED:
                self.known.note("a linear program failed")
            finally:
                self._take_schedule(self._best())
        return False

    def attempt(self) -> bool:
        """Bound, search, fix and branch; True where the tree is finished."""
        self._relax()
        prices = self._root()
        if self.upper > self.cutoff and not self._nodes_first:
            prices = self._search(prices, refines=not self.known.shared)
            self._fix(prices, self.upper)
        if self.upper <= self.cutoff:
            return True
        poll()
        branching = PathBranching(self.relaxation, self._found, self.units)
        most = self.relaxation.most_columns
        tree = BranchAndPrice(branching, cutoff=self.lower, margin=self.margin, columns=most)
        tree.start(branching.whole(self.required, self.record), prices, self.upper)
        return self._branch(tree, prices)

    def _relax(self) -> None:
        """Build the graph and the linear program over it anew."""
        slots, self.upper = len(self.slots), self.most
        states = build_states(self.jobs, slots, extra=self.extra, limit=self.max_states)
        self.exact = states.exact
        graph = build_graph(self.jobs, states, slots, self.units)
        self.relaxation = Relaxation(self.jobs, self.sets, graph, self.pool)
        self.pool = self.relaxation.pool
        self.polish = Polish(self.relaxation, self.seed)
        self.beam = Beam(self.relaxation, self.seed)
        self.record = Record()
        self.required = np.zeros(len(self.jobs), dtype=bool)

    def _root(self) -> Floats:
        """Return the prices of the root's bound, by row, with a plan from dives."""
        relaxation = self.relaxation
        generated = relaxation.bound(relaxation.base, self.required, stop=self._stop)
        self._fix(generated.duals, generated.bound)
        self._guide(generated, _FIRST_ROUNDS)
        self._anneal()
        for _ in range(_PASSES):
            if self.upper <= self.cutoff or over() or not relaxation.tighten(generated):
                break
            start = generated.duals
            generated = relaxation.bound(relaxation.base, self.required, start=start, stop=self._stop)
            self._fix(generated.duals, generated.bound)
            self.progress("bound")
        if self.upper <= self.cutoff:
            return generated.duals
        with suppress(*UNSOLVED):
            self._take(Dive(relaxation, relaxation.base, self.required).run(generated))
        self._dives(generated.duals)
        self._guide(generated, self._first_rounds)
        self._fix(generated.duals, generated.bound)
        return generated.duals

    def _stop(self, bound: float, value: float) -> bool:
        return bound <= self.cutoff or over()

    def _fix(self, prices: Floats, known: float) -> None:
        """Fix by the prices of a bound that is known."""
        relaxation = self.relaxation
        self.record.steps.append(relaxation.priced(prices))
        try:
            bound, alive, self.required = relaxation.fixed(relaxation.base, self.required, prices, self.cutoff)
        except Halt:
            self.upper = min(self.upper, max(known, self.lower))
            raise
        self.upper = min(self.upper, max(bound, self.lower))
        if np.count_nonzero(alive) < _SHRUNK * len(alive):
            relaxation.rebase(relaxation.base.restrict(alive))

    def _search(self, prices: Floats, *, refines: bool) -> Floats:
        """Anneal, and search slot by slot; then anneal again and again while it helps.

        Return the prices by row, as rows change. Annealing comes before the beam: it has a schedule whenever time is
        up, a beam none before its end.
        """
        self._anneal()
        prices = self._search_slots(prices, refines=refines)
        helped = not self.known.shared
        while helped and self.upper > self.cutoff and not over():
            before = self.lower
            self._anneal()
            helped = self.lower - before > _HELPS * (self.upper - before)
        return prices

    @property
    def _nodes_first(self) -> int:
        jobs = len(self.jobs)
        return _NODES_FIRST // (jobs * jobs) if jobs <= _FEW else 0

    @property
    def _first_rounds(self) -> int:
        return 1 + len(self.jobs) * len(self.jobs) // _PAIRS_A_FIRST_ROUND

    def _search_slots(self, prices: Floats, *, refines: bool) -> Floats:
        """Search slot by slot, and refine a better plan; return the prices by row, as rows change.

        The plan may be one of others, who left that to this search.
        """
        relaxation, before = self.relaxation, self.lower
        saved = relaxation.with_devices(relaxation.priced(prices))
        if self.upper > self.cutoff and not over():
            with suppress(*UNSOLVED):
                self._take(self.beam.run(prices, self.required, self.cutoff))
            self.progress("beam")
        while refines and self.lower > before and not over():
            self.search.refine(self._first_rounds // 2)
            self._anneal()
            before = self.lower
            self._merge()
        return relaxation.rows_with(saved)

    def _merge(self) -> None:
        """Offer the best plan that schedules of good plans make together, where it is better."""
        if self.upper > self.cutoff and not over():
            with suppress(*UNSOLVED):
                plan = self.search.merge.run(left(_MERGE_SHARE))
                if plan is not None and plan.value > self.lower and self._fits(plan):
                    self.search.offer(plan)
            self.progress("merge")

    def _dives(self, prices: Floats) -> None:
        for _ in range(_DIVES):
            if self.upper > self.cutoff:
                with suppress(*UNSOLVED):
                    self._take(self.polish.dive(self.required, prices, [], self.cutoff))
        self.progress("dive")

    def _improve(self, prices: Floats) -> None:
        """Polish the best plan until a neighbourhood does not help."""
        helped = True
        while helped and self.upper > self.cutoff:
            before = self.lower
            with suppress(*UNSOLVED):
                self._take(self.polish.around(self.search.best.levels, self.required, prices, self.cutoff))
            helped = self.lower > before
        self.progress("search")

    def _take(self, paths: list[Path]) -> None:
        """Offer the plan of a dive, where it has one, to the search."""
        lacking = [path for path in paths if self.lacks(path)]
        self._follow(lacking)
        if paths and not lacking and (plan := self._plan(paths)).value > self.lower:
            self.search.offer(plan)

    def _guide(self, generated: Generated, rounds: int) -> None:
        """Let the prices of a bound guide the search, which is to cool down in some rounds."""
        cost = self.relaxation.costs(generated.duals)[:-1].reshape(len(self.slots), -1, len(self.jobs))
        self.search.guide(cost, generated.best, rounds)

    def _anneal(self) -> None:
        """Search for schedules until the annealing that is under way is cold."""
        self.search.run(self.search.left, target=self.upper - self.margin)
        self.progress("search")

    def _branch(self, tree: BranchAndPrice[Part, Branch], prices: Floats) -> bool:
        root, passed, searched = self.relaxation.priced(prices), share_used(_TREE_SHARE), not self._nodes_first
        try:
            while tree.step():
                self.upper = min(self.upper, max(tree.bound, self.lower))
                if not self.known.shared and searched:
                    self._look_around(tree.nodes, root)
                elif not self.known.shared and (tree.nodes >= self._nodes_first or passed() >= 1.0):
                    searched = True
                    self._search(self.relaxation.rows_with(root), refines=True)
                tree.cutoff = max(tree.cutoff, self.lower)
                self.progress("branch")
        except Halt:
            self.upper = min(self.upper, max(tree.bound, self.lower))
            return False
        self.notes = f"{_FIRST}: {tree.nodes} nodes"
        self.upper = min(self.upper, self.cutoff)
        return True

    def _look_around(self, nodes: int, root: Prices) -> None:
        """Search for schedules a little now and then; more rarely where it is in vain."""
        if nodes >= self._next_look:
            before = self.lower
            self.search.run(1 + len(self.jobs) * len(self.jobs) // _PAIRS_A_ROUND, target=self.upper - self.margin)
            self._in_vain = 0 if self.lower > before else self._in_vain + 1
            self._next_look = nodes + 1 + self._in_vain // _IN_VAIN
        if nodes % _NODES_A_POLISH == 0:
            self._improve(self.relaxation.rows_with(root))

    def _found(self, paths: list[Path]) -> float:
        """Take an integral solution of the tree; refine the rounding where it lacks work."""
        lacking = [path for path in paths if self.lacks(path)]
        if lacking:
            self._follow(lacking)
            raise _Refine
        plan = self._plan(paths)
        if not self._fits(plan):
            return -np.inf
        self.search.offer(plan)
        return self.lower

    def _fits(self, plan: Plan) -> bool:
        return all(hall.fits(plan.levels) for hall in self.sets)

    def _plan(self, paths: list[Path]) -> Plan:
        levels = np.full((len(self.jobs), len(self.slots)), IDLE, dtype=np.int64)
        finish = np.full(len(self.jobs), -1, dtype=np.int64)
        for path in paths:
            levels[path.job], finish[path.job] = path.levels, path.finish
        return Plan(levels, finish, float(sum(self.units[p.job, p.finish] for p in paths)))

    def lacks(self, path: Path) -> bool:
        """Tell whether a schedule leaves work undone, as rounded amounts of work allow."""
        return self._left_after(path)[-1] > 0

    def _left_after(self, path: Path) -> list[int]:
        options = self.jobs[path.job]
        done = itertools.accumulate(options.works[k] if k != IDLE else 0 for k in path.levels.tolist())
        return [options.need - work for work in done]

    def _follow(self, paths: Iterable[Path]) -> None:
        """Round no more the amounts of work left along some schedules."""
        for path in paths:
            self.extra[path.job] = self.extra.get(path.job, frozenset()).union(self._left_after(path))

    def _best(self) -> Schedule:
        """Return the schedule of the best plan."""
        return schedule_of(self.instance, self.jobs, self.slots, self.search.best)

    def _take_schedule(self, schedule: Schedule) -> None:
        """Make a schedule the best one where it is better."""
        if not self.known.take(schedule):
            raise RuntimeError(f"the schedule found breaks a rule: {check(self.instance, schedule)[0]}")

    def _open(self) -> Note:
        """Return a line about a bound that is not the value."""
        return Note(f"column generation with {len(self.pool)} kinds of inequalities: bound ", self.known.upper)

    def _second_route(self) -> bool:
        """Replay the record where value and bound agree; tell whether that proves it."""
        if self.failed or not self.known.closed():
            self.known.evidence.append(Note(self.notes) if self.failed else self._open())
            return False
        self.progress("replay")
        arguments = (self.instance, self.jobs, self.sets, self.pool, self.record, self.cutoff, self.scale)
        units, note = replay(*arguments)
        self.known.note(self.notes)
        if np.isinf(units):
            self.failed = True
            self.known.note(note)
            return False
        bound = self.scale.utility(max(units, self.cutoff))
        self.known.note(f"{note}: nothing above ", bound)
        return self.known.agrees(bound)

    def _other_routes(self) -> bool:
        """Ask general solvers, until value and bound are proved or time is up."""
        # They import Pyomo, and are hardly ever asked.
        from dlsched.algorithms.exact.certify import Finding
        from dlsched.algorithms.exact.general import certified_model
        from dlsched.models.catalog import build

        for formulation in _FORMULATIONS:
            poll()
            model = build(formulation, self.instance)
            shown = Finding(_FIRST, self.known.upper, None)
            certificate, schedule = certified_model(model, self.instance, self.known, shown)
            self.known.evidence += [Note(f"{formulation}: ", *line.parts) for line in certificate.evidence]
            self.known.bound(certificate.bound, formulation)
            if schedule is not None:
                self._take_schedule(schedule)
            if certificate.proved and self.known.closed() and self.known.agrees(certificate.value):
                return True
        return False


def _prepared(instance: Instance, known: Anytime[Schedule], max_states: int, seed: int) -> Solver | Periods:
    """Return the method with first schedules, also where the work is over before it begins."""
    with grace():
        jobs, slots = what_matters(instance)
        options = max((len(needs.by_work) for needs in jobs), default=1)
        if len(slots) * options * sum(needs.most_slots for needs in jobs) > _MANY_SLOTS:
            return Periods(instance, known, jobs, slots, seed)
        most = max(_LEAST_STATES, _MOST_CELLS // max(1, len(slots) * options * len(jobs)))
        method = Solver(instance, known, jobs, slots, min(max_states, most), seed)
        method.begin()
    return method
