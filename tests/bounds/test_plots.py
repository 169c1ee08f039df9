"""The picture of a claim has a mark for each verdict with two finite sides, where they say."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from dlsched.bounds import claim, judged, plot_claim, verify
from dlsched.bounds.comparison import Status
from dlsched.bounds.store import Store
from dlsched.models import picture


@pytest.mark.slow
def test_marks_are_the_verdicts(tmp_path: Path) -> None:
    printed = claim("hadar/theorem-2", "printed")
    entries = judged(printed, instances=3)
    ax = plot_claim(printed, entries)
    drawn = {marks.get_label(): sorted(map(tuple, marks.get_offsets().tolist())) for marks in ax.collections}
    for status in Status:
        own = [e.verdict for e in entries if e.verdict.status is status]
        sides = [(v.bound, v.measured) for v in own if v.bound is not None and v.measured is not None]
        assert drawn.get(status.value, []) == sorted(pair for pair in sides if all(map(math.isfinite, pair)))
    broken = [e for e in entries if e.verdict.status is Status.VIOLATED]
    assert broken
    assert ax.get_title().startswith("hadar/theorem-2, printed: measured <= bound\n")
    assert f"{len(broken)} violated" in ax.get_title()
    # What `verify` keeps is the same, drawn from its file.
    verify(["hadar/theorem-2"], instances=3, out=tmp_path / "v.sqlite")
    with Store(tmp_path / "v.sqlite", None) as store:
        kept = list(store.entries())
    assert {e.verdict.variant for e in kept} > {printed.variant}
    assert plot_claim(printed, kept).get_title() == ax.get_title()


def test_no_verdict() -> None:
    assert plot_claim(claim("smd/lemma-1"), []).get_title().endswith("no verdict")
    with pytest.raises(TypeError, match=r"^ax: expected axes of matplotlib, got 3$"):
        plot_claim(claim("smd/lemma-1"), [], 3)


@pytest.mark.parametrize(("least", "threshold"), [(0.8, 0.1), (1.0, 1.0), (37.5, 10.0)])
def test_an_axis_with_0_is_logarithmic_from_a_power_of_ten_on(least: float, threshold: float) -> None:
    ax = picture.drawn_in(None, 4.0, 3.0)
    picture.wide(ax.set_xscale, [0.0, least, 1e5])
    assert ax.xaxis.get_transform().linthresh == threshold
