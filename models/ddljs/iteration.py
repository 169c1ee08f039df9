"""The time of one training iteration on a ring of workers, (1)."""

from __future__ import annotations

from fractions import Fraction

from dlsched.arguments import at_least, checked, not_negative, positive
from dlsched.models.numbers import rational

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

    Source: GADGET, (1).

    Raises
    ------
    ValueError
        If there is no worker, a rate is not positive or another quantity is negative.
    """
    at_least(1, workers=workers)
    positive(bandwidth=bandwidth, speed=speed)
    not_negative(gradient=gradient, forward=forward, minibatch=minibatch, backward=backward, latency=latency)
    d, b, g, f, m, t, wait = map(rational, (gradient, bandwidth, speed, forward, minibatch, backward, latency))
    return d * Fraction(workers - 1, workers) * (2 / b + 1 / g) + f * m + t + wait
