"""Schedulers that decide anew in every slot: what they share is who is there, and the count of the worker-slots."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from dlsched.algorithms.rings import Occupancy, Substrate, place
from dlsched.algorithms.run import Event, Run
from dlsched.arguments import Seed, generator
from dlsched.errors import InputError
from dlsched.halt import polled
from dlsched.models.ddljs import Embedding, Instance, Job, RingProblem, RingRequest, Schedule, utility
from dlsched.models.ddljs.requests import request_of

MOST = 10
"""The most workers that are drawn where their number is fixed (GADGET, Section VI)."""

Allocate = Callable[[Occupancy, Sequence[Job], Mapping[str, int]], Mapping[str, Embedding]]
"""Of what is left, the jobs that are there and the worker-slots of each so far: what each job gets."""


@dataclass(frozen=True, slots=True)
class Fixed(Event):
    """How many workers a job has in every slot in which it runs.

    Attributes
    ----------
    job : str
    workers : int
        The number drawn, at most N_i and what the empty network of its first slot holds; 0 if that is none.
    drawn : int
    """

    job: str
    workers: int
    drawn: int


@dataclass(frozen=True, slots=True)
class Round(Event):
    """What the jobs got in a slot.

    Attributes
    ----------
    slot : int
    workers : dict of str to int
        Of each job that got some.
    waiting : tuple of str
        The jobs that were there and got none.
    """

    slot: int
    workers: dict[str, int]
    waiting: tuple[str, ...]


class Network:
    """The empty network of every slot, scaled to integers.

    Parameters
    ----------
    instance : Instance
    """

    def __init__(self, instance: Instance) -> None:
        self._instance = instance
        self._requests = tuple(_request(job) for job in instance.jobs)
        self._usual = self._substrate(0)

    def at(self, slot: int) -> Occupancy:
        """Return a slot's network with nothing taken."""
        changed = slot in (self._instance.bandwidth_by_slot or {})
        return Occupancy(self._substrate(slot) if changed else self._usual)

    def _substrate(self, slot: int) -> Substrate:
        nodes = {node.name: dict(node.capacity) for node in self._instance.nodes}
        return Substrate.of(RingProblem(nodes, self._instance.shares(slot), self._requests))


def simulate(instance: Instance, network: Network, allocate: Allocate, log: list[Event]) -> Run[Schedule]:
    """Run a scheduler over all slots.

    In each slot it sees the jobs that have arrived and can pay for a worker-slot, by arrival and then as listed. Jobs
    may move and change their number of workers between slots.

    Parameters
    ----------
    instance : Instance
    network : Network
    allocate : callable
    log : list of Event
        What has happened so far; a `Round` is added for each slot with a job.

    Raises
    ------
    InputError
        If a job gets nothing whose utility at 0 is minus infinity.
    """
    so_far = {job.name: 0 for job in instance.jobs}
    order = sorted(instance.jobs, key=lambda job: job.arrival)
    embeddings: dict[str, dict[int, Embedding]] = {}
    for slot in polled(range(1, instance.slots + 1)):
        present = [job for job in order if job.arrival <= slot and job.payable(so_far[job.name])]
        if not present:
            continue
        given = allocate(network.at(slot), present, so_far)
        for name, embedding in given.items():
            so_far[name] += embedding.size
            embeddings.setdefault(name, {})[slot] = embedding
        workers = {name: embedding.size for name, embedding in given.items()}
        log.append(Round(slot, workers, tuple(job.name for job in present if job.name not in given)))
    for job in instance.jobs:
        try:
            job.value(so_far[job.name])
        except ValueError as error:
            raise InputError(f"job {job.name}: {error}; this scheduler gives it nothing") from None
    schedule = Schedule.of(embeddings)
    return Run(schedule, utility(instance, schedule), {}, tuple(log))


def simulate_fixed(
    instance: Instance,
    seed: Seed,
    order: Callable[[Sequence[Job], Mapping[str, int]], Sequence[Job]],
    *,
    waiting: bool,
) -> Run[Schedule]:
    """Run a scheduler whose jobs have a fixed number of workers: drawn, uniform on 1..10, lowered to what can be had.

    Parameters
    ----------
    instance : Instance
    seed : int or numpy.random.Generator
        Of the numbers.
    order : callable
        Of the jobs that are there and the worker-slots of each so far: the jobs, the first to be placed first.
    waiting : bool
        While a job does not fit those behind it wait, unless it would not even fit into the empty network; else it is
        passed over.
    """
    network = Network(instance)
    drawn = generator(seed).integers(1, MOST + 1, size=len(instance.jobs)).tolist()
    fixed = {
        job.name: Fixed(job.name, _largest(network, job, n), n) for job, n in zip(instance.jobs, drawn, strict=True)
    }

    def allocate(occupancy: Occupancy, present: Sequence[Job], so_far: Mapping[str, int]) -> dict[str, Embedding]:
        given: dict[str, Embedding] = {}
        for job in order(present, so_far):
            workers = min(fixed[job.name].workers, job.payable(so_far[job.name]))
            if not workers:
                continue
            need = occupancy.substrate.needs[job.name]
            embedding = place(occupancy, need, workers)
            if embedding is not None:
                occupancy.take(need, embedding)
                given[job.name] = embedding
            elif waiting and place(Occupancy(occupancy.substrate), need, workers) is not None:
                break
        return given

    return simulate(instance, network, allocate, [*fixed.values()])


def _largest(network: Network, job: Job, most: int) -> int:
    """Return the most workers, up to a number, that find a place in the empty network of the job's first slot."""
    empty = network.at(job.arrival)
    need = empty.substrate.needs[job.name]
    sizes = range(min(most, job.max_workers), 0, -1)
    return next((k for k in sizes if place(empty, need, k) is not None), 0)


def _request(job: Job) -> RingRequest:
    """Return a job as a request of any size up to N_i; what it is worth plays no part here."""
    return request_of(job, dict.fromkeys(range(1, job.max_workers + 1), Fraction(0)))
