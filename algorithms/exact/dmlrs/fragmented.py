"""The optimum of DMLRS instances on fragmented clusters, where packing decides: branch and price.

1. All slot configurations are listed (`configurations`).
2. The Dantzig-Wolfe bound of configurations and job schedules (`decomposition`), plans by insertion (`insertion`).
3. What cannot be in a better plan is dropped, and the rest is branched on (`branch`).

The instance's machines may be alike or not. Every incumbent passed the checker.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable
from fractions import Fraction

import numpy as np

from dlsched.algorithms.exact.dmlrs.branch import Halt, Node, Tree
from dlsched.algorithms.exact.dmlrs.configurations import enumerate_configurations
from dlsched.algorithms.exact.dmlrs.decomposition import Decomposition
from dlsched.algorithms.exact.dmlrs.insertion import Insertion
from dlsched.algorithms.exact.dmlrs.packing import Packer
from dlsched.algorithms.exact.dmlrs.schedules import JobSchedule, Schedules
from dlsched.algorithms.exact.dmlrs.slots import Slots, TooLarge
from dlsched.algorithms.exact.result import Progress
from dlsched.models.dmlrs import Instance, Schedule, check, exact_utility
from dlsched.models.dmlrs.job import Placement
from dlsched.models.matrix import Floats
from dlsched.models.numbers import TOLERANCE

_SEARCH_ROUNDS = 300
_NODE_ROUNDS = 15


def solve_fragmented(
    instance: Instance,
    *,
    incumbent: Schedule | None = None,
    upper: float = float("inf"),
    deadline: float = float("inf"),
    progress: Progress | None = None,
    stop: Callable[[], bool] | None = None,
) -> tuple[Schedule, float, tuple[str, ...]]:
    """Return the best schedule known, an upper bound and how it came about.

    Parameters
    ----------
    instance : Instance
        Synchronous jobs whose internal rate is at least the external one.
    incumbent : Schedule, optional
        A feasible schedule.
    upper : float
        An upper bound that is known.
    deadline : float
        On the clock of `time.perf_counter`.
    progress, stop
        As for `dlsched.algorithms.optimum`.

    Returns
    -------
    schedule : Schedule
        It passes the checker.
    bound : float
        At least the optimum; at most half the tolerance above the schedule's utility where that is optimal.
    evidence : tuple of str

    Raises
    ------
    ValueError
        Where the instance has other jobs.
    """
    solver = _Fragmented(instance, incumbent, upper, deadline, progress or (lambda *_: None), stop or (lambda: False))
    solver.run()
    return solver.schedule, solver.upper, tuple(solver.evidence)


class _Fragmented:
    def __init__(
        self,
        instance: Instance,
        incumbent: Schedule | None,
        upper: float,
        deadline: float,
        progress: Progress,
        stop: Callable[[], bool],
    ) -> None:
        self.instance, self.deadline, self.report, self.stop = instance, deadline, progress, stop
        self.slots = Slots.of(instance)
        self.schedule = Schedule.of({}) if incumbent is None else incumbent
        self.value = float(exact_utility(instance, self.schedule))
        self.upper = min(upper, float(sum(max(Fraction(0), max(job.utility)) for job in self.slots.jobs)))
        self.evidence: list[str] = []
        self.packer = Packer(self.slots)

    def run(self) -> None:
        """Run the steps until value and bound meet or time is up."""
        if not self.slots.most_levels:
            self.upper = 0.0
            self.evidence.append("no job fits the cluster")
            return
        try:
            listed = enumerate_configurations(self.slots, deadline=self.deadline, stop=self.stop)
            schedules = Schedules(self.slots)
        except TooLarge as error:
            self.evidence.append(f"slot configurations: {error}")
            return
        self.decomposition = Decomposition(listed, schedules)
        self.insertion = Insertion(schedules, listed.room)
        self.evidence.append(f"{len(listed.levels)} slot configurations")
        try:
            self._root()
            self._branch()
        except Halt:
            self.evidence.append("time is up")

    @property
    def margin(self) -> float:
        """Plans that are not better by more than this are not looked for."""
        return 0.5 * TOLERANCE * max(1.0, self.value)

    def out_of_time(self) -> bool:
        """Tell whether to stop."""
        return self.stop() or time.perf_counter() > self.deadline

    def _root(self) -> None:
        rows = self.decomposition
        part = rows.list_choices(rows.schedules.limits())
        self.insertion.construct(np.zeros(rows.row.shape), rows.schedules.utility.max(axis=1), 4)
        self._keep()
        generated = rows.bound(part, stop=self._check)
        cost = rows.costs(generated.duals)
        self.insertion.construct(cost, generated.best[: rows.jobs], 8)
        self.insertion.search(cost, _SEARCH_ROUNDS, self.out_of_time)
        self._keep()
        self.upper = max(self.value, min(self.upper, generated.bound))
        self.report("configurations and schedules", self.value, self.upper)
        self.evidence.append(f"column generation: nothing better than {generated.bound:.9g}")
        bound, part = rows.fixed(part, generated.duals, self.value + self.margin)
        self.prices, self.part = generated.duals, rows.list_choices(part.limits)
        self.root = min(bound, self.upper)

    def _branch(self) -> None:
        tree = Tree(self.decomposition, self.value, self.margin, self._found, self.out_of_time)
        if not self.part.empty:
            tree.push(Node(self.root, self.part, self.prices))
        try:
            while tree.step():
                self.upper = max(self.value, min(self.upper, tree.bound))
                self.report("branch and price", self.value, self.upper)
        finally:
            self.upper = max(self.value, min(self.upper, tree.bound))
            self.evidence.append(f"branch and price, {tree.nodes} nodes: nothing better than {self.upper:.9g}")

    def _check(self, bound: float, value: float) -> bool:
        del value
        self.upper = max(self.value, min(self.upper, bound))
        if self.out_of_time():
            raise Halt
        return bound <= self.value + self.margin

    def _found(self, used: list[tuple[JobSchedule, float]], prices: Floats | None) -> float:
        """Build plans from an LP's schedules; return the value of the incumbent."""
        rows, insertion = self.decomposition, self.insertion
        plan: dict[int, JobSchedule] = {}
        for schedule, _ in sorted(used, key=lambda pair: -pair[1]):
            room = insertion.room(rows.schedules.levels_of(plan.values()), schedule.job)
            if schedule.job not in plan and room[np.arange(rows.slots), schedule.levels].all():
                plan[schedule.job] = schedule
        left = [i for i in range(rows.jobs) if i not in plan]
        cost = np.zeros(rows.row.shape)
        insertion.offer(insertion.insert(plan, left, cost))
        if prices is not None:
            insertion.search(rows.costs(prices), _NODE_ROUNDS, self.out_of_time)
        self._keep()
        return self.value

    def _keep(self) -> None:
        """Make the best plan by insertion the incumbent where it is better and passes the checker."""
        if self.insertion.value <= self.value:
            return
        placements: dict[str, dict[int, Placement]] = defaultdict(dict)
        for t, levels in enumerate(self.insertion.schedules.levels_of(self.insertion.best.values()).tolist()):
            placed = self.packer.place(levels)
            if placed is None:
                raise AssertionError("a listed configuration does not fit")
            for name, placement in placed.items():
                placements[name][t + 1] = placement
        schedule = Schedule.of(placements)
        value = float(exact_utility(self.instance, schedule))
        if not check(self.instance, schedule) and value > self.value:
            self.schedule, self.value = schedule, value
            self.report("insertion", self.value, self.upper)
