"""The offline problem (2)-(9), corrected, as one mixed-integer program: every slot's program, and a size a job.

Exact for any utility: one binary for each number of worker-slots that a job can get.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

from dlsched.algorithms.exact.ddljs.blocks import Block, Terms
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


@dataclass(frozen=True, slots=True)
class HorizonProgram:
    """The program of an instance.

    Attributes
    ----------
    matrix : Matrix
        Maximises the utility.
    blocks : dict of int to dict of str to Block
        By slot and job.
    """

    matrix: Matrix
    blocks: dict[int, dict[str, Block]]

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


def alike(instance: Instance) -> list[list[int]]:
    """Return the slots in groups that differ in nothing: the same bandwidths, the same jobs there."""
    groups: dict[tuple[object, ...], list[int]] = defaultdict(list)
    for slot in range(1, instance.slots + 1):
        present = tuple(job.arrival <= slot for job in instance.jobs)
        groups[instance.shares(slot), present].append(slot)
    return list(groups.values())


def horizon_program(instance: Instance, groups: list[list[int]]) -> HorizonProgram | None:
    """Return the program of an instance; None where a job has no finite utility.

    Parameters
    ----------
    instance : Instance
    groups : list of list of int
        Slots that are alike; they may be taken in any order, so that the first job is made to get the least last.
    """
    program = Builder(-1)
    network = Network.of((node.name for node in instance.nodes), instance.arcs)
    slots = range(1, instance.slots + 1)
    blocks = {t: write_blocks(program, unpriced_problem(instance, t), network) for t in slots}
    workers = {(name, t): _workers(block) for t in slots for name, block in blocks[t].items()}
    for job in instance.jobs:
        points = values(instance, job)
        if not points:
            return None
        _count(program, job, points, [terms for t in slots if (terms := workers.get((job.name, t)))])
    for group in groups:
        _order(program, workers, group)
    return HorizonProgram(program.matrix(), blocks)


def _workers(block: Block) -> Terms:
    return [(column, size * value) for size, terms in block.sizes.items() for column, value in terms]


def _count(program: Builder, job: Job, points: Mapping[int, Fraction], parts: list[Terms]) -> None:
    """Choose how many worker-slots a job gets, at their utility."""
    whole = not is_concave(points)
    chosen = {n: program.column(1.0, cost=float(value), integer=whole) for n, value in points.items()}
    program.row([(column, 1) for column in chosen.values()], 1, 1)
    got = [term for terms in parts for term in terms]
    program.row([*got, *((column, -n) for n, column in chosen.items())], 0, 0)


def is_concave(points: Mapping[int, Fraction]) -> bool:
    """Tell whether utility is concave, so that mixtures of numbers of worker-slots never pay."""
    ordered = [points[n] for n in sorted(points)]
    steps = [b - a for a, b in pairwise(ordered)]
    return all(later <= earlier for earlier, later in pairwise(steps))


def _order(program: Builder, workers: Mapping[tuple[str, int], Terms], group: list[int]) -> None:
    """Of slots that are alike, let the first job get the most in the first."""
    first = next((name for name, t in workers if t == group[0]), None)
    if first is None:
        return
    for t, after in pairwise(group):
        less = [(column, -value) for column, value in workers[first, after]]
        program.row([*workers[first, t], *less], lower=0)
