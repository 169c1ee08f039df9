"""Shipped witnesses: the counterexamples and golden cases of the claims, as JSON files that `replay` takes by name."""
