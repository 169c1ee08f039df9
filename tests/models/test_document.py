"""Records: copies of them, and what is derived from their fields."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dlsched.errors import InputError
from dlsched.models import ddljs, dmlrs, hadar, smd
from dlsched.models.document import Document

DATA = hadar.random(3).dump()


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


def test_numpys_numbers_and_arrays_are_pythons_own() -> None:
    """Wherever data is taken; a bool of either is no count."""
    job = DATA["jobs"][0] | {"gang": np.int64(1), "iterations": np.int32(5), "utility": {"kind": "table"}}
    job["utility"]["values"] = np.array([3, 1])
    data = DATA | {"slots": np.uint8(3), "jobs": [job]}
    instance = hadar.Instance.parse(data)
    assert (instance.slots, instance.jobs[0].gang, instance.jobs[0].iterations) == (3, 1, 5)
    assert type(instance.slots) is int
    assert hadar.Instance.parse(instance.dump()) == instance
    assert hadar.Job(**job) == instance.jobs[0]
    assert hadar.Instance(**data) == instance
    with pytest.raises(InputError, match=r"^jobs\[0\].gang: True should be a valid integer$"):
        hadar.Instance.parse(DATA | {"jobs": [job | {"gang": np.True_}]})


def test_data_within_itself_is_refused_by_its_place() -> None:
    data: dict[str, Any] = dict(DATA)
    data["slots"] = [data, data]
    with pytest.raises(InputError, match=r"^slots: a list should be a valid integer"):
        hadar.Instance.parse(data)


@pytest.mark.parametrize("wrong", [{}, None, 3, b"i.json"])
def test_what_is_no_path_is_refused_by_name(wrong: Any) -> None:
    with pytest.raises(TypeError, match=r"^path: expected text or a path, got "):
        hadar.Instance.load(wrong)
    with pytest.raises(TypeError, match=r"^path: expected text or a path, got "):
        hadar.Instance.parse(DATA).save(wrong)
