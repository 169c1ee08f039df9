"""Links between the repository's own pages and files lead somewhere; `make links` tries those to elsewhere.

Where on a page a link of the documentation leads is tested on the site, in `test_docs`.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests import paths

PAGES = sorted(
    page
    for folder in (paths.ROOT, *(paths.ROOT / name for name in ("docs", "examples")))
    for page in (folder.glob("*.md") if folder == paths.ROOT else folder.rglob("*.md"))
)

_CODE = re.compile(r"^(`{3,}).*?^\1`*$|`+[^`]*`+", re.DOTALL | re.MULTILINE)
_LINK = re.compile(r"\]\(<?([^)\s>]*)>?\)")
_HEADING = re.compile(r"^#+ (.*)$", re.MULTILINE)


def places(page: Path) -> set[str]:
    """The places of a page, as GitHub calls them."""
    headings = _HEADING.findall(page.read_text(encoding="utf-8"))
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(paths.ROOT).as_posix())
def test_links_within_the_repository(page: Path) -> None:
    text = _CODE.sub("", page.read_text(encoding="utf-8"))
    for link in _LINK.findall(text):
        target, _, place = link.partition("#")
        if re.match(r"\w+:", target):
            continue
        found = (page.parent / target).resolve() if target else page
        assert found.exists(), link
        assert found.is_relative_to(paths.ROOT), link
        assert not place or page.is_relative_to(paths.ROOT / "docs") or place in places(found), link


def test_there_are_pages() -> None:
    assert {"README.md", "CONTRIBUTING.md", "docs/index.md", "docs/claims/hadar.md"} <= {
        page.relative_to(paths.ROOT).as_posix() for page in PAGES
    }
