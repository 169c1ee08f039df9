"""What verdicts rest on: only those that ask for an optimum, each time, and the weakest of what they ask for."""

from __future__ import annotations

from pathlib import Path

import pytest

from dlsched.algorithms.exact import dispatch
from dlsched.algorithms.exact.certificates import GaveUp
from dlsched.algorithms.exact.result import Proof
from dlsched.bounds import check, verify
from dlsched.bounds.claim import claim, decided
from dlsched.bounds.evidence import asked, rests_on, weakest
from dlsched.bounds.witness import shipped


def test_the_weakest_counts() -> None:
    with asked() as none:
        rests_on(None)
    with asked() as both:
        rests_on(Proof.EXACT)
        with asked() as inner:
            rests_on(Proof.AGREED)
        rests_on(Proof.EXACT)
    assert (weakest(none), weakest(inner), weakest(both)) == (None, Proof.AGREED, Proof.EXACT)
    assert weakest({Proof.EXACT, Proof.AGREED}) is Proof.AGREED


def test_each_verdict_that_asks_says_so_though_the_facts_are_shared() -> None:
    witness = shipped("hadar-theorem-2-lone-job")
    instance = witness.read_instance()
    claims = [claim("hadar/theorem-2"), claim("hadar/theorem-2"), claim("hadar/price-blocks")]
    assert [verdict.proof for verdict in decided(claims, instance)] == [Proof.EXACT, Proof.EXACT, None]


def test_an_optimum_without_a_tree_is_agreed(monkeypatch: pytest.MonkeyPatch) -> None:
    def gives_up(*_: object, **__: object) -> None:
        raise GaveUp("told to")

    monkeypatch.setattr(dispatch, "prove_exactly", gives_up)
    witness = shipped("hadar-theorem-2-lone-job")
    verdict = check(witness.claim, witness.read_instance(), witness.seed)
    assert verdict.proof is Proof.AGREED
    assert verdict.status.value == "violated"


def test_gadget_enumerates() -> None:
    witness = shipped("gadget-half-of-optimum-G6")
    assert check(witness.claim, witness.read_instance(), witness.seed, witness.variant).proof is Proof.EXACT


def test_a_database_keeps_it(tmp_path: Path) -> None:
    first = verify("smd/theorem-5", instances=2, out=tmp_path / "v.sqlite")
    again = verify("smd/theorem-5", instances=2, out=tmp_path / "v.sqlite")
    assert first.dump() == again.dump()
    counts = [(row["exact"], row["agreed"]) for row in again.dump()["claims"]]
    assert sum(exact for exact, _ in counts) > 0
    assert sum(agreed for _, agreed in counts) == 0
