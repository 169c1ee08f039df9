"""Claims on toy facts: which end of an interval decides, premises, limits, and what a witness carries."""

from __future__ import annotations

import math
from dataclasses import dataclass

import pytest

from dlsched.bounds import Claim, Expectation, Interval, Premise, Relation, Status, Undecided, Variant, witness
from dlsched.bounds.claim import decide
from dlsched.bounds.comparison import compare
from dlsched.models.document import Document, InputError


class Toy(Document):
    """A number; its facts are itself."""

    x: float


@dataclass(frozen=True, slots=True)
class ToyFacts:
    toy: Toy
    seed: int

    def limited(self) -> float:
        if self.toy.x > 100:
            raise Undecided("100 nodes")
        return self.toy.x


def toy_claim(relation: Relation = Relation.AT_MOST) -> Claim:
    return Claim(
        id="toy/half",
        paper="Toy, Lemma 1",
        variant=Variant.PRINTED,
        statement="x is at most 1/2",
        quantity="x",
        measure=ToyFacts.limited,
        bound=lambda facts: 0.5,
        relation=relation,
        expectation=Expectation.FALSE,
        facts=ToyFacts,
        premises=(Premise("x >= 0", lambda facts: facts.toy.x >= 0),),
        details=lambda facts: {"twice": 2 * facts.toy.x},
        schedule=lambda facts: Toy(x=7),
    )


@pytest.mark.parametrize(
    ("measured", "relation", "bound", "status"),
    [
        ((1, 2), Relation.AT_MOST, (2, 2), Status.HOLDS),
        ((1, 2), Relation.AT_MOST, (1.5, 3), Status.UNDECIDED),
        ((1, 2), Relation.AT_MOST, (0.5, 0.9), Status.VIOLATED),
        ((1, 2), Relation.AT_MOST, (0.5, 1.0), Status.UNDECIDED),
        ((1, 2), Relation.AT_LEAST, (0.5, 1), Status.HOLDS),
        ((1, 2), Relation.AT_LEAST, (2.1, 3), Status.VIOLATED),
        ((1, 2), Relation.AT_LEAST, (1.5, 1.5), Status.UNDECIDED),
        ((1, 1), Relation.EQUAL, (1 + 1e-7, 1), Status.HOLDS),
        ((1, 1), Relation.EQUAL, (1.1, 1.1), Status.VIOLATED),
        ((1, 1), Relation.EQUAL, (0.9, 0.9), Status.VIOLATED),
        ((1, 2), Relation.EQUAL, (1, 2), Status.UNDECIDED),
        ((1, 1), Relation.AT_MOST, (math.inf, math.inf), Status.VACUOUS),
        ((1, math.inf), Relation.AT_MOST, (2, 2), Status.UNDECIDED),
        ((3, math.inf), Relation.AT_MOST, (2, 2), Status.VIOLATED),
        ((1e6, 1e6), Relation.AT_MOST, (1e6 - 0.5, 1e6 - 0.5), Status.HOLDS),
        ((1e6, 1e6), Relation.AT_MOST, (1e6 - 2, 1e6 - 2), Status.VIOLATED),
    ],
)
def test_the_end_that_speaks_against_a_claim_must_refute_it(
    measured: tuple[float, float], relation: Relation, bound: tuple[float, float], status: Status
) -> None:
    assert compare(Interval(*measured), relation, Interval(*bound))[0] is status


def test_reported_ends_are_those_that_decide() -> None:
    assert compare(Interval(3, 9), Relation.AT_MOST, Interval(1, 2)) == (Status.VIOLATED, 3, 2)
    assert compare(Interval(1, 2), Relation.AT_LEAST, Interval(3, 9)) == (Status.VIOLATED, 2, 3)


@pytest.mark.parametrize(
    ("x", "status", "reason"),
    [
        (0.25, Status.HOLDS, ""),
        (0.75, Status.VIOLATED, ""),
        (-1, Status.PREMISE_FAILS, "x >= 0"),
        (101, Status.UNDECIDED, "100 nodes"),
    ],
)
def test_verdict(x: float, status: Status, reason: str) -> None:
    verdict = decide(toy_claim(), Toy(x=x), seed=5)
    assert (verdict.status, verdict.reason, verdict.seed) == (status, reason, 5)
    assert (verdict.witness is not None) == (status is Status.VIOLATED)


def test_a_witness_carries_what_is_needed_to_check_it_again() -> None:
    found = decide(toy_claim(), Toy(x=0.75), seed=5).witness
    assert found is not None
    assert found.instance == {"x": 0.75}
    assert found.schedule == {"x": 7}
    assert found.details == {"twice": 1.5}
    assert (found.seed, found.measured, found.bound, found.status) == (5, 0.75, 0.5, "violated")


def test_a_witness_of_another_problem_is_refused() -> None:
    found = decide(toy_claim(), Toy(x=0.75)).witness
    assert found is not None
    with pytest.raises(InputError, match="toy: no claims of such a paper"):
        found.read_instance()
    with pytest.raises(InputError, match="unknown claim"):
        witness.replay(found.model_copy(update={"claim": "hadar/theorem-99", "instance": HADAR}))


HADAR = {
    "slots": 1,
    "slot_seconds": 1,
    "device_types": ["k80"],
    "machines": [{"name": "m", "devices": {"k80": 1}}],
    "jobs": [],
}
