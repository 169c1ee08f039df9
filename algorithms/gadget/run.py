"""GADGET on an instance (Algorithm 1): slot after slot, the embedding that adds the most utility that can be found."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from fractions import Fraction

import numpy as np

from dlsched.algorithms.algorithm import Algorithm
from dlsched.algorithms.exact.ddljs.slot import embed
from dlsched.algorithms.gadget.activity import Activity, Sizes
from dlsched.algorithms.gadget.draws import affordable, best_draw, round_until_accepted
from dlsched.algorithms.gadget.events import Exact, Rounding, Selection, SlotEmbedding
from dlsched.algorithms.gadget.mixtures import Fractional, Relaxation, Vertex, joint, selected
from dlsched.algorithms.rings import Occupancy, Substrate, fill, give_idle
from dlsched.algorithms.run import Event, Run
from dlsched.arguments import Seed, at_least, checked, not_negative, seed_of
from dlsched.halt import polled
from dlsched.models.ddljs import Embedding, Instance, RingProblem, Schedule, utility
from dlsched.tolerances import FEASIBLE


class Variant(StrEnum):
    """Which rules make a slot's embedding."""

    PRINTED = "printed"
    """Algorithm 2."""

    CORRECTED = "corrected"
    """Algorithm 2 with its errors repaired, and nothing else."""

    FILLED = "filled"
    """Rules of ours on top: sizes and places together, the best draw, what is left filled."""


class Method(StrEnum):
    """How the embedding problem of a slot is solved."""

    ROUNDING = "rounding"
    EXACT = "exact"


@dataclass(frozen=True, slots=True)
class Settings:
    """The parameters of `dlsched.algorithms.gadget.run` of the same names, `embedding` as `method`."""

    variant: Variant
    method: Method
    draws: int
    sizes: Sizes
    relaxation: Relaxation
    vertex: Vertex
    idle: bool
    seconds_per_slot: float | None
    node_limit: int | None


@dataclass(frozen=True, slots=True)
class _Found:
    """Embeddings of a slot, and how they came about."""

    held: dict[str, Embedding]
    profit: float
    rounding: Rounding | None = None
    selection: Selection | None = None
    exact: Exact | None = None
    filled: tuple[str, ...] = ()


class Horizon:
    """The slots so far.

    Parameters
    ----------
    instance : Instance
    settings : Settings
    seed : int

    Attributes
    ----------
    embeddings : dict of str to dict of int to Embedding
        By job and slot.
    log : list of Event
    """

    def __init__(self, instance: Instance, settings: Settings, seed: int) -> None:
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
        substrate = Substrate.of(problem)
        gaining = problem.keeping(request for request in problem.requests if max(request.profit.values()) > 0)
        found = self._found(slot, gaining, substrate)
        held = found.held
        started: tuple[str, ...] = ()
        if self._settings.idle:
            rest = affordable(problem, self._payable(problem))
            started = give_idle(rest, _taken(substrate, held), held, self._waiting(problem, held))
        workers = {name: ring.size for name, ring in held.items()}
        self.log.append(
            SlotEmbedding(
                slot,
                len(problem.requests),
                substrate.profit(held),
                workers,
                found.rounding,
                found.selection,
                found.exact,
                found.filled,
                started,
            )
        )
        for name, ring in held.items():
            self._so_far[name] += ring.size
            self.embeddings.setdefault(name, {})[slot] = ring

    def _found(self, slot: int, problem: RingProblem, substrate: Substrate) -> _Found:
        """Return the embeddings of the jobs that gain from the slot."""
        if self._settings.method is Method.ROUNDING:
            return self._rounded(slot, problem, substrate)
        found = self._exact(problem, substrate)
        if self._settings.variant is not Variant.FILLED or found.exact is None or found.exact.proved:
            return found
        rest = affordable(problem, self._payable(problem))
        filled = fill(rest, _taken(substrate, found.held), found.held)
        found = replace(found, profit=substrate.profit(found.held), filled=filled)
        if any(request.allowed is not None for request in problem.requests):
            return found
        other = self._rounded(slot, problem, substrate)
        return replace(other, exact=found.exact) if other.profit > found.profit else found

    def _rounded(self, slot: int, problem: RingProblem, substrate: Substrate) -> _Found:
        rng = np.random.default_rng([self._seed, slot])
        fractional, draws = self._fractional(problem), self._settings.draws
        payable = self._payable(problem)
        if self._settings.variant is Variant.FILLED:
            held, filled, rounding = best_draw(problem, substrate, fractional, rng, draws, payable)
            return _Found(held, substrate.profit(held), rounding, filled=filled)
        held, rounding = round_until_accepted(
            problem, substrate, fractional, rng, draws, payable, self._settings.variant.value
        )
        return _Found(held, rounding.kept, rounding, fractional.selection)

    def _fractional(self, problem: RingProblem) -> Fractional:
        """Solve the linear programs of a slot, unless those of the last one were the same."""
        if self._last is not None and self._last[0] == problem:
            return self._last[1]
        variant, relaxation = self._settings.variant, self._settings.relaxation
        if variant is Variant.FILLED:
            fractional = joint(problem, relaxation)
        else:
            itself = variant is Variant.CORRECTED
            fractional = selected(problem, relaxation, self._settings.vertex, itself=itself)
        self._last = problem, fractional
        return fractional

    def _exact(self, problem: RingProblem, substrate: Substrate) -> _Found:
        best = embed(problem, time_limit=self._settings.seconds_per_slot, node_limit=self._settings.node_limit)
        payable = self._payable(problem)
        held = {name: ring for name, ring in best.embeddings.items() if ring.size <= payable[name]}
        return _Found(held, substrate.profit(held), exact=Exact(best.value, best.bound, best.proved))

    def _payable(self, problem: RingProblem) -> dict[str, int]:
        """Return the most workers of each request by (2) and (11)."""
        names = [request.name for request in problem.requests]
        return {name: self._instance.job(name).payable(self._so_far[name]) for name in names}

    def _waiting(self, problem: RingProblem, held: Mapping[str, Embedding]) -> dict[str, int]:
        """Return how far the jobs are from a gain that have none that counts in this slot, but one later.

        What counts for a linear program is what its solver can tell from 0.
        """
        gains = {request.name: max(request.profit.values()) for request in problem.requests}
        filled = self._settings.variant is Variant.FILLED
        least = Fraction(0) if filled else Fraction(FEASIBLE) * max(gains.values())
        found = {}
        for name, gain in gains.items():
            if name not in held and 0 <= gain <= least:
                distance = self._activity.until_gain(self._instance.job(name), self._so_far[name])
                if distance is not None:
                    found[name] = distance
        return found


def _taken(substrate: Substrate, held: Mapping[str, Embedding]) -> Occupancy:
    occupancy = Occupancy(substrate)
    for name, ring in held.items():
        occupancy.take(substrate.needs[name], ring)
    return occupancy


Progress = Callable[[int, int], None]
"""Called with the slot that is done and the number of slots."""


@checked
def run(
    instance: Instance,
    *,
    seed: Seed = 0,
    variant: Variant | str = Variant.CORRECTED,
    embedding: Method | str = Method.ROUNDING,
    draws: int = 10,
    sizes: Sizes | str | None = None,
    relaxation: Relaxation | str = Relaxation.AUTO,
    vertex: Vertex | str = Vertex.CAPPED,
    idle: bool = True,
    seconds_per_slot: float | None = None,
    node_limit: int | None = 1000,
    progress: Progress | None = None,
) -> Run[Schedule]:
    """Schedule an instance with GADGET.

    Parameters
    ----------
    instance : Instance
        Utilities must be finite at 0.
    seed : int or numpy.random.Generator
        Of the rounding; each slot has a generator of its own.
    variant : str
        ``"printed"``: LP-RS-MDE (Algorithm 2), in the readings that are kindest to it. Its outcome may exceed
        capacities; what does not fit is left out (`round_until_accepted`). ``"corrected"``: the same with its errors
        repaired, and no more: ring sizes by floors and selected by the program that is rounded, u_b draws.
        ``"filled"``: our own rules, which are in no paper: sizes and places rounded together within the capacities,
        what is left filled, the best of the draws (`best_draw`).
    embedding : str
        ``"rounding"``, or ``"exact"``: the certified optimum of each slot. Of several optima it takes the one that the
        method finds first, always the same. If filled, a slot that is not proved within the limits is filled, or
        gets what rounding finds, whichever is worth more; with a job that has a placement it is filled.
    draws : int
        u_b. Printed, roundings are counted from 1 and while below u_b: one less, at most.
    sizes : str, optional
        How q_i[t] is found: ``"floor"``, ``"alone"``, by default if printed, or ``"joint"``: see `Sizes`.
    relaxation : str
        ``"auto"``, ``"colocated"`` or ``"augmented"``: see `Relaxation`.
    vertex : str
        ``"capped"``, ``"colocated"`` or ``"spread"``: see `Vertex`. If filled, always capped.
    idle : bool
        Give workers that nobody else has a use for to jobs whose gains are all too small to count. The linear programs
        would do so if they were solved exactly, or may do so among optima of equal value.
    seconds_per_slot : float, optional
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
    A logistic utility far from its midpoint gains less than a solver, or a double, can tell from 0, and never starts
    without `idle`. Only jobs whose utility is higher in the end get such workers, those nearest to a gain first.

    Raises
    ------
    InputError
        If a job's utility at 0 is minus infinity, a parameter is out of range, a name is unknown, ``"colocated"`` meets
        a placement, or the augmented program is too large.

    References
    ----------
    GADGET, Algorithms 1 and 2. Its ratio 1/(3 Gamma + 1) (Theorem 10) is false as printed; the exact greedy is
    worth half an optimum where utilities are concave and not negative (Theorem 6, corrected), and can be worth next to
    nothing where they are logistic (counterexample G11).

    Examples
    --------
    >>> from dlsched.algorithms import gadget
    >>> from dlsched.models import ddljs
    >>> instance = ddljs.random(20)
    >>> run = gadget.run(instance, seed=1)
    >>> run.utility, ddljs.check(instance, run.schedule)
    (23.0, [])
    >>> gadget.run(instance, seed=1, variant="printed").utility
    19.0
    >>> gadget.run(instance, embedding="exact").utility
    23.0
    """
    chosen = Variant(variant)
    default = Sizes.ALONE if chosen is Variant.PRINTED else Sizes.FLOOR
    not_negative(seconds_per_slot=seconds_per_slot)
    at_least(1, draws=draws, node_limit=node_limit)
    settings = Settings(
        chosen,
        Method(embedding),
        draws,
        Sizes(sizes) if sizes else default,
        Relaxation(relaxation),
        Vertex(vertex),
        idle,
        seconds_per_slot,
        node_limit,
    )
    horizon = Horizon(instance, settings, seed_of(seed))
    for slot in polled(range(1, instance.slots + 1)):
        horizon.step(slot)
        if progress is not None:
            progress(slot, instance.slots)
    schedule = Schedule.of(horizon.embeddings)
    return Run(schedule, utility(instance, schedule), {}, tuple(horizon.log))


ALGORITHM = Algorithm("gadget", "ddljs", "GADGET: slot after slot, the embedding that adds the most utility", run)
