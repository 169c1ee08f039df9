"""What PD-ORS logs: one decision a job."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction

from dlsched.algorithms.run import Event
from dlsched.models.dmlrs.job import Placement


@dataclass(frozen=True, slots=True)
class ResourceStep:
    """How an allocation moved one price.

    Attributes
    ----------
    machine, resource : str
    slot : int
    amount : Fraction
        drho_h^r[t], newly allocated there.
    before, after : float
        p_h^r[t], price of a unit, before and after.
    """

    machine: str
    resource: str
    slot: int
    amount: Fraction
    before: float
    after: float


@dataclass(frozen=True, slots=True)
class Subproblems:
    """How the one-slot problems with external communication of one job were settled.

    Attributes
    ----------
    states : int
        Pairs of a slot and a number of workers.
    solved : int
        Those that the bounds left open: no internal placement does as much for as little, and no greedy one is known
        to be cheapest.
    rounds : int
        Roundings made, where states are settled by rounding.
    feasible : int
        Of these, the feasible ones.
    """

    states: int = 0
    solved: int = 0
    rounds: int = 0
    feasible: int = 0


@dataclass(frozen=True, slots=True)
class JobDecision(Event):
    """A job was admitted or turned away on its arrival (Algorithm 1, steps 2-4).

    Attributes
    ----------
    job : str
    slot : int
        Its arrival.
    admitted : bool
    payoff : float
        lambda_i, utility less cost at the prices before this decision; 0 for a job turned away.
    completion : int or None
        Completion slot.
    steps : tuple of ResourceStep
        One for each machine, resource and slot of which it takes something that has a price.
    placements : mapping of int to Placement
        Slot to machine to (workers, servers).
    subproblems : Subproblems
    """

    job: str
    slot: int
    admitted: bool
    payoff: float
    completion: int | None
    steps: tuple[ResourceStep, ...]
    placements: Mapping[int, Placement] = field(default_factory=dict)
    subproblems: Subproblems = field(default_factory=Subproblems)
