"""The formulations of DMLRS."""

from __future__ import annotations

from dlsched.models.dmlrs.aggregate import AGGREGATE, COMPACT_MILP
from dlsched.models.dmlrs.asynchronous import ASYNC
from dlsched.models.dmlrs.compact import COMPACT
from dlsched.models.dmlrs.dual import DUAL
from dlsched.models.dmlrs.external_slot import EXTERNAL_SLOT, EXTERNAL_SLOT_PRINTED
from dlsched.models.dmlrs.reformulated import SCHEDULES

FORMULATIONS = (COMPACT, ASYNC, COMPACT_MILP, AGGREGATE, SCHEDULES, DUAL, EXTERNAL_SLOT, EXTERNAL_SLOT_PRINTED)
