"""What a terminal is told while a command is at work."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from dlsched.cli import output
from tests.cli.conftest import Command


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What a terminal would be told beside a spinner, in order."""
    texts: list[str] = []

    @contextmanager
    def waiting(text: str) -> Iterator[Callable[[str], None]]:
        texts.append(text)
        yield lambda news: None

    monkeypatch.setattr(output, "waiting", waiting)
    return texts


@pytest.mark.parametrize(
    "words",
    [
        "show hadar/hall instance.json",
        "solve hadar/hall instance.json",
        "explain hadar/hall instance.json",
        "optimum instance.json",
        "optimum hadar instance.json",
        "run hadar instance.json",
        "run fifo instance.json",
        "check instance.json schedule.json",
        "plot schedule instance.json schedule.json --out x.svg",
        "plot use instance.json schedule.json --out x.svg",
        "plot prices instance.json hadar --out x.svg",
        "compare instance.json fifo --time-limit 1",
        "compare instance.json --policies fifo",
        "verify hadar/lemma-1 --on instance.json",
    ],
)
def test_reading_is_told(words: str, dlsched: Command, told: list[str], instance: Path, schedule: Path) -> None:
    """A large file takes many seconds, in which nothing else is told."""
    dlsched(*words.split())
    assert told[0] == f"reading {instance.name}"
    if schedule.name in words:
        assert told[1] == f"reading {schedule.name}"


def test_checking_is_told(dlsched: Command, told: list[str], instance: Path, schedule: Path) -> None:
    dlsched("check", instance, schedule)
    assert told[-1] == f"checking {schedule.name}"
