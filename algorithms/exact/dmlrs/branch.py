"""Branching over the plans of a decomposition: on who is served, who completes by a slot, and at which levels."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from dlsched.algorithms.exact.dmlrs.decomposition import Decomposition, Part
from dlsched.algorithms.exact.dmlrs.schedules import JobSchedule, Limits
from dlsched.relaxations.branch_and_price import Branching, most_decisive, most_open
from dlsched.relaxations.columns import Generated
from dlsched.solvers.matrix import Floats
from dlsched.tolerances import CLEAR

_DECISIVE, _OPEN = 4, 3
"""Questions on completions that are tried for a node. The former are far better on some instances (20 jobs, seed 4:
884.6 after 20 s for 888.2) and alone worse on others (10 jobs, seed 1, in configurations: 205 nodes for 17)."""

_LEVELS = 6
"""Questions on levels, where completions are settled; more cost more pricing than they save, by trial."""

_REJECTIONS = 3
"""Questions on whether a job is served: they change most, so a few are always tried."""


@dataclass(frozen=True, slots=True)
class Branch:
    """A question about a job: does it have `level` or more in `slot`; with level 0: does it complete by `slot`."""

    job: int
    slot: int
    level: int = 0

    def apply(self, limits: Limits, yes: bool) -> Limits:
        """Return the limits under an answer; "yes" requires the job."""
        i, t, cut = self.job, self.slot, limits.copy()
        cut.required[i] |= yes
        if not self.level:
            cut.ends[i, slice(t + 1, None) if yes else slice(t + 1)] = False
        elif yes:
            cut.levels[i, t, : self.level] = False
            cut.ends[i, :t] = False
        else:
            cut.levels[i, t, self.level :] = False
        return cut


class PlanBranching(Branching[Part, Branch]):
    """The plans of a decomposition.

    Parameters
    ----------
    decomposition : Decomposition
    found : callable
        Called with each node's LP; returns the value of the best plan known.
    decide : callable
        Called with the only plan of a part; returns the value of the best plan known, None where it is not known
        whether that plan fits.
    """

    def __init__(
        self,
        decomposition: Decomposition,
        found: Callable[[Generated], float],
        decide: Callable[[list[JobSchedule]], float | None],
    ) -> None:
        self.decomposition, self.master = decomposition, decomposition.master
        self._found, self._decide = found, decide

    def generate(
        self, part: Part, *, start: Floats, rounds: int | None, stop: Callable[[float, float], bool]
    ) -> Generated:
        """Generate columns over a part."""
        return self.decomposition.bound(part, start=start, rounds=rounds, stop=stop)

    def fixed(self, part: Part, prices: Floats, cutoff: float) -> tuple[float, Part]:
        """Return the bound of prices, and the part without what is in no plan better than a cutoff."""
        bound, part = self.decomposition.fixed(part, prices, cutoff)
        return (-np.inf if part.empty else bound), part

    def found(self, part: Part, generated: Generated) -> float:
        """Build plans from an LP's schedules."""
        del part
        return self._found(generated)

    def settle(self, part: Part) -> float | None:
        """Pack the only plan of a part."""
        return self._decide(self.decomposition.only(part.limits))

    def answered(self, part: Part, question: Branch, yes: bool) -> Part | None:
        """Return the plans with an answer."""
        cut = self.decomposition.within(Part(question.apply(part.limits, yes), part.offers))
        return None if cut.empty else cut

    def questions(self, part: Part, generated: Generated) -> Sequence[Branch]:
        """Ask who is served and who completes by a slot, and where that is settled, at which levels."""
        del part
        using, ending = self.decomposition.used(generated)
        by = ending.cumsum(axis=1)
        last = by.shape[1] - 1
        rejections = [(i, last) for i, _ in most_open(by[:, last:], _REJECTIONS)]
        decisive = most_decisive(by, self.decomposition.schedules.utility, _DECISIVE)
        by[:, :-1] *= np.abs(np.diff(by, axis=1)) > CLEAR
        by[:, last] = 0.0
        if asked := dict.fromkeys(rejections + decisive + most_open(by, _OPEN)):
            return [Branch(i, t) for i, t in asked]
        cells = most_open(using.reshape(-1, using.shape[2]), _LEVELS, using.shape[2])
        return [Branch(row // by.shape[1], row % by.shape[1], level) for row, level in cells]

    def undecided(self, part: Part) -> Sequence[Branch]:
        """Ask what limits leave open."""
        return list(itertools.islice(_undecided(part.limits), 1))


def _undecided(limits: Limits) -> Iterator[Branch]:
    """Yield questions that limits leave open."""
    for i, ends in enumerate(limits.ends):
        at = np.flatnonzero(ends)
        if len(at) > 1 or (len(at) == 1 and not limits.required[i]):
            yield Branch(i, int(at[0]))
        if len(at):
            for t in range(int(at[-1]) + 1):
                levels = np.flatnonzero(limits.levels[i, t])
                if len(levels) > 1:
                    yield Branch(i, t, int(levels[-1]))
