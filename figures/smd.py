"""The figures of SMD, Section V: total utility beside ESW and Optimus, the ratio to the optimum, and what is used.

SMD runs as the paper evaluates it: printed, with M = 1 and eps = .01, the outer step exact (bounds.smd).
"""

from __future__ import annotations

from dlsched.algorithms import optimum
from dlsched.bounds.comparison import Relation
from dlsched.bounds.smd.facts import SmdFacts
from dlsched.bounds.smd.figures import used_share
from dlsched.figures.figure import Figure, Statement
from dlsched.models.smd import Instance, preset

Values = dict[str, float]

_ASSUMED = "the unit of gamma_3, what a virtual machine has, and the speed model are not printed: see the preset"
_SERIES = ("SMD", "Optimus", "ESW")
_STATEMENTS = (
    Statement("SMD is worth more than Optimus", "SMD", Relation.AT_LEAST, "Optimus", "smd/evaluation"),
    Statement("SMD is worth more than ESW", "SMD", Relation.AT_LEAST, "ESW", "smd/evaluation-esw"),
)


def _utilities(instance: Instance, seed: int) -> Values:
    facts = SmdFacts(instance, seed)
    return {"SMD": facts.evaluated.utility, "Optimus": facts.baselines["optimus"], "ESW": facts.baselines["esw"]}


def _by_units(number: int, mode: str) -> Figure:
    return Figure(
        name=f"smd/{number}",
        paper=f"SMD, Fig. {number}",
        title=f"total utility, {mode}hronous",
        says="SMD is significantly better than Optimus and ESW",
        x="units of resources (I = 50)",
        y="total utility",
        points=(1, 2, 3, 4, 5),
        quick=(1, 5),
        series=_SERIES,
        draw=lambda at, seed: _utilities(preset("paper", seed, jobs=50, units=int(at), mode=mode), seed),
        statements=_STATEMENTS,
        quick_seeds=1,
        note=_ASSUMED,
    )


def _by_jobs(number: int, mode: str) -> Figure:
    return Figure(
        name=f"smd/{number}",
        paper=f"SMD, Fig. {number}",
        title=f"total utility, {mode}hronous",
        says="SMD is significantly better than Optimus and ESW",
        x="jobs I (one unit of resources)",
        y="total utility",
        points=(10, 20, 30, 40, 50),
        quick=(10, 30),
        series=_SERIES,
        draw=lambda at, seed: _utilities(preset("paper", seed, jobs=int(at), mode=mode), seed),
        statements=_STATEMENTS,
        quick_seeds=1,
        note=f"the units of resources are not printed: one; {_ASSUMED}",
    )


ASYNC_UNITS = _by_units(7, "async")
SYNC_UNITS = _by_units(8, "sync")
ASYNC_JOBS = _by_jobs(9, "async")
SYNC_JOBS = _by_jobs(10, "sync")


def _ratios(at: float, seed: int) -> Values:
    found = {}
    for mode in ("sync", "async"):
        instance = preset("roomy", seed, jobs=int(at), mode=mode)
        best = optimum(instance).value
        found[mode] = SmdFacts(instance, seed).evaluated.utility / best if best else 1.0
    return found


RATIO = Figure(
    name="smd/11",
    paper="SMD, Fig. 11",
    title="total utility over the optimum",
    says="The ratio rises with the number of jobs, and is lower in synchronous training",
    x="jobs I (capacity of 1000 virtual machines)",
    y="SMD / OPT",
    points=(10, 20, 30, 40, 50),
    quick=(10, 30),
    series=("sync", "async"),
    draw=_ratios,
    quick_seeds=1,
    statements=(Statement("the ratio is lower in synchronous training", "sync", Relation.AT_MOST, "async"),),
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
    quick=(40,),
    series=("SMD",),
    draw=lambda at, seed: {"SMD": used_share(SmdFacts(preset("paper", seed, jobs=int(at)), seed))},
    quick_seeds=2,
    statements=(
        Statement("at most half is used", "SMD", Relation.AT_MOST, 0.5, "smd/used-resources"),
        Statement("at least 30 % is used", "SMD", Relation.AT_LEAST, 0.3),
    ),
    note=_ASSUMED,
)

FIGURES = tuple(value for value in globals().values() if isinstance(value, Figure))
