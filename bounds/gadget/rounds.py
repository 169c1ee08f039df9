"""Theorem 10: the law of what Algorithm 1 ends with when slots are rounded: all histories, exactly.

A slot's rings are rounded independently, or until a draw is accepted, and only their sizes matter for later slots, so
that the law of the worker-slots so far is carried from slot to slot. What is drawn in one slot decides which jobs are
there in the next, and what their rings are worth: overloads of different slots are not independent.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Annotated, Any

from pydantic import Field

from dlsched.algorithms.gadget.mixtures import Vertex
from dlsched.arithmetic import exact_power, exp, power
from dlsched.bounds.claim import Expectation, Premise, Subject, Undecided, always, comparison_unit, stated
from dlsched.bounds.comparison import Interval, Relation
from dlsched.bounds.gadget.choices import EPSILON, VERTEX, Choice, chosen, over, tells_apart
from dlsched.bounds.gadget.facts import HYPOTHESES, OPT_POSITIVE, GadgetFacts
from dlsched.bounds.gadget.families import COUPLED, FEW, WHEELS
from dlsched.bounds.gadget.horizon import Counts
from dlsched.models.ddljs import Instance, RingProblem, slot_problem
from dlsched.rounding.mapping_law import Outcome
from dlsched.rounding.mapping_table import Row
from dlsched.tolerances import AS_GOOD

MAX_HISTORIES = 2_000
"""Slots times vectors of worker-slots whose programs are solved, at most. Arbitrary: limits count work and not
seconds, so that verdicts are the same everywhere."""

Law = dict[Counts, Fraction]


@dataclass(frozen=True, slots=True)
class Rule:
    """How slots are rounded.

    Attributes
    ----------
    vertex : Vertex
    select : bool
        Ring sizes are selected first (Lemma 7); else size and mapping are drawn together.
    itself : bool
        They are selected by the program that is rounded; else, as printed, by the plain one.
    draws : int
        u_b; the first draw that is accepted, else the last, is returned. With 1, the draw is, whatever it is.
    fitting : bool
        Of what is returned, rings are kept in the order of the jobs while they fit; the others are discarded.
    """

    vertex: Vertex = Vertex.CAPPED
    select: bool = True
    itself: bool = False
    draws: int = 1
    fitting: bool = False


Key = tuple[object, ...]


class Choices:
    """The solved programs of an instance: those of slots that are alike are solved once."""

    def __init__(self) -> None:
        self._known: dict[Key, Choice] = {}
        self._outcomes: dict[Key, list[Outcome]] = {}

    def outcomes(self, problem: RingProblem, rule: Rule) -> tuple[Choice, list[Outcome]]:
        """Return the optimum that a rule rounds, and the law of what it returns."""
        requests = tuple((request.name, *request.profit.items()) for request in problem.requests)
        itself = rule.itself and tells_apart(problem, rule.vertex)
        key = (rule.vertex, rule.select, itself, problem.shares, requests)
        if key not in self._known:
            self._known[key] = chosen(problem, rule.vertex, itself=itself, select=rule.select)
        if (*key, rule.draws) not in self._outcomes:
            self._outcomes[(*key, rule.draws)] = self._known[key].outcomes(rule.draws)
        return self._known[key], self._outcomes[(*key, rule.draws)]


class Rounds:
    """Algorithm 1 with rounded slots.

    Parameters
    ----------
    instance : Instance
    choices : Choices
        Of the instance.
    rule : Rule

    Attributes
    ----------
    met : list of Choice
        The optima that were rounded, as far as the laws were asked for.
    """

    def __init__(self, instance: Instance, choices: Choices, rule: Rule) -> None:
        self.instance, self.choices, self.rule = instance, choices, rule
        self.met: list[Choice] = []
        self._names = [job.name for job in instance.jobs]
        self._steps: dict[tuple[int, Counts], list[tuple[Counts, Fraction, frozenset[Row]]]] = {}

    @property
    def law(self) -> Law:
        """The law of the worker-slots in the end."""
        found = self._law
        for choice in self.met:
            choice.told()
        return found

    @cached_property
    def _law(self) -> Law:
        law: Law = {(0,) * len(self._names): Fraction(1)}
        for slot in range(1, self.instance.slots + 1):
            after: Law = defaultdict(Fraction)
            for z, probability in law.items():
                for added, share, _ in self._step(slot, z):
                    after[tuple(map(int.__add__, z, added))] += probability * share
            law = dict(after)
        return law

    @property
    def overloads(self) -> dict[Row, Fraction]:
        """The probability that a row is overloaded by beta or gamma in some slot; rows that never are left out."""
        possible = self._steps.values() if self.law else ()
        rows = {row for steps in possible for _, _, broken in steps for row in broken}
        return {row: 1 - self._never(row) for row in rows}

    def _never(self, row: Row) -> Fraction:
        """Return the probability that a row is overloaded in no slot."""
        law: Law = {(0,) * len(self._names): Fraction(1)}
        for slot in range(1, self.instance.slots + 1):
            after: Law = defaultdict(Fraction)
            for z, probability in law.items():
                for added, share, broken in self._step(slot, z):
                    if row not in broken:
                        after[tuple(map(int.__add__, z, added))] += probability * share
            law = dict(after)
        return sum(law.values(), Fraction(0))

    def _step(self, slot: int, so_far: Counts) -> list[tuple[Counts, Fraction, frozenset[Row]]]:
        """Return what one slot can add, with its probability and the rows that are overloaded."""
        if (slot, so_far) not in self._steps:
            if len(self._steps) >= MAX_HISTORIES:
                raise Undecided(f"more than {MAX_HISTORIES} slots and vectors of worker-slots")
            problem = slot_problem(self.instance, slot, dict(zip(self._names, so_far, strict=True)))
            choice, outcomes = self.choices.outcomes(problem, self.rule)
            self.met.append(choice)
            self._steps[slot, so_far] = [self._of(choice, outcome) for outcome in outcomes]
        return self._steps[slot, so_far]

    def _of(self, choice: Choice, outcome: Outcome) -> tuple[Counts, Fraction, frozenset[Row]]:
        sizes = dict(_fitting(choice, outcome) if self.rule.fitting else _all(choice, outcome))
        broken = choice.overloaded(choice.law.table.loads(outcome.chosen))
        return tuple(sizes.get(name, 0) for name in self._names), outcome.probability, broken


def _all(choice: Choice, outcome: Outcome) -> Iterator[tuple[str, int]]:
    """Yield the rings of an outcome: name and size."""
    for name, option in zip(choice.law.table.options, outcome.chosen, strict=True):
        if option.chosen is not None:
            yield name, option.chosen.size


def _fitting(choice: Choice, outcome: Outcome) -> Iterator[tuple[str, int]]:
    """Yield those that fit beside those before them."""
    table, used = choice.law.table, defaultdict[Row, Fraction](Fraction)
    for name, option in zip(table.options, outcome.chosen, strict=True):
        fits = all(used[row] + load <= table.capacity[row] for row, load in option.loads.items())
        if option.chosen is not None and fits:
            yield name, option.chosen.size
            for row, load in option.loads.items():
                used[row] += load


class RoundsFacts(GadgetFacts):
    """What is known of one (instance, seed), the laws of rounded runs among it.

    Parameters
    ----------
    instance : Instance
    seed : int
    u_b : int
        The most draws of Algorithm 2 in a slot. Arbitrary above 1: the paper prints none.
    """

    def __init__(self, instance: Instance, seed: int, *, u_b: Annotated[int, Field(ge=1)] = 3) -> None:
        super().__init__(instance, seed)
        self.u_b = u_b
        self._choices = Choices()
        self._rounds: dict[Rule, Rounds] = {}

    def rounds(self, rule: Rule) -> list[Rounds]:
        """Return what becomes of a rule, for each optimum that can be rounded."""
        rules = [replace(rule, vertex=vertex) for vertex in Vertex]
        for one in rules:
            if one not in self._rounds:
                self._rounds[one] = Rounds(self.instance, self._choices, one)
        return [self._rounds[one] for one in rules]

    @property
    def largest(self) -> int:
        """Gamma, the largest ring of a job in any slot, at least 1."""
        last = slot_problem(self.instance, self.instance.slots)
        return max([1, *(max(request.sizes) for request in last.requests)])

    @property
    def goal(self) -> Fraction:
        """OPT/(3 Gamma + 1)."""
        return self.opt / (3 * self.largest + 1)

    def expectation(self, rule: Rule) -> Interval:
        """Return the expected utility."""
        value = self.horizon().value
        return over(sum((p * value(z) for z, p in one.law.items()), Fraction(0)) for one in self.rounds(rule))

    def probability(self, rule: Rule, event: Callable[[Fraction], bool]) -> Interval:
        """Return the probability that the utility is as asked."""
        value = self.horizon().value
        return over(sum((p for z, p in one.law.items() if event(value(z))), Fraction(0)) for one in self.rounds(rule))

    def reaches_goal(self, rule: Rule) -> Interval:
        """Return the probability that the utility is OPT/(3 Gamma + 1), less what rounding of numbers may cost."""
        least = self.goal - Fraction(AS_GOOD * comparison_unit(self.instance))
        return self.probability(rule, lambda value: value >= least)

    def met(self, rule: Rule) -> Sequence[Choice]:
        """Return the optima that are rounded over all histories."""
        return [choice for one in self.rounds(rule) if one.law for choice in one.met]


ONE_DRAW = Rule()
OWN = Rule(itself=True)
JOINT = Rule(select=False)


def _loop(facts: RoundsFacts) -> Rule:
    return Rule(draws=facts.u_b)


def _free(facts: RoundsFacts) -> bool:
    return all(job.placement is None for job in facts.instance.jobs)


def _moderate(facts: RoundsFacts) -> bool:
    return all(choice.moderate for choice in facts.met(OWN))


def _details(facts: RoundsFacts) -> dict[str, Any]:
    return {
        "Gamma": facts.largest,
        "opt": float(facts.opt),
        "reached, with one draw a slot": {
            one.rule.vertex.value: [[float(facts.horizon().value(z)), str(p)] for z, p in one.law.items()]
            for one in facts.rounds(ONE_DRAW)
        },
    }


_FREE = Premise("no job has a placement", _free)
_PREMISES = (*HYPOTHESES, OPT_POSITIVE, _FREE)
_SERVERS = Premise[RoundsFacts](
    "at least three servers", lambda facts: len(facts.instance.servers) >= 3, source="Theorem 8"
)
_THREE = Premise[RoundsFacts]("|V_S| >= 3", lambda facts: len(facts.instance.nodes) >= 3)

ROUNDED = Subject(problem="ddljs", instance=Instance, facts=RoundsFacts, premises=_PREMISES, sources=(FEW,))
"""What claims about rounded runs are about."""

THEOREM_10 = ROUNDED.printed(
    "gadget/theorem-10",
    paper="GADGET, Theorem 10",
    statement="Algorithm 1 yields at least 1/(3 Gamma + 1) of OPT",
    quantity="the probability that it does, with u_b draws a slot at most, against 1",
    measure=lambda facts: facts.reaches_goal(_loop(facts)),
    relation=Relation.AT_LEAST,
    bound=always(1),
    expectation=Expectation.FALSE,
    premises=(*HYPOTHESES, _SERVERS, OPT_POSITIVE, _FREE),
    details=_details,
    open=VERTEX,
    sources=(FEW, COUPLED),
    counterexamples=("gadget-theorem-10-three-servers",),
)

THEOREM_10_CORRECTED = THEOREM_10.corrected(
    statement="under the premises of Theorem 6, with rings selected by the LP that is rounded, of which none is worth "
    "more than the LP of its slot, Algorithm 1 with one draw a slot yields 1/(3 Gamma + 1) of OPT, overloads allowed, "
    "with probability at least (1 - exp(-2/9))^T",
    quantity="the probability that it does, against (1 - exp(-2/9))^T",
    measure=lambda facts: facts.reaches_goal(OWN),
    bound=lambda facts: power(1 - exp(-2 / 9), facts.instance.slots),
    premises=(*_PREMISES, Premise("no selected ring is worth more than the LP of its slot", _moderate)),
    golden=("gadget-theorem-10-corrected-G8",),
)


def _all_slots_succeed(facts: RoundsFacts) -> float:
    """Return (1 - exp(-2/9) min(1, miss)^(u_b - 1))^T."""
    miss = max((choice.constants.miss for choice in facts.met(OWN)), default=1.0)
    return power(1 - exp(-2 / 9) * power(min(1.0, miss), facts.u_b - 1), facts.instance.slots)


THEOREM_10_LOOP = THEOREM_10_CORRECTED.derived(
    "gadget/theorem-10-loop",
    statement="the same with the loop of u_b draws a slot, as corrected, with probability at least "
    "(1 - exp(-2/9) min(1, exp(-2/9) + |R| |V_S|^-3 + |E_S|^-3)^(u_b - 1))^T",
    quantity="the probability that it does, against that",
    measure=lambda facts: facts.reaches_goal(replace(OWN, draws=facts.u_b)),
    bound=_all_slots_succeed,
    premises=(*_PREMISES, _THREE, Premise("no selected ring is worth more than the LP of its slot", _moderate)),
    golden=("gadget-theorem-10-loop-G8",),
)

HALF = ROUNDED.derived(
    "gadget/half-of-optimum",
    paper="GADGET, Theorem 10, without ring selection",
    statement="one unconditional draw a slot, over sizes and mappings together, has E[F] >= OPT/2",
    quantity="the expected utility, against OPT/2",
    measure=lambda facts: facts.expectation(JOINT),
    relation=Relation.AT_LEAST,
    bound=lambda facts: facts.opt / 2,
    expectation=Expectation.TRUE,
    golden=("gadget-half-of-optimum-G6", "gadget-half-of-optimum-G8"),
)

SELECTED = ROUNDED.derived(
    "gadget/selected-expectation",
    paper="GADGET, Theorem 10, with ring selection",
    statement="one unconditional draw a slot of rings that the LP that is rounded selects has E[F] >= OPT/(1 + Gamma)",
    quantity="the expected utility, against OPT/(1 + Gamma)",
    measure=lambda facts: facts.expectation(OWN),
    relation=Relation.AT_LEAST,
    bound=lambda facts: facts.opt / (1 + facts.largest),
    expectation=Expectation.TRUE,
    golden=("gadget-selected-expectation-blocked",),
)

DISCARD = ROUNDED.derived(
    "gadget/fit-or-discard",
    paper="GADGET, Algorithm 2 within the capacities",
    statement="if what does not fit is discarded, 1/(3 Gamma + 1) of OPT is kept in expectation",
    quantity="the expected utility of what fits of u_b draws a slot at most, against OPT/(3 Gamma + 1)",
    measure=lambda facts: facts.expectation(Rule(draws=facts.u_b, fitting=True)),
    relation=Relation.AT_LEAST,
    bound=lambda facts: facts.goal,
    expectation=Expectation.FALSE,
    open=VERTEX,
    counterexamples=("gadget-fit-or-discard-G10",),
    golden=("gadget-fit-or-discard-ample",),
)


def _ever(facts: RoundsFacts, rare: Fraction) -> Fraction:
    """Return 1 - (1 - rare)^T."""
    return 1 - exact_power(1 - rare, facts.instance.slots)


def _exceeds_once(facts: RoundsFacts) -> Interval:
    """Return the greatest ratio of P(a row is overloaded in some slot) to 1 - (1 - |V_S|^-4)^T, or to that of links."""
    return over(_worst_row(facts, one) for one in facts.rounds(_loop(facts)))


def _worst_row(facts: RoundsFacts, rounds: Rounds) -> Fraction:
    found = rounds.overloads.items()
    return max((p / _ever(facts, rounds.met[0].rare(row)) for row, p in found), default=Fraction(0))


def _could_exceed(facts: RoundsFacts) -> float:
    """Return the greatest that the ratio could be: 0 where no draw overloads a row."""
    met = facts.met(_loop(facts))
    return float(any(choice.breakable for choice in met) / _ever(facts, met[0].constants.node_bound))


VIOLATION = ROUNDED.printed(
    "gadget/violation-horizon",
    paper="GADGET, Theorem 10",
    statement="P(A^{u,r}[t] >= beta^r g^{u,r} for some t) <= 1 - (1 - |V_S|^-4)^T for all u and r, where u has some of "
    "r, as each server has by Section IV, and likewise for links",
    quantity="the greatest ratio of the two sides over nodes, resources and links, with u_b draws a slot at most, "
    "against 1",
    measure=_exceeds_once,
    relation=Relation.AT_MOST,
    bound=always(1),
    worst=_could_exceed,
    expectation=Expectation.TRUE,
    premises=(*HYPOTHESES, _SERVERS, _FREE),
    open=f"{EPSILON}; {VERTEX}",
    sources=(COUPLED, WHEELS),
    golden=("gadget-violation-horizon-coupled",),
)

CLAIMS = stated(globals())
