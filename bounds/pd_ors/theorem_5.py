"""What the proof of Theorem 5 counts on: that rounding succeeds, and for how many states.

Appendix C takes workers and servers to be small beside the machines, and derives from Theorem 3 that one of S rounds
keeps (24)-(26) with probability at least 1 - (delta/3)^S. But G of (29) is below 1 and (26) asks for n workers. Where
no worker is free, an optimum of the relaxation has n, and whichever it is, fewer than G n + H are placed on H machines.
So no round is feasible where n (1 - G) >= H, however ample the room.

Algorithm 4 looks at single machines first. Where none of them has room for a whole job, the rounding is all that is
left, and Theorem 5 falls with it: it needs n > W_2 workers, and n (1 - G) is at least about sqrt(3 W_2 ln(3r/delta)).
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cached_property
from typing import Annotated, Any

import numpy as np
from pydantic import Field

from dlsched.arithmetic import exp, log1p, power
from dlsched.bounds.claim import Expectation, Premise, Source, Subject, stated
from dlsched.bounds.comparison import Interval, Relation
from dlsched.bounds.facts import optimal_schedule
from dlsched.bounds.pd_ors.facts import (
    ADMITS_ONE,
    LOWEST_POSITIVE,
    MUCH_SMALLER,
    ORDINARY,
    PD_ORS,
    PRICES_DEFINED,
    SMALL_NEEDS,
    WHOSE_DEMAND,
    PdOrsFacts,
    SmallNeedsFacts,
    Times,
)
from dlsched.bounds.pd_ors.families import ROOMY, SECTION_5, TINY
from dlsched.bounds.pd_ors.law import Law
from dlsched.bounds.pd_ors.mixed import Delta
from dlsched.bounds.pd_ors.slot import WHICH_OPTIMUM, ExternalSlot, Placement, Roundings, SlotFacts
from dlsched.bounds.pd_ors.sources import SLOT
from dlsched.bounds.pd_ors.theorems import PRINTED_PREMISES, RELAXED, WHOLE
from dlsched.models.dmlrs import Instance, Job, Machine
from dlsched.models.numbers import rational
from dlsched.models.utility import Table

Rounds = Annotated[int, Field(ge=1)]
"""S, at least 1 (Algorithm 4, step 1)."""


def _succeeds(placement: Placement, rounds: int) -> Interval:
    """Return the probability that one of so many rounds at G of (29) keeps (24)-(26)."""
    slot, gain = placement.slot, placement.widths.shrink(placement.delta)
    paid = all(any(a and p for a, p in zip(slot.worker, prices, strict=True)) for prices in slot.prices)
    if paid and gain * float(slot.workers) + len(slot.room) <= slot.workers:  # whatever optimum is rounded
        return Interval(0.0, 0.0)
    return _one_of(placement.shrunk.feasible(), rounds)


def _one_of(probability: Interval, rounds: int) -> Interval:
    """Return the probability that one of so many independent rounds succeeds."""
    return Interval(*(1 - power(1 - p, rounds) for p in (probability.low, probability.high)))


class RoundsFacts(SlotFacts):
    """What S rounds do in a slot.

    Parameters
    ----------
    instance : ExternalSlot
    seed : int
        Not used.
    delta : float, optional
        In place of the slot's own.
    rounds : int
        S, the rounds of rounding.
    """

    def __init__(self, instance: ExternalSlot, seed: int, *, delta: Delta | None = None, rounds: Rounds = 10) -> None:
        super().__init__(instance, seed, delta=delta)
        self.rounds = rounds

    @property
    def succeeds(self) -> Interval:
        """The probability that one of the rounds keeps (24)-(26)."""
        return _succeeds(self.printed, self.rounds)

    @property
    def promised(self) -> float:
        """1 - (delta/3)^S."""
        return 1 - power(self.printed.delta / 3, self.rounds)

    @property
    def succeeds_30(self) -> Interval:
        """The probability that one of the rounds at G of (30) keeps (24)-(26)."""
        return _one_of(self.printed.stretched.feasible(), self.rounds)

    @property
    def promised_30(self) -> float:
        """1 - (delta/(3(RH+1)))^S."""
        return 1 - power(self.printed.delta / (3 * self.printed.packings), self.rounds)


_STATES: Subject[ExternalSlot, RoundsFacts] = Subject(
    problem="dmlrs",
    instance=ExternalSlot,
    facts=RoundsFacts,
    premises=(*PRINTED_PREMISES, WHOLE),
    sources=(SLOT,),
)

_WHICH_STATES = (
    f"{WHICH_OPTIMUM}; and whether only states are meant in which a worker's and a server's demand is much smaller "
    "than what is left, as Appendix C assumes of what a machine has: not assumed here, but it is so in the first "
    "witness"
)

THEOREM_5_SUCCEEDS = _STATES.printed(
    "pd-ors/theorem-5-succeeds",
    paper="PD-ORS, Appendix C, proof of Theorems 5 and 6, 1)",
    statement="a state (t, v) is solved within S rounds with probability at least 1 - (delta/3)^S, G of (29)",
    quantity="exact probability that one of S rounds keeps (24)-(26), against 1 - (delta/3)^S",
    measure=lambda facts: facts.succeeds,
    open=_WHICH_STATES,
    relation=Relation.AT_LEAST,
    bound=lambda facts: facts.promised,
    expectation=Expectation.FALSE,
    counterexamples=("pd-ors-theorem-5-succeeds-2500-workers", "pd-ors-theorem-5-succeeds-E1"),
)

THEOREM_6_SUCCEEDS = _STATES.printed(
    "pd-ors/theorem-6-succeeds",
    paper="PD-ORS, Appendix C, proof of Theorems 5 and 6, 2)",
    statement="a state (t, v) is solved within S rounds with probability at least 1 - (delta/(3(RH+1)))^S, G of (30)",
    quantity="exact probability that one of S rounds keeps (24)-(26), against 1 - (delta/(3(RH+1)))^S",
    measure=lambda facts: facts.succeeds_30,
    open=_WHICH_STATES,
    premises=(RELAXED, WHOLE),
    relation=Relation.AT_LEAST,
    bound=lambda facts: facts.promised_30,
    expectation=Expectation.FALSE,
    counterexamples=("pd-ors-theorem-6-succeeds-2500-workers", "pd-ors-theorem-6-succeeds-E1"),
)


def ample_slot(rng: np.random.Generator) -> ExternalSlot:
    """Return machines with room for hundreds of workers, one cheaper than the next, and up to a hundred to place."""
    machines = int(rng.integers(2, 5))
    return ExternalSlot(
        room=tuple((Fraction(int(c)),) for c in rng.integers(500, 2000, size=machines)),
        prices=tuple((Fraction(int(p)),) for p in np.cumsum(rng.integers(1, 5, size=machines))),
        worker=(Fraction(1),),
        server=(Fraction(1),),
        workers=Fraction(int(rng.integers(2, 100))),
        servers=Fraction(1),
        most_workers=Fraction(int(rng.integers(100, 400))),
        delta=Fraction(int(rng.integers(1, 11)), 10),
    )


class AmpleFacts(RoundsFacts):
    """The same where every machine has room for many workers, or servers.

    Parameters
    ----------
    instance : ExternalSlot
    seed : int
        Not used.
    delta : float, optional
        In place of the slot's own.
    rounds : int
        S, the rounds of rounding.
    much_smaller : int
        How many there is room for, at the least.
    """

    def __init__(
        self,
        instance: ExternalSlot,
        seed: int,
        *,
        delta: Delta | None = None,
        rounds: Rounds = 10,
        much_smaller: Times = MUCH_SMALLER,
    ) -> None:
        super().__init__(instance, seed, delta=delta, rounds=rounds)
        self.much_smaller = much_smaller

    @property
    def small_needs(self) -> bool:
        """Whether every machine has room for so many."""
        slot = self.instance
        needs = [max(pair) for pair in zip(slot.worker, slot.server, strict=True)]
        return all(
            self.much_smaller * need <= left for room in slot.room for need, left in zip(needs, room, strict=True)
        )


THEOREM_3_AMPLE = Subject(
    problem="dmlrs",
    instance=ExternalSlot,
    facts=AmpleFacts,
    premises=(
        *PRINTED_PREMISES,
        Premise[AmpleFacts](
            "alpha^r, beta^r << C^_h^r, at most C^_h^r/much_smaller",
            lambda facts: facts.small_needs,
            SMALL_NEEDS.source,
        ),
    ),
    sources=(Source("pd-ors/ample-slot", ample_slot),),
).printed(
    "pd-ors/theorem-3-ample",
    paper="PD-ORS, Theorem 3, as Appendix C has it",
    statement="where demand is much smaller than capacity, one of S rounds at G of (29) keeps (24)-(26) with "
    "probability at least 1 - (delta/3)^S",
    quantity="the exact probability that one of S rounds keeps (24)-(26), servers left out, against 1 - (delta/3)^S",
    measure=lambda facts: facts.succeeds,
    relation=Relation.AT_LEAST,
    bound=lambda facts: facts.promised,
    expectation=Expectation.FALSE,
    details=lambda facts: {"G": facts.printed.widths.shrink(facts.printed.delta), "S": facts.rounds},
    counterexamples=("pd-ors-theorem-3-ample-five-workers",),
    open=WHICH_OPTIMUM,
)


class LoneFacts(SmallNeedsFacts):
    """What PD-ORS does with one job in one slot, exactly.

    Parameters
    ----------
    instance : Instance
    seed : int
    delta : float
        Of (29), in (0, 1].
    rounds : int
        S, the rounds of rounding.
    much_smaller : int
        How many times smaller needs are, at the least.
    """

    def __init__(
        self,
        instance: Instance,
        seed: int,
        *,
        delta: Delta = 0.3,
        rounds: Rounds = 10,
        much_smaller: Times = MUCH_SMALLER,
    ) -> None:
        super().__init__(instance, seed, much_smaller=much_smaller)
        self.delta = rational(delta)
        self.rounds = rounds

    @property
    def lone(self) -> bool:
        """Whether there is one synchronous job and one slot: a single state, whose outcomes can be counted."""
        jobs = self.instance.jobs
        return self.instance.slots == 1 and len(jobs) == 1 and isinstance(jobs[0], Job)

    @property
    def job(self) -> Job:
        """The job."""
        job = self.instance.jobs[0]
        assert isinstance(job, Job)
        return job

    @cached_property
    def placement(self) -> Placement:
        """(23)-(26) of its only state, on the empty cluster."""
        job, machines, resources = self.job, self.instance.machines, self.instance.resources
        workers = job.work * job.external_time
        slot = ExternalSlot(
            room=tuple(tuple(machine.capacity_of(r) for r in resources) for machine in machines),
            prices=tuple(tuple(self.defined_constants.low for _ in resources) for _ in machines),
            worker=tuple(map(job.worker_needs, resources)),
            server=tuple(map(job.server_needs, resources)),
            workers=workers,
            servers=workers / job.workers_per_server,
            most_workers=Fraction(job.batch),
            delta=self.delta,
        )
        return SlotFacts(slot, 0).printed

    @property
    def fits_inside(self) -> bool:
        """Whether some machine takes all workers and servers, at the internal rate."""
        job = self.job
        workers = math.ceil(job.work * job.internal_time)
        needs = job.uses(workers, job.servers_for(workers))
        return workers <= job.batch and any(
            all(need <= machine.capacity_of(r) for r, need in needs.items()) for machine in self.instance.machines
        )

    @property
    def admitted(self) -> Interval:
        """At most the probability that the job gets a schedule: (2) is not asked for."""
        return Interval(1.0, 1.0) if self.fits_inside else _succeeds(self.placement, self.rounds)

    @property
    def promised(self) -> float:
        """(1 - (delta/3)^S)^(T K E)."""
        return exp(float(self.job.work) * log1p(-power(float(self.delta) / 3, self.rounds)))

    def dump(self) -> dict[str, Any]:
        """Return plain JSON data."""
        gain = self.placement.widths.shrink(float(self.delta))
        workers = math.ceil(self.placement.slot.workers)
        return {"G": gain, "workers": workers, "G workers + H": gain * workers + len(self.instance.machines)}


def lone_large(rng: np.random.Generator) -> Instance:
    """Return a job that needs more than two of 3-5 machines in its only slot, each with room for hundreds of workers.

    It needs no more than all of them have, and as many workers as whole servers have by (2).
    """
    machines, room = int(rng.integers(3, 6)), int(rng.integers(300, 1200))
    gamma = int(rng.integers(5, 11))
    most = Fraction(19, 20) * machines * room / (gamma + 1)
    servers = int(rng.integers(math.ceil(Fraction(21, 10) * room / gamma), math.floor(most) + 1))
    workers = gamma * servers
    batch = workers * int(rng.integers(1, 3))
    return large_job(machines, room, gamma, workers, batch, int(rng.integers(1, 1000)))


_IN_A_SLOT = 4
"""Samples of a slot that a worker does over the network. Arbitrary: there are to be more in all than in a batch."""


def large_job(machines: int, room: int, gamma: int, workers: int, batch: int, worth: int) -> Instance:
    """Return a job in one slot; the half of a slot goes into exchanging, or a hundredth of that on one machine."""
    job = Job(
        name="J1",
        arrival=1,
        epochs=Fraction(1),
        samples=Fraction(_IN_A_SLOT * workers),
        batch=batch,
        slots_per_sample=Fraction(1, 2 * _IN_A_SLOT),
        gradient_size=Fraction(batch, 4 * gamma * _IN_A_SLOT),
        workers_per_server=Fraction(gamma),
        internal_rate=Fraction(100),
        external_rate=Fraction(1),
        worker={"r1": Fraction(1)},
        server={"r1": Fraction(1)},
        utility=Table(values=(Fraction(worth),)),
    )
    names = tuple(f"M{h + 1}" for h in range(machines))
    cluster = tuple(Machine(name=name, capacity={"r1": Fraction(room)}) for name in names)
    return Instance(slots=1, resources=("r1",), machines=cluster, jobs=(job,))


THEOREM_5_AMPLE = Subject(
    problem="dmlrs",
    instance=Instance,
    facts=LoneFacts,
    premises=(
        Premise[LoneFacts](
            "one synchronous job, one slot: the probability is exact",
            lambda facts: facts.lone,
            "Theorem 5: any jobs and slots, these among them",
        ),
        ORDINARY,
        PRICES_DEFINED,
        LOWEST_POSITIVE,
        SMALL_NEEDS,
        ADMITS_ONE,
    ),
    sources=(Source("pd-ors/lone-large", lone_large),),
).printed(
    "pd-ors/theorem-5-ample",
    paper="PD-ORS, Theorem 5",
    statement=(
        "where a worker's and a server's demand is much smaller than capacity, PD-ORS returns a feasible solution of "
        "the promised ratio with probability greater than (1 - (delta/3)^S)^(T K E)"
    ),
    quantity="the exact probability that a lone job, which is all of OPT, gets a schedule at G of (29), against that",
    measure=lambda facts: facts.admitted,
    relation=Relation.AT_LEAST,
    bound=lambda facts: facts.promised,
    expectation=Expectation.FALSE,
    details=LoneFacts.dump,
    schedule=optimal_schedule,
    counterexamples=("pd-ors-theorem-5-ample-2500-workers",),
    open=f"{WHICH_OPTIMUM}, and {WHOSE_DEMAND}",
)


def _jobs(facts: PdOrsFacts) -> list[Job]:
    return [job for job in facts.instance.jobs if isinstance(job, Job)]


def _states(facts: PdOrsFacts) -> int:
    """Return how many states (t, v), v >= 1, the programs (21) of all jobs have, any of which may stay unsolved."""
    return sum((facts.instance.slots - job.arrival + 1) * math.ceil(job.work) for job in _jobs(facts))


EXPONENT = PD_ORS.printed(
    "pd-ors/theorem-5-exponent",
    paper="PD-ORS, Theorems 5 and 6",
    statement="(1 - (delta/3)^S)^(T K_i E_i) counts each state (t, v) that PD-ORS has to solve",
    quantity="states of the dynamic programs of all jobs, against T K_i E_i of the job that has most",
    measure=_states,
    relation=Relation.AT_MOST,
    bound=lambda facts: facts.instance.slots * max(math.ceil(job.work) for job in _jobs(facts)),
    expectation=Expectation.FALSE,
    premises=(Premise("there are synchronous jobs", lambda facts: bool(_jobs(facts)), "Section 3 2): the BSP scheme"),),
    sources=(TINY, ROOMY, SECTION_5),
    counterexamples=("pd-ors-theorem-5-exponent-two-jobs", "pd-ors-theorem-5-exponent-D3"),
    open="which job i is meant: here the one with the greatest K_i E_i",
)

EXPONENT_CORRECTED = EXPONENT.corrected(
    statement="the product of (1 - (delta/3)^S)^(T K_i E_i) over the jobs counts each state",
    quantity="states of the dynamic programs of all jobs, against sum_i T K_i E_i",
    bound=lambda facts: facts.instance.slots * sum(math.ceil(job.work) for job in _jobs(facts)),
    golden=("pd-ors-theorem-5-exponent-corrected-D3",),
)

_MOST_ROUNDS = 10**6
"""Times 1/delta: rounds that no O(1/delta) is taken to exceed. Arbitrary: without a feasible outcome they never end."""


class GainFacts(SlotFacts):
    """What rounding does in a slot of the thesis at any G.

    Parameters
    ----------
    instance : ExternalSlot
    seed : int
        Not used.
    delta : float, optional
        In place of the slot's own.
    gain : float, optional
        G, above 1; that of Theorem 2 if it is left out.
    """

    def __init__(
        self,
        instance: ExternalSlot,
        seed: int,
        *,
        delta: Delta | None = None,
        gain: Annotated[float, Field(gt=1, allow_inf_nan=False)] | None = None,
    ) -> None:
        super().__init__(instance, seed, delta=delta)
        self.gain = gain

    @cached_property
    def rounded(self) -> Roundings:
        """The rounding at this G."""
        if self.gain is None:
            return self.thesis.stretched
        return Roundings(self.gain, tuple(Law(program, self.gain) for program in self.thesis.programs))


def _expected_rounds(facts: GainFacts) -> Interval:
    """Return the mean number of rounds of the thesis's Algorithm 4 until one keeps (3.23)-(3.25)."""
    found = facts.rounded.feasible()
    return Interval(*(1 / p if p else math.inf for p in (found.high, found.low)))


COMPLEXITY = Subject(problem="dmlrs", instance=ExternalSlot, facts=GainFacts, sources=(SLOT,)).printed(
    "pd-ors-thesis/complexity",
    paper="PD-ORS thesis, Section 3.2.4, after Theorem 3",
    statement="the average time of PD-ORS is O(T K_i^2 E_i^2 H^4/delta): rounding a state takes O(1/delta) rounds",
    quantity=f"the mean number of rounds until (3.23)-(3.25) are kept, against {_MOST_ROUNDS}/delta",
    measure=_expected_rounds,
    relation=Relation.AT_MOST,
    bound=lambda facts: _MOST_ROUNDS / facts.thesis.delta,
    expectation=Expectation.FALSE,
    premises=(
        Premise[GainFacts](
            "the relaxation is feasible",
            lambda facts: facts.thesis.program is not None,
            "Section 3.2.3: the fractional optimal solution",
        ),
        Premise[GainFacts](
            "workers and servers fit in whole numbers",
            lambda facts: facts.thesis.integral,
            "Section 3.2.3: (3.22), an integer program",
        ),
    ),
    details=lambda facts: {"G": facts.rounded.gain},
    counterexamples=("pd-ors-thesis-complexity-any-gain", "pd-ors-thesis-complexity-exact-fit"),
    open="which G > 1 Algorithm 4 picks (here that of Theorem 2, unless another is asked for; in the first witness no "
    f"G has a feasible outcome); and {WHICH_OPTIMUM}",
)

CLAIMS = stated(globals())
"""Every claim on what the proof counts on."""
