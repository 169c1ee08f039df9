"""Deterministic runs; tests that need shared data, TeX or a browser, deselected, and said so, where that is missing."""

from __future__ import annotations

import fcntl
import gc
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from tests.forks import OWN, Fresh

ROOT = Path(__file__).resolve().parents[1]
SHARED = ROOT.parent / "shared"

settings.register_profile(
    "deterministic",
    derandomize=True,
    deadline=None,
    database=None,
    max_examples=60,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile("quick", settings.get_profile("deterministic"), max_examples=15)
settings.register_profile("audit", settings.get_profile("deterministic"), max_examples=300)
settings.load_profile("deterministic")

# Tables are as wide, and pages show them so, whatever runs the tests.
os.environ["COLUMNS"] = "80"

# What the tests interrupt would ignore it as these do, where a script's shell started them by `&`, or nohup.
for number in (signal.SIGINT, signal.SIGHUP):
    if signal.getsignal(number) is signal.SIG_IGN:
        signal.signal(number, lambda *_: None)

NEEDED = {
    "shared_data": (SHARED.is_dir(), "the public data sets in ../shared"),
    "tex": (shutil.which("pdflatex") is not None, "pdflatex, which .ci/run installs (apt: texlive-latex-base)"),
    "browser": (shutil.which("chromium") is not None, "chromium, which .ci/run installs (apt: chromium)"),
}
"""What tests with a marker need: whether it is there, and what it is."""

_deselected: dict[str, int] = {}


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "shared_data: needs the public data sets in ../shared beside the checkout")
    config.addinivalue_line("markers", "process: runs commands in processes of their own, or installs something")
    config.addinivalue_line("markers", "tex: compiles LaTeX with pdflatex")
    config.addinivalue_line("markers", "browser: looks at the documentation in chromium")
    config.addinivalue_line("markers", "slow: takes a fifth of a second and more; `make quick` does without")
    config.addinivalue_line("markers", "long: like some that stay, or like what verify asks; for `make audit`")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    for marker, (there, _) in NEEDED.items():
        needing = [item for item in items if not there and item.get_closest_marker(marker)]
        if needing:
            _deselected[marker] = len(needing)
            config.hook.pytest_deselected(items=needing)
            items[:] = [item for item in items if item not in needing]
    # What waits for the site and a browser, over a minute, comes first: in the end one process would do it alone.
    items.sort(key=lambda item: item.get_closest_marker("browser") is None)


def pytest_collection_finish() -> None:
    """Leave what was collected, objects of thousands of tests, out of every later look for garbage.

    Models are of hundreds of thousands of objects: a look after each 700 new ones takes a tenth of the time of tests.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000)


def pytest_report_collectionfinish() -> list[str]:
    return [
        f"{what}: there, and the tests that need it run"
        if there
        else f"deselected {_deselected.get(marker, 0)} tests that need {what}, which is not there"
        for marker, (there, what) in NEEDED.items()
    ]


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder with the public data sets."""
    return SHARED


@pytest.fixture(scope="session")
def fresh() -> Iterator[Fresh]:
    """A process with all modules and nothing done yet, whose forks are as fresh."""
    with Fresh(OWN) as process:
        yield process


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The documentation as a site, built once a session: by whichever process of pytest-xdist asks first, for all."""
    own = tmp_path_factory.getbasetemp()
    folder = (own.parent if "PYTEST_XDIST_WORKER" in os.environ else own) / "site"
    with folder.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        said = folder.with_suffix(".txt")
        if not said.exists():
            command = [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", str(ROOT / "docs"), str(folder)]
            build = subprocess.run(command, capture_output=True, text=True, check=False)
            said.write_text(f"{build.stderr}exit code {build.returncode}\n", encoding="utf-8")
    assert said.read_text(encoding="utf-8") == "exit code 0\n"
    return folder
