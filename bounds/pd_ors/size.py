"""What the papers say of size: where many samples guarantee (25), and how the ratio 3 G/delta depends on the problem's.

(25) is the packing row that Theorem 4 leaves out, and with G of (30) workers are G times what is needed. The gain (29)
has RH + 1 under its logarithm, and falls with it; the thesis's gain has neither R nor H.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import cached_property
from typing import Annotated, Any

import numpy as np
from pydantic import Field

from dlsched.algorithms.pd_ors.widths import Form
from dlsched.bounds.claim import Expectation, Premise, Source, Subject, always, stated
from dlsched.bounds.comparison import Interval, Relation
from dlsched.bounds.pd_ors.facts import LOWEST_POSITIVE, PRICES_DEFINED
from dlsched.bounds.pd_ors.law import Law
from dlsched.bounds.pd_ors.mixed import Delta
from dlsched.bounds.pd_ors.slot import WHICH_OPTIMUM, ExternalSlot, Placement, SlotFacts
from dlsched.bounds.pd_ors.sources import SLOT
from dlsched.bounds.pd_ors.theorem_5 import LoneFacts
from dlsched.bounds.pd_ors.theorems import PRINTED_PREMISES
from dlsched.models.dmlrs import Instance, Job, Machine
from dlsched.models.utility import Table

MANY = 10
"""How many times a batch's are a data set's samples at the least, where they are far more. Arbitrary: the witnesses of
Theorems 5 and 6 have as many."""


class BatchFacts(LoneFacts):
    """What (25) does with one job in one slot, exactly.

    Parameters
    ----------
    instance : Instance
    seed : int
    delta : float
        Of (30), in (0, 1].
    """

    def __init__(self, instance: Instance, seed: int, *, delta: Delta = 0.5) -> None:
        super().__init__(instance, seed, delta=delta)

    @property
    def relaxed(self) -> bool:
        """Whether the relaxation of its only state is feasible."""
        return self.placement.program is not None

    @property
    def kept(self) -> Interval:
        """The probability that a round at G of (30) keeps (25), the last of the packing rows."""
        return self.placement.stretched.over(lambda law: 1 - law.packing_exceeds()[-1])

    @property
    def kept_by_all(self) -> int:
        """1 where every outcome keeps (25), whichever optimum is rounded; else 0."""
        return int(all(not law.packing_exceeds()[-1] for law in self.placement.stretched.laws))

    @property
    def ample_batch(self) -> bool:
        """Whether F is at least G times the workers of x-bar and the number of machines."""
        machines = len(self.instance.machines)
        laws = self.placement.stretched.laws
        return all(law.gain * float(_workers(law)) + machines <= self.job.batch for law in laws)

    @cached_property
    def gain(self) -> float:
        """G of (30)."""
        return self.placement.widths.stretch(float(self.delta))

    def dump_gain(self) -> dict[str, Any]:
        """Return plain JSON data."""
        return {"G": self.gain, "workers": float(self.placement.slot.workers), "F": self.job.batch}


class ManyFacts(BatchFacts):
    """The same, and whether the data set is large.

    Parameters
    ----------
    instance : Instance
    seed : int
    delta : float
        Of (30), in (0, 1].
    far_more : int
        How many times a batch's the samples of the data set are, at the least.
    """

    def __init__(
        self, instance: Instance, seed: int, *, delta: Delta = 0.5, far_more: Annotated[int, Field(ge=1)] = MANY
    ) -> None:
        super().__init__(instance, seed, delta=delta)
        self.far_more = far_more

    @property
    def many_samples(self) -> bool:
        """Whether K_i is so many times F_i."""
        return self.job.samples >= self.far_more * self.job.batch


def _workers(law: Law) -> Fraction:
    """Return the workers of x-bar, the left side of (25)."""
    return law.program.total(law.program.packing[-1])


def batch_job(machines: int, room: int, workers: int, batch: int, epochs: int = 1) -> Instance:
    """Return a job of ten times F samples an epoch that needs so many workers in its one slot, half for exchanging."""
    samples = MANY * batch
    each = Fraction(workers, samples * epochs)
    job = Job(
        name="J1",
        arrival=1,
        epochs=Fraction(epochs),
        samples=Fraction(samples),
        batch=batch,
        slots_per_sample=each / 2,
        gradient_size=each * batch / 4,
        workers_per_server=Fraction(1),
        internal_rate=Fraction(100),
        external_rate=Fraction(1),
        worker={"r1": Fraction(1)},
        server={"r1": Fraction(1)},
        utility=Table(values=(Fraction(1),)),
    )
    cluster = tuple(Machine(name=f"M{h + 1}", capacity={"r1": Fraction(room)}) for h in range(machines))
    return Instance(slots=1, resources=("r1",), machines=cluster, jobs=(job,))


def lone_batch(rng: np.random.Generator) -> Instance:
    """Return such a job of 5-40 workers at the most, on 1-3 machines, that needs all of them, a half or a quarter."""
    batch, machines = int(rng.integers(5, 41)), int(rng.integers(1, 4))
    workers = max(1, batch // int(rng.choice([1, 2, 4])))
    return batch_job(machines, int(rng.integers(2 * batch, 5 * batch)), workers, batch, int(rng.integers(1, 4)))


_LONE_BATCH = Source("pd-ors/lone-batch", lone_batch)
_ONE_STATE = (
    Premise[BatchFacts](
        "one synchronous job, one slot: a single state",
        lambda facts: facts.lone,
        "Theorem 4: any state (t, v), these among them",
    ),
    PRICES_DEFINED,
    LOWEST_POSITIVE,
    Premise[BatchFacts](
        "the relaxation is feasible", lambda facts: facts.relaxed, "Section 4.3: the fractional optimal solution"
    ),
)
_BATCHES = Subject(problem="dmlrs", instance=Instance, facts=BatchFacts, sources=(_LONE_BATCH,))
_DATA_SETS = Subject(problem="dmlrs", instance=Instance, facts=ManyFacts, sources=(_LONE_BATCH,))

ROW_25 = _BATCHES.printed(
    "pd-ors/row-25",
    paper="PD-ORS, Section 4.4, after Theorem 4",
    statement="(25), sum_h w_h <= F, is guaranteed where the number of samples is far more than the number of workers",
    quantity="the probability that a round at G of (30) keeps (25), against 1",
    measure=lambda facts: facts.kept,
    relation=Relation.AT_LEAST,
    bound=always(1),
    worst=lambda facts: facts.kept_by_all,
    expectation=Expectation.VACUOUS,
    premises=(
        *_ONE_STATE,
        Premise[BatchFacts](
            "F, the samples of a batch, is far more than the workers of x-bar: at least G times as many and H more",
            lambda facts: facts.ample_batch,
            "after Theorem 4: the number of samples is typically far more than the number of workers",
        ),
    ),
    details=BatchFacts.dump_gain,
    golden=("pd-ors-row-25-fifty-workers",),
    open="which samples: the K_i of the data set, which Table 1 calls the number of samples and which guarantee "
    "nothing (pd-ors/row-25-data-set), or the F_i of a batch, which (25) is about (here); how many are far more: here "
    f"G times the workers and H more, and then no outcome can break (25); and {WHICH_OPTIMUM}",
)

ROW_25_DATA_SET = _DATA_SETS.derived(
    "pd-ors/row-25-data-set",
    paper="PD-ORS, Section 4.4, after Theorem 4, with the samples K_i of Table 1, those of the data set",
    statement="(25), sum_h w_h <= F, is guaranteed where the samples K of the data set are far more than F",
    quantity="the probability that a round at G of (30) keeps (25), against 1",
    measure=lambda facts: facts.kept,
    relation=Relation.AT_LEAST,
    bound=always(1),
    expectation=Expectation.FALSE,
    premises=(
        *_ONE_STATE,
        Premise[ManyFacts]("K is at least far_more times F", lambda facts: facts.many_samples),
    ),
    details=ManyFacts.dump_gain,
    counterexamples=("pd-ors-row-25-data-set-ten-workers",),
    open=WHICH_OPTIMUM,
)

TIMES = 100
"""How many times as many machines the ratio is asked at. Arbitrary: any number changes G of (29)."""


def _ratio(slot: ExternalSlot, gain: Callable[[Placement], float], form: Form) -> float:
    return 3 * gain(Placement(slot, form)) / float(slot.delta)


def _larger(slot: ExternalSlot) -> ExternalSlot:
    """Return the slot with so many times the machines, all of them alike."""
    return slot.model_copy(update={"room": slot.room * TIMES, "prices": slot.prices * TIMES})


def _shrunk(slot: ExternalSlot) -> float:
    return _ratio(slot, lambda placement: placement.widths.shrink(placement.delta), Form.PRINTED)


def _stretched(slot: ExternalSlot) -> float:
    return _ratio(slot, lambda placement: placement.widths.stretch(placement.delta), Form.THESIS)


def _growth(facts: SlotFacts) -> float:
    """Return 3 G/delta of (29) on the larger cluster over that on the slot's."""
    return _shrunk(_larger(facts.instance)) / _shrunk(facts.instance)


def _growth_thesis(facts: SlotFacts) -> float:
    """Return that of the thesis on the larger cluster over that on the slot's."""
    return _stretched(_larger(facts.instance)) / _stretched(facts.instance)


_SLOTS: Subject[ExternalSlot, SlotFacts] = Subject(
    problem="dmlrs", instance=ExternalSlot, facts=SlotFacts, sources=(SLOT,)
)

RATIO_SIZE = _SLOTS.printed(
    "pd-ors/ratio-size",
    paper="PD-ORS, Section 4.3, after (28)",
    statement="the approximation ratio of the rounding, 3 G/delta, is independent of the problem size",
    quantity=f"3 G/delta with G of (29) and {TIMES} times the machines, each alike, over that of the slot, against 1",
    measure=_growth,
    relation=Relation.EQUAL,
    bound=always(1),
    expectation=Expectation.FALSE,
    premises=PRINTED_PREMISES,
    details=lambda facts: {"3 G/delta": _shrunk(facts.instance), "larger": _shrunk(_larger(facts.instance))},
    counterexamples=("pd-ors-ratio-size-ten-workers",),
    open="what is independent: the ratio (here), or a bound on it, which the corrected claim has; G of (30) has "
    "neither R nor H",
)

RATIO_SIZE_CORRECTED = RATIO_SIZE.corrected(
    statement="the ratio 3 G/delta with G of (29) is at most 3/delta whatever the problem size, and falls in R H",
    quantity=f"the greater of 3 G/delta over 3/delta, and of that with {TIMES} times the machines over 3 G/delta, "
    "against 1",
    measure=lambda facts: max(_growth(facts), _shrunk(facts.instance) * float(facts.instance.delta) / 3),
    relation=Relation.AT_MOST,
    golden=("pd-ors-ratio-size-corrected-ten-workers",),
)

THESIS_RATIO_SIZE = _SLOTS.derived(
    "pd-ors-thesis/ratio-size",
    paper="PD-ORS thesis, Section 3.2.3, after (3.27), read as a dependence",
    statement="the approximation ratio of the rounding, 3 G/delta of Theorem 2, changes with the problem size, if only "
    "logarithmically",
    quantity=f"1 where 3 G/delta is another one with {TIMES} times the machines, each alike, or else 0, against 1",
    measure=lambda facts: int(_growth_thesis(facts) != 1),
    relation=Relation.AT_LEAST,
    bound=always(1),
    expectation=Expectation.FALSE,
    details=lambda facts: {"3 G/delta": _stretched(facts.instance), "larger": _stretched(_larger(facts.instance))},
    counterexamples=("pd-ors-thesis-ratio-size-ten-workers",),
    open="whether a ratio that logarithmically depends on the size changes with it (here), or is at most a logarithm, "
    "which a constant is: then the thesis is right, as the corrected claim says; which size: R and H, those of the "
    "cluster (here); in m, the cover rows of Lemma 1, it is a logarithm, but (3.22) has two of them, however large it "
    "is",
)

THESIS_RATIO_SIZE_CORRECTED = THESIS_RATIO_SIZE.corrected(
    paper="PD-ORS thesis, Section 3.2.3, after (3.27)",
    statement="the ratio 3 G/delta of Theorem 2 does not depend on the number of machines and resources",
    quantity=f"3 G/delta with {TIMES} times the machines, each alike, over that of the slot, against 1",
    measure=_growth_thesis,
    relation=Relation.EQUAL,
    golden=("pd-ors-thesis-ratio-size-corrected-ten-workers",),
)

CLAIMS = stated(globals())
"""Every claim on size."""
