"""SMD's claims: hypotheses and parameters of the print, exact laws of the printed rounding, and what could fail."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest

from dlsched.algorithms import smd as algorithm
from dlsched.algorithms.baselines.smd import optimus
from dlsched.bounds import Expectation, Status, Variant, check, claim, claims
from dlsched.bounds.claim import decide
from dlsched.bounds.search import draw
from dlsched.bounds.smd import sources
from dlsched.bounds.smd.facts import GridFacts, RoundingFacts, SmdFacts
from dlsched.bounds.smd.least import GAP, least_times
from dlsched.bounds.smd.packing import Shifted
from dlsched.bounds.witness import shipped
from dlsched.models import InputError
from dlsched.models.smd import Instance, preset, ratios, utility
from dlsched.relaxations import sum_of_ratios

M = 0.2619522755
"""M_delta of one resource, W_b = 2 and delta = 1/2."""


def one_each(jobs: int = 1, capacity: int | None = None) -> Instance:
    """Return jobs whose only point is one worker and one server, worth 100/6."""
    return Instance.parse(
        {
            "resources": ["cpu"],
            "capacity": {"cpu": 2 * jobs if capacity is None else capacity},
            "jobs": [
                {
                    "name": f"job{i + 1}",
                    "worker": {"cpu": 1},
                    "server": {"cpu": 1},
                    "limit": {"cpu": 2},
                    "utility": {"kind": "hyperbolic", "scale": 100},
                    "training": {"kind": "coefficients", "mode": "sync", "theta": [1] * 5},
                }
                for i in range(jobs)
            ],
        }
    )


@pytest.mark.parametrize("seed", range(20))
def test_the_ratio_of_theorem_5_is_that_of_the_printed_run(seed: int) -> None:
    """Most printed roundings lose the only job; the theorem is about the others."""
    instance = one_each()
    printed = algorithm.run(instance, seed=seed, variant="printed", delta=0.5, rounds=1)
    given, always = (check(f"smd/theorem-5-ratio{tail}", instance, seed) for tail in ("", "-always"))
    assert always.measured == pytest.approx(printed.utility / (100 / 6))
    if printed.utility:
        assert given.status is always.status is Status.HOLDS
    else:
        assert always.status is Status.VIOLATED
        assert given.reason == "Algorithm 2 returns a feasible point of each job"


@pytest.mark.parametrize(("jobs", "capacity", "rounds"), [(1, 2, 1), (1, 2, 7), (2, 4, 3), (3, 6, 2), (2, 2, 1)])
def test_theorem_5_counts_every_outcome_that_is_worth_enough(jobs: int, capacity: int, rounds: int) -> None:
    """Less than 1/I of the optimum is promised: one job that succeeds is enough."""
    verdict = check("smd/theorem-5-one-round", one_each(jobs, capacity), rounds=rounds)
    fails, may_fail = (1 - M * M) ** (rounds * jobs), 1 - (1 - (1 / 16) ** rounds) ** jobs
    assert verdict.measured == pytest.approx(fails / may_fail, rel=1e-6)
    assert verdict.status is Status.VIOLATED


def test_theorem_5_is_compared_by_what_may_fail() -> None:
    """One less a probability to fail of 4e-8 is 1 within the tolerance; it is 3e15 times what is promised."""
    known = claim("smd/theorem-5-20-rounds")
    instance = sources.NARROW.draw(np.random.default_rng(9))
    facts: Any = known.facts(instance, 0)
    assert 0 < 1 - facts.chance_of_worth(0.5, 20) < 1e-6
    assert decide(known, instance, facts=facts).status is Status.VIOLATED
    assert check("smd/theorem-5-one-round", one_each(), rounds=1000).measured == math.inf


def test_theorem_5_supposes_that_algorithm_1_is_within_1_plus_eps_1() -> None:
    """Printed, the grid has no point for this job: SMD as printed is worth nothing, and the theorem is silent."""
    lost = Instance.parse(
        {
            "resources": ["cpu", "gpu"],
            "capacity": {"cpu": 4, "gpu": 4},
            "jobs": [
                {
                    "name": "job1",
                    "worker": {"cpu": 1},
                    "server": {"gpu": 1},
                    "limit": {"cpu": 4, "gpu": 4},
                    "utility": {"kind": "hyperbolic", "scale": 100},
                    "training": {"kind": "coefficients", "mode": "sync", "theta": ["1/10", "1/10", 1000, 1, 40]},
                }
            ],
        }
    )
    assert algorithm.run(lost, variant="printed", delta=0.5, epsilon=0.01, outer="exact").utility == 0
    for name in ("", "-one-round", "-5-rounds", "-20-rounds", "-ratio", "-ratio-always"):
        verdict = check(f"smd/theorem-5{name}", lost)
        assert verdict.status is Status.PREMISE_FAILS
        assert verdict.reason == "Algorithm 1 is within 1 + eps_1 of each job's tau*"


@pytest.mark.parametrize("source", [sources.NARROW, sources.BRIM], ids=lambda source: source.name)
def test_the_chance_of_theorem_5_is_that_of_its_outcomes(source: Any) -> None:
    """By trying every outcome of every job, and every set of jobs, in plain sums."""
    for seed in range(6):
        instance: Instance = source.draw(np.random.default_rng(seed))
        facts = RoundingFacts(instance, 0, rounds=2)
        laws = []
        for rounding in facts.roundings:
            job = rounding.job
            good = {point: p for point, p in rounding.outcomes if min(point) >= 1 and job.fits(*point)}
            never = (1 - sum(good.values(), Fraction(0))) ** 2
            share = (1 - never) / sum(good.values(), Fraction(0)) if good else Fraction(0)
            law = {(job.utility.exact(job.training.time(*point))): Fraction(0) for point in good}
            for point, p in good.items():
                law[job.utility.exact(job.training.time(*point))] += p * share
            laws.append([*law.items(), (Fraction(0), never)])
        for least in (0.5, 2.0, 5.0):
            chance = sum(
                np.prod([p for _, p in outcome])
                for outcome in product(*laws)
                if max(_admitted(instance, [worth for worth, _ in outcome])) >= least
            )
            assert float(facts.chance_of_worth(least, facts.rounds)) == pytest.approx(float(chance))


@pytest.mark.slow
@pytest.mark.parametrize("source", [sources.NARROW, sources.TINY], ids=lambda source: source.name)
def test_rounding_until_a_point_is_feasible_is_what_many_rounds_come_to(source: Any) -> None:
    """The letter of step 3 of Algorithm 2; each feasible point costs less than Theorem 4 promises."""
    for seed in range(6):
        facts = RoundingFacts(source.draw(np.random.default_rng(seed)), 0)
        for rounding in facts.roundings:
            at_last, many = rounding.returned(None), rounding.returned(5000)
            assert sum(p for _, p in at_last) == 1
            assert at_last[-1] == (0, 0)
            assert [float(p) for _, p in many] == pytest.approx([float(p) for _, p in at_last], abs=1e-6)
            feasible = [point for point, p in rounding.outcomes if p and rounding.feasible(*point)]
            assert max(rounding.cost(*point) for point in feasible) <= facts.factor(rounding.gain)


def test_theorem_4_of_utilities_fails_where_every_rounding_ends_late() -> None:
    """M x~ = (4 M, M), W_b = 5: one or two workers of four, each within the factor in time and none in utility."""
    instance = shipped("smd-theorem-4-utility-deadline").read_instance()
    facts = RoundingFacts(instance, 0)
    a = 3 * math.log(4) / 10
    gain = 1 + a - math.sqrt(a * a + 2 * a)
    late, optimum = (10 / (1 + math.exp(4 * (10 / w - 3))) for w in (2, 4))
    assert late < optimum / ((24 / gain + 4) / 0.5)
    assert facts.opt.low == pytest.approx(optimum)
    assert check("smd/theorem-4-utility", instance).measured == 0
    assert check("smd/theorem-4", instance).measured == 1
    assert float(facts.chance_of_worth(late * 0.99, None)) == pytest.approx(4 * gain - 1)


def _admitted(instance: Instance, worth: list[Fraction]) -> list[Fraction]:
    """Return what every set of jobs that fits the cluster is worth."""
    found = []
    for chosen in product((0, 1), repeat=len(worth)):
        reserved = {
            r: sum(x * job.limit_of(r) for x, job in zip(chosen, instance.jobs, strict=True))
            for r in instance.resources
        }
        if all(reserved[r] <= instance.capacity_of(r) for r in instance.resources):
            found.append(sum((x * v for x, v in zip(chosen, worth, strict=True)), Fraction(0)))
    return found


def test_theorem_5_corrected_is_vacuous_where_no_rounding_breaks_a_limit() -> None:
    roomy = check("smd/theorem-5-20-rounds", one_each(), variant="corrected")
    assert roomy.status is Status.VACUOUS
    brim = sources.BRIM.draw(np.random.default_rng(0))
    verdicts = [check("smd/theorem-5-one-round", brim, variant="corrected", rounds=rounds) for rounds in (1, 2, 20)]
    assert [verdict.status for verdict in verdicts] == [Status.HOLDS] * 3
    measured = [verdict.measured or 0.0 for verdict in verdicts]
    assert 0.05 < measured[0] < 1
    assert measured[1] == pytest.approx(measured[0] ** 2, rel=0.5)
    assert 0 < measured[2] < measured[1]


def test_a_promise_of_nothing_is_vacuous() -> None:
    """In the paper's ranges mu'/mu* is below e^-52."""
    instance = preset("paper", 0, jobs=3, mode="sync")
    verdict = check("smd/theorem-5-ratio", instance, variant="corrected")
    assert verdict.status is Status.VACUOUS
    assert verdict.bound == pytest.approx(0, abs=1e-15)


@pytest.mark.parametrize("id_", ["smd/evaluation", "smd/evaluation-esw", "smd/used-resources"])
def test_one_instance_decides_no_figure(id_: str) -> None:
    known = claim(id_)
    instance = preset("paper", 1, jobs=4, mode="async")
    verdict = check(id_, instance)
    assert known.sampled
    assert known.guessed
    assert known.expectation is Expectation.OPEN
    assert verdict.status is Status.UNDECIDED
    assert "average" in verdict.reason


def test_how_the_baselines_are_admitted_is_open_where_there_are_baselines() -> None:
    ids = ("smd/evaluation", "smd/evaluation-esw", "smd/used-resources")
    assert ["how the baselines meet (2)" in claim(id_).open for id_ in ids] == [True, True, False]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("mode", "listed", "by_utility", "smd"), [("async", 203.2, 404.8, 458.6), ("sync", 135.7, 418.8, 483.7)]
)
def test_with_optimus_admitted_otherwise_smd_is_ahead(mode: str, listed: float, by_utility: float, smd: float) -> None:
    """Its workers and servers are the same, and (2) is met by taking jobs while they fit."""
    instance = preset("paper", 0, mode=mode)
    points = {event.job: event.chosen for event in optimus.run(instance).log if isinstance(event, optimus.Grown)}

    def worth(order: list[str]) -> float:
        left, total = dict(instance.capacity), 0.0
        for job in map(instance.job, order):
            if all(job.limit_of(r) <= room for r, room in left.items()):
                left = {r: room - job.limit_of(r) for r, room in left.items()}
                total += float(points[job.name].utility)
        return total

    assert worth(list(points)) == pytest.approx(listed, abs=0.05)
    assert worth(sorted(points, key=lambda name: -points[name].utility)) == pytest.approx(by_utility, abs=0.05)
    assert SmdFacts(instance, 0).evaluated.utility == pytest.approx(smd, abs=0.05)


@pytest.mark.slow
def test_the_figures_are_drawn_at_the_papers_sizes() -> None:
    drawn = [sources.EVALUATION.draw(np.random.default_rng(seed)) for seed in range(22)]
    assert {len(instance.jobs) for instance in drawn} == {50}
    assert {instance.capacity["gpu"] / 600 for instance in drawn} == {1, 2, 3, 4, 5}
    assert {str(job.training.mode) for instance in drawn for job in instance.jobs} == {"sync", "async"}


@pytest.mark.slow
def test_eta_that_is_right_at_both_ends_is_right_between_them() -> None:
    """Some draws meet the premises with points between the ends, and some are refused by them."""
    corrected = claim("smd/eta-constant", "corrected")
    between = 0
    for seed in range(60):
        instance = sources.LAYERED.draw(np.random.default_rng(seed))
        facts: Any = corrected.facts(instance, 0)
        verdict = decide(corrected, instance, facts=facts)
        if verdict.status is Status.HOLDS:
            between += any(len(found) > 2 for found in facts.relative_times.values())
            assert {value for found in facts.relative_times.values() for value in found.values()} == {1}
    assert between >= 5
    twice = shipped("smd-eta-constant-doubled-transfers").read_instance()
    refused = check("smd/eta-constant", twice, variant="corrected")
    assert refused.reason == "eta is right at the least and at the greatest w/p"


@pytest.mark.slow
def test_the_knapsack_scheme_comes_near_its_bound() -> None:
    """Two jobs that fill the cluster, and a dense small one that spoils every linear program."""
    nearest = min(
        check("smd/knapsack-scheme", sources.FILLED.draw(np.random.default_rng(seed)), variant="corrected").measured
        or 1.0
        for seed in range(30)
    )
    assert 0.5 <= nearest < 0.56


@pytest.mark.parametrize(("worth", "status"), [(3, Status.UNDECIDED), (4, Status.HOLDS), ("5/2", Status.VIOLATED)])
def test_what_the_floor_of_a_program_is_worth_does_not_hang_on_a_vertex(worth: int | str, status: Status) -> None:
    """Of jobs that take 1 and 3 of 3 units, worth 1 and 3, LP(empty) takes the second, or the first and 2/3 of it."""
    jobs = [
        {**one_each().dump()["jobs"][0], "name": f"job{size}", "limit": {"cpu": size}}
        | {"worker": {"cpu": "1/2"}, "server": {"cpu": "1/2"}}
        | {"utility": {"kind": "step", "value": value, "deadline": 5}}
        for size, value in ((1, 1), (3, worth))
    ]
    for order in (jobs, jobs[::-1]):
        instance = Instance.parse({**one_each().dump(), "capacity": {"cpu": 3}, "jobs": order})
        assert check("smd/knapsack-floor", instance).status is status


def test_the_floor_is_known_where_the_optimum_is_alone() -> None:
    """Of six jobs and three resources, whose multipliers have so many digits at other costs that they are not found."""
    instance, seed = draw(sources.KNAPSACK, 96, 0)
    assert check("smd/knapsack-floor", instance, seed).status is Status.HOLDS


@pytest.mark.slow
@pytest.mark.parametrize("delta", [1.0, 0.5, 1e-4])
def test_no_printed_rounding_breaks_a_limit(delta: float) -> None:
    """With x~ >= 1: M <= 1/2 and ceil(M x) <= x, or W_b > 4 and the rows have room for one more of each."""
    roomy = Instance.parse({**one_each().dump(), "capacity": {"cpu": 40}})
    wide = Instance.parse({**roomy.dump(), "jobs": [{**roomy.dump()["jobs"][0], "limit": {"cpu": "37/2"}}]})
    drawn = [source.draw(np.random.default_rng(seed)) for source in (sources.TINY, sources.BRIM) for seed in range(8)]
    for instance in (wide, *drawn):
        facts = RoundingFacts(instance, 0, delta=delta)
        assert all(rounding.probability(rounding.job.fits) == 1 for rounding in facts.roundings)
        if facts.roundings:
            assert check("smd/theorem-4-row", instance, delta=delta).measured == 0


@pytest.mark.slow
@pytest.mark.parametrize("source", [sources.INNER, sources.TINY], ids=lambda source: source.name)
def test_the_least_time_is_between_its_ends(source: Any) -> None:
    """Below every point on a fine lattice of the region, whole points among them, and near the best of them."""
    for seed in range(8):
        for job in GridFacts(source.draw(np.random.default_rng(seed)), 0).running:
            low, high = least_times(job)
            assert (1 - GAP) * high <= low <= high
            w, p = (np.linspace(1, most + 1, 24 * most + 1) for most in (job.most_workers, job.most_servers))
            pairs = np.array(list(product(w.tolist(), p.tolist())))
            limits = ratios(job).polytope
            inside = pairs[(pairs @ limits.A.T <= limits.row_upper + 1e-9).all(axis=1)]
            best = float(ratios(job)(inside).min())
            assert float(low) <= best * (1 + 1e-9)
            assert best <= 1.05 * float(high)


@pytest.mark.parametrize(
    "split",
    [
        (lambda w, p: w + p + 1, lambda w, p: w / p, lambda w, p: 1 / w),
        (lambda w, p: w, lambda w, p: p, lambda w, p: w / p, lambda w, p: 1 / w),
        (lambda w, p: w + p, lambda w, p: w / p, lambda w, p: 1 / w),
    ],
    ids=["three", "four", "two and a constant"],
)
def test_the_first_witness_of_algorithm_1_has_no_point_however_it_is_split(split: Any) -> None:
    """Of w + p <= 2.4 and w, p >= 1 a lattice: no point has all ratios but one at most a step of their printed grids.

    The grids end below the greatest ratio; the ratio that is left out is the one with the greatest range.
    """
    assert shipped("smd-algorithm-1-any-split").instance["jobs"][0]["limit"] == {"r1": 12}
    corners = [(1, 1), (1.4, 1), (1, 1.4)]
    ends = [(min(ratio(*x) for x in corners), max(ratio(*x) for x in corners)) for ratio in split]
    last = max(range(len(split)), key=lambda j: ends[j][1] / ends[j][0])
    tops = [low * 1.5 ** math.floor(math.log(high / low, 1.5)) for low, high in ends]
    points = [(1 + i / 500, 1 + j / 500) for i in range(201) for j in range(201 - i)]
    assert not [x for x in points if all(split[j](*x) <= tops[j] + 1e-9 for j in range(len(split)) if j != last)]


@pytest.mark.slow
def test_rounding_down_at_most_doubles_the_time() -> None:
    nearly = Instance.parse({**one_each().dump(), "capacity": {"cpu": 40}})
    for instance in (nearly, *(sources.INNER.draw(np.random.default_rng(seed)) for seed in range(30))):
        verdict = check("smd/rounding-down", instance, delta=0.1)
        assert verdict.status in (Status.HOLDS, Status.PREMISE_FAILS)


def test_a_gain_that_is_no_double_leaves_the_printed_claims_alone() -> None:
    """M = 2.4e-4 as printed, so that the row breaks with probability 2.4e-7; the exact gain is e^-1386."""
    tiny = claim("smd/lemma-3-row").instance_type.parse(
        {"rows": [[1000, 1000]], "limits": [1], "point": ["1/2000", "1/2000"], "delta": "1/2"}
    )
    for id in ("smd/lemma-3-row", "smd/lemma-3-some-row"):
        assert check(id, tiny).status is Status.HOLDS
        left = check(id, tiny, variant="corrected")
        assert (left.status, "so small" in left.reason) == (Status.UNDECIDED, True)


def test_a_wrong_algorithm_1_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing of what the corrected one returns is in what it is compared with."""
    instance = shipped("smd-algorithm-1-bad-point").read_instance()
    assert check("smd/algorithm-1", instance, variant="corrected").status is Status.HOLDS

    def printed(problem: Any, *, epsilon: float, variant: str = "corrected") -> Any:
        return sum_of_ratios(problem, epsilon=epsilon, variant="printed")

    monkeypatch.setattr("dlsched.relaxations.sum_of_ratios", printed)
    assert check("smd/algorithm-1", instance, variant="corrected").status is Status.VIOLATED


def test_a_witness_of_lemma_3_is_of_its_form() -> None:
    """The point is an optimum; one that is none is outside the lemma."""
    data = shipped("smd-lemma-3-one-worker-one-server").instance
    kind = claim("smd/lemma-3").instance_type
    assert check("smd/lemma-3", kind.parse(data)).status is Status.VIOLATED
    aside = check("smd/lemma-3", kind.parse({**data, "theta": 2}))
    assert (aside.status, aside.reason) == (Status.PREMISE_FAILS, "x~ is a fractional optimum")


def test_no_denominator_of_the_first_witness_of_lemma_3_vanishes_but_at_0() -> None:
    """r + 1/r >= 2, and at (1, 0) it is e + 1/e, above (16/M + 4)/delta times 2."""
    first = claim("smd/lemma-3").counterexamples[0]
    facts: Any = claim("smd/lemma-3").facts(shipped(first).read_instance(), 0)
    assert facts.optimal
    assert facts.cost(1, 1) == 2
    assert facts.cost(1, 0) == facts.cost(0, 1) == 10000 + Fraction(1, 10000)
    assert (16 / facts.printed.gain + 4) / 0.1 * 2 == pytest.approx(2107.4, rel=1e-4)
    assert facts.cost(0, 0) == 0


@pytest.mark.parametrize(
    ("theta", "phi", "point", "optimal"),
    [
        (1, 1, [1, 1], True),
        (1, 1, [1, "1/2"], False),
        (1, 16, [1, 0], True),  # r is 2 at most, and 4 would be best.
        (1, 16, [1, "1/2"], False),
        (16, 1, [0, 1], True),
        (16, 1, [1, 0], False),
        (1, "25/16", [1, "1/2"], True),  # r = (5/4)/1.
        (1, 1, [0, 0], False),
    ],
)
def test_which_points_are_optima_of_a_balance(theta: Any, phi: Any, point: list[Any], optimal: bool) -> None:
    known = claim("smd/lemma-3")
    data = {"rows": [[1, 1]], "limits": [2], "delta": "1/2", "cross": "1/2"}
    facts: Any = known.facts(known.instance_type.parse({**data, "theta": theta, "phi": phi, "point": point}), 0)
    assert facts.optimal is optimal
    with pytest.raises(InputError, match="cross: 1 is not below 1"):
        known.instance_type.parse({**facts.instance.dump(), "cross": 1})


def test_lemma_3_prints_the_union_over_the_rows() -> None:
    """Each row for itself is the weaker reading: what breaks a row breaks some row."""
    assert claim("smd/lemma-3-some-row").variant is Variant.PRINTED
    assert claim("smd/lemma-3-row").variant is Variant.DERIVED
    for seed in range(20):
        drawn = sources.PACKING.draw(np.random.default_rng(seed))
        each, some = (check(f"smd/lemma-3-{name}", drawn).measured for name in ("row", "some-row"))
        assert (each is None) == (some is None) == (not any(drawn.point))
        assert each is None or some is None or each <= some


def test_any_point_but_0_is_an_optimum_of_a_cost_of_lemma_3() -> None:
    def cost(x: Any) -> float:
        y = x / np.array([0.5, 1.5, 2.0])
        return float(sum(y[i] / y[k] for i in range(3) for k in range(3) if i != k))

    least = cost(np.array([0.5, 1.5, 2.0]))
    assert least == pytest.approx(6)
    assert min(cost(x) for x in np.random.default_rng(0).uniform(0.01, 3, size=(500, 3))) >= least
    kind = claim("smd/lemma-3-some-row").instance_type
    nothing = {"rows": [[1]], "limits": [1], "point": [0], "delta": 1}
    assert check("smd/lemma-3-some-row", kind.parse(nothing)).status is Status.PREMISE_FAILS


def test_every_printed_claim_says_where_it_stands_and_who_assumes_what() -> None:
    printed = [c for c in claims() if c.id.startswith("smd/") and c.variant is Variant.PRINTED]
    for known in printed:
        assert "Section" in known.paper
        assert all(premise.source for premise in known.premises)


def test_parameters_are_the_papers_and_can_be_changed() -> None:
    instance = shipped("smd-theorem-5-four-resources").read_instance()
    fine = check("smd/theorem-5", instance, delta=0.1, rounds=2)
    assert fine.parameters == {"delta": 0.1, "epsilon": 0.01, "rounds": 2}
    one = check("smd/theorem-5-one-round", one_each(), delta=0.1, rounds=2)
    gain = RoundingFacts(one_each(), 0, delta=0.1).roundings[0].gain
    assert one.measured == pytest.approx(((1 - gain * gain) / (0.1 / 8)) ** 2)
    assert check("smd/theorem-5-5-rounds", instance).parameters["rounds"] == 5
    coarse = check("smd/algorithm-1", shipped("smd-algorithm-1-no-point").read_instance(), epsilon=0.25)
    assert coarse.bound == pytest.approx(1 / 1.25)


@pytest.mark.parametrize(
    ("id_", "given", "says"),
    [
        ("smd/theorem-5", {"delta": 1.5}, r"delta: 1.5 is not in \(0, 1\]"),
        ("smd/theorem-5", {"epsilon": 0.0}, "epsilon"),
        ("smd/theorem-5", {"rounds": 0}, "rounds"),
        ("smd/algorithm-1", {"epsilon": 1.0}, "epsilon"),
        ("smd/algorithm-1", {"delta": 0.5}, "no parameter"),
    ],
)
def test_parameters_out_of_range_are_refused(id_: str, given: dict[str, Any], says: str) -> None:
    with pytest.raises(InputError, match=says):
        check(id_, one_each(), **given)


def test_exact_steps_are_worth_no_less_than_the_run_that_is_evaluated() -> None:
    instance = sources.TINY.draw(np.random.default_rng(3))
    exact = algorithm.run(instance, inner="exact", outer="exact")
    evaluated = algorithm.run(instance, variant="printed", gain=1.0, outer="exact")
    assert exact.utility == utility(instance, exact.schedule) >= evaluated.utility - 1e-9


def test_the_first_witness_of_theorem_4_over_omega_is_an_optimum() -> None:
    """Nothing of a fine grid around and far from x~ = (1/40000, 10) takes less time; (1, 2000) is the best of Z."""
    facts: Any = claim("smd/theorem-4-omega").facts(shipped("smd-theorem-4-omega-few-workers").read_instance(), 0)
    theta = [float(part) for part in facts.instance.theta]

    def time(w: Any, p: Any) -> Any:
        return theta[1] * p + theta[3] * w / p + theta[4] / w

    least = time(1 / 40000, 10.0)
    w, p = np.meshgrid(np.geomspace(1e-8, 4, 400), np.geomspace(1e-3, 2000, 400))
    assert time(w, p).min() >= least * (1 - 1e-12)
    assert facts.optimal
    w, p = np.meshgrid(np.arange(1, 5), np.arange(1, 2001))
    assert float(facts.least) == pytest.approx(time(w, p).min())
    assert float(facts.least) == pytest.approx(0.001, rel=1e-6)
    kind = claim("smd/theorem-4-omega").instance_type
    aside = kind.parse({**facts.instance.dump(), "point": ["1/40000", 11]})
    assert check("smd/theorem-4-omega", aside).status is Status.PREMISE_FAILS
    for change, says in (
        ({"point": [1], "rows": [[1]], "limits": [4]}, "2"),
        ({"rows": [[1, 0]], "limits": [4]}, "rows"),
    ):
        with pytest.raises(InputError, match=says):
            kind.parse({**facts.instance.dump(), **change})


@pytest.mark.parametrize("seed", range(20))
def test_the_least_time_over_omega_is_that_of_all_points(seed: int) -> None:
    """And x~, where it is called an optimum, takes no longer than any of a grid that keeps the rows."""
    drawn = sources.OMEGA.draw(np.random.default_rng(seed))
    facts: Any = claim("smd/theorem-4-omega").facts(drawn, 0)
    rows, limits = np.array(drawn.rows, dtype=float), np.array(drawn.limits, dtype=float)
    most = (limits[:, None] / np.maximum(rows, 1e-300)).min(axis=0)

    def kept(w: Any, p: Any) -> Any:
        return (rows[:, :1] * w.ravel() + rows[:, 1:] * p.ravel() <= limits[:, None] * (1 + 1e-12)).all(axis=0)

    def time(w: Any, p: Any) -> Any:
        theta = [float(part) for part in drawn.theta]
        return (theta[0] * w + theta[1] * p + theta[2] + theta[3] * w / p + theta[4] / w).ravel()

    w, p = np.meshgrid(np.geomspace(most[0] / 1e8, most[0], 300), np.geomspace(most[1] / 1e4, most[1], 300))
    assert facts.optimal
    assert time(w, p)[kept(w, p)].min() >= float(facts.time(*drawn.point)) * (1 - 1e-9)
    w, p = np.meshgrid(np.arange(1, int(min(most[0], 60)) + 1), np.arange(1, int(most[1]) + 1))
    assert float(facts.least) == pytest.approx(time(w, p)[kept(w, p)].min())


def test_the_shifted_rounding_keeps_its_promises_of_cost_and_rows() -> None:
    """Of w + p <= 5 at (5/2, 5/2): M (3/2) each, and the row breaks where both are rounded up above 3."""
    shifted = Shifted([(Fraction(1), Fraction(1))], [Fraction(5)], [Fraction(5, 2)] * 2, Fraction(1, 2))
    scaled = 1.5 * shifted.gain
    assert 3 * (math.log(1 / shifted.gain) - 1 + shifted.gain) == pytest.approx(math.log(4))
    assert 0 < scaled < 1
    assert shifted.breaks == 0
    costs = [w / p + p / w for w in (1, 2) for p in (1, 2)]
    assert shifted.dearest(lambda w, p: w / p + p / w) == pytest.approx(max(costs) / 2 * shifted.gain / 4)
    still = Shifted([(Fraction(1), Fraction(1))], [Fraction(2)], [Fraction(1)] * 2, Fraction(1, 2))
    assert (still.gain, still.breaks) == (1.0, 0)


@pytest.mark.parametrize(("rows", "point"), [([(2, 1), (1, 3)], ("7/3", "9/4")), ([(1, 1)] * 4, (1, "9/5"))])
def test_rows_of_the_shifted_rounding_break_as_often_as_its_outcomes_say(rows: Any, point: Any) -> None:
    x = [Fraction(part) for part in point]
    matrix = [tuple(map(Fraction, row)) for row in rows]
    limits = [sum((a * part for a, part in zip(row, x, strict=True)), Fraction(0)) for row in matrix]
    for delta in (Fraction(1), Fraction(1, 100)):
        shifted = Shifted(matrix, limits, x, delta)
        chances = [Fraction(0)] * len(rows)
        scaled = [Fraction(shifted.gain) * (part - 1) for part in x]
        for up in product((0, 1), repeat=2):
            chance = math.prod((y % 1 if u else 1 - y % 1) for y, u in zip(scaled, up, strict=True))
            outcome = [1 + math.floor(y) + u for y, u in zip(scaled, up, strict=True)]
            for i, (row, limit) in enumerate(zip(matrix, limits, strict=True)):
                chances[i] += chance * (sum(a * v for a, v in zip(row, outcome, strict=True)) > limit)
        assert shifted.breaks == pytest.approx(float(max(chances) * 2 * len(rows) / delta))
        assert shifted.breaks <= 1


def test_eta_may_be_0_where_a_layer_takes_no_time() -> None:
    """b = (20, 1), r = (0, 5), f = (1, 1), wait-free: eta = (1, 1, 0), and 0 is not in (0, 1]."""
    data = shipped("smd-eta-range-corrected-fig-4").read_instance().dump()
    data["jobs"][0]["training"]["slice"] = 0
    times = [{"forward": 1, "backward": 20, "transfer": 0}, {"forward": 1, "backward": 1, "transfer": 5}]
    data["jobs"][0]["training"]["layers"] = times
    outside = check("smd/eta-range", Instance.parse(data), variant="corrected")
    assert (outside.status, outside.reason) == (Status.PREMISE_FAILS, "b_j, f_j, r_j > 0")


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(10))
def test_limits_break_the_more_often_the_greater_the_gain(seed: int) -> None:
    """And where (8) counts too, a gain between is best where both matter."""
    instance = sources.TINY.draw(np.random.default_rng(seed))
    assert check("smd/violation-increases", instance).status in (Status.HOLDS, Status.PREMISE_FAILS)
    assert check("smd/attempts", instance).status in (Status.VIOLATED, Status.PREMISE_FAILS)
