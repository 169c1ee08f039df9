"""The figures of the papers: what their axes and readings are, and values that are known."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from dlsched.algorithms.pd_ors.external_lp import external_lp
from dlsched.algorithms.pd_ors.market import Market
from dlsched.figures import figure
from dlsched.figures.pd_ors_thesis import State, failure, states
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
def test_rounds_are_fewer_the_larger_the_gain_and_far_below_1000() -> None:
    rounds = [draw("pd-ors-thesis/3.13", gain)["a state, on average"] for gain in (1.0, 1.006, 1.01)]
    assert 1000 > rounds[0] > rounds[1] > rounds[2] > 1
    ratios = draw("pd-ors-thesis/3.14", 1.0)
    assert all(1 <= ratio < math.inf for ratio in ratios.values())
