"""The suite that every transformation joins: add a `Case` to `cases.py`, and its special cases beside it."""
