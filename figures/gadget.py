"""The figures of GADGET, Section VI: total utility beside its baselines, embedded jobs, and the share of the optimum.

GADGET runs as printed, in the readings that are kindest to it (bounds.gadget).
"""

from __future__ import annotations

from fractions import Fraction

from dlsched.bounds.comparison import Relation
from dlsched.bounds.gadget.evaluation import Figures, SlotFigures, resized
from dlsched.figures.figure import Figure, Statement
from dlsched.models.ddljs import preset

Values = dict[str, float]

_ASSUMED = "the numbers of jobs and the pattern of arrivals are not printed: see the preset"
_BASELINES = ("FIFO", "DRF", "LAS")


def _utilities(at: float, seed: int) -> Values:
    known = Figures(preset("paper", seed, jobs=int(at)), seed)
    runs = {"GADGET": known.printed, "FIFO": known.fifo, "DRF": known.drf, "LAS": known.las}
    return {name: run.utility for name, run in runs.items()}


UTILITY = Figure(
    name="gadget/4",
    paper="GADGET, Fig. 4",
    title="total utility",
    says="GADGET is best, and its lead grows with the number of jobs",
    x="jobs (50 servers, T = 200)",
    y="total utility",
    points=(50, 100, 150, 200),
    quick=(50, 100),
    series=("GADGET", *_BASELINES),
    draw=_utilities,
    seeds=10,
    quick_seeds=2,
    statements=tuple(
        Statement(f"GADGET is above {name}", "GADGET", Relation.AT_LEAST, name, f"gadget/baselines-{name.lower()}")
        for name in _BASELINES
    ),
    note=_ASSUMED,
)


def _embedded(at: float, seed: int, gpus: bool) -> Values:
    instance = preset("paper", seed, jobs=100, slots=1)
    share = Fraction(at).limit_denominator(100)
    if gpus:
        other = resized(instance, capacity=lambda have: Fraction(max(1, have * share // 1)))
    else:
        other = resized(instance, bandwidth=lambda most: most * share)
    return {"GADGET": SlotFigures(instance, seed).ratio(other)}


GPUS = Figure(
    name="gadget/5",
    paper="GADGET, Fig. 5",
    title="embedded over active jobs, by GPUs",
    says="More GPUs allow more jobs to be embedded in each slot",
    x="GPUs of a server, as a part of the paper's (100 jobs in one slot)",
    y="embedded / active jobs",
    points=(0.25, 0.5, 1, 2, 4),
    quick=(0.25, 1, 4),
    series=("GADGET",),
    draw=lambda at, seed: _embedded(at, seed, True),
    note=f"a unit of 100 GPUs is none that servers of 1 to 8 have: parts and multiples of them; {_ASSUMED}",
)

BANDWIDTH = Figure(
    name="gadget/6",
    paper="GADGET, Fig. 6",
    title="embedded over active jobs, by bandwidth",
    says="More bandwidth allows more jobs to be embedded in each slot",
    x="bandwidth of a link, as a part of the paper's (100 jobs in one slot)",
    y="embedded / active jobs",
    points=(0.05, 0.1, 0.25, 0.5, 1),
    quick=(0.05, 0.25, 1),
    series=("GADGET",),
    draw=lambda at, seed: _embedded(at, seed, False),
    note=_ASSUMED,
)


def _share(at: float, seed: int) -> Values:
    added, best = Figures(preset("paper", seed, jobs=int(at)), seed).embedded
    return {"GADGET": added / best if best else 1.0}


SHARE = Figure(
    name="gadget/7",
    paper="GADGET, Fig. 7",
    title="what is embedded over the optimum of (12)",
    says="The embedding is worth 60 to 80 % of the optimum",
    x="jobs (50 servers, T = 200)",
    y="utility of the slots / optimum",
    points=(50, 100, 150),
    quick=(50,),
    series=("GADGET",),
    draw=_share,
    seeds=10,
    quick_seeds=2,
    statements=(
        Statement("it is worth at least 60 %", "GADGET", Relation.AT_LEAST, 0.6, "gadget/evaluation"),
        Statement("it is worth at most 80 %", "GADGET", Relation.AT_MOST, 0.8),
    ),
    note=f"optima of one slot in twenty, proved; {_ASSUMED}",
)

FIGURES = tuple(value for value in globals().values() if isinstance(value, Figure))
