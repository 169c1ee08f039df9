"""What single machines hold: rows that refute plans for the sum of machines that are alike.

A plan for the sum fits the sum, and the single machines perhaps in no way. What a job has there in a slot is of a few
kinds: whether it is at home on one of them, its workers and servers at home, and those elsewhere. All that the machines
hold is the sum of what each holds, so at any prices of the kinds it is worth at most what they hold if each holds the
dearest content of one machine. A linear program looks for prices at which a plan is worth more, over contents of a
machine that an integer program adds, the dearest first, as there may be millions. Rounded to whole numbers, and with
the dearest content at these, they make a row that every plan keeps in every slot.

Contents that are listed serve for the same in `covering`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from dlsched.algorithms.exact.dmlrs.slots import Ints
from dlsched.arithmetic import integer_product
from dlsched.models.dmlrs import Instance
from dlsched.models.dmlrs.frame import fitting, servers_needed
from dlsched.models.dmlrs.instance import Group
from dlsched.models.dmlrs.job import AsyncJob, Job
from dlsched.models.numbers import whole_units
from dlsched.relaxations.aggregation import Aggregation
from dlsched.solvers.builder import Builder
from dlsched.solvers.highs import Session
from dlsched.solvers.matrix import Matrix
from dlsched.solvers.solution import SolverError, Status
from dlsched.solvers.solve import solve_matrix
from dlsched.tolerances import CLEAR, FEASIBLE, TOLERANCE

_PARTS = 55_440
"""Of what one machine holds, for prices: divided by all numbers to 12, as prices of a vertex mostly are fractions."""

_MOST_PRICE = 5.0
"""Of a kind, in size, times what one machine holds; arbitrary."""

_HOME, _AT_HOME = "home", ("home_workers", "home_servers")
_KINDS = {
    _HOME: (0, 0),
    "home_workers": (1, 0),
    "home_servers": (0, 1),
    "spread_workers": (1, 0),
    "spread_servers": (0, 1),
}
"""The variables of `dlsched.models.dmlrs.aggregate` by job, slot and group; of how many workers and servers one is."""

Kind = tuple[str, str]
"""One of these, and a job."""


@dataclass(frozen=True, slots=True)
class Row:
    """Prices of the kinds, in `_PARTS`, and what all machines of a group hold at these at most."""

    prices: dict[Kind, int]
    most: int


class Holding:
    """The machines of a group, and the contents of one of them that are known.

    Parameters
    ----------
    instance : Instance
    group : Group
    kinds : list of Kind
        That jobs may have there.
    """

    def __init__(self, instance: Instance, group: Group, kinds: list[Kind]) -> None:
        self.group, self.kinds = group, kinds
        self._at = {kind: k for k, kind in enumerate(self.kinds)}
        # What a home costs less, in place of its price: at 0 for a start, so that a row says what it can of all homes.
        self._signs: Ints = np.array([-1 if kind == _HOME else 1 for kind, _ in self.kinds], dtype=np.int64)
        self._program = self._one_machine(instance)
        self._covering = Session(-1)
        self._covering.add_columns(np.zeros(len(self.kinds)), np.ones(len(self.kinds)), np.zeros((0, len(self.kinds))))
        self._known: set[bytes] = set()

    def _one_machine(self, instance: Instance) -> Matrix:
        """Return the program whose points are the contents of one machine, or more; it has no objective yet."""
        machine, program = self.group.model, Builder(sense=-1)
        jobs = {job.name: job for job in instance.jobs}
        most: list[int] = []
        needs: list[list[Fraction]] = [[] for _ in instance.resources]
        for kind, name in self.kinds:
            job, (w, s) = jobs[name], _KINDS[kind]
            own, limit = (job.worker, job.most_workers) if w else (job.server, servers_needed(job))
            most.append(1 if kind == _HOME else min(limit, fitting(machine, own, limit)))
            for r, row in zip(instance.resources, needs, strict=True):
                row.append(w * job.worker_needs(r) + s * job.server_needs(r))
        columns = program.columns(np.array(most, dtype=float), integer=True)
        for r, row in zip(instance.resources, needs, strict=True):
            (room,), whole, _ = whole_units([machine.capacity_of(r)], row)
            terms = [(int(k), float(need)) for k, need in zip(columns, whole, strict=True) if need]
            # As in `summed`: HiGHS may cut off what fills a machine to the last bit.
            program.row(terms, upper=room * (1 + FEASIBLE))
        for job in instance.jobs:
            self._home(program, job, most)
        return program.matrix()

    def _home(self, program: Builder, job: Job | AsyncJob, most: Sequence[int]) -> None:
        """Add the rows of a job's home: what is at home is where it is, and nothing of the job beside it."""
        at = {kind: k for kind in _KINDS if (k := self._at.get((kind, job.name))) is not None}
        home = at.pop(_HOME, None)
        if home is None:
            return
        for kind, k in at.items():
            if kind in _AT_HOME:
                program.row([(k, 1.0), (home, -float(most[k]))], upper=0.0)
            else:
                program.row([(k, 1.0), (home, float(most[k]))], upper=float(most[k]))
        if isinstance(job, Job):
            workers, servers = (at[kind] for kind in _AT_HOME)
            program.row([(workers, 1.0), (servers, -float(job.workers_per_server))], upper=0.0)

    def dearest(self, prices: Ints, *, presolve: bool = True) -> tuple[int, Ints] | None:
        """Return what no content is worth more than at some prices, and the content that HiGHS calls the dearest.

        None where HiGHS does not end with an optimum.
        """
        program = replace(self._program, c=prices.astype(float))
        raw = solve_matrix(program, threads=1, seed=0 if presolve else 7, presolve=presolve)
        if raw.summary.status is not Status.OPTIMAL or raw.x is None or raw.summary.bound is None:
            return None
        content: Ints = np.round(raw.x).astype(np.int64)
        return max(round(raw.summary.bound), int(integer_product(content, prices))), content

    def refute(self, counts: Ints) -> Row | None:
        """Return a row that what all machines have of the kinds breaks, None where none is found."""
        machines = len(self.group)
        upper = np.where((counts > 0) | (self._signs < 0), _MOST_PRICE, 0.0)
        self._covering.bound_columns(upper, np.where((counts > 0) & (self._signs < 0), -_MOST_PRICE, 0.0))
        self._covering.set_costs((self._signs * counts).astype(float))
        while True:
            try:
                solved = self._covering.solve()
            except SolverError:
                return None
            if solved is None or solved[0] <= machines * (1 + CLEAR):
                return None
            prices: Ints = np.round(self._signs * solved[1] * _PARTS).astype(np.int64)
            found = self.dearest(prices)
            if found is None:
                return None
            worth, content = found
            if int(integer_product(content, prices)) <= _PARTS or content.tobytes() in self._known:
                break
            self._known.add(content.tobytes())
            at = np.flatnonzero(content)
            self._covering.add_row(-np.inf, 1.0, at.astype(np.int32), (self._signs * content)[at].astype(float))
        # HiGHS takes numbers for whole that are off by a millionth, and was seen to miss the dearest content by as much
        # as that is worth where a price was thirty times the machine.
        worth += math.ceil(TOLERANCE * int(np.abs(prices).sum()))
        if int(integer_product(counts, prices)) <= machines * worth * (1 + CLEAR):
            return None
        own = {kind: price for kind, price in zip(self.kinds, prices.tolist(), strict=True) if price}
        return Row(own, machines * worth)

    def confirms(self, row: Row) -> bool:
        """Tell whether HiGHS without presolve, too, finds no content dearer than a row says."""
        prices: Ints = np.array([row.prices.get(kind, 0) for kind in self.kinds], dtype=np.int64)
        found = self.dearest(prices, presolve=False)
        return found is not None and len(self.group) * found[0] <= row.most

    def counts(self, model: Any, t: int) -> Ints:
        """Return what a plan in the model's variables has of the kinds in a slot."""
        variables = [self._variable(model, kind, t) for kind in self.kinds]
        return np.array([0 if v is None else round(v.value or 0) for v in variables], dtype=np.int64)

    def keeps(self, model: Any, row: Row, t: int) -> Any:
        """Return a row in a slot, None where no job can have anything there."""
        there = [(price, self._variable(model, kind, t)) for kind, price in row.prices.items()]
        terms = [price / _PARTS * variable for price, variable in there if variable is not None]
        return sum(terms) <= row.most / _PARTS if terms else None

    def _variable(self, model: Any, kind: Kind, t: int) -> Any:
        """Return the variable of a kind in a slot, None where the job cannot have it yet."""
        name, i = kind
        there, at = getattr(model, name), (i, t, self.group.name)
        if at not in there:
            return None
        return there[at]


def holdings(aggregation: Aggregation) -> tuple[Holding, ...]:
    """Return the groups of several machines: of a single one, the sum is the machine."""
    instance, model = aggregation.instance, aggregation.model
    there = {(kind, i, c) for kind in _KINDS for i, _, c in getattr(model, kind)}

    def kinds(group: Group) -> list[Kind]:
        return [(kind, job.name) for job in instance.jobs for kind in _KINDS if (kind, job.name, group.name) in there]

    return tuple(Holding(instance, group, kinds(group)) for group in aggregation.groups if len(group) > 1)
