"""The certified optimum of the DDLJS problem: offline (2)-(9), corrected, for any utility.

One slot is an embedding problem (`slot`). Of many, those that no schedule needs are left out (`horizon`), and a
schedule is found slot by slot (`greedy`). Where it has the value of a linear program over slots that are alike as one,
the duals of that, in exact rationals, are the proof. Else slots are solved one by one at prices of worker-slots
(`configurations`): that gives a bound, and what most slots hold in an optimal schedule; a program over the other slots
completes it. Where some utility is not concave, the program over slots that are alike as one comes in place of this.
Last, the program over all slots decides.

What a solver says is confirmed by a second run of one, or by an exact dynamic program over counts (`counts`).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from functools import partial

from dlsched.algorithms.exact.anytime import Anytime
from dlsched.algorithms.exact.certify import Finding, certify, default_routes, dual_bound
from dlsched.algorithms.exact.ddljs.configurations import Bound, Configurations, Part, Prices
from dlsched.algorithms.exact.ddljs.counts import TooLargeError, best_value
from dlsched.algorithms.exact.ddljs.greedy import greedy_schedule
from dlsched.algorithms.exact.ddljs.horizon import (
    Condensed,
    HorizonProgram,
    alike,
    columns,
    horizon_program,
    is_concave,
    pooled_program,
    values,
)
from dlsched.algorithms.exact.ddljs.rationals import program
from dlsched.algorithms.exact.ddljs.slot import embed
from dlsched.algorithms.exact.result import Note, Optimum, Progress
from dlsched.arguments import at_least, checked
from dlsched.halt import Halt, cut, grace, left, poll, until
from dlsched.models.ddljs.instance import Instance
from dlsched.models.ddljs.job import Job
from dlsched.models.ddljs.requests import slot_problem
from dlsched.models.ddljs.schedule import Schedule, check, exact_utility, worker_slots
from dlsched.models.utility import Table
from dlsched.solvers.matrix import Floats, Matrix
from dlsched.solvers.solution import ResidualError, Status
from dlsched.solvers.solve import solve_matrix

_MOST = 1_000
"""Embeddings and states of a slot up to which the dynamic program over counts is the second route: under a second."""

_MOST_COLUMNS = 300_000
"""Columns up to which a program is written: each takes about a kilobyte while it is, and as much again in HiGHS."""

_MOST_ALIKE = 100_000
"""The same where slots that are alike are one: with 230 000 columns, 50 servers and 40 jobs, its linear program took
more than 20 s, and prices of worker-slots gave a bound of .01 % in 6."""

_NODES = 2_000
"""Of the search tree that completes a schedule. Arbitrary: all those measured ended at their roots."""

_CHECKED = 30_000
"""Embeddings that are read and checked in a second, on a slow machine: a time limit allows to place so many."""

_SHARES = (1.0, 0.5)
"""Of what the configurations' linear program says of whole slots, how much is settled at first, and if that was too
much. Ten instances of 10 servers, 10 jobs and 20 slots with tight links all needed only the first."""

_ALIKE, _ALL, _REST = "slots that are alike as one", "all slots", "slots that are left"
_PRICES = "each slot at prices of worker-slots"


@checked
def solve(
    instance: Instance,
    *,
    time_limit: float | None = None,
    progress: Progress | None = None,
    stop: Callable[[], bool] | None = None,
    whole: bool = False,
) -> Optimum:
    """Return the certified optimum of a DDLJS instance, or what is known of it when time is up.

    Parameters
    ----------
    instance : Instance
    time_limit : float, optional
        Seconds in all.
    progress, stop
        As for `dlsched.algorithms.optimum`.
    whole : bool
        Whether the program over all slots is solved without configurations before it: the other route.

    Notes
    -----
    Where a job with a log utility must get something and cannot, value and schedule are None and `proved` is True.
    """
    at_least(0, time_limit=time_limit)
    known = Anytime[Schedule](partial(_worth, instance), partial(check, instance), progress=progress)
    return known.run(lambda: _Solve(instance, known, whole).steps(), time_limit=time_limit, stop=stop)


def read_point(instance: Instance, point: Sequence[Fraction]) -> Schedule | None:
    """Return the schedule of a point of the exact program, None where names of jobs or nodes hide its columns."""
    # Pyomo is hardly ever needed for anything else here.
    from dlsched.models.catalog import build, read

    exact = program(instance)
    model = build(exact.formulation, instance)
    for column, value in zip(exact.columns, point, strict=True):
        variable = model.find_component(column.name)
        if variable is None:
            return None
        variable.set_value(float(value))
    schedule: Schedule = read(model, instance)
    return schedule


def _worth(instance: Instance, schedule: Schedule) -> Fraction | None:
    """Return the utility of a schedule, None where a job is at minus infinity."""
    try:
        return exact_utility(instance, schedule)
    except ValueError:
        return None


class _Solve:
    def __init__(self, instance: Instance, known: Anytime[Schedule], whole: bool) -> None:
        self.original, self.known, self.whole = instance, known, whole
        self.proved: float | None = None

    def steps(self) -> bool:
        """Run the steps until value and bound meet; tell whether they are proved."""
        if not self.original.jobs:
            self.known.take(Schedule.of({}))
            self.known.bound(0.0, "no jobs")
            self.known.note("no jobs")
            return True
        with grace():
            self.known.take(Schedule.of({}))
            best = [_best(self.original, job) for job in self.original.jobs]
            known = [value for value in best if value is not None]
            if len(known) == len(best):
                self.known.bound(float(sum(known)), "every job at its best")
        if len(known) < len(best):
            self.known.note("a job has no finite utility, whatever it gets")
            self.known.infeasible()
            return True
        self.condensed = Condensed.of(self.original)
        self.instance = self.condensed.instance
        groups = alike(self.instance)
        half = left(0.5)
        with until(seconds=half):
            most = math.inf if half is None else _CHECKED * half
            self.schedule = greedy_schedule(self.instance, groups, most=most)
        with grace():
            self._take(self.schedule)
        self.known.tell("slot by slot")
        if self.known.closed():
            self.known.note("every job at its best: the schedule reaches this bound")
            return True
        poll()
        if not self._writable("worker-slots of jobs", ()):
            return False
        if self.instance.slots == 1 and self._finite():
            return self._one_slot()
        return self._programs(groups)

    def _take(self, schedule: Schedule) -> None:
        self.known.take(self.condensed.original(schedule))

    def _finite(self) -> bool:
        """Tell whether jobs may get nothing."""
        return _worth(self.instance, Schedule.of({})) is not None

    def _one_slot(self) -> bool:
        """Solve an instance that is one slot's embedding problem."""
        found = embed(cut(lambda: slot_problem(self.instance, 1)))
        nothing = float(exact_utility(self.instance, Schedule.of({})))
        self._take(Schedule.of({name: {1: embedding} for name, embedding in found.embeddings.items()}))
        self.known.bound(nothing + found.bound, "one slot")
        # Profits of a slot are beyond what jobs are worth that get nothing.
        self.known.evidence += [line.plus(nothing) if isinstance(line, Note) else line for line in found.evidence]
        self.known.found(found.seconds_proved)
        return found.proved and self.known.closed()

    def _programs(self, groups: list[list[int]]) -> bool:
        """Take the routes that need programs."""
        points = {job.name: values(self.instance, job) for job in self.instance.jobs}
        found = cut(lambda: Configurations(self.instance, points, groups, self.schedule))
        prices = found.marginal(worker_slots(self.instance, self.schedule))
        pooled = None
        if self._writable(_ALIKE, [group[0] for group in groups], _MOST_ALIKE):
            pooled = cut(lambda: pooled_program(self.instance, points, groups))
            duals = self._linear_bound(pooled.matrix.relaxed())
            if self._closed_by_duals():
                return True
            if duals is not None:
                prices = found.prices(pooled.rows, duals)
        if not self.whole and (pooled is None or all(map(is_concave, points.values()))):
            if self.known.attempt(partial(self._by_configurations, found, prices)):
                return True
        elif pooled is not None and not self.whole and len(groups) < self.instance.slots:
            with until(seconds=left(0.5)):
                first = self._search(pooled.matrix, _ALIKE, nodes=_NODES)
            if self.known.closed() or first.infeasible:
                return self._certified(pooled.matrix, first)
        if not self._writable(_ALL, range(1, self.instance.slots + 1)):
            return False
        whole = cut(lambda: horizon_program(self.instance, points, groups))
        first = self._search(whole.matrix, _ALL)
        self._read(whole, first.x)
        return self._certified(whole.matrix, first, whole)

    def _by_configurations(self, found: Configurations, prices: Prices) -> bool:
        """Find configurations from some prices on; tell whether a schedule is proved to be optimal.

        Where some utility is not concave their bound is far off, as the linear program's is: both mix numbers.
        """
        with until(seconds=left(0.5)), suppress(Halt):
            found.generate(prices, self._take_bound)
        poll()
        self._complete(found)
        best = found.best
        if best is None or not (self.known.closed() and self.known.agrees(float(best.value))):
            return False
        self.known.found()
        self.known.note(f"{_PRICES}: nothing better than ", float(best.value))
        if not all(search.confirmed() for search in best.searches):
            return False
        self.known.note(f"{_PRICES}, by a second route: nothing better than ", float(best.value))
        return True

    def _complete(self, configurations: Configurations) -> None:
        """Complete what configurations settle of a schedule."""
        for share in _SHARES:
            part = configurations.part(share)
            if self.known.closed() or not self._writable(_REST, itertools.chain(*part.groups)):
                break
            program = cut(partial(horizon_program, self.instance, part.points, part.groups))
            with until(seconds=left(0.25)):
                rest = self._search(program.matrix, _REST, nodes=_NODES, restricted=True)
            self._read(program, rest.x, part)
            self.known.tell(_REST)

    def _take_bound(self, bound: Bound) -> None:
        self.known.bound(float(bound.value), _PRICES)
        self.known.tell(_PRICES)

    def _writable(self, name: str, slots: Iterable[int], most: int = _MOST_COLUMNS) -> bool:
        """Tell whether a program is of a size that is written."""
        count = columns(self.instance, slots)
        if count > most:
            self.known.note(f"{name}: about {count} columns, more than {most}, not written")
        return count <= most

    def _linear_bound(self, matrix: Matrix) -> Floats | None:
        """Take the bound of a linear program, and what its duals prove."""
        try:
            raw = solve_matrix(matrix, threads=1)
        except ResidualError as error:
            self.known.note(f"HiGHS, linear program: {error}")
            return None
        if raw.summary.status is not Status.OPTIMAL or raw.summary.bound is None or raw.row_duals is None:
            return None
        route = f"HiGHS {raw.summary.version}, linear program over {_ALIKE}"
        self.known.bound(raw.summary.bound, route)
        self.known.note(f"{route}: nothing better than ", raw.summary.bound)
        self.known.tell("linear program")
        exact = dual_bound(matrix, raw.row_duals)
        self.proved = None if exact is None else float(exact)
        return raw.row_duals

    def _closed_by_duals(self) -> bool:
        """Tell whether the best schedule has the value that the duals of the linear program prove to be the most."""
        if self.proved is None or not self.known.closed() or not self.known.agrees(self.proved):
            return False
        self.known.note("duals of the linear program, in exact rationals: nothing better than ", self.proved)
        return True

    def _search(self, matrix: Matrix, name: str, *, nodes: int | None = None, restricted: bool = False) -> Finding:
        """Solve a program once.

        Nothing is asked of its points: a row that wants them better than the best schedule took HiGHS's heuristics
        from 0.4 s to more than 30 s on Abilene with 12 jobs.

        Parameters
        ----------
        matrix : Matrix
        name : str
        nodes : int, optional
            Of the search tree.
        restricted : bool
            Whether its bound is none of the optimum's.
        """
        poll()
        try:
            raw = solve_matrix(matrix, threads=1, seed=0, nodes=nodes)
        except ResidualError as error:
            return Finding(f"HiGHS, {name} ({error})", None, None)
        route = f"HiGHS {raw.summary.version}, {name}"
        status, bound = raw.summary.status, raw.summary.bound
        if not restricted:
            self.known.bound(bound, route)
            self.known.tell(name)
        return Finding(route, bound, raw.x, infeasible=status is Status.INFEASIBLE, attained=status is Status.OPTIMAL)

    def _read(self, program: HorizonProgram, x: Floats | None, part: Part | None = None) -> None:
        """Take the schedule at a point, if there is one; with what is settled of it, if that is given."""
        if x is not None:
            with grace():
                found = program.read(x)
                self._take(found if part is None else part.with_rest(found))

    def _certified(self, matrix: Matrix, first: Finding, program: HorizonProgram | None = None) -> bool:
        """Confirm by a second route what the first one says of a program; of all slots, if it is given."""
        self.known.found()
        if self._closed_by_duals():
            return True
        certificate = certify(
            matrix,
            [replace(first, x=None), self._counts, *default_routes()[1:]],
            value=None if self.known.best is None else self.known.value,
            time_limit=left(0.5),
        )
        self.known.evidence += certificate.evidence
        if certificate.infeasible:
            self.known.infeasible()
            return True
        if program is not None:
            self._read(program, certificate.point)
        self.known.bound(certificate.bound, "two routes")
        return certificate.proved and self.known.closed()

    def _counts(self, *_: object) -> Finding:
        """Return the optimum of the exact dynamic program, as a route; nothing where it would be too large."""
        route = "exact dynamic program over worker-slots"
        try:
            value = best_value(self.instance, most=_MOST)
        except TooLargeError as error:
            return Finding(f"{route} ({error})", None, None)
        return Finding(route, None if value is None else float(value), None, infeasible=value is None, exact=True)


def _best(instance: Instance, job: Job) -> Fraction | None:
    """Return the greatest utility that a job can have; None where none is finite."""
    most = instance.most(job)
    if isinstance(job.utility, Table):
        step = int(job.progress)
        return max(job.utility.values[: most * step + 1 : step])
    # All other kinds of utility rise or fall everywhere.
    found: list[Fraction] = []
    for n in (0, most):
        with suppress(ValueError):
            found.append(job.value(n))
    return max(found, default=None)
