"""HadarE's rounds: hand-computed runs, every run of tiny batches, real parameters, and what the checker refuses."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dlsched.algorithms import hadar, hadar_e
from dlsched.algorithms.hadar_e import Finished, ForkedSchedule, Round
from dlsched.models import InputError
from dlsched.models.hadar import Instance
from tests.cases.hadar_e import batch
from tests.longer import examples
from tests.oracles.hadar_e import outcomes

TWELVE = batch({"A": [1, 1], "B": [1, 1]}, {"A": 12, "B": 12})
"""Two nodes of speed 1, slots of 10 s, two jobs of 12 steps."""


def busy(instance: Instance, schedule: ForkedSchedule) -> list[tuple[Fraction, ...]]:
    """Return the seconds of the nodes by round."""
    nodes = [machine.name for machine in instance.machines]
    table = {slot: dict.fromkeys(nodes, Fraction(0)) for slot in hadar_e.round_slots(instance, schedule)}
    for _, slot, copies in schedule.items():
        for copy in copies:
            table[slot][copy.node] = copy.seconds
    return [tuple(row.values()) for row in table.values()]


def figures(instance: Instance, schedule: ForkedSchedule) -> tuple[Fraction, Fraction | None]:
    assert hadar_e.check(instance, schedule) == []
    return hadar_e.utilisation(instance, schedule), hadar_e.total_time(instance, schedule)


def test_the_printed_division_takes_four_rounds_where_two_do() -> None:
    """Each node runs a job of its own, and half of each job's steps are the portion of a copy that does not run."""
    printed = hadar_e.run(TWELVE, variant="printed").schedule
    assert busy(TWELVE, printed) == [(6, 6), (3, 3), (2, 2), (1, 1)]
    assert figures(TWELVE, printed) == (Fraction(3, 10), 31)
    for schedule in (hadar_e.run(TWELVE).schedule, hadar_e.run(TWELVE, copies=1, variant="printed").schedule):
        assert busy(TWELVE, schedule) == [(10, 10), (2, 2)]
        assert figures(TWELVE, schedule) == (Fraction(3, 5), 12)


@pytest.mark.parametrize(("copies", "expected"), [(1, "1/3"), (2, "2/3"), (3, "2/3"), (4, "2/3")])
def test_one_job_of_two_slots_on_three_nodes(copies: int, expected: str) -> None:
    """R_1 = 2, n = 3: CRU^1 = 1/3, CRU^2 = CRU^3 = CRU^4 = 2/3."""
    instance = batch({"A": [1, 1, 1]}, {"A": 2}, seconds=1)
    schedule = hadar_e.run(instance, copies=copies, steps="divisible").schedule
    assert figures(instance, schedule)[0] == Fraction(expected)


def test_a_node_that_is_done_early_waits_and_one_that_is_not_reports() -> None:
    """A: 30 steps at speeds 1 and 2 are thought to be equally fast, so 15 each; the second does 10 in its slot."""
    instance = batch({"A": [1, 2]}, {"A": 30})
    same = {"A": {"n1": Fraction(1), "n2": Fraction(1)}}
    run = hadar_e.run(instance, estimates=same)
    assert busy(instance, run.schedule) == [(10, Fraction(15, 2)), (Fraction(2), Fraction(3, 2))]
    rounds = [event for event in run.log if isinstance(event, Round)]
    assert [event.left["A"] for event in rounds] == [5, 0]
    second = run.schedule.jobs["A"].slots[2]
    assert [copy.assigned for copy in second] == [2, 3]


def test_a_whole_step_that_the_slot_cuts_off_is_lost() -> None:
    instance = batch({"A": ["3/20"]}, {"A": 2})
    schedule = hadar_e.run(instance).schedule
    assert busy(instance, schedule) == [(10,), (Fraction(20, 3),)]
    assert [copy.steps for slot in (1, 2) for copy in schedule.jobs["A"].slots[slot]] == [1, 1]
    divisible = hadar_e.run(instance, steps="divisible").schedule
    assert [copy.steps for slot in (1, 2) for copy in divisible.jobs["A"].slots[slot]] == [
        Fraction(3, 2),
        Fraction(1, 2),
    ]


def test_overheads_take_time_from_training() -> None:
    """Slots of 10 s: 1 to restart, then 2 + 1 after training two copies; the second round goes on without a restart."""
    instance = batch({"A": [1, 1]}, {"A": 19})
    schedule = hadar_e.run(instance, restart=1, communication=2, consolidation=1).schedule
    assert busy(instance, schedule) == [(6, 6), (4, 3)]
    assert figures(instance, schedule) == (Fraction(19, 40), 17)
    assert hadar_e.completion_times(instance, schedule) == {"A": 17}


def test_arrivals_count_from_their_slot() -> None:
    data = batch({"A": [1, 1], "B": [1, 1]}, {"A": 4, "B": 6}).dump()
    data["jobs"][1]["arrival"] = 4
    instance = Instance.parse(data)
    schedule = hadar_e.run(instance).schedule
    assert hadar_e.round_slots(instance, schedule) == (1, 4)
    assert hadar_e.finish_times(instance, schedule) == {"A": 2, "B": 33}
    assert hadar_e.completion_times(instance, schedule) == {"A": 2, "B": 3}
    assert figures(instance, schedule) == (Fraction(1, 4), 33)


def test_nodes_that_hadar_leaves_idle_get_copies_too() -> None:
    """One slot is too short for either job alone: to Hadar no copy is worth anything."""
    instance = batch({"A": [1, 1], "B": [1, 1]}, {"A": 18, "B": 15}, slots=1)
    (event,) = (event for event in hadar_e.run(instance).log if isinstance(event, Round))
    assert event.nodes == {"n1": "A", "n2": "B"}


def test_a_single_copy_runs_where_hadar_lets_a_node_idle() -> None:
    """One node, and a job worth nothing by the time it is done: Hadar never starts it, a single copy does."""
    data = batch({"A": [1]}, {"A": 12}).dump()
    data["jobs"][0]["utility"] = {"kind": "table", "values": [3, 0]}
    instance = Instance.parse(data)
    assert hadar.run(instance, mode="rounds").schedule.jobs == {}
    assert hadar_e.completions(instance, hadar_e.run(instance, copies=1, steps="divisible").schedule) == {"A": 2}


def test_a_node_is_given_up_only_if_the_others_do_their_portions() -> None:
    """Three nodes can do A's 5 steps, as 3 + 1 + 1, but their portions are 2, 2, 1; with the fourth 2, 1, 1, 1."""
    data = batch({"A": ["3.1", "1.9", "1.9", "1"], "B": [0, 0, 0, 5]}, {"A": 5, "B": 5}, seconds=1).dump()
    data["jobs"][1]["utility"] = {"kind": "hyperbolic", "scale": "1/1000"}
    instance = Instance.parse(data)
    run = hadar_e.run(instance)
    assert hadar_e.completions(instance, run.schedule) == {"A": 1, "B": 2}
    divisible = hadar_e.run(instance, steps="divisible").schedule
    assert hadar_e.completions(instance, divisible) == {"A": 1, "B": 1}


def test_a_node_that_gets_no_step_of_a_job_goes_to_another() -> None:
    """Hadar gives all three nodes to A, whose two steps take 8 s each and not the first 6: n3 does B meanwhile."""
    data = batch({"A": ["1/8", "1/8", "1/8"], "B": [0, 0, 1]}, {"A": 2, "B": 5}).dump()
    data["jobs"][1]["utility"] = {"kind": "hyperbolic", "scale": "1/1000"}
    instance = Instance.parse(data)
    schedule = hadar_e.run(instance, restart=4).schedule
    assert hadar_e.check(instance, schedule) == []
    assert hadar_e.completions(instance, schedule) == {"A": 2, "B": 1}
    assert busy(instance, schedule) == [(6, 6, 5), (8, 8, 0)]


def test_models_are_trained_on_real_parameters() -> None:
    """Each step adds the node's number; 4 and 2 steps from 0 make 4 and 4, by steps (4*4 + 2*4)/6 = 4."""
    instance = batch({"A": [2, 1]}, {"A": 6})

    def train(job: str, node: str, parameters: Any, steps: Fraction) -> Any:
        assert job == "A"
        return parameters + float(steps) * int(node[1:])

    for averaging, expected in (("steps", (4 * 4 + 2 * 4) / 6), ("equal", 4.0)):
        run = hadar_e.run(instance, parameters={"A": [0.0, 0.0]}, trainer=train, averaging=averaging)
        (done,) = (event for event in run.log if isinstance(event, Finished))
        np.testing.assert_allclose(done.parameters, [expected, expected])
    with pytest.raises(InputError, match="models have parameters and a trainer, or neither"):
        hadar_e.run(instance, trainer=train)
    with pytest.raises(InputError, match=r"parameters.B: unknown job"):
        hadar_e.run(instance, parameters={"B": [0.0]}, trainer=train)


def test_averaging_by_steps_differs_from_equal_weights() -> None:
    """Gradient steps of rate 1/2 towards 8 from 0: three steps make 7, one makes 4: (3*7 + 4)/4 against 11/2."""
    instance = batch({"A": [3, 1]}, {"A": 4})

    def train(job: str, node: str, parameters: Any, steps: Fraction) -> Any:
        for _ in range(int(steps)):
            parameters = parameters - 0.5 * (parameters - 8)
        return parameters

    for averaging, expected in (("steps", 25 / 4), ("equal", 11 / 2)):
        run = hadar_e.run(instance, parameters={"A": [0.0]}, trainer=train, averaging=averaging)
        (done,) = (event for event in run.log if isinstance(event, Finished))
        np.testing.assert_allclose(done.parameters, [expected])


SPEEDS = st.sampled_from([Fraction(1), Fraction(2), Fraction(3), Fraction(3, 2)])


@st.composite
def batches(draw: st.DrawFn) -> tuple[list[list[Fraction]], list[int], Fraction]:
    n = draw(st.integers(1, 2))
    speeds = draw(st.lists(st.lists(SPEEDS, min_size=n, max_size=n), min_size=1, max_size=2))
    return speeds, [draw(st.integers(3, 9)) for _ in speeds], Fraction(2)


@pytest.mark.slow
@settings(max_examples=40)
@given(batches(), st.integers(1, 3), st.booleans())
def test_a_run_is_one_of_all_runs(drawn: Any, copies: int, printed: bool) -> None:
    """What is done is one of what can be done, so that the best CRU and TTD over all assignments bound it."""
    speeds, steps, slot = drawn
    names = [f"J{j}" for j in range(len(steps))]
    instance = batch(
        dict(zip(names, speeds, strict=True)), dict(zip(names, steps, strict=True)), seconds=slot, slots=60
    )
    run = hadar_e.run(instance, copies=copies, variant="printed" if printed else "corrected")
    found = figures(instance, run.schedule)
    if found[1] is None:
        assert printed
        return
    assert found in outcomes(drawn, copies, printed=printed, idle=True)


@pytest.mark.slow
@examples(20, 60)
@given(
    nodes=st.integers(1, 3),
    work=st.lists(st.integers(1, 40), min_size=1, max_size=4),
    rates=st.lists(st.sampled_from(["1", "2", "5/3", "0", "1/7"]), min_size=12, max_size=12),
    steps=st.sampled_from(["whole", "divisible"]),
    variant=st.sampled_from(["printed", "corrected"]),
    copies=st.integers(1, 4),
    overhead=st.sampled_from([0, Fraction(1, 3)]),
)
def test_runs_pass_the_checker(
    nodes: int, work: list[int], rates: list[str], steps: str, variant: str, copies: int, overhead: Fraction
) -> None:
    speeds = {f"J{j}": ["1", *rates[4 * j % 12 :]][:nodes] for j in range(len(work))}
    instance = batch(speeds, {f"J{j}": w for j, w in enumerate(work)}, seconds=3)
    run = hadar_e.run(
        instance, steps=steps, variant=variant, copies=copies, restart=overhead, communication=overhead, consolidation=1
    )
    assert hadar_e.check(instance, run.schedule) == []
    by_round = hadar_e.utilisation_by_round(instance, run.schedule)
    assert all(0 <= value <= 1 for value in by_round.values())
    done = hadar_e.completions(instance, run.schedule)
    assert {event.job: event.slot for event in run.log if isinstance(event, Finished)} == done
    assert ForkedSchedule.parse(run.schedule.dump()) == run.schedule


def broken(change: Any) -> list[str]:
    """Return the rules that a schedule breaks after a change of its JSON form."""
    data = hadar_e.run(TWELVE).schedule.dump()
    change(data["jobs"])
    return sorted({violation.rule for violation in hadar_e.check(TWELVE, ForkedSchedule.parse(data))})


def set_copy(name: str, slot: str, **fields: Any) -> Any:
    def change(jobs: Any) -> None:
        jobs[name]["slots"][slot][0].update(fields)

    return change


@pytest.mark.parametrize(
    ("change", "rules"),
    [
        (lambda jobs: None, []),
        (lambda jobs: jobs.update(C=jobs.pop("B")), ["names"]),
        (set_copy("A", "1", node="n9"), ["names"]),
        (lambda jobs: jobs["A"]["slots"].update({"21": jobs["A"]["slots"].pop("2")}), ["slots"]),
        (set_copy("A", "1", id=3), ["copies"]),
        (set_copy("A", "1", id=1), ["copies"]),
        (set_copy("A", "1", id=6), ["copies"]),
        (set_copy("A", "1", node="n2"), ["nodes"]),
        (set_copy("A", "1", steps=11), ["steps", "training"]),
        (set_copy("A", "1", steps=9), ["training"]),
        (set_copy("A", "1", seconds=9), ["training"]),
        (set_copy("A", "1", assigned=13), ["steps"]),
        (set_copy("A", "2", assigned=3, steps=3, seconds=3), ["steps"]),
        (set_copy("A", "2", assigned="3/2", steps="3/2", seconds="3/2"), ["steps"]),
        (set_copy("A", "2", assigned=-1), ["steps", "training"]),
        (lambda jobs: jobs["A"]["slots"].update({"3": jobs["A"]["slots"]["2"]}), ["steps"]),
    ],
)
def test_the_checker_names_what_is_wrong(change: Any, rules: list[str]) -> None:
    assert broken(change) == rules


def test_a_job_that_fits_no_node_is_refused() -> None:
    data = TWELVE.dump()
    data["jobs"][0]["gang"] = 2
    with pytest.raises(InputError, match=r"jobs\[0\]: A makes progress on no single machine"):
        hadar_e.run(Instance.parse(data))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"copies": 0}, "copies: 0 must be at least 1"),
        ({"max_job_count": 1}, r"parent_id: 1 is not in 0\.\.0"),
        ({"restart": -1}, "restart: -1 must not be negative"),
        ({"restart": 9, "communication": 1}, "10 s leave a slot no time to train"),
        ({"estimates": {"A": {"n1": Fraction(1)}}}, "estimates.A.n2: a positive throughput is needed"),
    ],
)
def test_options_out_of_range_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        hadar_e.run(TWELVE, **options)


@pytest.mark.slow
def test_the_picture_shows_every_copy(tmp_path: Path) -> None:
    schedule = hadar_e.run(TWELVE, variant="printed").schedule
    ax = hadar_e.plot(TWELVE, schedule)
    assert len(ax.collections) == len(ax.texts) == 8
    hadar_e.save_plot(TWELVE, schedule, tmp_path / "rounds.png")
    assert (tmp_path / "rounds.png").read_bytes().startswith(b"\x89PNG")
    data = schedule.dump()
    data["jobs"]["A"]["slots"]["1"][0]["seconds"] = 10
    with pytest.raises(ValueError, match="cannot be drawn"):
        hadar_e.plot(TWELVE, ForkedSchedule.parse(data))
