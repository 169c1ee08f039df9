"""Mixed programs, one-slot placements and laws of rounding: against enumeration, golden numbers, bad documents."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import highspy
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dlsched.algorithms.pd_ors import Form, Occupancy, Rounding, constants, gain_for, market
from dlsched.bounds.claim import Undecided
from dlsched.bounds.optima import relaxed_optima, relaxed_optimum, with_mean
from dlsched.bounds.pd_ors import sources
from dlsched.bounds.pd_ors.law import Excess, Law, excess, shortfall
from dlsched.bounds.pd_ors.mixed import MixedFacts, MixedProgram
from dlsched.bounds.pd_ors.slot import ExternalSlot, Placement, SlotFacts
from dlsched.bounds.witness import shipped
from dlsched.models import InputError
from dlsched.models.dmlrs import random
from dlsched.rounding import outcome_distribution
from dlsched.solvers import RawSolution, Solution, Status


@pytest.mark.slow
@given(st.integers(0, 10**6), st.sampled_from([0.3, 0.75, 1.0, 1.6]))
def test_laws_agree_with_a_sum_over_all_outcomes(seed: int, gain: float) -> None:
    program = sources.mixed(np.random.default_rng(seed))
    law = Law(program, gain)
    outcomes = outcome_distribution([Fraction(gain) * x for x in program.point])
    pairs = list(zip(outcomes.points.tolist(), outcomes.probabilities, strict=True))

    def value(row: Sequence[Fraction], point: Sequence[Fraction | int]) -> Fraction:
        return sum((a * x for a, x in zip(row, point, strict=True)), Fraction(0))

    def probability(good: Any) -> Fraction:
        return sum((p for point, p in pairs if good(point)), Fraction(0))

    most = 3 * Fraction(gain) / program.delta * value(program.cost, program.point)
    assert law.dearer() == probability(lambda point: value(program.cost, point) > most)
    rows = list(zip(program.packing, program.limits, strict=True))
    assert law.packing_exceeds(1.5) == tuple(
        probability(lambda point, row=row, limit=limit: value(row, point) > Fraction(1.5) * limit)
        for row, limit in rows
    )
    covers = list(zip(program.cover, program.needs, strict=True))
    assert law.some_cover_falls() == probability(lambda point: any(value(row, point) <= need for row, need in covers))
    assert law.feasible() == probability(
        lambda point: (
            all(value(row, point) <= limit for row, limit in rows)
            and all(value(row, point) >= need for row, need in covers)
        )
    )


def test_copies_and_counts_are_what_they_abbreviate() -> None:
    short = MixedProgram.parse(
        {
            "cost": [1, 2],
            "cover": [[1, 1]],
            "needs": [2],
            "packing": [[2, 1]],
            "limits": [3],
            "point": [0.5, 0.5],
            "delta": 0.5,
            "counts": [2, 2],
            "copies": 2,
        }
    )
    block = [2, 2, 1, 1]
    long = MixedProgram.parse(
        {
            "cost": [1, 1, 2, 2] * 2,
            "cover": [[1] * 4 + [0] * 4, [0] * 4 + [1] * 4],
            "needs": [2, 2],
            "packing": [block + [0] * 4, [0] * 4 + block],
            "limits": [3, 3],
            "point": [0.5] * 8,
            "delta": 0.5,
        }
    )
    assert (short.covers, short.packings) == (long.covers, long.packings) == (2, 2)
    one, other = MixedFacts(short, 0), MixedFacts(long, 0)
    assert one.optimal == other.optimal
    assert (one.shrink(), one.stretch()) == (other.shrink(), other.stretch())
    for gain in (0.7, 1.3):
        first, second = Law(short, gain), Law(long, gain)
        assert first.dearer() == second.dearer()
        assert set(first.packing_exceeds()) == set(second.packing_exceeds())
        assert float(first.some_packing_exceeds()) == pytest.approx(float(second.some_packing_exceeds()))
        assert float(first.some_cover_falls()) == pytest.approx(float(second.some_cover_falls()))
        assert float(first.feasible()) == pytest.approx(float(second.feasible()))


@given(st.floats(0.05, 20), st.floats(0.05, 1e4), st.integers(1, 500), st.floats(1e-6, 1))
def test_thresholds_solve_their_equations(gain: float, width: float, rows: int, delta: float) -> None:
    need, mean = math.log(3 * rows / delta), gain * width
    assert shortfall(gain, width, rows, delta) ** 2 * mean / 2 == pytest.approx(need)
    assert excess(Excess.PRINTED, gain, width, rows, delta) ** 2 * mean / 3 == pytest.approx(need)
    assert excess(Excess.THESIS, gain, width, rows, delta) ** 2 * mean == pytest.approx(3)
    e = excess(Excess.EXACT, gain, width, rows, delta)
    assert mean * ((1 + e) * math.log1p(e) - e) == pytest.approx(need, rel=1e-6)


def test_the_golden_placement() -> None:
    """Three machines, prices (1, 2, 4) and (3, 1, 5): constants by hand, feasibility over all outcomes."""
    slot = ExternalSlot.parse(shipped("pd-ors-theorem-3-E1").instance)
    facts = SlotFacts(slot, 0)
    printed, corrected = facts.printed, facts.corrected
    assert (printed.cover_width, printed.packing_width, printed.packings) == (4.5, 2, 7)
    assert printed.shrunk.gain == pytest.approx(0.133821, abs=1e-6)
    assert printed.stretched.gain == pytest.approx(2.375346, abs=1e-6)
    assert printed.program is not None
    assert corrected.program is not None
    assert printed.program.total(printed.program.cost) == 6
    assert corrected.program.total(corrected.program.cost) == Fraction(33, 2)
    assert corrected.program.point == tuple(map(Fraction, (3, 1.5, 0, 2, 2, 0.5)))
    for gain, expected in ((0.133821, 0), (0.9, 0.07056), (1, 0.25), (1.1, 0.16016), (2.375346, 0)):
        assert float(Law(corrected.program, gain).feasible()) == pytest.approx(expected, abs=1e-5)


def test_forms_differ_in_their_rows() -> None:
    facts = SlotFacts(ExternalSlot.parse(shipped("pd-ors-theorem-3-E1").instance), 0)

    def shape(placement: Placement) -> tuple[int, int, int, int]:
        assert placement.program is not None
        return placement.covers, len(placement.program.cover), placement.packings, len(placement.program.packing)

    assert [shape(p) for p in (facts.printed, facts.corrected, facts.thesis)] == [
        (1, 1, 7, 7),
        (2, 2, 7, 7),
        (2, 2, 6, 6),
    ]


def test_relaxed_optima_are_exact_rationals() -> None:
    none, one, three, seven = Fraction(0), Fraction(1), Fraction(3), Fraction(7)
    assert relaxed_optimum((one, three), [(three, one)], (one,), [(seven, one)], (one,)) == (none, one)
    assert relaxed_optimum((one, one), [(three, seven)], (one,), [(one, one)], (one,)) == (none, one / seven)
    assert relaxed_optimum((one,), [(one,)], (three,), [(one,)], (one,)) is None


@pytest.mark.parametrize("seed", range(20))
def test_the_algorithm_takes_the_gains_that_the_theorems_are_judged_by(seed: int) -> None:
    """With room for a unit on every machine, and with a resource that the job may not need."""
    rng = np.random.default_rng(seed)
    instance = random(rng, jobs=1, machines=int(rng.integers(1, 4)), resources=3, slots=1, capacity=9)
    (job,), resources = instance.jobs, instance.resources
    state = Occupancy(instance, constants(instance))
    view = market(state, job, 1).row(0)
    slot = ExternalSlot.parse(
        {
            "room": [[machine.capacity_of(r) for r in resources] for machine in instance.machines],
            "prices": [[1] * len(resources) for _ in instance.machines],
            "worker": [job.worker_needs(r) for r in resources],
            "server": [job.server_needs(r) for r in resources],
            "workers": 3,
            "servers": 2,
            "most_workers": job.batch,
            "delta": 0.3,
        }
    )
    whole = all(view.fitting_workers()[0] > 0) and all(view.fitting_servers()[0] > 0)
    facts = SlotFacts(slot, 0)
    for form, placement in ((Form.PRINTED, facts.printed), (Form.CORRECTED, facts.corrected)):
        if form is Form.PRINTED or whole:
            for gain, theirs in (("packing", placement.widths.shrink(0.3)), ("cover", placement.widths.stretch(0.3))):
                rule = Rounding.of(gain, 0.3, 1, "printed")
                assert gain_for(view, rule, form, 3.0, 2.0) == pytest.approx(theirs)


def test_several_optima_of_a_relaxation_are_looked_at() -> None:
    """Four workers on two machines of three, at one price: (3, 1), (1, 3) and their mean; at two prices one optimum."""
    four, three, rows = Fraction(4), Fraction(3), [tuple(map(Fraction, row)) for row in ((1, 0), (0, 1))]
    cover = [(Fraction(1), Fraction(1))]
    found = with_mean(relaxed_optima((Fraction(2), Fraction(2)), cover, (four,), rows, (three, three)))
    assert {(three, four - three), (four - three, three), (Fraction(2), Fraction(2))} <= set(found)
    costs = (Fraction(1), Fraction(2))
    assert with_mean(relaxed_optima(costs, cover, (four,), rows, (three, three))) == ((three, Fraction(1)),)
    assert with_mean(relaxed_optima(costs, cover, (Fraction(7),), rows, (three, three))) == ()


def test_what_depends_on_the_optimum_is_an_interval() -> None:
    """One worker on two machines at one price: whole on one of them it is placed, half on each only now and then."""
    slot = ExternalSlot.parse(
        {"room": [[9], [9]], "prices": [[1], [1]], "worker": [1], "server": [1], "workers": 1, "servers": 1,
         "most_workers": 9, "delta": 1}
    )  # fmt: skip
    probability = SlotFacts(slot, 0).printed.shrunk.feasible()
    gain = SlotFacts(slot, 0).printed.shrunk.gain
    # G on one machine; on two, either or both are rounded up: 1 - (1 - G/2)^2
    assert (probability.low, probability.high) == pytest.approx((gain - gain**2 / 4, gain))


def test_a_relaxation_that_no_solver_decides_is_neither_infeasible_nor_optimal(monkeypatch: pytest.MonkeyPatch) -> None:
    program = MixedProgram.parse(
        {"cost": [1], "cover": [[1]], "needs": [2], "packing": [[1]], "limits": [3], "point": [2], "delta": 0.5}
    )
    assert MixedFacts(program, 0).optimal
    monkeypatch.setattr(highspy.Highs, "run", lambda _: highspy.HighsStatus.kError)
    nothing = RawSolution(Solution.unasked(Status.NO_SOLUTION, "scip"), None)
    monkeypatch.setattr("dlsched.solvers.solve.solve_scip", lambda *_: nothing)
    one = Fraction(1)
    with pytest.raises(ValueError, match="the relaxation's optimum is not known"):
        relaxed_optimum((one,), [(one,)], (one,), [(one,)], (one,))
    with pytest.raises(Undecided, match="the relaxation's optimum is not known"):
        _ = MixedFacts(program, 0).optimal


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"delta": 2}, "delta: 2 exceeds 1"),
        ({"point": [0.5]}, "point: has 1 entries for 2 columns"),
        ({"counts": [1]}, "counts: has 1 entries for 2 columns"),
        ({"counts": [10**4, 1]}, "counts: 10001 variables; at most 10000"),
        ({"needs": [0.5]}, "needs: has 1 entries for 2 rows"),
        ({"limits": [1, 1]}, "limits: has 2 entries for 1 rows"),
        ({"packing": [[1]]}, r"packing\[0\]: has 1 entries for 2 columns"),
        ({"cover": [[0, 0], [0, 1]]}, r"cover\[0\]: is 0"),
        ({"point": [0.6, 0.5]}, r"point: breaks packing\[0\]"),
        ({"point": [0.4, 0.5]}, r"point: breaks cover\[0\]"),
        ({"copies": 0}, "copies: 0"),
        ({"needs": [0, 0.5]}, r"needs\[0\]: 0 must be positive"),
    ],
)
def test_bad_programs_are_refused(change: dict[str, Any], message: str) -> None:
    data = shipped("pd-ors-lemma-1-halves").instance
    with pytest.raises(InputError, match=message):
        MixedProgram.parse({**data, **change})


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"delta": 1.5}, "delta: 1.5 exceeds 1"),
        ({"worker": [0, 0]}, "worker: takes nothing of any resource"),
        ({"server": [1]}, "server: has 1 entries for 2 resources"),
        ({"prices": [[1, 1]]}, "prices: has 1 entries for 3 machines"),
        ({"room": [[3], [3, 2], [9, 9]]}, r"room\[0\]: has 1 entries for 2 resources"),
        ({"workers": 0}, "workers: 0 must be positive"),
    ],
)
def test_bad_slots_are_refused(change: dict[str, Any], message: str) -> None:
    data = shipped("pd-ors-theorem-3-E1").instance
    with pytest.raises(InputError, match=message):
        ExternalSlot.parse({**data, **change})
