"""SMD's inner step: how many workers and servers a job gets, by Algorithms 1 and 2, or exactly.

Corrected, the rounding is of x~ - 1, so that a worker and a server are left whatever the outcome, and the time is at
most 4/M times that of x~. Where no round keeps the limits, x~ is rounded down: that always keeps them, since they only
limit from above, and takes at most twice the time of x~, since no count is less than halved. So the time is at most
rho = 4 (1 + eps) / M times the best in every run, not only with the probability of Theorem 5.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from dlsched import relaxations
from dlsched.algorithms.run import Event, Variant
from dlsched.arguments import checked
from dlsched.errors import InputError
from dlsched.models.ratio import Floats
from dlsched.models.smd import Job, Point, best_point, ratios
from dlsched.rounding import Rounded, gain_packing, round_shifted, round_until_feasible, width
from dlsched.tolerances import NEAR_WHOLE


class Inner(StrEnum):
    """How workers and servers are chosen for a job.

    Examples
    --------
    >>> from dlsched.algorithms import smd
    >>> from dlsched.models.smd import random
    >>> for inner in smd.Inner:
    ...     print(inner.value, round(smd.run(random(7, jobs=6), inner=inner).utility, 6))
    algorithm 43.965946
    exact 44.899783
    """

    ALGORITHM = "algorithm"
    EXACT = "exact"


@dataclass(frozen=True, slots=True)
class Settings:
    """What Algorithms 1 and 2 leave open.

    Attributes
    ----------
    variant : Variant
    epsilon : float
        Of Algorithm 1's grid.
    rounds : int
        F.
    delta : float or None
        For M_delta.
    gain : float
        M, where there is no delta.
    resources : int
        Rows of (7), which the printed M_delta counts whether or not they can bind.

    Examples
    --------
    >>> import numpy as np
    >>> from dlsched.algorithms import Variant, smd
    >>> from dlsched.models.smd import random
    >>> for gain in (0.5, 1.0):
    ...     settings = smd.Settings(Variant.CORRECTED, epsilon=0.1, rounds=5, delta=None, gain=gain, resources=2)
    ...     step = smd.inner_step(random(7, jobs=6).jobs[3], settings, np.random.default_rng(0))
    ...     print(gain, step.chosen.workers, step.chosen.servers)
    0.5 1 2
    1.0 1 2
    """

    variant: Variant
    epsilon: float
    rounds: int
    delta: float | None
    gain: float
    resources: int


@dataclass(frozen=True, slots=True)
class InnerStep(Event):
    """Workers and servers were chosen for a job.

    Attributes
    ----------
    job : str
    relaxed : tuple of float or None
        x~, workers and servers of the continuous relaxation; None where Algorithm 1 found none, or was not asked.
    cost : float
        Psi at its grid point; infinite without one.
    lps : int
        Grid points, each a linear program.
    gain : float
        M; 0 where nothing was rounded.
    scaled : tuple of float or None
        What was rounded: M x~, corrected 1 + M (x~ - 1).
    rounds, feasible : int
        Rounds of Algorithm 2, and how many kept the limits.
    rounded_down : bool
        x~ was rounded down because no round kept the limits.
    chosen : Point or None
        None where the job was lost: no point, or no worker or no server left.
    factor : float
        The time is at most this times the least; infinite where nothing is known.

    Examples
    --------
    >>> from dlsched.algorithms import smd
    >>> from dlsched.models.smd import random
    >>> for event in smd.run(random(7, jobs=6)).log:
    ...     if isinstance(event, smd.InnerStep):
    ...         print(event.job, event.chosen.workers, event.chosen.servers, float(event.chosen.time))
    job3 2 1 7.25
    job4 1 2 5.25
    job6 1 3 4.666666666666667
    """

    job: str
    relaxed: tuple[float, float] | None
    cost: float
    lps: int
    gain: float
    scaled: tuple[float, float] | None
    rounds: int
    feasible: int
    rounded_down: bool
    chosen: Point | None
    factor: float

    @property
    def loss(self) -> str:
        """Why there is no point; empty where there is one."""
        if self.chosen is not None:
            return ""
        if self.relaxed is None:
            return "no program of the printed grid is feasible"
        if not self.feasible:
            return f"no rounding kept the limits in {self.rounds} rounds"
        return "the rounding left no worker or no server"


def exact_step(job: Job) -> InnerStep:
    """Choose the exact optimum of a job that can run."""
    return InnerStep(job.name, None, math.inf, 0, 0.0, None, 0, 0, False, best_point(job), 1.0)


@checked
def inner_step(job: Job, settings: Settings, rng: np.random.Generator) -> InnerStep:
    """Choose by Algorithm 1 and Algorithm 2 for a job that can run.

    Parameters
    ----------
    job : Job
    settings : Settings
    rng : numpy.random.Generator

    Raises
    ------
    InputError
        If the grid is too large, or delta is out of range.

    References
    ----------
    SMD, (12) to (15), Algorithms 1 and 2, printed and corrected.

    Examples
    --------
    >>> import numpy as np
    >>> from dlsched.algorithms import Variant, smd
    >>> from dlsched.models.smd import best_point, random
    >>> job = random(7, jobs=6).jobs[3]
    >>> settings = smd.Settings(Variant.CORRECTED, epsilon=0.1, rounds=5, delta=None, gain=1.0, resources=2)
    >>> step = smd.inner_step(job, settings, np.random.default_rng(0))
    >>> float(step.chosen.time), float(best_point(job).time), step.factor >= 1
    (5.25, 5.25, True)
    """
    problem = ratios(job)
    if not problem.ratios:
        return exact_step(job)
    try:
        relaxation = relaxations.sum_of_ratios(problem, epsilon=settings.epsilon, variant=settings.variant)
    except ValueError as error:
        raise InputError(f"job {job.name}: {error}") from None
    if relaxation.x is None:
        return InnerStep(job.name, None, math.inf, relaxation.points, 0.0, None, 0, 0, False, None, math.inf)
    if settings.variant is Variant.PRINTED:
        return _printed(job, relaxation, settings, rng)
    return _corrected(job, relaxation, settings, rng)


def _printed(job: Job, relaxation: relaxations.SumOfRatios, settings: Settings, rng: np.random.Generator) -> InnerStep:
    polytope, gain = ratios(job).polytope, settings.gain
    if settings.delta is not None:
        gain = gain_packing(width(polytope.A, polytope.row_upper), settings.resources, settings.delta, "printed")
    scaled = gain * np.asarray(relaxation.x)
    rounded = round_until_feasible(
        scaled, lambda counts: job.fits(*counts.tolist()), rng, rounds=settings.rounds, variant="printed"
    )
    chosen = None if rounded.x is None or not rounded.x.all() else Point.of(job, *rounded.x.tolist())
    return _event(job, relaxation, gain, scaled, rounded, chosen, math.inf)


def _corrected(
    job: Job, relaxation: relaxations.SumOfRatios, settings: Settings, rng: np.random.Generator
) -> InnerStep:
    single = np.array([job.most_workers == 1, job.most_servers == 1])
    x = np.maximum(np.asarray(relaxation.x), 1.0)
    gain = settings.gain if settings.delta is None else _shifted_gain(job, single, settings.delta)
    # a count that can only be 1 would break the limits at 2: it is not rounded, which at most halves it
    start = np.where(single, 1.0, x)
    rounded = round_until_feasible(
        start,
        lambda counts: job.fits(*counts.tolist()),
        rng,
        rounds=settings.rounds,
        cost=lambda counts: job.training.time(*counts.tolist()),
        draw=lambda generator: round_shifted(start, generator, gain)[0],
    )
    counts = _down(job, x) if rounded.x is None else rounded.x.tolist()
    factor = (1 + settings.epsilon) * 4 / gain
    return _event(job, relaxation, gain, 1 + gain * (start - 1), rounded, Point.of(job, *counts), factor)


def _shifted_gain(job: Job, single: np.ndarray, delta: float) -> float:
    """Return the gain at which the rows B y <= b - B 1, for y = x - 1 without single counts, rarely break."""
    polytope = ratios(job).polytope
    rows = polytope.A[:, ~single]
    binding = rows.any(axis=1)
    if not binding.any():
        return 1.0
    room = polytope.row_upper - polytope.A.sum(axis=1)
    return gain_packing(width(rows[binding], room[binding]), int(binding.sum()), delta, "exact")


def _down(job: Job, x: Floats) -> tuple[int, int]:
    """Return x~ rounded down, within 1e-9."""
    for slack in (NEAR_WHOLE, -NEAR_WHOLE):
        workers, servers = np.maximum(1, np.floor(x * (1 + slack))).astype(int).tolist()
        if job.fits(workers, servers):
            return workers, servers
    return 1, 1


def _event(
    job: Job,
    relaxation: relaxations.SumOfRatios,
    gain: float,
    scaled: Floats,
    rounded: Rounded,
    chosen: Point | None,
    factor: float,
) -> InnerStep:
    workers, servers = np.asarray(relaxation.x).tolist()
    return InnerStep(
        job=job.name,
        relaxed=(workers, servers),
        cost=relaxation.cost,
        lps=relaxation.points,
        gain=gain,
        scaled=(float(scaled[0]), float(scaled[1])),
        rounds=rounded.rounds,
        feasible=rounded.feasible,
        rounded_down=rounded.x is None and chosen is not None,
        chosen=chosen,
        factor=factor,
    )
