"""Gavel: the paper's Figure 1(a), max-min fairness by hand and from its definition, and the general properties."""

from __future__ import annotations

import json
from fractions import Fraction
from typing import Any

import highspy
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dlsched.algorithms.baselines.hadar import gavel, gavel_policies
from dlsched.algorithms.baselines.hadar.max_min import max_min_shares
from dlsched.algorithms.run import Stripped
from dlsched.algorithms.simulator import run_policy, simulate
from dlsched.algorithms.simulator.placement import by_type
from dlsched.models import InputError
from dlsched.models.hadar import Instance, Schedule, check, completions, preset
from dlsched.solvers.solution import SolverError
from tests.longer import examples
from tests.oracles.gavel import Policy
from tests.strategies.hadar import hadar_data

SHARES = {
    "J1": {"v100": 0.6, "p100": 0.4, "k80": 0.0},
    "J2": {"v100": 0.2, "p100": 0.6, "k80": 0.2},
    "J3": {"v100": 0.2, "p100": 0.0, "k80": 0.8},
}


def test_the_motivational_example_is_replayed() -> None:
    instance = preset("motivation")
    result = gavel.run(instance, SHARES)
    assert run_policy(instance, gavel.Gavel(SHARES)).utility == result.utility
    rounds = [event for event in result.log if isinstance(event, gavel.Round)]
    remaining = [tuple(event.remaining[name] for name in ("J1", "J2", "J3")) for event in rounds]
    assert remaining == [(60, 25, 50), (60, 10, 40), (60, 0, 30), (40, 0, 20), (20, 0, 10), (0, 0, 0)]
    busy = [event.busy for event in rounds]
    assert busy == [5, 4, 4, 5, 5, 5]
    assert sum(busy) / (6 * instance.devices) == pytest.approx(7 / 9)
    assert result.utility == 3.0
    assert check(instance, result.schedule) == []


def test_the_example_does_not_fit_into_five_rounds() -> None:
    instance = preset("motivation", slots=5)
    result = gavel.run(instance, SHARES)
    assert set(completions(instance, result.schedule)) == {"J2"}
    assert {event.job for event in result.log if isinstance(event, Stripped)} == {"J1", "J3"}


@pytest.mark.slow
@examples(20, 60)
@given(data=hadar_data(), drawn=st.data())
def test_schedules_are_valid_and_homogeneous(data: dict[str, Any], drawn: st.DataObject) -> None:
    instance = Instance.model_validate(data)
    part = st.sampled_from([0.0, 0.25, 0.5, 1.0])
    shares = {job.name: {r: drawn.draw(part) for r in instance.device_types} for job in instance.jobs}
    for result in (gavel.run(instance, shares), gavel.run(instance), gavel.run(instance, mechanism="code")):
        assert check(instance, result.schedule) == []
        assert result.prices == {}
        for _, _, allocation in result.schedule.items():
            assert len({r for devices in allocation.values() for r in devices}) == 1
    for event in gavel.run(instance, shares).log:
        if isinstance(event, gavel.Round):
            assert all(shares[name][r] > 0 for name, r in event.types.items())


def as_in_the_code(instance: Instance, shares: dict[str, dict[str, float]], rounds: int) -> list[dict[str, str]]:
    """What scheduler.py at c4fa400 chooses, round by round, for jobs that never end: priorities, then one queue a type.

    Each job has run half a round on every type before the first.
    """
    jobs = [job.name for job in instance.jobs]
    run = {r: dict.fromkeys(jobs, Fraction(1, 2)) for r in instance.device_types}
    chosen = []
    for _ in range(rounds):
        queue = []
        for r, time in run.items():
            share = {name: Fraction(str(shares.get(name, {}).get(r, 0))) for name in jobs}
            priority = {name: share[name] * sum(time.values()) / time[name] for name in jobs}
            queue += [(name, r) for name in sorted(jobs, key=lambda n: (priority[n], share[n]), reverse=True)]
        left, types = dict(instance.capacity), dict[str, str]()
        for name, r in queue:
            job = instance.job(name)
            if name not in types and job.rate_on(r) and job.gang <= left[r]:
                left[r] -= job.gang
                types[name] = r
                run[r][name] += 1
        chosen.append(types)
    return chosen


@pytest.mark.slow
@given(hadar_data(slots=6), st.data())
def test_rounds_are_those_of_gavels_own_code(data: dict[str, Any], drawn: st.DataObject) -> None:
    endless = [{**job, "arrival": 1, "iterations": 10**9} for job in data["jobs"]]
    instance = Instance.model_validate(data | {"jobs": endless})
    part = st.sampled_from([0.0, 0.2, 0.25, 0.5, 0.6, 1.0])
    shares = {job.name: {r: drawn.draw(part) for r in instance.device_types} for job in instance.jobs}
    found = gavel.run(instance, shares, mechanism="code").log
    expected = as_in_the_code(instance, shares, instance.slots)
    assert [event.types for event in found if isinstance(event, gavel.Round)] == expected


def test_by_the_code_devices_that_are_left_go_to_jobs_without_a_share() -> None:
    """The fast type is served first; J1 has no share of the slow one, and nothing else to run on."""
    instance = cluster({"fast": 1, "slow": 1}, (1, {"fast": 2, "slow": 1}), (1, {"fast": 2, "slow": 1}))
    shares = {"J0": {"fast": 1.0}, "J1": {"fast": 0.25}}
    types = {
        mechanism: [e.types for e in gavel.run(instance, shares, mechanism=mechanism).log if isinstance(e, gavel.Round)]
        for mechanism in gavel.Mechanism
    }
    # Shares over rounds and a half: 2 and 1/2, then 2/3 and 1/2, then 2/5 and 1/2, then 2/5 and 1/6.
    first = ["J0", "J0", "J1", "J0"]
    assert types["code"] == [{name: "fast", other(name): "slow"} for name in first]
    assert types["paper"] == [{"J0": "fast"}, {"J1": "fast"}, {"J0": "fast"}, {"J0": "fast"}]


def other(name: str) -> str:
    return "J1" if name == "J0" else "J0"


def test_by_the_code_a_job_that_lacked_time_before_goes_first_among_equals() -> None:
    """Two equal jobs on a device: the second has run less than its half when a third comes, and leads from then on."""
    job = {"gang": 1, "iterations": 100, "rate": {"t": 1}, "utility": {"kind": "table", "values": [1] * 6}}
    instance = Instance.model_validate(
        {
            "slots": 6,
            "device_types": ["t"],
            "machines": [{"name": "m", "devices": {"t": 1}}],
            "jobs": [{"name": name, "arrival": arrival, **job} for name, arrival in (("a", 1), ("b", 1), ("c", 4))],
        }
    )
    rounds = [list(e.types) for e in gavel.run(instance, mechanism="code").log if isinstance(e, gavel.Round)]
    assert rounds == [["a"], ["b"], ["a"], ["b"], ["c"], ["a"]]


def test_a_type_not_had_yet_comes_first() -> None:
    instance = preset("motivation")
    first, second, *_ = (e for e in gavel.run(instance, {"J2": {"v100": 0.9, "p100": 0.1}}).log)
    assert isinstance(first, gavel.Round)
    assert isinstance(second, gavel.Round)
    assert (first.types, second.types) == ({"J2": "v100"}, {"J2": "p100"})


def cluster(devices: dict[str, int], *jobs: tuple[int, dict[str, float]]) -> Instance:
    """One machine, and jobs of (gang, iterations per second of the whole gang by type)."""
    return Instance.model_validate(
        {
            "slots": 4,
            "device_types": list(devices),
            "machines": [{"name": "m", "devices": devices}],
            "jobs": [
                {
                    "name": f"J{i}",
                    "arrival": 1,
                    "gang": gang,
                    "iterations": 1000,
                    "rate": {r: speed / gang for r, speed in speeds.items()},
                    "utility": {"kind": "table", "values": [1] * 4},
                }
                for i, (gang, speeds) in enumerate(jobs)
            ],
        }
    )


def shares(instance: Instance, **options: Any) -> dict[str, dict[str, float]]:
    return max_min_shares(instance, list(instance.jobs), **options)


def levels(instance: Instance, found: dict[str, dict[str, float]], **options: Any) -> dict[str, float]:
    return Policy(json.loads(instance.model_dump_json()), **options).levels(found)


def near(value: float) -> Any:
    return pytest.approx(value, abs=1e-8)


@pytest.mark.parametrize("normaliser", ["proportional", "isolated"])
def test_a_gang_of_one_gets_more_time_than_one_of_four(normaliser: str) -> None:
    """The program's value is 1, by the first job alone; it leaves three of four devices to the second."""
    instance = cluster({"t": 4}, (1, {"t": 8}), (4, {"t": 8}))
    assert shares(instance, normaliser=normaliser) == {"J0": {"t": near(1)}, "J1": {"t": near(0.75)}}


@pytest.mark.parametrize("normaliser", ["proportional", "isolated"])
def test_the_jobs_of_gavels_own_tests(normaliser: str) -> None:
    """Speeds (2, 1, .5) and (3, 2, 1) on one device of each type: 24/19.

    The first job has x of the fast device, (2x + 1 - x) 3/3.5 = (3(1 - x) + 2x)/2, so x = 9/19.
    """
    types = ("v100", "p100", "k80")
    first, second = ((1, dict(zip(types, speeds, strict=True))) for speeds in ((2, 1, 0.5), (3, 2, 1)))
    instance = cluster(dict.fromkeys(types, 1), first, second)
    found = shares(instance, normaliser=normaliser)
    assert found == {
        "J0": {"v100": near(9 / 19), "p100": near(10 / 19)},
        "J1": {"v100": near(10 / 19), "p100": near(9 / 19)},
    }
    assert levels(instance, found) == {"J0": near(24 / 19), "J1": near(24 / 19)}


def test_what_the_least_leave_is_shared_again() -> None:
    """Three jobs on a device of their own type, two on another, one on a third: a third of the time is 1 to all."""
    speeds = [{"a": 1.0}] * 3 + [{"b": 2.0}] * 2 + [{"c": 3.0}]
    instance = cluster({"a": 1, "b": 1, "c": 1}, *((1, speed) for speed in speeds))
    assert list(levels(instance, shares(instance)).values()) == [near(x) for x in (1, 1, 1, 1.5, 1.5, 3)]


def test_more_weight_more_time() -> None:
    instance = cluster({"t": 1}, (1, {"t": 5}), (1, {"t": 7}))
    assert shares(instance, weights={"J1": 3}) == {"J0": {"t": near(0.25)}, "J1": {"t": near(0.75)}}
    assert shares(instance, weights={"J0": 1e-7, "J1": 3e-7}) == {"J0": {"t": near(0.25)}, "J1": {"t": near(0.75)}}


def test_the_normalisers_differ_where_gangs_do() -> None:
    """Two devices, four when alone: isolated, the job of two has half of its time, the other all of it."""
    instance = cluster({"t": 2}, (1, {"t": 1}), (2, {"t": 1}))
    assert shares(instance) == {"J0": {"t": near(1)}, "J1": {"t": near(0.5)}}
    assert shares(instance, normaliser="isolated") == {"J0": {"t": near(1)}, "J1": {"t": near(0.5)}}
    crowded = cluster({"t": 2}, *[(1, {"t": 1})] * 3, (2, {"t": 1}))
    assert levels(crowded, shares(crowded)) == dict.fromkeys(("J0", "J1", "J2", "J3"), near(0.5))
    isolated = shares(crowded, normaliser="isolated")
    assert levels(crowded, isolated, isolated=True) == dict.fromkeys(("J0", "J1", "J2", "J3"), near(8 / 7))
    assert isolated["J3"] == {"t": near(1 / 7)}


def test_a_gang_too_large_for_a_type_has_no_share_of_it() -> None:
    instance = cluster({"few": 2, "many": 4}, (4, {"few": 9, "many": 1}))
    assert shares(instance) == {"J0": {"many": near(1)}}
    assert shares(cluster({"few": 2, "many": 3}, (4, {"few": 9, "many": 1}))) == {}


@pytest.mark.parametrize("normaliser", ["proportional", "isolated"])
@pytest.mark.parametrize("factor", [10**12, 10**15, 10**17])
def test_gangs_and_devices_in_any_number(normaliser: str, factor: int) -> None:
    rates = {"a": 2, "b": 1}, {"a": 3, "b": 3}, {"a": 1, "b": 4}
    small = shares(cluster({"a": 4, "b": 4}, (4, rates[0]), (2, rates[1]), (4, rates[2])), normaliser=normaliser)
    many = cluster(dict.fromkeys("ab", 4 * factor), *zip((4 * factor, 2 * factor, 4 * factor), rates, strict=True))
    large = shares(many, normaliser=normaliser)
    assert large == {name: {r: near(share) for r, share in mine.items()} for name, mine in small.items()}


@pytest.mark.slow
@pytest.mark.parametrize("normaliser", ["proportional", "isolated"])
@examples(20, 60)
@given(data=hadar_data(), drawn=st.lists(st.sampled_from([0.5, 1.0, 3.0]), min_size=8, max_size=8))
def test_no_job_can_get_more_unless_one_that_has_no_more_gets_less(
    normaliser: str, data: dict[str, Any], drawn: list[float]
) -> None:
    """This says lexicographic max-min; the first level is the value of Gavel's program."""
    instance = Instance.model_validate(data)
    weights = {job.name: weight for job, weight in zip(instance.jobs, drawn, strict=False)}
    data = json.loads(instance.model_dump_json())
    policy = Policy(data | {"jobs": [json_floats(job) for job in data["jobs"]]}, normaliser == "isolated", weights)
    reached = policy.levels(shares(instance, normaliser=normaliser, weights=weights))
    if reached:
        assert min(reached.values()) == pytest.approx(policy.best({}, set(reached)), rel=1e-6)
    for name, level in reached.items():
        floors = {other: least * (1 - 1e-7) for other, least in reached.items() if least <= level * (1 + 1e-7)}
        del floors[name]
        assert policy.best(floors, {name}) <= level * (1 + 1e-5) + 1e-7


def json_floats(job: dict[str, Any]) -> dict[str, Any]:
    return job | {"rate": {r: float(Fraction(str(speed))) for r, speed in job["rate"].items()}}


def test_the_same_jobs_have_the_same_shares() -> None:
    instance = preset("benchmark", 3, jobs=12, machines=4, types=3, slots=10)
    assert shares(instance) == shares(Instance.parse(json.loads(instance.model_dump_json())))


def test_equal_quotients_are_equal_in_the_rounds() -> None:
    """0.6 over three rounds is 0.2, though not in floats: the job listed first goes in round 5."""
    assert 0.6 / 3 < 0.2
    data = json.loads(cluster({"t": 1}, (1, {"t": 1}), (1, {"t": 1})).model_dump_json())
    rounds = gavel.run(Instance.parse(data | {"slots": 6}), {"J0": {"t": 0.6}, "J1": {"t": 0.2}}).log
    types = [next(iter(event.types)) for event in rounds if isinstance(event, gavel.Round)]
    assert types == ["J0", "J1", "J0", "J0", "J0", "J1"]


def test_two_equal_jobs_share_one_device_equally() -> None:
    job = {"arrival": 1, "gang": 1, "iterations": 2, "rate": {"t": 1}, "utility": {"kind": "table", "values": [1] * 4}}
    instance = Instance.model_validate(
        {
            "slots": 4,
            "device_types": ["t"],
            "machines": [{"name": "m", "devices": {"t": 1}}],
            "jobs": [{"name": "a", **job}, {"name": "b", **job}],
        }
    )
    shares = max_min_shares(instance, list(instance.jobs))
    assert shares == {"a": {"t": pytest.approx(0.5)}, "b": {"t": pytest.approx(0.5)}}
    result = gavel.run(instance)
    assert [list(e.types) for e in result.log if isinstance(e, gavel.Round)] == [["a"], ["b"], ["a"], ["b"]]


@pytest.mark.parametrize(
    ("normaliser", "devices", "jobs"),
    [
        (
            "proportional",
            {"t0": 2, "t1": 3, "t2": 1},
            [(2, {"t0": 6.0}), (1, {"t0": 4.0, "t1": 4.000000004, "t2": 3.0}), (3, {"t0": 3.0, "t1": 6.0, "t2": 15.0})],
        ),
        (
            "isolated",
            {"t0": 3, "t1": 2, "t2": 3},
            [
                (3, {"t0": 18.0, "t1": 1.5, "t2": 15.0}),
                (1, {"t0": 1.000000001, "t1": 1.0, "t2": 0.999999999}),
                (1, {"t0": 2.5, "t2": 2.0}),
                (1, {"t1": 4.0, "t2": 6.0}),
                (1, {"t1": 5.0, "t2": 4.0}),
            ],
        ),
    ],
)
def test_rates_that_all_but_tie(
    normaliser: str, devices: dict[str, int], jobs: list[tuple[int, dict[str, float]]]
) -> None:
    """What one program reaches, the next one all but cannot: rates differ by a part in 1e9."""
    instance = cluster(devices, *jobs)
    found = shares(instance, normaliser=normaliser)
    exact = [(gang, {r: round(rate, 6) for r, rate in speeds.items()}) for gang, speeds in jobs]
    tied = cluster(devices, *exact)
    reached, expected = (
        sorted(levels(one, some, isolated=normaliser == "isolated").values())
        for one, some in ((instance, found), (tied, shares(tied, normaliser=normaliser)))
    )
    assert reached == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize(
    ("shares", "message"),
    [
        ({"J9": {"v100": 1.0}}, "shares.J9: unknown job"),
        ({"J1": {"a100": 1.0}}, "shares.J1.a100: unknown device type"),
        ({"J1": {"v100": -0.1}}, "shares.J1.v100: -0.1"),
        ({"J1": {"v100": float("nan")}}, "shares.J1.v100: nan"),
    ],
)
def test_bad_shares_are_refused(shares: gavel.Shares, message: str) -> None:
    with pytest.raises(InputError, match=message):
        gavel.run(preset("motivation"), shares)


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ({"J9": 1.0}, "weights.J9: unknown job"),
        ({"J1": 0.0}, "weights.J1: 0.0 must be positive"),
        ({"J1": float("nan")}, "weights.J1: nan"),
        ({"J1": float("inf")}, "weights.J1: inf"),
    ],
)
def test_bad_weights_are_refused(weights: dict[str, float], message: str) -> None:
    with pytest.raises(InputError, match=message):
        gavel.run(preset("motivation"), weights=weights)
    with pytest.raises(InputError, match="equal"):
        gavel.run(preset("motivation"), normaliser="equal")


def test_a_solver_that_fails_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(highspy.Highs, "run", lambda _: highspy.HighsStatus.kError)
    with pytest.raises(SolverError, match="did not solve a linear program"):
        gavel.run(preset("motivation"))


def counted(schedule: Schedule) -> dict[tuple[str, int], dict[str, int]]:
    """What each job has of each type in each slot."""
    return {(name, slot): by_type(allocation) for name, slot, allocation in schedule.items()}


@pytest.mark.slow
@pytest.mark.parametrize("policy", list(gavel_policies.Policy))
@examples(6, 15)
@given(data=hadar_data(slots=5, jobs=4), mechanism=st.sampled_from(gavel.Mechanism))
def test_in_rounds_of_a_slot_the_simulator_says_the_same(
    policy: gavel_policies.Policy, data: dict[str, Any], mechanism: gavel.Mechanism
) -> None:
    p = Instance.model_validate(data)
    simulated = run_policy(p, gavel.Gavel(mechanism=mechanism, policy=policy))
    direct = gavel.run(p, mechanism=mechanism, policy=policy)
    assert counted(simulated.schedule) == counted(direct.schedule)
    assert simulated.utility == direct.utility


def test_jobs_that_stay_on_a_type_stay_on_their_devices() -> None:
    data = {
        "slots": 8,
        "device_types": ["t"],
        "machines": [{"name": "m", "devices": {"t": 1}}, {"name": "n", "devices": {"t": 1}}],
        "jobs": [
            {"name": name, "arrival": 1, "gang": 1, "iterations": work, "rate": {"t": 1}}
            | {"utility": {"kind": "hyperbolic", "scale": 1}}
            for name, work in (("A", 2), ("B", 6))
        ],
    }
    found = simulate(Instance.model_validate(data), gavel.Gavel(), round_seconds=2, restart_seconds=Fraction(1, 2))
    assert [(s.job, s.allocation, s.start, s.end) for s in found.segments] == [
        ("A", {"m": {"t": 1}}, 0, Fraction(5, 2)),
        ("B", {"n": {"t": 1}}, 0, Fraction(13, 2)),
    ]
