from .method import solve as solve
