"""The table that `verify` answers with: one row a claim and variant, and whether it came out as is known."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from enum import Enum
from itertools import groupby
from typing import Any

from dlsched.algorithms.exact.result import Proof
from dlsched.bounds.claim import Claim, Expectation, Variant, among
from dlsched.bounds.comparison import Status
from dlsched.bounds.statistics import Sample, Support, paired
from dlsched.bounds.store import Entry
from dlsched.bounds.witness import Witness
from dlsched.readable import Readable, Section

_DIGITS = 9
"""Of a number in a report: what a solver promises ends with the seventh (`dlsched.tolerances.FEASIBLE`). Arbitrary
beyond that: few enough to hide the last bits of a sum."""


FALSE_IN_PRINT = "FALSE IN PRINT"
"""The finding that is news: a claim is false as it stands in a paper."""


class Outcome(Enum):
    """Whether a claim came out as expected; `UNDECIDED` where limits left nothing to judge by.

    Examples
    --------
    >>> from dlsched.bounds import Outcome, verify
    >>> report = verify("hadar/theorem-1", instances=0)
    >>> all(row.outcome is Outcome.EXPECTED for row in report.rows)
    True
    """

    EXPECTED = "as expected"
    OTHERWISE = "otherwise"
    UNDECIDED = "undecided"


@dataclass(frozen=True, slots=True)
class Row:
    """What `verify` found on one claim in one variant.

    Attributes
    ----------
    id, variant : str
    statement : str
    expectation : Expectation
    instances : int
        Verdicts in all, shipped cases and draws.
    counts : mapping of Status to int
    found : int
        Violations on draws: found by the search, not shipped.
    missed : tuple of str
        Shipped counterexamples on which the claim was not violated.
    outcome : Outcome
    witness : Entry, optional
        The smallest violation: the one whose instance takes the fewest characters.
    proofs : mapping of Proof to int
        Verdicts that rest on an optimum, by what it rests on.
    premises : mapping of str to int
        By premise: how many instances fail it and meet those before it.
    nearest : Entry, optional
        The instance on which the claim holds with the least to spare, where that can be told (`Relation.nearness`).
    nearness : float, optional
        The smaller side's share of the greater on it.
    sample : Sample, optional
        Of a claim about an average: what its draws say of it together.
    draws : tuple of Entry
        Those of the sample.

    Examples
    --------
    >>> from dlsched.bounds import verify
    >>> for row in verify("hadar/theorem-2", instances=0).rows:
    ...     print(row.variant, row.verdicts, row.missed)
    printed 1 holds, 3 violated, 1 premise fails, 1 vacuous ()
    corrected 2 holds ()
    """

    id: str
    variant: str
    statement: str
    expectation: Expectation
    instances: int
    counts: Mapping[Status, int]
    found: int
    missed: tuple[str, ...]
    outcome: Outcome
    witness: Entry | None
    proofs: Mapping[Proof, int]
    premises: Mapping[str, int]
    nearest: Entry | None
    nearness: float | None
    sample: Sample | None = None
    draws: tuple[Entry, ...] = ()

    @property
    def verdicts(self) -> str:
        """How many there are of each status, in words."""
        return ", ".join(f"{count} {status.value.replace('-', ' ')}" for status, count in self.counts.items() if count)

    @property
    def finding(self) -> str:
        """What came out, in few words: printed and false is news, whoever expected it."""
        if self.sample is not None:
            said = self.sample.support.value
            loud = said.upper() if self.outcome is Outcome.OTHERWISE or self.sample.support is Support.REFUTED else said
            return f"{loud} by {self.sample.draws}"
        if self.expectation is Expectation.OPEN:
            return next((s.value for s in _TELLING if self.counts[s]), Status.UNDECIDED.value)
        if not self.instances:
            return "NOTHING TO CHECK IT ON"
        if self.outcome is not Outcome.EXPECTED:
            return "UNDECIDED" if self.outcome is Outcome.UNDECIDED else "OTHER THAN KNOWN"
        if self.expectation is Expectation.TRUE:
            return "stands"
        if self.expectation is Expectation.VACUOUS:
            return "says nothing"
        return FALSE_IN_PRINT if self.variant == Variant.PRINTED.value else "false"

    def dump(self) -> dict[str, Any]:
        """Return plain JSON data."""
        return {
            "id": self.id,
            "variant": self.variant,
            "expectation": self.expectation.value,
            "instances": self.instances,
            **{status.value: self.counts[status] for status in Status},
            "found": self.found,
            "missed": list(self.missed),
            "outcome": self.outcome.value,
            "finding": self.finding,
            **{proof.value: self.proofs.get(proof, 0) for proof in Proof},
            "premises": dict(self.premises),
            "nearness": _rounded(self.nearness),
            "nearest": None if self.nearest is None else _dump(self.nearest),
            "witness": None if self.witness is None else _dump(self.witness),
            "sample": None if self.sample is None else _sample(self.sample, self.draws),
        }


_TELLING = (Status.VIOLATED, Status.HOLDS, Status.UNDECIDED, Status.VACUOUS, Status.PREMISE_FAILS)
"""What tells most of a claim of which nothing was known: one violation breaks it."""


def _sample(sample: Sample, draws: Iterable[Entry]) -> dict[str, Any]:
    return {
        "says": sample.support.value,
        **{name: getattr(sample, name) for name in ("draws", "better", "worse", "ties")},
        **{name: _rounded(getattr(sample, name)) for name in ("mean", "low", "high", "p")},
        "entries": [_dump(entry) for entry in draws],
    }


def _dump(entry: Entry) -> dict[str, Any]:
    verdict = entry.verdict
    return {
        "source": entry.name or entry.source,
        "position": entry.position,
        "digest": verdict.digest,
        "seed": verdict.seed,
        "measured": _rounded(verdict.measured),
        "bound": _rounded(verdict.bound),
    }


def _rounded(value: float | None) -> float | None:
    return None if value is None or not math.isfinite(value) else float(f"{value:.{_DIGITS}g}")


@dataclass(frozen=True, slots=True)
class Report(Readable):
    """The whole table.

    Attributes
    ----------
    settings : mapping of str to str
        What decides the run.
    rows : tuple of Row
        Sorted by id, what stands in a paper first.
    witnesses : tuple of Witness
        The smallest violations of every claim.

    Examples
    --------
    >>> from dlsched.bounds import verify
    >>> report = verify("hadar/theorem-1", instances=0)
    >>> report.ok
    True
    >>> report.row("hadar/theorem-1").finding
    'FALSE IN PRINT'
    >>> len(report.witnesses)
    3
    """

    settings: Mapping[str, str]
    rows: tuple[Row, ...]
    witnesses: tuple[Witness, ...]

    @property
    def ok(self) -> bool:
        """Whether every claim came out as expected."""
        return all(row.outcome is Outcome.EXPECTED for row in self.rows)

    def row(self, id: str, variant: str | None = None) -> Row:
        """Return one row, the claim's first where no variant is given (KeyError where there is none)."""
        found = [row for row in self.rows if row.id == id and variant in (None, row.variant)]
        if not found:
            raise KeyError((id, variant))
        return found[0]

    def dump(self) -> dict[str, Any]:
        """Return plain JSON data without anything that another run would change."""
        return {"settings": dict(self.settings), "claims": [row.dump() for row in self.rows]}

    def _sections(self) -> Iterable[Section]:
        rows = [(row.id, row.variant, row.finding, row.verdicts) for row in self.rows]
        yield Section("Claims", rows, ("claim", "kind", "finding", "verdicts"))


def tabulate(
    claims: Iterable[Claim[Any]],
    entries: Iterable[Entry],
    settings: Mapping[str, str],
    kept: int,
    parameters: Mapping[str, Any],
) -> Report:
    """Return the table of the given claims.

    Parameters
    ----------
    claims : iterable of Claim
    entries : iterable of Entry
        Sorted by claim and variant.
    settings : mapping of str to str
    kept : int
        Witnesses to keep for each claim.
    parameters : mapping of str to value
        Those that are not as in the paper: of a claim that has one of them nothing is known.
    """
    grouped = {key: list(group) for key, group in groupby(entries, key=lambda e: (e.verdict.claim, e.verdict.variant))}
    rows, witnesses = [], []
    for claim in sorted(claims, key=lambda claim: (claim.id, claim.variant.rank)):
        mine = grouped.get((claim.id, claim.variant), [])
        violated = sorted((entry for entry in mine if entry.verdict.status is Status.VIOLATED), key=_size)
        known = replace(claim, expectation=Expectation.OPEN) if among(claim, parameters) else claim
        rows.append(_row(known, mine, violated))
        witnesses += [entry.verdict.witness for entry in violated if entry.verdict.witness is not None][:kept]
    return Report(settings, tuple(rows), tuple(witnesses))


def _size(entry: Entry) -> int:
    """Return how many characters a violated instance takes; those of one size stay as they come."""
    witness = entry.verdict.witness
    return 0 if witness is None else len(json.dumps(witness.instance))


def _row(claim: Claim[Any], entries: list[Entry], violated: list[Entry]) -> Row:
    counts = Counter(dict.fromkeys(Status, 0))
    counts.update(entry.verdict.status for entry in entries)
    failing = Counter(entry.verdict.reason for entry in entries if entry.verdict.status is Status.PREMISE_FAILS)
    near = [
        (share, entry)
        for entry in entries
        if entry.verdict.status is Status.HOLDS
        and (share := claim.relation.nearness(entry.verdict.measured, entry.verdict.bound)) is not None
    ]
    nearness, nearest = max(near, key=lambda pair: pair[0], default=(None, None))
    confirmed = {entry.name for entry in violated}
    missed = tuple(name for name in claim.counterexamples if name not in confirmed)
    draws, gains = _gains(claim, entries) if claim.sampled else ((), ())
    sample = paired(gains, not claim.guessed) if gains else None
    return Row(
        id=claim.id,
        variant=claim.variant.value,
        statement=claim.statement,
        expectation=claim.expectation,
        instances=len(entries),
        counts=counts,
        found=sum(not entry.name for entry in violated),
        missed=missed,
        outcome=_outcome(claim, counts, missed) if sample is None else _outcome_of(claim, sample),
        witness=violated[0] if violated else None,
        proofs=Counter(entry.verdict.proof for entry in entries if entry.verdict.proof is not None),
        premises={premise.name: failing[premise.name] for premise in claim.premises if failing[premise.name]},
        nearest=nearest,
        nearness=nearness,
        sample=sample,
        draws=draws,
    )


def _gains(claim: Claim[Any], entries: Iterable[Entry]) -> tuple[tuple[Entry, ...], tuple[float, ...]]:
    """Return the entries that have both sides of an average, and by how much each has what the claim says."""
    both = [
        (entry, claim.relation.gain(verdict.measured, verdict.bound))
        for entry in entries
        for verdict in [entry.verdict]
        if verdict.measured is not None and verdict.bound is not None
    ]
    return tuple(entry for entry, _ in both), tuple(gain for _, gain in both)


def _outcome_of(claim: Claim[Any], sample: Sample) -> Outcome:
    """Return the outcome of a claim about an average: few draws decide nothing, and that is no surprise."""
    other = {Expectation.TRUE: Support.REFUTED, Expectation.FALSE: Support.SUPPORTED}.get(claim.expectation)
    return Outcome.OTHERWISE if sample.support is other else Outcome.EXPECTED


def _outcome(claim: Claim[Any], counts: Mapping[Status, int], missed: tuple[str, ...]) -> Outcome:
    if claim.sampled or claim.expectation is Expectation.OPEN:
        return Outcome.EXPECTED
    if not any(counts.values()):
        return Outcome.UNDECIDED
    if claim.expectation is Expectation.FALSE:
        if counts[Status.VIOLATED] and not missed:
            return Outcome.EXPECTED
        return Outcome.UNDECIDED if counts[Status.UNDECIDED] else Outcome.OTHERWISE
    if counts[Status.VIOLATED]:
        return Outcome.OTHERWISE
    wanted = Status.HOLDS if claim.expectation is Expectation.TRUE else Status.VACUOUS
    if counts[wanted]:
        return Outcome.EXPECTED
    return Outcome.UNDECIDED if counts[Status.UNDECIDED] else Outcome.OTHERWISE
