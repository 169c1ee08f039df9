from .slot import SlotOptimum as SlotOptimum
from .slot import embed as embed
from .solver import solve as solve
