"""A replayed witness is told in words, each of which can be held against the instance and other verdicts."""

from __future__ import annotations

import pytest

from dlsched.bounds import check, claim, replay, story
from dlsched.bounds.witness import shipped


def test_the_lone_job() -> None:
    told = story(replay("hadar-theorem-2-lone-job"))
    printed = claim("hadar/theorem-2", "printed")
    assert told[0] == f"{printed.paper} (printed): {printed.statement}"
    assert "  m1: devices k80 2" in told
    assert "  J1: arrival 1, gang 1, iterations 9, rate k80 1, utility table (values 1, 10 times)" in told
    for premise in printed.premises:
        assert f"  {premise.name} ({premise.source})" in told
    assert any(line.endswith("It is 1 and is to be <= 0: violated.") for line in told)
    assert "  umin: k80 0.125" in told
    assert "  J1: slots (1-9 m1 k80 1)" in told
    assert told[-1] == "All of this came out again from the instance and its seed alone."


@pytest.mark.slow
@pytest.mark.parametrize("name", ["hadar-theorem-2-lone-job", "gadget-theorem-8-three-servers"])
def test_what_fails_beside_it_fails(name: str) -> None:
    """Each claim that is named has that verdict on the instance, and the corrected one holds."""
    witness = shipped(name)
    told = story(replay(name))
    start = next(k for k, line in enumerate(told) if line.startswith("Other claims about the same run"))
    beside = [line.split()[:2] for line in told[start + 1 : -1]]
    assert len(beside) > 1
    for id_, variant in beside:
        verdict = check(id_, witness.read_instance(), witness.seed, variant.strip("():"))
        assert verdict.status.value == "violated"
    assert sum(line.startswith("Corrected, it says: ") for line in told) == 1
    assert check(witness.claim, witness.read_instance(), witness.seed, "corrected").status.value == "holds"


@pytest.mark.slow
def test_a_claim_that_says_nothing_here_and_one_that_holds() -> None:
    outside = story(replay("hadar-theorem-2-H5"))
    assert any(line.startswith("A hypothesis does not hold here, so that the claim says nothing: ") for line in outside)
    assert not any(line.startswith("What it assumes") for line in outside)
    held = story(replay("hadar-theorem-2-H6"))
    assert any(": holds." in line for line in held)
    assert "The schedule that refutes it:" not in held


def test_a_witness_that_says_something_else() -> None:
    changed = shipped("hadar-theorem-2-lone-job").model_copy(update={"measured": 7.0})
    assert story(replay(changed))[-1] == "This is not what the witness says: measured: 1.0, not 7.0."


def test_only_claims_about_such_instances_are_looked_at() -> None:
    """`hadar/abstract` is about other documents, of which the same is known."""
    assert claim("hadar/abstract").facts == claim("hadar/text-ratios").facts
    for name in ("hadar-text-ratios-aws", "hadar-abstract-reduction-lab"):
        told = story(replay(name))
        assert not any(line.startswith("Other claims") for line in told)


@pytest.mark.slow
def test_instances_that_are_no_clusters() -> None:
    told = story(replay("pd-ors-lemma-1-cover-hundred-copies"))
    assert told[1].startswith("The instance (dmlrs), hundred-copies: cost 1, cover 1, needs 31, ")
