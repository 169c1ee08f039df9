"""The examples run and show what they promise."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests import paths

pytestmark = pytest.mark.process

EXAMPLES = paths.ROOT / "examples"
PROMISED = {
    "where_a_bound_breaks.py": ["violated", "holds", "2"],
    "where_rounding_fails.py": ["0.0279", "0.1317", "0.4316", "0.937500"],
    "rings_on_your_network.py": ["6.0000", "5.0000", "0.0000"],
    "cutting_stock.py": ["452.25 rolls, bound 452.25", "whole rolls        453, and no fewer than 453"],
    "own_model.py": ["LP bound  10.2", "dual      10.2"],
}


def test_every_example_is_listed() -> None:
    assert {path.name for path in EXAMPLES.glob("*.py")} == set(PROMISED)


@pytest.mark.parametrize("name", PROMISED)
def test_example(name: str) -> None:
    done = subprocess.run([sys.executable, EXAMPLES / name], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    for text in PROMISED[name]:
        assert text in done.stdout
