"""What Theorems 5 and 6 and the thesis's Theorem 3 promise, and what can be promised before any job comes."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import cached_property

from dlsched.algorithms.pd_ors import PriceConstants
from dlsched.algorithms.pd_ors.prices import most_in_slot
from dlsched.algorithms.pd_ors.widths import Widths
from dlsched.arithmetic import expm1
from dlsched.bounds.claim import Subject
from dlsched.bounds.facts import optimal_schedule
from dlsched.bounds.pd_ors.facts import MUCH_SMALLER, WHOSE_DEMAND, PdOrsFacts, SmallNeedsFacts, Times
from dlsched.bounds.pd_ors.mixed import Delta
from dlsched.models.dmlrs import AsyncJob, Instance, Job
from dlsched.models.dmlrs.instance import can_earn

OPEN = (
    "which delta is picked (here 1, with the strongest ratio, unless another is asked for), which state's G enters the "
    "ratio (here the greatest over the states (t, v), v >= 1, the weakest ratio), and mu, which is only bounded (here "
    "the least that the print allows)"
)
"""What the print leaves open of each of these theorems."""

OPEN_SMALL = f"{OPEN}, and {WHOSE_DEMAND}"
"""The same of those of the journal."""


class RatioFacts(PdOrsFacts):
    """The same facts, and the ratios that the theorems have on the instance.

    G is the greatest over the states (t, v) that a run can reach, so that the ratio is the weakest.

    Parameters
    ----------
    instance : Instance
    seed : int
    delta : float
        Of G, in (0, 1]: 3 G/delta falls in it, so that at 1 the ratio is the strongest.
    """

    def __init__(self, instance: Instance, seed: int, *, delta: Delta = 1.0) -> None:
        super().__init__(instance, seed)
        self.delta = delta

    @cached_property
    def ratio_29(self) -> float:
        """3 G/delta with G of (29), which rises in W_2: at the greatest of a job, on the empty cluster."""
        widest = max((self._packing_width(job) for job in self.instance.jobs), default=0.0)
        rows = len(self.instance.resources) * len(self.instance.machines) + 1
        return 3 * Widths(math.inf, 1, widest, rows).shrink(self.delta) / self.delta

    @cached_property
    def ratio_30(self) -> float:
        """3 G/delta with G of (30), which falls in W_1 = v kappa_E: at v = 1, of the job with the least kappa_E."""
        return self._stretched(min((float(job.external_time) for job in self.instance.jobs), default=0.0), covers=1)

    @cached_property
    def ratio_thesis(self) -> float:
        """3 G/delta with G of the thesis, which falls in W_1 = min{m_w, m_p}: at one chunk, of the least job."""
        return self._stretched(min(map(_fewest, self.instance.jobs), default=0), covers=2)

    def _packing_width(self, job: Job | AsyncJob) -> float:
        """Return W_2 = min{F, C_h^r/alpha^r, C_h^r/beta^r} over all machines and resources."""
        ratios = (
            machine.capacity_of(r) / need
            for machine in self.instance.machines
            for r in self.instance.resources
            for need in (job.worker_needs(r), job.server_needs(r))
            if need
        )
        return float(min([Fraction(job.most_workers), *ratios]))

    def _stretched(self, width: float, covers: int) -> float:
        return 3 * Widths(width, covers, math.inf, 0).stretch(self.delta) / self.delta if width else math.inf

    def factor(self, ratio: float, choose: Callable[[list[float]], float] = max) -> float:
        """Return a ratio times max_r(1, ln(U^r/L)), in the print's notation 3 G epsilon/delta."""
        constants = self.defined_constants
        return ratio * choose([1.0, *map(constants.log_ratio, constants.high)])

    def promised(self, ratio: float, choose: Callable[[list[float]], float] = max) -> float:
        """Return twice that times ALG; infinite, so that it says nothing, where L = 0."""
        if not self.defined_constants.low:
            return math.inf
        return 2 * self.factor(ratio, choose) * self.printed.run.utility


class SmallRatioFacts(RatioFacts, SmallNeedsFacts):
    """The same where needs are small, as the journal assumes and the thesis does not.

    Parameters
    ----------
    instance : Instance
    seed : int
    delta : float
        Of G, in (0, 1].
    much_smaller : int
        How many times smaller needs are, at the least.
    """

    def __init__(
        self, instance: Instance, seed: int, *, delta: Delta = 1.0, much_smaller: Times = MUCH_SMALLER
    ) -> None:
        super().__init__(instance, seed, delta=delta)
        self.much_smaller = much_smaller


RATIOS = Subject(problem="dmlrs", instance=Instance, facts=RatioFacts, schedule=optimal_schedule)
"""What claims about the promised ratios are about."""

SMALL_RATIOS = Subject(problem="dmlrs", instance=Instance, facts=SmallRatioFacts, schedule=optimal_schedule)
"""What those of the journal are about."""


def _fewest(job: Job | AsyncJob) -> int:
    """Return min{m_w, m_p} of one chunk."""
    assert isinstance(job, AsyncJob)
    workers = math.ceil(job.minibatches_per_chunk * job.external_time)
    return min(workers, math.ceil(workers * job.external_rate / job.server_rate))


def known_alpha(instance: Instance, constants: PriceConstants) -> float:
    """Return what C dp/(p_old drho) of a run can be at the most, known before any job comes; at least 1.

    It is max over machines and resources of ((U^r/L)^(A/s) - 1) C/A, where A is the most that one job puts there in a
    slot with min{F, ceil(V kappa)} workers, than which no response has more, and s the amount at which the price is
    U^r. A price that `drho` more raises is (U^r/L)^(drho/s) times what it was, so that C dp/(p_old drho) =
    ((U^r/L)^(drho/s) - 1) C/drho, which rises in drho; and drho <= A.
    """
    jobs = [job for job in instance.jobs if can_earn(instance, job)]
    worst = 1.0
    for (name, r), saturation in constants.saturation.items():
        capacity = instance.machine(name).capacity_of(r)
        most = min(most_in_slot(jobs, r), capacity)
        if most:
            worst = max(worst, _rise(constants.log_ratio(r) * float(most / saturation)) * float(capacity / most))
    return worst


def _rise(exponent: float) -> float:
    """Return e^x - 1; infinite beyond the floats."""
    try:
        return expm1(exponent)
    except OverflowError:
        return math.inf
