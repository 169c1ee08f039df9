"""The simulator's rules, its laws, and what it refuses."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dlsched.algorithms import compare_policies
from dlsched.algorithms.baselines.hadar.drf import Drf
from dlsched.algorithms.baselines.hadar.fifo import Fifo
from dlsched.algorithms.baselines.hadar.las import Las
from dlsched.algorithms.baselines.hadar.srtf import Srtf
from dlsched.algorithms.baselines.hadar.tiresias import Tiresias
from dlsched.algorithms.hadar import Hadar
from dlsched.algorithms.simulator import (
    Allocations,
    ImpossibleAllocation,
    Policy,
    Simulation,
    State,
    busy,
    check,
    done_by,
    exact_utility,
    fairness,
    in_use,
    metrics,
    run_policy,
    schedule,
    simulate,
)
from dlsched.errors import InputError
from dlsched.models import hadar
from dlsched.models.hadar import Instance
from tests.algorithms.simulator.gpus import instance_of, spans
from tests.longer import examples
from tests.strategies.hadar import hadar_data

PLACEMENTS = ("any", "one-type", "fastest")


class Random(Policy):
    """Draws who runs, in any order, each on the first devices that are free."""

    name = "random"

    def decide(self, state: State, rng: np.random.Generator) -> Allocations:
        """Run whoever comes first in a random order."""
        jobs = [state.jobs[i] for i in rng.permutation(len(state.jobs))]
        free = {(m.name, r): n for m in state.instance.machines for r, n in m.devices.items()}
        given: dict[str, dict[str, dict[str, int]]] = {}
        for job in jobs:
            cells = [cell for cell, n in free.items() for _ in range(n)][: job.gang]
            if len(cells) == job.gang:
                for machine, r in cells:
                    free[machine, r] -= 1
                    devices = given.setdefault(job.name, {}).setdefault(machine, {})
                    devices[r] = devices.get(r, 0) + 1
        return given


POLICIES: list[Callable[[str], Policy]] = [
    lambda how: Fifo(placement=how),
    lambda how: Fifo(backfill="easy", placement=how),
    lambda how: Fifo(backfill="any", placement=how),
    lambda how: Srtf(placement=how),
    lambda how: Drf(placement=how),
    lambda how: Las(placement=how),
    lambda how: Tiresias(thresholds=[1, 3], placement=how),
    lambda how: Tiresias(thresholds=[2], promote_knob=Fraction(1, 2), placement=how),
    lambda how: Hadar(comm_cost=0.5),
    lambda how: Hadar(incremental=True),
    lambda how: Random(),
]


@dataclasses.dataclass
class Scripted(Policy):
    """Gives what is written down, from each moment on; asked at these moments."""

    script: Mapping[float, Mapping[str, Any]]
    copies: bool = False
    name = "scripted"

    def decide(self, state: State, rng: np.random.Generator) -> Allocations:
        """Give what the last entry says, to those that are there."""
        entry = self.script[max(moment for moment in self.script if moment <= state.time)]
        return {name: given for name, given in entry.items() if state.is_here(name)}

    def wake(self, state: State) -> Fraction | None:
        """Return the next moment of the script."""
        return min((Fraction(moment) for moment in self.script if moment > state.time), default=None)


def on(count: int) -> dict[str, dict[str, int]]:
    """So many GPUs of the one machine."""
    return {"m": {"gpu": count}}


def laws(simulation: Simulation) -> None:
    """Recount, at every moment between two changes, what is in use, and the work of every job."""
    instance = simulation.instance
    edges = sorted({edge for s in simulation.segments for edge in (s.start, s.ready, s.end)})
    done = {job.name: Fraction(0) for job in instance.jobs}
    for low, high in itertools.pairwise(edges):
        running = [s for s in simulation.segments if s.start <= low and high <= s.end]
        assert len({s.job for s in running}) == len(running)
        for machine in instance.machines:
            for r in instance.device_types:
                assert sum(s.allocation.get(machine.name, {}).get(r, 0) for s in running) <= machine.count(r)
        for s in running:
            job = instance.job(s.job)
            assert low >= (job.arrival - 1) * instance.slot_seconds
            rates = [job.rate_on(r) for devices in s.allocation.values() for r, n in devices.items() for _ in range(n)]
            assert len(rates) == job.gang
            done[job.name] += min(rates) * len(rates) * (high - low) * (low >= s.ready)
    for job in instance.jobs:
        assert (done[job.name] == job.iterations) == (job.name in simulation.completions)
        assert done[job.name] <= job.iterations


@pytest.mark.slow
@pytest.mark.parametrize("make", POLICIES)
@examples(12, 60)
@given(
    data=hadar_data(slots=6, jobs=4),
    length=st.sampled_from([None, 1, 2, Fraction(3, 4)]),
    restart=st.sampled_from([0, Fraction(1, 3)]),
    how=st.sampled_from(PLACEMENTS),
    seed=st.integers(0, 3),
)
def test_the_laws_hold_whatever_the_policy(
    make: Callable[[str], Policy], data: dict[str, Any], length: Any, restart: Any, how: str, seed: int
) -> None:
    p, policy = Instance.parse(data), make(how)
    if length is None and policy.needs_rounds:
        with pytest.raises(ValueError, match=f"round_seconds: policy {policy.name} decides in rounds"):
            simulate(p, policy, round_seconds=None)
        return
    simulation = simulate(p, policy, round_seconds=length, restart_seconds=restart, seed=seed)
    laws(simulation)
    assert simulate(p, policy, round_seconds=length, restart_seconds=restart, seed=seed) == simulation
    found = metrics(simulation)
    assert 0 <= found.cru <= 1
    assert found.cru <= found.gru <= 1 or length is not None
    assert sum(busy(simulation).values()) == sum(s.devices * s.working for s in simulation.segments)
    if length is not None:
        starts = {s.start for s in simulation.segments}
        assert all((start / Fraction(length)).denominator == 1 for start in starts)


@pytest.mark.slow
@pytest.mark.parametrize("make", POLICIES)
@examples(12, 60)
@given(data=hadar_data(slots=6, jobs=4), slots=st.integers(1, 3), how=st.sampled_from(PLACEMENTS))
def test_with_whole_slots_the_utility_is_the_checkers(
    make: Callable[[str], Policy], data: dict[str, Any], slots: int, how: str
) -> None:
    p = Instance.parse(data)
    for restart in (0, Fraction(1, 3)):
        simulation = simulate(p, make(how), round_seconds=slots * p.slot_seconds, restart_seconds=restart, seed=1)
        found = schedule(simulation)
        assert hadar.check(p, found) == []
        assert hadar.exact_utility(p, found) == exact_utility(simulation)
        assert set(found.jobs) == set(simulation.completions)
    run = run_policy(p, make(how), 1)
    assert hadar.check(p, run.schedule) == []
    assert run.utility == hadar.utility(p, run.schedule)


def test_a_job_that_is_done_inside_a_round_leaves_its_devices_idle_until_the_next() -> None:
    p = instance_of([("A", 0, 2, 5), ("B", 1, 2, 3), ("C", 2, 2, 4)], 2)
    assert spans(simulate(p, Fifo(), round_seconds=10)) == [("A", 0, 5), ("B", 10, 13), ("C", 20, 24)]
    assert spans(simulate(p, Fifo(), round_seconds=None)) == [("A", 0, 5), ("B", 5, 8), ("C", 8, 12)]


def test_only_a_new_allocation_restarts() -> None:
    # A keeps its device over the round at 10, is preempted at 20, restarts at 30, and again at 32 on another machine.
    data = instance_of([("A", 0, 1, 20), ("B", 0, 1, 4)], 1).dump()
    p = Instance.parse(
        data | {"machines": [{"name": "m", "devices": {"gpu": 1}}, {"name": "n", "devices": {"gpu": 1}}]}
    )
    there, away = {"A": on(1)}, {"A": {"n": {"gpu": 1}}}
    policy = Scripted({0: there, 20: {"B": on(1)}, 30: there, 32: away})
    found = simulate(p, policy, round_seconds=10, restart_seconds=3)
    assert [(s.job, s.start, s.ready, s.end) for s in found.segments] == [
        ("A", 0, 3, 20),  # 17 done
        ("B", 20, 23, 27),
        ("A", 30, 33, 32),
        ("A", 32, 35, 38),
    ]
    assert found.completions == {"A": 38, "B": 27}
    assert busy(found) == {("m", "gpu"): 17 + 4, ("n", "gpu"): 3}


class Editing(Policy):
    """Keeps the first job where it is until 2 s, then moves it by editing what the state says that it has."""

    name = "editing"

    def __init__(self, devices: int = 1) -> None:
        self.devices = devices

    def decide(self, state: State, rng: np.random.Generator) -> Allocations:
        """Edit the state's own dictionaries, and give some of them back."""
        if not state.current:
            return {"A": on(1)}
        held = dict(state.current)
        if state.time == 2:
            held["A"].pop("m")
            held["A"]["n"] = {"gpu": self.devices}
        return held


def test_a_policy_that_edits_what_jobs_have_moves_them() -> None:
    data = instance_of([("A", 0, 1, 4)], 1).dump()
    p = Instance.parse(
        data | {"machines": [{"name": "m", "devices": {"gpu": 1}}, {"name": "n", "devices": {"gpu": 1}}]}
    )
    found = simulate(p, Editing(), round_seconds=1, restart_seconds=1)
    assert [(s.allocation, s.start, s.ready, s.end) for s in found.segments] == [
        (on(1), 0, 1, 2),
        ({"n": {"gpu": 1}}, 2, 3, 6),
    ]
    with pytest.raises(ImpossibleAllocation, match=r"policy editing at 2 s: job A"):
        simulate(p, Editing(2), round_seconds=1)


def test_jobs_that_are_not_done_at_the_horizon_stay_undone() -> None:
    p = instance_of([("A", 0, 1, 5), ("B", 0, 1, 5), ("C", 9, 1, 1)], 1)
    found = simulate(p, Fifo(), round_seconds=None, horizon=Fraction(19, 2))
    assert found.completions == {"A": 5}
    assert spans(found) == [("A", 0, 5), ("B", 5, 9.5)]
    assert (done_by(found, 4), done_by(found, 5)) == (0, Fraction(1, 3))
    seen = metrics(found)
    assert (seen.jobs, seen.admitted, seen.done, seen.ttd) == (3, 2, 1, 5)
    with pytest.raises(ValueError, match=r"horizon: 1001 s is after the last slot, which ends at 1000 s"):
        simulate(p, Fifo(), round_seconds=None, horizon=1001)


def test_without_jobs_there_is_nothing() -> None:
    p = instance_of([], 1)
    found = simulate(p, Fifo(), round_seconds=1)
    assert (found.segments, found.completions, found.moments) == ((), {}, ())
    seen = metrics(found)
    assert (seen.jct, seen.fairness, seen.ttd, seen.gru, seen.cru, seen.changed) == (None, None, 0, 0, 0, 0)


def test_metrics_by_hand() -> None:
    # Two GPUs, rounds of 10, restarts of 1. A, alone until 4: one GPU, 12 s; B from 10 on: two GPUs, 3 s.
    p = instance_of([("A", 0, 1, 12), ("B", 4, 2, 3)], 2)
    found = simulate(p, Fifo(), round_seconds=10, restart_seconds=1)
    assert spans(found) == [("A", 0, 13), ("B", 20, 24)]
    seen = metrics(found)
    assert seen.utility == (1000 - 12) + (1000 - 19)
    assert (seen.jct.mean, seen.jct.median, seen.jct.least, seen.jct.greatest) == (
        Fraction(33, 2),
        Fraction(33, 2),
        13,
        20,
    )
    assert seen.ttd == 24
    assert seen.gru == Fraction(13 + 8, 2 * 24)
    assert seen.cru == Fraction(12 + 6, 2 * 30)
    assert in_use(found) == [(0, 1), (13, 0), (20, 2), (24, 0)]
    # Decisions at 0, 10, 20: at 10 nothing changes, since B does not fit.
    assert [(m.time, m.jobs, m.devices, m.changed, m.moved) for m in found.moments] == [
        (0, 1, 1, True, False),
        (10, 2, 1, False, False),
        (20, 1, 2, True, False),
    ]
    assert (seen.changed, seen.moved) == (Fraction(2, 3), 0)
    # A saw 1 + 9/13 jobs on the average, and gets 2 GPUs over that many, at most 1: its fair time is 12.
    assert fairness(found) == {"A": Fraction(13, 12), "B": Fraction(20) * (2 / Fraction(29, 20)) / 2 / 3}


@dataclasses.dataclass
class Copies(Policy):
    """HadarE in small: two nodes, A on the first and B on the second, each until its portion of the round is done."""

    share: Fraction
    name = "copies"
    copies = True
    until: Fraction | None = None

    def decide(self, state: State, rng: np.random.Generator) -> Allocations:
        """At the start of a round both nodes work; when the portions are done both wait."""
        assert state.round_seconds is not None
        if state.time % state.round_seconds:
            self.until = None
            return {}
        self.until = state.time + self.share * max(map(state.remaining, state.jobs))
        nodes = {"A": "m1", "B": "m2"}
        return {job.name: {nodes[job.name]: {"gpu": 1}} for job in state.jobs}

    def wake(self, state: State) -> Fraction | None:
        """Return when the portions are done, if the round does not end before."""
        return self.until


def nodes(*jobs: tuple[str, int], count: int = 2, speeds: tuple[Any, ...] = (1, 1)) -> Instance:
    """One device on each node, of a type of its own; a job has so many iterations."""
    types = [f"t{i}" if len(set(speeds)) > 1 else "gpu" for i in range(1, count + 1)]
    return Instance.parse(
        {
            "slots": 1000,
            "device_types": list(dict.fromkeys(types)),
            "machines": [{"name": f"m{i}", "devices": {r: 1}} for i, r in enumerate(types, start=1)],
            "jobs": [
                {
                    "name": name,
                    "arrival": 1,
                    "gang": 1,
                    "iterations": work,
                    "rate": dict(zip(types, speeds, strict=True)),
                    "utility": {"kind": "hyperbolic", "scale": 1},
                }
                for name, work in jobs
            ],
        }
    )


def test_a_policy_of_copies_divides_rounds() -> None:
    # The printed division: n portions of a job though one copy runs, so 12 steps are 6, 3, 2, 1 (whole steps).
    # Here portions may be any number: 6, 3, 3/2, ...; the corrected one gives all: 10 and 2.
    p = nodes(("A", 12), ("B", 12))
    corrected = simulate(p, Copies(Fraction(1)), round_seconds=10)
    assert metrics(corrected).cru == Fraction(24, 40)
    assert corrected.completions == {"A": 12, "B": 12}
    printed = simulate(p, Copies(Fraction(1, 2)), round_seconds=10, horizon=40)
    assert [(s.job, s.start, s.end) for s in printed.segments if s.job == "A"] == [
        ("A", 0, 6),
        ("A", 10, 13),
        ("A", 20, Fraction(43, 2)),
        ("A", 30, Fraction(123, 4)),
    ]


def test_copies_of_a_job_add_up_and_one_may_end_without_a_restart() -> None:
    # Speeds 1 and 3/2, 20 iterations: both until 4, then the second alone: 10 + 3/2 (t - 4), and a restart of 2 before.
    p = nodes(("A", 20), speeds=(1, "3/2"))
    both, one = {"m1": {"t1": 1}, "m2": {"t2": 1}}, {"m2": {"t2": 1}}
    found = simulate(p, Scripted({0: {"A": both}, 6: {"A": one}}, copies=True), round_seconds=None, restart_seconds=2)
    assert found.completions == {"A": 6 + Fraction(20, 3)}
    again = simulate(p, Scripted({0: {"A": one}, 6: {"A": both}}, copies=True), round_seconds=None, restart_seconds=2)
    assert again.completions == {"A": 8 + (20 - 6) / Fraction(5, 2)}
    with pytest.raises(ValueError, match="jobs run in copies"):
        schedule(found)


def test_a_schedule_has_whole_slots() -> None:
    p = instance_of([("A", 0, 1, 4), ("B", 0, 1, 2)], 1, slot=4)
    with pytest.raises(ValueError, match="job B gets devices at 5 s, inside a slot of 4 s"):
        schedule(simulate(instance_of([("A", 0, 1, 5), ("B", 0, 1, 2)], 1, slot=4), Fifo(), round_seconds=None))
    found = schedule(simulate(p, Fifo(), round_seconds=None))
    assert found.dump()["jobs"] == {"A": {"slots": {"1": on(1)}}, "B": {"slots": {"2": on(1)}}}


@pytest.mark.parametrize(
    ("script", "message"),
    [
        ({"X": on(1)}, "policy scripted at 0 s: job 'X': is not there"),
        ({"late": on(1)}, "policy scripted at 0 s: job 'late': is not there: it has not arrived, or is done"),
        ({"A": on(3)}, "job A, machine m, type gpu: 3 devices given of the 2 there"),
        ({"A": on(-1)}, "job A, machine m, type gpu: -1 devices given of the 2 there"),
        ({"A": {"n": {"gpu": 1}}}, "job A, machine n, type gpu: 1 devices given of the 0 there"),
        ({"A": {"m": {"tpu": 1}}}, "job A, machine m, type tpu: 1 devices given of the 0 there"),
        ({"A": on(1)}, "job A: 1 devices given, which are not its gang 2"),
        ({"A": {"m": {"gpu": 2.0}}}, "job 'A': its allocation is no mapping of machines to types to whole numbers"),
        ({"A": {"m": 2}}, "job 'A': its allocation is no mapping of machines to types to whole numbers of devices"),
        ({"A": None}, "job 'A': its allocation is no mapping of machines to types to whole numbers of devices"),
        (["A"], "gives a list and not a mapping of jobs to devices"),
        ({"A": on(2), "B": on(1)}, "machine m, type gpu: 3 devices given of the 2 there, job "),
    ],
)
def test_an_impossible_allocation_is_refused(script: Any, message: str) -> None:
    class Given(Scripted):
        def decide(self, state: State, rng: np.random.Generator) -> Any:
            return script

    p = instance_of([("A", 0, 2, 4), ("B", 0, 1, 2), ("late", 5, 1, 1)], 2)
    with pytest.raises(ImpossibleAllocation) as caught:
        simulate(p, Given({}), round_seconds=1)
    assert message in str(caught.value)
    assert str(caught.value).startswith("policy scripted at 0 s: ")


def test_counts_may_be_numpy_s() -> None:
    p = instance_of([("A", 0, 2, 4)], 2)
    found = simulate(p, Scripted({0: {"A": {"m": {"gpu": np.int64(2)}}}}), round_seconds=1)
    assert [type(n) for segment in found.segments for n in segment.allocation["m"].values()] == [int]


def test_progress_is_told_at_every_decision() -> None:
    told: list[tuple[int, int]] = []
    p = instance_of([("A", 0, 1, 3), ("B", 0, 1, 3)], 1)
    simulate(p, Fifo(), round_seconds=2, progress=lambda done, jobs: told.append((done, jobs)))
    assert told == [(0, 2), (0, 2), (1, 2), (1, 2), (2, 2)]


def test_a_job_that_is_done_gets_nothing_more() -> None:
    class Stubborn(Scripted):
        def decide(self, state: State, rng: np.random.Generator) -> Allocations:
            return {"A": on(1)}

    p = instance_of([("A", 0, 1, 4), ("B", 0, 1, 2)], 1)
    with pytest.raises(ImpossibleAllocation, match="policy scripted at 5 s: job 'A': is not there"):
        simulate(p, Stubborn({}), round_seconds=5)


def test_a_policy_may_not_be_asked_again_in_the_past() -> None:
    class Late(Scripted):
        def wake(self, state: State) -> Fraction | None:
            return state.time

    with pytest.raises(ImpossibleAllocation, match="policy scripted at 0 s: wants to be asked again at 0 s"):
        simulate(instance_of([("A", 0, 1, 4)], 1), Late({0: {}}), round_seconds=5)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"round_seconds": 0}, "round_seconds"),
        ({"restart_seconds": -1}, "restart_seconds"),
        ({"horizon": 0}, "horizon"),
        ({"seed": -1}, "seed"),
    ],
)
def test_numbers_out_of_range_are_refused(wrong: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=f"^{message}"):
        simulate(instance_of([], 1), Fifo(), **{"round_seconds": 1, **wrong})


def test_rounds_of_which_there_are_too_many_are_refused() -> None:
    """4 s of work in rounds of a nanosecond are four thousand million rounds, whoever decides; a horizon cuts them."""
    one = instance_of([("A", 0, 1, 4)], 1)
    with pytest.raises(InputError, match=r"^round_seconds: 1e-09 s make at least 4e\+09 rounds, more than 10000000; "):
        simulate(one, Fifo(), round_seconds=1e-9)
    short = simulate(one, Fifo(), round_seconds=1e-9, horizon=1e-8)
    assert len(short.moments) == 10
    with pytest.raises(InputError, match=r"^round_seconds"):
        compare_policies(one, ["fifo"], round_seconds=1e-9)


def test_policies_are_not_worn_out() -> None:
    policy, p = Tiresias(thresholds=[3]), instance_of([("A", 0, 1, 9), ("B", 1, 1, 9)], 1)
    assert simulate(p, policy, round_seconds=None) == simulate(p, policy, round_seconds=None)


@pytest.mark.parametrize(
    ("change", "rule"),
    [
        ({"start": Fraction(0)}, "arrival"),
        ({"end": Fraction(2000)}, "time"),
        ({"ready": Fraction(1)}, "restart"),
        ({"allocation": on(3)}, "capacity"),
        ({"allocation": on(1)}, "gang"),
        ({"start": Fraction(5), "ready": Fraction(5)}, "capacity"),
        ({"end": Fraction(12)}, "work"),
        ({"job": "A"}, "gang"),
    ],
)
def test_the_checker_sees_what_is_wrong(change: dict[str, Any], rule: str) -> None:
    right = simulate(instance_of([("A", 0, 1, 10), ("B", 1, 2, 5)], 2), Fifo(), round_seconds=None)
    assert check(right) == []
    last = dataclasses.replace(right.segments[1], **change)
    wrong = dataclasses.replace(right, segments=(right.segments[0], last))
    assert rule in {violation.rule for violation in check(wrong)}


def test_the_checker_holds_completions_against_the_work() -> None:
    right = simulate(instance_of([("A", 0, 1, 10), ("B", 1, 2, 5)], 2), Fifo(), round_seconds=None)
    early = dataclasses.replace(right, completions=right.completions | {"A": Fraction(9)})
    assert [violation.rule for violation in check(early)] == ["completion"]
    forgotten = dataclasses.replace(right, completions={"A": Fraction(10)})
    assert [violation.rule for violation in check(forgotten)] == ["work"]
    twice = dataclasses.replace(right, segments=(right.segments[0], *right.segments))
    assert "one gang" in {violation.rule for violation in check(twice)}
