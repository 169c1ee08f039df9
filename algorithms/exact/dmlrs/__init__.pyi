from .solver import solve as solve
