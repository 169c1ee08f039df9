"""The figures of PD-ORS, Section 5.

What the paper does not print is assumed as the preset says in its `origin`. PD-ORS runs with exact subproblems and with
(13) and (14) repaired: in the printed ranges some jobs need no GPU, by which (13) divides.

In the printed ranges most jobs cannot finish, however many workers they get, and the utilities on the axes are out of
reach (claim pd-ors/section-5-ranges). So figures are drawn twice: as printed, and with K_i read as the samples of all
epochs, the nearest reading that does not rule them out from above (claim pd-ors/section-5-all-epochs); of Figs. 8 and
16 it goes beyond the axis.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable

from dlsched.algorithms import pd_ors
from dlsched.algorithms.baselines.dmlrs import dorm, drf, fifo, oasis
from dlsched.algorithms.run import Run
from dlsched.bounds.comparison import Relation
from dlsched.bounds.pd_ors.families import all_epochs
from dlsched.bounds.pd_ors.remark import FIG_5, FeasibilityFacts
from dlsched.figures.certified import certified, ratio
from dlsched.figures.figure import Figure, Statement, Trend, between, pulling_ahead
from dlsched.models.dmlrs import Instance, Schedule, completions, preset

Values = dict[str, float]
Algorithm = Callable[[Instance, int], Run[Schedule]]

_ALGORITHMS: dict[str, Algorithm] = {
    "PD-ORS": lambda instance, seed: pd_ors.run(instance, seed=seed, prices="repaired"),
    "OASiS": lambda instance, seed: oasis.run(instance),
    "Dorm": lambda instance, seed: dorm.run(instance, seed=seed),
    "DRF": lambda instance, seed: drf.run(instance),
    "FIFO": lambda instance, seed: fifo.run(instance, seed=seed),
}
_SYNTHETIC = ("FIFO", "DRF", "Dorm")
_TRACE = (*_SYNTHETIC, "OASiS")

_EXACT = "PD-ORS has exact subproblems where the paper rounds, and (13) and (14) are repaired"
_ASSUMED = "link rates, the length of a slot and the sizes of machines are not printed: assumed, see the preset"
_ALL = "K of all epochs"
_TWICE = (
    "the printed ranges cannot reach the axis (pd-ors/section-5-ranges): drawn also with K_i read as the samples of "
    f"all epochs, which does not rule it out from above (pd-ors/section-5-all-epochs); {_ASSUMED}"
)
_NO_TRACE = (
    "Google's timestamps are not at hand: jobs arrive at rates 1/3 and 2/3 in odd and even slots, as in the synthetic "
    "figures"
)
_H, _I = (10, 20, 30, 40, 50), (20, 40, 60, 80, 100)
"""Machines and jobs of Figs. 12 to 17; those of Fig. 12 and 13 are assumed to be those of the others."""


def _read(name: str) -> str:
    """Return the name of a series where K_i counts the samples of all epochs."""
    return f"{name}, {_ALL}"


def _twice(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(read for name in names for read in (name, _read(name)))


def _utilities(instance: Instance, seed: int, names: Iterable[str]) -> Values:
    """Return what algorithms are worth in both readings."""
    values = {}
    for name in names:
        values[name] = _ALGORITHMS[name](instance, seed).utility
        values[_read(name)] = _ALGORITHMS[name](all_epochs(instance), seed).utility
    return values


def _best(others: Iterable[str]) -> tuple[Statement, ...]:
    """Return the statements that PD-ORS is worth more than others, in both readings."""
    statements = []
    for other in others:
        text = f"PD-ORS is worth more than {other}"
        claim = f"pd-ors/evaluation-{other.lower()}"
        statements.append(Statement(text, "PD-ORS", Relation.AT_LEAST, other, claim))
        statements.append(Statement(_read(text), _read("PD-ORS"), Relation.AT_LEAST, _read(other), guessed=True))
    return tuple(statements)


def _leads(others: tuple[str, ...], points: tuple[float, ...], along: str) -> tuple[Trend, ...]:
    """Return the statements that the lead of PD-ORS grows, in both readings."""
    again = [_read(other) for other in others]
    return (
        *pulling_ahead("PD-ORS", others, points, along),
        *pulling_ahead(_read("PD-ORS"), again, points, along, guessed=again),
    )


def _remark(at: float, seed: int) -> Values:
    facts = FeasibilityFacts(FIG_5, seed)
    return {"delta": at, **{f"W_a = {width}": facts.rhs(float(width), at) for width in FIG_5.cover_widths}}


_DELTAS = tuple(k / 100 for k in range(2, 11))

REMARK_1 = Figure(
    name="pd-ors/5",
    paper="PD-ORS, Fig. 5",
    title="3m exp(-G W_a/2) against delta, W_b = 15, r = 401, m = 1",
    says="As W_a increases, the curve of the right-hand side crosses the line of the left, delta, at a smaller delta",
    x="delta",
    y="right-hand side of Remark 1",
    points=_DELTAS,
    quick=_DELTAS,
    series=("delta", *(f"W_a = {width}" for width in FIG_5.cover_widths)),
    draw=_remark,
    seeds=1,
    quick_seeds=1,
    note="exact: nothing is drawn at random; the crossings, computed here and not printed, are .054, .032 and .019 for "
    "W_a = 30, 35 and 40, as in the claim pd-ors/remark-1",
)


def _against(
    number: int,
    along: str,
    x: str,
    points: tuple[float, ...],
    make: Callable[[int, int], Instance],
    *,
    trace: bool = False,
) -> Figure:
    """Return a figure of total utility beside the baselines; a draw on the trace's horizon takes minutes."""
    others = _TRACE if trace else _SYNTHETIC
    names = ("PD-ORS", *others)
    says = "PD-ORS is best on arrivals of Google's trace" if trace else f"PD-ORS is best, and gains with the {along}"
    return Figure(
        name=f"pd-ors/{number}",
        paper=f"PD-ORS, Fig. {number}",
        title="total utility",
        says=says,
        x=x,
        y="total utility",
        points=points,
        quick=points[:1] if trace else (points[0], points[-1]),
        quick_seeds=1,
        series=_twice(names),
        draw=lambda at, seed: _utilities(make(int(at), seed), seed, names),
        statements=(*_best(others), *(() if trace else _leads(others, points, along))),
        note=f"{_EXACT}; {f'{_NO_TRACE}; ' if trace else ''}{_TWICE}",
    )


BY_MACHINES = _against(
    6,
    "number of machines",
    "machines H (T = 20, I = 50)",
    (10, 20, 40, 60, 80, 100),
    lambda at, seed: preset("paper", seed, jobs=50, machines=at, slots=20),
)

BY_JOBS = _against(
    7,
    "number of jobs",
    "jobs I (T = 20, H = 100)",
    (10, 20, 30, 40, 50),
    lambda at, seed: preset("paper", seed, jobs=at, machines=100, slots=20),
)


def _oasis(at: float, seed: int) -> Values:
    return _utilities(preset("paper", seed, jobs=int(at), machines=100, slots=20), seed, ("PD-ORS", "OASiS"))


OASIS = Figure(
    name="pd-ors/8",
    paper="PD-ORS, Fig. 8",
    title="PD-ORS and OASiS",
    says="PD-ORS is above OASiS, by more the more jobs there are; utilities are 200 to 1400",
    x="jobs I (T = 20, H = 100)",
    y="total utility",
    points=(10, 20, 30, 40, 50),
    quick=(10, 50),
    series=_twice(("PD-ORS", "OASiS")),
    draw=_oasis,
    statements=(*_best(("OASiS",)), *_leads(("OASiS",), (10, 50), "number of jobs")),
    note=f"in the second reading both go beyond the axis, which ends at 1400; {_EXACT}; {_TWICE}",
)


def _median(instance: Instance, run: Run[Schedule]) -> float:
    """Return the median of completion less arrival, T where a job does not end."""
    ends = completions(instance, run.schedule)
    times = (ends[job.name] - job.arrival if job.name in ends else instance.slots for job in instance.jobs)
    return float(statistics.median(times))


_PRINTED = "as printed"


def _medians(at: float, seed: int) -> Values:
    algorithm = list(_ALGORITHMS.values())[int(at)]
    instance = preset("paper", seed, jobs=100, machines=30, slots=80)
    readings = {_PRINTED: instance, _ALL: all_epochs(instance)}
    return {name: _median(read, algorithm(read, seed)) for name, read in readings.items()}


TRAINING_TIME = Figure(
    name="pd-ors/9",
    paper="PD-ORS, Fig. 9",
    title="median training time, T where a job does not end",
    says="The median of PD-ORS is the smallest; all are below 35 slots",
    x="scheme (T = 80, H = 30, I = 100)",
    y="median training time [slots]",
    points=tuple(range(len(_ALGORITHMS))),
    quick=(0, len(_ALGORITHMS) - 1),
    quick_seeds=1,
    series=(_PRINTED, _ALL),
    labels=tuple(_ALGORITHMS),
    draw=_medians,
    statements=tuple(
        between(
            f"the median of PD-ORS is below that of {other}, {reading}",
            reading,
            0,
            Relation.AT_MOST,
            x,
            guessed=reading == _ALL,
        )
        for reading in (_PRINTED, _ALL)
        for x, other in enumerate(_ALGORITHMS)
        if x
    ),
    note="in the printed ranges few jobs can end, so that medians are T: drawn also with K_i read as the samples of "
    f"all epochs; {_EXACT}; {_ASSUMED}",
)


def _ratios(at: float, seed: int) -> Values:
    instance = preset("paper", seed, jobs=10, machines=int(at), slots=10)
    return {_PRINTED: _ratio(instance, seed), _ALL: _ratio(all_epochs(instance), seed)}


def _ratio(instance: Instance, seed: int) -> float:
    return ratio(certified(instance), _ALGORITHMS["PD-ORS"](instance, seed).utility)


COMPETITIVE_RATIO = Figure(
    name="pd-ors/10",
    paper="PD-ORS, Fig. 10",
    title="competitive ratio",
    says="OPT over the utility of PD-ORS is between 1.0 and 1.4",
    x="machines H (I = T = 10)",
    y="OPT / PD-ORS",
    points=(2, 4, 6, 8, 10, 12),
    quick=(2, 12),
    series=(_PRINTED, _ALL),
    draw=_ratios,
    statements=(
        Statement(f"the ratio is at most 1.4, {_PRINTED}", _PRINTED, Relation.AT_MOST, 1.4, "pd-ors/ratio-1.4"),
        Statement(f"the ratio is at most 1.4, {_ALL}", _ALL, Relation.AT_MOST, 1.4, guessed=True),
    ),
    note="the optimum is certified; in the printed ranges it is often 0, and a draw has no ratio: drawn also with K_i "
    f"read as the samples of all epochs; {_EXACT}; {_ASSUMED}",
)


def _rounded(at: float, seed: int) -> Values:
    instance = preset("paper", seed, jobs=50, machines=100, slots=20)
    return {name: _share(read, at, seed) for name, read in ((_PRINTED, instance), (_ALL, all_epochs(instance)))}


def _share(instance: Instance, gain: float, seed: int) -> float:
    """Return the utility of PD-ORS, one rounding a schedule, over the optimum."""
    run = pd_ors.run(
        instance,
        seed=seed,
        variant="printed",
        prices="repaired",
        program="worker-slots",
        gain=gain,
        rounds=1,
        optimum="even",
    )
    return 1.0 / ratio(certified(instance), run.utility)


_GAINS = (0.2, 0.4, 0.6, 0.8, 1.0, 1.2)
"""Of Fig. 11's axis."""

GAIN_FACTOR = Figure(
    name="pd-ors/11",
    paper="PD-ORS, Fig. 11",
    title="PD-ORS with rounding over the optimum, by the pre-rounding gain",
    says="The ratio of OPT to PD-ORS is best at G = 1; its axis goes to 20",
    x="G (T = 20, H = 100, I = 50)",
    y="PD-ORS / OPT",
    points=_GAINS,
    quick=(1.0,),
    quick_seeds=1,
    seeds=8,
    series=(_PRINTED, _ALL),
    draw=_rounded,
    statements=tuple(
        between(
            f"it is worth most at G = 1, compared with G = {gain}, {reading}",
            reading,
            1.0,
            Relation.AT_LEAST,
            gain,
            guessed=reading == _ALL,
        )
        for reading in (_PRINTED, _ALL)
        for gain in _GAINS
        if gain != 1
    ),
    note="PD-ORS over OPT is drawn, as OPT over PD-ORS is infinite where nothing is placed. Algorithm 4 leaves open "
    "which optimum of the relaxation is rounded: the one in which equal machines have equal parts, whose roundings are "
    "feasible the most often. After 5000 rounds a state (t, v) is given up, where the paper drops the job, which is "
    f"harsher; {_TWICE}",
)

BY_MACHINES_TRACE = _against(
    12,
    "number of machines",
    "machines H (T = 80, I = 100)",
    _H,
    lambda at, seed: preset("paper", seed, jobs=100, machines=at, slots=80),
    trace=True,
)

BY_JOBS_TRACE = _against(
    13,
    "number of jobs",
    "jobs I (T = 80, H = 30)",
    _I,
    lambda at, seed: preset("paper", seed, jobs=at, machines=30, slots=80),
    trace=True,
)


_MIXES = {"default": "10/55/35 %", "google": "30/69/1 %"}
_GAIN = "gain [%]"


def _gains(number: int, mix: str, by_machines: bool, axis: str, *, note: str, most: float | None = None) -> Figure:
    """Return a figure of PD-ORS and OASiS with a mix of time-insensitive, -sensitive and -critical jobs.

    The utilities are on an axis, and the gain is at most the last tick of its own, if the paper shows it. Where few are
    critical, the gain with the usual mix is there too, as the paper compares the two.
    """
    points = _H if by_machines else _I
    gain, usual = _read(_GAIN), f"{_read(_GAIN)}, {_MIXES['default']}"
    compared = mix != "default"
    gains = (gain, usual) if compared else (gain,)

    def instance(mix: str, at: float, seed: int) -> Instance:
        sizes = {"jobs": 100, "machines": int(at)} if by_machines else {"jobs": int(at), "machines": 30}
        return preset("paper", seed, slots=80, mix=mix, **sizes)

    def draw(at: float, seed: int) -> Values:
        found = _utilities(instance(mix, at, seed), seed, ("PD-ORS", "OASiS"))
        found[gain] = _gain(found[_read("PD-ORS")], found[_read("OASiS")])
        if compared:
            other = all_epochs(instance("default", at, seed))
            found[usual] = _gain(*(_ALGORITHMS[name](other, seed).utility for name in ("PD-ORS", "OASiS")))
        return found

    return Figure(
        name=f"pd-ors/{number}",
        paper=f"PD-ORS, Fig. {number}",
        title=f"PD-ORS and OASiS, {_MIXES[mix]} of jobs by sensitivity",
        says=f"PD-ORS is above OASiS{f', by up to {most:g} %' if most else ''}"
        f"{', and by less with fewer time-critical jobs' if compared else ''}; utilities are {axis}",
        x="machines H (T = 80, I = 100)" if by_machines else "jobs I (T = 80, H = 30)",
        y="total utility",
        points=points,
        quick=points[:1],
        quick_seeds=1,
        series=(*_twice(("PD-ORS", "OASiS")), *gains),
        right=gains,
        right_y="gain over OASiS [%]",
        draw=draw,
        statements=(
            *_best(("OASiS",)),
            *((Statement(f"the gain is at most {most:g} %, {_ALL}", gain, Relation.AT_MOST, most),) if most else ()),
            *(
                (Statement(f"the gain is less with fewer critical jobs, {_ALL}", gain, Relation.AT_MOST, usual),)
                if compared
                else ()
            ),
        ),
        note=f"{note}; {_EXACT}; {_NO_TRACE}; {_TWICE}",
    )


def _gain(ours: float, theirs: float) -> float:
    """Return by how many percent the one is more than the other; 0 where that is nothing."""
    return 100 * (ours / theirs - 1) if theirs else 0.0


_TICKS = "the most that the paper shows is read off as the last tick of an axis"
GAIN_BY_MACHINES = _gains(
    14,
    "default",
    True,
    "1000 to 4000",
    note="the paper has no gain here: drawn to compare Fig. 15 with",
)
GAIN_BY_MACHINES_FEWER = _gains(15, "google", True, "0 to 5000", most=20.0, note=_TICKS)
GAIN_BY_JOBS = _gains(
    16,
    "default",
    False,
    "0 to 2000",
    most=20.0,
    note=f"{_TICKS}; in the second reading both go beyond that of utilities with 100 jobs",
)
GAIN_BY_JOBS_FEWER = _gains(17, "google", False, "0 to 4000", most=10.0, note=_TICKS)

FIGURES = tuple(value for value in globals().values() if isinstance(value, Figure))
