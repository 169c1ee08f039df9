"""What the claims ask about the embedding problem of one slot: linear programs, selections, roundings; each once."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from fractions import Fraction
from functools import cached_property, partial
from typing import Annotated

import numpy as np
from pydantic import Field

from dlsched import relaxations
from dlsched.algorithms.exact.ddljs import embed
from dlsched.algorithms.exact.ddljs.rationals import slot_program
from dlsched.algorithms.exact.result import Proof
from dlsched.algorithms.gadget.activity import Activity
from dlsched.algorithms.gadget.activity import Sizes as PrintedSizes
from dlsched.bounds.claim import Premise, Subject, Undecided
from dlsched.bounds.comparison import Interval
from dlsched.bounds.gadget.choices import Choice, choices, chosen, tells_apart
from dlsched.bounds.gadget.families import SLOT
from dlsched.bounds.gadget.horizon import Counts, count_vectors
from dlsched.bounds.gadget.rationals import program_of
from dlsched.bounds.gadget.shape import Shapes, finite
from dlsched.bounds.shown import Shown, shown
from dlsched.models.ddljs import Instance, Job, Node, RingProblem, slot_problem
from dlsched.models.numbers import agree, exceeds
from dlsched.models.utility import Linear
from dlsched.relaxations.ring_lp import RingLp
from dlsched.rounding import MappingLaw, decompose
from dlsched.solvers.solution import Solution, Status
from dlsched.solvers.solve import solve_matrix
from dlsched.tolerances import ZERO

NODES = 5_000
"""Branch-and-bound nodes of one solve, at most. Arbitrary: limits count work and not seconds, so that verdicts are
the same everywhere."""

MAX_JOBS = 8
"""Active jobs of a slot whose rounding is enumerated, at most. Arbitrary."""

MAX_WORK = 400
"""Ring nodes of all sizes times nodes of the network, of a slot whose programs are solved, at most. Arbitrary."""

Sizes = Mapping[str, int]
Key = tuple[bool, tuple[tuple[str, int], ...] | None]
"""Whether (5) is a row, and the ring sizes that are left, where not all are."""


class SlotFacts(Shapes):
    """What is known of the first slot of one (instance, seed), with nothing allocated before.

    Parameters
    ----------
    instance : Instance
    seed : int
        Unused: probabilities are exact.
    u_b : int
        The most draws of Algorithm 2. Arbitrary above 1: the paper prints none.
    """

    def __init__(self, instance: Instance, seed: int, *, u_b: Annotated[int, Field(ge=1)] = 3) -> None:
        self.instance, self.seed, self.u_b = instance, seed, u_b
        self._solved: dict[tuple[bool, Key], relaxations.VneSolution] = {}
        self._known: dict[object, Shown] = {}
        self._plain_programs: dict[Key, relaxations.PlainVne] = {}
        self._augmented_programs: dict[Key, relaxations.AugmentedVne] = {}
        self._selected: dict[tuple[bool, bool], dict[str, int]] = {}
        self._laws: dict[Key, MappingLaw] = {}

    @cached_property
    def problem(self) -> RingProblem:
        """The embedding problem (12)-(19), with q_i by floors and for each job alone."""
        problem = slot_problem(self.instance, 1)
        work = sum(sum(request.sizes) for request in problem.requests) * len(problem.nodes)
        if len(problem.requests) > MAX_JOBS:
            raise Undecided(f"{len(problem.requests)} active jobs: more than {MAX_JOBS}")
        if work > MAX_WORK:
            raise Undecided(f"{work} ring nodes times nodes: more than {MAX_WORK}")
        return problem

    @property
    def finite(self) -> bool:
        """Whether every utility is finite at 0, without which (12) has no profits."""
        return finite(self.instance)

    @property
    def free(self) -> bool:
        """Whether no job has a placement."""
        return all(job.placement is None for job in self.instance.jobs)

    @property
    def profitable(self) -> bool:
        """Whether no ring has a negative profit."""
        return all(profit >= 0 for request in self.problem.requests for profit in request.profit.values())

    @property
    def largest(self) -> int:
        """Gamma, the largest q_i, at least 1."""
        return max([1, *(max(request.sizes) for request in self.problem.requests)])

    def _told(self, key: object, find: Callable[[], Shown]) -> float:
        """Return an optimum, found once, and say each time what it rests on."""
        if key not in self._known:
            self._known[key] = find()
        return self._known[key].told()

    @property
    def embedded(self) -> float:
        """The certified optimum of (12)."""
        return self._told("embedded", lambda: _embedded(self.problem))

    @property
    def ilp(self) -> float:
        """The optimum of (12): by enumeration, or where a job has a placement by `embedded`."""
        return self.counted if self.free else self.embedded

    def ilp_of_sizes(self, sizes: PrintedSizes) -> float:
        """Return the optimum of (12) with ring sizes as printed: of (10) relaxed and rounded up."""
        return self._told(sizes, lambda: _embedded(self._printed(sizes)))

    def printed_sizes(self, sizes: PrintedSizes) -> dict[str, int]:
        """Return those ceil(q_i), by job; none of a job that has no ring."""
        return {request.name: max(request.sizes) for request in self._printed(sizes).requests}

    def _printed(self, sizes: PrintedSizes) -> RingProblem:
        return Activity(self.instance, sizes).problem(1, {job.name: 0 for job in self.instance.jobs})

    @cached_property
    def _vectors(self) -> list[Counts]:
        """The counts of the slot that (3) allows."""
        jobs = self.instance.jobs
        return [
            counts
            for counts in count_vectors(self.instance, 1)
            if all(j.budget_slots is None or n <= j.budget_slots for j, n in zip(jobs, counts, strict=True))
        ]

    def _gain(self, counts: Counts) -> Fraction:
        jobs = zip(self.instance.jobs, counts, strict=True)
        return sum((job.gain(0, n) for job, n in jobs), Fraction(0))

    @property
    def counted(self) -> float:
        """The most that counts of the slot add, by enumeration of all plans: (10) less the constant."""
        return self._told("counted", lambda: Shown(float(max(map(self._gain, self._vectors))), Proof.EXACT))

    @property
    def whole(self) -> float:
        """The optimum of (12)-(19) as an integer program."""
        return self._told("whole", lambda: shown(lambda: program_of(self._plain(), whole=True), self._solve_whole))

    def _solve_whole(self) -> float:
        matrix = self._plain().matrix
        ones = np.ones(len(matrix.c))
        binary = replace(matrix, upper=ones, integer=ones.astype(bool))
        return _proved(solve_matrix(binary, threads=1, nodes=NODES).summary)

    def solve(self, *, augmented: bool, cap: bool = False, sizes: Sizes | None = None) -> relaxations.VneSolution:
        """Return an optimum of the plain or the augmented LP, with or without (5), of some ring sizes or of all."""
        key = augmented, _key(cap, sizes)
        if key not in self._solved:
            self._solved[key] = self._program(augmented, cap, sizes).solve()
        value = self.value(augmented=augmented, cap=cap, sizes=sizes)
        if not agree(self._solved[key].value, value, unit=self.problem.unit):
            raise Undecided("a linear program's point is not shown to be an optimum")
        return self._solved[key]

    def value(self, *, augmented: bool, cap: bool = False, sizes: Sizes | None = None) -> float:
        """Return the optimal value of the same."""
        program = self._program(augmented, cap, sizes)
        return self._told((augmented, _key(cap, sizes)), lambda: _linear(program, program.solve))

    def _program(self, augmented: bool, cap: bool, sizes: Sizes | None) -> RingLp:
        return self._augmented(cap, sizes) if augmented else self._plain(cap, sizes)

    def _plain(self, cap: bool = False, sizes: Sizes | None = None) -> relaxations.PlainVne:
        key = _key(cap, sizes)
        if key not in self._plain_programs:
            self._plain_programs[key] = relaxations.plain_vne(self.problem, sizes=sizes, cap=cap)
        return self._plain_programs[key]

    def _augmented(self, cap: bool = False, sizes: Sizes | None = None) -> relaxations.AugmentedVne:
        key = _key(cap, sizes)
        if key not in self._augmented_programs:
            self._augmented_programs[key] = relaxations.augmented_vne(self.problem, sizes=sizes, cap=cap)
        return self._augmented_programs[key]

    @property
    def simplex(self) -> Interval:
        """The values of the plain and the augmented LP without (5), each solved in full."""
        programs: dict[str, RingLp] = {"plain": self._plain(), "augmented": self._augmented()}
        values = [self._told(name, partial(_linear, lp, lp.simplex)) for name, lp in programs.items()]
        return Interval(min(values), max(values))

    @property
    def knapsack(self) -> float:
        """The value of the LP in which all workers of a job share a node."""
        program = relaxations.knapsack_vne(self.problem)
        return self._told("knapsack", lambda: _linear(program, program.solve))

    def selected(self, *, augmented: bool = False, cap: bool = False) -> dict[str, int]:
        """Return kappa_i = argmax_k pi_ik chi_ik, the smallest of equals, of the jobs with rho_i > 0."""
        if (augmented, cap) not in self._selected:
            self._selected[augmented, cap] = relaxations.select_rings(self.problem, self._weights(augmented, cap))
        return self._selected[augmented, cap]

    def averaged(self) -> dict[str, int]:
        """Return max(1, floor(sum_k k chi_ik)) by the plain LP, of the jobs with rho_i > 0."""
        return relaxations.select_rings(self.problem, self._weights(augmented=False, cap=False), "mean")

    def _weights(self, augmented: bool, cap: bool) -> dict[tuple[str, int], float]:
        weights = self.solve(augmented=augmented, cap=cap).weights
        return {key: weight for key, weight in weights.items() if weight > ZERO}

    def law(self, *, cap: bool = False, sizes: Sizes | None = None) -> MappingLaw:
        """Return the law of one draw of the decomposed augmented LP."""
        key = _key(cap, sizes)
        if key not in self._laws:
            point = self.solve(augmented=True, cap=cap, sizes=sizes).point
            self._laws[key] = MappingLaw(self.problem, decompose(self._augmented(cap, sizes).recover(point)))
        return self._laws[key]

    @property
    def choices(self) -> list[Choice]:
        """What Algorithm 2 rounds, as printed: rings selected by the plain LP, then the augmented LP of those."""
        return [choice.told() for choice in self._choices]

    @cached_property
    def _choices(self) -> list[Choice]:
        return choices(self.problem)

    @property
    def own_choices(self) -> list[Choice]:
        """The same with rings selected by the augmented LP itself."""
        return [choice.told() for choice in self._own_choices]

    @cached_property
    def _own_choices(self) -> list[Choice]:
        return [
            chosen(self.problem, known.vertex, itself=True) if tells_apart(self.problem, known.vertex) else known
            for known in self._choices
        ]

    @property
    def moderate(self) -> bool:
        """Whether no ring that Algorithm 2 rounds is worth more than its LP."""
        return all(choice.moderate for choice in self.choices)

    def kept(self, *, cap: bool) -> float:
        """Return sum_i pi_ik chi_ik of the selected ring sizes in the plain LP's own solution."""
        weights, sizes = self._weights(augmented=False, cap=cap), self.selected(cap=cap)
        return sum(float(self.problem.request(i).profit[k]) * weights[i, k] for i, k in sizes.items())

    @property
    def variables(self) -> int:
        """Columns of the augmented LP of the selected rings."""
        return len(self.solve(augmented=True, sizes=self.selected()).point)

    @property
    def positive(self) -> int:
        """Positive variables of its optimum."""
        return int(np.count_nonzero(self.solve(augmented=True, sizes=self.selected()).point > ZERO))

    @property
    def mappings(self) -> int:
        """Mappings that its optimum decomposes into."""
        options = self.law(sizes=self.selected()).table.options.values()
        return sum(option.chosen is not None for several in options for option in several)

    @property
    def all_variables(self) -> int:
        """Columns of the plain LP of all ring sizes."""
        return len(self._plain().matrix.c)

    @property
    def doubled_variables(self) -> int:
        """The same where servers, budgets and N_i are twice as large, so that rings may be twice as long."""
        return len(relaxations.plain_vne(slot_problem(_doubled(self.instance), 1)).matrix.c)

    @cached_property
    def unlimited(self) -> SlotFacts:
        """The same where every link has bandwidth for all rings: none reserves any."""
        jobs = tuple(job.model_copy(update={"bandwidth": Fraction(0)}) for job in self.instance.jobs)
        return SlotFacts(self.instance.model_copy(update={"jobs": jobs}), self.seed, u_b=self.u_b)

    def feels_bandwidth(self, value: Callable[[SlotFacts], float]) -> bool:
        """Tell whether an optimum is less than it is with unlimited bandwidth."""
        return exceeds(value(self.unlimited), value(self), unit=self.problem.unit)

    def chosen_alone(self, *, cap: bool) -> float:
        """Return the optimum of (12) with the selected ring sizes alone, by enumeration."""
        sizes = self.selected(cap=cap)
        wanted = [{0, sizes.get(job.name, 0)} for job in self.instance.jobs]
        kept = (v for v in self._vectors if all(n in some for n, some in zip(v, wanted, strict=True)))
        return float(max(map(self._gain, kept)))


def _doubled(instance: Instance) -> Instance:
    """Return twice as large servers, and the first slot's jobs with twice the N_i and budget.

    Their utility is their worker-slots.
    """
    nodes = tuple(Node(name=node.name, capacity=_twice(node.capacity)) for node in instance.nodes)
    jobs = tuple(
        Job(
            name=job.name,
            arrival=job.arrival,
            max_workers=2 * job.max_workers,
            worker=job.worker,
            budget=None if job.budget is None else _twice(job.budget),
            progress=Fraction(1),
            bandwidth=job.bandwidth,
            utility=Linear(intercept=Fraction(0), slope=Fraction(-1)),
        )
        for job in instance.jobs
        if job.arrival == 1
    )
    return instance.model_copy(update={"nodes": nodes, "jobs": jobs})


def _twice(amounts: Mapping[str, Fraction]) -> dict[str, Fraction]:
    return {r: 2 * amount for r, amount in amounts.items()}


def _key(cap: bool, sizes: Sizes | None) -> Key:
    return cap, None if sizes is None else tuple(sorted(sizes.items()))


def _proved(solution: Solution) -> float:
    if solution.status is not Status.OPTIMAL or solution.objective is None:
        raise Undecided("the integer program (12)-(19) is not solved")
    return solution.objective


def _linear(program: RingLp, solve: Callable[[], relaxations.VneSolution]) -> Shown:
    return shown(lambda: program_of(program), lambda: solve().value)


def _embedded(problem: RingProblem) -> Shown:
    return shown(lambda: slot_program(problem), lambda: _by_two_routes(problem))


def _by_two_routes(problem: RingProblem) -> float:
    """Return the optimum of (12) as solvers find it."""
    found = embed(problem, node_limit=NODES)
    if not found.proved:
        raise Undecided("the optimum of the slot is not proved")
    return found.value


SLOTS = Subject(problem="ddljs", instance=Instance, facts=SlotFacts, sources=(SLOT,))
"""What claims about the embedding problem of one slot are about."""

FINITE = Premise[SlotFacts]("every mu_i(0) is finite", lambda facts: facts.finite, source="Section V-B, Definition 1")
FREE = Premise[SlotFacts]("no job has a placement", lambda facts: facts.free)
SOME = Premise[SlotFacts]("the optimum of (12) is positive", lambda facts: facts.ilp > 0)
CONCAVE = Premise[SlotFacts]("every mu_i is concave", lambda facts: facts.concave, source="Section IV-3")
NON_DECREASING = Premise[SlotFacts](
    "every mu_i is non-decreasing", lambda facts: facts.non_decreasing, source="Section IV-3"
)
PROFITABLE = Premise[SlotFacts]("pi >= 0", lambda facts: facts.profitable)
MODERATE = Premise[SlotFacts]("no selected ring is worth more than the LP of those", lambda facts: facts.moderate)
SERVERS = Premise[SlotFacts](
    "at least three servers", lambda facts: len(facts.problem.servers) >= 3, source="Theorem 8"
)
THREE = Premise[SlotFacts]("|V_S| >= 3", lambda facts: len(facts.problem.nodes) >= 3)
PRINTED = (FINITE, CONCAVE, NON_DECREASING)
"""What the paper assumes of utilities everywhere."""
