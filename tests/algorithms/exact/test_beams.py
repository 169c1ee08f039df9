"""Beams from the first slot and from the middle take turns, as there is time for them."""

from __future__ import annotations

import pytest

from dlsched.algorithms.exact import beams
from dlsched.algorithms.exact.beams import Middle


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The time, which passes by what is appended."""
    passed = [1000.0]
    monkeypatch.setattr("time.perf_counter", lambda: sum(passed))
    return passed


def whole(middle: Middle[str], name: str, clock: list[float], seconds: float) -> None:
    assert middle.begin(None) is None
    clock.append(seconds)
    middle.reach(name)


def test_two_go_on_from_each_middle_where_time_has_no_limit(clock: list[float]) -> None:
    middle = Middle[str]()
    for name in ("first", "second", "third"):
        whole(middle, name, clock, 1e6)
        assert [middle.begin(None) for _ in range(2)] == [name] * 2


def test_where_a_beam_ends_before_its_middle_the_next_begins_anew(clock: list[float]) -> None:
    middle = Middle[str]()
    assert middle.begin(None) is None
    whole(middle, "first", clock, 1.0)
    assert [middle.begin(None) for _ in range(4)] == ["first"] * 2 + [None] * 2


def test_where_time_is_short_for_a_whole_beam_the_middle_is_gone_on_from_and_else_nothing(clock: list[float]) -> None:
    middle = Middle[str]()
    whole(middle, "first", clock, 20.0)
    # The second half takes 10, the whole 30; half of the second half is worth beginning with.
    assert [middle.begin(29.9) for _ in range(4)] == ["first"] * 4
    assert [middle.begin(30.0) for _ in range(4)] == ["first"] * 2 + [None] * 2
    assert [middle.is_late(seconds) for seconds in (None, 30.0, 5.0, 4.9)] == [False, False, False, True]


def test_a_first_beam_is_begun_however_little_time_there_is() -> None:
    middle = Middle[str]()
    assert not middle.is_late(0.0)
    assert middle.begin(0.0) is None


def test_of_equal_values_the_first_goes_on() -> None:
    shortlist = beams.Shortlist[str](0.0)
    for value, name in ((1.0, "a"), (2.0, "b"), (1.0, "c"), (3.0, "d"), (0.5, "e")):
        shortlist.add(value, name)
    assert sorted(shortlist.kept()) == ["a", "b", "d"]
    assert shortlist.least == 1.0
