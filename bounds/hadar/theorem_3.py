"""Theorem 3 with its Cases I to IV and its corollary (Section V-C): what forking does to CRU, and to the total time."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from dlsched.algorithms import Variant as Text
from dlsched.bounds.claim import Expectation, Premise, always, stated
from dlsched.bounds.comparison import Relation
from dlsched.bounds.hadar.forking import BATCHES, FEW, FORKING, HURRIED, SINGLE, ForkingFacts

_ONE_NODE = Premise[ForkingFacts](
    "every node can run a copy of every job, which runs on one node",
    lambda facts: bool(facts.speeds) and all(all(speed.values()) for speed in facts.speeds.values()),
    "Section V: a job runs on at most one node, a copy on any",
)
_BATCH = Premise[ForkingFacts](
    "all jobs are there from the beginning",
    lambda facts: all(job.arrival == 1 for job in facts.instance.jobs),
    "Section V-C, Theorem 3: a batch of jobs",
)
_SLOT = Premise(
    "T_S is shorter than the shortest job's training time",
    ForkingFacts.shortest_above_slot,
    "Section V-C, proof of Theorem 3",
)
_SEVERAL = Premise[ForkingFacts]("n > 1", lambda facts: facts.n > 1, "Section V-C, Case II: 1 < x < n")
_BETWEEN = Premise[ForkingFacts]("n > 2", lambda facts: facts.n > 2, "Section V-C, Case II: 1 < x < n")
_ONE_JOB = Premise[ForkingFacts](
    "there is one job", lambda facts: len(facts.instance.jobs) == 1, "Section V-C, Cases I to IV"
)
_JOBS = Premise[ForkingFacts](
    "there are several jobs", lambda facts: len(facts.instance.jobs) > 1, "Section V-C, (12)-(14)"
)
_EQUALLY_FAST = Premise[ForkingFacts]("all nodes are equally fast", lambda facts: facts.homogeneous)
_NODE_EACH = Premise[ForkingFacts]("there is a node for each job", lambda facts: len(facts.instance.jobs) <= facts.n)
_FEWER = Premise[ForkingFacts](
    "there are fewer jobs than nodes",
    lambda facts: len(facts.instance.jobs) < facts.n,
    "Section V-C, proof of Theorem 3: (k+1) < n",
)
_BATCHES = (_ONE_NODE, _BATCH, _SLOT, _SEVERAL)
_CASES = (_ONE_NODE, _BATCH, _SLOT, _SEVERAL, _ONE_JOB)


def _printed_spans(facts: ForkingFacts) -> dict[str, Any]:
    return facts.spans_by_copies(Text.PRINTED)


def _best_spans(facts: ForkingFacts) -> dict[str, Any]:
    return facts.spans_by_copies(Text.CORRECTED, idle=True)


def _chain(facts: ForkingFacts) -> dict[str, Any]:
    return {"CRU by copies": [str(facts.cru(x)) for x in range(1, facts.n + 1)]}


THEOREM_3 = FORKING.printed(
    "hadar/theorem-3",
    paper="Hadar, Section V-C, Theorem 3, with the division of Section V-B",
    statement="HadarE achieves the maximal CRU by forking every job to n copies: no less than with x < n copies",
    quantity="greatest CRU over all assignments of n copies, against the least over those of x copies, for the worst x",
    measure=lambda facts: facts.runs(facts.n, Text.PRINTED, False).cru[1],
    relation=Relation.AT_LEAST,
    bound=lambda facts: max(facts.runs(x, Text.PRINTED, False).cru[0] for x in facts.fewer),
    expectation=Expectation.FALSE,
    premises=_BATCHES,
    details=_printed_spans,
    sources=(BATCHES,),
    counterexamples=("hadar-theorem-3-three-jobs",),
    golden=("hadar-theorem-3-two-jobs",),
    open="on which nodes Hadar puts which copies, and which node's throughput a copy has that is on none",
)

THEOREM_3_CORRECTED = THEOREM_3.corrected(
    statement="with the steps divided among the copies that are scheduled, the greatest CRU over all assignments, idle "
    "nodes allowed, does not fall with the number of copies",
    quantity="greatest CRU over all assignments of n copies, against that of x copies, for the worst x",
    measure=lambda facts: facts.runs(facts.n, Text.CORRECTED, True).cru[1],
    bound=lambda facts: max(facts.runs(x, Text.CORRECTED, True).cru[1] for x in facts.fewer),
    details=_best_spans,
    golden=("hadar-theorem-3-corrected-three-jobs",),
)

TOTAL_TIME = THEOREM_3.derived(
    "hadar/total-time",
    paper="Hadar, Section V-A: forking shortens the duration of training a batch",
    statement="a batch of which every job is forked to n copies is done no later than with x < n copies",
    quantity="least TTD over all assignments of n copies, against the greatest over those of x copies, for the worst x",
    measure=lambda facts: facts.runs(facts.n, Text.PRINTED, False).ttd[0],
    relation=Relation.AT_MOST,
    bound=lambda facts: min(facts.runs(x, Text.PRINTED, False).ttd[1] for x in facts.fewer),
    counterexamples=("hadar-total-time-three-jobs",),
)

TOTAL_TIME_CORRECTED = TOTAL_TIME.corrected(
    statement="with the steps divided among the copies that are scheduled, the least TTD over all assignments, idle "
    "nodes allowed, does not rise with the number of copies: it is shortest with n",
    quantity="least TTD over all assignments of n copies, against that of x copies, for the worst x",
    measure=lambda facts: facts.runs(facts.n, Text.CORRECTED, True).ttd[0],
    bound=lambda facts: min(facts.runs(x, Text.CORRECTED, True).ttd[0] for x in facts.fewer),
    details=_best_spans,
    golden=("hadar-total-time-corrected-three-jobs",),
)


def _not_strict(facts: ForkingFacts) -> int:
    """Return for how many x between 1 and n an inequality of (11) fails, on the x fastest nodes."""
    first, last = facts.cru(1), facts.cru(facts.n)
    return sum(not first < facts.cru(x) < last for x in range(2, facts.n))


STRICT = FORKING.printed(
    "hadar/theorem-3-strict",
    paper="Hadar, Section V-C, proof of Theorem 3, (11)",
    statement="for one job CRU^1 < CRU^x < CRU^n for all 1 < x < n",
    quantity="numbers x of copies for which this fails, on the x fastest nodes, against 0",
    measure=_not_strict,
    relation=Relation.AT_MOST,
    bound=always(0),
    expectation=Expectation.FALSE,
    premises=(*_CASES, _BETWEEN),
    details=_chain,
    sources=(SINGLE,),
    counterexamples=("hadar-theorem-3-strict-two-slots", "hadar-theorem-3-strict-four-nodes"),
    golden=("hadar-theorem-3-strict-three-slots",),
)

STRICT_CORRECTED = STRICT.corrected(
    statement="for one job CRU^1 <= CRU^2 <= ... <= CRU^n, x copies on the x fastest nodes",
    quantity="greatest quotient of CRU with x copies and with x + 1, against 1",
    measure=lambda facts: max(facts.cru(x) / facts.cru(x + 1) for x in facts.fewer),
    bound=always(1),
    premises=_CASES,
    golden=("hadar-theorem-3-strict-corrected-two-slots",),
)


def _never_strict(facts: ForkingFacts) -> int:
    """Return for how many x < n no assignment of n copies has a greater CRU than every one of x copies."""
    best = facts.runs(facts.n, Text.CORRECTED, True).cru[1]
    return sum(best <= facts.runs(x, Text.CORRECTED, False).cru[0] for x in facts.fewer)


INDUCTION = FORKING.printed(
    "hadar/theorem-3-induction",
    paper="Hadar, Section V-C, proof of Theorem 3, (12)-(14)",
    statement="for m jobs CRU_m^1 < CRU_m^x < CRU_m^n for all 1 < x < n",
    quantity="numbers x < n of copies that no assignment of n copies improves on, however steps are divided, against 0",
    measure=_never_strict,
    relation=Relation.AT_MOST,
    bound=always(0),
    expectation=Expectation.FALSE,
    premises=(*_BATCHES, _BETWEEN, _JOBS),
    details=_best_spans,
    sources=(BATCHES,),
    counterexamples=("hadar-theorem-3-induction-three-jobs",),
    golden=("hadar-theorem-3-induction-long-job",),
)


def _best_subset(facts: ForkingFacts) -> Fraction:
    subsets = (nodes for x in facts.fewer for nodes in itertools.combinations(facts.fastest_first, x))
    return max(facts.cru_on(nodes) for nodes in subsets)


ANY_NODES = FORKING.derived(
    "hadar/theorem-3-any-nodes",
    paper="Hadar, Section V-C, Cases II and III, with x copies on any nodes",
    statement="one job on all n nodes has at least the CRU that it has on any x < n of them",
    quantity="CRU with n copies, against the greatest on fewer nodes",
    measure=lambda facts: facts.cru(facts.n),
    relation=Relation.AT_LEAST,
    bound=_best_subset,
    expectation=Expectation.FALSE,
    premises=_CASES,
    details=_chain,
    sources=(SINGLE,),
    counterexamples=("hadar-theorem-3-any-nodes-18-11", "hadar-theorem-3-any-nodes-3-2"),
)

ANY_NODES_CORRECTED = ANY_NODES.corrected(
    statement="one job on all of n equally fast nodes has at least the CRU that it has on any x < n of them",
    premises=(*_CASES, _EQUALLY_FAST),
    golden=("hadar-theorem-3-any-nodes-corrected-two-slots",),
)

DIVISION = FORKING.derived(
    "hadar/theorem-3-division",
    paper="Hadar, Section V-B: the steps are divided into n portions for the n copies",
    statement="where each job has a node of its own, n copies have at least the CRU of no forking on the same nodes",
    quantity="CRU with n copies of which one runs, against CRU without forking",
    measure=lambda facts: facts.one_each(facts.n, Text.PRINTED),
    relation=Relation.AT_LEAST,
    bound=lambda facts: facts.one_each(1, Text.PRINTED),
    expectation=Expectation.FALSE,
    premises=(*_BATCHES, _NODE_EACH),
    sources=(BATCHES,),
    counterexamples=("hadar-theorem-3-division-two-jobs",),
)

DIVISION_CORRECTED = DIVISION.corrected(
    statement="where each job has a node of its own, and steps are divided among the copies that are scheduled, n "
    "copies have the CRU of no forking on the same nodes",
    measure=lambda facts: facts.one_each(facts.n, Text.CORRECTED),
    relation=Relation.EQUAL,
    golden=("hadar-theorem-3-division-corrected-two-jobs",),
)


def _rounds_missed(facts: ForkingFacts) -> int:
    """Return by how many rounds ceil(R_1 / x) is wrong, for the worst x and the kindest node that R_1 is of."""
    taken = {x: facts.rounds_on(facts.fastest_first[:x]) for x in range(2, facts.n + 1)}
    alone = [facts.rounds_on([node]) for node in facts.nodes]
    return min(max(abs(rounds - math.ceil(Fraction(r1, x))) for x, rounds in taken.items()) for r1 in alone)


ROUNDS = FORKING.printed(
    "hadar/theorem-3-rounds",
    paper="Hadar, Section V-C, Cases II and III",
    statement="a job that takes R_1 rounds without forking takes ceil(R_1 / x) with x copies",
    quantity="rounds by which that is wrong, for the worst x on the fastest nodes and R_1 on the kindest, against 0",
    measure=_rounds_missed,
    relation=Relation.AT_MOST,
    bound=always(0),
    expectation=Expectation.FALSE,
    premises=_CASES,
    sources=(SINGLE,),
    counterexamples=("hadar-theorem-3-rounds-half-as-fast",),
)

ROUNDS_CORRECTED = ROUNDS.corrected(
    statement="on equally fast nodes a job that takes R_1 rounds without forking takes ceil(R_1 / x) with x copies",
    premises=(*_CASES, _EQUALLY_FAST),
    golden=("hadar-theorem-3-rounds-corrected-two-slots",),
)


def _nodes(facts: ForkingFacts, x: int) -> Iterator[tuple[str, ...]]:
    return itertools.combinations(facts.fastest_first, x)


def _most(facts: ForkingFacts, x: int) -> int:
    """Return ceil(R_n n / x)."""
    return math.ceil(Fraction(facts.rounds_on(facts.fastest_first) * facts.n, x))


def _copies_missed(facts: ForkingFacts) -> int:
    """Return by how many rounds ceil(R_n n / x) is wrong, for the worst x on the kindest nodes."""
    return max(
        min(abs(facts.rounds_on(nodes) - _most(facts, x)) for nodes in _nodes(facts, x)) for x in range(2, facts.n)
    )


COPIES = FORKING.printed(
    "hadar/theorem-3-copies",
    paper="Hadar, Section V-C, proof of Theorem 3, below (12)",
    statement="a remaining job that takes R_n rounds with n copies takes ceil(R_n n / x) with x copies",
    quantity="rounds by which that is wrong, for the worst 1 < x < n on the kindest nodes, against 0",
    measure=_copies_missed,
    relation=Relation.AT_MOST,
    bound=always(0),
    expectation=Expectation.FALSE,
    premises=(*_CASES, _BETWEEN),
    open=(
        "whether R_n is a number of rounds, as R_1 is in the sum of Case I, or what they are before rounding: read as "
        "the former; in the first witness it is false of either"
    ),
    sources=(SINGLE,),
    counterexamples=("hadar-theorem-3-copies-four-times-as-fast", "hadar-theorem-3-copies-four-slots"),
)

COPIES_CORRECTED = COPIES.corrected(
    statement="a remaining job that takes R_n rounds with n copies takes at most ceil(R_n n / x) with x copies, on the "
    "x fastest nodes",
    quantity="greatest quotient of the rounds with x copies and ceil(R_n n / x), against 1",
    measure=lambda facts: max(Fraction(facts.rounds_on(facts.fastest_first[:x]), _most(facts, x)) for x in facts.fewer),
    bound=always(1),
    premises=_CASES,
    golden=("hadar-theorem-3-copies-corrected-four-slots",),
)


def _share_missed(facts: ForkingFacts) -> Fraction:
    """Return how far CRU with x copies is from x/n, for the worst x on the kindest nodes."""
    return max(
        min(abs(facts.cru_on(nodes) - Fraction(x, facts.n)) for nodes in _nodes(facts, x))
        for x in range(2, facts.n + 1)
    )


FULL = FORKING.printed(
    "hadar/theorem-3-full",
    paper="Hadar, Section V-C, proof of Theorem 3, below (12)",
    statement="CRU of the rounds of a remaining job is x/n when it is forked into x copies, and 100 % with n",
    quantity="distance of CRU from x/n, for the worst 1 < x <= n on the kindest nodes, against 0",
    measure=_share_missed,
    relation=Relation.AT_MOST,
    bound=always(0),
    expectation=Expectation.FALSE,
    premises=_CASES,
    details=_chain,
    sources=(SINGLE,),
    counterexamples=("hadar-theorem-3-full-four-slots",),
    golden=("hadar-theorem-3-full-six-slots",),
    open=(
        "what CRU of the rounds is of: of whole rounds, the last one among them, as it is of T_S in its definition "
        "(here), or of the time until the job is done (hadar/theorem-3-full-time), as R_n may be what the rounds are "
        "before rounding"
    ),
)

FULL_CORRECTED = FULL.corrected(
    statement="CRU of the rounds of a remaining job is at most x/n when it is forked into x copies",
    quantity="greatest quotient of CRU with x copies and x/n, on any nodes, against 1",
    measure=lambda facts: max(
        facts.cru_on(nodes) * facts.n / x for x in range(1, facts.n + 1) for nodes in _nodes(facts, x)
    ),
    bound=always(1),
    golden=("hadar-theorem-3-full-corrected-four-slots",),
)

FULL_TIME = FULL.derived(
    "hadar/theorem-3-full-time",
    paper="Hadar, Section V-C, proof of Theorem 3, below (12), read of time",
    statement="CRU until a remaining job is done, not of whole rounds, is x/n when it is forked into x copies, of "
    "divisible steps, and 100 % with n",
    quantity="distance of busy time over n times the job's time from x/n, for the worst x > 1 and nodes, against 0",
    measure=lambda facts: max(
        abs(facts.cru_until_done(nodes) - Fraction(x, facts.n))
        for x in range(2, facts.n + 1)
        for nodes in _nodes(facts, x)
    ),
    expectation=Expectation.TRUE,
    golden=("hadar-theorem-3-full-time-four-slots",),
)

UNFORKED = FORKING.printed(
    "hadar/theorem-3-unforked",
    paper="Hadar, Section V-C, proof of Theorem 3, below (12)",
    statement="without forking, when there are fewer jobs than nodes, CRU in each round is 1/n",
    quantity="CRU of the first round, in which each job has a node for the whole slot, against 1/n",
    measure=lambda facts: facts.first_without_forking,
    relation=Relation.EQUAL,
    bound=lambda facts: Fraction(1, facts.n),
    expectation=Expectation.FALSE,
    premises=(*_BATCHES, _FEWER),
    open="whether one job alone is meant, as in the example before it: read as all k+1, of which the sentence speaks",
    sources=(FEW,),
    counterexamples=("hadar-theorem-3-unforked-three-jobs",),
    golden=("hadar-theorem-3-unforked-one-job",),
)

UNFORKED_CORRECTED = UNFORKED.corrected(
    statement="without forking, when k jobs are there on more nodes, each for the whole slot, CRU of the round is k/n",
    quantity="CRU of the first round, in which each job has a node for the whole slot, against k/n",
    bound=lambda facts: Fraction(len(facts.instance.jobs), facts.n),
    golden=("hadar-theorem-3-unforked-corrected-three-jobs",),
)


def _furthest(facts: ForkingFacts) -> Fraction:
    """Return CRU with one or two copies more than n: the one that is further from CRU with n."""
    equal = facts.with_copies(facts.n)
    return max((facts.with_copies(facts.n + j) for j in (1, 2)), key=lambda cru: abs(cru - equal))


CASE_IV = FORKING.printed(
    "hadar/theorem-3-case-4",
    paper="Hadar, Section V-C, Case IV",
    statement="for one job copies beyond n change nothing: CRU^(n+j) = CRU^n",
    quantity="CRU of a run with n + 1 or n + 2 copies, against CRU with n",
    measure=_furthest,
    relation=Relation.EQUAL,
    bound=lambda facts: facts.with_copies(facts.n),
    expectation=Expectation.TRUE,
    premises=_CASES,
    sources=(SINGLE,),
    golden=("hadar-theorem-3-case-4-two-slots",),
)

COROLLARY = FORKING.printed(
    "hadar/corollary",
    paper="Hadar, Section V-C, Corollary",
    statement="with n copies every node is assigned a copy in every round but possibly the last one",
    quantity="nodes without a copy in all rounds of HadarE but the last, against 0",
    measure=lambda facts: sum(facts.n - len(event.nodes) for event in facts.before_last),
    relation=Relation.AT_MOST,
    bound=always(0),
    expectation=Expectation.TRUE,
    premises=_BATCHES,
    worst=lambda facts: facts.n * len(facts.before_last),
    open=(
        "which copy a node gets where none has a positive payoff: one all the same, as HadarE lets an unfinished job "
        "be executed on as many available nodes as possible (Section I) and keeps nodes from staying idle in any round "
        "(Section V); that all copies are sent to Hadar for scheduling (Section V-A), which sends none there, is "
        "hadar/corollary-payoffs"
    ),
    sources=(BATCHES,),
    golden=("hadar-corollary-long-job",),
)

COROLLARY_PAYOFFS = COROLLARY.derived(
    "hadar/corollary-payoffs",
    paper="Hadar, Section V-C, Corollary, with Hadar's rule mu_j > 0 (Algorithm 2) on the copies (Section V-A)",
    statement="with n copies every node is assigned a copy in every round but possibly the last one, where Hadar sends "
    "no copy to a node on which none has a positive payoff",
    quantity="nodes without a copy in all rounds but the last, where Algorithm 2 alone decides on copies, against 0",
    measure=lambda facts: sum(facts.n - len(event.nodes) for event in facts.paying_before_last),
    expectation=Expectation.FALSE,
    open=(
        "when Hadar takes a copy to be done: when it alone has done all that its job has left, as Algorithm 2 "
        "estimates a job's; with portions of it the copies of a job are done together, and pay together or not at all"
    ),
    worst=None,
    sources=(HURRIED,),
    counterexamples=("hadar-corollary-payoffs-three-times-as-fast",),
)

COROLLARY_TIME = FORKING.derived(
    "hadar/corollary-time",
    paper="Hadar, Section V-C, Corollary, read of time",
    statement="with n copies some assignment leaves no node idle at any time of a round but possibly the last one",
    quantity="least seconds that nodes wait in all rounds but the last, over all assignments, against 0",
    measure=lambda facts: facts.runs(facts.n, Text.CORRECTED, False).waiting,
    relation=Relation.AT_MOST,
    bound=always(0),
    expectation=Expectation.FALSE,
    premises=_BATCHES,
    details=_best_spans,
    sources=(BATCHES,),
    counterexamples=("hadar-corollary-time-two-jobs",),
    golden=("hadar-corollary-time-short-job",),
)

COROLLARY_TIME_CORRECTED = COROLLARY_TIME.corrected(
    statement="with n copies of a single job, of divisible steps, no node is idle at any time of a round but possibly "
    "the last one",
    quantity="seconds that nodes wait in all rounds of HadarE but the last, against 0",
    measure=lambda facts: facts.waiting,
    premises=_CASES,
    details=_chain,
    worst=lambda facts: facts.n * facts.slot * len(facts.before_last),
    sources=(SINGLE,),
    golden=("hadar-corollary-time-corrected-seven-slots",),
)

CLAIMS = stated(globals())
