"""The formulations of SMD."""

from __future__ import annotations

from dlsched.models.smd.knapsack import KNAPSACK
from dlsched.models.smd.milp import MILP, MILP_LAYERS
from dlsched.models.smd.minlp import MINLP
from dlsched.models.smd.single import INNER
from dlsched.models.smd.sum_of_ratios import RATIO_BOX, RATIO_CAPS

FORMULATIONS = (MINLP, MILP, MILP_LAYERS, INNER, RATIO_BOX, RATIO_CAPS, KNAPSACK)
