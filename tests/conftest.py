"""Deterministic runs, and tests that need the shared data deselected, and said so, where it is missing."""

from __future__ import annotations

import gc
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

SHARED = Path(__file__).resolve().parents[2] / "shared"

settings.register_profile(
    "deterministic",
    derandomize=True,
    deadline=None,
    database=None,
    max_examples=60,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile("quick", settings.get_profile("deterministic"), max_examples=15)
settings.load_profile("deterministic")

_deselected: list[str] = []


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "shared_data: needs the public data sets in ../shared beside the checkout")
    config.addinivalue_line("markers", "process: runs commands in processes of their own, or installs something")
    config.addinivalue_line("markers", "slow: takes seconds of the processor")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if SHARED.is_dir():
        return
    needing = [item for item in items if item.get_closest_marker("shared_data")]
    _deselected.extend(item.nodeid for item in needing)
    config.hook.pytest_deselected(items=needing)
    items[:] = [item for item in items if item not in needing]


def pytest_collection_finish() -> None:
    """Leave what was collected, objects of thousands of tests, out of every later look for garbage."""
    gc.collect()
    gc.freeze()


def pytest_report_collectionfinish() -> str:
    if _deselected:
        return f"deselected {len(_deselected)} tests that need the public data sets in ../shared, which is not there"
    return "the public data sets in ../shared are there: the tests that need them run"


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder with the public data sets."""
    return SHARED
