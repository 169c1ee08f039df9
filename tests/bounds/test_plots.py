"""The picture of a claim has a mark for each verdict with two finite sides, where they say."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from dlsched.bounds import claim, judged, plot_claim, verify
from dlsched.bounds.comparison import Status
from dlsched.bounds.store import Store


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
