"""Write docs/figures.md anew: the picture of each figure, what its paper says, and what a run of `reproduce` measured.

Usage: ``python docs/figures/update.py REPORT.json [REPORT.json ...]``, where a report is what ``dlsched reproduce
--json`` prints; of a figure that several have, the last counts. Paths in a report are from the folder where this is
called. The pictures that they name are copied beside this file.
"""

from __future__ import annotations

import json
import shutil
import sys
import textwrap
from collections.abc import Iterable, Iterator
from itertools import groupby
from pathlib import Path
from typing import Any

from dlsched.figures import Figure, figures

FOLDER = Path(__file__).parent
PAGE = FOLDER.with_suffix(".md")
WIDTH = 120
"""Characters of a line, as in the rest of the documents."""

HEAD = """# The papers' figures, measured

What each paper reports, and what this code measures in its setting. Every picture comes from `dlsched reproduce`, with
paired draws: all curves of a draw are of the same instance. Bars are 99 % intervals of a mean. A statement of a paper
*holds*, or is *violated*, where the 99 % interval of the paired differences and a two-sided sign test agree, and is
*undecided* otherwise, and where what is drawn is guessed because the paper does not print it; the points of a seed have
their instance in common, and count as one draw, their mean. Its verdict in the paper's own setting, over more draws, is
that of the claim beside it. Nothing is tuned to match: what a paper leaves open is said below its figure. This page is
made by `make gallery`.
"""


def page(report: Iterable[dict[str, Any]]) -> str:
    """Return the page of a report."""
    rows = {row["figure"]: row for row in report}
    told = [HEAD]
    for paper, entries in groupby(figures(), key=paper_of):
        told += [f"## {paper}", ""]
        for entry in entries:
            told += [*section(entry), *found(entry, rows[entry.name]), ""]
    return "\n".join(told)


def paper_of(figure: Figure) -> str:
    """Return the name of the paper that a figure stands in."""
    return figure.paper.rpartition(", ")[0]


def section(figure: Figure) -> Iterator[str]:
    """Yield the lines that say what a figure shows."""
    yield from (f"### {figure.name}: {figure.title}", "")
    yield from _item("The paper", figure.says)


def found(figure: Figure, row: dict[str, Any]) -> Iterator[str]:
    """Yield the lines that say what was measured, and the picture."""
    yield from _item("Measured", row["measured"], _how_often(figure, row))
    if row["note"] and row["curves"]:
        yield from _item("Assumed", row["note"])
    claims = list(dict.fromkeys(statement["claim"] for statement in row["statements"] if statement["claim"]))
    if claims:
        yield from _item("Claims", ", ".join(f"`{claim}`" for claim in claims))
    for picture in pictures(row):
        yield from ("", f"![{row['paper']}](figures/{picture.name})")


def _how_often(figure: Figure, row: dict[str, Any]) -> str:
    """Return how many draws a point has, and how many points are drawn where these are not all."""
    draws = sorted({curve["draws"] for curve in row["curves"]})
    if not draws or figure.seeds == 1:
        return ""
    many = f"{'-'.join(map(str, dict.fromkeys([draws[0], draws[-1]])))} draw{'s' if draws[-1] > 1 else ''} a point"
    points = len({curve["x"] for curve in row["curves"]})
    return f" ({many}{'' if points == len(figure.points) else f', {points} of {len(figure.points)} points'})"


def pictures(row: dict[str, Any]) -> list[Path]:
    """Return the pictures of a row that a page shows."""
    return [Path(file) for file in row["files"] if file.endswith(".png")]


def _item(name: str, text: str, aside: str = "") -> Iterator[str]:
    whole = f"**{name}**{aside}: {text}{'' if text.endswith('.') else '.'}"
    yield from textwrap.wrap(
        whole, WIDTH, initial_indent="- ", subsequent_indent="  ", break_long_words=False, break_on_hyphens=False
    )


def main(reports: Iterable[Path]) -> None:
    """Write the page, and the pictures beside this file."""
    read = (json.loads(path.read_text(encoding="utf-8")) for path in reports)
    report = list({row["figure"]: row for rows in read for row in rows}.values())
    text = page(report)
    shown = [picture for row in report for picture in pictures(row)]
    for old in FOLDER.glob("*.png"):
        old.unlink()
    for picture in shown:
        shutil.copyfile(picture, FOLDER / picture.name)
    PAGE.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(map(Path, sys.argv[1:]))
