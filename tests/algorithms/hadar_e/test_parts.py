"""HadarE's parts by themselves: ids of copies, the tracker, the division of steps, the estimate (10)."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dlsched.algorithms.hadar_e import (
    Report,
    Steps,
    Throughputs,
    Tracker,
    copy_id,
    fork,
    node_speeds,
    origin,
    pmi,
    threshold,
    throughput,
)
from dlsched.algorithms.hadar_e.division import divide
from dlsched.algorithms.run import Variant
from dlsched.models import InputError
from dlsched.models.hadar import Instance
from tests.cases.hadar_e import batch


def test_ids_of_the_copies_of_three_jobs() -> None:
    """max_job_count * i + parent_id, i from 1."""
    assert fork([0, 1, 2], 5, 3) == {0: (3, 6, 9, 12, 15), 1: (4, 7, 10, 13, 16), 2: (5, 8, 11, 14, 17)}
    assert origin(17, 3) == (2, 5)


@pytest.mark.slow
@given(st.integers(1, 50), st.integers(1, 9), st.data())
def test_ids_are_unique_and_no_parents(most: int, copies: int, data: st.DataObject) -> None:
    parents = data.draw(st.lists(st.integers(0, most - 1), unique=True))
    ids = [id for own in fork(parents, copies, most).values() for id in own]
    assert len({*ids, *parents}) == len(parents) * (copies + 1)
    assert all(copy_id(*origin(id, most), most) == id for id in ids)


@pytest.mark.parametrize("parent", [-1, 3, 4])
def test_a_parent_outside_the_range_is_refused(parent: int) -> None:
    """With max_job_count = 3 copy 1 of job 3 would have id 6, which copy 2 of job 0 has."""
    with pytest.raises(InputError, match=rf"parent_id: {parent} is not in 0\.\.2"):
        copy_id(parent, 1, 3)


def test_other_ids_are_refused() -> None:
    with pytest.raises(InputError, match="two jobs have the same id"):
        fork([1, 1], 2, 3)
    with pytest.raises(InputError, match="i: 0 must be at least 1"):
        copy_id(0, 0, 3)
    with pytest.raises(InputError, match="id: 2 is no copy's; those begin with 3"):
        origin(2, 3)


def test_the_two_readings_of_a_step_differ_by_phi() -> None:
    """phi = 100 / 4 = 25 mini-batches an epoch; 3 epochs are 75 of them."""
    assert threshold(3, 100, 4) == (75, 75)
    assert threshold(3, 100, 4, "printed") == (75, 25 * 75)


def test_parameters_are_averaged_by_steps_or_equally() -> None:
    """Steps 3 and 1 from (0, 0): (3 (1, 2) + 1 (5, 6)) / 4 = (2, 3), and equally (3, 4)."""
    for averaging, expected in (("steps", [2.0, 3.0]), ("equal", [3.0, 4.0])):
        tracker = Tracker({0: Fraction(8)}, max_job_count=1, parameters={0: [0, 0]}, averaging=averaging)
        assert tracker.close([Report(1, Fraction(3), [1, 2]), Report(2, Fraction(1), [5, 6])]) == ()
        assert tracker.left(0) == 4
        parameters = tracker.parameters(0)
        assert parameters is not None
        np.testing.assert_array_equal(parameters, expected)


def test_a_job_is_done_at_its_threshold_and_its_copies_are_discarded() -> None:
    tracker = Tracker({0: Fraction(4), 1: Fraction(9)}, max_job_count=2)
    assert tracker.close([Report(2, Fraction(3)), Report(4, Fraction(2)), Report(3, Fraction(1))]) == (0,)
    assert (tracker.left(0), tracker.left(1)) == (0, 8)
    with pytest.raises(InputError, match="copy 4: is of no job that is still there"):
        tracker.close([Report(4, Fraction(1))])


def test_copies_without_a_step_leave_the_parameters_alone() -> None:
    tracker = Tracker({0: Fraction(4)}, max_job_count=1, parameters={0: [7.0]})
    tracker.close([Report(1, Fraction(0), [9.0])])
    np.testing.assert_array_equal(tracker.parameters(0), [7.0])
    with pytest.raises(InputError, match=r"have shape \(2,\), not \(1,\)"):
        tracker.close([Report(1, Fraction(1), [1.0, 2.0])])


@pytest.mark.parametrize(
    ("reports", "message"),
    [
        ([Report(2, Fraction(1), [1.0]), Report(2, Fraction(1), [1.0])], "copy 2: reports twice in a round"),
        ([Report(2, Fraction(-3), [1.0])], "copy 2: has done -3 steps"),
        ([Report(3, Fraction(1)), Report(2, Fraction(1))], "copy 2: reports no parameters, and its job has some"),
        ([Report(3, Fraction(1)), Report(2, Fraction(1), [1.0, 2.0])], r"parameters: have shape \(2,\), not \(1,\)"),
        ([Report(3, Fraction(1)), Report(2, Fraction(1), [np.nan])], "copy 2: reports parameters that are no finite"),
    ],
)
def test_a_round_with_a_report_that_cannot_be_changes_nothing(reports: list[Report], message: str) -> None:
    tracker = Tracker({0: Fraction(4), 1: Fraction(9)}, max_job_count=2, parameters={0: [7.0]})
    with pytest.raises(InputError, match=message):
        tracker.close(reports)
    assert (tracker.left(0), tracker.left(1)) == (4, 9)
    np.testing.assert_array_equal(tracker.parameters(0), [7.0])


def test_a_tracker_refuses_ids_whose_copies_would_be_another_job_s() -> None:
    """With max_job_count 3 the first copy of job 5 has the id 8, which is the second copy of job 2."""
    with pytest.raises(InputError, match=r"parent_id: 5 is not in 0\.\.2"):
        Tracker({2: Fraction(4), 5: Fraction(4)}, max_job_count=3)


def test_weights_are_parts_of_steps_however_many() -> None:
    many = Fraction(10) ** 400
    tracker = Tracker({0: 5 * many}, max_job_count=1, parameters={0: [0.0]})
    tracker.close([Report(1, 3 * many, [1.0]), Report(2, many, [5.0])])
    np.testing.assert_array_equal(tracker.parameters(0), [2.0])


def shares(left: int, speeds: list[int], scheduled: list[int], copies: int, variant: Variant) -> list[Fraction]:
    nodes = {f"n{h}": Fraction(speed) for h, speed in enumerate(speeds)}
    portions = divide(Fraction(left), nodes, [f"n{h}" for h in scheduled], copies=copies, variant=variant)
    return list(portions.values())


def test_steps_are_divided_by_throughput() -> None:
    """12 steps at speeds 1, 2, 3; the second node alone is scheduled. With two copies the fastest other shares."""
    printed, corrected = Variant.PRINTED, Variant.CORRECTED
    assert shares(12, [1, 2, 3], [0, 1, 2], 3, printed) == [2, 4, 6]
    assert shares(12, [1, 2, 3], [1], 3, printed) == [4]
    assert shares(12, [1, 2, 3], [1], 2, printed) == [5]
    assert shares(12, [1, 2, 3], [1], 3, corrected) == [12]
    assert shares(12, [1, 2, 3], [0, 1], 3, corrected) == [4, 8]


def test_whole_steps_by_largest_remainder() -> None:
    """10 at 1:2:4 is 10/7, 20/7, 40/7: 1, 2, 5 and two more to the remainders 6/7 and 5/7."""
    assert shares(10, [1, 2, 4], [0, 1, 2], 3, Variant.CORRECTED) == [1, 3, 6]
    assert shares(1, [1, 1], [1], 2, Variant.PRINTED) == [1]
    assert shares(1, [1, 3], [0], 2, Variant.PRINTED) == [0]
    assert shares(3, [1, 1, 2, 2], [0, 1, 2, 3], 4, Variant.CORRECTED) == [1, 0, 1, 1]


@given(st.integers(1, 100), st.lists(st.integers(1, 9), min_size=1, max_size=5), st.sampled_from(Steps))
def test_portions_of_scheduled_copies_sum_to_what_is_left(left: int, speeds: list[int], steps: Steps) -> None:
    nodes = {f"n{h}": Fraction(speed) for h, speed in enumerate(speeds)}
    for variant in Variant:
        portions = divide(Fraction(left), nodes, list(nodes), copies=len(nodes), variant=variant, steps=steps)
        assert sum(portions.values()) == left
        for node, portion in portions.items():
            assert abs(portion - left * nodes[node] / sum(nodes.values())) < 1
            assert steps is Steps.DIVISIBLE or portion.denominator == 1


def test_the_index_in_both_readings() -> None:
    assert pmi(16, 4) == 8
    assert pmi(16, 4, "sqrt(tflops/vram)") == 2
    assert pmi(65, 16) == Fraction(65, 4)
    assert float(pmi(8.1, 24)) == pytest.approx(8.1 / math.sqrt(24), rel=1e-12)


def test_the_estimate_10() -> None:
    """8 * 32 * 2 / (4 * 3) for an extra large model on a large data set."""
    assert throughput(8, 32, 2, "XL", "L") == Fraction(128, 3)
    assert throughput(8, 32, 2, "XL", "L", model_weights={"XL": Fraction(8)}) == Fraction(64, 3)
    with pytest.raises(InputError, match="unknown class 'XXL'; there are S, M, L, XL"):
        throughput(8, 32, 2, "XXL", "L")
    with pytest.raises(InputError, match="batch_size: 0 must be positive"):
        throughput(8, 0, 2, "S", "S")


def test_observed_rates_replace_estimates_and_give_the_others_a_unit() -> None:
    known = Throughputs({"A": {"n1": Fraction(10), "n2": Fraction(20)}, "B": {"n1": Fraction(4)}})
    assert known.of("A") == {"n1": 10, "n2": 20}
    known.observe("A", "n1", Fraction(5))
    assert known.of("A") == {"n1": 5, "n2": 10}
    assert known.of("B") == {"n1": 2}
    known.observe("A", "n2", Fraction(3))
    assert known.of("A") == {"n1": 5, "n2": 3}
    assert known.of("B") == {"n1": 4 * Fraction(8, 30)}


def test_a_copy_takes_the_fastest_devices_of_its_node() -> None:
    data = batch({"A": [1, 3]}, {"A": 5}).dump()
    data["machines"] = [{"name": "h1", "devices": {"n1": 2, "n2": 1}}, {"name": "h2", "devices": {"n2": 1}}]
    data["jobs"][0]["gang"] = 2
    instance = Instance.parse(data)
    assert node_speeds(instance) == {"A": {"h1": 2}}
    data["jobs"][0]["gang"] = 4
    with pytest.raises(InputError, match=r"jobs\[0\]: A makes progress on no single machine with its gang of 4"):
        node_speeds(Instance.parse(data))
