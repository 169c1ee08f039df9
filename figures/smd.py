"""The figures of SMD, Section V: total utility beside ESW and Optimus, the ratio to the optimum, and what is used.

SMD runs as the paper evaluates it: printed, with M = 1 and eps = .01, the outer step exact (bounds.smd).
"""

from __future__ import annotations

from dlsched.bounds.comparison import Relation
from dlsched.bounds.smd.facts import SmdFacts
from dlsched.bounds.smd.figures import used_share
from dlsched.figures.figure import Figure, Statement, pulling_ahead, rising
from dlsched.models.smd import Instance, preset

Values = dict[str, float]

_ASSUMED = "the unit of gamma_3, what a virtual machine has, and the speed model are not printed: see the preset"
_BASELINES = "nor is how the baselines meet (2): both admit by (16), exactly, as SMD does"
_OTHERS = ("Optimus", "ESW")
_SERIES = ("SMD", *_OTHERS)
_ESW = Statement("SMD is worth more than ESW", "SMD", Relation.AT_LEAST, "ESW", "smd/evaluation-esw", guessed=True)
_OPTIMUS = Statement(
    "SMD is worth more than Optimus", "SMD", Relation.AT_LEAST, "Optimus", "smd/evaluation", guessed=True
)


def _utilities(instance: Instance, seed: int) -> Values:
    facts = SmdFacts(instance, seed)
    return {"SMD": facts.evaluated.utility, "Optimus": facts.baselines["optimus"], "ESW": facts.baselines["esw"]}


def _against(number: int, mode: str, along: str) -> Figure:
    """Return a figure of total utility beside ESW and Optimus, along the units of resources or the number of jobs."""
    by_units = along == "units of resources"
    points = (1, 2, 3, 4, 5) if by_units else (10, 20, 30, 40, 50)

    def draw(at: float, seed: int) -> Values:
        sizes = {"jobs": 50, "units": int(at)} if by_units else {"jobs": int(at)}
        return _utilities(preset("paper", seed, mode=mode, **sizes), seed)

    return Figure(
        name=f"smd/{number}",
        paper=f"SMD, Fig. {number}",
        title=f"total utility, {mode}hronous",
        says=f"SMD is significantly better than Optimus and ESW, and gains the more the greater the {along}",
        x=f"{along} (I = 50)" if by_units else f"{along} (one unit of resources)",
        y="total utility",
        points=points,
        quick=(points[0], points[-1]),
        series=_SERIES,
        draw=draw,
        statements=(_OPTIMUS, _ESW, *pulling_ahead("SMD", _OTHERS, points, along, guessed=_OTHERS)),
        quick_seeds=1,
        note=f"{'' if by_units else 'the units of resources are not printed: one; '}{_ASSUMED}; {_BASELINES}",
    )


ASYNC_UNITS = _against(7, "async", "units of resources")
SYNC_UNITS = _against(8, "sync", "units of resources")
ASYNC_JOBS = _against(9, "async", "number of jobs")
SYNC_JOBS = _against(10, "sync", "number of jobs")


_MODES = ("sync", "async")
_RATIO_JOBS = (10, 20, 30, 40, 50)
"""10 to 50 (SMD, Section V, Fig. 11)."""


def _ratios(at: float, seed: int) -> Values:
    found = {}
    for mode in _MODES:
        instance = preset("roomy", seed, jobs=int(at), mode=mode)
        facts = SmdFacts(instance, seed)
        best = facts.opt.low
        found[mode] = facts.evaluated.utility / best if best else 1.0
    return found


RATIO = Figure(
    name="smd/11",
    paper="SMD, Fig. 11",
    title="total utility over the optimum",
    says="The ratio rises with the number of jobs, and is lower in synchronous training",
    x="jobs I (capacity of 1000 virtual machines)",
    y="SMD / OPT",
    points=_RATIO_JOBS,
    quick=(_RATIO_JOBS[0], _RATIO_JOBS[-1]),
    series=_MODES,
    draw=_ratios,
    quick_seeds=1,
    statements=(
        *(
            rising(f"the {mode}hronous ratio rises with the number of jobs", mode, _RATIO_JOBS, guessed=True)
            for mode in _MODES
        ),
        Statement("the ratio is lower in synchronous training", "sync", Relation.AT_MOST, "async", guessed=True),
    ),
    note=f"the optimum is certified; {_ASSUMED}",
)

USED = Figure(
    name="smd/12",
    paper="SMD, Fig. 12",
    title="what jobs use of what they reserve",
    says="30 to 50 % of the reserved resources are used",
    x="jobs an interval",
    y="used / reserved",
    points=(40, 80, 120, 160, 200),
    quick=(40, 200),
    series=_MODES,
    draw=lambda at, seed: {
        mode: used_share(SmdFacts(preset("paper", seed, jobs=int(at), mode=mode), seed)) for mode in _MODES
    },
    quick_seeds=2,
    statements=tuple(
        statement
        for mode in _MODES
        for statement in (
            Statement(
                f"{mode}hronous jobs use at most half", mode, Relation.AT_MOST, 0.5, "smd/used-resources", guessed=True
            ),
            Statement(f"{mode}hronous jobs use at least 30 %", mode, Relation.AT_LEAST, 0.3, guessed=True),
        )
    ),
    note=f"which training is not printed: both; the units of resources neither: one; {_ASSUMED}",
)

FIGURES = tuple(value for value in globals().values() if isinstance(value, Figure))
