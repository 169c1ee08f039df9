"""What the claims ask about the embedding problem of one slot: linear programs, selections, roundings; each once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from functools import cached_property

import numpy as np

from dlsched import relaxations
from dlsched.algorithms.exact.ddljs import SlotOptimum, embed
from dlsched.algorithms.gadget.activity import Activity
from dlsched.algorithms.gadget.activity import Sizes as JointSizes
from dlsched.bounds.claim import Premise, Subject, Undecided
from dlsched.bounds.comparison import Interval
from dlsched.bounds.gadget.families import SLOT
from dlsched.bounds.gadget.horizon import Counts, count_vectors
from dlsched.bounds.gadget.shape import concave, finite
from dlsched.models.ddljs import Instance, RingProblem, slot_problem
from dlsched.rounding import Acceptance, MappingConstants, MappingLaw, decompose, mapping_constants
from dlsched.solvers.solution import Solution, Status
from dlsched.solvers.solve import solve_matrix
from dlsched.tolerances import AS_GOOD, ZERO

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


class SlotFacts:
    """What is known of the first slot of one (instance, seed), with nothing allocated before.

    Parameters
    ----------
    instance : Instance
    seed : int
        Unused: probabilities are exact.
    """

    def __init__(self, instance: Instance, seed: int) -> None:
        self.instance = instance
        self._solved: dict[tuple[bool, Key], relaxations.VneSolution] = {}
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

    @cached_property
    def concave(self) -> bool:
        """Whether every utility is concave as far as its job can get."""
        return all(concave(job, self.instance.most(job)) for job in self.instance.jobs)

    @property
    def profitable(self) -> bool:
        """Whether no ring has a negative profit."""
        return all(profit >= 0 for request in self.problem.requests for profit in request.profit.values())

    @property
    def largest(self) -> int:
        """Gamma, the largest q_i, at least 1."""
        return max([1, *(max(request.sizes) for request in self.problem.requests)])

    @cached_property
    def embedded(self) -> SlotOptimum:
        """The certified optimum of (12)."""
        found = embed(self.problem, node_limit=NODES)
        if not found.proved:
            raise Undecided("the optimum of the slot is not proved")
        return found

    @property
    def ilp(self) -> float:
        """The optimum of (12): by enumeration, or where a job has a placement by `embedded`."""
        return self.counted if self.free else self.embedded.value

    @cached_property
    def ilp_of_joint_sizes(self) -> float:
        """The optimum of (12) with ring sizes as printed: by the joint relaxation of (10), rounded up."""
        nothing = {job.name: 0 for job in self.instance.jobs}
        found = embed(Activity(self.instance, JointSizes.JOINT).problem(1, nothing), node_limit=NODES)
        if not found.proved:
            raise Undecided("the optimum of the slot with printed ring sizes is not proved")
        return found.value

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

    @cached_property
    def counted(self) -> float:
        """The most that counts of the slot add, by enumeration of all plans: (10) less the constant."""
        return float(max(map(self._gain, self._vectors)))

    @cached_property
    def whole(self) -> float:
        """The optimum of (12)-(19) as an integer program."""
        matrix = self._plain().matrix
        ones = np.ones(len(matrix.c))
        binary = replace(matrix, upper=ones, integer=ones.astype(bool))
        return _proved(solve_matrix(binary, threads=1, nodes=NODES).summary)

    def solve(self, *, augmented: bool, cap: bool = False, sizes: Sizes | None = None) -> relaxations.VneSolution:
        """Return an optimum of the plain or the augmented LP, with or without (5), of some ring sizes or of all."""
        key = _key(cap, sizes)
        if (augmented, key) not in self._solved:
            program = self._augmented(cap, sizes) if augmented else self._plain(cap, sizes)
            self._solved[augmented, key] = program.solve()
        return self._solved[augmented, key]

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

    @cached_property
    def simplex(self) -> Interval:
        """The values of the plain and the augmented LP without (5), each solved in full."""
        values = [self._plain().simplex().value, self._augmented().simplex().value]
        return Interval(min(values), max(values))

    @cached_property
    def knapsack(self) -> float:
        """The value of the LP in which all workers of a job share a node."""
        return float(relaxations.knapsack_vne(self.problem).solve().value)

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
    def printed_law(self) -> MappingLaw:
        """The law of a draw of Algorithm 2: rings selected by the plain LP, then the augmented LP of those."""
        return self.law(sizes=self.selected())

    @cached_property
    def constants(self) -> MappingConstants:
        """The constants of Theorem 8 for the selected rings."""
        return mapping_constants(self.problem, self.selected())

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
        options = self.printed_law.table.options.values()
        return sum(option.chosen is not None for several in options for option in several)

    @property
    def moderate(self) -> bool:
        """Whether no selected ring is worth more than the LP of the selected rings."""
        sizes = self.selected()
        value = self.solve(augmented=True, sizes=sizes).value
        return all(self.problem.request(name).profit[k] <= value + AS_GOOD for name, k in sizes.items())

    def chosen_alone(self) -> float:
        """Return the optimum of (12) with the selected ring sizes alone, by enumeration."""
        sizes = self.selected()
        wanted = [{0, sizes.get(job.name, 0)} for job in self.instance.jobs]
        kept = (v for v in self._vectors if all(n in some for n, some in zip(v, wanted, strict=True)))
        return float(max(map(self._gain, kept)))

    def feasible_profit(self) -> Fraction:
        """Return the greatest profit of a draw that keeps all capacities."""
        law = self.printed_law
        kept = (o.profit for o in law.outcomes() if Acceptance().accepts(law.table, o.chosen))
        return max(kept, default=Fraction(0))


def _key(cap: bool, sizes: Sizes | None) -> Key:
    return cap, None if sizes is None else tuple(sorted(sizes.items()))


def _proved(solution: Solution) -> float:
    if solution.status is not Status.OPTIMAL or solution.objective is None:
        raise Undecided("the integer program (12)-(19) is not solved")
    return solution.objective


SLOTS = Subject(problem="ddljs", instance=Instance, facts=SlotFacts, sources=(SLOT,))
"""What claims about the embedding problem of one slot are about."""

FINITE = Premise[SlotFacts]("every mu_i(0) is finite", lambda facts: facts.finite)
FREE = Premise[SlotFacts]("no job has a placement", lambda facts: facts.free)
SOME = Premise[SlotFacts]("the optimum of (12) is positive", lambda facts: facts.ilp > 0)
CONCAVE = Premise[SlotFacts]("every mu_i is concave", lambda facts: facts.concave)
PROFITABLE = Premise[SlotFacts]("pi >= 0", lambda facts: facts.profitable)
MODERATE = Premise[SlotFacts]("pi_ik <= LP_res for every selected ring", lambda facts: facts.moderate)
THREE = Premise[SlotFacts]("|V_S| >= 3", lambda facts: len(facts.problem.nodes) >= 3)
