"""ESW and Optimus: small cases by hand, an independent Optimus, and where utilities are flat."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from dlsched.algorithms import Run
from dlsched.algorithms.baselines.smd import esw, optimus
from dlsched.algorithms.smd import NeverAdmitted, OuterStep
from dlsched.models.smd import Instance, Job, Schedule, best_point, check, preset, random


def one(mode: str, theta: tuple[Any, ...], utility: dict[str, Any], limit: dict[str, Any]) -> Instance:
    """One job whose workers need 2 of the first resource and 1 of the second, and whose servers need 1 of each."""
    return Instance.model_validate(
        {
            "resources": ["a", "b"],
            "capacity": {"a": 100, "b": 100},
            "jobs": [
                {
                    "name": "job",
                    "worker": {"a": 2, "b": 1},
                    "server": {"a": 1, "b": 1},
                    "limit": limit,
                    "utility": utility,
                    "training": {"kind": "coefficients", "mode": mode, "theta": theta},
                }
            ],
        }
    )


HYPERBOLIC = {"kind": "hyperbolic", "scale": 30}
ROOMY = {"a": 40, "b": 30}


def counts(result: Run[Schedule]) -> dict[str, tuple[int, int]]:
    return {name: (entry.workers, entry.servers) for name, entry in result.schedule.jobs.items()}


def grown(instance: Instance) -> optimus.Grown:
    event = optimus.run(instance).log[0]
    assert isinstance(event, optimus.Grown)
    return event


@pytest.mark.parametrize(("limit", "each"), [((8, 6), 2), ((9, 6), 3), ((9, "11/2"), 2), ((3, 2), 1)])
def test_equal_shares_are_as_large_as_the_limits_allow(limit: tuple[Any, Any], each: int) -> None:
    instance = one("async", (0, 1, 6, 6), HYPERBOLIC, {"a": limit[0], "b": limit[1]})
    result = esw.run(instance)
    assert counts(result) == {"job": (each, each)}
    assert result.utility == pytest.approx(30 / (1 + 1 + 12 / each))


def test_equal_shares_do_not_ask_whether_fewer_are_faster() -> None:
    instance = one("sync", (5, 5, 0, 0, 1), HYPERBOLIC, {"a": 30, "b": 30})
    assert counts(esw.run(instance)) == {"job": (10, 10)}
    assert counts(optimus.run(instance)) == {"job": (1, 1)}


def test_optimus_by_hand() -> None:
    # tau at (1,1) is 13; (2,1) 9.5 or (1,2) 11; then (3,1) 8.333 or (2,2) 7; (3,2) 5.667 is better than (2,3) 6.5 and
    # leaves no room for a worker or a server.
    instance = one("async", (0, 1, 6, 6), HYPERBOLIC, {"a": 8, "b": 6})
    event = grown(instance)
    assert (event.chosen.workers, event.chosen.servers, event.limited) == (3, 2, True)
    assert event.chosen.time == Fraction(17, 3)


def test_optimus_prefers_a_worker_where_both_gain_the_same() -> None:
    # tau = 8/w + 8/p, room for one more of either
    instance = one("async", (0, 0, 8, 8), HYPERBOLIC, {"a": 5, "b": 3})
    assert counts(optimus.run(instance)) == {"job": (2, 1)}


def test_optimus_adds_what_fits_where_the_better_does_not() -> None:
    # A second worker would gain more than a server, but does not fit.
    instance = one("async", (0, 0, 80, 8), HYPERBOLIC, {"a": 4, "b": 30})
    assert counts(optimus.run(instance)) == {"job": (1, 2)}


def test_optimus_stops_short_of_the_best() -> None:
    # tau is 14 at (1,1), (2,1) and (1,2), and 12 at (2,2).
    instance = one("sync", (0, 2, 0, 4, 8), HYPERBOLIC, ROOMY)
    event = grown(instance)
    assert (event.chosen.workers, event.chosen.servers, event.limited) == (1, 1, False)
    best = best_point(instance.jobs[0])
    assert best is not None
    assert (event.chosen.time, best.time <= 12) == (14, True)


def literal(job: Job, falls: bool) -> tuple[int, int]:
    """Optimus, literally: by the gain in utility, or by the fall of the time where the utility falls strictly."""
    w = p = 1
    while True:
        now = job.training.time(w, p)
        gains = []
        for dw, dp in ((1, 0), (0, 1)):
            if all(
                job.worker_needs(r) * (w + dw) + job.server_needs(r) * (p + dp) <= job.limit_of(r)
                for r in ("resource1", "resource2")
            ):
                then = job.training.time(w + dw, p + dp)
                gain = now - then if falls else job.utility.exact(then) - job.utility.exact(now)
                gains.append((gain, dw, dp))
        gain, dw, dp = max(gains, default=(Fraction(0), 0, 0))
        if gain <= 0:
            return w, p
        w, p = w + dw, p + dp


@pytest.mark.slow
def test_optimus_is_as_stated_on_random_instances() -> None:
    kinds = set()
    for seed in range(80):
        instance = random(np.random.default_rng([3, seed]), jobs=4, limit=14)
        result = optimus.run(instance)
        events = {event.job: event.chosen for event in result.log if isinstance(event, optimus.Grown)}
        assert set(events) == {job.name for job in instance.jobs if instance.admissible(job)}
        for name, chosen in events.items():
            job = instance.job(name)
            falls = job.utility.kind == "sigmoid" and job.utility.steepness > 0
            assert (chosen.workers, chosen.servers) == literal(job, falls)
            assert chosen.utility == job.utility.exact(chosen.time)
            kinds.add((job.utility.kind, chosen.workers * chosen.servers > 1))
    assert kinds >= {(kind, grew) for kind in ("sigmoid", "hyperbolic", "step", "table") for grew in (True, False)}


@pytest.mark.parametrize("midpoint", [1, 1000])
def test_a_sigmoid_that_is_flat_in_doubles_is_still_climbed(midpoint: int) -> None:
    flat = {"kind": "sigmoid", "height": 10, "steepness": 1000, "midpoint": midpoint}
    event, other = (grown(one("async", (0, 1, 60, 60), utility, ROOMY)) for utility in (flat, HYPERBOLIC))
    assert event.chosen.utility == (0 if midpoint == 1 else 10)
    assert (event.chosen.workers, event.chosen.servers) == (other.chosen.workers, other.chosen.servers) != (1, 1)


@pytest.mark.parametrize(
    "utility",
    [
        {"kind": "step", "value": 10, "deadline": 20},
        {"kind": "linear", "intercept": 10, "slope": 1},
        {"kind": "sigmoid", "height": 10, "steepness": 0, "midpoint": 1},
    ],
)
def test_optimus_stops_where_a_utility_is_truly_flat(utility: dict[str, Any]) -> None:
    event = grown(one("async", (0, 1, 60, 60), utility, ROOMY))
    assert (event.chosen.workers, event.chosen.servers, event.limited) == (1, 1, False)


@pytest.mark.slow
@pytest.mark.parametrize("run", [esw.run, optimus.run])
def test_schedules_are_feasible_and_admitted_as_by_smd(run: Any) -> None:
    for instance in (*(random(np.random.default_rng(seed), jobs=6) for seed in range(20)), preset("paper", 2, jobs=20)):
        result = run(instance)
        assert check(instance, result.schedule) == []
        assert result.prices == {}
        exact, scheme, coarse = (run(instance, seed=3, outer=outer) for outer in ("exact", "scheme", "auto"))
        assert exact == result
        assert scheme.utility == pytest.approx(result.utility) == pytest.approx(coarse.utility)
        never = {event.job for event in result.log if isinstance(event, NeverAdmitted)}
        assert never == {job.name for job in instance.jobs if not instance.admissible(job)}
        last = result.log[-1]
        assert isinstance(last, OuterStep)
        assert list(last.admitted) == list(result.schedule.jobs)
        assert last.method == "exact"


@pytest.mark.parametrize("run", [esw.run, optimus.run])
def test_unknown_options_are_refused(run: Any) -> None:
    instance = one("async", (0, 1, 6, 6), HYPERBOLIC, ROOMY)
    with pytest.raises(ValueError, match="outer: 'greedy' is not one of auto, scheme, exact"):
        run(instance, outer="greedy")
    with pytest.raises(ValueError, match="epsilon"):
        run(instance, outer="scheme", outer_epsilon=2)
