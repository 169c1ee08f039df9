"""P1 with admission without device variables: gangs fit into a slot iff Hall's condition holds.

Symbols: as in `dlsched.models.hadar.levels`, and E_jl the types that are at least as fast for job j as l, C(S) devices
of the types in S in the cluster.

Exactness
---------
1. *Machines, levels, work by slot*: `dlsched.models.hadar.levels`. Of levels with equal capped work the slowest is
   enough, as its set E is the largest.
2. *Devices.* Which devices the running jobs of a slot get is a transportation problem: job j at level l needs W_j
   devices of types in E_jl, type r has C^r. By Gale's theorem (Hall's for one device each) it can be solved iff for
   every set of running jobs the devices of the union of their sets are enough, that is, iff for every union S of sets E

   ``sum over (j, l) with E_jl within S of W_j b_jlt <= C(S)``.

   The data are integral, so devices are then whole. A row whose jobs all fit at once cannot bind and is left out, and
   so is that of two unions without a common type: unless a set E within it overlaps both, it is the sum of their rows.

All variables are binary. `dlsched.algorithms.exact` solves this formulation by column generation over the jobs, with
more inequalities of the integer hulls of the Hall rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, TypeVar

from dlsched.lazy import pyo
from dlsched.models.formulation import Formulation, Kind
from dlsched.models.hadar.instance import Instance, Job
from dlsched.models.hadar.levels import frame, read

Types = frozenset[str]
Set = TypeVar("Set", int, Types)


def build(instance: Instance) -> pyo.ConcreteModel:
    """Return the model with Hall rows.

    References
    ----------
    Hadar, (1)-(1e), corrected: with admission.
    """
    m = frame("Hadar Hall", instance, {job.name: _levels(instance, job) for job in instance.jobs})
    m.within = _within(instance, m.levels)
    m.ST = pyo.Set(
        initialize=[
            (s, t)
            for s, (pairs, devices) in enumerate(m.within)
            for t in range(1, instance.slots + 1)
            if sum(m.gang[j] for j in {j for j, _ in pairs} if t in m.slots[j]) > devices
        ],
        dimen=2,
        doc="unions of type sets, and slots in which their jobs may need more than their devices",
    )
    m.hall = pyo.Constraint(m.ST, rule=_hall, doc="(1b) (1d) (1e) whole gangs of fast enough devices fit")
    return m


def _levels(instance: Instance, job: Job) -> tuple[str, ...]:
    """Return the job's levels; of those that do its work in a slot with equal capped work, the slowest."""
    by_work = {min(instance.work(job, level), job.iterations): level for level in instance.levels(job)}
    return tuple(by_work.values())


def _within(instance: Instance, levels: Mapping[str, tuple[str, ...]]) -> list[tuple[list[tuple[str, str]], int]]:
    """Return for each union S of type sets: the (job, level) pairs whose types lie in S, and C(S)."""
    pairs = {(j, level): frozenset(instance.eligible(instance.job(j), level)) for j in levels for level in levels[j]}
    return [
        ([pair for pair, types in pairs.items() if types <= union], sum(instance.capacity[r] for r in union))
        for union in sorted(unions(pairs.values()), key=lambda s: (len(s), sorted(s)))
    ]


def unions(sets: Iterable[Set]) -> set[Set]:
    """Return the unions of sets, or of bit masks, that overlap one after the other: of a dozen apart, a dozen."""
    single = set(sets)
    found = set(single)
    fresh = set(single)
    while fresh:
        fresh = {a | b for a in fresh for b in single if a & b} - found
        found |= fresh
    return found


def _hall(m: Any, s: int, t: int) -> Any:
    pairs, devices = m.within[s]
    return sum(m.gang[j] * m.bottleneck[j, t, level] for j, level in pairs if t in m.slots[j]) <= devices


HALL = Formulation(
    "hadar/hall",
    Instance,
    "no devices: Hall's condition for the gangs of a slot, work-by-slot rows",
    ("(1)", "(1a)", "(1b)", "(1c)", "(1d)", "(1e)"),
    Kind.EXACT,
    build,
    read,
)
