"""Slots that are alike, as one: the most weighted workers that one of them can embed, and embeddings to a purpose."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from dlsched.algorithms.exact.ddljs.routing import embeddings_at, mostly_outside_core
from dlsched.algorithms.exact.ddljs.slot_program import slot_program
from dlsched.arithmetic import integer_product, sparse_product
from dlsched.lazy import sp
from dlsched.models.ddljs.instance import Instance
from dlsched.models.ddljs.requests import unpriced_problem
from dlsched.models.ddljs.rings import Embedding
from dlsched.solvers.failure import ResidualError
from dlsched.solvers.matrix import Matrix
from dlsched.solvers.solution import RawSolution, Status
from dlsched.solvers.solve import solve_matrix
from dlsched.tolerances import TOLERANCE

Weights = npt.NDArray[np.int64]
"""Whole weights of workers, one a job of the instance, shape (J,)."""

_LEVEL = 1000.0


@dataclass(frozen=True, slots=True)
class Priced:
    """What one slot is worth at weights.

    Attributes
    ----------
    bound : int
        No embeddings have a larger weighted number of workers.
    counts : ndarray of int, shape (J,), or None
        Workers by job of embeddings that fit, as good as were found.
    """

    bound: int
    counts: Weights | None


@dataclass(frozen=True, slots=True)
class Need:
    """Weighted workers of which a slot must embed at least so many."""

    weights: Weights
    least: int


class SlotClass:
    """Slots of an instance that differ in nothing."""

    def __init__(self, instance: Instance, slots: Sequence[int]) -> None:
        self.slots = tuple(slots)
        self.problem = unpriced_problem(instance, slots[0])
        self.names = tuple(job.name for job in instance.jobs)
        self.present = np.array([name in {r.name for r in self.problem.requests} for name in self.names])
        self.most = np.array([self._most(name) for name in self.names], dtype=np.int64)
        self._load(core=not mostly_outside_core(self.problem))

    def _most(self, name: str) -> int:
        return next((max(r.profit) for r in self.problem.requests if r.name == name), 0)

    def _load(self, core: bool) -> None:
        self.program, self.core = slot_program(self.problem, core=core), core
        workers = sp.lil_array((len(self.names), self.program.matrix.A.shape[1]))
        for i, name in enumerate(self.names):
            for size, terms in self.program.blocks[name].sizes.items() if name in self.program.blocks else ():
                for column, value in terms:
                    workers[i, column] = size * value
        self.workers = sp.csr_array(workers)

    def price(self, weights: Weights) -> Priced:
        """Return the most weighted workers that a slot can embed; weights are not negative."""
        raw = self._solve(self._priced(weights))
        if raw is None or raw.x is None:
            return self.unsolved(weights)
        counts = np.round(sparse_product(self.workers, raw.x)).astype(np.int64)
        bound = int(integer_product(weights, counts))
        if raw.summary.status is not Status.OPTIMAL:
            limit = raw.summary.bound
            bound = self.unsolved(weights).bound
            if limit is not None:
                bound = min(bound, int(np.ceil(limit * max(1, weights.max()) * (1 + TOLERANCE))))
        if embeddings_at(self.problem, self.program, raw.x) is not None:
            return Priced(bound, counts)
        if self.core:
            return Priced(bound, None)
        self._load(core=True)
        return self.price(weights)

    def unsolved(self, weights: Weights) -> Priced:
        """Return the bound that needs no program: every job has its largest ring."""
        return Priced(int(integer_product(weights, self.most)), None)

    def confirm(self, weights: Weights, bound: int, slack: float) -> bool:
        """Tell whether a run without presolve agrees that weighted workers are at most ``bound * (1 + slack)``."""
        scale = _LEVEL / bound if bound else 1.0
        matrix = replace(self.program.matrix, c=sparse_product(self.workers.T, scale * weights))
        raw = self._solve(matrix.beyond(_LEVEL * (1 + slack) if bound else 0.5), presolve=False, seed=7)
        return raw is not None and raw.summary.status is Status.INFEASIBLE

    def embed(self, weights: Weights, most: Weights, needs: Sequence[Need]) -> dict[str, Embedding] | None:
        """Return embeddings of much weight that meet needs, at most `most` workers a job; None where none were found.

        It is exact in that none exist where None comes of an infeasible program.
        """
        raw = self._solve(self._constrained(weights, most, needs))
        if raw is None or raw.x is None:
            return None
        found = embeddings_at(self.problem, self.program, raw.x)
        if found is None and not self.core:
            self._load(core=True)
            return self.embed(weights, most, needs)
        return found

    def _priced(self, weights: Weights) -> Matrix:
        return replace(self.program.matrix, c=sparse_product(self.workers.T, weights / max(1, weights.max())))

    def _constrained(self, weights: Weights, most: Weights, needs: Sequence[Need]) -> Matrix:
        matrix, count = self._priced(weights), len(self.names)
        scale = np.array([1 / max(1, need.weights.max()) for need in needs])
        rows = [matrix.A, self.workers]
        if needs:
            rows.append(
                sparse_product(sp.csr_array(np.array([need.weights for need in needs]) * scale[:, None]), self.workers)
            )
        least = np.array([need.least for need in needs]) * scale if needs else np.zeros(0)
        return replace(
            matrix,
            A=sp.csr_array(sp.vstack(rows)),
            row_lower=np.concatenate([matrix.row_lower, np.full(count, -np.inf), least]),
            row_upper=np.concatenate([matrix.row_upper, most, np.full(len(needs), np.inf)]),
        )

    def _solve(self, matrix: Matrix, *, presolve: bool = True, seed: int = 0) -> RawSolution | None:
        try:
            return solve_matrix(matrix, threads=1, presolve=presolve, seed=seed)
        except ResidualError:
            return None
