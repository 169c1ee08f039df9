"""The formulations of SMD."""

from __future__ import annotations

from dlsched.models.smd.knapsack import KNAPSACK
from dlsched.models.smd.milp import MILP, MILP_LAYERS
from dlsched.models.smd.minlp import MINLP
from dlsched.models.smd.single import INNER

FORMULATIONS = (MINLP, MILP, MILP_LAYERS, INNER, KNAPSACK)
