"""What HadarE does, as a document: which copies ran on which nodes in each round; its checker, and CRU, TTD and JCT.

This is another kind of schedule than Hadar's (`dlsched.models.hadar.Schedule`), whose checker would refuse it: several
copies of a job run at once, and a copy may be done before its round ends, when its node waits.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from typing import Annotated, Literal

from dlsched.algorithms.hadar_e.division import Steps
from dlsched.algorithms.hadar_e.forker import origin
from dlsched.algorithms.hadar_e.nodes import speed_on
from dlsched.arguments import checked
from dlsched.models.document import Document, Record
from dlsched.models.fields import Amount, Name, Ordinal, PlainSlots
from dlsched.models.hadar import Instance, Job
from dlsched.models.numbers import NonNegative, Number, to_json
from dlsched.models.schedule import Violation


class Overheads(Record):
    """Seconds of a round in which a node does not train: 0 in the paper's analysis.

    Attributes
    ----------
    restart : Fraction
        Before a copy of another job than in the round before; 10 s in the paper's simulation.
    communication : Fraction
        After training, of every node that runs a copy.
    consolidation : Fraction
        After that, where the job has several copies in the round.

    Examples
    --------
    >>> from dlsched.algorithms import hadar_e
    >>> instance = hadar_e.figure_6()
    >>> for restart in (0, 0.5):
    ...     schedule = hadar_e.run(instance, restart=restart).schedule
    ...     print(schedule.overheads.restart, hadar_e.completions(instance, schedule))
    0 {'J1': 1, 'J2': 2, 'J3': 4}
    1/2 {'J1': 2, 'J2': 4, 'J3': 6}
    """

    restart: NonNegative = Fraction(0)
    communication: NonNegative = Fraction(0)
    consolidation: NonNegative = Fraction(0)

    def before(self, new: bool) -> Fraction:
        """Return the seconds before training."""
        return self.restart if new else Fraction(0)

    def after(self, copies: int) -> Fraction:
        """Return the seconds after training, where so many copies of the job ran."""
        return self.communication + (self.consolidation if copies > 1 else Fraction(0))


class Copy(Record):
    """What a copy does in a round.

    Attributes
    ----------
    id : int
    node : str
        Name of the machine.
    assigned : Fraction
        Steps that it is to train.
    steps : Fraction
        Steps that it has trained when it is done or the slot ends.
    seconds : Fraction
        That its node was busy: a whole step that the end of the slot cuts off counts here and not in `steps`.

    Examples
    --------
    >>> from dlsched.algorithms import hadar_e
    >>> run = hadar_e.run(hadar_e.figure_6())
    >>> for copy in run.schedule.jobs["J3"].slots[3][-3:]:
    ...     print(copy.id, copy.node, copy.assigned, copy.steps, copy.seconds)
    11 node3 5 5 20/21
    14 node4 5 4 1
    17 node5 4 4 16/17
    """

    id: Amount
    node: Name
    assigned: Number
    steps: Number
    seconds: Number


class JobCopies(Record):
    """The copies of one job: slot to those that ran in it.

    Examples
    --------
    >>> from dlsched.algorithms import hadar_e
    >>> copies = hadar_e.run(hadar_e.figure_6()).schedule.jobs["J2"]
    >>> {slot: [copy.node for copy in own] for slot, own in copies.slots.items()}
    {1: ['node4'], 2: ['node1', 'node2', 'node3']}
    """

    slots: Annotated[dict[int, tuple[Copy, ...]], PlainSlots]


class ForkedSchedule(Document):
    """Which copies ran on which nodes in each round; a job that is absent never ran.

    Attributes
    ----------
    problem : str
        Always ``"hadar_e"``.
    copies : int
        f, how many each job was forked into.
    max_job_count : int
        That ids of copies are made with; a parent's id is its place among the instance's jobs, from 0.
    steps : Steps
        Whether steps are whole.
    overheads : Overheads
    jobs : dict of str to JobCopies

    Examples
    --------
    >>> from dlsched.algorithms import hadar_e
    >>> instance = hadar_e.figure_6()
    >>> hadar_e.run(instance).schedule.save("forked.json")
    >>> schedule = hadar_e.ForkedSchedule.load("forked.json")
    >>> schedule.copies, hadar_e.check(instance, schedule)
    (5, [])
    """

    problem: Literal["hadar_e"] = "hadar_e"
    copies: Ordinal
    max_job_count: Ordinal
    steps: Steps = Steps.WHOLE
    overheads: Overheads = Overheads()
    jobs: dict[str, JobCopies]

    def items(self) -> Iterator[tuple[str, int, tuple[Copy, ...]]]:
        """Yield (job name, slot, its copies) for every slot in which a job has any."""
        for name, job in self.jobs.items():
            for slot, copies in sorted(job.slots.items()):
                if copies:
                    yield name, slot, copies


def needed(job: Job, steps: Steps) -> Fraction:
    """Return the steps after which a job is done: its iterations, rounded up where steps are whole."""
    return Fraction(-(-job.iterations // 1)) if steps is Steps.WHOLE else job.iterations


@checked
def completions(instance: Instance, schedule: ForkedSchedule) -> dict[str, int]:
    """Return the round in which each job is done, of those that are.

    Examples
    --------
    >>> from dlsched.algorithms import hadar_e
    >>> instance = hadar_e.figure_6()
    >>> for copies in (1, 5):
    ...     print(copies, hadar_e.completions(instance, hadar_e.run(instance, copies=copies).schedule))
    1 {'J1': 3, 'J2': 4, 'J3': 8}
    5 {'J1': 1, 'J2': 2, 'J3': 4}
    """
    found = {}
    for name, job in schedule.jobs.items():
        left = needed(instance.job(name), schedule.steps)
        for slot, copies in sorted(job.slots.items()):
            left -= sum((copy.steps for copy in copies), Fraction(0))
            if left <= 0:
                found[name] = slot
                break
    return found


@checked
def round_slots(instance: Instance, schedule: ForkedSchedule) -> tuple[int, ...]:
    """Return the slots that count as rounds: those in which a job is there and not done, until the last copy runs.

    Examples
    --------
    >>> from dlsched.algorithms import hadar_e
    >>> instance = hadar_e.figure_6()
    >>> hadar_e.round_slots(instance, hadar_e.run(instance).schedule)
    (1, 2, 3, 4)
    """
    last = max((slot for _, slot, _ in schedule.items()), default=0)
    done = completions(instance, schedule)
    spans = [range(job.arrival, min(done.get(job.name, last), last) + 1) for job in instance.jobs]
    return tuple(sorted({slot for span in spans for slot in span}))


@checked
def utilisation_by_round(instance: Instance, schedule: ForkedSchedule) -> dict[int, Fraction]:
    """Return CRU of each round: the seconds for which nodes train, over those of all nodes, sum_i T_i^B / (T_S n).

    Examples
    --------
    >>> from dlsched.algorithms import hadar_e
    >>> instance = hadar_e.figure_6()
    >>> used = hadar_e.utilisation_by_round(instance, hadar_e.run(instance).schedule)
    >>> {slot: round(float(share), 3) for slot, share in used.items()}
    {1: 1.0, 2: 1.0, 3: 0.934, 4: 0.035}
    """
    busy: Counter[int] = Counter()
    for _, slot, copies in schedule.items():
        busy[slot] += sum((copy.seconds for copy in copies), Fraction(0))  # type: ignore[assignment]
    whole = instance.slot_seconds * len(instance.machines)
    return {slot: busy[slot] / whole for slot in round_slots(instance, schedule)}


@checked
def utilisation(instance: Instance, schedule: ForkedSchedule) -> Fraction:
    """Return CRU, cluster resource utilisation: the mean over the rounds (0 where there are none).

    Examples
    --------
    >>> from dlsched.algorithms import hadar_e
    >>> instance = hadar_e.figure_6()
    >>> for copies in (1, 5):
    ...     print(f"{float(hadar_e.utilisation(instance, hadar_e.run(instance, copies=copies).schedule)):.1%}")
    34.7%
    74.2%
    """
    by_round = utilisation_by_round(instance, schedule)
    return sum(by_round.values(), Fraction(0)) / len(by_round) if by_round else Fraction(0)


@checked
def finish_times(instance: Instance, schedule: ForkedSchedule) -> dict[str, Fraction]:
    """Return the seconds from the beginning after which each job is done, of those that are.

    That is when the last of its copies has been reported in its last round.

    Examples
    --------
    >>> from dlsched.algorithms import hadar_e
    >>> instance = hadar_e.figure_6()
    >>> times = hadar_e.finish_times(instance, hadar_e.run(instance).schedule)
    >>> {job: round(float(time), 3) for job, time in times.items()}
    {'J1': 1.0, 'J2': 2.0, 'J3': 3.174}
    """
    before = _jobs_before(schedule)
    found = {}
    for name, slot in completions(instance, schedule).items():
        copies = schedule.jobs[name].slots[slot]
        ends = (
            schedule.overheads.before(before.get((slot, copy.node)) != name)
            + copy.seconds
            + schedule.overheads.after(len(copies))
            for copy in copies
        )
        found[name] = (slot - 1) * instance.slot_seconds + max(ends)
    return found


@checked
def completion_times(instance: Instance, schedule: ForkedSchedule) -> dict[str, Fraction]:
    """Return JCT: the seconds from the beginning of its arrival slot until a job is done, of those that are.

    Examples
    --------
    >>> from dlsched.algorithms import hadar_e
    >>> instance = hadar_e.figure_6()
    >>> times = hadar_e.completion_times(instance, hadar_e.run(instance).schedule)
    >>> {job: round(float(time), 3) for job, time in times.items()}
    {'J1': 1.0, 'J2': 2.0, 'J3': 3.174}
    """
    ends = finish_times(instance, schedule)
    return {name: end - (instance.job(name).arrival - 1) * instance.slot_seconds for name, end in ends.items()}


@checked
def total_time(instance: Instance, schedule: ForkedSchedule) -> Fraction | None:
    """Return TTD: the seconds until all jobs are done; None where some are not.

    Examples
    --------
    >>> from dlsched.algorithms import hadar_e
    >>> instance = hadar_e.figure_6()
    >>> hadar, forked = (hadar_e.run(instance, copies=copies).schedule for copies in (1, 5))
    >>> round(float(hadar_e.total_time(instance, hadar) / hadar_e.total_time(instance, forked)), 3)
    2.26
    """
    ends = finish_times(instance, schedule)
    return max(ends.values(), default=Fraction(0)) if len(ends) == len(instance.jobs) else None


@checked
def exact_utility(instance: Instance, schedule: ForkedSchedule) -> Fraction:
    """Return sum_j U_j(f_j - a_j) over the jobs that are done, f_j the round of that.

    Examples
    --------
    >>> from dlsched.algorithms import hadar_e
    >>> instance = hadar_e.figure_6()
    >>> run = hadar_e.run(instance)
    >>> float(hadar_e.exact_utility(instance, run.schedule)) == run.utility
    True
    """
    done = completions(instance, schedule)
    return sum(
        (instance.job(name).utility.exact(f - instance.job(name).arrival) for name, f in done.items()), Fraction(0)
    )


def _jobs_before(schedule: ForkedSchedule) -> dict[tuple[int, str], str]:
    """Return the job that each node ran in the slot before, by slot and node."""
    return {(slot + 1, copy.node): name for name, slot, copies in schedule.items() for copy in copies}


@checked
def check(instance: Instance, schedule: ForkedSchedule) -> list[Violation]:
    """Return every rule of Section V that a schedule breaks; an empty list means that it breaks none.

    Jobs, nodes and slots are the instance's; a copy's id is its job's; a node runs one copy in a round, so that a job
    has at most one copy a node; a copy trains at its node's speed until its steps are done or the slot ends; the copies
    of a job are assigned no more than it has left, and none once it is done. A job need not finish.

    Examples
    --------
    >>> from dlsched.algorithms import hadar_e
    >>> instance = hadar_e.figure_6()
    >>> forked = hadar_e.run(instance).schedule
    >>> hadar_e.check(instance, forked)
    []
    >>> print(hadar_e.check(instance, forked.model_copy(update={"copies": 1}))[0])
    job J1, slot 1, copy 6: is none of the 1 copies of job 0 [copies]
    """
    found = [*_unknown(instance, schedule)]
    return found or [*_identities(instance, schedule), *_training(instance, schedule), *_left(instance, schedule)]


def _unknown(instance: Instance, schedule: ForkedSchedule) -> Iterator[Violation]:
    jobs = {job.name: job for job in instance.jobs}
    nodes = {machine.name for machine in instance.machines}
    for name, slot, copies in schedule.items():
        if name not in jobs:
            yield Violation("names", f"job {name}", "is not in the instance")
            continue
        if not jobs[name].arrival <= slot <= instance.slots:
            span = f"{jobs[name].arrival}..{instance.slots}"
            yield Violation("slots", f"job {name}, slot {slot}", f"is outside {span}, its arrival and the last slot")
        for copy in copies:
            if copy.node not in nodes:
                yield Violation("names", f"job {name}, slot {slot}, node {copy.node}", "is not in the instance")


def _identities(instance: Instance, schedule: ForkedSchedule) -> Iterator[Violation]:
    parents = {job.name: i for i, job in enumerate(instance.jobs)}
    ids: Counter[tuple[int, int]] = Counter()
    nodes: Counter[tuple[int, str]] = Counter()
    for name, slot, copies in schedule.items():
        for copy in copies:
            ids[slot, copy.id] += 1
            nodes[slot, copy.node] += 1
            mine = copy.id >= schedule.max_job_count
            parent, i = origin(copy.id, schedule.max_job_count) if mine else (-1, 0)
            if parent != parents[name] or i > schedule.copies:
                place = f"job {name}, slot {slot}, copy {copy.id}"
                yield Violation("copies", place, f"is none of the {schedule.copies} copies of job {parents[name]}")
    for (slot, id), count in ids.items():
        if count > 1:
            yield Violation("copies", f"slot {slot}, copy {id}", f"runs {count} times")
    for (slot, node), count in nodes.items():
        if count > 1:
            yield Violation("nodes", f"slot {slot}, node {node}", f"runs {count} copies; it runs one at most")


def _training(instance: Instance, schedule: ForkedSchedule) -> Iterator[Violation]:
    before, whole = _jobs_before(schedule), schedule.steps is Steps.WHOLE
    for name, slot, copies in schedule.items():
        for copy in copies:
            place = f"job {name}, slot {slot}, copy {copy.id}"
            speed = speed_on(instance.job(name), instance.machine(copy.node))
            if not speed:
                yield Violation("nodes", place, f"makes no progress on node {copy.node}")
                continue
            if copy.assigned <= 0 or (whole and copy.assigned.denominator > 1):
                yield Violation("steps", place, f"{to_json(copy.assigned)} steps are assigned")
            lost = schedule.overheads.before(before.get((slot, copy.node)) != name)
            time = instance.slot_seconds - lost - schedule.overheads.after(len(copies))
            done = max(time * speed, Fraction(0))
            if done >= copy.assigned:
                expected = (copy.assigned, copy.assigned / speed)
            else:
                expected = (Fraction(done // 1) if whole else done, max(time, Fraction(0)))
            if (copy.steps, copy.seconds) != expected:
                said, right = (
                    f"{to_json(s)} steps in {to_json(t)} s" for s, t in ((copy.steps, copy.seconds), expected)
                )
                yield Violation(
                    "training", place, f"{said}; its node does {right} of {to_json(copy.assigned)} assigned"
                )


def _left(instance: Instance, schedule: ForkedSchedule) -> Iterator[Violation]:
    for name, job in schedule.jobs.items():
        if not any(job.slots.values()):
            continue
        left = needed(instance.job(name), schedule.steps)
        for slot, copies in sorted(job.slots.items()):
            assigned = sum((copy.assigned for copy in copies), Fraction(0))
            if assigned > left:
                message = f"{to_json(assigned)} steps are assigned, of {to_json(left)} that are left"
                yield Violation("steps", f"job {name}, slot {slot}", message)
            left -= sum((copy.steps for copy in copies), Fraction(0))
