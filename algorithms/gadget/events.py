"""What GADGET logs: one event a slot in which some job is active."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from dlsched.algorithms.run import Event


@dataclass(frozen=True, slots=True)
class Rounding:
    """How a fractional solution of a slot became embeddings.

    Attributes
    ----------
    relaxation : float
        Value of the linear program whose solution is rounded.
    raw : float
        Profit of the draw that is used, before anything is left out.
    kept : float
        Profit of what fits.
    draws : int
        Roundings made.
    accepted : bool
        Whether the last of them is (1/3, beta, gamma)-approximate. Filled: whether all of the one used is kept.
    overloads : mapping
        Load over capacity, of what the draw overloads: (node, resource), or the arc.
    stripped : mapping of str to int
        Ring size of what the draw chose and is not kept: it does not fit, the job cannot pay, or it was left out.

    Examples
    --------
    >>> from dlsched.algorithms import gadget
    >>> from dlsched.models import ddljs
    >>> for event in gadget.run(ddljs.random(20), seed=1).log:
    ...     if event.rounding is not None:
    ...         print(event.slot, round(event.rounding.relaxation, 6), event.rounding.kept, event.rounding.draws)
    1 16.0 16.0 1
    2 7.0 7.0 1
    """

    relaxation: float
    raw: float
    kept: float
    draws: int
    accepted: bool
    overloads: Mapping[tuple[str, str], float]
    stripped: Mapping[str, int]

    @property
    def overload(self) -> float:
        """The largest of the overloads, 1 where there is none."""
        return max(self.overloads.values(), default=1.0)


@dataclass(frozen=True, slots=True)
class Selection:
    """Which ring size each job was left with.

    Attributes
    ----------
    relaxation : float
        Value of the linear program with all sizes.
    sizes : mapping of str to int
        kappa_i, of jobs with rho_i > 0.

    Examples
    --------
    >>> from dlsched.algorithms import gadget
    >>> from dlsched.models import ddljs
    >>> for event in gadget.run(ddljs.random(20), seed=1, variant="corrected").log:
    ...     if event.selection is not None:
    ...         print(event.slot, event.selection.sizes)
    1 {'job1': 1, 'job2': 1}
    2 {'job1': 1, 'job2': 1}
    """

    relaxation: float
    sizes: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Exact:
    """How far the exact method got.

    Attributes
    ----------
    value, bound : float
        Profit of its embeddings, and what none can exceed.
    proved : bool
        They agree.

    Examples
    --------
    >>> from dlsched.algorithms import gadget
    >>> from dlsched.models import ddljs
    >>> for event in gadget.run(ddljs.random(20), embedding="exact").log:
    ...     print(event.slot, event.exact.value, event.exact.proved)
    1 16.0 True
    2 7.0 True
    """

    value: float
    bound: float
    proved: bool


@dataclass(frozen=True, slots=True)
class SlotEmbedding(Event):
    """What GADGET did in a slot.

    Attributes
    ----------
    slot : int
    active : int
        Jobs that could have got workers.
    profit : float
        What the slot adds to the utility.
    workers : mapping of str to int
        Of the jobs that got some.
    rounding : Rounding or None
    selection : Selection or None
        None if filled.
    exact : Exact or None
        Of ``embedding="exact"``.
    filled : tuple of str
        Jobs that got workers, or more of them, out of what was left, as that is worth something.
    idle : tuple of str
        Jobs that got workers although that is worth nothing yet; see `run`.

    Examples
    --------
    >>> from dlsched.algorithms import gadget
    >>> from dlsched.models import ddljs
    >>> for event in gadget.run(ddljs.random(20), seed=1).log:
    ...     print(event.slot, event.workers, event.profit)
    1 {'job1': 1, 'job2': 1} 16.0
    2 {'job1': 1, 'job2': 1} 7.0
    """

    slot: int
    active: int
    profit: float
    workers: Mapping[str, int]
    rounding: Rounding | None = None
    selection: Selection | None = None
    exact: Exact | None = None
    filled: tuple[str, ...] = ()
    idle: tuple[str, ...] = ()
