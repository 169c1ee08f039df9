"""Records: copies of them, and what is derived from their fields."""

from __future__ import annotations

import numpy as np
import pytest

from dlsched.models import ddljs, dmlrs, hadar, smd
from dlsched.models.document import Document


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


def test_what_a_job_derives_follows_a_copy() -> None:
    job = ddljs.random(np.random.default_rng(3)).jobs[0]
    assert job.model_copy(update={"budget": {"resource1": 0}}).budget_slots == 0
    assert job.budget_slots != 0
    assert job.model_copy(update={"budget": {"resource1": 0}}).budget_slots == 0
