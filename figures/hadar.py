"""The figures of the Hadar paper that are simulated (Sections II-A and IV), and what its tables of workloads look like.

Jobs are drawn for Figs. 3 and 4 as Section IV-A says, and where it does not say, so: the jobs of Microsoft's log are
those that Gavel published, which begin at 0 in every virtual cluster; hours 3 to 10 are counted in days from there. Of
these logs only the gangs and the moments are taken: the models in them are not those of Table II. The size of a job is
drawn, its GPU-hours uniformly within the size, and its model among those of the size. They are counted on a K80:
counted on a V100, 480 jobs take 380 hours whoever schedules them, where the paper has 40 to 68 (claim
``hadar/evaluation-ttd-trace``). Rates are Gavel's measurements at the job's scale factor, its workers together.
CycleGAN was measured on one device only: there W are W times as fast.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from dlsched.algorithms import Variant, optimum
from dlsched.algorithms.baselines.hadar import gavel
from dlsched.algorithms.baselines.hadar.fifo import Fifo
from dlsched.algorithms.baselines.hadar.gavel import Gavel, Mechanism
from dlsched.algorithms.baselines.hadar.tiresias import Tiresias
from dlsched.algorithms.hadar import Hadar, constants
from dlsched.algorithms.simulator import Placement, Policy, in_use, metrics, simulate
from dlsched.bounds.comparison import Relation
from dlsched.bounds.hadar.motivation import Y_GAVEL
from dlsched.bounds.hadar.physical import Scheduler
from dlsched.figures.figure import Figure, Statement
from dlsched.models import picture
from dlsched.models.hadar import Instance, Job, Schedule, plot, preset
from dlsched.models.hadar.schedule import gang
from dlsched.models.hadar.workloads import GPU_HOURS, TABLE_II, TABLE_III
from dlsched.models.utility import Hyperbolic
from dlsched.traces.gavel import Throughputs, read_throughputs, read_trace

Values = dict[str, float]

_ROUND = 360
"""Seconds: 6 minutes (Section IV)."""

_RESTART = 10
"""Seconds that a job does nothing on a new allocation (Section IV)."""

_JOBS = 480
"""As many as the paper has (Section IV-A)."""

_TYPES = ("v100", "p100", "k80")


@cache
def _example() -> tuple[Instance, dict[str, Schedule]]:
    """Return the motivational example, and the schedules of its figure."""
    instance = preset("motivation", 0, slots=6)
    return instance, {"Gavel": gavel.run(instance, Y_GAVEL).schedule, "fewest rounds": optimum(instance).schedule}


def _in_use_by_round(at: float, seed: int) -> Values:
    del seed
    _, schedules = _example()
    return {
        name: sum(gang(allocation) for _, slot, allocation in schedule.items() if slot == at)
        for name, schedule in schedules.items()
    }


def _replay() -> Any:
    instance, schedules = _example()
    draws = {name: partial(plot, instance, schedule) for name, schedule in schedules.items()}
    return picture.panels(draws, 7.0, 2.5).axes[0]


MOTIVATION = Figure(
    name="hadar/1",
    paper="Hadar, Fig. 1",
    title="the motivational example, round by round",
    says="Gavel takes 6 rounds with 5, 4, 4, 5, 5 and 5 of 6 devices, Hadar 5 rounds with all 6 in the first",
    x="round",
    y="devices in use",
    points=(1, 2, 3, 4, 5, 6),
    quick=(1, 2, 3, 4, 5, 6),
    series=("Gavel", "fewest rounds"),
    draw=_in_use_by_round,
    seeds=1,
    quick_seeds=1,
    plot=_replay,
    note="exact: nothing is drawn. Speeds are per job, as in the figure, and Fig. 1(b) is not to be had: no schedule "
    "of whole gangs takes fewer than 6 rounds, nor more than 5 devices in one (claims hadar/motivational-hadar and "
    "hadar/motivational-utilisation). In its place is one that takes the fewest. With speeds per device, as (1a) has "
    "them, 3 rounds do",
)

_THROUGHPUTS = "gavel/simulation_throughputs.json"
_LOGS = tuple(
    f"gavel/traces/msr_seed0/{name}.trace.txt" for name in ("0e4a51", "23dbec", "2869ce", "51b7ef", "795a4c", "925e2b")
)
_DATA = (_THROUGHPUTS, *_LOGS)

_NAMES = {
    "ResNet-50": "ResNet-50 (batch size 64)",
    "ResNet-18": "ResNet-18 (batch size 128)",
    "LSTM": "LM (batch size 80)",
    "CycleGAN": "CycleGAN",
    "Transformer": "Transformer (batch size 128)",
    "Recoder": "Recommendation (batch size 2048)",
}
"""What Gavel calls the models. The batch sizes, which the paper does not print, are in the middle of those measured."""

_HOURS = range(3, 10)
"""Of a day, the busiest (Section IV-A)."""

_SLOTS = 2400
"""240 hours: all jobs are done before, under every policy."""


def _read(folder: Path) -> tuple[Throughputs, list[tuple[int, Fraction]]]:
    """Return Gavel's throughputs, and the gangs of the logs' jobs of the busiest hours with their seconds from 3 on."""
    measured, found = read_throughputs(folder / _THROUGHPUTS), []
    for name in _LOGS:
        for job in read_trace(folder / name).jobs:
            of_day = job.arrival % 86400
            if of_day // 3600 in _HOURS and job.scale_factor <= _MOST:
                found.append((job.scale_factor, of_day - 3600 * _HOURS.start))
    return measured, found


_MOST = 8
"""Workers of the largest jobs that were measured: 13 of 577 jobs ask for 32 and are left out."""


def rates(measured: Throughputs, model: str, workers: int) -> dict[str, Fraction]:
    """Return steps per second of one device of a gang, by type, to four decimals, more than were measured.

    Parameters
    ----------
    measured : Throughputs
    model : str
        Of Table II or III.
    workers : int
        The gang. Where no gang of its model was measured, W devices are W times as fast as one.
    """
    found = {}
    for r in _TYPES:
        known = measured.steps_per_second[r]
        scale = workers if (_NAMES[model], workers) in known else 1
        found[r] = Fraction(round(known[_NAMES[model], scale] / scale * 10**4), 10**4)
    return found


@dataclass(frozen=True, slots=True)
class Reading:
    """How what the paper leaves open is read.

    Attributes
    ----------
    at_once : bool
        All jobs are there at the beginning (Section IV-A), and not when they were submitted.
    equal : bool
        Every job is worth 1 / (1 + duration), and not its iterations over that, the effective throughput.
    """

    at_once: bool = True
    equal: bool = False


AS_PRINTED = Reading()


def workload(folder: Path, seed: int, reading: Reading = AS_PRINTED, jobs: int = _JOBS) -> Instance:
    """Return a draw of the jobs of Section IV-A on the cluster of Section IV.

    Parameters
    ----------
    folder : Path
        Of public data.
    seed : int
    reading : Reading
        Draws do not depend on it: those of a seed are of the same jobs.
    jobs : int
    """
    measured, submitted = _read(folder)
    cluster = preset("paper", 0, jobs=0)
    rng = np.random.default_rng(seed)
    chosen = sorted(rng.choice(len(submitted), size=jobs, replace=False).tolist(), key=lambda i: submitted[i][1])
    return Instance(
        slots=_SLOTS,
        slot_seconds=cluster.slot_seconds,
        device_types=cluster.device_types,
        machines=cluster.machines,
        jobs=tuple(_job(rng, measured, number, submitted[i], reading) for number, i in enumerate(chosen, start=1)),
    )


def _job(
    rng: np.random.Generator, measured: Throughputs, number: int, submitted: tuple[int, Fraction], reading: Reading
) -> Job:
    workers, seconds = submitted
    size = tuple(GPU_HOURS)[int(rng.integers(len(GPU_HOURS)))]
    models = [row.model for row in TABLE_II if row.size == size]
    model = models[int(rng.integers(len(models)))]
    least, most = GPU_HOURS[size]
    hours = rng.uniform(float(least), float(most))
    rate = rates(measured, model, workers)
    iterations = Fraction(max(1, round(3600 * hours * float(rate["k80"]))))
    return Job(
        name=f"{model} {number}",
        arrival=1 if reading.at_once else 1 + int(seconds // _ROUND),
        gang=workers,
        iterations=iterations,
        rate=rate,
        utility=Hyperbolic(scale=Fraction(1) if reading.equal else iterations),
    )


_STATES = 64
"""Of Algorithm 2's recursion in a round. With hundreds of jobs it has more than any limit, and selects by payoff as it
then does; the default of 2048 takes twice as long to find that out."""

POLICIES: dict[str, Callable[[Instance], Policy]] = {
    "Hadar": lambda instance: _hadar(instance, incremental=False),
    "Gavel": lambda instance: Gavel(),
    "Tiresias": lambda instance: Tiresias(placement=Placement.ONE_TYPE),
    "YARN-CS": lambda instance: Fifo(),
    Scheduler.CODE.value: lambda instance: Gavel(mechanism=Mechanism.CODE),
    "Hadar, incremental": lambda instance: _hadar(instance, incremental=True),
}
"""What is compared, by the names of the series: the paper's four, Gavel's rounds as the code of its authors fills them,
and what Section IV-B says of updating."""

_SERIES = tuple(POLICIES)[:4]


def _hadar(instance: Instance, incremental: bool) -> Hadar:
    """Return Hadar with the printed prices: the corrected ones are made for a worst case, and keep gangs off nodes."""
    return Hadar(prices=constants(instance, Variant.PRINTED), max_states=_STATES, incremental=incremental)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a simulation, as far as the figures show it.

    Attributes
    ----------
    hours : tuple of float
        At which the jobs were done, in order; the end of the horizon for those that were not.
    used : tuple of (Fraction, float)
        Shares of the devices that were in use, each with how long, as a part of the time until the last job was done.
    gru : float
        The mean share.
    changed : float
        Share of the rounds in which a job got, lost or changed devices.
    """

    hours: tuple[float, ...]
    used: tuple[tuple[Fraction, float], ...]
    gru: float
    changed: float

    @property
    def median(self) -> float:
        """Hours until half of the jobs are done."""
        return self.hours[(len(self.hours) - 1) // 2]

    def done_by(self, hours: float) -> float:
        """Return the share of the jobs that are done."""
        return sum(done <= hours for done in self.hours) / len(self.hours)

    def at_least(self, percent: float) -> float:
        """Return the part of the time in which at least so many of 100 devices are in use."""
        return math.fsum(long for share, long in self.used if 100 * share >= percent)


def outcome(instance: Instance, policy: Policy) -> Outcome:
    """Simulate in rounds of 6 minutes, with restarts of 10 seconds."""
    simulation = simulate(instance, policy, round_seconds=_ROUND, restart_seconds=_RESTART)
    found = metrics(simulation)
    undone = [simulation.end] * (len(instance.jobs) - len(simulation.completions))
    used = in_use(simulation)
    last = used[-1][0] - used[0][0]
    return Outcome(
        tuple(float(end / 3600) for end in (*sorted(simulation.completions.values()), *undone)),
        tuple(
            (Fraction(devices, instance.devices), float((end - start) / last))
            for (start, devices), (end, _) in pairwise(used)
        ),
        float(found.gru),
        float(found.changed),
    )


def _outcome(name: str, seed: int, folder: Path, reading: Reading = AS_PRINTED) -> Outcome:
    """Return what comes of a policy on a draw; of how much jobs are worth only Hadar knows."""
    return _simulated(name, seed, folder, reading if name.startswith("Hadar") else Reading(at_once=reading.at_once))


@cache
def _simulated(name: str, seed: int, folder: Path, reading: Reading) -> Outcome:
    """Return the same, once for all figures and points."""
    instance = workload(folder, seed, reading)
    return outcome(instance, POLICIES[name](instance))


def _outcomes(seed: int, folder: Path, reading: Reading = AS_PRINTED) -> dict[str, Outcome]:
    """Return the same for the paper's four."""
    return {name: _outcome(name, seed, folder, reading) for name in _SERIES}


_ASSUMED = (
    "GPU-hours are counted on a K80, on which they make for the least work (claim hadar/evaluation-ttd-trace); gangs "
    "are of Microsoft's jobs as Gavel published them, hours 3 to 10 of a day from the first job of a virtual cluster, "
    "but for 13 of 577 jobs, whose 32 workers are more than were measured; CycleGAN was measured on one device only: "
    "W are W times as fast; batch sizes are in the middle of those measured; Tiresias has one type a gang, as the "
    "paper says of it, and a threshold of an hour; Gavel's policy is its max-min fairness, and its rounds are filled "
    "as Section II-A has it; YARN-CS takes the first free devices; Hadar has the printed prices (5)-(7), and takes "
    "the jobs of the greatest payoff together, since what is printed takes none (claim hadar/theorem-2-rounds)"
)
_THROUGHPUT = (
    "a job is worth its effective throughput, the paper's example of a utility, so that Hadar begins with long jobs"
)

UTILISATION = Figure(
    name="hadar/3",
    paper="Hadar, Fig. 3",
    title="share of the time in which so many devices are in use",
    says="YARN-CS has the highest GPU utilisation, Hadar a similar one, above Gavel and Tiresias",
    x="GPU utilisation, at least, % (480 jobs, 60 GPUs)",
    y="fraction of time",
    points=(20, 40, 60, 80, 100),
    quick=(20, 40, 60, 80, 100),
    series=_SERIES,
    draw=lambda at, seed, folder: {name: found.at_least(at) for name, found in _outcomes(seed, folder).items()},
    seeds=8,
    quick_seeds=1,
    data=_DATA,
    note=f"the time is that until the last job is done, and the curve its share with at least so many devices in use; "
    f"hadar/IV-B compares the means; {_THROUGHPUT}; {_ASSUMED}",
)


def _done(number: str, says: str, reading: Reading, statements: tuple[Statement, ...], note: str) -> Figure:
    points = (1, 5, 10, 20, 30, 40, 50, 60, 68, 80, 100, 120, 160)
    return Figure(
        name=f"hadar/{number}",
        paper="Hadar, Fig. 4",
        title="share of the jobs that are done" + ("" if reading.at_once else ", which come over seven hours"),
        says=says,
        x="hours (480 jobs, 60 GPUs)",
        y="fraction of jobs done",
        points=points,
        quick=points,
        series=_SERIES,
        draw=lambda at, seed, folder: {
            name: found.done_by(at) for name, found in _outcomes(seed, folder, reading).items()
        },
        seeds=8,
        quick_seeds=1,
        statements=statements,
        data=_DATA,
        note=f"{note}; {_THROUGHPUT}; {_ASSUMED}",
    )


_ALL_DONE = (
    Statement(
        "Hadar has done all jobs after 40 hours",
        "Hadar",
        Relation.AT_LEAST,
        1.0,
        "hadar/evaluation-ttd-trace",
        at=40,
        guessed=True,
    ),
    Statement("YARN-CS has done all jobs after 68 hours", "YARN-CS", Relation.AT_LEAST, 1.0, at=68, guessed=True),
)

TIME = _done(
    "4",
    "Hadar has done all jobs in 40 hours, and YARN-CS in 68",
    AS_PRINTED,
    _ALL_DONE,
    "all jobs come at 0; 68 hours are 1.70 times 40, where the text has 1.67 (claim hadar/text-ratios)",
)
TIME_BY_ARRIVAL = _done(
    "4-arrivals",
    "all jobs are there at the beginning; they were submitted in hours 3 to 10",
    Reading(at_once=False),
    (),
    "the other reading: jobs come when they were submitted",
)

_OTHERS = ("YARN-CS", "Tiresias", "Gavel", Scheduler.CODE.value)


def _over_hadar(at: float, seed: int, folder: Path, reading: Reading) -> Values:
    ours = _outcome("Hadar", seed, folder, reading)
    other = _outcome(_OTHERS[int(at)], seed, folder, reading)
    return {
        "TTD": other.hours[-1] / ours.hours[-1],
        "median": other.median / ours.median,
        "GRU": other.gru / ours.gru,
    }


_RATIOS = (
    Statement(
        "YARN-CS takes at least 1.67 times as long for all jobs", "TTD", Relation.AT_LEAST, 1.67, at=0, guessed=True
    ),
    Statement(
        "Tiresias takes at least 1.35 times as long for all jobs", "TTD", Relation.AT_LEAST, 1.35, at=1, guessed=True
    ),
    Statement(
        "Gavel takes at least 1.21 times as long for all jobs", "TTD", Relation.AT_LEAST, 1.21, at=2, guessed=True
    ),
    Statement(
        "Tiresias takes at least 1.40 times as long for half of them",
        "median",
        Relation.AT_LEAST,
        1.4,
        at=1,
        guessed=True,
    ),
    Statement(
        "Gavel takes at least 1.20 times as long for half of them", "median", Relation.AT_LEAST, 1.2, at=2, guessed=True
    ),
    Statement("YARN-CS uses no fewer GPUs than Hadar", "GRU", Relation.AT_LEAST, 1.0, at=0, guessed=True),
    Statement("Tiresias uses fewer GPUs than Hadar", "GRU", Relation.AT_MOST, 1.0, at=1, guessed=True),
    Statement("Gavel uses fewer GPUs than Hadar", "GRU", Relation.AT_MOST, 1.0, at=2, guessed=True),
)


def _against_hadar(name: str, reading: Reading, note: str) -> Figure:
    return Figure(
        name=name,
        paper="Hadar, Section IV-B",
        title="total time, time of half of the jobs, and mean GPU utilisation, over Hadar's",
        says="the total time is 1.67, 1.35 and 1.21 times Hadar's under YARN-CS, Tiresias and Gavel, the median 1.40 "
        "and 1.20 times under the latter two; utilisation is highest under YARN-CS, and lower under them than under "
        "Hadar",
        x="480 jobs, 60 GPUs",
        y="over Hadar's",
        points=(0, 1, 2, 3),
        quick=(0, 1, 2, 3),
        labels=_OTHERS,
        series=("TTD", "median", "GRU"),
        draw=lambda at, seed, folder: _over_hadar(at, seed, folder, reading),
        seeds=8,
        quick_seeds=1,
        statements=_RATIOS,
        data=_DATA,
        note=f'that Hadar\'s utilisation is "similar" to that of YARN-CS has no number; {note}; {_ASSUMED}',
    )


TEXT = _against_hadar("hadar/IV-B", AS_PRINTED, _THROUGHPUT)
TEXT_EQUAL = _against_hadar(
    "hadar/IV-B-equal", Reading(equal=True), "the other reading of utilities: every job is worth 1 over its duration"
)

CHANGES = Figure(
    name="hadar/IV-B-changes",
    paper="Hadar, Section IV-B",
    title="rounds in which allocations change",
    says="30 % of the rounds require changes to allocations on average",
    x="jobs (60 GPUs)",
    y="share of the rounds",
    points=(_JOBS,),
    quick=(_JOBS,),
    series=("Hadar", "Hadar, incremental"),
    draw=lambda at, seed, folder: {
        name: _outcome(name, seed, folder).changed for name in ("Hadar", "Hadar, incremental")
    },
    seeds=8,
    quick_seeds=1,
    statements=(
        Statement("at most 30 % change something", "Hadar", Relation.AT_MOST, 0.3, guessed=True),
        Statement(
            "at most 30 % do where running jobs keep what they have",
            "Hadar, incremental",
            Relation.AT_MOST,
            0.3,
            guessed=True,
        ),
    ),
    data=_DATA,
    note=f"a round changes if a job gets, loses or changes devices; {_THROUGHPUT}; {_ASSUMED}",
)


def _seconds(at: float, seed: int) -> Values:
    """Return what the first decision takes; rounds are so long that there is no other."""
    _decisions(_FIRST, seed)
    return _decisions(int(at), seed)


_FIRST = 8
"""Jobs of a decision that is not measured: it loads the solver and other modules. Arbitrary, few."""


def _decisions(jobs: int, seed: int) -> Values:
    instance = preset("paper", seed, jobs=jobs, machines=jobs // 4, slots=_SLOTS, hours_on="k80")
    policies: dict[str, Policy] = {"Hadar": Hadar(prices=constants(instance, Variant.PRINTED)), "Gavel": Gavel()}
    return {
        name: simulate(instance, policy, round_seconds=_ROUND, horizon=_ROUND).moments[0].seconds
        for name, policy in policies.items()
    }


SCALABILITY = Figure(
    name="hadar/5",
    paper="Hadar, Fig. 5",
    title="seconds of one round's decision",
    says="Hadar and Gavel scale alike, and Hadar takes less than 7 minutes for some 2000 jobs",
    x="jobs, all there, on as many GPUs",
    y="seconds",
    points=(32, 64, 128, 256, 512, 1024, 2048),
    quick=(32, 64, 128, 256, 512, 1024, 2048),
    series=("Hadar", "Gavel"),
    draw=_seconds,
    seeds=9,
    quick_seeds=2,
    statements=(
        Statement(
            "Hadar takes less than 7 minutes for 2048 jobs", "Hadar", Relation.AT_MOST, 420.0, at=2048, guessed=True
        ),
    ),
    measured_seconds=True,
    note="that both scale alike is not judged: Gavel's seconds grow faster here. How the cluster grows is not printed: "
    "a GPU for each job, in nodes of 4, a third of them of each type; "
    "jobs as the preset has them; beyond 2048 states a round's jobs are chosen by payoff one after the other, at every "
    "point here: Algorithm 2's own recursion has five to seven times as many states with eight jobs more, 11 726 at 32 "
    "jobs and 2.5 million at 56 (claim hadar/theorem-1)",
)


def _drawn(at: float, seed: int, folder: Path) -> Values:
    row, instance = TABLE_II[int(at)], workload(folder, seed)
    hours = {job.name: float(job.iterations / job.rate["k80"] / 3600) for job in instance.jobs}
    mine = [job for job in instance.jobs if job.name.startswith(f"{row.model} ")]
    return {
        "jobs": len(mine) / len(instance.jobs),
        "GPU-hours": sum(hours[job.name] for job in mine) / sum(hours.values()),
        "GPUs asked for": sum(job.gang for job in mine) / sum(job.gang for job in instance.jobs),
    }


WORKLOADS = Figure(
    name="hadar/II",
    paper="Hadar, Table II",
    title="what the models of Table II have of the jobs that are drawn",
    says="five models of sizes XL, S, L, M and L: 60 to 100, 0 to 1, 10 to 50, 1 to 10 and 10 to 50 GPU-hours",
    x="480 jobs",
    y="share",
    points=tuple(range(len(TABLE_II))),
    quick=tuple(range(len(TABLE_II))),
    labels=tuple(f"{row.model} ({row.size})" for row in TABLE_II),
    series=("jobs", "GPU-hours", "GPUs asked for"),
    draw=_drawn,
    quick_seeds=3,
    data=_DATA,
    note="a table of settings; sizes are drawn uniformly, as the paper says, so that ResNet-50 has most of the work; "
    f"{_ASSUMED}",
)

_MEASURED = {key: row for key, row in TABLE_III.items() if row.model in _NAMES}


def _rates(at: float, seed: int, folder: Path) -> Values:
    del seed
    found = rates(read_throughputs(folder / _THROUGHPUTS), list(_MEASURED.values())[int(at)].model, 1)
    return {r.upper(): float(rate) for r, rate in found.items()}


CLUSTERS = Figure(
    name="hadar/III",
    paper="Hadar, Table III",
    title="training steps per second of the models of Table III, as Gavel measured them on one device",
    says="five models of sizes S, L, L, XL and M, trained on physical clusters",
    x="model",
    y="steps per second",
    points=tuple(range(len(_MEASURED))),
    quick=tuple(range(len(_MEASURED))),
    labels=tuple(f"{key}: {row.model}" for key, row in _MEASURED.items()),
    series=tuple(r.upper() for r in _TYPES),
    draw=_rates,
    seeds=1,
    quick_seeds=1,
    data=(_THROUGHPUTS,),
    note="a table of settings. MM, MiMa's encoder-decoder transformer, is not among Gavel's models, nor are a T4, a "
    "Titan RTX, T400, 3090 or A2000 among its devices: of Section VI's clusters only the V100 and the K80 of AWS are "
    "here",
)

FIGURES = tuple(value for value in globals().values() if isinstance(value, Figure))
