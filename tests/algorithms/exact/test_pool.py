"""Parts of good solutions, by the best solution that has each."""

from __future__ import annotations

from dlsched.algorithms.exact.pool import Pool


def test_a_part_is_worth_what_the_best_solution_with_it_is() -> None:
    pool = Pool[str](0.9, 100)
    for value, parts in ((10.0, "ab"), (12.0, "bc"), (11.0, "ca")):
        assert pool.counts(value)
        for part in parts:
            pool.add(part, value)
    assert pool.value == {"a": 11.0, "b": 12.0, "c": 12.0}
    assert pool.first(2) == ["b", "c"]
    assert pool.first(9) == ["b", "c", "a"]


def test_what_is_much_worse_than_the_best_does_not_count() -> None:
    pool = Pool[int](0.9, 100)
    assert [pool.counts(value) for value in (5.0, 10.0, 9.0, 8.9, 20.0, 17.9)] == [True, True, True, False, True, False]


def test_of_too_many_parts_the_best_tenth_is_kept() -> None:
    pool = Pool[int](0.0, 50)
    for part in range(50):
        pool.add(part, 1.0 + part * 7 % 50)
    assert len(pool.value) == 50
    pool.add(50, 0.5)
    assert sorted(pool.value.values()) == [46.0, 47.0, 48.0, 49.0, 50.0]
