"""Independent jobs on identical machines: list scheduling and LPT, and how far from the optimum they can end.

Sources: R. L. Graham, Bounds for certain multiprocessing anomalies, Bell System Technical Journal 45 (1966), list
scheduling, 2 - 1/m; Bounds on multiprocessing timing anomalies, SIAM Journal on Applied Mathematics 17 (1969), LPT,
4/3 - 1/(3m). Symbols: m machines, p_j the duration of job j, C_max the makespan.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from pathlib import Path
from typing import Any, Literal

import numpy as np

from dlsched.algorithms import Algorithm, Run
from dlsched.bounds import Expectation, Interval, OptimumFacts, Premise, Relation, Source, Subject
from dlsched.lazy import pyo
from dlsched.models import Document, Formulation, InputError, Kind, Problem, Record, Violation
from dlsched.models.fields import Name, Ordinal, distinct
from dlsched.traces import Reader

DLSCHED_INTERFACE = 1


class Job(Record):
    """A job and p_j, in any unit of time."""

    name: Name
    duration: Ordinal


class Instance(Document):
    """Jobs, whose order is the list, and the number m of machines."""

    machines: Ordinal
    jobs: tuple[Job, ...]
    origin: dict[str, str] | None = None

    def model_post_init(self, _: Any) -> None:
        """Refuse two jobs of one name."""
        distinct("jobs", [job.name for job in self.jobs], ".name")


class Schedule(Document):
    """The machine of each job, from 1 on."""

    problem: Literal["graham"] = "graham"
    jobs: dict[str, int]


def check(instance: Instance, schedule: Schedule) -> list[Violation]:
    """Return what a schedule breaks: every job is on one of the machines."""
    names = {job.name for job in instance.jobs}
    found = [Violation("assignment", name, "is no job") for name in schedule.jobs if name not in names]
    for name in sorted(names):
        machine = schedule.jobs.get(name)
        if machine is None or not 1 <= machine <= instance.machines:
            found.append(Violation("assignment", name, f"machine {machine} is none of 1 to {instance.machines}"))
    return found


def makespan(instance: Instance, schedule: Schedule) -> Fraction:
    """Return C_max, the greatest load of a machine."""
    loads = [0] * (instance.machines + 1)
    for job in instance.jobs:
        loads[schedule.jobs[job.name]] += job.duration
    return Fraction(max(loads))


def random(rng: np.random.Generator, *, jobs: int = 5, machines: int = 2, longest: int = 4) -> Instance:
    """Return jobs of durations 1 to `longest`."""
    return of(machines, rng.integers(1, longest + 1, size=jobs).tolist())


def of(machines: int, durations: Iterable[int]) -> Instance:
    """Return the instance of a list of durations."""
    jobs = tuple(Job(name=f"job{j + 1}", duration=p) for j, p in enumerate(durations))
    return Instance(machines=machines, jobs=jobs)


def build(instance: Instance) -> Any:
    """Return the assignment formulation: x_jk is 1 where job j is on machine k."""
    duration = {job.name: job.duration for job in instance.jobs}
    m = pyo.ConcreteModel(name="identical machines")
    m.J = pyo.Set(initialize=list(duration), doc="jobs")
    m.K = pyo.RangeSet(instance.machines, doc="machines")
    m.x = pyo.Var(m.J, m.K, domain=pyo.Binary, doc="1 where the job is on the machine")
    m.makespan = pyo.Var(bounds=(0, sum(duration.values())), doc="C_max")
    m.length = pyo.Objective(expr=m.makespan, sense=pyo.minimize, doc="(1) makespan")
    m.once = pyo.Constraint(m.J, rule=lambda m, j: sum(m.x[j, k] for k in m.K) == 1, doc="(2) every job once")
    m.fits = pyo.Constraint(
        m.K, rule=lambda m, k: sum(duration[j] * m.x[j, k] for j in m.J) <= m.makespan, doc="(3) load of a machine"
    )
    return m


def read(model: Any, instance: Instance) -> Schedule:
    """Return the machine of each job."""
    return Schedule(jobs={j: k for j in model.J for k in model.K if model.x[j, k].value > 0.5})


ASSIGNMENT = Formulation(
    "graham/assignment", Instance, "a binary for each job and machine", ("(1)", "(2)", "(3)"), Kind.EXACT, build, read
)
PROBLEMS = Problem(
    "graham",
    "independent jobs on identical machines, the shortest makespan",
    Instance,
    Schedule,
    check,
    makespan,
    {"random": random},
    (ASSIGNMENT,),
    sense="minimize",
)


def list_scheduling(instance: Instance, *, seed: int = 0) -> Run[Schedule]:
    """Put each job, in the order of the list, on the machine that is free first."""
    return _placed(instance, instance.jobs)


def lpt(instance: Instance, *, seed: int = 0) -> Run[Schedule]:
    """Put each job, the longest first, on the machine that is free first."""
    return _placed(instance, sorted(instance.jobs, key=lambda job: -job.duration))


def _placed(instance: Instance, jobs: Iterable[Job]) -> Run[Schedule]:
    loads = [0] * instance.machines
    placed: dict[str, int] = {}
    for job in jobs:
        k = loads.index(min(loads))
        loads[k] += job.duration
        placed[job.name] = k + 1
    schedule = Schedule(jobs=placed)
    return Run(schedule, float(makespan(instance, schedule)), {}, ())


ALGORITHMS = (
    Algorithm("list-scheduling", "graham", "Graham's list scheduling: the first free machine", list_scheduling),
    Algorithm("lpt", "graham", "LPT: list scheduling, the longest job first", lpt),
)


class Facts(OptimumFacts[Instance]):
    """What the claims ask about an instance; `opt` is the certified optimum, computed once."""

    def times_opt(self, factor: Fraction) -> Interval:
        """A factor times OPT."""
        return Interval(float(factor) * self.opt.low, float(factor) * self.opt.high)


def _list_bound(facts: Facts) -> Interval:
    return facts.times_opt(2 - Fraction(1, facts.instance.machines))


def _lpt_bound(facts: Facts) -> Interval:
    return facts.times_opt(Fraction(4, 3) - Fraction(1, 3 * facts.instance.machines))


def _draw(rng: np.random.Generator) -> Instance:
    return random(rng, jobs=int(rng.integers(1, 8)), machines=int(rng.integers(2, 4)), longest=int(rng.integers(1, 7)))


SUBJECT = Subject(
    problem="graham",
    instance=Instance,
    facts=Facts,
    premises=(Premise("m >= 2 and a job", lambda facts: facts.instance.machines >= 2 and bool(facts.instance.jobs)),),
    sources=(Source("graham/small", _draw),),
)


CLAIMS = (
    SUBJECT.printed(
        "graham/list-scheduling",
        paper="Graham 1966",
        statement="list scheduling ends within (2 - 1/m) OPT",
        quantity="the makespan of list scheduling",
        measure=lambda facts: list_scheduling(facts.instance).utility,
        relation=Relation.AT_MOST,
        bound=_list_bound,
        expectation=Expectation.TRUE,
    ),
    SUBJECT.printed(
        "graham/lpt",
        paper="Graham 1969",
        statement="LPT ends within (4/3 - 1/(3m)) OPT",
        quantity="the makespan of LPT",
        measure=lambda facts: lpt(facts.instance).utility,
        relation=Relation.AT_MOST,
        bound=_lpt_bound,
        expectation=Expectation.TRUE,
    ),
    SUBJECT.printed(
        "graham/any-list",
        paper="not Graham: the order would not matter",
        statement="list scheduling, in any order, ends within LPT's (4/3 - 1/(3m)) OPT",
        quantity="the makespan of list scheduling",
        measure=lambda facts: list_scheduling(facts.instance).utility,
        relation=Relation.AT_MOST,
        bound=_lpt_bound,
        expectation=Expectation.FALSE,
    ),
)


def read_file(path: str | Path) -> Instance:
    """Read a text file: the number of machines, then durations, separated by white space."""
    words = Path(path).read_text(encoding="utf-8").split()
    for word in words:
        if not word.isdecimal() or not int(word):
            raise InputError(f"{path}: {word!r} is not a positive whole number")
    if not words:
        raise InputError(f"{path}: is empty; it begins with the number of machines")
    return of(int(words[0]), map(int, words[1:]))


READERS = Reader("durations", "graham", "a text file of durations", read_file)
