"""GADGET on an instance (Algorithm 1): slot after slot, the embedding that adds the most utility that can be found."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from dlsched.algorithms.baselines.ddljs.occupancy import Occupancy, Substrate
from dlsched.algorithms.gadget.activity import Activity, Sizes
from dlsched.algorithms.gadget.corrected import best_draw
from dlsched.algorithms.gadget.events import Exact, Rounding, SlotEmbedding
from dlsched.algorithms.gadget.filling import fill, idle
from dlsched.algorithms.gadget.mixtures import Fractional, Relaxation, joint, selected
from dlsched.algorithms.gadget.printed import round_until_accepted
from dlsched.algorithms.run import Event, Run, Variant
from dlsched.models.ddljs import Embedding, Instance, RingProblem, Schedule, utility
from dlsched.models.document import InputError

Progress = Callable[[int, int], None]
"""Called with the slot that is done and the number of slots."""


class Method(StrEnum):
    """How the embedding problem of a slot is solved."""

    ROUNDING = "rounding"
    EXACT = "exact"


def run(
    instance: Instance,
    *,
    seed: int = 0,
    variant: str = Variant.CORRECTED,
    embedding: str = Method.ROUNDING,
    draws: int = 10,
    sizes: str | None = None,
    relaxation: str = Relaxation.AUTO,
    time_limit: float | None = None,
    node_limit: int | None = 1000,
    progress: Progress | None = None,
) -> Run[Schedule]:
    """Schedule an instance with GADGET.

    Parameters
    ----------
    instance : Instance
        Utilities must be finite at 0.
    seed : int
        Of the rounding; each slot has a generator of its own.
    variant : str
        ``"corrected"``: ring sizes and places rounded together within the capacities, what is left filled, the best of
        the draws (`best_draw`). ``"printed"``: LP-RS-MDE (Algorithm 2), whose outcome may exceed capacities; what does
        not fit is left out (`round_until_accepted`), and nothing is filled.
    embedding : str
        ``"rounding"``, or ``"exact"``: the certified optimum of each slot, or the best found within the limits. Of
        several optima it takes the one that the method finds first, always the same.
    draws : int
        u_b, roundings of a slot at most.
    sizes : str, optional
        How q_i[t] is found: ``"floor"``, by default if corrected; ``"joint"``, by default if printed.
    relaxation : str
        ``"auto"``, ``"colocated"`` or ``"augmented"``: see `Relaxation`. The last is for small networks.
    time_limit : float, optional
        Seconds of the exact method for a slot; with it, another machine may find another schedule.
    node_limit : int, optional
        Branch-and-bound nodes of the exact method for a slot.
    progress : callable, optional
        Told (slot, slots) after each slot.

    Returns
    -------
    Run
        There are no prices. The log has a `SlotEmbedding` for each slot with an active job.

    Notes
    -----
    If corrected, a job whose gains are all 0 gets workers that nobody else has a use for, if its utility rises later:
    the slot is worth as much with them. A logistic utility far from its midpoint gains less than a double shows, and
    would never start otherwise. The job that is nearest to a gain comes first.

    Raises
    ------
    InputError
        If a job's utility at 0 is minus infinity, a parameter is out of range, ``"colocated"`` meets a placement, or
        the augmented program is too large.
    ValueError
        If a name is unknown.

    Source: GADGET, Algorithms 1 and 2. Its ratio 1/(3 Gamma + 1) (Theorem 10) is false as printed; the exact greedy is
    worth half an optimum where utilities are concave and not negative (Theorem 6, corrected), and can be worth next to
    nothing where they are logistic (counterexample G11).
    """
    chosen = Variant(variant)
    default = Sizes.JOINT if chosen is Variant.PRINTED else Sizes.FLOOR
    if draws < 1:
        raise InputError(f"draws: {draws} must be at least 1")
    settings = _Settings(
        chosen,
        Method(embedding),
        draws,
        Sizes(sizes) if sizes else default,
        Relaxation(relaxation),
        time_limit,
        node_limit,
    )
    horizon = _Horizon(instance, settings, seed)
    for slot in range(1, instance.slots + 1):
        horizon.step(slot)
        if progress is not None:
            progress(slot, instance.slots)
    schedule = Schedule.of(horizon.embeddings)
    return Run(schedule, utility(instance, schedule), {}, tuple(horizon.log))


@dataclass(frozen=True, slots=True)
class _Settings:
    variant: Variant
    method: Method
    draws: int
    sizes: Sizes
    relaxation: Relaxation
    time_limit: float | None
    node_limit: int | None


class _Horizon:
    """The slots so far: z_{i,t}, the embeddings and the log."""

    def __init__(self, instance: Instance, settings: _Settings, seed: int) -> None:
        self.embeddings: dict[str, dict[int, Embedding]] = {}
        self.log: list[Event] = []
        self._instance, self._settings, self._seed = instance, settings, seed
        self._activity = Activity(instance, settings.sizes)
        self._so_far = {job.name: 0 for job in instance.jobs}
        self._last: tuple[RingProblem, Fractional] | None = None

    def step(self, slot: int) -> None:
        """Embed the active jobs of a slot."""
        problem = self._activity.problem(slot, self._so_far)
        if not problem.requests:
            return
        held, event = self._embed(slot, problem)
        for name, ring in held.items():
            self._so_far[name] += ring.size
            self.embeddings.setdefault(name, {})[slot] = ring
        self.log.append(event)

    def _embed(self, slot: int, problem: RingProblem) -> tuple[dict[str, Embedding], SlotEmbedding]:
        settings, substrate = self._settings, Substrate.of(problem)
        worth = problem.keeping(request for request in problem.requests if max(request.profit.values()) > 0)
        rounding, exact, fractional = None, None, None
        filled: tuple[str, ...] = ()
        started: tuple[str, ...] = ()
        if settings.method is Method.EXACT:
            held, exact = self._exact(worth)
        else:
            fractional = self._fractional(worth)
            held, filled, rounding = self._rounded(slot, worth, substrate, fractional)
        if settings.variant is Variant.CORRECTED:
            occupancy = _taken(substrate, held)
            if exact is not None and not exact.proved:
                filled = fill(worth, occupancy, held)
            started = idle(problem, occupancy, held, self._waiting(problem, worth))
        profits = {name: float(substrate.needs[name].request.profit[ring.size]) for name, ring in held.items()}
        return held, SlotEmbedding(
            slot,
            len(problem.requests),
            sum(profits.values()),
            {name: ring.size for name, ring in held.items()},
            rounding,
            None if fractional is None else fractional.selection,
            exact,
            filled,
            started,
        )

    def _fractional(self, problem: RingProblem) -> Fractional:
        """Solve the linear programs of a slot, unless those of the last one were the same."""
        if self._last is not None and self._last[0] == problem:
            return self._last[1]
        solve = selected if self._settings.variant is Variant.PRINTED else joint
        fractional = solve(problem, self._settings.relaxation)
        self._last = problem, fractional
        return fractional

    def _rounded(
        self, slot: int, problem: RingProblem, substrate: Substrate, fractional: Fractional
    ) -> tuple[dict[str, Embedding], tuple[str, ...], Rounding]:
        """Return the embeddings, the jobs filled in, and how they came about."""
        rng = np.random.default_rng([self._seed, slot])
        if self._settings.variant is Variant.CORRECTED:
            return best_draw(problem, substrate, fractional, rng, self._settings.draws)
        payable = self._payable(problem)
        held, log = round_until_accepted(problem, substrate, fractional, rng, self._settings.draws, payable)
        return held, (), log

    def _exact(self, problem: RingProblem) -> tuple[dict[str, Embedding], Exact]:
        from dlsched.algorithms.exact.ddljs.slot import embed

        found = embed(problem, time_limit=self._settings.time_limit, node_limit=self._settings.node_limit)
        payable = self._payable(problem)
        held = {name: ring for name, ring in found.embeddings.items() if ring.size <= payable[name]}
        return held, Exact(found.value, found.bound, found.proved)

    def _payable(self, problem: RingProblem) -> dict[str, int]:
        """Return the most workers of each request by (2) and (11)."""
        names = [request.name for request in problem.requests]
        return {name: self._activity.payable(self._instance.job(name), self._so_far[name]) for name in names}

    def _waiting(self, problem: RingProblem, worth: RingProblem) -> dict[str, int]:
        """Return how far the jobs are from a gain that have none in this slot, but one later."""
        gaining = {request.name for request in worth.requests}
        found = {}
        for request in problem.requests:
            if request.name not in gaining and max(request.profit.values()) == 0:
                job = self._instance.job(request.name)
                distance = self._activity.until_gain(job, self._so_far[request.name])
                if distance is not None:
                    found[request.name] = distance
        return found


def _taken(substrate: Substrate, held: Mapping[str, Embedding]) -> Occupancy:
    occupancy = Occupancy(substrate)
    for name, ring in held.items():
        occupancy.take(substrate.needs[name], ring)
    return occupancy
