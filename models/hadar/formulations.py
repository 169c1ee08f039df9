"""The formulations of Hadar."""

from __future__ import annotations

from dlsched.models.hadar.aggregate import AGGREGATE
from dlsched.models.hadar.hall import HALL
from dlsched.models.hadar.p1 import P1, P1_ADMISSION
from dlsched.models.hadar.p2 import P2
from dlsched.models.hadar.p3 import P3
from dlsched.models.hadar.response import RESPONSE
from dlsched.models.hadar.round import ROUND

FORMULATIONS = (P1, P1_ADMISSION, P2, P3, RESPONSE, ROUND, AGGREGATE, HALL)
