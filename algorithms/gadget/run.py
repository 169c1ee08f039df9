"""GADGET on an instance (Algorithm 1): slot after slot, the embedding that adds the most utility that can be found."""

from __future__ import annotations

from collections.abc import Callable

from dlsched.algorithms.algorithm import Algorithm
from dlsched.algorithms.gadget.activity import Sizes
from dlsched.algorithms.gadget.horizon import Horizon, Method, Settings, Variant
from dlsched.algorithms.gadget.mixtures import Relaxation, Vertex
from dlsched.algorithms.run import Run
from dlsched.arguments import Seed, at_least, checked, seed_of
from dlsched.halt import polled
from dlsched.models.ddljs import Instance, Schedule, utility

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
        gets what rounding finds, whichever is worth more.
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
        If a job's utility at 0 is minus infinity, a parameter is out of range, ``"colocated"`` meets a placement, or
        the augmented program is too large.
    ValueError
        If a name is unknown.

    Source: GADGET, Algorithms 1 and 2. Its ratio 1/(3 Gamma + 1) (Theorem 10) is false as printed; the exact greedy is
    worth half an optimum where utilities are concave and not negative (Theorem 6, corrected), and can be worth next to
    nothing where they are logistic (counterexample G11).
    """
    chosen = Variant(variant)
    default = Sizes.ALONE if chosen is Variant.PRINTED else Sizes.FLOOR
    at_least(0, seconds_per_slot=seconds_per_slot)
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
