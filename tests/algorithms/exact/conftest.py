"""What tests of the exact methods share."""

import pytest

from dlsched.algorithms.exact.hadar import solver
from dlsched.models.hadar import Schedule


@pytest.fixture
def no_heuristics(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave Hadar's tree to find everything, from an incumbent of 0, so that it branches."""
    monkeypatch.setattr(solver.Search, "run", lambda self, *args, **options: self.best)
    monkeypatch.setattr(solver.Dive, "run", lambda self, *args: [])
    monkeypatch.setattr(solver.Beam, "run", lambda self, *args: [])
    monkeypatch.setattr(solver, "first_schedule", lambda *args: Schedule.of({}))
