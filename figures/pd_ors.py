"""The figures of PD-ORS, Section 5, and of its thesis version, chapter 3.

What the papers do not print is assumed as the presets say in their `origin`. PD-ORS runs with exact subproblems and
with (13) and (14) repaired: in the printed ranges some jobs need no GPU, by which (13) divides. The arrivals of
Google's trace are not at hand: Figs. 12 to 17 take its mixes of jobs with the arrivals of the other figures.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable
from fractions import Fraction

from dlsched.algorithms import optimum, pd_ors
from dlsched.algorithms.baselines.dmlrs import dorm, drf, fifo, oasis
from dlsched.bounds.comparison import Relation
from dlsched.bounds.pd_ors.remark import FIG_5, FeasibilityFacts
from dlsched.figures.figure import Figure, Statement
from dlsched.models.dmlrs import Instance, completions, preset

Values = dict[str, float]

_ASSUMED = "link rates, the length of a slot and the sizes of machines are not printed: assumed, see the preset"
_UTILITY = "total utility"
_BASELINES: dict[str, Callable[[Instance], float]] = {
    "FIFO": lambda instance: fifo.run(instance).utility,
    "DRF": lambda instance: drf.run(instance).utility,
    "Dorm": lambda instance: dorm.run(instance).utility,
    "OASiS": lambda instance: oasis.run(instance).utility,
}


def _best(series: str, *others: str) -> tuple[Statement, ...]:
    claims = {other: f"pd-ors/evaluation-{other.lower()}" for other in others}
    return tuple(
        Statement(f"{series} is worth more than {other}", series, Relation.AT_LEAST, other, claims[other])
        for other in others
    )


def _run(instance: Instance, seed: int) -> float:
    return pd_ors.run(instance, seed=seed, prices="repaired").utility


def _utilities(instance: Instance, seed: int, *baselines: str) -> Values:
    return {"PD-ORS": _run(instance, seed), **{name: _BASELINES[name](instance) for name in baselines}}


def _against(
    number: int,
    x: str,
    points: tuple[float, ...],
    make: Callable[[int, int], Instance],
    says: str,
    *,
    long: bool = False,
) -> Figure:
    """Return a figure of total utility beside FIFO, DRF and Dorm; a draw of a long one takes most of a minute."""
    others = ("FIFO", "DRF", "Dorm")
    return Figure(
        name=f"pd-ors/{number}",
        paper=f"PD-ORS, Fig. {number}",
        title="total utility",
        says=says,
        x=x,
        y=_UTILITY,
        points=points,
        quick=points[:1] if long else (points[0], points[-1]),
        quick_seeds=1 if long else 3,
        series=("PD-ORS", *others),
        draw=lambda at, seed: _utilities(make(int(at), seed), seed, *others),
        statements=_best("PD-ORS", *others),
        note=_ASSUMED,
    )


def _remark(at: float, seed: int) -> Values:
    facts = FeasibilityFacts(FIG_5, seed)
    return {f"W_a = {width}": facts.rhs(float(width), at) for width in FIG_5.cover_widths}


REMARK_1 = Figure(
    name="pd-ors/5",
    paper="PD-ORS, Fig. 5",
    title="3m exp(-G W_a/2) against delta, W_b = 15, r = 401, m = 1",
    says="The curves meet delta at .054, .032 and .019 for W_a = 30, 35 and 40",
    x="delta",
    y="right-hand side of Remark 1",
    points=tuple(k / 100 for k in range(2, 11)),
    quick=tuple(k / 100 for k in range(2, 11)),
    series=tuple(f"W_a = {width}" for width in FIG_5.cover_widths),
    draw=_remark,
    seeds=1,
    quick_seeds=1,
    note="exact: nothing is drawn; the crossings are those of the claim pd-ors/remark-1",
)

BY_MACHINES = _against(
    6,
    "machines H (T = 20, I = 50)",
    (10, 20, 40, 60, 80, 100),
    lambda at, seed: preset("paper", seed, jobs=50, machines=at, slots=20),
    "PD-ORS is best, and gains with the number of machines",
)

BY_JOBS = _against(
    7,
    "jobs I (T = 20, H = 100)",
    (10, 20, 30, 40, 50),
    lambda at, seed: preset("paper", seed, jobs=at, machines=100, slots=20),
    "PD-ORS is best, and its lead grows with the number of jobs",
)

OASIS = Figure(
    name="pd-ors/8",
    paper="PD-ORS, Fig. 8",
    title="PD-ORS and OASiS",
    says="PD-ORS is above OASiS, by more the more jobs there are, up to utilities of 1400",
    x="jobs I (T = 20, H = 100)",
    y=_UTILITY,
    points=(10, 20, 30, 40, 50),
    quick=(10, 50),
    series=("PD-ORS", "OASiS", "PD-ORS, K of all epochs", "OASiS, K of all epochs"),
    draw=lambda at, seed: _two_readings(preset("paper", seed, jobs=int(at), machines=100, slots=20), seed),
    statements=(
        *_best("PD-ORS", "OASiS"),
        Statement(
            "PD-ORS is worth more than OASiS where K_i counts the samples of all epochs",
            "PD-ORS, K of all epochs",
            Relation.AT_LEAST,
            "OASiS, K of all epochs",
        ),
    ),
    note="the printed ranges cannot reach the axis (pd-ors/section-5-ranges): drawn also with K_i read as the samples "
    f"of all epochs, which can; {_ASSUMED}",
)


def _two_readings(instance: Instance, seed: int) -> Values:
    jobs = tuple(job.model_copy(update={"epochs": Fraction(1)}) for job in instance.jobs)
    other = instance.model_copy(update={"jobs": jobs})
    return {
        **_utilities(instance, seed, "OASiS"),
        **{f"{name}, K of all epochs": value for name, value in _utilities(other, seed, "OASiS").items()},
    }


def _medians(at: float, seed: int) -> Values:
    instance = preset("paper", seed, jobs=int(at), machines=30, slots=80)
    runs = {"PD-ORS": pd_ors.run(instance, seed=seed, prices="repaired")}
    runs |= {"FIFO": fifo.run(instance), "DRF": drf.run(instance), "Dorm": dorm.run(instance)}
    found = {}
    for name, run in runs.items():
        ends = completions(instance, run.schedule)
        times = [ends[j.name] - j.arrival + 1 if j.name in ends else instance.slots for j in instance.jobs]
        found[name] = float(statistics.median(times))
    return found


TRAINING_TIME = Figure(
    name="pd-ors/9",
    paper="PD-ORS, Fig. 9",
    title="median training time, T where a job does not end",
    says="The median of PD-ORS is the smallest",
    x="jobs I (T = 80, H = 30)",
    y="median training time [slots]",
    points=(100,),
    quick=(100,),
    quick_seeds=1,
    series=("PD-ORS", "FIFO", "DRF", "Dorm"),
    draw=_medians,
    statements=tuple(
        Statement(f"the median of PD-ORS is below that of {other}", "PD-ORS", Relation.AT_MOST, other)
        for other in ("FIFO", "DRF", "Dorm")
    ),
    note=_ASSUMED,
)


def _ratio(at: float, seed: int) -> Values:
    instance = preset("paper", seed, jobs=10, machines=int(at), slots=10)
    best, alg = optimum(instance), _run(instance, seed)
    if best.value is None or not alg:
        return {"OPT/ALG": 1.0}
    return {"OPT/ALG": best.value / alg}


COMPETITIVE_RATIO = Figure(
    name="pd-ors/10",
    paper="PD-ORS, Fig. 10",
    title="competitive ratio",
    says="OPT over the utility of PD-ORS is between 1.0 and 1.4",
    x="machines H (I = T = 10)",
    y="OPT / PD-ORS",
    points=(2, 4, 6, 8, 10, 12),
    quick=(2, 12),
    series=("OPT/ALG",),
    draw=_ratio,
    statements=(Statement("the ratio is at most 1.4", "OPT/ALG", Relation.AT_MOST, 1.4, "pd-ors/ratio-1.4"),),
    note=f"the optimum is certified; an instance in which neither earns anything counts 1; {_ASSUMED}",
)

BY_MACHINES_TRACE = _against(
    12,
    "machines H (T = 80, I = 100)",
    (10, 20, 30, 40, 50),
    lambda at, seed: preset("paper", seed, jobs=100, machines=at, slots=80),
    "PD-ORS is best on arrivals of Google's trace",
    long=True,
)

BY_JOBS_TRACE = _against(
    13,
    "jobs I (T = 80, H = 30)",
    (20, 40, 60, 80, 100),
    lambda at, seed: preset("paper", seed, jobs=at, machines=30, slots=80),
    "PD-ORS is best on arrivals of Google's trace",
    long=True,
)


def _gains(number: int, mix: str, x: str, points: tuple[float, ...], jobs: int | None) -> Figure:
    """Return a figure of PD-ORS and OASiS with a mix of time-insensitive, -sensitive and -critical jobs."""

    def draw(at: float, seed: int) -> Values:
        sizes = {"jobs": int(at), "machines": 30} if jobs is None else {"jobs": jobs, "machines": int(at)}
        return _utilities(preset("paper", seed, slots=80, mix=mix, **sizes), seed, "OASiS")

    return Figure(
        name=f"pd-ors/{number}",
        paper=f"PD-ORS, Fig. {number}",
        title="PD-ORS and OASiS, " + ("10/55/35 %" if mix == "default" else "30/69/1 %") + " of jobs by sensitivity",
        says="PD-ORS gains up to 20 % over OASiS, less with fewer time-critical jobs",
        x=x,
        y=_UTILITY,
        points=points,
        quick=points[:1],
        quick_seeds=1,
        series=("PD-ORS", "OASiS"),
        draw=draw,
        statements=_best("PD-ORS", "OASiS"),
        note=f"Google's arrivals are not at hand; {_ASSUMED}",
    )


_H, _I = (10, 20, 30, 40, 50), (20, 40, 60, 80, 100)
"""Machines and jobs of Figs. 14 to 17."""

GAIN_BY_MACHINES = _gains(14, "default", "machines H (T = 80, I = 100)", _H, 100)
GAIN_BY_JOBS = _gains(15, "default", "jobs I (T = 80, H = 30)", _I, None)
GAIN_BY_MACHINES_FEWER = _gains(16, "google", "machines H (T = 80, I = 100)", _H, 100)
GAIN_BY_JOBS_FEWER = _gains(17, "google", "jobs I (T = 80, H = 30)", _I, None)


def _thesis(at: float, seed: int) -> Values:
    instance = preset("thesis", seed, jobs=int(at), machines=30, slots=100, ratio=40)
    return {
        "PD-ORS": pd_ors.run(instance, seed=seed, prices="repaired").utility,
        "OASiS": _BASELINES["OASiS"](instance),
    }


THESIS_OASIS = Figure(
    name="pd-ors-thesis/3.11",
    paper="PD-ORS, thesis, Fig. 3.11",
    title="PD-ORS and OASiS, asynchronous",
    says="PD-ORS reaches seven times the utility of OASiS with 15 jobs",
    x="jobs I (T = 100, H = 30, b_i/b_e = 40)",
    y=_UTILITY,
    points=(3, 6, 9, 12, 15),
    quick=(3, 15),
    series=("PD-ORS", "OASiS"),
    draw=_thesis,
    statements=(Statement("PD-ORS is worth more than OASiS", "PD-ORS", Relation.AT_LEAST, "OASiS"),),
    note=_ASSUMED,
)

BANDWIDTH_RATIO = Figure(
    name="pd-ors-thesis/3.12",
    paper="PD-ORS, thesis, Fig. 3.12",
    title="internal over external bandwidth",
    says="The utility rises steeply with the ratio, and is flat beyond 30",
    x="b_i / b_e (T = 50, H = 20)",
    y=_UTILITY,
    points=(1, 10, 20, 30, 40, 50, 60),
    quick=(1, 60),
    series=("PD-ORS",),
    draw=lambda at, seed: {
        "PD-ORS": pd_ors.run(preset("thesis", seed, jobs=15, machines=20, slots=50, ratio=int(at)), seed=seed).utility
    },
    note=_ASSUMED,
)

FIGURES = tuple(value for value in globals().values() if isinstance(value, Figure))
