"""The offline problem (2)-(9), corrected, as one mixed-integer program: every slot's program, and a size a job.

Of slots that are alike only as many as can matter are kept (`Condensed`).

The program is exact for any utility: one column for each number of worker-slots that a job can get.

Slots that are alike can be pooled into one, with m times the room where they are m: the sum of their embeddings
satisfies the rows of one of them, sides and bounds times m, and its integers are whole. So the pooled program is a
relaxation. Its linear relaxation has the value of that over all slots: by symmetry some optimum has the same in all
slots that are alike.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise

import numpy as np

from dlsched.algorithms.exact.ddljs.blocks import Block
from dlsched.algorithms.exact.ddljs.network import Network
from dlsched.algorithms.exact.ddljs.slot_program import write_blocks
from dlsched.halt import polled
from dlsched.models.ddljs.instance import Instance
from dlsched.models.ddljs.job import Job
from dlsched.models.ddljs.requests import unpriced_problem
from dlsched.models.ddljs.rings import Embedding
from dlsched.models.ddljs.schedule import Schedule
from dlsched.solvers.builder import Builder
from dlsched.solvers.matrix import Floats, Matrix


def alike(instance: Instance) -> list[list[int]]:
    """Return the slots in groups that differ in nothing: the same bandwidths, the same jobs there."""
    changes = {1, *(job.arrival for job in instance.jobs)}
    for slot in instance.bandwidth_by_slot or {}:
        changes |= {slot, slot + 1}
    starts = sorted(slot for slot in changes if slot <= instance.slots)
    groups: dict[tuple[object, ...], list[int]] = defaultdict(list)
    for start, end in pairwise([*starts, instance.slots + 1]):
        present = tuple(job.arrival <= start for job in instance.jobs)
        groups[instance.shares(start), present].extend(range(start, end))
    return list(groups.values())


@dataclass(frozen=True, slots=True)
class Condensed:
    """An instance without the slots that no schedule needs.

    Attributes
    ----------
    instance : Instance
        With as good an optimum.
    kept : tuple of int
        The slots of the original, by slot.
    """

    instance: Instance
    kept: tuple[int, ...]

    @classmethod
    def of(cls, instance: Instance) -> Condensed:
        """Keep of slots that are alike as many as the jobs there can be in: a slot in use has a worker.

        What a schedule does in slots beyond can be done in those kept that it leaves empty.
        """
        kept: list[int] = []
        most = [(job.arrival, instance.most(job)) for job in instance.jobs]
        for group in alike(instance):
            kept += group[: max(1, sum(slots for arrival, slots in most if arrival <= group[0]))]
        kept.sort()
        if len(kept) == instance.slots:
            return cls(instance, tuple(kept))
        number = {slot: place for place, slot in enumerate(kept, 1)}
        changed = (instance.bandwidth_by_slot or {}).items()
        jobs = (job.model_copy(update={"arrival": bisect_left(kept, job.arrival) + 1}) for job in instance.jobs)
        update = {
            "slots": len(kept),
            "jobs": tuple(jobs),
            "bandwidth_by_slot": {number[slot]: links for slot, links in changed if slot in number} or None,
        }
        return cls(instance.model_copy(update=update), tuple(kept))

    def original(self, schedule: Schedule) -> Schedule:
        """Return a schedule of the condensed instance as one of the original."""
        if len(self.kept) == self.kept[-1]:
            return schedule
        jobs = {name: schedule.embeddings(name) for name in schedule.jobs}
        return Schedule.of({name: {self.kept[t - 1]: ring for t, ring in own.items()} for name, own in jobs.items()})


@dataclass(frozen=True, slots=True)
class HorizonProgram:
    """The program of an instance.

    Attributes
    ----------
    matrix : Matrix
        Maximises the utility.
    blocks : dict of int to dict of str to Block
        By slot and job; of slots that are pooled, by the first.
    rows : dict of str to int
        By job: the row of its worker-slots.
    """

    matrix: Matrix
    blocks: dict[int, dict[str, Block]]
    rows: dict[str, int]

    def read(self, x: Floats) -> Schedule:
        """Return the schedule at a point."""
        found: dict[str, dict[int, Embedding]] = defaultdict(dict)
        for slot, blocks in self.blocks.items():
            for name, block in blocks.items():
                embedding = block.read(x)
                if embedding is not None:
                    found[name][slot] = embedding
        return Schedule.of(found)


def values(instance: Instance, job: Job) -> dict[int, Fraction]:
    """Return mu_i(zeta_i n) for every number n of worker-slots that a job can get; without n = 0 where that is -inf."""
    try:
        result = {0: job.value(0)}
    except ValueError:
        result = {}
    return result | {n: job.value(n) for n in polled(range(1, instance.most(job) + 1))}


def columns(instance: Instance, slots: Iterable[int]) -> int:
    """Return about how many columns a program over slots has."""
    slots = sorted(slots)
    servers, arcs = len(instance.servers), len(instance.arcs)
    total = 0
    for job in instance.jobs:
        room = instance.total_room(job)
        block = room + 3 * servers + 2 * arcs if job.placement is None else job.max_workers * (servers + arcs)
        total += (len(slots) - bisect_left(slots, job.arrival)) * block + instance.most(job)
    return total


def horizon_program(
    instance: Instance, points: Mapping[str, Mapping[int, Fraction]], groups: Sequence[Sequence[int]]
) -> HorizonProgram:
    """Return the program of an instance over some slots, or all.

    Parameters
    ----------
    instance : Instance
    points : mapping of str to mapping of int to Fraction
        By job: `values`.
    groups : sequence of sequences of int
        Slots that are alike; they may be taken in any order, so that the first job is made to get the least last.
    """
    program = Builder(-1)
    network = Network.of((node.name for node in instance.nodes), instance.arcs)
    slots = sorted(slot for group in groups for slot in group)
    blocks = {t: write_blocks(program, unpriced_problem(instance, t), network) for t in slots}
    rows = _numbers(program, points, blocks)
    for group in groups:
        _order(program, blocks, group)
    return HorizonProgram(program.matrix(), blocks, rows)


def pooled_program(
    instance: Instance, points: Mapping[str, Mapping[int, Fraction]], groups: Sequence[Sequence[int]]
) -> HorizonProgram:
    """Return the relaxation of an instance's program in which slots that are alike are pooled; parameters as there."""
    program = Builder(-1)
    network = Network.of((node.name for node in instance.nodes), instance.arcs)
    blocks, ends = {}, [program.shape]
    for group in groups:
        blocks[group[0]] = write_blocks(program, unpriced_problem(instance, group[0]), network)
        ends.append(program.shape)
    rows = _numbers(program, points, blocks)
    matrix = program.matrix()
    of_rows, of_columns = np.ones(matrix.A.shape[0]), np.ones(matrix.A.shape[1])
    for group, (row, column), (last_row, last_column) in zip(groups, ends, ends[1:], strict=False):
        of_rows[row:last_row], of_columns[column:last_column] = len(group), len(group)
    pooled = replace(
        matrix,
        row_lower=matrix.row_lower * of_rows,
        row_upper=matrix.row_upper * of_rows,
        lower=matrix.lower * of_columns,
        upper=matrix.upper * of_columns,
    )
    return HorizonProgram(pooled, blocks, rows)


def _numbers(
    program: Builder, points: Mapping[str, Mapping[int, Fraction]], blocks: Mapping[int, Mapping[str, Block]]
) -> dict[str, int]:
    got = {name: [term for own in blocks.values() if name in own for term in own[name].workers] for name in points}
    return write_numbers(program, points, got)


def write_numbers(
    program: Builder,
    points: Mapping[str, Mapping[int, Fraction]],
    got: Mapping[str, Sequence[tuple[int, int]]],
    *,
    more: bool = False,
) -> dict[str, int]:
    """Choose how many worker-slots each job gets, at their utility; return by job the row that says so.

    Parameters
    ----------
    program : Builder
    points : mapping of str to mapping of int to Fraction
        By job: `values`.
    got : mapping of str to sequence of (int, int)
        By job: what its worker-slots are, as columns and coefficients.
    more : bool
        Whether some of them may be left unused.
    """
    rows = {}
    for name, own in points.items():
        whole = not is_concave(own)
        columns = {n: program.column(1.0, cost=float(value), integer=whole) for n, value in own.items()}
        program.row([(column, 1) for column in columns.values()], 1, 1)
        terms = [*got[name], *((column, -n) for n, column in columns.items())]
        rows[name] = program.row(terms, 0, math.inf if more else 0)
    return rows


def is_concave(points: Mapping[int, Fraction]) -> bool:
    """Tell whether utility is concave, so that mixtures of numbers of worker-slots never pay."""
    ordered = [points[n] for n in sorted(points)]
    steps = [b - a for a, b in pairwise(ordered)]
    return all(later <= earlier for earlier, later in pairwise(steps))


def _order(program: Builder, blocks: Mapping[int, Mapping[str, Block]], group: Sequence[int]) -> None:
    """Of slots that are alike, let the first job get the most in the first."""
    first = next(iter(blocks[group[0]]), None)
    if first is None:
        return
    for t, after in pairwise(group):
        less = [(column, -value) for column, value in blocks[after][first].workers]
        program.row([*blocks[t][first].workers, *less], lower=0)
