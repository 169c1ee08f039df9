"""Pictures of what algorithms leave behind: prices over time, and what an exact method knew when."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from dlsched.algorithms.exact.dispatch import optimum
from dlsched.algorithms.exact.result import Optimum
from dlsched.algorithms.run import Run
from dlsched.arguments import checked
from dlsched.errors import InputError
from dlsched.models import picture
from dlsched.models.document import Document
from dlsched.tolerances import CHEAP


@checked
def plot_prices(instance: Document, run: Run, ax: Any = None) -> Any:
    """Draw the prices at the end of a run: by slot, of each device type or resource, between its machines.

    A line is the mean of the machines that have it, and the area about it reaches from the least to the greatest.
    Prices a billion times smaller than the greatest are below the picture.

    Parameters
    ----------
    instance : Instance
    run : Run
        Of an algorithm with prices by (machine, resource, slot): Hadar's or PD-ORS.
    ax : matplotlib.axes.Axes, optional
        Drawn into; a new figure where it is left out.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    InputError
        If the algorithm has no such prices.
    MissingExtra
        If matplotlib is not installed.

    Examples
    --------
    >>> from dlsched.algorithms import hadar, plot_prices
    >>> from dlsched.models import hadar as problem
    >>> instance = problem.random(0)
    >>> ax = plot_prices(instance, hadar.run(instance))
    >>> ax.get_ylabel()
    'price of a unit for a slot'
    """
    if not run.prices:
        raise InputError("run: the algorithm has no prices, or there was nothing to price")
    # HadarE's are by node and slot.
    if any(len(key) != 3 for key in run.prices):
        raise InputError("run: its prices are not by machine, resource and slot, as those of hadar and pd_ors are")
    last = max(slot for _, _, slot in run.prices)
    by_resource: dict[str, list[list[float]]] = {}
    for (_, resource, slot), price in run.prices.items():
        by_resource.setdefault(resource, [[] for _ in range(last)])[slot - 1].append(price)
    means = {r: [_over(prices, _mean) for prices in found] for r, found in by_resource.items()}
    ax = picture.curves(means, 1, last, getattr(instance, "slot_seconds", None), ax)
    edges = [slot + 0.5 for slot in range(last + 1)]
    for r, style in picture.styles(by_resource).items():
        least, greatest = ([_over(prices, end) for prices in by_resource[r]] for end in (min, max))
        ax.stairs(greatest, edges, baseline=least, fill=True, alpha=0.15, color=style.colour)
    most, low = max(run.prices.values()), min(run.prices.values())
    ax.use_sticky_edges = False
    picture.wide(ax.set_yscale, [max(price, CHEAP * most) for price in run.prices.values()])
    if low < CHEAP * most:
        ax.set_ylim(bottom=CHEAP * most)
    head = picture.headline(run.utility, len(run.schedule.jobs), len(getattr(instance, "jobs", ())))
    ax.set(ylabel="price of a unit for a slot", title=f"{head}: prices at the end")
    return ax


def _over(prices: Sequence[float], value: Callable[[Sequence[float]], float]) -> float:
    return value(prices) if prices else math.nan


def _mean(prices: Sequence[float]) -> float:
    return math.fsum(prices) / len(prices)


@dataclass(frozen=True, slots=True)
class Moment:
    """What an exact method knew at some time.

    Attributes
    ----------
    seconds : float
        Since it began.
    phase : str
    lower, upper : float
        Value of the best schedule, minus infinity where there is none; the least upper bound.

    Examples
    --------
    >>> from dlsched.algorithms import watched_optimum
    >>> from dlsched.models import hadar
    >>> best, moments = watched_optimum(hadar.random(0))
    >>> all(moment.lower <= best.value <= moment.upper for moment in moments)
    True
    """

    seconds: float
    phase: str
    lower: float
    upper: float


@checked
def watched_optimum(
    instance: Document, *, time_limit: float | None = None, **options: Any
) -> tuple[Optimum, list[Moment]]:
    """Return the certified optimum of an instance, and what was known when.

    Parameters
    ----------
    instance : Instance
    time_limit : float, optional
    **options
        As of `optimum`.

    Examples
    --------
    >>> from dlsched.algorithms import watched_optimum
    >>> from dlsched.models import hadar
    >>> best, moments = watched_optimum(hadar.random(0))
    >>> best.proved, moments[-1].lower == best.value
    (True, True)
    """
    start, moments = time.perf_counter(), list[Moment]()
    told = options.pop("progress", None)

    def progress(phase: str, lower: float, upper: float) -> None:
        moments.append(Moment(time.perf_counter() - start, phase, lower, upper))
        if told is not None:
            told(phase, lower, upper)

    best = optimum(instance, time_limit=time_limit, progress=progress, **options)
    if best.value is not None and best.bound is not None:
        moments.append(Moment(time.perf_counter() - start, "end", best.value, best.bound))
    return best, moments


@checked
def plot_gap(moments: Sequence[Moment], ax: Any = None) -> Any:
    """Draw the best schedule's value and the bound over time, and the gap between them.

    Parameters
    ----------
    moments : sequence of Moment
        As of `watched_optimum`, in order of time.
    ax : matplotlib.axes.Axes, optional
        Drawn into; a new figure where it is left out.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    InputError
        If nothing was ever known.
    MissingExtra
        If matplotlib is not installed.

    Examples
    --------
    >>> from dlsched.algorithms import Moment, plot_gap
    >>> plot_gap([Moment(0.1, "first", 1.0, 4.0), Moment(2.0, "cuts", 3.0, 3.0)]).get_title()
    'value 3, bound 3, gap 0 % after 2 s'
    """
    if not any(map(math.isfinite, (end for moment in moments for end in (moment.lower, moment.upper)))):
        raise InputError("moments: neither a schedule nor a bound was known")
    ax = picture.drawn_in(ax, 8.0, 4.0)
    seconds = [moment.seconds for moment in moments]
    lower, upper = ([_finite(v) for v in ends] for ends in zip(*((m.lower, m.upper) for m in moments), strict=True))
    below, above = picture.styles(("best schedule", "bound")).items()
    for (name, style), values in ((below, lower), (above, upper)):
        ax.step(seconds, values, where="post", label=name, marker=".", **style.line)
    ax.fill_between(seconds, lower, upper, step="post", alpha=0.15, color="#888888", label="gap")
    last = moments[-1]
    gap = (last.upper - last.lower) / max(abs(last.upper), abs(last.lower)) if last.upper != last.lower else 0.0
    ax.set(xlabel="time [s]", ylabel="utility", xlim=(0, max(last.seconds, seconds[0]) or 1))
    ax.set_title(f"value {last.lower:.6g}, bound {last.upper:.6g}, gap {100 * gap:.3g} % after {last.seconds:.3g} s")
    ax.grid(alpha=0.3)
    picture.legend(ax)
    return ax


def _finite(value: float) -> float:
    return value if math.isfinite(value) else math.nan
