"""How long a job trains with w workers and p servers: the coefficients theta of (9) and (10), given or measured."""

from __future__ import annotations

from abc import ABC, abstractmethod
from enum import StrEnum
from fractions import Fraction
from functools import cached_property
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from dlsched.models.document import Record
from dlsched.models.numbers import NonNegative, Positive, to_integers, to_json
from dlsched.models.smd.speed import (
    Layer,
    Overlap,
    Phases,
    critical_phases,
    priority_paths,
    sequential,
    shares,
    upper_hull,
    wait_free_paths,
)


class Mode(StrEnum):
    """When servers update the parameters: after all workers have reported, or after each.

    Examples
    --------
    >>> from dlsched.models.smd import Mode, random
    >>> [job.name for job in random(0).jobs if job.training.mode is Mode.SYNC]
    ['job1']
    >>> Mode.ASYNC == "async"
    True
    """

    SYNC = "sync"
    ASYNC = "async"


TERMS = {Mode.SYNC: 5, Mode.ASYNC: 4}
"""Number of coefficients theta."""


class _Training(Record, ABC):
    """What both kinds share: the completion time."""

    mode: Mode

    @property
    @abstractmethod
    def coefficients(self) -> tuple[Fraction, ...]:
        """Theta^1, theta^2, ... of (9) in synchronous, of (10) in asynchronous training."""

    def time(self, workers: int, servers: int) -> Fraction:
        """Return tau, the completion time.

        theta1 w + theta2 p + theta3 + theta4 w/p + theta5/w (9), or theta1 + theta2 p/w + theta3/w + theta4/p (10).

        Parameters
        ----------
        workers, servers : int
            w and p, at least 1.
        """
        # In whole numbers: a Fraction for each term takes ten times as long.
        (theta, scale), w, p = self._whole_coefficients, workers, servers
        if self.mode is Mode.SYNC:
            times = (theta[0] * w + theta[1] * p + theta[2]) * w * p + theta[3] * w * w + theta[4] * p
        else:
            times = theta[0] * w * p + (theta[1] * p + theta[2]) * p + theta[3] * w
        return Fraction(times, scale * w * p)

    @cached_property
    def _whole_coefficients(self) -> tuple[list[int], int]:
        return to_integers(self.coefficients)


class Coefficients(_Training):
    """Training whose coefficients are given.

    Attributes
    ----------
    mode : Mode
    theta : tuple of Fraction
        Five of (9) in synchronous, four of (10) in asynchronous training; times of the whole training.

    Examples
    --------
    >>> from fractions import Fraction
    >>> from dlsched.models.smd import Coefficients, Mode
    >>> steps = Coefficients(mode=Mode.SYNC, theta=(0, 0, 6, 4, 8))
    >>> steps.time(2, 4), 6 + Fraction(4 * 2, 4) + Fraction(8, 2)
    (Fraction(12, 1), Fraction(12, 1))
    """

    kind: Literal["coefficients"] = "coefficients"
    theta: tuple[NonNegative, ...]

    @property
    def coefficients(self) -> tuple[Fraction, ...]:
        """As given."""
        return self.theta

    @model_validator(mode="after")
    def _length(self) -> Self:
        if len(self.theta) != TERMS[self.mode]:
            raise ValueError(
                f"theta: has {len(self.theta)} entries; {self.mode} training has {TERMS[self.mode]} coefficients"
            )
        return self


class Measured(_Training):
    """Training described by what can be measured (SMD, Table I).

    Attributes
    ----------
    mode : Mode
    iterations : Fraction
        E.
    global_batch : Fraction, optional
        K, samples an iteration over all workers; synchronous training needs it.
    minibatch : Fraction, optional
        m, samples a step of one worker; asynchronous training needs it.
    forward, backward : Fraction
        t_f, forward time of a sample, and t_b, backward time of a step. Where they are left out, the sums over the
        layers; where they are given, the layers are a profile that these scale.
    model_size, bandwidth : Fraction
        g and B: g/B is the time to send the whole model from one worker to one server.
    beta1, beta2 : Fraction
        Overhead of a step per worker and per server.
    alpha : Fraction
        Share of the workers that send at the same time in asynchronous training, at most 1.
    overlap : Overlap
    slice : Fraction
        phi, transfer time of one slice in the priority model, at most layer 1's transfer.
    layers : tuple of Layer, optional
        From the input on; only the sequential model does without.

    Examples
    --------
    >>> from dlsched.models.smd import Measured
    >>> training = Measured(
    ...     mode="async", iterations=100, minibatch=8, forward="1/100", backward="1/50", model_size=2, bandwidth=10,
    ...     beta1="1/1000", beta2="1/1000", alpha="1/2",
    ... )
    >>> float(training.time(1, 1)), float(training.time(4, 2))
    (30.2, 12.65)
    """

    kind: Literal["measured"] = "measured"
    iterations: Positive
    global_batch: Positive | None = None
    minibatch: Positive | None = None
    forward: NonNegative | None = None
    backward: NonNegative | None = None
    model_size: NonNegative
    bandwidth: Positive
    beta1: NonNegative = Fraction(0)
    beta2: NonNegative = Fraction(0)
    alpha: NonNegative = Fraction(1)
    overlap: Overlap = Overlap.SEQUENTIAL
    slice: NonNegative = Fraction(0)
    layers: tuple[Layer, ...] | None = None

    @property
    def step_forward(self) -> Fraction:
        """t_f, forward time of a sample."""
        return self._whole(self.forward, "forward")

    @property
    def step_backward(self) -> Fraction:
        """t_b, backward time of a step."""
        return self._whole(self.backward, "backward")

    def _whole(self, given: Fraction | None, phase: str) -> Fraction:
        return sum((getattr(layer, phase) for layer in self.layers or ()), Fraction(0)) if given is None else given

    @cached_property
    def eta(self) -> tuple[Fraction, Fraction, Fraction]:
        """eta_1, eta_2 and eta_3: what remains of forward, backward and transfer time, at the measured layer times."""
        if self.layers is None:
            return Fraction(1), Fraction(1), Fraction(1)
        return shares(critical_phases(self.layers, self.overlap, self.slice), self.layers)

    @cached_property
    def paths(self) -> tuple[Phases, ...]:
        """The paths through the layers, at the measured layer times, that are a step's longest at some point (w, p)."""
        layers = self.layers or ()
        if self.overlap is Overlap.WAIT_FREE:
            return tuple(upper_hull(wait_free_paths(layers)))
        return tuple(priority_paths(layers, self.slice)) if self.overlap is Overlap.PRIORITY else (sequential(layers),)

    @cached_property
    def coefficients(self) -> tuple[Fraction, ...]:
        """Theta of (9) or (10), by the definitions below (9) and (10), with eta of the corrected speed models."""
        forward, backward, transfer = self.eta
        iterations, send = self.iterations, 2 * self.model_size / self.bandwidth * transfer
        overhead = iterations * self.beta1, iterations * self.beta2
        if self.mode is Mode.SYNC:
            assert self.global_batch is not None
            return (
                *overhead,
                iterations * backward * self.step_backward,
                iterations * send,
                forward * iterations * self.global_batch * self.step_forward,
            )
        assert self.minibatch is not None
        compute = forward * self.minibatch * self.step_forward + backward * self.step_backward
        return *overhead, iterations * compute, iterations * self.alpha * send

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if self.mode is Mode.SYNC and self.global_batch is None:
            raise ValueError("global_batch: required field is missing; synchronous training divides it among workers")
        if self.mode is Mode.ASYNC and self.minibatch is None:
            raise ValueError("minibatch: required field is missing; each asynchronous step takes one")
        if self.alpha > 1:
            raise ValueError(f"alpha: {to_json(self.alpha)} exceeds 1: it is a share of the workers")
        if self.layers is None:
            self._without_layers()
        elif not self.layers:
            raise ValueError("layers: is empty; a network has at least one layer")
        else:
            self._profile(self.layers)
        return self

    def _without_layers(self) -> None:
        if self.overlap is not Overlap.SEQUENTIAL:
            raise ValueError(f"layers: required field is missing; the {self.overlap} model depends on them")
        for name in ("forward", "backward"):
            if getattr(self, name) is None:
                raise ValueError(f"{name}: required field is missing where there are no layers")

    def _profile(self, layers: tuple[Layer, ...]) -> None:
        totals = {"forward": self.forward, "backward": self.backward, "transfer": self.model_size}
        for phase, total in totals.items():
            if total and not any(getattr(layer, phase) for layer in layers):
                raise ValueError(f"layers: {phase} is 0 in every layer, so nothing tells how it splits")
        if self.slice > layers[0].transfer:
            raise ValueError(
                f"slice: {to_json(self.slice)} exceeds the {to_json(layers[0].transfer)} of layer 1's transfer"
            )


Training = Annotated[Coefficients | Measured, Field(discriminator="kind")]
"""Either kind; JSON chooses it by ``kind``."""
