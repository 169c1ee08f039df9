"""The documentation builds as a site, without a warning and without anything from elsewhere."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from html import unescape
from pathlib import Path

import pytest

from tests import paths

pytestmark = [pytest.mark.process, pytest.mark.slow]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", str(paths.ROOT / "docs"), str(folder)]
    build = subprocess.run(command, capture_output=True, text=True, check=False)
    assert build.stderr.splitlines() == []
    assert build.returncode == 0
    return folder


def test_every_page_is_two_clicks_away(site: Path) -> None:
    """The side of each page lists all the others."""
    linked = set(re.findall(r'href="([^"#:]+\.html)', (site / "index.html").read_text(encoding="utf-8")))
    pages = {str(page.relative_to(site)) for page in site.rglob("*.html")}
    assert pages - linked - {"index.html"} == set()


def test_links_within_the_site_lead_somewhere(site: Path) -> None:
    for page in site.rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        for target, place in re.findall(r'href="([^"#:?]*)[^"#:]*(?:#([^"]*))?"', text):
            found = (page.parent / target).resolve() if target else page
            assert found.exists(), (page.name, target)
            if place and found.suffix == ".html":
                assert f'id="{place}"' in found.read_text(encoding="utf-8"), (page.name, target, place)


def test_nothing_is_fetched_from_elsewhere(site: Path) -> None:
    for page in site.rglob("*.html"):
        fetched = re.findall(r'(?:src|<link[^>]* href)="(https?:[^"]*)"', page.read_text(encoding="utf-8"))
        assert fetched == [], page.name


NOTEBOOKS = sorted((paths.ROOT / "docs" / "notebooks").glob("*.ipynb"))


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_ran_when_the_site_was_built(path: Path, site: Path) -> None:
    """A cell that fails, or an assertion of its last one, ends the build; nothing is shown that was stored before."""
    cells = [cell for cell in json.loads(path.read_text(encoding="utf-8"))["cells"] if cell["cell_type"] == "code"]
    assert all(cell["outputs"] == [] and cell["execution_count"] is None for cell in cells)
    assert "assert" in "".join(cells[-1]["source"])
    told = [cell["metadata"]["mystnb"]["image"]["alt"] for cell in cells if "mystnb" in cell["metadata"]]
    page = unescape((site / "notebooks" / f"{path.stem}.html").read_text(encoding="utf-8"))
    assert re.findall('<img alt="([^"]*)"', page) == told
    assert len(told) >= 4
    assert "stderr" not in page
