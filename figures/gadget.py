"""The figures of GADGET, Section VI: total utility beside its baselines, embedded jobs, and the share of the optimum.

GADGET runs as printed, in the readings that are kindest to it (bounds.gadget).
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import accumulate, pairwise

from dlsched.bounds.comparison import Relation
from dlsched.bounds.gadget.evaluation import Figures, SlotFigures, resized
from dlsched.figures.figure import Figure, Statement, pulling_ahead, rising
from dlsched.models.ddljs import preset

Values = dict[str, float]

_ASSUMED = "the numbers of jobs and the pattern of arrivals are not printed: see the preset"
_BASELINES = ("FIFO", "DRF", "LAS")
_GUESSED = ("DRF",)
"""Above which GADGET is in one reading of F_i alone."""
_JOBS = (50, 100, 150, 200)
"""Assumed: the paper prints none; about 60 jobs ask for all GPUs at once."""


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
    points=_JOBS,
    quick=(_JOBS[0], _JOBS[-1]),
    series=("GADGET", *_BASELINES),
    draw=_utilities,
    seeds=10,
    quick_seeds=2,
    statements=(
        *(
            Statement(
                f"GADGET is above {name}",
                "GADGET",
                Relation.AT_LEAST,
                name,
                f"gadget/baselines-{name.lower()}",
                guessed=name in _GUESSED,
            )
            for name in _BASELINES
        ),
        *pulling_ahead("GADGET", _BASELINES, _JOBS, "number of jobs", _GUESSED),
    ),
    note=f"F_i counts worker-slots, as (3) compares it, so that no job ends: where it counts iterations, DRF equals "
    f"GADGET (the claims); {_ASSUMED}",
)


_GPUS = 100
"""GPUs of one unit of node resource (GADGET, Section VI-3)."""

_BANDWIDTH = 200
"""Gbit/s of one unit of edge resource (GADGET, Section VI-3)."""


def _embedded(units: float, seed: int, of_gpus: bool) -> Values:
    instance = preset("paper", seed, jobs=100, slots=1)
    if of_gpus:
        # `resized` asks for one server after the other
        gpus = iter(_shared(_GPUS * int(units), [server.capacity_of("gpu") for server in instance.servers]))
        other = resized(instance, capacity=lambda have: Fraction(next(gpus)))
    else:
        hosts = {server.name for server in instance.servers}
        total = sum(link.bandwidth for link in instance.links if link.source in hosts)
        part = Fraction(_BANDWIDTH) * Fraction(units) / total
        other = resized(instance, bandwidth=lambda most: most * part)
    return {"GADGET": SlotFigures(instance, seed).ratio(other)}


def _shared(total: int, parts: Sequence[Fraction]) -> list[int]:
    """Return whole numbers in proportion to some parts that add up to a total."""
    upto = [total * part // sum(parts) for part in accumulate(parts, initial=Fraction(0))]
    return [int(after - before) for before, after in pairwise(upto)]


_UNITS = (1, 2, 4, 8, 16)
"""Of either resource: up to what the paper's ranges have of bandwidth, and beyond what they have of GPUs."""

_OF_A_SLOT = (
    "one slot, with 100 jobs, the first of each, stands for each slot of the paper's three trials; 18 to 36 of the 100 "
    "(seeds 0 to 8) gain less than e^-745 from any ring, which is 0 in floating point, so that they count as active "
    "and are embedded nowhere: that is where the curve ends"
)

GPUS = Figure(
    name="gadget/5",
    paper="GADGET, Fig. 5",
    title="embedded over active jobs, by GPUs",
    says="More GPUs allow more jobs to be embedded in each slot",
    x="GPUs of the 50 servers together [100 GPUs]",
    y="embedded / active jobs",
    points=_UNITS,
    quick=_UNITS,
    series=("GADGET",),
    draw=lambda at, seed: _embedded(at, seed, True),
    statements=(
        rising("more jobs are embedded with more GPUs", "GADGET", _UNITS, "gadget/embedded-ratio-nodes", guessed=True),
    ),
    note="whose GPUs are counted is not printed: those of all servers (188 on average in the paper's ranges), shared "
    f"as the paper's are; {_OF_A_SLOT}; {_ASSUMED}",
)

BANDWIDTH = Figure(
    name="gadget/6",
    paper="GADGET, Fig. 6",
    title="embedded over active jobs, by bandwidth",
    says="More bandwidth allows more jobs to be embedded in each slot",
    x="bandwidth of the 50 servers together [200 Gbit/s]",
    y="embedded / active jobs",
    points=_UNITS,
    quick=_UNITS,
    series=("GADGET",),
    draw=lambda at, seed: _embedded(at, seed, False),
    statements=(
        rising(
            "more jobs are embedded with more bandwidth", "GADGET", _UNITS, "gadget/embedded-ratio-links", guessed=True
        ),
    ),
    note="whose bandwidth is counted is not printed: that of all servers (13.8 units on average in the paper's ranges),"
    f" shared as the paper's is, with the links of racks in proportion; {_OF_A_SLOT}; {_ASSUMED}",
)

SHARE = Figure(
    name="gadget/7",
    paper="GADGET, Fig. 7",
    title="what is embedded over the optimum of (12)",
    says="The embedding is worth 60 to 80 % of the optimum",
    x="servers (100 jobs in one slot)",
    y="utility of the slot / optimum",
    points=(10, 20, 30, 40, 50),
    quick=(10, 50),
    series=("GADGET",),
    draw=lambda at, seed: {
        "GADGET": SlotFigures(preset("paper", seed, jobs=100, servers=int(at), slots=1), seed).share
    },
    statements=(
        Statement("it is worth at least 60 %", "GADGET", Relation.AT_LEAST, 0.6, "gadget/evaluation"),
        Statement(
            "it is worth at most 80 %", "GADGET", Relation.AT_MOST, 0.8, "gadget/evaluation-at-most", guessed=True
        ),
    ),
    note="the optimum is proved; which optimum of the linear programs is rounded is not printed: here one with (5), "
    f"which is worth most; {_ASSUMED}",
)

FIGURES = tuple(value for value in globals().values() if isinstance(value, Figure))
