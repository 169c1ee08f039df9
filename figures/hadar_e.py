"""The figures of HadarE, Sections V and VI of the Hadar paper: the replay of Fig. 6, and the mixes on two clusters.

Section VI measured physical clusters, and prints neither how fast their nodes are nor how long the jobs. What is left
open is drawn (`dlsched.algorithms.hadar_e.constants`), the two readings of PMI among it, and all series of a draw
have the same constants. They say what is so with such constants, and leave undecided what the paper says of its runs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import cache

from dlsched.algorithms import hadar_e
from dlsched.algorithms.hadar_e import MIXES, constants, physical
from dlsched.bounds.comparison import Relation
from dlsched.bounds.hadar.physical import LIGHTER, SLOTS, Outcome, Scheduler, SlotFacts, Trial, outcome
from dlsched.figures.figure import Figure, Statement

Values = dict[str, float]

_CLUSTERS = {
    "aws": ("a", "AWS (a V100, two K80, two T4)"),
    "lab": ("b", "the lab's cluster (five kinds of GPU)"),
}
"""The part of a figure that a cluster is in, and its nodes."""

_DRAWN = (
    "speeds are those of (10) with TFLOPS and VRAM of NVIDIA's data sheets; its constants, the reading of PMI "
    "(TFLOPS/sqrt(VRAM) or sqrt(TFLOPS/VRAM), as probable), the classes of the models, the batches and the lengths of "
    "the jobs, 10 to 50 minutes on a V100, are not printed: drawn. So the draws say what is so in that range, and "
    "leave undecided what the paper says of its own runs"
)

_COUNTS = tuple(float(len(models)) for models in MIXES.values())
"""Jobs of each mix, the points of the x axis."""

_MIX = dict(zip(_COUNTS, MIXES, strict=True))


@cache
def _busy() -> dict[str, dict[int, int]]:
    """Return the nodes that train in each round of Fig. 6, by scheduler and round."""
    instance, found = hadar_e.figure_6(), {}
    for name, copies in (("Hadar", 1), ("HadarE", len(instance.machines))):
        rounds: dict[int, int] = {}
        for _, slot, ran in hadar_e.run(instance, copies=copies).schedule.items():
            rounds[slot] = rounds.get(slot, 0) + len(ran)
        found[name] = rounds
    return found


_ROUNDS = tuple(float(r) for r in range(1, 9))

REPLAY = Figure(
    name="hadar/6",
    paper="Hadar, Fig. 6",
    title="nodes that train in each round: three jobs on five nodes",
    says="Under Hadar three nodes train in three rounds, two in the fourth, and one in the last four; HadarE fills all "
    "five for three rounds and needs one in the fourth and last",
    x="round",
    y="nodes that train",
    points=_ROUNDS,
    quick=_ROUNDS,
    series=("Hadar", "HadarE"),
    draw=lambda at, seed: {name: rounds.get(int(at), 0) for name, rounds in _busy().items()},
    seeds=1,
    quick_seeds=1,
    note="exact: nothing is drawn. Speeds and epochs are not printed: chosen so that both replays are the figure's: no "
    "node is idle throughout HadarE's first two rounds, four are early in the third, the first of them in the fourth",
    plot=lambda: hadar_e.plot_figure_6()[0],
)


@cache
def _outcomes(cluster: str, at: float, seed: int) -> dict[str, Outcome]:
    """Return what comes of a mix under each scheduler; Figs. 8 to 10 ask for the same."""
    instance = physical(constants(seed), cluster, _MIX[at])
    return {scheduler.value: outcome(instance, scheduler) for scheduler in Scheduler}


def _spread(found: dict[str, Outcome]) -> Values:
    """Return the mean completion times, and their ends but for the printed division."""
    ends = {name: (float(min(found[name].times)), float(max(found[name].times))) for name in _SCHEDULERS[:3]}
    return {
        **{name: float(one.jct) for name, one in found.items()},
        **{f"{name}, {word}": ends[name][k] for name in ends for k, word in enumerate(_ENDS)},
    }


_SCHEDULERS = tuple(scheduler.value for scheduler in Scheduler)
_ENDS = ("least", "greatest")


def _mixes(
    number: int,
    cluster: str,
    values: Callable[[dict[str, Outcome]], Values],
    says: str,
    *,
    y: str,
    better: tuple[str, Relation],
    claims: Mapping[str, str],
    series: tuple[str, ...] = _SCHEDULERS,
    note: str = "",
) -> Figure:
    """Return one half of Figs. 8 to 10; `better` says in words, and of the values, how a scheduler beats another."""
    part, nodes = _CLUSTERS[cluster]
    words, relation = better
    pairs = (("Hadar", "Gavel"), ("HadarE", "Gavel"), ("HadarE", "Hadar"))
    return Figure(
        name=f"hadar/{number}{part}",
        paper=f"Hadar, Fig. {number}({part})",
        title=f"the seven mixes on {nodes}",
        says=says,
        x="mix of jobs",
        y=y,
        points=_COUNTS,
        quick=_COUNTS,
        labels=tuple(MIXES),
        quick_seeds=8,
        series=series,
        draw=lambda at, seed: values(_outcomes(cluster, at, seed)),
        statements=tuple(
            Statement(words.format(*pair), pair[0], relation, pair[1], claims.get(" ".join(pair), ""), guessed=True)
            for pair in pairs
        ),
        note=f"slots of 360 s and restarts of 10 s, as in Section IV; {_DRAWN}; Gavel fills its rounds as Section II-A "
        f"has it, and once more as the code of its authors does, one type of device after the other{note}",
    )


def _used(cluster: str, hadar: str, hadar_e: str) -> Figure:
    return _mixes(
        8,
        cluster,
        lambda found: {name: float(one.cru) for name, one in found.items()},
        f"On average Hadar uses {hadar} times, and HadarE {hadar_e} times as much of the cluster as Gavel",
        y="CRU",
        better=("{} uses more of the cluster than {}", Relation.AT_LEAST),
        claims={
            "Hadar Gavel": f"hadar/evaluation-cru-hadar-{cluster}",
            "HadarE Gavel": f"hadar/evaluation-cru-{cluster}",
        },
    )


def _done(cluster: str, hadar: str, hadar_e: str) -> Figure:
    return _mixes(
        9,
        cluster,
        lambda found: {name: float(one.ttd) for name, one in found.items()},
        f"On average Hadar is done {hadar} times, and HadarE {hadar_e} times sooner than Gavel",
        y="total time duration (s)",
        better=("{} is done sooner than {}", Relation.AT_MOST),
        claims={"HadarE Gavel": f"hadar/evaluation-ttd-{cluster}"},
    )


def _jobs(cluster: str, hadar: str, hadar_e: str) -> Figure:
    return _mixes(
        10,
        cluster,
        _spread,
        f"On average jobs take {hadar} times shorter under Hadar, and {hadar_e} times under HadarE, than under Gavel",
        y="job completion time (s): mean, least, greatest",
        better=("jobs take shorter under {} than under {}", Relation.AT_MOST),
        claims={"HadarE Gavel": f"hadar/evaluation-jct-{cluster}"},
        series=(*_SCHEDULERS, *(f"{name}, {word}" for name in _SCHEDULERS[:3] for word in _ENDS)),
        note=". For M-5 on AWS under Hadar the text has a greatest completion time of 2918 s and a total time of some "
        "3900 s, which are one number where all jobs are there from the beginning, as here",
    )


USED_AWS, USED_LAB = _used("aws", "1.20", "1.56"), _used("lab", "1.21", "1.62")
DONE_AWS, DONE_LAB = _done("aws", "1.17", "1.79"), _done("lab", "1.16", "2.12")
JOBS_AWS, JOBS_LAB = _jobs("aws", "1.17", "2.23"), _jobs("lab", "1.23", "2.76")

_OVERHEAD = 10
"""Seconds of every slot that communication takes in Figs. 11 and 12. Arbitrary: the paper prints none; each is drawn
also without it."""

_NAMED, _OTHERS = "best of the slots that the paper names", "best of the others"


def _slots(figure: str, at: float, seed: int) -> Values:
    found: Values = {}
    for seconds, suffix in ((_OVERHEAD, ""), (0, ", no communication")):
        trial = Trial(constants=constants(seed), mix=_MIX[at], communication=Fraction(seconds))
        facts = SlotFacts(trial, seed)
        found |= {f"{slot} s{suffix}": float(cru) for slot, cru in facts.by_slot(figure).items()}
        if seconds:
            found |= dict(zip((_NAMED, _OTHERS), map(float, facts.best(figure)), strict=True))
    return found


def _by_slot(figure: str, scheduler: str, cluster: str, says: str) -> Figure:
    return Figure(
        name=f"hadar/{figure}",
        paper=f"Hadar, Fig. {figure[:2]}({figure[2:]})",
        title=f"slot lengths under {scheduler} on {_CLUSTERS[cluster][1]}",
        says=says,
        x="mix of jobs",
        y="CRU",
        points=_COUNTS,
        quick=_COUNTS,
        labels=tuple(MIXES),
        series=(*(f"{slot} s" for slot in SLOTS), *(f"{slot} s, no communication" for slot in SLOTS), _NAMED, _OTHERS),
        draw=lambda at, seed: _slots(figure, at, seed),
        statements=(
            Statement(
                "the slots that the paper names have the greatest CRU",
                _NAMED,
                Relation.AT_LEAST,
                _OTHERS,
                f"hadar/evaluation-slot-{figure}",
                guessed=True,
            ),
        ),
        note=f"the overheads that the figure depends on are not printed: {_OVERHEAD} s of every slot go to "
        f"communication on each node that ran a job{f'; they are {LIGHTER}' if scheduler == 'Hadar' else ''}; without "
        f"it all is drawn again, to show what hangs on it; a new allocation costs 10 s of restart everywhere; {_DRAWN}",
    )


_LARGE_LAB = "360 s is best for the mixes from M-5 on, and 90 s for M-1 to M-4"
SLOTS_AWS = _by_slot("11a", "HadarE", "aws", "360 s is best for M-8 to M-12, and 90 s for the mixes up to M-5")
SLOTS_LAB = _by_slot("11b", "HadarE", "lab", _LARGE_LAB)
HADAR_SLOTS_AWS = _by_slot("12a", "Hadar", "aws", "90 or 180 s is best for every mix but M-3, for which 360 s is")
HADAR_SLOTS_LAB = _by_slot("12b", "Hadar", "lab", _LARGE_LAB)

QUALITY = Figure(
    name="hadar/IV",
    paper="Hadar, Table IV",
    title="inference quality of models trained with and without forking",
    says="All five models of M-5 are better when trained under HadarE (language translation: 54.69 % against 52.41 %)",
    x="",
    y="",
    points=(),
    quick=(),
    series=(),
    draw=None,
    note="the quality of a model comes from training it on its data, which is not simulated here; what forking does to "
    "parameters, their average over the copies after every round, is what hadar_e.run does with a user's trainer",
)

FIGURES = tuple(value for value in globals().values() if isinstance(value, Figure))
