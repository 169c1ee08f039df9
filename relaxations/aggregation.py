"""Identical machines summed to one, and solutions of the sum packed back onto the machines, slot by slot.

Summing is a relaxation: what fits the machines fits their sum. Packing is where it can fail; the slots that cannot be
packed are named, and what is in them can be forbidden or the method changed.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import Any

import numpy as np

from dlsched.arguments import checked
from dlsched.errors import InputError
from dlsched.lazy import pyo
from dlsched.models.dmlrs import Instance, Schedule
from dlsched.models.dmlrs.instance import Group, identical
from dlsched.models.dmlrs.job import AsyncJob
from dlsched.models.numbers import is_whole, whole_units
from dlsched.relaxations.packing import Integers, Outcome, Packing, pack

Content = dict[str, dict[str, tuple[int, int, int, int]]]
"""Group to job to (home workers, home servers, spread workers, spread servers), of one slot."""


@dataclass(frozen=True, slots=True)
class Packed:
    """A solution of the sum on the machines.

    Attributes
    ----------
    schedule : Schedule or None
        None where some slot was not packed. Amounts without a small common unit are packed to about 1e-12 of a
        capacity; the schedule has to be checked.
    impossible : tuple of int
        Slots of which it is proved that no packing exists.
    unknown : tuple of int
        Slots for which none was found.

    Examples
    --------
    >>> from dlsched.models import dmlrs, solve
    >>> from dlsched.relaxations import aggregate_machines
    >>> cluster = dmlrs.preset("benchmark", 0, jobs=2, machines=4, slots=3, multiple=3)
    >>> summed = aggregate_machines(cluster)
    >>> bound = solve(summed.model).objective
    >>> packed = summed.recover()
    >>> print(round(bound, 4), packed.schedule, packed.impossible, packed.unknown)
    15.97 None (1, 2, 3) ()
    """

    schedule: Schedule | None
    impossible: tuple[int, ...]
    unknown: tuple[int, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Aggregation:
    """The relaxation over groups of identical machines.

    Attributes
    ----------
    model : pyomo.environ.ConcreteModel
        `dmlrs/aggregate`; its optimum is an upper bound on the optimum of DMLRS, equal where all slots can be packed.
    instance : Instance
    groups : tuple of Group

    Examples
    --------
    >>> from dlsched.models import dmlrs, solve
    >>> from dlsched.relaxations import aggregate_machines
    >>> cluster = dmlrs.preset("benchmark", 0, jobs=2, machines=3, slots=2)
    >>> summed = aggregate_machines(cluster)
    >>> print([group.machines for group in summed.groups])
    [('machine1', 'machine2', 'machine3')]
    >>> solution = solve(summed.model)
    >>> print(round(float(dmlrs.utility(cluster, summed.recover().schedule)), 4), round(solution.objective, 4))
    39.0573 39.0573
    """

    model: Any
    instance: Instance
    groups: tuple[Group, ...]

    def recover(self, *, seed: int = 0, nodes: int = 2_000) -> Packed:
        """Pack the solution that the model's variables hold back onto the machines.

        Parameters
        ----------
        seed, nodes
            As for `dlsched.relaxations.packing.pack`, for each slot.

        Raises
        ------
        InputError
            If the model was not solved, or its point is fractional.
        """
        contents = trimmed(self.instance, self.contents())
        return place(self.instance, self.groups, contents, seed=seed, nodes=nodes)

    def contents(self) -> dict[int, Content]:
        """Return what each slot holds, read from the model's variables; errors as for `recover`."""
        m = self.model
        _refuse_unsolved(m)
        slots: dict[int, Content] = defaultdict(lambda: defaultdict(dict))
        for i, t, c in m.ITC:
            home = (i, t, c) in m.home_at
            counts = (
                _count(m.home_workers[i, t, c]) if home else 0,
                _count(m.home_servers[i, t, c]) if home else 0,
                _count(m.spread_workers[i, t, c]),
                _count(m.spread_servers[i, t, c]) if (i, t, c) in m.spread_servers else 0,
            )
            if any(counts):
                slots[t][c][i] = counts
        return slots


def _refuse_unsolved(model: Any) -> None:
    whole = [variable for variable in model.component_data_objects(pyo.Var) if variable.is_integer()]
    if whole and all(variable.value is None for variable in whole):
        raise InputError("no variable of the summed model has a value: solve it")
    for variable in whole:
        if variable.value is not None and not is_whole(variable.value):
            raise InputError(f"{variable.name} is {variable.value:.6g}: solve the summed model with its integers")


def _count(variable: Any) -> int:
    return 0 if variable.value is None else round(variable.value)


@checked
def aggregate_machines(instance: Instance) -> Aggregation:
    """Sum identical machines.

    Parameters
    ----------
    instance : Instance
        Of DMLRS.

    Raises
    ------
    InputError
        If a job's external rate is above its internal rate.

    References
    ----------
    Ours; in each slot the capacity rows (5), in the thesis (3.3), are summed over identical machines.

    Examples
    --------
    >>> from dlsched.models import build, dmlrs, solve
    >>> from dlsched.relaxations import aggregate_machines
    >>> cluster = dmlrs.preset("benchmark", 0, jobs=2, machines=3, slots=2)
    >>> apart, summed = build("dmlrs/compact-milp", cluster), aggregate_machines(cluster)
    >>> print(apart.nvariables(), round(solve(apart).objective, 4))
    68 39.0573
    >>> print(summed.model.nvariables(), round(solve(summed.model).objective, 4))
    28 39.0573
    >>> print(dmlrs.check(cluster, summed.recover().schedule))
    []
    """
    from dlsched.models import build

    return Aggregation(build("dmlrs/aggregate", instance), instance, identical(instance))


def trimmed(instance: Instance, contents: dict[int, Content]) -> dict[int, Content]:
    """Return the contents without workers that their job does not need, and without servers that these do not need.

    Workers are taken from the fullest slots first, as long as the work that is left is enough.
    """
    result: dict[int, Content] = {t: {c: dict(jobs) for c, jobs in groups.items()} for t, groups in contents.items()}
    size = {t: sum(sum(counts) for jobs in groups.values() for counts in jobs.values()) for t, groups in result.items()}
    for job in instance.jobs:
        entries = sorted(
            ((t, c) for t, groups in result.items() for c, jobs in groups.items() if job.name in jobs),
            key=lambda entry: (-size[entry[0]], entry),
        )
        if isinstance(job, AsyncJob) or not entries:
            continue
        done = [result[t][c][job.name] for t, c in entries]
        spare = (
            sum(hw for hw, _, _, _ in done) / job.internal_time
            + sum(sw for _, _, sw, _ in done) / job.external_time
            - job.work
        )
        by_slot: dict[int, list[str]] = defaultdict(list)
        for t, c in entries:
            home_workers, home_servers, spread_workers, spread_servers = result[t][c][job.name]
            drop = min(home_workers, max(0, int(spare * job.internal_time)))
            spare -= drop / job.internal_time
            home_workers -= drop
            drop = min(spread_workers, max(0, int(spare * job.external_time)))
            spare -= drop / job.external_time
            spread_workers -= drop
            home_servers = min(home_servers, job.servers_for(home_workers))
            result[t][c][job.name] = (home_workers, home_servers, spread_workers, spread_servers)
            by_slot[t].append(c)
        for t, groups in by_slot.items():
            needed = job.servers_for(sum(result[t][c][job.name][2] for c in groups))
            for c in groups:
                home_workers, home_servers, spread_workers, servers = result[t][c][job.name]
                kept = min(servers, needed)
                needed -= kept
                result[t][c][job.name] = (home_workers, home_servers, spread_workers, kept)
    return result


def place(
    instance: Instance, groups: tuple[Group, ...], contents: dict[int, Content], *, seed: int = 0, nodes: int = 2_000
) -> Packed:
    """Pack the contents of each slot onto the machines of their groups.

    Parameters
    ----------
    instance : Instance
    groups : tuple of Group
    contents : dict
        Slot to content.
    seed, nodes
        As for `dlsched.relaxations.packing.pack`.
    """
    machines = {group.name: _Machines(instance, group) for group in groups}
    placements: dict[str, dict[int, dict[str, tuple[int, int]]]] = defaultdict(lambda: defaultdict(dict))
    failed: dict[Outcome, set[int]] = {Outcome.IMPOSSIBLE: set(), Outcome.UNKNOWN: set()}
    for t, content in sorted(contents.items()):
        for c, jobs in content.items():
            packing = machines[c].pack(jobs, seed, nodes)
            if packing.outcome is not Outcome.PACKED:
                failed[packing.outcome].add(t)
                continue
            for name, machine, workers, servers in machines[c].read(jobs, packing):
                had = placements[name][t].get(machine, (0, 0))
                placements[name][t][machine] = (had[0] + workers, had[1] + servers)
    impossible, unknown = (tuple(sorted(failed[k])) for k in (Outcome.IMPOSSIBLE, Outcome.UNKNOWN))
    schedule = None if impossible or unknown else Schedule.of(placements)
    return Packed(schedule, impossible, unknown)


class _Machines:
    """The machines of a group, with needs in whole units, rounded down where there are no small ones."""

    def __init__(self, instance: Instance, group: Group) -> None:
        self.group = group
        columns = []
        for r in instance.resources:
            needed = [n(r) for job in instance.jobs for n in (job.worker_needs, job.server_needs)]
            (capacity,), whole, _ = whole_units([group.model.capacity_of(r)], needed)
            columns.append([capacity, *whole])
        scaled = np.array(columns, dtype=np.int64).reshape(len(columns), 1 + 2 * len(instance.jobs)).T.copy()
        self.capacity, needs = scaled[0], scaled[1:]
        self.worker = {job.name: needs[2 * k] for k, job in enumerate(instance.jobs)}
        self.apart = {job.name: isinstance(job, AsyncJob) for job in instance.jobs}
        self.server = {job.name: needs[2 * k + 1] for k, job in enumerate(instance.jobs)}

    def pack(self, jobs: dict[str, tuple[int, int, int, int]], seed: int, nodes: int) -> Packing:
        """Pack homes as bundles, the rest as units."""
        homes = [i for i, (w, s, _, _) in jobs.items() if w or s]
        bundles = [jobs[i][0] * self.worker[i] + jobs[i][1] * self.server[i] for i in homes]
        units = [needs for i in jobs for needs in (self.worker[i], self.server[i])]
        counts = [n for counts in jobs.values() for n in counts[2:]]
        apart = [homes.index(i) if i in homes and self.apart[i] else -1 for i in jobs for _ in range(2)]
        return pack(
            self._stacked(bundles),
            self._stacked(units),
            np.array(counts),
            self.capacity,
            len(self.group),
            apart=np.array(apart, dtype=np.int64),
            seed=seed,
            nodes=nodes,
        )

    def _stacked(self, rows: list[Integers]) -> Integers:
        return np.array(rows, dtype=np.int64).reshape(len(rows), len(self.capacity))

    def read(self, jobs: dict[str, tuple[int, int, int, int]], packing: Packing) -> Any:
        """Yield (job, machine, workers, servers)."""
        homes = [i for i, (w, s, _, _) in jobs.items() if w or s]
        for i, b in zip(homes, packing.bins.tolist(), strict=True):
            yield i, self.group.machines[b], jobs[i][0], jobs[i][1]
        for k, i in enumerate(jobs):
            for b, machine in enumerate(self.group.machines):
                workers, servers = packing.split[2 * k, b], packing.split[2 * k + 1, b]
                if workers or servers:
                    yield i, machine, int(workers), int(servers)
