"""What is measured of a simulation."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import accumulate
from statistics import median
from typing import Self

from dlsched.algorithms.simulator.policy import arrival_of
from dlsched.algorithms.simulator.simulation import Simulation, exact_utility
from dlsched.arguments import checked
from dlsched.models.hadar.schedule import gang, isolated_throughput


@dataclass(frozen=True, slots=True)
class Spread:
    """Mean, median, least and greatest of some numbers.

    Examples
    --------
    >>> from fractions import Fraction
    >>> from dlsched.algorithms.simulator import Spread
    >>> spread = Spread.of([Fraction(1), Fraction(2), Fraction(6)])
    >>> print(spread.mean, spread.median, spread.greatest)
    3 2 6
    >>> Spread.of([]) is None
    True
    """

    mean: Fraction
    median: Fraction
    least: Fraction
    greatest: Fraction

    @classmethod
    def of(cls, values: list[Fraction]) -> Self | None:
        """Return them of a list; None where it is empty."""
        if not values:
            return None
        return cls(sum(values, Fraction(0)) / len(values), median(values), min(values), max(values))


@dataclass(frozen=True, slots=True)
class Metrics:
    """What the papers' evaluations report.

    Attributes
    ----------
    utility : Fraction
        sum_j U_j(f_j - a_j) over the jobs that are done.
    jobs, admitted, done : int
        In all; that had devices at some time; that are done.
    jct : Spread or None
        Job completion times, seconds from arrival to completion, of those that are done.
    ttd : Fraction
        Total time duration: seconds from the first arrival to the last completion. (The makespan that `compare` tells
        of schedules counts from the beginning of slot 1.)
    gru : Fraction
        GPU resource utilisation: of all device-seconds from the first arrival until nothing runs any more, the share in
        which a job has the device.
    cru : Fraction
        Cluster resource utilisation: the mean over rounds of the share of device-seconds in which a job works, which
        restarts are not; rounds count from that of the first arrival to the last in which something runs, whole.
        Without rounds, the share over the time of `gru`.
    fairness : Spread or None
        Finish-time fairness of the jobs that are done, see `fairness`; up to 1 is fair.
    changed, moved : Fraction
        Share of decisions at which a job got, lost or changed devices; at which one lost or changed those it had.
    decision_seconds : float
        Mean seconds of a decision, on this machine; not compared.

    Examples
    --------
    >>> from dlsched.algorithms.baselines.hadar.srtf import Srtf
    >>> from dlsched.algorithms.simulator import metrics, simulate
    >>> from dlsched.models import hadar
    >>> found = metrics(simulate(hadar.random(0), Srtf(), round_seconds=1))
    >>> found.done, float(found.utility), float(found.ttd)
    (2, 34.0, 2.1666666666666665)
    >>> print(f"devices work {float(found.gru):.0%} of the time")
    devices work 53% of the time
    """

    utility: Fraction
    jobs: int
    admitted: int
    done: int
    jct: Spread | None
    ttd: Fraction
    gru: Fraction
    cru: Fraction
    fairness: Spread | None
    changed: Fraction
    moved: Fraction
    decision_seconds: float = field(compare=False)


@checked
def metrics(simulation: Simulation) -> Metrics:
    """Return what is measured of a simulation.

    Examples
    --------
    >>> from dlsched.algorithms.baselines.hadar.fifo import Fifo
    >>> from dlsched.algorithms.simulator import metrics, simulate
    >>> from dlsched.models import hadar
    >>> for restart in (0, 0.5):
    ...     found = metrics(simulate(hadar.random(0), Fifo(), round_seconds=None, restart_seconds=restart))
    ...     print(restart, found.done, float(found.jct.mean))
    0 2 0.8333333333333334
    0.5 1 1.6666666666666667
    """
    instance, moments = simulation.instance, simulation.moments
    arrivals = {job.name: arrival_of(instance, job) for job in instance.jobs}
    times = [completion - arrivals[name] for name, completion in simulation.completions.items()]
    first = min(arrivals.values(), default=Fraction(0))
    last = max((segment.end for segment in simulation.segments), default=first)
    held = sum((segment.held for segment in simulation.segments), Fraction(0))
    working = sum((segment.busy for segment in simulation.segments), Fraction(0))
    return Metrics(
        utility=exact_utility(simulation),
        jobs=len(instance.jobs),
        admitted=len({segment.job for segment in simulation.segments}),
        done=len(simulation.completions),
        jct=Spread.of(times),
        ttd=max(simulation.completions.values(), default=first) - first,
        gru=_share(held, instance.devices * (last - first)),
        cru=_share(working, instance.devices * _rounded(simulation, first, last)),
        fairness=Spread.of(list(fairness(simulation).values())),
        changed=_share(Fraction(sum(moment.changed for moment in moments)), Fraction(len(moments))),
        moved=_share(Fraction(sum(moment.moved for moment in moments)), Fraction(len(moments))),
        decision_seconds=sum(moment.seconds for moment in moments) / max(1, len(moments)),
    )


def _share(part: Fraction, whole: Fraction) -> Fraction:
    return part / whole if whole else Fraction(0)


def _rounded(simulation: Simulation, first: Fraction, last: Fraction) -> Fraction:
    """Return the seconds of the whole rounds from that of one moment to that of another."""
    length = simulation.round_seconds
    if length is None:
        return last - first
    return (math.ceil(last / length) - first // length) * length


@checked
def fairness(simulation: Simulation) -> dict[str, Fraction]:
    """Return the finish-time fairness rho of each job that is done: its completion time over that of a fair share.

    The fair share is Gavel's isolated one (finish_time_fairness.py at c4fa400): an n-th of the devices of every type,
    n the mean number of jobs, this one included, that were there while it was (Themis, NSDI 2020; Shockwave, NSDI
    2023, calls n the contention).

    Examples
    --------
    >>> from dlsched.algorithms.baselines.hadar.srtf import Srtf
    >>> from dlsched.algorithms.simulator import fairness, simulate
    >>> from dlsched.models import hadar
    >>> simulation = simulate(hadar.random(0), Srtf(), round_seconds=1)
    >>> {job: round(float(rho), 3) for job, rho in fairness(simulation).items()}
    {'job2': 0.633, 'job3': 0.531}
    """
    instance, arrivals = simulation.instance, [arrival_of(simulation.instance, job) for job in simulation.instance.jobs]
    steps = Counter(arrivals)
    steps.subtract(simulation.completions.values())
    edges = sorted(steps)
    area, present, before = dict[Fraction, Fraction](), 0, Fraction(0)
    total = Fraction(0)
    for edge in edges:
        total += present * (edge - before)
        area[edge], present, before = total, present + steps[edge], edge
    found = {}
    for job, arrival in zip(instance.jobs, arrivals, strict=True):
        completion = simulation.completions.get(job.name)
        if completion is not None:
            others = (area[completion] - area[arrival]) / (completion - arrival)
            share = isolated_throughput(instance, job, others)
            found[job.name] = (completion - arrival) * share / job.iterations
    return found


@checked
def busy(simulation: Simulation) -> dict[tuple[str, str], Fraction]:
    """Return the device-seconds in which jobs work, by machine and type.

    Examples
    --------
    >>> from dlsched.algorithms.baselines.hadar.srtf import Srtf
    >>> from dlsched.algorithms.simulator import busy, simulate
    >>> from dlsched.models import hadar
    >>> simulation = simulate(hadar.random(0), Srtf(), round_seconds=1)
    >>> {where: round(float(seconds), 3) for where, seconds in busy(simulation).items()}
    {('machine1', 'type1'): 3.333, ('machine1', 'type2'): 0.125, ('machine2', 'type1'): 1.167}
    """
    found = {(m.name, r): Fraction(0) for m in simulation.instance.machines for r, count in m.devices.items() if count}
    for segment in simulation.segments:
        for machine, devices in segment.allocation.items():
            for r, count in devices.items():
                found[machine, r] += count * segment.working
    return found


@checked
def in_use(simulation: Simulation) -> list[tuple[Fraction, int]]:
    """Return from when on how many devices are in use, moments at which that changes, in seconds.

    Examples
    --------
    >>> from dlsched.algorithms.baselines.hadar.srtf import Srtf
    >>> from dlsched.algorithms.simulator import in_use, simulate
    >>> from dlsched.models import hadar
    >>> simulation = simulate(hadar.random(0), Srtf(), round_seconds=1)
    >>> [(float(since), devices) for since, devices in in_use(simulation)]
    [(0.0, 1), (1.0, 3), (2.0, 4), (2.125, 3), (2.1666666666666665, 0)]
    """
    steps: Counter[Fraction] = Counter()
    for segment in simulation.segments:
        steps[segment.start] += gang(segment.allocation)
        steps[segment.end] -= gang(segment.allocation)
    edges = [edge for edge in sorted(steps) if steps[edge]]
    return list(zip(edges, accumulate(steps[edge] for edge in edges), strict=True))


@checked
def done_by(simulation: Simulation, time: float | Fraction) -> Fraction:
    """Return the share of the jobs that are done by a moment, in seconds.

    Examples
    --------
    >>> from dlsched.algorithms.baselines.hadar.srtf import Srtf
    >>> from dlsched.algorithms.simulator import done_by, simulate
    >>> from dlsched.models import hadar
    >>> simulation = simulate(hadar.random(0), Srtf(), round_seconds=1)
    >>> print(done_by(simulation, 2), done_by(simulation, 3))
    0 2/3
    """
    done = sum(completion <= time for completion in simulation.completions.values())
    return Fraction(done, max(1, len(simulation.instance.jobs)))
