"""Theorem 10: the law of what Algorithm 1 ends with when every slot is rounded once: all histories, exactly.

A slot's rings are rounded independently, and only their sizes matter for later slots, so that the law of the
worker-slots so far is carried from slot to slot. Each solution is decomposed into "all k workers on node u", which
valid mappings of the augmented LP may do, and which use no link.
"""

from __future__ import annotations

import itertools
import math
from collections import defaultdict
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import cached_property
from typing import Any

from dlsched.arithmetic import exp, power
from dlsched.bounds.claim import Expectation, Premise, Subject, Undecided, always, stated
from dlsched.bounds.comparison import Relation
from dlsched.bounds.gadget.colocated import Colocated, Programs, selected_sizes
from dlsched.bounds.gadget.facts import HYPOTHESES, OPT_POSITIVE, GadgetFacts
from dlsched.bounds.gadget.families import FEW
from dlsched.bounds.gadget.horizon import Counts
from dlsched.models.ddljs import Instance, RingProblem, slot_problem
from dlsched.tolerances import AS_GOOD

MAX_HISTORIES = 2_000
"""Slots times vectors of worker-slots whose programs are solved, at most. Arbitrary: limits count work and not
seconds, so that verdicts are the same everywhere."""

MAX_DRAWS = 20_000
"""Outcomes of the draw of one slot, at most. Arbitrary."""

Law = dict[Counts, Fraction]


class Rounds:
    """Algorithm 1 with one draw a slot.

    Parameters
    ----------
    instance : Instance
    programs : Programs
        Of its nodes.
    selected : bool
        Ring sizes are selected first (Lemma 7); else size and place are drawn together.
    fitting : bool
        Of a draw, rings are kept in the order of the jobs while they fit the nodes; the others are discarded.
    """

    def __init__(self, instance: Instance, programs: Programs, *, selected: bool, fitting: bool = False) -> None:
        self.instance, self.programs, self.selected, self.fitting = instance, programs, selected, fitting
        self.solved = 0
        self.moderate = True

    @cached_property
    def law(self) -> Law:
        """The law of the worker-slots in the end."""
        law: Law = {(0,) * len(self.instance.jobs): Fraction(1)}
        for slot in range(1, self.instance.slots + 1):
            after: Law = defaultdict(Fraction)
            for z, probability in law.items():
                for added, share in self._step(slot, z).items():
                    after[tuple(map(int.__add__, z, added))] += probability * share
            law = dict(after)
        return law

    def _step(self, slot: int, so_far: Counts) -> Law:
        """Return the law of what one slot adds."""
        self.solved += 1
        if self.solved > MAX_HISTORIES:
            raise Undecided(f"more than {MAX_HISTORIES} slots and vectors of worker-slots")
        names = [job.name for job in self.instance.jobs]
        problem = slot_problem(self.instance, slot, dict(zip(names, so_far, strict=True)))
        solution = self.programs.solve(problem)
        if self.selected:
            sizes = selected_sizes(problem, solution)
            problem = problem.keeping(r.only(sizes[r.name]) for r in problem.requests if r.name in sizes)
            solution = self.programs.solve(problem)
        self.moderate &= all(max(r.profit.values()) <= solution.value + AS_GOOD for r in problem.requests)
        law: Law = defaultdict(Fraction)
        for sizes_drawn, probability in self._draws(problem, solution):
            law[tuple(sizes_drawn.get(name, 0) for name in names)] += probability
        return law

    def _draws(self, problem: RingProblem, solution: Colocated) -> Iterator[tuple[dict[str, int], Fraction]]:
        """Yield the sizes kept of every draw, with its probability."""
        options = [solution.options(request.name, places=self.fitting) for request in problem.requests]
        if math.prod(map(len, options)) > MAX_DRAWS:
            raise Undecided(f"a draw has more than {MAX_DRAWS} outcomes")
        for drawn in itertools.product(*options):
            probability = Fraction(1)
            for _, _, weight in drawn:
                probability *= weight
            rings = [(r.name, k, u) for r, (k, u, _) in zip(problem.requests, drawn, strict=True) if k]
            yield dict(_fitting(problem, rings) if self.fitting else ((name, k) for name, k, _ in rings)), probability


def _fitting(problem: RingProblem, rings: list[tuple[str, int, str]]) -> Iterator[tuple[str, int]]:
    """Yield the rings (name, size, node) that fit beside those before them."""
    used: dict[tuple[str, str], Fraction] = defaultdict(Fraction)
    for name, size, node in rings:
        needs = {r: need * size for r, need in problem.request(name).demand.items()}
        if all(used[node, r] + n <= problem.nodes[node].get(r, Fraction(0)) for r, n in needs.items()):
            yield name, size
            for r, n in needs.items():
                used[node, r] += n


class RoundsFacts(GadgetFacts):
    """What is known of one (instance, seed), the laws of rounded runs among it."""

    @cached_property
    def programs(self) -> Programs:
        """The programs of the slots."""
        return Programs()

    @cached_property
    def joint(self) -> Rounds:
        """Rounds of size and place together."""
        return Rounds(self.instance, self.programs, selected=False)

    @cached_property
    def selected(self) -> Rounds:
        """Rounds of selected rings."""
        return Rounds(self.instance, self.programs, selected=True)

    @cached_property
    def discarding(self) -> Rounds:
        """Rounds of selected rings, of which those that do not fit are discarded."""
        return Rounds(self.instance, self.programs, selected=True, fitting=True)

    @property
    def largest(self) -> int:
        """Gamma, the largest ring of a job in any slot, at least 1."""
        last = slot_problem(self.instance, self.instance.slots)
        return max([1, *(max(request.sizes) for request in last.requests)])

    def expectation(self, rounds: Rounds) -> Fraction:
        """Return the expected utility."""
        return sum((p * self.horizon().value(z) for z, p in rounds.law.items()), Fraction(0))

    def probability(self, rounds: Rounds, event: Callable[[Fraction], bool]) -> Fraction:
        """Return the probability that the utility is as asked."""
        return sum((p for z, p in rounds.law.items() if event(self.horizon().value(z))), Fraction(0))


def _goal(facts: RoundsFacts) -> Fraction:
    """Return OPT/(3 Gamma + 1)."""
    return facts.opt / (3 * facts.largest + 1)


def _reaches_goal(facts: RoundsFacts) -> Fraction:
    """Return the probability of that, less what rounding of numbers may cost, with selected rings."""
    least = _goal(facts) - Fraction(AS_GOOD)
    return facts.probability(facts.selected, lambda value: value >= least)


def _free(facts: RoundsFacts) -> bool:
    return all(job.placement is None for job in facts.instance.jobs)


def _moderate(facts: RoundsFacts) -> bool:
    return bool(facts.selected.law) and facts.selected.moderate


def _details(facts: RoundsFacts) -> dict[str, Any]:
    return {"Gamma": facts.largest, "opt": float(facts.opt)}


_PREMISES = (*HYPOTHESES, OPT_POSITIVE, Premise("no job has a placement", _free))

ROUNDED = Subject(problem="ddljs", instance=Instance, facts=RoundsFacts, premises=_PREMISES, sources=(FEW,))
"""What claims about rounded runs are about."""

THEOREM_10 = ROUNDED.printed(
    "gadget/theorem-10",
    paper="GADGET, Theorem 10",
    statement="Algorithm 1 yields at least 1/(3 Gamma + 1) of OPT",
    quantity="the probability that it does, with one draw a slot, against 1",
    measure=_reaches_goal,
    relation=Relation.AT_LEAST,
    bound=always(1),
    expectation=Expectation.FALSE,
    details=_details,
    counterexamples=("gadget-theorem-10-G8",),
)

THEOREM_10_CORRECTED = THEOREM_10.corrected(
    statement="under the premises of Theorem 6, and if no selected ring is worth more than the LP of its slot, "
    "Algorithm 1 with one draw a slot yields 1/(3 Gamma + 1) of OPT, overloads allowed, with probability at least "
    "(1 - exp(-2/9))^T",
    quantity="the probability that it does, against (1 - exp(-2/9))^T",
    bound=lambda facts: power(1 - exp(-2 / 9), facts.instance.slots),
    premises=(*_PREMISES, Premise("pi_ik <= LP_res in every slot", _moderate)),
    golden=("gadget-theorem-10-corrected-G8",),
)

HALF = ROUNDED.derived(
    "gadget/half-of-optimum",
    paper="GADGET, Theorem 10, without ring selection",
    statement="one unconditional draw a slot, over sizes and mappings together, has E[F] >= OPT/2",
    quantity="the expected utility, against OPT/2",
    measure=lambda facts: facts.expectation(facts.joint),
    relation=Relation.AT_LEAST,
    bound=lambda facts: facts.opt / 2,
    expectation=Expectation.TRUE,
    golden=("gadget-half-of-optimum-G6", "gadget-half-of-optimum-G8"),
)

SELECTED = ROUNDED.derived(
    "gadget/selected-expectation",
    paper="GADGET, Theorem 10, with ring selection",
    statement="one unconditional draw a slot of the selected rings has E[F] >= OPT/(1 + Gamma)",
    quantity="the expected utility, against OPT/(1 + Gamma)",
    measure=lambda facts: facts.expectation(facts.selected),
    relation=Relation.AT_LEAST,
    bound=lambda facts: facts.opt / (1 + facts.largest),
    expectation=Expectation.TRUE,
    golden=("gadget-selected-expectation-blocked",),
)

DISCARD = ROUNDED.derived(
    "gadget/fit-or-discard",
    paper="GADGET, Algorithm 2 within the capacities",
    statement="if what does not fit is discarded, 1/(3 Gamma + 1) of OPT is kept in expectation",
    quantity="the expected utility of what fits, against OPT/(3 Gamma + 1)",
    measure=lambda facts: facts.expectation(facts.discarding),
    relation=Relation.AT_LEAST,
    bound=_goal,
    expectation=Expectation.FALSE,
    counterexamples=("gadget-fit-or-discard-G10",),
)

CLAIMS = stated(globals())
