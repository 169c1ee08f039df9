"""The Hadar problem's programs over the rationals: `hadar/hall`, row by row, and `hadar/p2` over listed schedules.

Symbols: as in `dlsched.models.hadar.hall`, whose docstring proves that its optimum is that of P1 with admission. The
shares of a slot are ``v_jl = min(1, w_jl / Q_j)`` as they are, where the Pyomo model may take others that a solver's
tolerances tell apart (`dlsched.models.hadar.shares`): both let the same numbers of slots complete a job. In the place
of each row of work and each Hall row there are the facets of the whole numbers of slots, or of gangs, that keep it
(`hulls`). The same integers keep these, and trees are a tenth as large.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import cache
from operator import mul

from dlsched.algorithms.exact.certificates.program import ExactProgram, ProgramBuilder, choice
from dlsched.algorithms.exact.hadar.hulls import covering, packing
from dlsched.models.hadar.hall import unions
from dlsched.models.hadar.instance import Instance, Job
from dlsched.models.hadar.schedules import Column


def program(instance: Instance) -> ExactProgram:
    """Return `hadar/hall` in exact numbers, with rows of whole numbers in the place of some of its rows.

    Raises
    ------
    TooLargeError
        If it is larger than exact certificates are made for.

    References
    ----------
    Hadar, (1)-(1e), corrected: with admission.
    """
    built = ProgramBuilder("hadar/hall")
    jobs = {job.name: job for job in instance.jobs if instance.levels(job)}
    levels = {name: _levels(instance, job) for name, job in jobs.items()}
    bottleneck = {
        (name, t, level): built.binary(f"bottleneck[{name},{t},{level}]")
        for name, job in jobs.items()
        for t in range(job.arrival, instance.slots + 1)
        for level in levels[name]
    }
    completion = {
        (name, t): built.binary(f"completion[{name},{t}]", cost=job.utility.exact(t - job.arrival))
        for name, job in jobs.items()
        for t in range(job.arrival, instance.slots + 1)
    }
    for name, job in jobs.items():
        slots = range(job.arrival, instance.slots + 1)
        built.row(f"once[{name}]", [(completion[name, t], 1) for t in slots], upper=1)
        for t in slots:
            running = [(bottleneck[name, t, level], 1) for level in levels[name]]
            later = [(completion[name, s], -1) for s in range(t, slots.stop)]
            built.row(f"last[{name},{t}]", [*running, *later], upper=0)
        for t, rows in zip(slots, covering(tuple(levels[name].values()), len(slots)), strict=True):
            upto = range(slots.start, t + 1)
            complete = [(completion[name, s], -1) for s in upto]
            for k, row in enumerate(rows):
                shares = zip(levels[name], row, strict=True)
                done = [(bottleneck[name, s, level], share) for level, share in shares for s in upto]
                built.row(f"work[{name},{t},{k}]", [*done, *complete], lower=0)
    _hall(instance, built, levels, bottleneck)
    return built.program()


def _levels(instance: Instance, job: Job) -> dict[str, Fraction]:
    """Return v_jl by level, falling; of levels with equal shares, the slowest."""
    shares = {level: min(Fraction(1), instance.work(job, level) / job.iterations) for level in instance.levels(job)}
    slowest = {share: level for level, share in shares.items()}
    return {level: share for level, share in shares.items() if slowest[share] == level}


def _hall(
    instance: Instance,
    built: ProgramBuilder,
    levels: dict[str, dict[str, Fraction]],
    bottleneck: dict[tuple[str, int, str], int],
) -> None:
    """Write Hall's rows, of each union S of type sets and slot where the jobs could need more than C(S)."""
    jobs = {name: instance.job(name) for name in levels}
    types = {(j, level): frozenset(instance.eligible(jobs[j], level)) for j in levels for level in levels[j]}
    packed = cache(_packed)
    for s, union in enumerate(sorted(unions(types.values()), key=lambda s: (len(s), sorted(s)))):
        pairs = [pair for pair, own in types.items() if own <= union]
        devices = sum(instance.capacity[r] for r in union)
        for t in range(1, instance.slots + 1):
            here = [(j, level) for j, level in pairs if jobs[j].arrival <= t]
            gangs = Counter(jobs[j].gang for j in {j for j, _ in here})
            for k, row in enumerate(packed(tuple(sorted(gangs.items(), reverse=True)), devices)):
                terms = [(bottleneck[j, t, level], row[jobs[j].gang]) for j, level in here]
                built.row(f"hall[{s},{t},{k}]", terms, upper=1)


def _packed(gangs: Sequence[tuple[int, int]], devices: int) -> list[dict[int, Fraction]]:
    """Return the rows of gangs that so many jobs have, by gang; those that all jobs together keep are left out."""
    if sum(gang * jobs for gang, jobs in gangs) <= devices:
        return []
    sizes, most = zip(*gangs, strict=True)
    rows = packing(sizes, most, devices)
    return [dict(zip(sizes, row, strict=True)) for row in rows if sum(map(mul, row, most)) > 1]


def over(instance: Instance, schedules: Mapping[str, Sequence[Column]]) -> ExactProgram:
    """Return `hadar/p2` over some schedules of each job, in exact numbers.

    Raises
    ------
    TooLargeError
        If there are too many.

    References
    ----------
    Hadar, (2)-(2c).
    """
    listed = {name: [(each.utility, each.usage()) for each in own] for name, own in schedules.items()}
    return choice("hadar/p2", listed, lambda h, r, t: instance.machine(h).count(r))
