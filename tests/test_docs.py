"""The documentation builds as a site, without a warning and with nothing from elsewhere; a browser shows it well."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import threading
from functools import partial
from html import unescape
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from queue import Queue
from typing import Any
from urllib.parse import quote

import pytest

from tests import paths

pytestmark = [pytest.mark.process, pytest.mark.slow]

PHONE, DESK = 390, 1280
"""Widths of a window in pixels: a usual phone's, a usual laptop's."""
FLAWS = ("beyond", "elsewhere", "broken", "faint")
"""Pixels to scroll sideways, addresses outside the site, pictures that are not there, text without contrast."""
TIMEOUT = 300
"""Seconds until a browser is given up that sends nothing: ten times what a loaded machine took."""


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


class _Handler(SimpleHTTPRequestHandler):
    """Serves the site, takes what the browser found, and tells nothing."""

    found: Queue[str]

    def do_POST(self) -> None:
        self.found.put(self.rfile.read(int(self.headers["Content-Length"])).decode())
        self.send_response(204)
        self.end_headers()

    def log_message(self, format: str, *args: Any) -> None: ...


@pytest.fixture(scope="module")
def seen(site: Path, tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    """What a browser makes of each page, on a phone and a desk, light and dark."""
    pages = sorted(str(page.relative_to(site)) for page in site.rglob("*.html"))
    served = tmp_path_factory.mktemp("served") / "site"
    shutil.copytree(site, served)
    # Frames of one origin can be looked into.
    shutil.copy(Path(__file__).with_name("browser.html"), served)
    asked = quote(json.dumps({"pages": pages, "widths": [PHONE, DESK], "themes": ["light", "dark"]}))
    _Handler.found = Queue()
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(_Handler, directory=served)) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        command = ["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr"]
        command += [f"--user-data-dir={served.parent / 'profile'}"]
        command += [f"http://127.0.0.1:{server.server_port}/browser.html#{asked}"]
        with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as browser:
            try:
                looks: list[dict[str, Any]] = json.loads(_Handler.found.get(timeout=TIMEOUT))
            finally:
                browser.terminate()
                told = browser.communicate()[1]
                server.shutdown()
    assert [line for line in told.splitlines() if ":CONSOLE" in line] == []
    assert len(looks) == 4 * len(pages), looks
    return looks


@pytest.mark.browser
def test_in_a_browser(seen: list[dict[str, Any]]) -> None:
    """No page scrolls sideways, asks elsewhere, lacks a picture, or has text that hardly stands out."""
    flaws = [(look["page"], look["width"], look["theme"], flaw, look[flaw]) for look in seen for flaw in FLAWS]
    assert [found for found in flaws if found[-1]] == []
    assert {(look["theme"], look["dark"]) for look in seen} == {("light", False), ("dark", True)}
    assert {look["width"] for look in seen} == {PHONE, DESK}
