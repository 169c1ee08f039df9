"""Instances, runs, optima and verdicts do not depend on the processor's instructions.

One machine stands in for others: OpenBLAS takes the kernels of an older processor, NumPy leaves its wide instructions
alone, and so does the C library.
"""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from tests import paths
from tests.longer import longer

pytestmark = pytest.mark.process

FEATURES = [] if platform.machine() != "x86_64" else np.show_config(mode="dicts")["SIMD Extensions"]["found"]  # type: ignore[index]
HERE, OLD, NEWER = "this processor", "an old processor", "a newer BLAS kernel"
PROCESSORS: dict[str, dict[str, str]] = {
    HERE: {},
    OLD: {
        "OPENBLAS_CORETYPE": "Prescott",
        "NPY_DISABLE_CPU_FEATURES": " ".join(FEATURES),
        "GLIBC_TUNABLES": "glibc.cpu.hwcaps=-AVX2,-FMA,-AVX512F,-FMA4",
    },
    NEWER: {"OPENBLAS_CORETYPE": "Haswell" if "X86_V3" in FEATURES else "Prescott"},
}
USUAL = {name: value for name, value in os.environ.items() if not any(name in own for own in PROCESSORS.values())}
"""The environment of an unchanged process, also where the tests themselves run in another one."""


def digests(processor: str) -> dict[str, str]:
    """What the script prints in the environment of a processor."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.sameness"],
        cwd=paths.ROOT,
        env={**USUAL, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", **PROCESSORS[processor]},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return dict(line.split("\t") for line in done.stdout.splitlines())


@pytest.mark.parametrize("other", longer([OLD, NEWER], NEWER))
def test_all_is_the_same(other: str) -> None:
    with ThreadPoolExecutor(2) as pool:
        here, there = pool.map(digests, (HERE, other))
    assert here.keys() == there.keys()
    assert len(here) > 500
    different = {name for name in here if here[name] != there[name]}
    assert not [name for name in different if not name.startswith("control")]
    if other == OLD and "X86_V3" in FEATURES:
        assert different >= {"control blas", "control numpy", "control libm"}
