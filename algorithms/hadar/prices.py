"""The prices of Hadar's analysis: the price function (5) and its constants (6), (7), printed, canonical and corrected.

Symbols: k_h^r(t) price of one device of type r on machine h in slot t; gamma_h^r(t) devices allocated there;
c_h^r devices there are; W_j gang; X_j^r iterations per second and device; L seconds a slot; Q_j = E_j N_j iterations;
a_j arrival; T slots; U_j utility. Durations are in slots; w_j^r, sum_r w_j^r and M_j, which the paper does not define,
are read as W_j.

What the corrected constants are for: with exact best responses, the final prices and payoffs are feasible for the dual
P3, so that their value D_f is at least OPT, and D_0 <= OPT/4. Then OPT <= (4/3) max(1, alpha) ALG, where alpha is the
greatest c dk / (k_old dgamma) of the run (`alpha_measured`), because each admission raises the primal by at least
1/max(1, alpha) of what it raises the dual by. As printed each of the three steps fails:

- D_0 <= OPT/2 fails on one device, T = 10 and a one-slot job worth 1 (D_0 = 5/2): eta lacks a factor T.
- A schedule that does not fit beside the earlier ones must be priced out. k = Umax at gamma = c does not do that: Umax
  is per gang where one device may be all that is missing, and the price has not reached it before the cell is full.
  With Umax = max_j U_j(0), and this price from gamma = c - A + 1 on, A the most devices that any one job can take
  there, a schedule that does not fit uses a device that costs at least its utility.
- alpha = ln(Umax/Umin) satisfies only the differential relation (Definition 2), not the discrete one.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction

from dlsched.algorithms.run import Variant
from dlsched.arguments import checked
from dlsched.arithmetic import exp, log
from dlsched.models.hadar import Instance, Job

Cell = tuple[str, str]
"""A machine's name and the name of a type of which it has devices."""


class Eta(StrEnum):
    """1/eta = min_j tmax_j W_j / (sum c), printed, or also divided by T, as D_0 <= OPT/2 needs.

    Examples
    --------
    >>> from dlsched.algorithms import hadar
    >>> from dlsched.models.hadar import random
    >>> for eta in hadar.Eta:
    ...     print(eta.value, hadar.constants(random(0), eta=eta).inverse_eta)
    printed 1/4
    with-T 1/12
    """

    PRINTED = "printed"
    WITH_T = "with-T"


class Argument(StrEnum):
    """What U_j takes in (6): tmin_j - a_j, printed, or the least duration tmin_j - 1, canonical.

    Examples
    --------
    >>> from dlsched.algorithms import hadar
    >>> from dlsched.models.hadar import random
    >>> for argument in hadar.Argument:
    ...     print(argument.value, hadar.constants(random(2), "printed", argument=argument).umax["type1"])
    printed 10
    canonical 17/2
    """

    PRINTED = "printed"
    CANONICAL = "canonical"


class Umax(StrEnum):
    """(6): max_j U_j(...) / W_j, printed, or max_j U_j(0), for one device.

    Examples
    --------
    >>> from dlsched.algorithms import hadar
    >>> from dlsched.models.hadar import random
    >>> for umax in hadar.Umax:
    ...     print(umax.value, hadar.constants(random(0), umax=umax).umax["type1"])
    per-gang 17
    per-device 19
    """

    PER_GANG = "per-gang"
    PER_DEVICE = "per-device"


class Population(StrEnum):
    """The jobs that (6) and (7) range over: all, printed, or those that can finish while worth something.

    Examples
    --------
    >>> from dlsched.algorithms import hadar
    >>> from dlsched.models.hadar import random
    >>> for population in hadar.Population:
    ...     print(population.value, sorted(hadar.constants(random(0), population=population).tmin))
    all ['job1', 'job2', 'job3']
    finishing ['job2', 'job3']
    """

    ALL = "all"
    FINISHING = "finishing"


class Saturation(StrEnum):
    """Where the price reaches Umax: when the cell is full, printed, or as soon as some gang may not fit.

    Examples
    --------
    >>> from dlsched.algorithms import hadar
    >>> from dlsched.models.hadar import random
    >>> for saturation in hadar.Saturation:
    ...     found = hadar.constants(random(0), saturation=saturation)
    ...     print(saturation.value, round(found.price("machine1", "type1", 1), 3))
    full 1.059
    gang 19.0
    """

    FULL = "full"
    GANG = "gang"


_VARIANTS = {
    Variant.PRINTED: (Eta.PRINTED, Argument.PRINTED, Umax.PER_GANG, Population.ALL, Saturation.FULL),
    Variant.CORRECTED: (Eta.WITH_T, Argument.CANONICAL, Umax.PER_DEVICE, Population.FINISHING, Saturation.GANG),
}


@dataclass(frozen=True, slots=True)
class PriceConstants:
    """The constants of the price function (5).

    Attributes
    ----------
    tmin, tmax : dict of str to int
        Slots that each job takes on its fastest and its slowest type, by job; types without progress do not count.
    inverse_eta : Fraction
        1/eta; 0 where there is no job.
    umin, umax : dict of str to Fraction
        Lowest and highest price of one device in one slot, by type.
    d0 : Fraction
        D_0 = T sum_h sum_r c_h^r Umin^r, the dual value before any admission.
    saturation : dict of (str, str) to int
        Devices allocated at which the price reaches Umax^r, by (machine, type).

    Examples
    --------
    >>> from dlsched.algorithms import hadar
    >>> from dlsched.models.hadar import random
    >>> found = hadar.constants(random(0), "printed")
    >>> [round(found.price("machine1", "type1", devices), 3) for devices in range(3)]
    [0.156, 1.63, 17.0]
    >>> print(f"alpha = {found.alpha:.3f}")
    alpha = 4.690
    """

    tmin: dict[str, int]
    tmax: dict[str, int]
    inverse_eta: Fraction
    umin: dict[str, Fraction]
    umax: dict[str, Fraction]
    d0: Fraction
    saturation: dict[Cell, int]

    @property
    def alpha(self) -> float:
        """The alpha of Theorem 2, max_r(1, ln(Umax^r / Umin^r)); infinite where a lowest price is 0."""
        return max([1.0, *(_log_ratio(self.umax[r], self.umin[r]) for r in self.umin)])

    def price(self, machine: str, type_: str, devices: float) -> float:
        """Return k (5), the price of one device in a slot in which `devices` are allocated there.

        It is Umin (Umax/Umin)^(gamma/s), s the cell's `saturation`, and Umax from there on. Where Umin is 0 it is the
        limit of that as Umin falls to 0: 0 below the saturation.
        """
        low, high = float(self.umin[type_]), float(self.umax[type_])
        share = devices / self.saturation[machine, type_]
        if share >= 1:
            return high
        if devices == 0 or low == 0 or high == 0:
            return low if devices == 0 else 0.0
        return exp((1 - share) * log(low) + share * log(high))


@checked
def constants(
    instance: Instance,
    variant: Variant | str = Variant.CORRECTED,
    *,
    eta: Eta | str | None = None,
    argument: Argument | str | None = None,
    umax: Umax | str | None = None,
    population: Population | str | None = None,
    saturation: Saturation | str | None = None,
) -> PriceConstants:
    """Return the constants (6) and (7) of an instance.

    Parameters
    ----------
    instance : Instance
    variant : str
        ``"printed"``: as the paper has them. ``"corrected"``: those of the corrected theorem.
    eta, argument, umax, population, saturation : str, optional
        Values of `Eta`, `Argument`, `Umax`, `Population` and `Saturation`, where they are to differ from the variant's.

    Raises
    ------
    InputError
        If an option has no such value.

    Notes
    -----
    Guards where the paper has none. A type on which a job makes no progress does not count in its tmax. As printed,
    a job with U_j(T - a_j) = 0 makes Umin = 0, so prices are 0 until a cell is full. Corrected: (7) takes U_j at the
    last slot of the horizon at which it is positive, and jobs that cannot finish while worth something are dropped;
    then D_0 <= min_j U_j / 4 <= OPT / 4 still holds, since the optimum may admit any of the remaining jobs alone.
    Without jobs all prices are 0.

    Examples
    --------
    >>> from dlsched.algorithms import hadar
    >>> from dlsched.models.hadar import random
    >>> instance = random(0)
    >>> for variant in ("printed", "corrected"):
    ...     found = hadar.constants(instance, variant)
    ...     print(variant, found.umin["type1"], found.umax["type1"], found.d0)
    printed 5/32 17 15/8
    corrected 17/288 19 17/24
    >>> hadar.run(instance, prices=hadar.constants(instance, umax="per-gang")).utility
    34.0
    """
    defaults = _VARIANTS[Variant(variant)]
    chosen_eta = defaults[0] if eta is None else Eta(eta)
    chosen_argument = defaults[1] if argument is None else Argument(argument)
    chosen_umax = defaults[2] if umax is None else Umax(umax)
    finishing = (defaults[3] if population is None else Population(population)) is Population.FINISHING
    gangs = (defaults[4] if saturation is None else Saturation(saturation)) is Saturation.GANG
    jobs = [job for job in instance.jobs if not finishing or can_earn(instance, job)]
    tmin = {job.name: _slots(instance, job, max(_rates(job))) for job in jobs}
    tmax = {job.name: _slots(instance, job, min(_rates(job))) for job in jobs}
    inverse_eta = _inverse_eta(instance, jobs, tmax, chosen_eta)
    last = _last_positive if finishing else _at_horizon
    low = min((last(instance, job) / (tmax[job.name] * job.gang) for job in jobs), default=Fraction(0))
    high = max((_top(job, tmin[job.name], chosen_argument, chosen_umax) for job in jobs), default=Fraction(0))
    umin = inverse_eta / 4 * low
    return PriceConstants(
        tmin=tmin,
        tmax=tmax,
        inverse_eta=inverse_eta,
        umin=dict.fromkeys(instance.device_types, umin),
        umax=dict.fromkeys(instance.device_types, high),
        d0=instance.slots * instance.devices * umin,
        saturation=_saturation(instance, jobs if gangs else []),
    )


@checked
def earliest_completion(instance: Instance, job: Job) -> int | None:
    """Return the slot in which a job finishes with the cluster to itself; None where not even that is within T.

    In every slot it runs at the fastest bottleneck: the fastest type such that at least W_j devices are no slower.

    Examples
    --------
    >>> from dlsched.algorithms import hadar
    >>> from dlsched.models.hadar import random
    >>> instance = random(0)
    >>> [hadar.earliest_completion(instance, job) for job in instance.jobs]
    [None, 3, 3]
    """
    devices = 0
    for r in instance.usable_types(job):
        devices += instance.capacity[r]
        if devices >= job.gang:
            completion = job.arrival - 1 + _slots(instance, job, job.rate_on(r))
            return completion if completion <= instance.slots else None
    return None


def can_earn(instance: Instance, job: Job) -> bool:
    """Tell whether a job, with the cluster to itself, finishes while its utility is still positive."""
    completion = earliest_completion(instance, job)
    return completion is not None and job.utility.exact(completion - job.arrival) > 0


def _log_ratio(high: Fraction, low: Fraction) -> float:
    if high <= 0:
        return 0.0
    return math.inf if low == 0 else log(high) - log(low)


def _rates(job: Job) -> list[Fraction]:
    return [rate for rate in job.rate.values() if rate]


def _slots(instance: Instance, job: Job, rate: Fraction) -> int:
    return math.ceil(job.iterations / (job.gang * rate * instance.slot_seconds))


def _inverse_eta(instance: Instance, jobs: Iterable[Job], tmax: dict[str, int], eta: Eta) -> Fraction:
    least = min((Fraction(tmax[job.name] * job.gang, instance.devices) for job in jobs), default=Fraction(0))
    return least / instance.slots if eta is Eta.WITH_T else least


def _at_horizon(instance: Instance, job: Job) -> Fraction:
    return job.utility.exact(instance.slots - job.arrival)


def _last_positive(instance: Instance, job: Job) -> Fraction:
    """Return U_j at the last slot of the horizon at which it is positive, or else at the arrival."""
    return job.utility.exact((instance.last_useful_slot(job) or job.arrival) - job.arrival)


def _top(job: Job, tmin: int, argument: Argument, umax: Umax) -> Fraction:
    if umax is Umax.PER_DEVICE:
        return job.utility.exact(0)
    return job.utility.exact(tmin - (job.arrival if argument is Argument.PRINTED else 1)) / job.gang


def _saturation(instance: Instance, jobs: list[Job]) -> dict[Cell, int]:
    """Return c - A + 1 by cell, A the most devices that one of the jobs can use there; c where there are none."""
    gangs = {r: max((job.gang for job in jobs if job.rate_on(r)), default=1) for r in instance.device_types}
    return {
        (machine.name, r): count - min(gangs[r], count) + 1
        for machine in instance.machines
        for r in instance.device_types
        if (count := machine.count(r))
    }
