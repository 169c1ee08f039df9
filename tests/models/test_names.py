"""The names that an editor completes, and those that the conventions explain, are those of the catalog."""

from __future__ import annotations

import re
from typing import get_args

import pytest

from dlsched.models import catalog
from dlsched.models.names import DdljsFormulation, DmlrsFormulation, HadarFormulation, SmdFormulation
from tests import paths

NAMES = {"ddljs": DdljsFormulation, "dmlrs": DmlrsFormulation, "hadar": HadarFormulation, "smd": SmdFormulation}


@pytest.mark.parametrize("problem", NAMES)
def test_names_of_formulations(problem: str) -> None:
    assert list(get_args(NAMES[problem])) == [entry.name for entry in catalog() if entry.problem == problem]


def test_the_conventions_explain_every_formulation() -> None:
    """In the first column of a table, which has no other."""
    text = (paths.ROOT / "docs" / "conventions.md").read_text(encoding="utf-8")
    tables = re.findall(r"^## [^\n]*: formulations\n(.*?)(?=^## |\Z)", text, re.DOTALL | re.MULTILINE)
    rows = [line for table in tables for line in table.splitlines() if line.startswith("| `")]
    explained = [name for row in rows for name in re.findall(r"`(.*?)`", row[2:].partition(" | ")[0])]
    assert sorted(explained) == sorted(entry.name for entry in catalog())
