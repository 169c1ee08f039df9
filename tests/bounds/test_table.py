"""Rows of the table about averages: what many draws say together."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from dlsched.bounds import Claim, Expectation, Outcome, Relation, Status, claim
from dlsched.bounds.claim import Variant, Verdict
from dlsched.bounds.store import Entry
from dlsched.bounds.table import Row, tabulate

AVERAGE = "hadar/definition-1"


def _known(expectation: Expectation, relation: Relation = Relation.AT_LEAST) -> Claim[Any]:
    return replace(
        claim(AVERAGE), sampled=True, relation=relation, expectation=expectation, counterexamples=(), golden=()
    )


def _row(known: Claim[Any], pairs: list[tuple[float | None, float | None]], **parameters: float) -> Row:
    entries = [
        Entry(Verdict(known.id, known.variant, Status.UNDECIDED, f"{k}", k, *pair), "toy/source", k, "")
        for k, pair in enumerate(pairs)
    ]
    return tabulate([known], entries, {}, 3, parameters).rows[0]


WINS = [(float(k), 0.0) for k in range(1, 9)]
LOSSES = [(0.0, float(k)) for k in range(1, 9)]


@pytest.mark.parametrize(
    ("expectation", "pairs", "outcome", "finding"),
    [
        (Expectation.TRUE, WINS, Outcome.EXPECTED, "supported by 8"),
        (Expectation.TRUE, WINS[:7], Outcome.EXPECTED, "undecided by 7"),
        (Expectation.TRUE, LOSSES, Outcome.OTHERWISE, "REFUTED by 8"),
        (Expectation.FALSE, LOSSES, Outcome.EXPECTED, "REFUTED by 8"),
        (Expectation.FALSE, WINS, Outcome.OTHERWISE, "SUPPORTED by 8"),
        (Expectation.OPEN, WINS, Outcome.EXPECTED, "supported by 8"),
        (Expectation.TRUE, [(1.0, 1.0)] * 20, Outcome.EXPECTED, "undecided by 20"),
    ],
)
def test_draws_decide_together(
    expectation: Expectation, pairs: list[tuple[float | None, float | None]], outcome: Outcome, finding: str
) -> None:
    row = _row(_known(expectation), pairs)
    assert (row.outcome, row.finding) == (outcome, finding)
    assert row.counts[Status.VIOLATED] == row.counts[Status.HOLDS] == 0


def test_draws_of_guesses_are_counted_and_decide_nothing() -> None:
    row = _row(replace(_known(Expectation.OPEN), guessed=True), WINS * 5)
    assert row.finding == "undecided by 40"
    assert row.sample is not None
    assert (row.sample.better, row.sample.low > 0) == (40, True)


def test_what_is_to_be_at_most_the_other_gains_where_it_is_less() -> None:
    row = _row(_known(Expectation.TRUE, Relation.AT_MOST), LOSSES)
    assert row.finding == "supported by 8"
    assert row.sample is not None
    assert (row.sample.better, row.sample.mean) == (8, 4.5)


def test_draws_without_both_sides_are_left_out_and_all_others_are_listed() -> None:
    row = _row(_known(Expectation.TRUE), [*WINS, (None, None)])
    data = row.dump()["sample"]
    assert (data["draws"], row.instances) == (8, 9)
    assert [(entry["seed"], entry["measured"]) for entry in data["entries"]] == [(k, k + 1.0) for k in range(8)]


def test_one_draw_has_no_interval() -> None:
    data = _row(_known(Expectation.TRUE), WINS[:1]).dump()["sample"]
    assert (data["low"], data["high"], data["p"]) == (None, None, 1.0)


def test_nothing_is_known_of_a_claim_with_other_parameters_than_the_papers() -> None:
    class Facts:
        def __init__(self, instance: object, seed: int, *, delta: float = 0.3) -> None: ...

    known = replace(claim(AVERAGE), facts=Facts, counterexamples=(), golden=())
    entry = Entry(Verdict(known.id, Variant.PRINTED, Status.HOLDS, "0", 0, 1.0, 2.0), "toy/source", 0, "")
    row = tabulate([known], [entry], {}, 3, {"delta": 0.1}).rows[0]
    assert (row.expectation, row.outcome, row.finding) == (Expectation.OPEN, Outcome.EXPECTED, "holds")
    assert tabulate([known], [entry], {}, 3, {"other": 1}).rows[0].expectation is known.expectation


@pytest.mark.parametrize("expectation", [Expectation.TRUE, Expectation.FALSE])
def test_a_claim_that_was_checked_on_nothing_is_not_other_than_known(expectation: Expectation) -> None:
    known = replace(claim(AVERAGE), expectation=expectation, counterexamples=(), golden=())
    (row,) = tabulate([known], [], {}, 3, {}).rows
    assert (row.outcome, row.finding) == (Outcome.UNDECIDED, "NOTHING TO CHECK IT ON")
