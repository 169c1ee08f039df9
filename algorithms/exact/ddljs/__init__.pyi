from .method import own_unit as own_unit
from .method import solve as solve
from .slot import SlotOptimum as SlotOptimum
from .slot import embed as embed
