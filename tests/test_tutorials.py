"""Tutorials and other pages do what they say: in order, in one folder, files written piece by piece."""

from __future__ import annotations

from pathlib import Path
from types import FunctionType
from typing import Any

import pytest

from dlsched import relaxations
from tests import paths, snippets

TUTORIALS, PROBLEMS, TRANSFORMATIONS = (
    sorted((paths.ROOT / "docs" / name).glob("*.md")) for name in ("tutorials", "problems", "transformations")
)

SESSIONS = [path for path in PROBLEMS if snippets.blocks(path.read_text(encoding="utf-8"))]

DATA = paths.ROOT / "docs" / "your-data.md"

LONG = {"check-and-cite", "your-theorem"}
"""Half a minute each, of verify and attack for the most part, which have tests of their own."""


def page(path: Path) -> Any:
    marks = [pytest.mark.process, pytest.mark.slow] if "```console" in path.read_text(encoding="utf-8") else []
    if "../shared" in path.read_text(encoding="utf-8"):
        marks.append(pytest.mark.shared_data)
    if path.stem in LONG:
        marks.append(pytest.mark.long)
    return pytest.param(path, id=path.stem, marks=marks)


@pytest.mark.slow
@pytest.mark.parametrize("path", [page(path) for path in (*TUTORIALS, *SESSIONS, DATA, *TRANSFORMATIONS)])
def test_what_a_page_shows(path: Path, tmp_path: Path) -> None:
    known: dict[str, object] = {}
    for language, text in snippets.blocks(path.read_text(encoding="utf-8")):
        if language == "console":
            snippets.run(snippets.session(text), tmp_path)
        elif language != "python":
            with (snippets.place(tmp_path) / language).open("a", encoding="utf-8") as file:
                file.write(text)
        else:
            assert ">>> " in text
            snippets.run_examples(text, path.name, known, snippets.place(tmp_path))


def test_every_transformation_has_a_page() -> None:
    titles = " ".join(path.read_text(encoding="utf-8").partition("\n")[0] for path in TRANSFORMATIONS)
    functions = [name for name in relaxations.__all__ if isinstance(getattr(relaxations, name), FunctionType)]
    assert "relax" in functions
    assert [name for name in functions if f"`{name}`" not in titles] == []
