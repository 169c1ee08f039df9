"""What the evaluation says: Fig. 7, the baselines, and what more capacity does."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import cached_property
from typing import Any

from dlsched.algorithms.baselines.ddljs import drf, fifo, las
from dlsched.bounds.claim import Expectation, Subject, stated
from dlsched.bounds.comparison import Relation
from dlsched.bounds.gadget.facts import FINITE, OPT_POSITIVE, GadgetFacts
from dlsched.bounds.gadget.families import CONCAVE, THRESHOLDS
from dlsched.bounds.gadget.horizon import Horizon
from dlsched.bounds.gadget.lottery import explain
from dlsched.bounds.gadget.slot import FINITE as PROFITS_FINITE
from dlsched.bounds.gadget.slot import SLOTS, SOME, SlotFacts
from dlsched.models.ddljs import Instance

SHARE = SLOTS.printed(
    "gadget/evaluation",
    paper="GADGET, Fig. 7",
    statement="the embedding is worth 60-80 % of the optimum of (12)",
    quantity="the greatest profit of a draw that keeps all capacities, against 0.6 of the optimum of (12)",
    measure=SlotFacts.feasible_profit,
    relation=Relation.AT_LEAST,
    bound=lambda facts: 0.6 * facts.ilp,
    expectation=Expectation.FALSE,
    premises=(PROFITS_FINITE, SOME),
    details=explain,
    counterexamples=("gadget-evaluation-G10",),
    golden=("gadget-evaluation-G8",),
)


class EvaluationFacts(GadgetFacts):
    """What is known of one (instance, seed), baselines and larger networks among it."""

    @cached_property
    def baselines(self) -> dict[str, float]:
        """The utilities of FIFO, DRF and LAS."""
        modules = {"fifo": fifo, "drf": drf, "las": las}
        return {name: module.run(self.instance, seed=self.seed).utility for name, module in modules.items()}

    @cached_property
    def larger(self) -> Horizon:
        """What can be reached where each server has one more of each resource, and each link 1/2 more bandwidth."""
        return Horizon(_enlarged(self.instance))


def _enlarged(instance: Instance) -> Instance:
    servers = {node.name for node in instance.servers}
    nodes = tuple(
        node.model_copy(update={"capacity": {r: node.capacity_of(r) + 1 for r in instance.resources}})
        if node.name in servers
        else node
        for node in instance.nodes
    )
    wider = {
        slot: tuple(link.model_copy(update={"bandwidth": link.bandwidth + Fraction(1, 2)}) for link in links)
        for slot, links in [(0, instance.links), *(instance.bandwidth_by_slot or {}).items()]
    }
    usual = wider.pop(0)
    return Instance(
        slots=instance.slots,
        resources=instance.resources,
        nodes=nodes,
        links=usual,
        duplex=instance.duplex,
        bandwidth_by_slot=wider or None,
        jobs=instance.jobs,
    )


NETWORKS = Subject[Instance, EvaluationFacts](
    problem="ddljs", instance=Instance, facts=EvaluationFacts, premises=(FINITE,)
)
"""What claims about other algorithms and larger networks are about."""


def _utilities(facts: EvaluationFacts) -> dict[str, Any]:
    return {**facts.baselines, "greedy": float(facts.greedy[-1]), "opt": float(facts.opt)}


BASELINES = NETWORKS.printed(
    "gadget/baselines",
    paper="GADGET, Fig. 4",
    statement="GADGET is worth more than FIFO, DRF and LAS",
    quantity="the greatest utility of Algorithm 1 with exact slots over all ways to break ties, against the best "
    "of the baselines",
    measure=lambda facts: facts.greedy[-1],
    relation=Relation.AT_LEAST,
    bound=lambda facts: max(facts.baselines.values()),
    expectation=Expectation.FALSE,
    premises=(FINITE, OPT_POSITIVE),
    details=_utilities,
    sources=(THRESHOLDS,),
    counterexamples=("gadget-baselines-G11",),
)

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


def _embedded(horizon: Horizon, pick: Callable[[list[int]], int]) -> int:
    """Return the number of jobs embedded in slot 1 by an optimum of the slot: of several, the one picked."""
    options = horizon.after((0,) * len(horizon.instance.jobs), 1)
    best = max(map(horizon.value, options))
    return pick([sum(n > 0 for n in z) for z in options if horizon.value(z) == best])


RATIO = NETWORKS.printed(
    "gadget/embedded-ratio",
    paper="GADGET, Figs. 5 and 6",
    statement="more capacity allows more jobs to be embedded",
    quantity="jobs in an optimum of slot 1 with one more of each resource on each server, at most, against jobs in one "
    "before, at least",
    measure=lambda facts: _embedded(facts.larger, max),
    relation=Relation.AT_LEAST,
    bound=lambda facts: _embedded(facts.horizon(), min),
    expectation=Expectation.FALSE,
    counterexamples=("gadget-embedded-ratio-three-workers",),
)

CLAIMS = stated(globals())
