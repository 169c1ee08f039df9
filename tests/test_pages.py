"""The pages on claims and figures: a section for each, with what they say now."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from dlsched.bounds import Claim, claims
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
PAGES = {paper: (FOLDER / f"{paper}.md").read_text(encoding="utf-8") for paper in UPDATE.papers()}


@pytest.mark.parametrize("paper", PAGES)
def test_every_claim_has_its_section(paper: str) -> None:
    assert UPDATE.sections(PAGES[paper]) == UPDATE.papers()[paper]


@pytest.mark.parametrize("claim", claims(), ids=lambda claim: f"{claim.id} {claim.variant.value}")
def test_pages_say_what_the_claims_say(claim: Claim[Any]) -> None:
    """`make pages` writes them anew."""
    lines = PAGES[claim.id.partition("/")[0]].splitlines()
    said = list(UPDATE.stated(claim))
    begin = lines.index(f"## {claim.id}")
    end = lines.index(UPDATE.END, begin)
    assert "\n".join(said) in "\n".join(lines[begin:end])


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


def test_a_figure_on_its_page() -> None:
    row = {
        "paper": "Toy, Fig. 1",
        "measured": "a 5 at 1.",
        "note": "chosen",
        "files": ["out/toy-1.csv", "out/toy-1.png"],
    }
    row |= {"curves": [{"draws": 3}, {"draws": 3}], "statements": [{"claim": "toy/claim"}, {"claim": ""}]}
    assert list(GALLERY.found(row)) == [
        "- **Measured** (3 draws a point): a 5 at 1.",
        "- **Assumed**: chosen.",
        "- **Claims**: `toy/claim`.",
        "",
        "![Toy, Fig. 1](figures/toy-1.png)",
    ]
