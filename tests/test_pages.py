"""The pages on claims and figures: a section for each, with what they say now."""

from __future__ import annotations

import importlib.util
import re
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from dlsched.bounds import Claim, Expectation, claim, claims
from dlsched.figures import Figure, figures
from tests import paths

FOLDER = paths.ROOT / "docs" / "claims"
PICTURES = paths.ROOT / "docs" / "figures"


def maker(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location("update", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


UPDATE = maker(FOLDER / "update.py")
GALLERY = maker(PICTURES / "update.py")
BASELINE = claim("gadget/baselines-fifo")
PAGES = {paper: (FOLDER / f"{paper}.md").read_text(encoding="utf-8") for paper in UPDATE.papers()}


@pytest.mark.parametrize("paper", PAGES)
def test_every_claim_has_its_section(paper: str) -> None:
    assert UPDATE.sections(PAGES[paper]) == UPDATE.papers()[paper]


@pytest.mark.parametrize("stated", claims(), ids=lambda claim: f"{claim.id} {claim.variant.value}")
def test_pages_say_what_the_claims_say(stated: Claim[Any]) -> None:
    """`make pages` writes them anew."""
    lines = PAGES[stated.id.partition("/")[0]].splitlines()
    begin = lines.index(f"## {stated.id}")
    end = lines.index(UPDATE.END, begin)
    known = UPDATE.KNOWN[stated.expectation]
    if stated.sampled:
        heads = re.findall(rf"^- {stated.variant.capitalize()}, (.*?)\.", "\n".join(lines[begin:end]), re.MULTILINE)
        assert known in heads or any(head.startswith("open: undecided ") for head in heads)
        known = heads[0]
    assert "\n".join(UPDATE.stated(stated, known)) in "\n".join(lines[begin:end])


@pytest.mark.parametrize(
    ("guessed", "sample", "head"),
    [
        (False, None, "open: undecided on 5 of 6 draws"),
        (False, "undecided", "open: undecided by 4 draws"),
        (True, "undecided", "open: undecided by 4 draws of guessed numbers"),
        (False, "supported", "true"),
    ],
)
def test_an_average_that_draws_leave_open_is_said_to_be_so(guessed: bool, sample: str | None, head: str) -> None:
    """Not what is expected of it."""
    average = replace(BASELINE, expectation=Expectation.TRUE, guessed=guessed)
    found = {"says": sample, "draws": 4, "better": 3, "worse": 1, "ties": 0, "mean": 1.0, "low": -1.0, "high": 3.0}
    row: dict[str, Any] = {"instances": 6, "undecided": 5, "holds": 0, "violated": 0, "premise-fails": 1, "vacuous": 0}
    row |= {"sample": found if sample else None, "nearness": None, "witness": None}
    rows = {c.key: row for c in claims()} | {BASELINE.key: row}
    assert UPDATE.judged(average, row) == head
    page = UPDATE.updated(f"## {BASELINE.id}\n\nWhy.\n", rows)
    told = f"{sample.capitalize()} by 4 paired draws: 3 for, 1 against" if sample else "5 undecided"
    assert told in page
    page = " ".join(page.split())
    assert ("1 of 6 draws hit a limit" in page) == (sample is not None)


REFUTED = [stated for stated in claims() if stated.counterexamples and not stated.sampled]


@pytest.mark.parametrize("stated", REFUTED, ids=lambda claim: f"{claim.id} {claim.variant.value}")
def test_pages_name_the_first_witness_of_what_they_refute(stated: Claim[Any]) -> None:
    """The order of a claim's witnesses may change after its page was made."""
    page = PAGES[stated.id.partition("/")[0]]
    head = page[page.index(f"## {stated.id}\n") :].partition(UPDATE.END)[0]
    found = head[head.index(f"- {stated.variant.capitalize()}, ") :].partition("\n- ")[0]
    assert "violated" in found
    assert f"`dlsched replay {stated.counterexamples[0]}`" in found


def test_what_is_made_anew_leaves_the_prose_alone() -> None:
    page = "# Paper\n\n## hadar/lemma-1\n\nWhy.\n"
    row: dict[str, Any] = {"instances": 1, "nearness": None, "witness": None, "sample": None}
    row |= {"holds": 1, "violated": 0, "premise-fails": 0, "vacuous": 0, "undecided": 0}
    rows = {claim.key: row for claim in claims()}
    once = UPDATE.updated(page, rows)
    assert once.startswith(f"# Paper\n\n## hadar/lemma-1\n\n{UPDATE.BEGIN}\n- Printed, true. ")
    assert once.endswith(f"{UPDATE.END}\n\nWhy.\n")
    assert "On 1 instances: 1 held." in once
    assert UPDATE.updated(once, rows) == once
    assert UPDATE.updated(once, {}) == once


@pytest.mark.parametrize("figure", figures(), ids=lambda figure: figure.name)
def test_every_figure_has_its_section(figure: Figure) -> None:
    """`make gallery` writes it anew."""
    page = GALLERY.PAGE.read_text(encoding="utf-8")
    assert "\n".join(GALLERY.section(figure)) in page
    shown = f"(figures/{figure.name.replace('/', '-')}.png)" in page
    assert shown == (figure.draw is not None)


def test_the_page_of_figures_shows_what_is_there_and_no_other() -> None:
    named = re.findall(r"\]\(figures/([^)]*)\)", GALLERY.PAGE.read_text(encoding="utf-8"))
    assert sorted(named) == sorted(path.name for path in PICTURES.glob("*.png"))


@pytest.mark.parametrize(
    ("draws", "points", "how"),
    [
        ((3, 3, 3, 3, 3), (1, 2, 4, 8, 16), "3 draws a point"),
        ((1, 3), (1, 16), "1-3 draws a point, 2 of 5 points"),
        ((1, 1), (4, 4), "1 draw a point, 1 of 5 points"),
    ],
)
def test_a_figure_on_its_page(draws: tuple[int, ...], points: tuple[int, ...], how: str) -> None:
    row = {
        "paper": "Toy, Fig. 1",
        "measured": "a 5 at 1.",
        "note": "chosen",
        "files": ["out/toy-1.csv", "out/toy-1.png"],
    }
    row |= {"curves": [{"x": x, "draws": count} for x, count in zip(points, draws, strict=True)]}
    row |= {"statements": [{"claim": "toy/claim"}, {"claim": ""}]}
    (drawn,) = (figure for figure in figures() if figure.name == "gadget/5")
    assert list(GALLERY.found(drawn, row)) == [
        f"- **Measured** ({how}): a 5 at 1.",
        "- **Assumed**: chosen.",
        "- **Claims**: `toy/claim`.",
        "",
        "![Toy, Fig. 1](figures/toy-1.png)",
    ]
    (fixed,) = (figure for figure in figures() if figure.name == "hadar/1")
    assert next(iter(GALLERY.found(fixed, row))) == "- **Measured**: a 5 at 1."
