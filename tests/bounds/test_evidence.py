"""What verdicts rest on: only those that ask for an optimum, each time, and the weakest of what they ask for."""

from __future__ import annotations

from pathlib import Path

import pytest

from dlsched.algorithms.exact import dispatch
from dlsched.algorithms.exact.certificates import ExactProgram, GaveUp, ProgramBuilder
from dlsched.algorithms.exact.result import Proof
from dlsched.bounds import check, shown, verify
from dlsched.bounds.catalog import claim
from dlsched.bounds.claim import Undecided, decided
from dlsched.bounds.evidence import asked, rests_on, weakest
from dlsched.bounds.hadar.facts import HadarFacts
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


def _gives_up(*_: object, **__: object) -> None:
    raise GaveUp("told to")


@pytest.mark.parametrize("integer", [True, False])
def test_a_point_that_breaks_a_row_decides_nothing_in_whole_numbers(integer: bool) -> None:
    """A solver fills 3 less 1e-9 with 3; and a linear program's optimum may have more digits than are tried."""
    builder = ProgramBuilder("mine")
    x = builder.column("x", 5, cost=1, integer=integer)
    most = 3 * (10**9 + 7) - 1
    builder.row("room", [(x, 10**9 + 7)], lower=None if integer else most, upper=most)
    if integer:
        with pytest.raises(Undecided, match="no rational point near the solver's keeps the rows"):
            shown.shown(builder.program, lambda: 3.0)
    else:
        assert shown.shown(builder.program, lambda: 3.0).proof is Proof.AGREED


def test_an_optimum_without_a_tree_is_agreed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dispatch, "prove_exactly", _gives_up)
    witness = shipped("hadar-theorem-2-lone-job")
    verdict = check(witness.claim, witness.read_instance(), witness.seed)
    assert verdict.proof is Proof.AGREED
    assert verdict.status.value == "violated"


@pytest.mark.parametrize(
    "witness",
    [
        "hadar-equivalence-H5",
        "hadar-equivalence-corrected-H6",
        "pd-ors-equivalence-D3",
        "pd-ors-dual-optimum-D10",
        "smd-decomposition-S7",
    ],
)
@pytest.mark.parametrize("gives_up", [False, True])
def test_programs_over_what_is_listed_are_proved(witness: str, gives_up: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """The verdict is the same where no tree is found, and then rests on a solver."""

    def no_tree(program: ExactProgram) -> None:
        raise GaveUp(f"told to on {len(program.columns)} columns")

    if gives_up:
        monkeypatch.setattr(shown, "enclose", no_tree)
    found = shipped(witness)
    verdict = check(found.claim, found.read_instance(), found.seed, found.variant)
    assert verdict.proof is (Proof.AGREED if gives_up else Proof.EXACT)
    assert verdict.status.value == found.status


def test_that_a_schedule_is_worth_something_takes_no_proof(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of OPT > 0: where the proof is no more than agreement, a checked schedule still shows it."""
    monkeypatch.setattr(dispatch, "prove_exactly", _gives_up)
    facts = HadarFacts(shipped("hadar-theorem-2-lone-job").read_instance(), 0)
    with asked() as proofs:
        assert facts.opt_positive
    assert proofs == {Proof.EXACT}
    with asked() as proofs:
        assert facts.opt.low > 0
    assert proofs == {Proof.AGREED}


def test_gadget_enumerates() -> None:
    witness = shipped("gadget-half-of-optimum-G6")
    assert check(witness.claim, witness.read_instance(), witness.seed, witness.variant).proof is Proof.EXACT


@pytest.mark.slow
def test_a_database_keeps_it(tmp_path: Path) -> None:
    first = verify("smd/theorem-5", instances=2, out=tmp_path / "v.sqlite")
    again = verify("smd/theorem-5", instances=2, out=tmp_path / "v.sqlite")
    assert first.dump() == again.dump()
    counts = [(row["exact"], row["agreed"]) for row in again.dump()["claims"]]
    assert sum(exact for exact, _ in counts) > 0
    assert sum(agreed for _, agreed in counts) == 0
