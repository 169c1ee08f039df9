"""Seeded families of DMLRS instances on which the claims are checked: small, so that their optimum can be certified.

None is a counterexample written down: each describes a kind of workload, and violations in it are found by drawing.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import numpy as np

from dlsched.arithmetic import exact_power, power
from dlsched.bounds.claim import Source
from dlsched.bounds.drawn import falling
from dlsched.models.dmlrs import AsyncJob, Instance, Job, Machine, preset, random
from dlsched.models.utility import Table


def tiny(rng: np.random.Generator) -> Instance:
    """Return a small instance without structure: 1-3 jobs, 1-2 machines, 1-2 resources, 1-3 slots."""
    return random(
        rng,
        jobs=int(rng.integers(1, 4)),
        machines=int(rng.integers(1, 3)),
        resources=int(rng.integers(1, 3)),
        slots=int(rng.integers(1, 4)),
        capacity=4,
    )


def rising(rng: np.random.Generator) -> Instance:
    """Return jobs that are each worth more than the ones before, on one machine that holds one or two of them."""
    slots, capacity = int(rng.integers(1, 3)), int(rng.integers(2, 5))
    jobs, worth = [], 1.0
    for i in range(int(rng.integers(2, 5))):
        jobs.append(_job(i, 1, int(rng.integers(1, slots + 1)), 1, falling(rng, max(1, round(worth)), slots)))
        worth *= power(10, rng.uniform(0.3, 3.0))
    return _instance(slots, [capacity], jobs)


def split(rng: np.random.Generator) -> Instance:
    """Return jobs of a worker and a server, each worth more, on a machine for one or two and one for a half."""
    room = int(rng.integers(1, 3))
    jobs, worth = [], 1.0
    for i in range(room + int(rng.integers(1, 3))):
        jobs.append(_job(i, 1, 1, 1, falling(rng, round(worth), 1)))
        worth *= power(10, rng.uniform(0.3, 3.0))
    return _instance(1, [2 * room, 1], jobs)


def roomy(rng: np.random.Generator) -> Instance:
    """Return jobs that need little of each machine: the premise of the corrected competitive theorem."""
    slots, machines = int(rng.integers(1, 4)), int(rng.integers(1, 3))
    jobs = []
    for i in range(int(rng.integers(2, 6))):
        batch = int(rng.integers(1, 3))
        work = int(rng.integers(1, batch * slots + 1))
        arrival = int(rng.integers(1, slots + 1))
        utility = falling(rng, int(rng.integers(1, exact_power(10, int(rng.integers(1, 4))))), slots)
        jobs.append(_job(i, arrival, work, batch, utility))
    return _instance(slots, [int(rng.integers(5, 8)) for _ in range(machines)], jobs)


def fine(rng: np.random.Generator) -> Instance:
    """Return jobs of many workers that each need little of a machine, though a job may take all: each worth more.

    In half of them every job takes all of a machine, in the others at most half of one.
    """
    return _of_many_workers(rng, (5, 10), 2)


def finer(rng: np.random.Generator) -> Instance:
    """Return the same on one machine, of which a worker needs a hundredth at the most."""
    return _of_many_workers(rng, (50, 91), 1)


def _of_many_workers(rng: np.random.Generator, halves: tuple[int, int], machines: int) -> Instance:
    slots, half = int(rng.integers(1, 3)), int(rng.integers(*halves))
    batch = half if rng.integers(2) else int(rng.integers(2, half // 2 + 1))
    jobs, worth = [], 1.0
    for i in range(int(rng.integers(2, 5))):
        jobs.append(_job(i, 1, batch * int(rng.integers(1, slots + 1)), batch, falling(rng, round(worth), slots)))
        worth *= power(10, rng.uniform(0.3, 3.0))
    return _instance(slots, [2 * half] * int(rng.integers(1, machines + 1)), jobs)


def small_jobs(rng: np.random.Generator) -> Instance:
    """Return jobs that take a ninth of a machine at the most and fill it, each worth so many times the one before.

    As many of the greatest worth come after them. A job has up to five workers and needs one.
    """
    room, batch, digits = int(rng.integers(9, 12)), int(rng.integers(1, 6)), rng.uniform(0.1, 2.2)
    worths = [round(power(10, digits * min(i, room))) for i in range(2 * room)]
    jobs = [_job(i, 1, 1, batch, Table(values=(Fraction(worth),))) for i, worth in enumerate(worths)]
    return _instance(1, [2 * room + int(rng.integers(2))], jobs)


def critical(rng: np.random.Generator) -> Instance:
    """Return jobs with deadlines: their utility at the horizon is 0."""
    slots = int(rng.integers(2, 5))
    jobs = []
    for i in range(int(rng.integers(1, 4))):
        deadline = int(rng.integers(1, slots))
        values = tuple(Fraction(int(rng.integers(5, 21))) for _ in range(1)) * deadline
        jobs.append(_job(i, 1, int(rng.integers(1, deadline + 1)), 1, Table(values=values)))
    return _instance(slots, [int(rng.integers(2, 5))], jobs)


def benchmark(rng: np.random.Generator) -> Instance:
    """Return a small instance of the benchmark family: 3 jobs, one machine, 2 slots."""
    return preset("benchmark", rng, jobs=3, machines=1, slots=2, multiple=6)


def section_5(rng: np.random.Generator) -> Instance:
    """Return an instance in the setting of the paper's evaluation, 10 jobs, 10 slots, 4 machines."""
    return preset("paper", rng, jobs=10, machines=4, slots=10)


def fig_8(rng: np.random.Generator) -> Instance:
    """Return an instance of Figs. 7 and 8: 10 to 50 jobs, 100 machines, 20 slots."""
    jobs = 10 * int(rng.integers(1, 6))
    return preset("paper", rng, jobs=jobs, machines=100, slots=20)


def fig_10(rng: np.random.Generator) -> Instance:
    """Return an instance of Fig. 10: 10 jobs, 10 slots, 2 to 12 machines."""
    machines = 2 * int(rng.integers(1, 7))
    return preset("paper", rng, jobs=10, machines=machines, slots=10)


def fig_3_11(rng: np.random.Generator) -> Instance:
    """Return an instance of Fig. 3.11 of the thesis, 15 jobs, 30 machines, 100 slots, here of ten minutes each."""
    return preset("thesis", rng, seconds=600)


def fig_3_11_hour(rng: np.random.Generator) -> Instance:
    """Return the same with slots of an hour."""
    return preset("thesis", rng, seconds=3600)


def most_jobs(rng: np.random.Generator) -> Instance:
    """Return an instance of the last point of Fig. 8: 50 jobs, 20 slots; machines do not matter to what is asked."""
    return preset("paper", rng, jobs=50, machines=1, slots=20)


def longest(rng: np.random.Generator) -> Instance:
    """Return an instance of Fig. 14, 100 jobs, 80 slots; machines do not matter to what is asked."""
    return preset("paper", rng, jobs=100, machines=1, slots=80)


def all_epochs(instance: Instance) -> Instance:
    """Return an instance with K_i read as the samples of all epochs together; asynchronous, the chunks."""
    jobs = tuple(job.model_copy(update={"epochs": Fraction(1)}) for job in instance.jobs)
    return instance.model_copy(update={"jobs": jobs})


def _all_epochs(draw: Callable[[np.random.Generator], Instance]) -> Callable[[np.random.Generator], Instance]:
    return lambda rng: all_epochs(draw(rng))


def samples(rng: np.random.Generator) -> Instance:
    """Return a job of a hundred samples or some more, on a machine that holds it."""
    batch, values = int(rng.integers(2, 9)), (Fraction(int(rng.integers(1, 101))),)
    job = _job(0, 1, int(rng.integers(100, 121)), batch, Table(values=values))
    return _instance(1, [2 * batch], [job.model_copy(update={"slots_per_sample": Fraction(1, 10**6)})])


def asynchronous(rng: np.random.Generator) -> Instance:
    """Return a small asynchronous instance without structure: 1-2 jobs, 1-2 machines, 1-3 slots."""
    return random(
        rng,
        jobs=int(rng.integers(1, 3)),
        machines=int(rng.integers(1, 3)),
        resources=int(rng.integers(1, 3)),
        slots=int(rng.integers(1, 4)),
        capacity=4,
        asynchronous=True,
    )


def async_rising(rng: np.random.Generator) -> Instance:
    """Return asynchronous jobs that are each worth more than the ones before, on one machine that holds one."""
    jobs, worth = [], 1.0
    for i in range(int(rng.integers(2, 5))):
        jobs.append(_async_job(i, falling(rng, max(1, round(worth)), 1)))
        worth *= power(10, rng.uniform(0.3, 3.0))
    return _instance(1, [int(rng.integers(2, 4))], jobs)


_UNIT = {"cpu": Fraction(1)}
"""One CPU: what a worker or a server needs."""


def _job(number: int, arrival: int, work: int, batch: int, utility: Table) -> Job:
    """Return a job whose workers each do one sample a slot, with a server a worker, each needing one CPU."""
    return Job(
        name=f"job{number + 1}",
        arrival=arrival,
        epochs=Fraction(1),
        samples=Fraction(work),
        batch=batch,
        slots_per_sample=Fraction(1),
        gradient_size=Fraction(0),
        workers_per_server=Fraction(1),
        internal_rate=Fraction(2),
        external_rate=Fraction(1),
        worker=_UNIT,
        server=_UNIT,
        utility=utility,
    )


def _async_job(number: int, utility: Table) -> AsyncJob:
    return AsyncJob(
        name=f"job{number + 1}",
        arrival=1,
        epochs=Fraction(1),
        chunks=1,
        minibatches_per_chunk=Fraction(1),
        slots_per_minibatch=Fraction(1),
        gradient_size=Fraction(0),
        internal_rate=Fraction(2),
        external_rate=Fraction(1),
        server_rate=Fraction(4),
        worker=_UNIT,
        server=_UNIT,
        utility=utility,
    )


def _instance(slots: int, capacities: list[int], jobs: list[Job] | list[AsyncJob]) -> Instance:
    return Instance(
        slots=slots,
        resources=("cpu",),
        machines=tuple(
            Machine(name=f"machine{h + 1}", capacity={"cpu": Fraction(c)}) for h, c in enumerate(capacities)
        ),
        jobs=tuple(jobs),
    )


TINY = Source("dmlrs/tiny", tiny)
RISING = Source("dmlrs/rising", rising)
SPLIT = Source("dmlrs/split", split)
ROOMY = Source("dmlrs/roomy", roomy)
FINE = Source("dmlrs/fine", fine)
FINER = Source("dmlrs/finer", finer, cost=10)
SMALL_JOBS = Source("dmlrs/small-jobs", small_jobs)
CRITICAL = Source("dmlrs/critical", critical)
BENCHMARK = Source("dmlrs/benchmark", benchmark)
SECTION_5 = Source("dmlrs/section-5", section_5)
FIG_8 = Source("dmlrs/fig-8", fig_8, cost=100)
FIG_10 = Source("dmlrs/fig-10", fig_10, cost=20)
FIG_3_11 = Source("dmlrs/fig-3-11", fig_3_11, cost=100)
FIG_3_11_HOUR = Source("dmlrs/fig-3-11-hour", fig_3_11_hour, cost=100)
RANGES = (Source("dmlrs/most-jobs", most_jobs, cost=10), Source("dmlrs/longest", longest, cost=10))
ALL_EPOCHS = tuple(Source(f"{one.name}-all-epochs", _all_epochs(one.draw), cost=10) for one in RANGES)
SAMPLES = Source("dmlrs/samples", samples, cost=100)
ASYNC = Source("dmlrs/async", asynchronous)
ASYNC_RISING = Source("dmlrs/async-rising", async_rising)
