"""The instances of Theorems 3 and 4: the external placement of a job in one slot, at prices, in the room left."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Annotated, Self

import numpy as np
from pydantic import Field, model_validator

from dlsched.algorithms.exact.result import Proof
from dlsched.algorithms.pd_ors.widths import Form, Widths, widths
from dlsched.bounds.comparison import Interval, Value
from dlsched.bounds.evidence import rests_on
from dlsched.bounds.optima import Rationals, dot, exactly, relaxed_optima, with_mean
from dlsched.bounds.pd_ors.law import Law
from dlsched.bounds.pd_ors.mixed import Delta, MixedFacts, MixedProgram, at_delta
from dlsched.models.document import Document
from dlsched.models.numbers import NonNegative, Positive, to_json


class ExternalSlot(Document):
    """Workers and servers of one job to place in one slot, on machines with some room, at prices.

    Attributes
    ----------
    room : tuple of tuple of Fraction
        C^_h^r, residual capacity by machine and resource.
    prices : tuple of tuple of Fraction
        p_h^r.
    worker, server : tuple of Fraction
        alpha^r and beta^r.
    workers : Fraction
        v kappa_E, the workers needed; rounded up, m_w of the thesis.
    servers : Fraction
        v kappa_E / gamma, the servers needed, of which the journal's print says nothing; rounded up, m_p of the thesis.
    most_workers : Fraction
        F; the thesis's problem does not limit workers.
    delta : Fraction
        In (0, 1].
    """

    room: Annotated[tuple[tuple[NonNegative, ...], ...], Field(min_length=1)]
    prices: tuple[tuple[NonNegative, ...], ...]
    worker: Annotated[tuple[NonNegative, ...], Field(min_length=1)]
    server: tuple[NonNegative, ...]
    workers: Positive
    servers: Positive
    most_workers: Positive
    delta: Positive

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if self.delta > 1:
            raise ValueError(f"delta: {to_json(self.delta)} exceeds 1")
        resources = len(self.worker)
        if not any(self.worker):
            raise ValueError("worker: takes nothing of any resource")
        if len(self.server) != resources:
            raise ValueError(f"server: has {len(self.server)} entries for {resources} resources")
        if len(self.prices) != len(self.room):
            raise ValueError(f"prices: has {len(self.prices)} entries for {len(self.room)} machines")
        for name, rows in (("room", self.room), ("prices", self.prices)):
            for h, row in enumerate(rows):
                if len(row) != resources:
                    raise ValueError(f"{name}[{h}]: has {len(row)} entries for {resources} resources")
        return self


class SlotFacts:
    """The programs of a slot, in each form.

    Parameters
    ----------
    instance : ExternalSlot
    seed : int
        Not used: nothing is drawn.
    delta : float, optional
        In place of the slot's own.
    """

    def __init__(self, instance: ExternalSlot, seed: int, *, delta: Delta | None = None) -> None:
        del seed
        self.instance = instance = at_delta(instance, delta)
        self.printed = Placement(instance, Form.PRINTED)
        self.corrected = Placement(instance, Form.CORRECTED)
        self.thesis = Placement(instance, Form.THESIS)


WHICH_OPTIMUM = "which optimum of the linear relaxation is rounded, where it has several"
"""What Algorithm 4 leaves open: "the fractional optimal solution"."""


@dataclass(frozen=True)
class Roundings:
    """The rounding at one gain, of each optimum of the relaxation that is looked at.

    Attributes
    ----------
    gain : float
        G.
    laws : tuple of Law
    """

    gain: float
    laws: tuple[Law, ...]

    def over(self, measure: Callable[[Law], Value]) -> Interval:
        """Return between what a quantity of the rounding lies, over the optima."""
        rests_on(Proof.EXACT)
        found = [Interval.of(measure(law)) for law in self.laws]
        return Interval(min(one.low for one in found), max(one.high for one in found))

    def feasible(self) -> Interval:
        """Return the probability that a round keeps all rows."""
        return self.over(Law.feasible)


class Placement:
    """A slot's program in one form, its constants, and the laws of its rounding.

    The print divides by W_2 = 0 where some machine has no room in a resource that workers or servers use, even if the
    placement never looks at it; corrected, what has no room is fixed at 0 and W_2 is the least of the rest.

    Parameters
    ----------
    slot : ExternalSlot
    form : Form
    """

    def __init__(self, slot: ExternalSlot, form: Form) -> None:
        self.slot = slot
        self.form = form
        self.delta = float(slot.delta)

    @property
    def limits_workers(self) -> bool:
        """Whether (25) is one of the packing rows, the last."""
        return self.form is not Form.THESIS

    @property
    def needs(self) -> tuple[Fraction, Fraction]:
        """The right-hand sides of the cover rows for workers and for servers: in the thesis whole numbers."""
        workers, servers = self.slot.workers, self.slot.servers
        if self.form is Form.THESIS:
            return Fraction(math.ceil(workers)), Fraction(math.ceil(servers))
        return workers, servers

    @cached_property
    def widths(self) -> Widths:
        """W_1, m, W_2 and r."""
        slot = self.slot
        ratios = [[self._ratio(room, needs) for room in slot.room] for needs in (slot.worker, slot.server)]
        return widths(
            self.form,
            np.array(ratios, dtype=object),
            self.needs,
            slot.most_workers,
            resources=len(slot.worker),
            needed=sum(a + b > 0 for a, b in zip(slot.worker, slot.server, strict=True)),
        )

    @property
    def cover_width(self) -> float:
        """W_1."""
        return self.widths.cover

    @property
    def covers(self) -> int:
        """M."""
        return self.widths.covers

    @property
    def packing_width(self) -> float:
        """W_2; 0 where it is not defined."""
        return self.widths.packing

    @property
    def packings(self) -> int:
        """R."""
        return self.widths.packings

    def _ratio(self, room: Rationals, needs: Rationals) -> Fraction | float:
        """Return the least C^/alpha; infinite where nothing is needed, corrected also where there is no room."""
        least = min((left / unit for left, unit in zip(room, needs, strict=True) if unit), default=math.inf)
        return math.inf if self.form is Form.CORRECTED and not least else least

    @cached_property
    def programs(self) -> tuple[MixedProgram, ...]:
        """The program at each optimum of its relaxation that is looked at; none where the relaxation is infeasible."""
        cost, cover, needs, packing, limits = self._rows()
        if not all(any(row) for row in cover):  # nowhere is room for a worker, or for a server
            return ()
        points = exactly(lambda: with_mean(relaxed_optima(cost, cover, needs, packing, limits)))
        return tuple(
            MixedProgram(
                cost=cost,
                cover=tuple(cover),
                needs=needs,
                packing=tuple(packing),
                limits=limits,
                point=point,
                delta=self.slot.delta,
            )
            for point in points
        )

    @property
    def program(self) -> MixedProgram | None:
        """The program at the solver's optimum; None where the relaxation is infeasible."""
        return self.programs[0] if self.programs else None

    @property
    def integral(self) -> bool:
        """Whether the program has an integral point."""
        return self._mixed is not None and self._mixed.integral

    @cached_property
    def _mixed(self) -> MixedFacts | None:
        return None if self.program is None else MixedFacts(self.program, 0)

    @cached_property
    def shrunk(self) -> Roundings:
        """The rounding at G of (29)."""
        return self._roundings(lambda: self.widths.shrink(self.delta))

    @cached_property
    def stretched(self) -> Roundings:
        """The rounding at G of (30); in the thesis, and with servers, with ln(6/delta)."""
        return self._roundings(lambda: self.widths.stretch(self.delta))

    def _roundings(self, gain: Callable[[], float]) -> Roundings:
        value = exactly(gain)
        return Roundings(value, tuple(Law(program, value) for program in self.programs))

    def _rows(self) -> tuple[Rationals, list[Rationals], Rationals, list[Rationals], Rationals]:
        """Return cost, cover rows, needs, packing rows and limits over w_h and s_h of the machines with some room.

        Row (25) comes last among the packing rows.
        """
        slot = self.slot
        kinds = [(kind, h) for kind in (0, 1) for h, room in enumerate(slot.room) if _has_room(room, self._unit(kind))]
        cost = tuple(dot(slot.prices[h], self._unit(kind)) for kind, h in kinds)
        packing, limits = [], []
        for h, room in enumerate(slot.room):
            for r, left in enumerate(room):
                row = tuple(self._unit(kind)[r] if at == h else Fraction(0) for kind, at in kinds)
                if any(row):
                    packing.append(row)
                    limits.append(left)
        total = [tuple(Fraction(kind == wanted) for kind, _ in kinds) for wanted in (0, 1)]
        if self.limits_workers:
            packing.append(total[0])
            limits.append(slot.most_workers)
        return cost, total[: self.covers], self.needs[: self.covers], packing, tuple(limits)

    def _unit(self, kind: int) -> Rationals:
        return (self.slot.worker, self.slot.server)[kind]


def _has_room(room: Rationals, unit: Rationals) -> bool:
    return all(left for left, need in zip(room, unit, strict=True) if need)
