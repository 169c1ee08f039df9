"""Records: copies of them, and what is derived from their fields."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from dlsched.models import ddljs, dmlrs, hadar, smd
from dlsched.models.document import Document, InputError


def drawn() -> list[Document]:
    return [package.random(np.random.default_rng(3), jobs=2) for package in (ddljs, dmlrs, hadar, smd)]


@pytest.mark.parametrize("instance", drawn(), ids=lambda instance: type(instance).__module__)
def test_what_is_derived_follows_a_copy(instance: Document) -> None:
    first, second = instance.jobs
    assert instance.job(second.name) == second
    before = instance.digest
    fewer = instance.model_copy(update={"jobs": (first,)})
    with pytest.raises(KeyError):
        fewer.job(second.name)
    assert fewer.digest == type(instance).parse(fewer.dump()).digest != before
    assert instance.digest == before
    assert instance.model_copy() == instance


@pytest.mark.parametrize("error", [KeyboardInterrupt, OSError(5, "Input/output error")])
def test_a_write_that_is_stopped_leaves_what_was_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: BaseException
) -> None:
    path = tmp_path / "old.json"
    path.write_text("old")

    def fsync(handle: int) -> None:
        raise error

    monkeypatch.setattr("os.fsync", fsync)
    with pytest.raises((KeyboardInterrupt, InputError)):
        hadar.random(np.random.default_rng(3)).save(path)
    assert [file.name for file in tmp_path.iterdir()] == ["old.json"]
    assert path.read_text() == "old"


def test_what_a_job_derives_follows_a_copy() -> None:
    job = ddljs.random(np.random.default_rng(3)).jobs[0]
    assert job.model_copy(update={"budget": {"resource1": 0}}).budget_slots == 0
    assert job.budget_slots != 0
    assert job.model_copy(update={"budget": {"resource1": 0}}).budget_slots == 0
