"""The certified optimum of the DMLRS problem.

What no schedule needs is left out first (`reduction`); where each job then runs as if it were alone, that is all.

Machines that are alike are summed (`dlsched.algorithms.exact.dmlrs.summed`): the relaxation's optimum is an upper
bound, and a plan of that value that was packed onto the machines and passed the checker is optimal. Nothing above it
exists by a second route, another run on the relaxation. Where a plan cannot be packed, rows that single machines keep
and it does not are added (`holding`). Where plans of that value cannot be packed all the same, the cluster is
fragmented: branch and price over slot configurations and job schedules (`fragmented`) decides, and once more with the
jobs in reverse order; that comes first where few workers go onto a machine, as the sum is a weak bound then. What is
open after both, exact programs over single machines decide by two routes; where many workers go onto a machine, and
these programs are small, they come before branch and price for a while.

Where a job's external rate is above its internal rate the relaxation does not hold and those programs decide alone.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import Literal

from dlsched.algorithms.exact.anytime import UNSOLVED, Anytime, Around
from dlsched.algorithms.exact.certify import Finding, certify, default_routes
from dlsched.algorithms.exact.dmlrs.fragmented import solve_fragmented
from dlsched.algorithms.exact.dmlrs.insertion import Insertion
from dlsched.algorithms.exact.dmlrs.packing import Machines
from dlsched.algorithms.exact.dmlrs.reduction import Reduction, bundle, reduced
from dlsched.algorithms.exact.dmlrs.schedules import Schedules
from dlsched.algorithms.exact.dmlrs.single_machines import is_small, single_machines
from dlsched.algorithms.exact.dmlrs.slots import Slots, TooLarge, levels_hold
from dlsched.algorithms.exact.dmlrs.summed import Summed
from dlsched.algorithms.exact.general import certified_model
from dlsched.algorithms.exact.result import Optimum, Progress
from dlsched.algorithms.pd_ors import schedule_bound
from dlsched.arguments import Seed, at_least, checked, seed_of
from dlsched.halt import Halt, grace, left, over, poll, until
from dlsched.models.dmlrs import Instance, Schedule, check, exact_utility
from dlsched.models.dmlrs.instance import fewest_slots
from dlsched.models.numbers import agree, exceeds
from dlsched.solvers.matrix import Matrix
from dlsched.tolerances import TOLERANCE

_FEW = 2
"""Workers with their servers on a machine, of most jobs: with fewer, packing decides and not the sum. Arbitrary."""

_ORDERS = 4
"""In which jobs are inserted for a start; arbitrary, each takes some hundredths of a second."""

_START, _SHORT_START = 0.05, 0.01
"""How much of the time that is left the search from there may take, and where the sum of machines is small and soon
solved: there it was nine tenths of the time to a proof. Arbitrary."""

_ROUNDS = 1500
"""Of this search, at most; by trial."""

_SHARE = 0.08
"""How much of the time the sum of machines gets where it will be a weak bound; arbitrary."""

_NODES = 200
"""How many nodes it gets there; arbitrary."""

_BRIEFLY = 240.0
"""Seconds of small programs over single machines, before branch and price; the first of the two that are needed ends
within half of it, but on two of thirteen instances."""

_SUM_BRIEFLY = 30.0
"""Seconds of the sum of machines where such programs come next: it takes at most 12 on 119 of 120 instances in the
paper's own ranges, and had not ended after 120 on one, whose optimum they prove."""

_TIGHTENING = 120.0
"""Seconds in which the sum of machines is tightened by what single machines hold: on twelve instances in the paper's
own ranges 1 to 40, where it closes the gap."""

_SUM = "HiGHS on the sum of identical machines"
_TREE = "branch and price"


@checked
def solve(
    instance: Instance,
    *,
    seed: Seed = 0,
    time_limit: float | None = None,
    progress: Progress | None = None,
    stop: Callable[[], bool] | None = None,
) -> Optimum:
    """Return the certified optimum of a DMLRS instance, or what is known of it when time is up.

    Parameters
    ----------
    instance : Instance
        Journal or asynchronous.
    seed : int or numpy.random.Generator
        Of the search for schedules.
    time_limit : float, optional
        Seconds in all.
    progress, stop
        As for `dlsched.algorithms.optimum`.

    References
    ----------
    PD-ORS, (1)-(7); PD-ORS thesis, (3.1)-(3.7).
    """
    return _solved(instance, seed_of(seed), time_limit, progress, stop, _Solve.steps)


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
    return _solved(instance, seed_of(seed), time_limit, None, None, _Solve.improve)


def _solved(
    instance: Instance,
    seed: int,
    time_limit: float | None,
    progress: Progress | None,
    stop: Callable[[], bool] | None,
    steps: Callable[[_Solve], bool],
) -> Optimum:
    """Return what some steps on the reduced instance find, as a schedule of the instance."""
    at_least(0, time_limit=time_limit)
    with until(stop, time_limit):
        reduction = _reduced(instance)
        smaller = reduction.instance
        known = Anytime[Schedule](
            partial(exact_utility, smaller), partial(check, smaller), upper=float(_most(smaller)), progress=progress
        )
        known.take(Schedule.of({}))
        found = known.run(partial(steps, _Solve(reduction, known, seed)), time_limit=None)
    schedule = reduction.lift(found.schedule)
    value = float(exact_utility(instance, schedule))
    if check(instance, schedule) or exceeds(known.value, value, unit=known.unit):
        raise RuntimeError("the reduced instance's schedule is worth less in the instance: report this instance")
    return replace(found, schedule=schedule, value=value, bound=max(value, found.bound or 0.0))


def _reduced(instance: Instance) -> Reduction:
    """Return the reduced instance, or where time is up before it is there the instance as it is."""
    with suppress(Halt), grace():
        return reduced(instance)
    return Reduction.none(instance)


def _most(instance: Instance) -> Fraction:
    """Return what the jobs are worth if each completes as early as all its workers, at the faster rate, can do it."""
    return sum((max(Fraction(0), j.utility.exact(fewest_slots(j) - 1)) for j in instance.jobs), Fraction(0))


class _Solve:
    def __init__(self, reduction: Reduction, known: Anytime[Schedule], seed: int) -> None:
        self.reduction, self.instance, self.known, self.seed = reduction, reduction.instance, known, seed

    def steps(self) -> bool:
        """Run the steps until value and bound meet by two routes, or in rationals; tell whether they do."""
        for start in (self._one_by_one, self._inserted):
            start()
            if self.known.best is not None and exact_utility(self.instance, self.known.best) == _most(self.instance):
                self.known.note("exact: no job can complete earlier, alone and with all its workers")
                return True
            poll()
        if self._by_levels():
            for route in self._routes():
                if self.known.attempt(route):
                    return True
                poll()
        return self._single_machines()

    def _routes(self) -> tuple[Callable[[], bool], ...]:
        """Return the ways to prove an optimum before there is nothing but programs over single machines, in order."""
        if self._fragments():
            return self._fragmented, self._summed
        return (self._summed, *([self._briefly] if is_small(self.instance) else []), self._fragmented)

    def _briefly(self) -> bool:
        """Give programs over single machines some time, before branch and price."""
        with suppress(Halt), until(seconds=_limited(1 / 3, _BRIEFLY)):
            return self._single_machines()
        return False

    def improve(self) -> bool:
        """Look for schedules until a bound is reached or the work is over; prove nothing."""
        self._one_by_one()
        if self._splits():
            with suppress(*UNSOLVED):
                self._search(self.instance, float("inf"), exact=True, only="plans")
        if not (over() or self.known.closed()):
            self._inserted(None)
        return False

    def _by_levels(self) -> bool:
        """Tell whether the relaxations hold."""
        return all(job.external_rate <= job.internal_rate for job in self.instance.jobs)

    def _one_by_one(self) -> None:
        """Start from jobs that run alone, which is known at once."""
        self.known.take(self.reduction.one_by_one())

    def _inserted(self, share: float | None = _START) -> None:
        """Start from jobs that are inserted one by one and, where time is limited, moved: a proof does without it.

        Nor are they moved where branch and price comes next, which does so itself. Without a share of the time they are
        moved until the work is over, and others hear of it now and then.
        """
        try:
            schedules = Schedules(Slots.safe(self.instance))
        except TooLarge:
            return
        machines = Machines(schedules)
        insertion = Insertion(schedules, machines, self.seed)
        with suppress(Halt):
            cost, shares = insertion.prices_of_load()
            insertion.construct(cost, shares, _ORDERS)
            if share is None:
                while not over():
                    insertion.search(cost, shares, _ROUNDS, over)
                    self._keep(machines, insertion)
            elif left() is not None and not (self.known.shared or self._fragments()):
                with until(seconds=left(_SHORT_START if is_small(self.instance) else share)):
                    insertion.search(cost, shares, _ROUNDS, over)
        with grace():
            self._keep(machines, insertion)

    def _keep(self, machines: Machines, insertion: Insertion) -> None:
        self.known.take(machines.schedule({i: placed.things for i, placed in insertion.best.items()}))
        self.known.tell("insertion")

    def _summed(self) -> bool:
        """Solve the sum of identical machines and pack its plans."""
        summed = Summed.of(self.instance)
        if self._fragments():
            summed.solve(left(_SHARE), _NODES)
            self._learn(summed, "sum of machines")
        else:
            summed.solve(_limited(1 / 4, _SUM_BRIEFLY) if is_small(self.instance) else None)
            self._learn(summed, "sum of machines")
            self._tightened(summed)
        if summed.finished and not self.known.closed():
            for _ in summed.thin_out():
                self._learn(summed, "plans that leave room")
                if self.known.closed():
                    break
        return self.known.closed() and self._certified_sum(summed)

    def _tightened(self, summed: Summed) -> None:
        """Add what single machines hold, as long as a plan for the sum does not keep it."""
        with suppress(Halt), until(seconds=_limited(1 / 3, _TIGHTENING)):
            while summed.finished and not self.known.closed() and summed.tighten():
                summed.solve()
                self._learn(summed, "sum of machines, tightened")

    def _splits(self) -> bool:
        """Tell whether the method for fragmented clusters takes the instance."""
        return levels_hold(self.instance) and len(self.instance.machines) > 1

    def _fragments(self) -> bool:
        """Tell whether most jobs get less than `_FEW` workers with their servers onto a machine, of several.

        The sum of machines is a weak bound then, and takes long.
        """
        if not self._splits():
            return False
        machine = max(self.instance.machines, key=lambda h: sum(h.capacity.values()))
        return statistics.median(bundle(job, machine) for job in self.instance.jobs) < _FEW

    def _certified_sum(self, summed: Summed) -> bool:
        self.known.found()
        value = self.known.value
        packed = ", packed from the sum of identical machines" if self.known.agrees(summed.value) else ""
        self.known.note("checked schedule worth ", value, packed)
        if not summed.confirmed():
            return False
        if summed.rows:
            self.known.note(f"{len(summed.rows)} rows of what single machines hold, by two routes")
        certificate = certify(
            summed.matrix,
            [Finding(_SUM, summed.upper, None), self._schedules, *default_routes()[1:]],
            value=value,
            time_limit=left(1 / len(default_routes())),
        )
        self.known.evidence += certificate.evidence
        return certificate.proved

    def _fragmented(self) -> bool:
        """Branch and price, and once more with the jobs in reverse order.

        Amounts without a small common unit are rounded first; where that leaves a gap, long integers follow.
        """
        if not self._splits():
            return False
        for exact in (False, True):
            self._search(self.instance, self.known.upper, exact)
            if self.known.closed() or over() or not self._rounded():
                break
        if not self.known.closed():
            return False
        self.known.found()
        reverse = self.instance.model_copy(update={"jobs": self.instance.jobs[::-1]})
        again = self._search(reverse, float("inf"), exact, only="bound")
        return self.known.closed() and agree(self.known.value, again, unit=self.known.unit)

    def _rounded(self) -> bool:
        """Tell whether amounts are rounded unless integers of any length are asked for."""
        try:
            return not Slots.of(self.instance).exact
        except TooLarge:
            return False

    def _search(
        self, instance: Instance, upper: float, exact: bool, *, only: Literal["plans", "bound"] | None = None
    ) -> float:
        """Branch and price below an upper bound; return the bound that it ends with."""
        schedule, bound, evidence = solve_fragmented(
            instance,
            incumbent=self.known.best,
            upper=upper,
            progress=self.known.tell,
            others=Around(self.known, _TREE),
            exact=exact,
            seed=self.seed,
            only=only,
        )
        self.known.take(schedule)
        self.known.bound(bound, _TREE)
        self.known.evidence += evidence
        return bound

    def _schedules(self, matrix: Matrix, cutoff: float | None, seconds: float | None) -> Finding:
        """Return the Lagrangian bound over all schedules of all jobs, as a route."""
        del matrix
        target = -float("inf") if cutoff is None else cutoff
        with until(seconds=seconds):
            found = schedule_bound(
                self.instance,
                gap=0.1 * TOLERANCE,
                stop=lambda bound, value: bound <= target or value > target or over(),
            )
        return Finding("column generation over schedules", found.bound, None)

    def _learn(self, summed: Summed, phase: str) -> None:
        self.known.take(summed.best)
        self.known.bound(summed.upper, _SUM)
        self.known.tell(phase)

    def _single_machines(self) -> bool:
        """Solve an exact program over single machines by two routes."""
        certificate, schedule = certified_model(single_machines(self.instance), self.instance, self.known)
        self.known.evidence += certificate.evidence
        if schedule is not None:
            self.known.take(schedule)
        self.known.bound(certificate.bound, "program over single machines")
        self.known.tell("single machines")
        return certificate.proved and self.known.closed()


def _limited(part: float, most: float) -> float:
    """Return so much of the time that is left, at most so many seconds."""
    seconds = left(part)
    return most if seconds is None else min(most, seconds)
