"""Exhaustive reference solvers for tiny instances, written on raw JSON data and on nothing of the package."""
