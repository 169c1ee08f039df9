"""PD-ORS: golden runs and constants, what every run keeps, its certificate, and bad input."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from itertools import count, islice, pairwise

import numpy as np
import pytest

from dlsched.algorithms import optimum
from dlsched.algorithms.pd_ors import JobDecision, alpha_measured, certificate, constants, run, unmet_premises
from dlsched.algorithms.run import Stripped
from dlsched.models import InputError
from dlsched.models.dmlrs import Instance, check, preset, random
from dlsched.models.numbers import exceeds
from tests.cases.pd_ors import GOLDEN, instance, job
from tests.longer import longer

UNIT = "1 1 1 1 1 0 1 1 1"
ROUTES = ("exact", "greedy", "lp-rounding")


def decisions(result) -> list[JobDecision]:
    return [event for event in result.log if isinstance(event, JobDecision)]


@pytest.mark.parametrize("name", GOLDEN)
def test_constants_are_the_golden_ones(name: str) -> None:
    golden = GOLDEN[name]
    found = constants(golden.instance)
    assert tuple(found.needed.values()) == golden.needed
    assert 1 / found.inverse_mu == Fraction(golden.mu)
    assert found.low == Fraction(golden.low)
    assert tuple(found.high.values()) == tuple(map(Fraction, golden.high))


@pytest.mark.parametrize("name", GOLDEN)
def test_runs_are_the_golden_ones(name: str) -> None:
    golden = GOLDEN[name]
    result = run(golden.instance)
    assert check(golden.instance, result.schedule) == []
    assert [event.payoff for event in decisions(result)] == pytest.approx(golden.payoffs, abs=1e-6)
    assert result.utility == pytest.approx(golden.utility)
    if golden.dual is not None:
        assert certificate(golden.instance, result).dual == pytest.approx(golden.dual, abs=1e-5)
    if golden.prices:
        low = float(Fraction(golden.low))
        risen = Counter(round(p, 6) for p in result.prices.values() if abs(p - low) > 1e-9)
        assert risen == golden.prices


def test_prices_between_the_lowest_and_the_highest() -> None:
    found = constants(GOLDEN["D4"].instance)
    assert found.price("m1", "r0", 2) == pytest.approx(1.265149, abs=1e-6)
    assert found.price("m1", "r1", 1) == pytest.approx(0.474342, abs=1e-6)
    assert [found.price("m1", "r0", amount) for amount in (0, 3)] == [0.025, 9]
    first = decisions(run(GOLDEN["D4"].instance))[0]
    after = sorted(step.after for step in first.steps)
    assert after == pytest.approx([0.474342, 0.474342, 1.265149, 1.265149], abs=1e-6)


def test_d5_defeats_the_printed_ratio_and_the_repaired_dual_sees_it() -> None:
    inst = GOLDEN["D5"].instance
    result = run(inst)
    found = certificate(inst, result)
    assert result.utility == 1
    assert found.alpha == pytest.approx(1999)
    assert found.bound >= 1000 - 1e-6


def test_d11_is_not_dual_feasible_before_the_repair() -> None:
    inst = GOLDEN["D11"].instance
    found = certificate(inst, run(inst))
    assert found.dual < 1000 <= found.bound + 1e-6


@pytest.mark.slow
@pytest.mark.parametrize("seed", longer(range(12), *range(3, 12)))
@pytest.mark.parametrize("asynchronous", [False, True])
def test_every_run_is_feasible_and_certified(seed: int, asynchronous: bool) -> None:
    rng = np.random.default_rng(seed)
    inst = random(rng, jobs=4, capacity=4, asynchronous=asynchronous, faster_external=seed % 3 == 0)
    best = optimum(inst, time_limit=20).value
    for route in ROUTES:
        result = run(inst, external=route, seed=seed)
        assert check(inst, result.schedule) == []
        for event in decisions(result):
            paid = sum(step.before * float(step.amount) for step in event.steps)
            one = inst.job(event.job)
            worth = one.utility(event.completion - one.arrival) if event.admitted else 0.0
            assert event.payoff == pytest.approx(worth - paid, abs=1e-9)
        found = certificate(inst, result)
        assert found.holds
        assert not exceeds(best, found.bound), route


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_a_seed_fixes_the_roundings(seed: int) -> None:
    inst = preset("benchmark", seed, jobs=6, machines=3, slots=6, multiple=3.0)
    first, again = (run(inst, external="lp-rounding", seed=7) for _ in range(2))
    assert first.schedule == again.schedule
    assert first.log == again.log


def test_prices_never_fall_and_end_as_the_log_says() -> None:
    inst = preset("benchmark", 3, jobs=10, machines=3, slots=8, multiple=3.0)
    result = run(inst)
    moved: dict[tuple[str, str, int], list] = {}
    for step in (step for event in decisions(result) for step in event.steps):
        moved.setdefault((step.machine, step.resource, step.slot), []).append(step)
    assert moved
    for cell, steps in moved.items():
        assert all(step.before <= step.after for step in steps)
        assert all(a.after == b.before for a, b in pairwise(steps))
        assert result.prices[cell] == steps[-1].after


@pytest.mark.slow
def test_a_run_at_the_papers_scale_leaves_nothing_to_the_slow_routes() -> None:
    result = run(preset("benchmark", 0, jobs=50, machines=100, slots=20, multiple=18.0))
    assert sum(event.subproblems.states for event in decisions(result)) > 1000
    assert sum(event.subproblems.solved for event in decisions(result)) <= 10


def premised(seed: int) -> Instance | None:
    """An instance that meets the premises of the corrected theorem, or None."""
    inst = random(np.random.default_rng(seed), jobs=3, machines=1, resources=1, capacity=9)
    return None if unmet_premises(inst) else inst


@pytest.mark.slow
@pytest.mark.parametrize(("first", "instances"), longer([(0, 3), (3, 12)], (3, 12)))
def test_the_corrected_theorem_holds_where_its_premises_do(first: int, instances: int) -> None:
    met = 0
    for inst in islice(filter(None, map(premised, count())), first, instances):
        result = run(inst, prices="theorem")
        best = optimum(inst, time_limit=20).value
        met += best > 0
        factor = 2 * max(1.0, alpha_measured(inst, result.log))
        assert not exceeds(best, factor * result.utility)
        assert not exceeds(best, certificate(inst, result).dual)
    assert met >= (instances - first) / 2.4


def test_the_theorems_premise_is_checked() -> None:
    with pytest.raises(InputError, match="premise"):
        constants(GOLDEN["D5"].instance, "theorem")
    with pytest.raises(InputError, match="factor"):
        constants(GOLDEN["D5"].instance, "theorem", factor=0.5)


def test_printed_prices_take_a_duration_that_is_none() -> None:
    late = job("j0", "3 1 2 1 1 0 1 1 1", (1,), (1,), [8, 4, 2])
    inst = instance(5, [(2,)], late)
    assert constants(inst, "printed").high == {"r0": 4}  # u(2 - 3) for u(2 - 1)
    assert constants(inst).high == {"r0": 2}


@pytest.mark.parametrize(
    ("capacity", "worker", "server", "utility", "rule"),
    [
        ((2, 2), (1, 0), (1, 0), [1], "needs nothing"),
        ((2, 0), (1, 1), (1, 1), [1], "capacity 0"),
        ((2, 2), (1, 1), (1, 1), [0], "L = 0"),
    ],
)
def test_where_the_print_divides_by_zero_it_says_so_and_the_repair_does_not(
    capacity: tuple, worker: tuple, server: tuple, utility: list, rule: str
) -> None:
    inst = instance(1, [capacity], job("j0", UNIT, worker, server, utility))
    with pytest.raises(InputError, match=rule):
        run(inst, variant="printed")
    result = run(inst)
    assert check(inst, result.schedule) == []
    assert all(math.isfinite(price) for price in result.prices.values())


def test_a_job_without_needs_and_a_cluster_without_anything() -> None:
    free = instance(1, [(2,)], job("j0", UNIT, (0,), (0,), [5]))
    assert run(free).utility == 5
    bare = instance(1, [(0,)], job("j0", UNIT, (1,), (1,), [5]))
    assert run(bare).utility == 0
    assert run(bare).prices == {}
    for inst, rule in ((free, "needs no resource"), (bare, "no capacity")):
        with pytest.raises(InputError, match=rule):
            constants(inst, "printed")


def test_a_job_that_cannot_finish_moves_no_price_constant() -> None:
    short = job("j0", UNIT, (1,), (1,), [6, 5])
    endless = job("j1", "1 1 9 1 1 0 1 1 1", (1,), (1,), [900] * 9)
    both, alone = instance(2, [(4,)], short, endless), instance(2, [(4,)], short)
    assert constants(both) == constants(alone)
    assert constants(both, "printed").high["r0"] == 450


def test_a_utility_that_ends_before_the_horizon_has_a_positive_floor() -> None:
    inst = instance(3, [(4,)], job("j0", UNIT, (1,), (1,), [6, 2, 0]))
    assert constants(inst, "printed").low == 0
    assert constants(inst).low == Fraction(1, 2) * Fraction(2, 12) * Fraction(2, 2)
    assert run(inst).utility == 6


def test_faster_external_communication_is_used_as_if_it_were_not() -> None:
    reversed_ = job("j0", "1 1 2 1 1/2 1/2 1 1 2", (1,), (1,), [9, 4])
    inst = instance(2, [(1,), (1,)], reversed_)  # kappa 3/2 internal, 1 external: two slots as disjoint placements
    assert run(inst).utility == 0
    assert certificate(inst, run(inst)).bound >= 4


@pytest.mark.parametrize(
    ("options", "rule"),
    [
        ({"gain": "big"}, "gain"),
        ({"gain": -1.0}, "gain"),
        ({"delta": 0.0}, "delta"),
        ({"rounds": 0}, "rounds"),
    ],
)
def test_bad_settings_are_refused(options: dict, rule: str) -> None:
    with pytest.raises(InputError, match=rule):
        run(GOLDEN["D1"].instance, **options)


def test_the_printed_program_refuses_too_many_samples() -> None:
    inst = instance(2, [(10,)], job("j0", "1 1 100000 10 1/10000 0 1 1 1", (1,), (1,), [5, 4]))
    with pytest.raises(InputError, match="worker-slots"):
        run(inst, variant="printed")
    assert run(inst, variant="printed", program="worker-slots").utility > 0


def test_as_printed_workers_are_placed_externally_and_to_the_letter_none_is() -> None:
    """Workers fit on m0 only, servers on m1 only; (23)-(26) forget the servers, which (2) asks for."""
    apart = job("j0", "1 1 2 2 1/2 1/2 1 2 1", (1, 0), (0, 1), [9, 8])
    inst = instance(2, [(3, 0), (0, 3)], apart)
    printed = run(inst, variant="printed", prices="repaired")
    assert printed.utility == run(inst).utility > 0
    assert check(inst, printed.schedule) == []
    assert sum(event.subproblems.feasible for event in decisions(printed)) > 0
    assert run(inst, variant="printed", prices="repaired", external="lp-rounding-literal").utility == 0


def test_the_printed_worker_count_of_the_thesis_leaves_jobs_unfinished() -> None:
    data = {
        "name": "j0", "arrival": 1, "epochs": 1, "chunks": 2, "minibatches_per_chunk": 1, "slots_per_minibatch": "1/2",
        "gradient_size": "1/4", "internal_rate": 2, "external_rate": 1, "server_rate": 1,
        "worker": {"r0": 1}, "server": {"r1": 1}, "utility": {"kind": "table", "values": [5, 4]},
    }  # fmt: skip
    inst = Instance.model_validate(
        {
            "slots": 2,
            "resources": ["r0", "r1"],
            "machines": [{"name": "m0", "capacity": {"r0": 2}}, {"name": "m1", "capacity": {"r1": 2}}],
            "jobs": [data],
        }
    )
    assert run(inst).utility == 5
    with pytest.raises(InputError, match="capacity 0"):
        run(inst, variant="printed")
    literal = run(inst, variant="printed", prices="repaired")
    assert literal.utility == 0
    assert [type(event) for event in literal.log] == [Stripped, JobDecision]


def test_the_shrinking_gain_where_there_is_no_resource() -> None:
    """(29) has no row then, r = RH = 0 in the thesis, and nothing to shrink for."""
    data = random(0, asynchronous=True).dump()
    nothing = {"resources": [], "machines": [{"name": "m", "capacity": {}}]}
    jobs = [one | {"worker": {}, "server": {}} for one in data["jobs"]]
    inst = Instance.parse(data | nothing | {"jobs": jobs})
    settings = {"external": "lp-rounding", "prices": "repaired", "program": "worker-slots"}
    plain, shrunk = (run(inst, variant="printed", gain=gain, **settings) for gain in ("1", "packing"))
    assert shrunk.utility == plain.utility > 0
