"""The names that an editor completes are those of the catalog."""

from __future__ import annotations

from typing import get_args

import pytest

from dlsched.models import catalog
from dlsched.models.names import DdljsFormulation, DmlrsFormulation, HadarFormulation, SmdFormulation

NAMES = {"ddljs": DdljsFormulation, "dmlrs": DmlrsFormulation, "hadar": HadarFormulation, "smd": SmdFormulation}


@pytest.mark.parametrize("problem", NAMES)
def test_names_of_formulations(problem: str) -> None:
    assert list(get_args(NAMES[problem])) == [entry.name for entry in catalog() if entry.problem == problem]
