from .method import solve as solve
from .slot import SlotOptimum as SlotOptimum
from .slot import embed as embed
