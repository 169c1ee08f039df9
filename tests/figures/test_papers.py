"""The figures of the papers: what their axes and readings are, and values that are known."""

from __future__ import annotations

import math
import statistics
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from dlsched.algorithms.baselines.dmlrs.fifo import Fixed
from dlsched.algorithms.pd_ors.external_lp import external_lp
from dlsched.algorithms.pd_ors.market import Market
from dlsched.bounds.pd_ors.families import all_epochs
from dlsched.figures import figure
from dlsched.figures.pd_ors import _ALGORITHMS
from dlsched.figures.pd_ors_thesis import State, _costs, _rounds, failure, states
from dlsched.models.dmlrs import preset
from dlsched.rounding import outcome_distribution


def draw(name: str, at: float, seed: int = 0) -> Any:
    entry = figure(name)
    assert entry.draw is not None
    return entry.draw(at, seed)


@pytest.mark.parametrize(("width", "crossing"), [(30, 0.05403), (35, 0.03179), (40, 0.01914)])
def test_figure_5_of_pd_ors_comes_out_exactly(width: int, crossing: float) -> None:
    low, high = 0.0, 1.0
    for _ in range(40):
        middle = (low + high) / 2
        values = draw("pd-ors/5", middle)
        assert values["delta"] == middle
        low, high = (middle, high) if values[f"W_a = {width}"] > middle else (low, middle)
    assert round(high, 5) == crossing


def test_figures_14_to_17_of_pd_ors_have_the_mixes_and_axes_of_their_captions() -> None:
    titles = {number: figure(f"pd-ors/{number}") for number in (14, 15, 16, 17)}
    assert ["10/55/35" in titles[n].title for n in titles] == [True, False, True, False]
    assert [titles[n].x.startswith("machines") for n in titles] == [True, True, False, False]
    assert [titles[n].points for n in (14, 16)] == [(10, 20, 30, 40, 50), (20, 40, 60, 80, 100)]


def test_the_most_that_figures_14_to_17_of_pd_ors_show_are_the_last_ticks_of_their_axes() -> None:
    """Fig. 14 has no gain in print; the ticks of the others end at 20, 20 and 10 %."""
    for number, most, axis in (
        (14, None, "1000 to 4000"),
        (15, 20, "0 to 5000"),
        (16, 20, "0 to 2000"),
        (17, 10, "4000"),
    ):
        entry = figure(f"pd-ors/{number}")
        assert [said.other for said in entry.statements if "gain is at most" in said.text] == [most] * (
            most is not None
        )
        assert entry.says.endswith(axis)
    assert "both go beyond" in figure("pd-ors/16").note


def test_the_numbers_of_workers_of_fifo_are_those_of_the_draw() -> None:
    instance = all_epochs(preset("paper", 0, jobs=10, machines=10, slots=20))
    runs = [_ALGORITHMS["FIFO"](instance, seed) for seed in (0, 1)]
    drawn = [[event.drawn for event in run.log if isinstance(event, Fixed)] for run in runs]
    assert drawn[0] != drawn[1]
    assert drawn == [np.random.default_rng(seed).integers(1, 31, size=10).tolist() for seed in (0, 1)]


@pytest.mark.parametrize(
    "name", [*(f"smd/{number}" for number in range(7, 13)), *(f"pd-ors-thesis/3.{n}" for n in (13, 14))]
)
def test_what_rests_on_guesses_decides_no_statement(name: str) -> None:
    assert figure(name).statements
    assert all(said.guessed for said in figure(name).statements)


def test_training_times_are_of_each_scheme() -> None:
    assert figure("pd-ors/9").labels == ("PD-ORS", "OASiS", "Dorm", "DRF", "FIFO")
    assert len(figure("pd-ors/9").statements) == 2 * 4


@pytest.mark.parametrize("name", ["pd-ors/8", "pd-ors/14", "pd-ors-thesis/3.11", "pd-ors-thesis/3.12"])
def test_what_the_printed_ranges_cannot_give_says_so_and_is_drawn_in_another_reading(name: str) -> None:
    entry = figure(name)
    assert "drawn also" in entry.note
    assert any("all epochs" in series for series in entry.series)


@pytest.mark.parametrize("name", [f"pd-ors/{number}" for number in range(12, 18)])
def test_figures_on_the_trace_say_which_arrivals_they_have(name: str) -> None:
    assert "Google's timestamps are not at hand: jobs arrive at rates 1/3 and 2/3" in figure(name).note


@pytest.mark.slow
def test_the_nearest_reading_reaches_the_axis_of_figure_8() -> None:
    values = draw("pd-ors/8", 50)
    assert values["PD-ORS"] < 1200 < values["PD-ORS, K of all epochs"]


@pytest.mark.slow
@pytest.mark.parametrize("units", [1, 2, 16])
def test_units_of_gpus_and_bandwidth_are_the_papers(units: int) -> None:
    more, less = draw("gadget/5", 16)["GADGET"], draw("gadget/5", units)["GADGET"]
    assert 0 < less <= more <= 1
    assert 0 < draw("gadget/6", units)["GADGET"] <= 1


def slot(machines: int, room: int, servers: int) -> Market:
    """A slot of equal machines in which a worker and a server take one unit each."""
    ones = np.ones((1, machines))
    return Market(
        first=1,
        worker_price=ones,
        server_price=ones,
        room=np.full((1, machines, 1), room),
        worker=np.array([1]),
        server=np.array([1]),
        limit=8,
        most=8,
        servers=np.full(9, servers),
        resources=1,
    )


@pytest.mark.parametrize("gain", [0.9, 1.0, 1.25])
@pytest.mark.parametrize(("room", "workers", "servers"), [(9, 2, 1), (2, 4, 2), (1, 2, 1), (2, 3, 3)])
def test_the_probability_that_a_round_fails_is_that_of_its_outcomes(
    room: int, workers: int, servers: int, gain: float
) -> None:
    market = slot(4, room, servers)
    relaxed = external_lp(market, workers, servers, even=True)
    assert relaxed is not None
    state = State(market, workers, servers, relaxed)
    law = outcome_distribution(state.stretched(gain).tolist())
    kept = Fraction(0)
    for point, probability in zip(law.points, law.probabilities, strict=True):
        w, s = np.split(point, 2)
        if w.sum() >= workers and s.sum() >= servers and (w + s <= room).all():
            kept += probability
    assert failure(state, gain) == 1 - kept
    assert 0 < kept < 1 or gain < 1 or room < 9


def test_rounds_of_one_worker_on_fifty_machines_are_those_of_a_geometric_law() -> None:
    first = next(states(preset("thesis", 0, jobs=15, machines=50, slots=100)))
    assert (first.workers, first.servers, first.slot.machines) == (1, 1, 50)
    once = 1 - Fraction(49, 50) ** 50
    assert 1 - failure(first, 1.0) == once * once


@pytest.mark.slow
def test_another_optimum_of_the_relaxation_has_other_rounds_and_costs() -> None:
    """Fig. 3.13: with equal parts a greater gain saves rounds; with the solver's it adds some."""
    even = list(states(preset("thesis", 0, jobs=15, machines=50, slots=100)))
    other = []
    for state in even:
        relaxed = external_lp(state.slot, state.workers, state.servers)
        assert relaxed is not None
        other.append(State(state.slot, state.workers, state.servers, relaxed))
    rounds = [
        [statistics.fmean(_rounds(state, gain) for state in found) for gain in (1, 1.006)] for found in (even, other)
    ]
    assert rounds == [pytest.approx([2.748, 2.705], abs=5e-4), pytest.approx([1.054, 1.088], abs=5e-4)]
    costs = [statistics.fmean(_costs(found, 1.0, np.random.default_rng(0))) for found in (even, other)]
    assert costs == pytest.approx([1.2996, 1], abs=5e-5)


@pytest.mark.slow
def test_rounds_are_fewer_the_larger_the_gain_and_far_below_1000() -> None:
    rounds = [draw("pd-ors-thesis/3.13", gain)["a state, on average"] for gain in (1.0, 1.006, 1.01)]
    assert 1000 > rounds[0] > rounds[1] > rounds[2] > 1
    ratios = draw("pd-ors-thesis/3.14", 1.0)
    assert all(1 <= ratio < math.inf for ratio in ratios.values())
