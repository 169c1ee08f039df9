"""Pictures of prices, and of what an exact method knew when."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest

from dlsched.algorithms import Moment, baselines, hadar, pd_ors, plot_gap, plot_prices, watched_optimum
from dlsched.models import InputError, dmlrs
from dlsched.models import hadar as devices


def test_prices_are_those_of_the_run() -> None:
    instance = devices.preset("benchmark", 0, jobs=6, machines=4, slots=8)
    run = hadar.run(instance)
    ax = plot_prices(instance, run)
    assert ax.get_title() == f"utility {run.utility:.6g}, {len(run.schedule.jobs)} of 6 jobs: prices at the end"
    lines = {line.get_label(): line.get_data().values for line in ax.patches if line.get_label()}
    assert set(lines) == {r for _, r, _ in run.prices}
    for r, means in lines.items():
        for slot, mean in enumerate(means, start=1):
            own = [price for (_, type_, t), price in run.prices.items() if (type_, t) == (r, slot)]
            assert mean == pytest.approx(math.fsum(own) / len(own))


@pytest.mark.slow
def test_prices_of_resources() -> None:
    instance = dmlrs.preset("benchmark", 0, jobs=5, machines=3, slots=6)
    ax = plot_prices(instance, pd_ors.run(instance))
    assert {text.get_text() for text in ax.get_legend().get_texts()} <= set(instance.resources)


def test_without_prices() -> None:
    with pytest.raises(InputError, match=r"^run: the algorithm has no prices"):
        plot_prices(devices.random(0), baselines.hadar.gavel.run(devices.random(0)))


@pytest.mark.slow
def test_what_was_known_when() -> None:
    best, moments = watched_optimum(devices.preset("benchmark", 0, jobs=5, machines=3, slots=6))
    assert [m.seconds for m in moments] == sorted(m.seconds for m in moments)
    assert all(later.lower >= m.lower - 1e-6 for m, later in pairwise(moments))
    assert (moments[-1].lower, moments[-1].upper) == (best.value, best.bound)
    ax = plot_gap(moments)
    below, above = (line.get_ydata() for line in ax.get_lines())
    assert np.array_equal(below, [m.lower if math.isfinite(m.lower) else math.nan for m in moments], equal_nan=True)
    assert np.array_equal(above, [m.upper if math.isfinite(m.upper) else math.nan for m in moments], equal_nan=True)
    assert ax.get_xlim() == (0, moments[-1].seconds)


def test_a_gap_that_stays_open() -> None:
    ax = plot_gap([Moment(1.0, "first", -math.inf, 8.0), Moment(2.0, "time is up", 6.0, 8.0)])
    assert ax.get_title() == "value 6, bound 8, gap 25 % after 2 s"
    with pytest.raises(InputError, match="neither a schedule nor a bound"):
        plot_gap([Moment(1.0, "first", -math.inf, math.inf)])


def test_what_is_no_axes_is_refused() -> None:
    run = hadar.run(devices.random(0))
    for draw in (lambda: plot_prices(devices.random(0), run, 3), lambda: plot_gap([Moment(1.0, "", 1.0, 1.0)], 3)):
        with pytest.raises(TypeError, match=r"^ax: expected axes of matplotlib, got 3$"):
            draw()
