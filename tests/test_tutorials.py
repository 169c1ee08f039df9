"""Every tutorial does what it says: commands and Python are run in order, in one folder."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests import paths, snippets

FOLDER = paths.ROOT / "docs" / "tutorials"


def page(path: Path) -> Any:
    marks = [pytest.mark.process] if "```console" in path.read_text(encoding="utf-8") else []
    if "../shared" in path.read_text(encoding="utf-8"):
        marks.append(pytest.mark.shared_data)
    return pytest.param(path, id=path.stem, marks=marks)


@pytest.mark.slow
@pytest.mark.parametrize("path", [page(path) for path in sorted(FOLDER.glob("*.md"))])
def test_what_a_tutorial_shows(path: Path, tmp_path: Path) -> None:
    known: dict[str, object] = {}
    for language, text in snippets.blocks(path.read_text(encoding="utf-8")):
        if language == "console":
            snippets.run(snippets.session(text), tmp_path)
        else:
            assert ">>> " in text
            snippets.run_examples(text, path.name, known, snippets.place(tmp_path))
