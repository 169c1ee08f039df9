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
from pathlib import Path

import numpy as np
import pytest

pytestmark = pytest.mark.process

SCRIPT = Path(__file__).with_name("sameness.py")
FEATURES = [] if platform.machine() != "x86_64" else np.show_config(mode="dicts")["SIMD Extensions"]["found"]  # type: ignore[index]
OLD, NEWER = "an old processor", "a newer BLAS kernel"
OTHERS = {
    OLD: {
        "OPENBLAS_CORETYPE": "Prescott",
        "NPY_DISABLE_CPU_FEATURES": " ".join(FEATURES),
        "GLIBC_TUNABLES": "glibc.cpu.hwcaps=-AVX2,-FMA,-AVX512F,-FMA4",
    },
    NEWER: {"OPENBLAS_CORETYPE": "Haswell" if "X86_V3" in FEATURES else "Prescott"},
}
USUAL = {name: value for name, value in os.environ.items() if not any(name in other for other in OTHERS.values())}
"""The environment of an unchanged process, also where the tests themselves run in another one."""


def digests(changed: dict[str, str]) -> dict[str, str]:
    """What the script prints in an environment."""
    done = subprocess.run(
        [sys.executable, SCRIPT],
        env={**USUAL, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", **changed},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return dict(line.split("\t") for line in done.stdout.splitlines())


@pytest.fixture(scope="module")
def found() -> dict[str, dict[str, str]]:
    environments = {"this": {}, **OTHERS}
    with ThreadPoolExecutor(2) as pool:
        return dict(zip(environments, pool.map(digests, environments.values()), strict=True))


@pytest.mark.parametrize("other", OTHERS)
def test_all_is_the_same(found: dict[str, dict[str, str]], other: str) -> None:
    here, there = found["this"], found[other]
    assert here.keys() == there.keys()
    assert len(here) > 500
    assert not [name for name in here if here[name] != there[name] and not name.startswith("control")]


@pytest.mark.skipif("X86_V3" not in FEATURES, reason="this processor has no instructions to leave out")
@pytest.mark.parametrize("control", ["control blas", "control numpy", "control libm"])
def test_the_old_processor_is_another_one(found: dict[str, dict[str, str]], control: str) -> None:
    assert found["this"][control] != found[OLD][control]
