"""Training jobs of the DMLRS problem: synchronous ones of the journal, asynchronous ones of the thesis.

Symbols: E epochs; alpha^r and beta^r, what a worker and a parameter server need of resource r; g size of gradients and
parameters; b^(i) and b^(e) data rates between a worker and a server on one machine and on two; tau compute time; kappa
slots per unit of work and worker; P and W, the machines that host servers and workers of the job in a slot.

The journal wants workers/servers = gamma in every slot, which whole numbers cannot have for every gamma. Read here:
servers >= ceil(workers / gamma), and the rate is that of the nominal ratio gamma.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping
from fractions import Fraction
from functools import cached_property
from typing import Annotated

from pydantic import Field

from dlsched.models.document import Record
from dlsched.models.fields import Name
from dlsched.models.numbers import NonNegative, Positive, to_json
from dlsched.models.utility import Utility

Placement = Mapping[str, tuple[int, int]]
"""Machine name to (workers, servers) of one job in one slot."""

Whole = Annotated[int, Field(strict=True, ge=1, le=10**6)]
_NOTHING = Fraction(0)
"""What is needed of a resource that is not named; made once, as it is asked for in loops."""


class _Job(Record, ABC):
    """What the jobs of both papers share.

    Attributes
    ----------
    name : str
    arrival : int
        a_i, the first slot it may run in, from 1.
    epochs : Fraction
        E_i.
    gradient_size : Fraction
        g_i, in the unit of the data rates times slots.
    internal_rate, external_rate : Fraction
        b^(i), b^(e), data per slot.
    worker, server : dict of str to Fraction
        alpha_i^r, beta_i^r, by resource; an absent resource counts 0.
    utility : Utility
        u_i, non-increasing, of the duration d = completion slot - arrival, in slots.
    """

    name: Name
    arrival: Whole
    epochs: Positive
    gradient_size: NonNegative
    internal_rate: Positive
    external_rate: Positive
    worker: dict[Name, NonNegative]
    server: dict[Name, NonNegative]
    utility: Utility

    @property
    @abstractmethod
    def work(self) -> Fraction:
        """V, all samples (journal) or mini-batches (thesis) to be processed."""

    @property
    @abstractmethod
    def most_workers(self) -> int:
        """The most workers in one slot."""

    @property
    @abstractmethod
    def most_servers(self) -> int:
        """The fewest servers for the most workers, at the faster of the two rates."""

    @abstractmethod
    def time_at(self, rate: Fraction) -> Fraction:
        """Return the slots per unit of work and worker at a data rate."""

    @abstractmethod
    def progress(self, placement: Placement) -> Fraction:
        """Return the work done in a slot by workers and servers placed so."""

    @abstractmethod
    def server_shortage(self, placement: Placement) -> str | None:
        """Return which rule on the number of servers a placement breaks, and how; None where it breaks none."""

    @cached_property
    def internal_time(self) -> Fraction:
        """kappa_I, slots per unit of work and worker whose servers are on its own machine."""
        return self.time_at(self.internal_rate)

    @cached_property
    def external_time(self) -> Fraction:
        """kappa_E, slots per unit of work and worker with a server on another machine."""
        return self.time_at(self.external_rate)

    def worker_needs(self, resource: str) -> Fraction:
        """Return alpha_i^r."""
        return self.worker.get(resource, _NOTHING)

    def server_needs(self, resource: str) -> Fraction:
        """Return beta_i^r."""
        return self.server.get(resource, _NOTHING)

    def uses(self, workers: int, servers: int) -> dict[str, Fraction]:
        """Return alpha^r w + beta^r s, by resource, where it is not 0."""
        used: dict[str, Fraction] = {}
        for needs, count in ((self.worker, workers), (self.server, servers)):
            for r, need in needs.items() if count else ():
                used[r] = used[r] + need * count if r in used else need * count
        return {r: used[r] for r in self._used if used.get(r)}

    @cached_property
    def _used(self) -> tuple[str, ...]:
        """The resources that workers or servers are said to need, in a fixed order."""
        return tuple(dict.fromkeys((*self.worker, *self.server)))

    def rate_between(self, worker: str, server: str) -> Fraction:
        """Return b(h, p), the data rate between a worker on machine h and a server on machine p."""
        return self.internal_rate if worker == server else self.external_rate

    def slowest_rate(self, worker: str, servers: Collection[str]) -> Fraction:
        """Return min_p b(h, p) between a worker on machine h and servers on some machines, at least one.

        Not pair by pair: a job with thousands of workers has millions of pairs in a slot.
        """
        if worker not in servers:
            return self.external_rate
        return self.internal_rate if len(servers) == 1 else min(self.internal_rate, self.external_rate)


class Job(_Job):
    """A synchronous job (journal).

    Attributes
    ----------
    samples : Fraction
        K_i, samples an epoch.
    batch : int
        F_i, global batch size; also the most workers (4).
    slots_per_sample : Fraction
        tau_i, slots a worker computes on a sample.
    workers_per_server : Fraction
        gamma_i.

    Examples
    --------
    >>> from dlsched.models.dmlrs import random
    >>> (job, *_) = random(0).jobs
    >>> int(job.work), job.batch, str(job.internal_time), str(job.external_time)
    (5, 2, '13/16', '1')
    >>> job.work == job.epochs * job.samples
    True
    """

    samples: Positive
    batch: Whole
    slots_per_sample: NonNegative
    workers_per_server: Positive

    @cached_property
    def work(self) -> Fraction:
        """V_i = E_i K_i, samples."""
        return self.epochs * self.samples

    @property
    def most_workers(self) -> int:
        """F_i (4)."""
        return self.batch

    @property
    def most_servers(self) -> int:
        """ceil(F / gamma)."""
        return self.servers_for(self.batch)

    def time_at(self, rate: Fraction) -> Fraction:
        """Return tau + 2 g gamma / (b F), slots per sample and worker."""
        return self.slots_per_sample + 2 * self.gradient_size * self.workers_per_server / (rate * self.batch)

    def servers_for(self, workers: int) -> int:
        """Return ceil(w / gamma), the fewest servers for so many workers (2)."""
        return math.ceil(workers / self.workers_per_server)

    def progress(self, placement: Placement) -> Fraction:
        """Return the samples done in a slot (1): the slowest pair of a worker and a server sets the pace of all."""
        workers = {h: w for h, (w, _) in placement.items() if w > 0}
        servers = {p for p, (_, s) in placement.items() if s > 0}
        if not workers or not servers:
            return Fraction(0)
        slowest = min(self.slowest_rate(h, servers) for h in workers)
        return sum(workers.values()) / self.time_at(slowest)

    def server_shortage(self, placement: Placement) -> str | None:
        """Return how a placement has fewer than ceil(w / gamma) servers (2), or None."""
        workers, servers = (sum(counts[k] for counts in placement.values()) for k in (0, 1))
        if servers >= self.servers_for(workers):
            return None
        return f"(2) {servers} servers for {workers} workers; at least {self.servers_for(workers)} are needed"


class AsyncJob(_Job):
    """An asynchronous job (thesis).

    Attributes
    ----------
    chunks : int
        K_i, data chunks; also the most workers (3.2).
    minibatches_per_chunk : Fraction
        M_i.
    slots_per_minibatch : Fraction
        tau_i, slots a worker computes on a mini-batch.
    server_rate : Fraction
        B_i, data per slot that one server can exchange.

    Examples
    --------
    >>> from dlsched.models.dmlrs import random
    >>> (job, *_) = random(0, asynchronous=True).jobs
    >>> int(job.work), job.chunks, str(job.internal_time), str(job.external_time)
    (8, 2, '5/8', '3/4')
    >>> job.work == job.epochs * job.chunks * job.minibatches_per_chunk
    True
    """

    chunks: Whole
    minibatches_per_chunk: Positive
    slots_per_minibatch: NonNegative
    server_rate: Positive

    @cached_property
    def work(self) -> Fraction:
        """E_i K_i M_i, mini-batches."""
        return self.epochs * self.chunks * self.minibatches_per_chunk

    @property
    def most_workers(self) -> int:
        """K_i (3.2)."""
        return self.chunks

    @property
    def most_servers(self) -> int:
        """ceil(K max(b^(i), b^(e)) / B)."""
        return math.ceil(self.chunks * max(self.internal_rate, self.external_rate) / self.server_rate)

    def time_at(self, rate: Fraction) -> Fraction:
        """Return tau + 2 g / b, slots per mini-batch and worker."""
        return self.slots_per_minibatch + 2 * self.gradient_size / rate

    def progress(self, placement: Placement) -> Fraction:
        """Return the mini-batches done in a slot (3.1): each worker waits for its own slowest server only."""
        servers = {p for p, (_, s) in placement.items() if s > 0}
        if not servers:
            return Fraction(0)
        return sum(
            (w / self.time_at(self.slowest_rate(h, servers)) for h, (w, _) in placement.items() if w),
            Fraction(0),
        )

    def server_shortage(self, placement: Placement) -> str | None:
        """Return how a placement overloads its servers (3.4) or has more servers than workers (3.5), or None."""
        workers = {h: w for h, (w, _) in placement.items() if w > 0}
        servers = {p: s for p, (_, s) in placement.items() if s > 0}
        at_home = sum(w for h, w in workers.items() if h in servers)
        away = sum(workers.values()) * len(servers) - at_home
        load = at_home * self.internal_rate + away * self.external_rate
        room = self.server_rate * sum(servers.values())
        if workers and not servers:
            return f"(3.4) no server for {sum(workers.values())} workers"
        if load > room:
            return f"(3.4) workers exchange {to_json(load)} with servers that bear {to_json(room)}"
        if sum(servers.values()) > sum(workers.values()):
            return f"(3.5) {sum(servers.values())} servers are more than the {sum(workers.values())} workers"
        return None
