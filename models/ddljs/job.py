"""Training jobs of the DDLJS problem: identical workers that form a ring in every slot, and the time of an iteration.

Symbols (GADGET, Section IV): a_i arrival; N_i most workers in a slot; l_i^r what a worker needs of resource r; F_i^r
the budget of resource r over all slots; zeta_i progress per worker-slot; b_i bandwidth that every hop of the ring
between two servers reserves; mu_i the utility of zeta_i n_i after n_i worker-slots.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cached_property
from typing import Annotated, Self

from pydantic import Field, model_validator

from dlsched.arguments import at_least, checked, not_negative, positive
from dlsched.models.document import Record
from dlsched.models.fields import Name
from dlsched.models.numbers import NonNegative, Positive, rational
from dlsched.models.utility import Utility

Whole = Annotated[int, Field(strict=True, ge=1, le=10**6)]


class Job(Record):
    """A job i.

    Attributes
    ----------
    name : str
    arrival : int
        a_i, the first slot it may run in, from 1.
    max_workers : int
        N_i, the most workers in one slot.
    worker : dict of str to Fraction
        l_i^r, by resource; an absent resource counts 0.
    budget : dict of str to Fraction, optional
        F_i^r, resource times slots; an absent resource counts 0. Without a budget, (3) is absent.
    progress : Fraction
        zeta_i, progress per worker-slot.
    bandwidth : Fraction
        b_i, in the unit of the links.
    utility : Utility
        mu_i, of the progress made.
    placement : tuple of tuple of str, optional
        For each worker, in ring order, the nodes that may host it. A ring of k workers is of the first k.

    Examples
    --------
    >>> from dlsched.models.ddljs import random
    >>> (job, *_) = random(0).jobs
    >>> job.max_workers, job.budget_slots, float(job.bandwidth), job.utility(2)
    (1, None, 1.0, 11.0)
    """

    name: Name
    arrival: Whole
    max_workers: Whole
    worker: dict[Name, NonNegative]
    budget: dict[Name, NonNegative] | None = None
    progress: Positive
    bandwidth: NonNegative
    utility: Utility
    placement: tuple[tuple[Name, ...], ...] | None = None

    @model_validator(mode="after")
    def _one_entry_a_worker(self) -> Self:
        if self.placement is not None and len(self.placement) != self.max_workers:
            raise ValueError(
                f"placement: {len(self.placement)} entries for {self.max_workers} workers; it needs one a worker"
            )
        return self

    def worker_needs(self, resource: str) -> Fraction:
        """Return l_i^r."""
        return self.worker.get(resource, Fraction(0))

    @cached_property
    def budget_slots(self) -> int | None:
        """K_i = floor(min_r F_i^r / l_i^r), the most worker-slots (3); None where no budget limits them."""
        if self.budget is None:
            return None
        ratios = [self.budget.get(r, Fraction(0)) / need for r, need in self.worker.items() if need]
        return math.floor(min(ratios)) if ratios else None

    def payable(self, so_far: int) -> int:
        """Return the most workers in a slot, by (2) and (11), where there were so many worker-slots before."""
        return self.max_workers if self.budget_slots is None else min(self.max_workers, self.budget_slots - so_far)

    def value(self, worker_slots: int) -> Fraction:
        """Return mu_i(zeta_i n_i).

        Raises
        ------
        InputError
            If it is minus infinity: a log utility at 0.
        """
        return self.utility.exact(self.progress * worker_slots)

    def gain(self, so_far: int, workers: int) -> Fraction:
        """Return pi_ik = mu_i(zeta_i (z + k)) - mu_i(zeta_i z), the utility that k workers in a slot add (12).

        Raises
        ------
        InputError
            If mu_i(zeta_i z) is minus infinity.
        """
        return self.value(so_far + workers) - self.value(so_far)


Quantity = int | float | Fraction


@checked
def iteration_time(
    workers: int,
    *,
    gradient: Quantity,
    bandwidth: Quantity,
    speed: Quantity,
    forward: Quantity,
    minibatch: Quantity,
    backward: Quantity,
    latency: Quantity = 0,
) -> Fraction:
    """Return tau(w) = d (w-1)/w (2/b + 1/G) + t^f M + t^b + gamma, in seconds.

    Parameters
    ----------
    workers : int
        w, workers of the ring.
    gradient : number
        d, size of the gradient in bits.
    bandwidth : number
        b, bits per second between neighbours of the ring: of a link between servers, or within a server.
    speed : number
        G, bits per second that a worker adds up.
    forward : number
        t^f, seconds of the forward pass per sample.
    minibatch : number
        M, samples of a worker.
    backward : number
        t^b, seconds of the backward pass.
    latency : number
        gamma, seconds.

    Notes
    -----
    tau depends on w (one worker exchanges nothing) and on b, so that the constant progress zeta_i = 1 / tau of a
    worker-slot is an approximation. It increases with w, up to d (2/b + 1/G) + t^f M + t^b + gamma.

    Raises
    ------
    InputError
        If there is no worker, a rate is not positive or another quantity is negative.

    References
    ----------
    GADGET, (1).

    Examples
    --------
    >>> from dlsched.models.ddljs import iteration_time
    >>> model = {"gradient": 800e6, "forward": 0.001, "minibatch": 32, "backward": 0.05}
    >>> [float(iteration_time(w, bandwidth=10e9, speed=100e9, **model)) for w in (1, 2, 4)]
    [0.082, 0.166, 0.208]
    """
    at_least(1, workers=workers)
    positive(bandwidth=bandwidth, speed=speed)
    not_negative(gradient=gradient, forward=forward, minibatch=minibatch, backward=backward, latency=latency)
    d, b, g, f, m, t, wait = map(rational, (gradient, bandwidth, speed, forward, minibatch, backward, latency))
    return d * Fraction(workers - 1, workers) * (2 / b + 1 / g) + f * m + t + wait
