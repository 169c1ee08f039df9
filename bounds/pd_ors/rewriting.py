"""That a slot's problem (19), across machines, can be rewritten as (23)-(26), and the thesis's (3.18) as (3.22)-(3.25).

Both sides are the least cost of a placement in whole numbers: of what is rewritten by a program over the rationals, of
the problem itself by going through all placements.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

from dlsched.bounds.claim import Expectation, Premise, Subject, Undecided, stated
from dlsched.bounds.comparison import Relation
from dlsched.bounds.optima import dot, exactly, optimum
from dlsched.bounds.pd_ors.slot import ExternalSlot
from dlsched.bounds.pd_ors.sources import SLOT
from dlsched.models.numbers import to_json

MAX_STEPS = 10**6
"""Sums of costs, at most, in which all placements of a slot are gone through. Arbitrary: it takes seconds, and limits
count work and not seconds, so that verdicts are the same everywhere."""

Cost = Fraction | float
"""Of a placement; infinite where there is none."""


@dataclass(frozen=True, order=True)
class Totals:
    """What a placement has in all.

    Attributes
    ----------
    workers, servers : int
    homes : int
        |P|, the machines with servers.
    """

    workers: int = 0
    servers: int = 0
    homes: int = 0


class RewritingFacts:
    """The least costs of a slot's placements across machines, under the rows of each form.

    Parameters
    ----------
    instance : ExternalSlot
    seed : int
        Not used: nothing is drawn.
    """

    def __init__(self, instance: ExternalSlot, seed: int) -> None:
        del seed
        self.instance = instance

    @property
    def most(self) -> int:
        """F, in the thesis K, in whole workers."""
        return math.floor(self.instance.most_workers)

    @property
    def wanted(self) -> int:
        """The workers that do the work of the slot, v kappa_E rounded up; m_w of the thesis."""
        return math.ceil(self.instance.workers)

    @property
    def share(self) -> Fraction:
        """1/gamma, servers a worker; b^(e)/B of the thesis."""
        return self.instance.servers / self.instance.workers

    def servers_for(self, workers: int) -> int:
        """Return ceil(w/gamma), the servers of so many workers (2); of the thesis with one machine of servers (3.4)."""
        return math.ceil(workers * self.share)

    def without_servers(self) -> Cost:
        """Return the least cost in whole numbers of (23)-(26) as printed."""
        return self._program(None, homes=range(0), limited=True)

    def with_servers(self) -> Cost:
        """Return the least cost of (23)-(26) with a row for the servers."""
        return self._program(self.servers_for(self.wanted), homes=self._machines, limited=True)

    def thesis(self) -> Cost:
        """Return the least cost of (3.22)-(3.25) as printed."""
        return self._program(self.servers_for(self.wanted), homes=self._machines, limited=False)

    def thesis_at_home(self) -> Cost:
        """Return the least cost of the same with (3.2), (3.5) and all servers on one machine."""
        servers = self.servers_for(self.wanted)
        if servers > self.wanted:
            return math.inf
        return min(self._program(servers, homes=[h], limited=True) for h in self._machines)

    @cached_property
    def problem(self) -> Cost:
        """The least cost of (19) across machines: (2), (4), (18), and the workers that do the work."""
        return self.least(lambda all: all.workers >= self.wanted and all.servers >= all.workers * self.share)

    @cached_property
    def with_a_server(self) -> Cost:
        """The same with a single server in place of (2)."""
        return self.least(lambda all: all.workers >= self.wanted and all.servers > 0)

    @cached_property
    def thesis_problem(self) -> Cost:
        """The least cost of (3.18) at the rate b^(e): (3.2), (3.4), (3.5), (3.17), and the workers that do the work."""
        return self.least(
            lambda all: (
                all.workers >= self.wanted
                and all.servers > 0
                and all.homes * all.workers * self.share <= all.servers <= all.workers
            )
        )

    def least(self, allowed: Callable[[Totals], bool]) -> Cost:
        """Return the least cost of a placement of which the totals are allowed."""
        return min((cost for totals, cost in self._placements.items() if allowed(totals)), default=math.inf)

    @cached_property
    def _placements(self) -> dict[Totals, Fraction]:
        """The least cost of each totals that fit, with up to F workers and what servers these may want."""
        slot, most, servers = self.instance, self.most, max(self.most, self.servers_for(self.most))
        found = {Totals(): Fraction(0)}
        for room, prices in zip(slot.room, slot.prices, strict=True):
            counts = [
                (w, s, dot(prices, slot.worker) * w + dot(prices, slot.server) * s)
                for w in range(most + 1)
                for s in range(servers + 1)
                if all(a * w + b * s <= left for a, b, left in zip(slot.worker, slot.server, room, strict=True))
            ]
            if len(found) * len(counts) > MAX_STEPS:
                raise Undecided(f"more than {MAX_STEPS} placements to go through")
            after: dict[Totals, Fraction] = {}
            for before, paid in found.items():
                for w, s, cost in counts:
                    totals = Totals(before.workers + w, before.servers + s, before.homes + (s > 0))
                    if totals.workers <= most and totals.servers <= servers:
                        after[totals] = min(paid + cost, after.get(totals, paid + cost))
            found = after
        return found

    @property
    def _machines(self) -> range:
        return range(len(self.instance.room))

    def _program(self, servers: int | None, homes: range | list[int], *, limited: bool) -> Cost:
        """Return the optimum over w_h of all machines and s_h of some.

        Parameters
        ----------
        servers : int, optional
            How many there are to be; no row for them where it is left out.
        homes : sequence of int
            Where they may be.
        limited : bool
            Whether there is a row for the most workers.
        """
        slot = self.instance
        columns = [(h, slot.worker) for h in self._machines] + [(h, slot.server) for h in homes]
        ones = tuple(Fraction(k < len(slot.room)) for k in range(len(columns)))
        cover, needs = [ones], [Fraction(self.wanted)]
        if servers is not None:
            cover.append(tuple(1 - one for one in ones))
            needs.append(Fraction(servers))
        packing, limits = [], []
        for h, room in enumerate(slot.room):
            for r, left in enumerate(room):
                packing.append(tuple(unit[r] if at == h else Fraction(0) for at, unit in columns))
                limits.append(left)
        if limited:
            packing.append(ones)
            limits.append(Fraction(self.most))
        cost = tuple(dot(slot.prices[h], unit) for h, unit in columns)
        sides = tuple(needs), tuple(limits)
        found = exactly(lambda: optimum(cost, cover, sides[0], packing, sides[1], integer=True))
        return math.inf if found is None else found.value

    def dump(self) -> dict[str, Any]:
        """Return the journal's costs as plain JSON data."""
        return {"workers": self.wanted, "servers": self.servers_for(self.wanted)} | _shown(
            {"cost": self.problem, "cost with one server": self.with_a_server, "(23)-(26)": self.without_servers()}
        )

    def dump_thesis(self) -> dict[str, Any]:
        """Return the thesis's."""
        costs = {"cost": self.thesis_problem, "(3.22)-(3.25)": self.thesis()}
        return {"m_w": self.wanted, "m_p": self.servers_for(self.wanted)} | _shown(costs)


def _shown(costs: dict[str, Cost]) -> dict[str, Any]:
    return {name: to_json(cost) if isinstance(cost, Fraction) else None for name, cost in costs.items()}


_SLOTS = Subject(problem="dmlrs", instance=ExternalSlot, facts=RewritingFacts, sources=(SLOT,))

REWRITING = _SLOTS.printed(
    "pd-ors/rewriting",
    paper="PD-ORS, Section 4.3, Case 2",
    statement="across machines Problem (19) can be rewritten as (23)-(26)",
    quantity="the least cost of (23)-(26) in whole numbers, against that of (19) across machines",
    measure=RewritingFacts.without_servers,
    relation=Relation.EQUAL,
    bound=lambda facts: facts.problem,
    expectation=Expectation.FALSE,
    premises=(
        Premise("(19) has a solution across machines", lambda facts: facts.problem < math.inf, "Section 4.3, (19)"),
    ),
    details=RewritingFacts.dump,
    counterexamples=("pd-ors-rewriting-E1",),
    open="whether (19) has (2), which it does not list: here as S >= W/gamma, since (20) is written with it and Case 1 "
    "uses it; in any case P has a machine in Case 2, and a server on it",
)

REWRITING_CORRECTED = REWRITING.corrected(
    statement="with a row of (2) for the servers, sum_h s >= sum_h w/gamma, (23)-(26) is Problem (19) across machines",
    quantity="the least cost of (23)-(26) with that row in whole numbers, against that of (19) across machines",
    measure=RewritingFacts.with_servers,
    golden=("pd-ors-rewriting-corrected-E1",),
)

THESIS_REWRITING = _SLOTS.printed(
    "pd-ors-thesis/rewriting",
    paper="PD-ORS thesis, Section 3.2.3, 2-2)",
    statement="across machines Problem (3.18) can be rewritten as (3.22)-(3.25)",
    quantity="the least cost of (3.22)-(3.25) in whole numbers, against that of (3.18) at the rate b^(e)",
    measure=RewritingFacts.thesis,
    relation=Relation.EQUAL,
    bound=lambda facts: facts.thesis_problem,
    expectation=Expectation.FALSE,
    premises=(
        Premise(
            "(3.18) has a solution at the rate b^(e)",
            lambda facts: facts.thesis_problem < math.inf,
            "Section 3.2.3, (3.18)",
        ),
    ),
    details=RewritingFacts.dump_thesis,
    counterexamples=("pd-ors-thesis-rewriting-two-homes",),
    open="at which rate a worker beside a server exchanges in (3.4): here at b^(e), as Fact 1 has it of this case; at "
    "b^(i) the servers bear even less",
)

THESIS_REWRITING_CORRECTED = THESIS_REWRITING.corrected(
    statement="with (3.2), (3.5), and all servers on one machine for (3.4), (3.22)-(3.25) is Problem (3.18) at the "
    "rate b^(e)",
    quantity="the least cost of (3.22)-(3.25) with these in whole numbers, against that of (3.18) at the rate b^(e)",
    measure=RewritingFacts.thesis_at_home,
    golden=("pd-ors-thesis-rewriting-corrected-two-homes",),
)

CLAIMS = stated(globals())
"""Every claim on the rewriting."""
