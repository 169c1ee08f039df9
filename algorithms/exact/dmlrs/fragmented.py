"""The optimum of DMLRS instances on fragmented clusters, where packing decides: branch and price.

1. All slot configurations are listed (`configurations`); where they are too many, the contents of one machine.
2. The Dantzig-Wolfe bound of these and of job schedules (`decomposition`), plans by insertion (`insertion`).
3. Levels, completion slots and offers that cannot be in a better plan are dropped, and the rest is branched on: on
   whether a job is served, on whether it completes by a slot, then on whether it has a level or more in a slot. A part
   with nothing open is one plan, which fits the machines or does not; where that cannot be told, its bound stands.
   Where not all configurations are listed, beams over the slots (`beam`) and dives follow the linear program, between
   the nodes.

The instance's machines may be alike or not. Every incumbent passed the checker.
"""

from __future__ import annotations

import itertools
import time
from collections import defaultdict
from collections.abc import Callable
from contextlib import suppress
from fractions import Fraction
from functools import partial
from typing import Literal

import numpy as np

from dlsched.algorithms.exact.anytime import UNSOLVED, Anytime, Others
from dlsched.algorithms.exact.dmlrs.beam import Beam
from dlsched.algorithms.exact.dmlrs.bin_completion import Packer, Undecided
from dlsched.algorithms.exact.dmlrs.branch import Branch, PlanBranching
from dlsched.algorithms.exact.dmlrs.by_pattern import ByPattern
from dlsched.algorithms.exact.dmlrs.configurations import (
    MOST_ESTIMATED,
    ByConfiguration,
    Configurations,
    Listed,
    enumerate_configurations,
    most_configurations,
)
from dlsched.algorithms.exact.dmlrs.decomposition import Decomposition, Part
from dlsched.algorithms.exact.dmlrs.insertion import Insertion, Placed
from dlsched.algorithms.exact.dmlrs.merge import Merge
from dlsched.algorithms.exact.dmlrs.packing import Items, Machines
from dlsched.algorithms.exact.dmlrs.repacking import Packed, Repacked
from dlsched.algorithms.exact.dmlrs.schedules import JobSchedule, Schedules
from dlsched.algorithms.exact.dmlrs.slots import Slots, TooLarge
from dlsched.algorithms.exact.result import Note, Progress
from dlsched.halt import Halt, ended_by, grace, left, over, poll, share_used, until
from dlsched.models.dmlrs import Instance, Schedule, check, exact_utility
from dlsched.models.dmlrs.job import Placement
from dlsched.relaxations.branch_and_price import BranchAndPrice
from dlsched.relaxations.columns import Generated
from dlsched.solvers.matrix import Floats
from dlsched.tolerances import CLEAR, TOLERANCE

_NODES_FIRST = 50
"""Of the tree, before insertion does more than complete a linear program's plan, where all configurations are listed:
on (12, 5, 10) these are all, and it took up to a half of the time."""

_SEARCH_ROUNDS = 1500
"""Of insertion then; by trial."""

_FIRST_ROUNDS = 4_000
"""Where they are not, with the others where they are; by trial, some seconds for fifty jobs on thirty machines."""

_MORE_ROUNDS = 10_000
"""After these, with the others placed anew, as branching closes no gap; by trial, half a minute for twenty jobs."""

_LISTING_SHARE = 0.4
"""Of the time that is left, to list all configurations, at most: what is listed is mostly proved then, and 12 jobs on 5
machines take up to a quarter of a minute. Arbitrary."""

_FIRST_SHARE = 0.05
"""Of the time that is left, for the first rounds; by trial, none at all is worse."""

_ANEW_SHARE = 0.05
"""Of the time that is left then, for these; by trial, half of it is worse, as dives find more."""

_ROOT_SHARE = 0.5
"""Of the time that is left, for these rounds; arbitrary."""

_SEARCH_SHARE = 0.25
"""Of the time that was used, for insertion at nodes; arbitrary."""

_NODE_ROUNDS = 40
"""Of insertion at a node; by trial."""

_OFTEN = 1.0
"""Seconds after which others are told what plans there are, at least; arbitrary."""

_LOOK_SHARE = 0.5
"""Of the time after the root and a first beam, for beams and dives, where not all configurations are listed; arbitrary:
the first is left out, as on fifty jobs it takes half of a minute, and from its middle there is more to find."""

_LOOKS_A_DIVE = 3
"""Of which one is a dive; the others are beams."""

_DIVE_PRICINGS = 8
"""Rounds of pricing for each LP of a dive; arbitrary."""

_DIVE_EACH, _DIVE_ROUNDS = 3, 100
"""How many LPs of a dive come before insertion, and its rounds; arbitrary."""

_LEAST_LIKELY = 0.4
"""Of an answer in a dive, that chance leaves at least; arbitrary: no two dives are to be the same."""

_WORSE = 0.02
"""Of the best plan's value, that a beam's may be worse by to be gone on from: annealing gains as much, by trial."""

_WARM, _WARM_ROUNDS, _WARM_SHARE = 0.4, 2_000, 0.3
"""The annealing of a beam's plan, or of the best one where a beam has none: where it begins in what `Insertion.anneal`
does in all, and its rounds, or its share of the time that is left. By trial .3 and .7 are as good; some seconds for
twenty jobs."""

_BEAM_SHARE, _MOST_OF_A_BEAM = 0.4, 0.8
"""Of the time that is left, for a beam, as it is planned and at most: it has nothing before its end. Arbitrary; where
both were .5, beams were cut off at nearly their last slot, and .65 was as good by trial."""

_MERGE_SHARE = 0.2
"""Of the time that is left, for a program over the slots of good plans, at most; arbitrary: it mostly takes less."""

_PACKING_NODES = 1_000_000
"""Items placed in packing a slot, at most: some seconds."""

_MARGIN = 0.5
"""Of the tolerance, that a plan must be better by: so value and bound agree in the end."""


def solve_fragmented(
    instance: Instance,
    *,
    incumbent: Schedule | None = None,
    upper: float = float("inf"),
    progress: Progress | None = None,
    others: Others | None = None,
    exact: bool = False,
    seed: int = 0,
    only: Literal["plans", "bound"] | None = None,
) -> tuple[Schedule, float, tuple[str, ...]]:
    """Return the best schedule known, an upper bound and how it came about; where the work is over, what is known.

    Parameters
    ----------
    instance : Instance
        Synchronous jobs whose internal rate is at least the external one.
    incumbent : Schedule, optional
        A feasible schedule.
    upper : float
        An upper bound that is known.
    progress : callable, optional
        As for `dlsched.algorithms.optimum`.
    others : Others, optional
        Who searches for the same: it goes on from their plans.
    exact : bool
        Reckon in integers of any length where the amounts have no small common unit; else they are rounded so that
        the bound is valid, and the best schedule of what was rounded may not fit.
    seed : int
        Of the search for schedules.
    only : {"plans", "bound"}, optional
        "plans": look for them for others who have the tree, until the work is over or the first bound is reached.
        "bound": the incumbent is the best, by others' word; look for no plan, and list configurations all the time.

    Returns
    -------
    schedule : Schedule
        It passes the checker.
    bound : float
        At least the optimum; at most half the tolerance above the schedule's utility where that is optimal and
        nothing was rounded.
    evidence : tuple of str

    Raises
    ------
    ValueError
        Where the instance has other jobs.
    """
    try:
        slots = Slots.of(instance, exact=exact)
    except (TooLarge, Halt) as error:
        return incumbent or Schedule.of({}), upper, (Note(str(error) or ended_by()),)
    most = float(sum(max(Fraction(0), max(job.utility)) for job in slots.jobs))
    known = Anytime[Schedule](
        partial(exact_utility, instance),
        partial(check, instance),
        upper=min(upper, most),
        progress=progress,
        others=others,
    )
    best = incumbent or Schedule.of({})
    known.take(best)
    _Fragmented(slots, known, seed, only).run()
    return best if known.best is None else known.best, known.upper, (*known.evidence, *known.refuted)


class _Fragmented:
    def __init__(
        self, slots: Slots, known: Anytime[Schedule], seed: int, only: Literal["plans", "bound"] | None
    ) -> None:
        self.slots, self.known, self.seed = slots, known, seed
        self.branches, self.looks = only != "plans", only != "bound"
        self.start = self._told = time.perf_counter()
        self._completed, self._nodes, self._searched, self._kept = 0, 0, 0.0, 0.0
        self._heard = 0.0
        self.decomposed = False
        self.beam: Beam | None = None
        self.merge: Merge | None = None

    def run(self) -> None:
        """Run the steps until value and bound meet or the work is over."""
        if not self.slots.most_levels:
            self.known.bound(0.0, "no job fits")
            self.known.note("no job fits the cluster")
            return
        try:
            self.packer = Packer(Items(self.slots), _PACKING_NODES)
            self.schedules = Schedules(self.slots)
            self._search()
        except (TooLarge, *UNSOLVED) as error:
            self.known.note(str(error))
        except Halt:
            self.known.note(ended_by())

    def _search(self) -> None:
        self.room: Machines | Repacked | Listed = Machines(self.schedules)
        self.insertion = Insertion(self.schedules, self.room, self.seed)
        try:
            self._decompose()
            self.decomposed = True
            self._root()
            if self.branches:
                self._branch()
        except TooLarge as error:
            self.known.note(str(error))
            self._insert(*self.insertion.prices_of_load())
        finally:
            with grace():
                self._keep()

    def _decompose(self) -> None:
        """Choose the offers: configurations where they can be listed, else the contents of single machines."""
        if (listed := self._listed()) is not None:
            self.known.note(f"{len(listed.levels)} slot configurations")
            self.decomposition: Decomposition = ByConfiguration(listed, self.schedules)
            self.room = Listed(listed)
            self.insertion = Insertion(self.schedules, self.room, self.seed)
            return
        by_pattern = ByPattern(self.schedules)
        self.decomposition = by_pattern
        self.known.note(f"{by_pattern.patterns} contents of single machines")

    def _listed(self) -> Configurations | None:
        """Return all configurations, unless they are too many or take too long."""
        if most_configurations(self.slots) > MOST_ESTIMATED:
            return None
        try:
            with until(seconds=left(_LISTING_SHARE if self.looks else 1.0)):
                return enumerate_configurations(self.slots)
        except TooLarge as error:
            self.known.note(str(error))
        except Halt:
            poll()
            self.known.note("slot configurations take too long to list")
        return None

    @property
    def margin(self) -> float:
        """Plans that are not better by more than this are not looked for."""
        return _MARGIN * TOLERANCE * max(1.0, self.known.value)

    def _search_over(self, share: float) -> Callable[[], bool]:
        """Return a callable that tells whether a share of the time left now is used up, or nothing better exists.

        What is found meanwhile is told to others.
        """
        seconds = left(share)
        end = time.perf_counter() + (float("inf") if seconds is None else seconds)
        enough = self.known.upper - self.margin

        def ended() -> bool:
            now = time.perf_counter()
            if not self.branches and now > self._told + _OFTEN:
                self._told = now
                self._keep()
                self.known.tell("insertion")
            return over() or now > end or self.insertion.value >= enough or (not self.branches and self._is_heard())

        return ended

    def _root(self) -> None:
        rows = self.decomposition
        part = rows.list_offers(self.schedules.limits())
        generated = rows.bound(part, stop=self._check)
        cost = rows.costs(generated.duals)
        self.part, self.prices = part, generated.duals
        self._insert(cost, generated.best[: rows.jobs])
        self.known.bound(generated.bound, "column generation")
        self.known.tell("column generation")
        self.known.note("column generation: nothing better than ", generated.bound)
        if not self.branches:
            return
        bound, part = rows.fixed(part, generated.duals, self.known.value + self.margin)
        self.prices, self.part = rows.shrink(part.limits, generated.duals), rows.list_offers(part.limits)
        self.root = min(bound, self.known.upper)

    def _insert(self, cost: Floats, shares: Floats) -> None:
        """Look for a good plan at some prices, if any is looked for."""
        if not self.looks:
            return
        self.insertion.construct(cost, shares, 8)
        self._keep()
        if isinstance(self.room, Machines):
            self.insertion.search(cost, shares, _FIRST_ROUNDS, self._search_over(_FIRST_SHARE))
            self._keep()
            best = self.insertion.best
            on_machines = self.room.schedule({i: placed.things for i, placed in best.items()})
            self._place_anew([placed.schedule for placed in best.values()], on_machines)
        if not self.branches:
            self._go_on(cost, shares)
        elif not isinstance(self.room, Listed):
            self.insertion.search(cost, shares, _MORE_ROUNDS, self._search_over(_ANEW_SHARE))
            self._keep()

    def _go_on(self, cost: Floats, shares: Floats) -> None:
        """Look for plans for others, from theirs where they are better, until the work is over."""
        limited, passed, ended = left() is not None, share_used(), self._search_over(1.0)
        self._begin_beams()
        while not over() and not self._is_hopeless(self.known.upper, self.known.value):
            self._hear()
            if self.beam is not None:
                self._search_slots(self.beam)
            elif limited:
                self.insertion.anneal(cost, shares, lambda: 1.0 if ended() else passed())
            else:
                self.insertion.search(cost, shares, None, ended)
            self._keep()

    def _begin_beams(self) -> None:
        if self.decomposed and isinstance(self.room, Repacked):
            self.beam = Beam(self.decomposition, self.part, self.room, self.seed)

    def _search_slots(self, beam: Beam) -> None:
        """Plan slot by slot, and search around that plan; around the best one where there is none.

        A beam that takes too long is the last. Better plans of others do not end the search: it goes on from another.
        """
        levels, seconds = None, left(_BEAM_SHARE)
        try:
            with until(seconds=left(_MOST_OF_A_BEAM)):
                levels = beam.run(self.prices, (1 - _WORSE) * self.known.value + self.margin, seconds)
        except Halt:
            poll()
            self.beam = None
        if levels is None:
            self.insertion.back()
        else:
            on_machines = beam.room.on_machines(levels)
            self._adopt(self.schedules.read(on_machines), on_machines)
        (cost, shares), gained = self._costs_at(self.prices), True
        while gained and not over():
            self.insertion.anneal(cost, shares, self._warmth())
            gained = self._merge()
            self._keep()

    def _merge(self) -> bool:
        """Go on from the best plan over the slots of good plans; tell whether it is better."""
        before = self.insertion.value
        if self.merge is None or self._is_hopeless(self.known.upper, before):
            return False
        with suppress(*UNSOLVED):
            plan = self.merge.run(left(_MERGE_SHARE))
            if sum(self.schedules.utility[i, packed.end] for i, packed in plan.items()) > before:
                self._restore(plan)
                self.insertion.offer()
        return self.insertion.value > before

    def _warmth(self) -> Callable[[], float]:
        """Return what tells an annealing of little heat how much of its time is used."""
        passed, rounds = share_used(_WARM_SHARE), itertools.count()

        def used() -> float:
            share = max(next(rounds) / _WARM_ROUNDS, passed())
            enough = self.insertion.value >= self.known.upper - self.margin
            return 1.0 if over() or enough else 1 - _WARM * (1 - share)

        return used

    def _place_anew(self, plan: list[JobSchedule], on_machines: Schedule) -> None:
        """Go on from a plan so that others are placed anew for each job, unless there are too many workers."""
        with suppress(TooLarge):
            self.room = Repacked(self.schedules)
            self.insertion = Insertion(self.schedules, self.room, self.seed)
            self.merge = Merge(self.schedules, self.room)
            self.insertion.watch = self.merge.note
            self._adopt(plan, on_machines)

    def _adopt(self, plan: list[JobSchedule], on_machines: Schedule) -> None:
        """Go on from a plan."""
        if isinstance(self.room, Repacked):
            self._restore(self.room.adopt(plan, on_machines))
        else:
            self.insertion.start(plan)
        self.insertion.offer()

    def _restore(self, plan: dict[int, Packed]) -> None:
        self.insertion.restore({i: Placed(packed, packed) for i, packed in plan.items()})

    def _is_heard(self) -> bool:
        """Tell whether others have a better plan than is known here, which has not been tried yet."""
        return self.known.value > max(self._heard, self.insertion.value)

    def _hear(self) -> None:
        """Go on from a better plan of others, where there is one."""
        self.known.hear()
        if self._is_heard() and self.known.best is not None:
            self._heard = self.known.value
            self._adopt(self.schedules.read(self.known.best), self.known.best)

    def _branch(self) -> None:
        plans = PlanBranching(self.decomposition, self._found, self._decide)
        looks = self.looks and not (isinstance(self.room, Listed) or self.part.empty)
        turn = itertools.count()
        if looks:
            self._begin_beams()
            self._look(plans, next(turn))
        tree = BranchAndPrice(plans, cutoff=self.known.value, margin=self.margin)
        if not self.part.empty:
            tree.start(self.part, self.prices, self.root)
        start, looked = time.perf_counter(), 0.0
        try:
            while True:
                now = time.perf_counter()
                if looks and looked <= _LOOK_SHARE * (now - start):
                    self._look(plans, next(turn))
                    tree.cutoff = max(tree.cutoff, self.known.value)
                    looked += time.perf_counter() - now
                if not tree.step():
                    break
                self.known.bound(tree.bound, "branch and price")
                self.known.tell("branch and price")
        finally:
            self.known.bound(tree.bound, "branch and price")
            self.known.note(f"branch and price, {tree.nodes} nodes: nothing better than ", self.known.upper)

    def _look(self, plans: PlanBranching, turn: int) -> None:
        """Look for a plan by a beam or, every now and then, by a dive."""
        if self.beam is not None and (turn + 1) % _LOOKS_A_DIVE:
            self._search_slots(self.beam)
        else:
            self._dive(plans)

    def _dive(self, plans: PlanBranching) -> None:
        """Settle completions one by one, as the LP's optimum has them, and make the schedules of each LP a plan."""
        part, prices = self.part, self.prices
        before: tuple[Part, Branch] | None = None
        for depth in itertools.count():
            poll()
            generated = plans.generate(part, start=prices, rounds=_DIVE_PRICINGS, stop=self._is_hopeless)
            if self._is_hopeless(generated.bound, generated.value):
                other = None if before is None else plans.answered(*before, yes=False)
                before = None
            else:
                prices = generated.duals
                cost, shares = self._complete(generated)
                if depth % _DIVE_EACH == 0:
                    self.insertion.search(cost, shares, _DIVE_ROUNDS, over)
                self._keep()
                question = self._likely(generated)
                if question is None:
                    break
                before, other = (part, question), plans.answered(part, question, yes=True)
            if other is None:
                break
            part = other

    def _is_hopeless(self, bound: float, value: float) -> bool:
        del value
        return bound <= self.known.value + self.margin

    def _likely(self, generated: Generated) -> Branch | None:
        """Return a completion that is open in an LP's optimum, at random one that it has for the most part."""
        _, ending = self.decomposition.used(generated)
        by = ending.cumsum(axis=1)
        i, t = np.nonzero((ending > CLEAR) & (by < 1 - CLEAR))
        if not len(i):
            return None
        k = int((by[i, t] * self.insertion.rng.uniform(_LEAST_LIKELY, 1.0, len(i))).argmax())
        return Branch(int(i[k]), int(t[k]))

    def _check(self, bound: float, value: float) -> bool:
        self.known.bound(bound, "column generation")
        poll()
        return self._is_hopeless(bound, value)

    def _found(self, generated: Generated) -> float:
        """Build plans from an LP's schedules; return the value of the incumbent."""
        if not self.looks:
            return self.known.value
        insertion, start = self.insertion, time.perf_counter()
        cost, shares = self._complete(generated)
        self._completed += 1
        if isinstance(self.room, Listed) and self._completed <= _NODES_FIRST:
            if self._completed == _NODES_FIRST:
                insertion.search(cost, shares, _SEARCH_ROUNDS, self._search_over(_ROOT_SHARE))
        elif self._searched < _SEARCH_SHARE * (start - self.start):
            if self._nodes % 2 == 0:
                insertion.back()
            insertion.search(cost, shares, _NODE_ROUNDS, over)
            self._nodes += 1
            self._searched += time.perf_counter() - start
        self._keep()
        return self.known.value

    def _complete(self, generated: Generated) -> tuple[Floats, Floats]:
        """Build a plan from an LP's schedules; return the costs of levels and the jobs' shares at its prices."""
        self._hear()
        used = [(data, x) for data, x in generated.recover() if isinstance(data, JobSchedule)]
        cost, shares = self._costs_at(generated.duals)
        self.insertion.start(schedule for schedule, _ in sorted(used, key=lambda pair: -pair[1]))
        self.insertion.complete(cost, range(self.decomposition.jobs))
        return cost, shares

    def _costs_at(self, prices: Floats) -> tuple[Floats, Floats]:
        """Return the costs of levels and the jobs' shares at some prices."""
        cost = self.decomposition.costs(prices)
        return cost, self.schedules.best(self.schedules.backward(cost, self.schedules.limits()))

    def _decide(self, schedules: list[JobSchedule]) -> float | None:
        """Pack a plan exactly; return the value of the incumbent, None where it is not known whether the plan fits."""
        try:
            placed = self._placed(schedules)
        except Undecided:
            return None
        return self.known.value if placed is None or self._improve(placed) else None

    def _keep(self) -> None:
        """Make the best plan by insertion the incumbent where it is better."""
        if self.insertion.value > max(self._kept, self.known.value):
            self._kept = self.insertion.value
            best = self.insertion.best
            if not isinstance(self.room, Listed):
                self._improve(self.room.schedule({i: placed.things for i, placed in best.items()}))
                return
            with suppress(Undecided):
                placed = self._placed([each.schedule for each in best.values()])
                if placed is not None:
                    self._improve(placed)

    def _placed(self, plan: list[JobSchedule]) -> Schedule | None:
        placements: dict[str, dict[int, Placement]] = defaultdict(dict)
        for t, levels in enumerate(self.schedules.levels_of(plan).tolist()):
            placed = self.packer.place(levels)
            if placed is None:
                return None
            for name, placement in placed.items():
                placements[name][t + 1] = placement
        return Schedule.of(placements)

    def _improve(self, schedule: Schedule) -> bool:
        """Make a schedule the incumbent where it is better; return False where it is and does not pass the checker."""
        before = self.known.value
        fits = self.known.take(schedule)
        if self.known.value > before:
            self.known.tell("insertion")
        return fits
