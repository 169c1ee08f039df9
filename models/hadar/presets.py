"""Named families of Hadar instances: the benchmark, the paper's motivational example, the paper's cluster."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from types import MappingProxyType

import numpy as np

from dlsched.arguments import AtLeast0, AtLeast1, checked, generator, positive
from dlsched.errors import InputError, shown
from dlsched.models.hadar.instance import Instance, Job, Machine
from dlsched.models.hadar.random import random
from dlsched.models.hadar.workloads import GPU_HOURS, TABLE_II
from dlsched.models.presets import chooser
from dlsched.models.utility import Hyperbolic, Step

_TYPES = ("v100", "p100", "k80")

_RATES = {
    "ResNet-50": ("4.3948", "2.6195", "0.6190"),
    "ResNet-18": ("17.9949", "11.6755", "1.8065"),
    "LSTM": ("28.2400", "21.1575", "6.0542"),
    "CycleGAN": ("4.4261", "2.4027", "0.5048"),
    "Transformer": ("5.4461", "3.0735", "0.9816"),
}
"""Training steps per second of one device of each type, of the models of Table II: measured by the authors of Gavel,
who call the LSTM on Wikitext-2 LM (stanford-futuredata/gavel, commit c4fa40097339, simulation_throughputs.json, scale
factor 1). The batch sizes are ours, in the middle of those that were measured: 64, 128, 80, one only, and 128. The
paper prints none."""

_LEAST_HOURS = Fraction(1, 20)
"""Of a job of size S. Ours, three minutes: the paper prints 0."""


@checked
def benchmark(
    rng: np.random.Generator | int,
    *,
    jobs: AtLeast1 = 8,
    machines: AtLeast1 = 4,
    types: AtLeast1 = 3,
    slots: AtLeast1 = 10,
    load: float = 1.1,
) -> Instance:
    """Return an instance of the benchmark family, made to be hard at small sizes.

    Machine h has 4 devices of type h mod R. Gangs are 1, 2, 2, 4, 4 or 8; the fastest type is about four times the
    slowest, with job-specific factors of .6 to 1.4; work is scaled down where the jobs would need more than
    ``load * .8`` of all device-slots; the utility is the effective throughput, work / (d + 1).

    Parameters
    ----------
    rng : numpy.random.Generator or int
        A generator, or a seed.
    jobs, machines, types, slots : int
        How many there are: J, H, R, T. The measured tables use (8, 4, 3, 10), (12, 5, 3, 15), (20, 10, 3, 20) and
        (40, 15, 3, 40).
    load : float
        Work offered, as a multiple of 80 % of the device-slots.
    """
    positive(load=load)
    rng = generator(rng)
    names = tuple(f"type{r + 1}" for r in range(types))
    cluster = tuple(Machine(name=f"machine{h + 1}", devices={names[h % types]: 4}) for h in range(machines))
    devices = 4 * machines
    gangs = np.minimum(rng.choice([1, 2, 2, 4, 4, 8], size=jobs), devices)
    base = 10 * np.linspace(1.0, 0.25, types)
    rates = np.round(base * rng.uniform(0.6, 1.4, size=(jobs, types)), 1) + 0.1
    arrivals = np.sort(rng.integers(0, max(1, slots // 3), size=jobs))
    arrivals[:1] = 0
    needed = rng.uniform(1, max(2, slots / 2), size=jobs)
    needed *= min(1.0, load * 0.8 * devices * slots / float((needed * gangs).sum()))
    work = np.maximum(1, np.round(needed * gangs * rates.mean(axis=1)))
    return Instance(
        slots=slots,
        slot_seconds=Fraction(1),
        device_types=names,
        machines=cluster,
        jobs=tuple(
            Job(
                name=f"job{j + 1}",
                arrival=int(arrivals[j]) + 1,
                gang=int(gangs[j]),
                iterations=Fraction(int(work[j])),
                rate={r: Fraction(round(10 * float(x)), 10) for r, x in zip(names, rates[j], strict=True)},
                utility=Hyperbolic(scale=Fraction(int(work[j]))),
            )
            for j in range(jobs)
        ),
    )


@checked
def motivation(rng: np.random.Generator | int, *, slots: AtLeast1 = 6, per_device: bool = False) -> Instance:
    """Return the paper's motivational example (Section II-A): 2 V100, 3 P100 and 1 K80, three jobs.

    Parameters
    ----------
    rng : numpy.random.Generator or int
        Not used: the example is fixed.
    slots : int
        Rounds; each job is worth 1 if it finishes within them.
    per_device : bool
        Read the printed speeds per device, as (1a) does, instead of per job, as the paper's figure does.
    """
    del rng
    speeds = ((40, 20, 30), (5, 15, 5), (10, 2, 20))
    gangs, epochs = (3, 2, 2), (80, 30, 50)
    return Instance(
        slots=slots,
        slot_seconds=Fraction(1),
        device_types=_TYPES,
        machines=tuple(Machine(name=r, devices={r: n}) for r, n in zip(_TYPES, (2, 3, 1), strict=True)),
        jobs=tuple(
            Job(
                name=f"J{j + 1}",
                arrival=1,
                gang=gangs[j],
                iterations=Fraction(epochs[j]),
                rate={r: Fraction(x, 1 if per_device else gangs[j]) for r, x in zip(_TYPES, speeds[j], strict=True)},
                utility=Step(value=Fraction(1), deadline=Fraction(slots)),
            )
            for j in range(3)
        ),
        origin={"reading": "speeds per device" if per_device else "speeds per job and round"},
    )


@checked
def paper(
    rng: np.random.Generator | int,
    *,
    jobs: AtLeast0 = 480,
    slots: AtLeast1 = 600,
    machines: AtLeast1 = 15,
    hours_on: str = "v100",
) -> Instance:
    """Return an instance in the setting of the paper's trace-driven evaluation (Section IV).

    Nodes with 4 devices each, of V100, P100 and K80 in turn, so that 15 have 20 of each; rounds of 360 s; all jobs
    there at the beginning; a job's total device time is in one of four groups, 0-1, 1-10, 10-50 and 60-100 GPU-hours,
    drawn uniformly, and its model is one of the group's in Table II, with the rates that Gavel's authors measured.
    What the paper does not print is assumed and said so in `origin`.

    Parameters
    ----------
    rng : numpy.random.Generator or int
        A generator, or a seed.
    jobs, slots, machines : int
    hours_on : {"v100", "p100", "k80"}
        The type on which the GPU-hours are counted.
    """
    if hours_on not in _TYPES:
        raise InputError(f"hours_on: {shown(hours_on)} is none of {', '.join(_TYPES)}")
    rng = generator(rng)
    cluster = tuple(Machine(name=f"node{h + 1}", devices={_TYPES[h % 3]: 4}) for h in range(machines))
    return Instance(
        slots=slots,
        slot_seconds=Fraction(360),
        device_types=_TYPES,
        machines=cluster,
        jobs=tuple(_paper_job(rng, j, hours_on) for j in range(jobs)),
        origin={
            "nodes": "assumed: four devices of one type on each; the paper has 15 with 20 GPUs of each type",
            "GPU-hours": f"assumed: on a {hours_on.upper()}, uniform within a group, and at least three minutes",
            "gang": "assumed: 1, 2, 4 or 8 with probabilities .7, .1, .15, .05",
            "rate": "measured on one device by the authors of Gavel (simulation_throughputs.json); assumed: the batch "
            "size, and that each device of a gang is as fast as one alone",
            "utility": "effective throughput: iterations over the completion time",
        },
    )


def _paper_job(rng: np.random.Generator, number: int, hours_on: str) -> Job:
    size = tuple(GPU_HOURS)[int(rng.integers(len(GPU_HOURS)))]
    models = [workload.model for workload in TABLE_II if workload.size == size]
    rate = dict(zip(_TYPES, map(Fraction, _RATES[models[int(rng.integers(len(models)))]]), strict=True))
    least, most = GPU_HOURS[size]
    seconds = 3600 * rng.uniform(float(max(least, _LEAST_HOURS)), float(most))
    iterations = Fraction(max(1, round(seconds * float(rate[hours_on]))))
    return Job(
        name=f"job{number + 1}",
        arrival=1,
        gang=int(rng.choice([1, 2, 4, 8], p=[0.7, 0.1, 0.15, 0.05])),
        iterations=iterations,
        rate=rate,
        utility=Hyperbolic(scale=iterations),
    )


PRESETS: MappingProxyType[str, Callable[..., Instance]] = MappingProxyType(
    {"random": random, "benchmark": benchmark, "motivation": motivation, "paper": paper}
)
"""Family name to its function of a generator and sizes."""

preset = chooser(PRESETS)
