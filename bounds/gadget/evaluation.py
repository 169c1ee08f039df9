"""What the evaluation says: the figures, in the paper's setting, and what more capacity does.

The setting is the preset `paper` of 50 servers and 200 slots. What the paper does not print is assumed: arrivals are
uniform, and the numbers of jobs are those of `section_6`. Fig. 4 is drawn in both readings of F_i. Printed GADGET runs
in the readings that are kindest to it.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import cached_property

import numpy as np

from dlsched.algorithms import gadget
from dlsched.algorithms.baselines.ddljs import drf, fifo, las
from dlsched.algorithms.exact.ddljs import embed
from dlsched.algorithms.gadget import SlotEmbedding
from dlsched.algorithms.gadget.activity import Activity, Sizes
from dlsched.algorithms.run import Run
from dlsched.bounds.claim import Claim, Expectation, Premise, Source, Subject, Undecided, stated
from dlsched.bounds.comparison import Relation
from dlsched.bounds.gadget.choices import VERTEX
from dlsched.bounds.gadget.facts import FINITE, GadgetFacts
from dlsched.bounds.gadget.families import CONCAVE
from dlsched.bounds.gadget.horizon import Horizon
from dlsched.bounds.gadget.shape import finite
from dlsched.models.ddljs import Instance, Link, Node, Schedule, preset

JOBS = (100, 150)
"""Numbers of jobs of the figures' draws. Assumed, as the paper prints none: 187 GPUs, the mean of 50 servers, are asked
for by about 60 jobs at once, and none ever leaves where F_i counts worker-slots."""

FEWER = Fraction(1, 2)
"""GPUs of a server in Fig. 5, compared with all of them; never below 1. Arbitrary."""

NARROWER = Fraction(1, 10)
"""Bandwidth of a link in Fig. 6, compared with all of it: a server's is then 1 to 10 Gbit/s, a hop's up to 5. Arbitrary
among those that some hop does not fit."""

EVERY = 20
"""Slots of which one is compared with its optimum. Arbitrary: ten of 200, a second of work."""

NODES = 1_000
"""Branch-and-bound nodes of such an optimum, at most, as `dlsched.algorithms.gadget.run` has it."""


def one_slot(rng: np.random.Generator) -> Instance:
    """Return one slot of such an instance, with all of its 100 jobs."""
    return preset("paper", rng, jobs=min(JOBS), slots=1)


def section_6(rng: np.random.Generator) -> Instance:
    """Return an instance in the setting of the paper's evaluation, of 100 or 150 jobs; F_i never binds."""
    return preset("paper", rng, jobs=int(rng.choice(JOBS)))


def iterations(rng: np.random.Generator) -> Instance:
    """Return the same where F_i counts iterations: jobs end after F_i/zeta_i worker-slots."""
    return preset("paper", rng, jobs=int(rng.choice(JOBS)), budget="iterations")


SECTION_6 = Source("ddljs/section-6", section_6, cost=100)
SECTION_6_ITERATIONS = Source("ddljs/section-6-iterations", iterations, cost=100)
SECTION_6_SLOT = Source("ddljs/section-6-slot", one_slot, cost=12)


class Figures:
    """What is known of one (instance, seed) at the evaluation's sizes.

    Parameters
    ----------
    instance : Instance
    seed : int
        Of all runs.
    """

    def __init__(self, instance: Instance, seed: int) -> None:
        self.instance, self.seed = instance, seed

    @cached_property
    def printed(self) -> Run[Schedule]:
        """GADGET as printed."""
        return gadget.run(self.instance, seed=self.seed, variant="printed")

    @cached_property
    def in_doubles(self) -> Run[Schedule]:
        """The same where a gain that a solver cannot tell from 0 is none."""
        return gadget.run(self.instance, seed=self.seed, variant="printed", idle=False)

    @cached_property
    def fifo(self) -> Run[Schedule]:
        """FIFO."""
        return fifo.run(self.instance, seed=self.seed)

    @cached_property
    def drf(self) -> Run[Schedule]:
        """DRF."""
        return drf.run(self.instance, seed=self.seed)

    @cached_property
    def las(self) -> Run[Schedule]:
        """LAS, as in Tiresias."""
        return las.run(self.instance, seed=self.seed)

    @cached_property
    def embedded(self) -> tuple[float, float]:
        """What Algorithm 2 adds in some slots, and the most that each could have added."""
        activity = Activity(self.instance, Sizes.FLOOR)
        so_far = dict.fromkeys((job.name for job in self.instance.jobs), 0)
        added = best = 0.0
        for event in self.printed.log:
            if isinstance(event, SlotEmbedding):
                if event.slot % EVERY == 0:
                    added, best = added + event.profit, best + _most(activity, event.slot, so_far)
                for name, workers in event.workers.items():
                    so_far[name] += workers
        return added, best


def _most(activity: Activity, slot: int, so_far: dict[str, int]) -> float:
    """Return the optimum of (12) in a slot, which is proved."""
    found = embed(activity.problem(slot, so_far), node_limit=NODES)
    if not found.proved:
        raise Undecided(f"the optimum of slot {slot} is not proved")
    return found.value


class SlotFigures:
    """What is known of one slot in which all jobs are active.

    Parameters
    ----------
    instance : Instance
    seed : int
        Of all runs.
    """

    def __init__(self, instance: Instance, seed: int) -> None:
        self.instance, self.seed = instance, seed

    def ratio(self, instance: Instance) -> float:
        """Return embedded over active jobs of GADGET as printed."""
        events = self._embeddings(instance)
        return sum(len(e.workers) for e in events) / max(1, sum(e.active for e in events))

    def _embeddings(self, instance: Instance) -> list[SlotEmbedding]:
        log = gadget.run(instance, seed=self.seed, variant="printed").log
        return [event for event in log if isinstance(event, SlotEmbedding)]

    @property
    def share(self) -> float:
        """What Algorithm 2 adds over the most that it could; 1 where that is nothing."""
        so_far = dict.fromkeys((job.name for job in self.instance.jobs), 0)
        best = _most(Activity(self.instance, Sizes.FLOOR), 1, so_far)
        return sum(event.profit for event in self._embeddings(self.instance)) / best if best else 1.0

    @cached_property
    def usual(self) -> float:
        """The ratio."""
        return self.ratio(self.instance)

    @property
    def with_fewer(self) -> float:
        """The same with fewer GPUs."""
        return self.ratio(resized(self.instance, _fewer))

    @property
    def with_narrower(self) -> float:
        """The same with narrower links."""
        return self.ratio(resized(self.instance, bandwidth=lambda most: most * NARROWER))


def _fewer(gpus: Fraction) -> Fraction:
    return Fraction(max(1, gpus * FEWER // 1))


class EvaluationFacts(GadgetFacts):
    """What is known of one (instance, seed), larger networks among it."""

    @cached_property
    def larger(self) -> Horizon:
        """What can be reached where each server has one more of each resource, and each link 1/2 more bandwidth."""
        half = Fraction(1, 2)
        return Horizon(resized(self.instance, lambda have: have + 1, lambda most: most + half))


Amount = Callable[[Fraction], Fraction]


def _same(amount: Fraction) -> Fraction:
    return amount


def resized(instance: Instance, capacity: Amount = _same, bandwidth: Amount = _same) -> Instance:
    """Return an instance with other capacities of its servers, and other bandwidths of its links."""
    servers = {node.name for node in instance.servers}
    nodes = tuple(
        Node(name=node.name, capacity={r: capacity(node.capacity_of(r)) for r in instance.resources})
        if node.name in servers
        else node
        for node in instance.nodes
    )
    other = {
        slot: tuple(Link(source=e.source, target=e.target, bandwidth=bandwidth(e.bandwidth)) for e in links)
        for slot, links in [(0, instance.links), *(instance.bandwidth_by_slot or {}).items()]
    }
    usual = other.pop(0)
    return Instance(
        slots=instance.slots,
        resources=instance.resources,
        nodes=nodes,
        links=usual,
        duplex=instance.duplex,
        bandwidth_by_slot=other or None,
        jobs=instance.jobs,
    )


FIGURES = Subject(problem="ddljs", instance=Instance, facts=Figures, sources=(SECTION_6,))
"""What claims about the figures are about."""

_FINITE = Premise[Figures](
    "every mu_i(0) is finite", lambda facts: finite(facts.instance), source="Section V-B, Definition 1"
)
_SIZES = "the numbers of jobs and the pattern of arrivals"
_DRAWN = "the numbers of jobs (here: 100 or 150) and the pattern of arrivals"
_BUDGET = (
    "whether F_i counts iterations, as the text says, or worker-slots, as (3) of Section VI compares it, which then "
    "never binds, so that no job ends (here: both)"
)
_AT_ALL = f'by how much ("significantly"; here: at all); {_DRAWN}; {_BUDGET}'
_EXACT = "that the linear programs are solved exactly, so that gains which no solver can tell from 0 count"


def _beats(name: str, baseline: Callable[[Figures], Run[Schedule]], *, guessed: bool = False) -> Claim[Figures]:
    """Return the claim that GADGET is above a baseline; `guessed` where that depends on how F_i is read."""
    return FIGURES.printed(
        f"gadget/baselines-{name.lower()}",
        paper="GADGET, Section VI-3, Fig. 4",
        statement=f"GADGET's total utility is above that of {name}, on average",
        quantity=f"the utility of GADGET as printed, against that of {name}",
        measure=lambda facts: facts.printed.utility,
        relation=Relation.AT_LEAST,
        bound=lambda facts: baseline(facts).utility,
        expectation=Expectation.OPEN if guessed else Expectation.TRUE,
        premises=(_FINITE,),
        open=f"{_AT_ALL}; {_EXACT}",
        sources=(SECTION_6, SECTION_6_ITERATIONS),
        sampled=True,
        guessed=guessed,
    )


FIFO = _beats("FIFO", lambda facts: facts.fifo)
DRF = _beats("DRF", lambda facts: facts.drf, guessed=True)
LAS = _beats("LAS", lambda facts: facts.las)

IN_DOUBLES = LAS.derived(
    "gadget/baselines-in-doubles",
    statement="the same of LAS, if a gain that a solver in double arithmetic cannot tell from 0 is none",
    quantity="the utility of GADGET so computed, against that of LAS",
    measure=lambda facts: facts.in_doubles.utility,
    expectation=Expectation.FALSE,
    open=_AT_ALL,
)


def _worth(name: str, share: float, relation: Relation, *, guessed: bool = False) -> Claim[Figures]:
    """Return the claim that embeddings are worth at least, or at most, a share of the optimum.

    `guessed` where that depends on what is not printed.
    """
    end = "least" if relation is Relation.AT_LEAST else "most"
    return FIGURES.printed(
        name,
        paper="GADGET, Section VI-3, Fig. 7",
        statement=f"the embeddings are worth at {end} {100 * share:g} % of the optimum of (12), on average",
        quantity=f"what GADGET as printed adds in one slot of twenty, against {share} of the optima of (12) in those",
        measure=lambda facts: facts.embedded[0],
        relation=relation,
        bound=lambda facts: share * facts.embedded[1],
        expectation=Expectation.OPEN if guessed else Expectation.TRUE,
        premises=(_FINITE,),
        open=f"{_DRAWN}; {VERTEX} (here: the first)",
        sampled=True,
        guessed=guessed,
    )


SHARE = _worth("gadget/evaluation", 0.6, Relation.AT_LEAST)
SHARE_AT_MOST = _worth("gadget/evaluation-at-most", 0.8, Relation.AT_MOST, guessed=True)

FIGURES_OF_SLOTS = Subject(problem="ddljs", instance=Instance, facts=SlotFigures, sources=(SECTION_6_SLOT,))
"""What claims about the figures of one slot are about."""

MORE_NODES = FIGURES_OF_SLOTS.printed(
    "gadget/embedded-ratio-nodes",
    paper="GADGET, Section VI-3, Fig. 5",
    statement="more GPUs allow more jobs to be embedded in each slot, on average",
    quantity="embedded over active jobs of a slot, against the same with half of the GPUs of each server",
    measure=lambda facts: facts.usual,
    relation=Relation.AT_LEAST,
    bound=lambda facts: facts.with_fewer,
    expectation=Expectation.TRUE,
    open=f"{_SIZES}; the capacities, as a unit of 100 GPUs is none that servers of 1 to 8 have",
    sampled=True,
)

MORE_LINKS = FIGURES_OF_SLOTS.printed(
    "gadget/embedded-ratio-links",
    paper="GADGET, Section VI-3, Fig. 6",
    statement="more bandwidth allows more jobs to be embedded in each slot, on average",
    quantity="embedded over active jobs of a slot, against the same with a tenth of the bandwidth of each link",
    measure=lambda facts: facts.usual,
    relation=Relation.AT_LEAST,
    bound=lambda facts: facts.with_narrower,
    expectation=Expectation.OPEN,
    open=(
        f"{_SIZES}; the bandwidths compared (guessed: a tenth; fewer jobs and a hundredth give another sign); how "
        "workers are shared by jobs whose gains no solver can tell from 0"
    ),
    sampled=True,
    guessed=True,
)

NETWORKS = Subject[Instance, EvaluationFacts](
    problem="ddljs", instance=Instance, facts=EvaluationFacts, premises=(FINITE,)
)
"""What claims about larger networks are about."""

MONOTONE = NETWORKS.derived(
    "gadget/monotone-capacity",
    paper="GADGET, Figs. 5 and 6",
    statement="more capacity of servers and links never lowers the optimum",
    quantity="OPT with one more of each resource on each server and 1/2 more bandwidth, against OPT",
    measure=lambda facts: facts.larger.opt,
    relation=Relation.AT_LEAST,
    bound=lambda facts: facts.opt,
    expectation=Expectation.TRUE,
    sources=(CONCAVE,),
    golden=("gadget-monotone-capacity-G3",),
)

CLAIMS = stated(globals())
