from .method import own_unit as own_unit
from .method import solve as solve
