"""Blocks in which what is asked for twice is computed once."""

from __future__ import annotations

import pytest

from dlsched.halt import until
from dlsched.once import Known, computing_once, once


class Counting:
    """Doubles numbers, and counts how often."""

    def __init__(self) -> None:
        self.asked: list[int] = []

        @once(lambda number, *, again=False: None if again else number)
        def double(number: int, *, again: bool = False) -> int:
            """Return twice a number."""
            if number < 0:
                self.asked.append(number)
                raise ValueError("negative")
            self.asked.append(number)
            return 2 * number

        self.double = double


def test_a_block_computes_each_key_once() -> None:
    counted = Counting()
    assert counted.double.__doc__ == "Return twice a number."
    with computing_once():
        assert [counted.double(n) for n in (1, 2, 1)] == [2, 4, 2]
        with computing_once():  # one within another goes on from it
            assert counted.double(2) == 4
    assert counted.asked == [1, 2]
    with computing_once():
        counted.double(1)
    assert counted.asked == [1, 2, 1], "a new block knows nothing"


def test_outside_of_blocks_and_without_a_key_everything_is_computed() -> None:
    counted = Counting()
    counted.double(1)
    counted.double(1)
    with computing_once():
        counted.double(1, again=True)
        counted.double(1, again=True)
    assert counted.asked == [1] * 4


def test_blocks_that_go_on_from_each_other() -> None:
    counted, known = Counting(), Known()
    for _ in range(2):
        with computing_once(known):
            assert counted.double(3) == 6
    assert counted.asked == [3]


def test_errors_are_not_kept() -> None:
    counted = Counting()
    with computing_once():
        for _ in range(2):
            with pytest.raises(ValueError, match="negative"):
                counted.double(-1)
    assert counted.asked == [-1, -1]


def test_two_functions_with_one_key_are_two() -> None:
    first, second = Counting(), Counting()
    with computing_once():
        first.double(1)
        second.double(1)
    assert (first.asked, second.asked) == ([1], [1])


def test_what_may_be_cut_short_is_not_kept() -> None:
    counted = Counting()
    with computing_once(), until(seconds=100.0):
        counted.double(1)
        counted.double(1)
    assert counted.asked == [1, 1]
