"""Write into the pages beside this file what the claims say and what a run of `verify` found, under each heading.

Usage: ``python docs/claims/update.py REPORT.json [REPORT.json ...]``, where a report is what ``dlsched verify --json``
prints; of a claim that several have, the one on most instances counts, and a claim that none has stays as it is. A page
is named after a paper and has one section ``## <claim id>`` for each of its claims; the prose of a section is left
alone, and what stands between the two marks below its heading is made anew.
"""

from __future__ import annotations

import json
import re
import sys
import textwrap
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from dlsched.bounds import Claim, Expectation, claims

FOLDER = Path(__file__).parent
BEGIN, END = "<!-- made by update.py -->", "<!-- end -->"
SECTION = re.compile(rf"^## (?P<id>\S+)\n+(?:{BEGIN}\n.*?{END}\n+)?", re.DOTALL | re.MULTILINE)
WIDTH = 120
"""Characters of a line, as in the rest of the documents."""

_JOINT = "\N{WORD JOINER}"
"""Stands for a space at which no line ends."""

KNOWN = {
    Expectation.TRUE: "true",
    Expectation.FALSE: "**false**",
    Expectation.VACUOUS: "says nothing",
    Expectation.OPEN: "not known",
}


def papers() -> dict[str, list[str]]:
    """Return the ids of each paper's claims, by the name of its page."""
    found: dict[str, list[str]] = {}
    for id in dict.fromkeys(claim.id for claim in claims()):
        found.setdefault(id.partition("/")[0], []).append(id)
    return found


def sections(text: str) -> list[str]:
    """Return the ids that a page has sections for."""
    return [match["id"] for match in SECTION.finditer(text)]


def updated(text: str, rows: dict[tuple[str, str], dict[str, Any]]) -> str:
    """Return a page with what is made anew."""
    known = {id for id, _ in rows}
    return SECTION.sub(lambda match: _head(match["id"], rows) if match["id"] in known else match[0], text)


def _head(id: str, rows: dict[tuple[str, str], dict[str, Any]]) -> str:
    variants = [claim for claim in claims() if claim.id == id]
    made = [
        line
        for c in variants
        for line in (*stated(c, judged(c, rows[c.key])), *_item(_found(c, rows[c.key]), deeper=True))
    ]
    return "\n".join([f"## {id}", "", BEGIN, *made, END, "", ""])


def judged(claim: Claim[Any], row: dict[str, Any]) -> str:
    """Return what is known of a claim in a word, or, of an average that its draws leave open, how many they are."""
    if not claim.sampled:
        return KNOWN[claim.expectation]
    sample = row["sample"]
    if sample is None:
        return f"open: undecided on {row['undecided']} of {row['instances']} draws"
    if sample["says"] != "undecided":
        return KNOWN[claim.expectation]
    return f"open: undecided by {sample['draws']} draws{' of guessed numbers' if claim.guessed else ''}"


def stated(claim: Claim[Any], known: str) -> Iterator[str]:
    """Yield the lines that say what a claim says, with what is known of it."""
    yield from _item(f"{claim.variant.value.capitalize()}, {known}. {claim.paper}: {claim.statement}.")
    hypotheses = [
        f"{premise.name} ({premise.source})" if premise.source else premise.name for premise in claim.premises
    ]
    if hypotheses:
        yield from _item(f"Hypotheses: {'; '.join(hypotheses)}.", deeper=True)
    if claim.open:
        yield from _item(f"Left open in print: {claim.open}.", deeper=True)


def _found(claim: Claim[Any], row: dict[str, Any]) -> str:
    """Return what a run found, in a sentence or two."""
    sample = row["sample"]
    if sample is not None:
        pairs = f"{sample['better']} for, {sample['worse']} against, {sample['ties']} equal"
        mean = f"mean difference {sample['mean']:.4g}"
        if sample["low"] is not None:
            mean += f", between {sample['low']:.4g} and {sample['high']:.4g} at 99 %"
        told = f"{sample['says'].capitalize()} by {sample['draws']} paired draws: {pairs}; {mean}."
        if left := row["undecided"] - sample["draws"]:
            told += f" {left} of {row['instances']} draws hit a limit, and have no sides to compare."
        return told
    names = {"holds": "held", "violated": "violated", "premise-fails": "outside the hypotheses"}
    names |= {"vacuous": "could not be violated", "undecided": "undecided"}
    counts = ", ".join(f"{row[status]} {name}" for status, name in names.items() if row[status])
    told = [f"On {row['instances']} instances: {counts or 'nothing'}."]
    if row["nearness"] is not None and not row["violated"]:
        nearest = row["nearest"]
        told.append(f"Nearest: {row['nearness']:.4g} of the bound ({nearest['source']} {nearest['position']}).")
    if row["witness"] is not None:
        witness = row["witness"]
        shipped = witness["source"] in claim.counterexamples + claim.golden
        where = f"`dlsched replay {witness['source']}`" if shipped else f"{witness['source']} {witness['position']}"
        sides = f"{_side(witness['measured'])} {claim.relation.value} {_side(witness['bound'])}"
        told.append(f"Smallest witness: {sides} fails ({where}).")
        first = claim.counterexamples[0] if claim.counterexamples else witness["source"]
        if witness["source"] != first:
            told.append(f"{'First shipped' if shipped else 'Shipped'}: `dlsched replay {first}`.")
    return " ".join(told)


def _side(value: float | None) -> str:
    """Return a number; JSON has no infinity, which a report leaves out."""
    return "infinity" if value is None else f"{value:.6g}"


def _item(text: str, deeper: bool = False) -> Iterator[str]:
    mark = "  - " if deeper else "- "
    # A command is not broken over lines.
    whole = re.sub(r"`[^`]*`", lambda code: code[0].replace(" ", _JOINT), re.sub(r"(?<!\.)\.\.(?!\.)", ".", text))
    for line in textwrap.wrap(
        whole,
        WIDTH,
        initial_indent=mark,
        subsequent_indent=" " * len(mark),
        break_long_words=False,
        break_on_hyphens=False,
    ):
        yield line.replace(_JOINT, " ")


def main(reports: Iterable[Path]) -> None:
    """Write every page anew."""
    found = [row for report in reports for row in json.loads(report.read_text(encoding="utf-8"))["claims"]]
    rows = {(row["id"], row["variant"]): row for row in sorted(found, key=lambda row: row["instances"])}
    for paper in papers():
        page = FOLDER / f"{paper}.md"
        page.write_text(updated(page.read_text(encoding="utf-8"), rows), encoding="utf-8")


if __name__ == "__main__":
    main(map(Path, sys.argv[1:]))
