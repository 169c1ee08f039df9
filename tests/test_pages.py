"""The pages on the claims: a section for each, with what the claims say now."""

from __future__ import annotations

import importlib.util
from types import ModuleType
from typing import Any

import pytest

from dlsched.bounds import Claim, claims
from tests import paths

FOLDER = paths.ROOT / "docs" / "claims"


def maker() -> ModuleType:
    spec = importlib.util.spec_from_file_location("update", FOLDER / "update.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


UPDATE = maker()
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
