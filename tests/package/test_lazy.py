"""What is imported when it is first used."""

from __future__ import annotations

import subprocess
import sys

import pytest

pytestmark = pytest.mark.process

SOLVED = """
import sys
from dlsched.algorithms import optimum
from dlsched.models import build, dmlrs, hadar, solve

{work}
assert "scipy.sparse" in sys.modules and "pyomo.common.dependencies" in sys.modules
assert "scipy.stats" not in sys.modules

from pyomo.common.dependencies import scipy
assert scipy.stats.norm.cdf(0) == 0.5 and scipy.integrate.quad and scipy.spatial.distance
"""


@pytest.mark.parametrize(
    "work",
    ['optimum(dmlrs.preset("benchmark", 1, jobs=6))', 'solve(build("hadar/hall", hadar.preset("random", 0)))'],
)
def test_scipy_without_its_distributions(work: str) -> None:
    """Which first imports SciPy, and which Pyomo; through Pyomo all of SciPy is there as it was."""
    done = subprocess.run([sys.executable, "-c", SOLVED.format(work=work)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
