"""The replay of Fig. 6 has what the paper says of the figure (Section V-A)."""

from __future__ import annotations

from pathlib import Path

import pytest

from dlsched.algorithms import hadar_e
from dlsched.algorithms.hadar_e import Copy, ForkedSchedule, Round

INSTANCE = hadar_e.figure_6()
HADAR, HADAR_E = hadar_e.run(INSTANCE, copies=1), hadar_e.run(INSTANCE)


def jobs_by_round(run: object) -> list[list[str]]:
    return [sorted(event.nodes.values()) for event in getattr(run, "log", ()) if isinstance(event, Round)]


def copies(schedule: ForkedSchedule, slot: int) -> list[Copy]:
    return [copy for _, at, own in schedule.items() for copy in own if at == slot]


def test_a_hadar_takes_eight_rounds() -> None:
    """R1-R3 three nodes, J1 ends in R3, R4 two jobs, the last four rounds one node."""
    assert hadar_e.check(INSTANCE, HADAR.schedule) == []
    assert jobs_by_round(HADAR) == [["J1", "J2", "J3"]] * 3 + [["J2", "J3"]] + [["J3"]] * 4
    assert hadar_e.completions(INSTANCE, HADAR.schedule) == {"J1": 3, "J2": 4, "J3": 8}


def test_b_hadar_e_takes_four() -> None:
    """15 copies; no node idle throughout R1 and R2; R3 all on J3, four done early, at various times; R4 one of them."""
    schedule = HADAR_E.schedule
    assert hadar_e.check(INSTANCE, schedule) == []
    assert schedule.copies * len(INSTANCE.jobs) == 15
    used = jobs_by_round(HADAR_E)
    assert [len(jobs) for jobs in used] == [5, 5, 5, 1]
    assert {copy.seconds for slot in (1, 2) for copy in copies(schedule, slot)} == {1}
    assert set(used[2]) == set(used[3]) == {"J3"}
    early = [copy for copy in copies(schedule, 3) if copy.seconds < 1]
    assert len({copy.seconds for copy in early}) == len(early) == 4
    assert len({copy.assigned for copy in copies(schedule, 3)}) > 1
    (last,) = copies(schedule, 4)
    assert last.node == min(early, key=lambda copy: copy.seconds).node


def test_hadar_e_uses_more_of_the_cluster_and_is_done_sooner() -> None:
    for better, worse in zip(*(map(measures, (HADAR_E.schedule, HADAR.schedule))), strict=True):
        assert better > worse


def measures(schedule: ForkedSchedule) -> list[float]:
    """Return what should be large: CRU, and TTD and the mean JCT with their signs changed."""
    total, times = hadar_e.total_time(INSTANCE, schedule), hadar_e.completion_times(INSTANCE, schedule)
    assert total is not None
    return [float(hadar_e.utilisation(INSTANCE, schedule)), -float(total), -float(sum(times.values()))]


@pytest.mark.slow
def test_the_picture_has_both(tmp_path: Path) -> None:
    hadar_e.save_figure_6(tmp_path / "figure.png")
    assert (tmp_path / "figure.png").read_bytes().startswith(b"\x89PNG")
