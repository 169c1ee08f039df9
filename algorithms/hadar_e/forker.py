"""Job Forker: a job becomes copies, each with an id of its own (Section V-A)."""

from __future__ import annotations

from collections.abc import Sequence

from dlsched.arguments import at_least, checked
from dlsched.errors import InputError


@checked
def copy_id(parent_id: int, i: int, max_job_count: int) -> int:
    """Return the id of the i-th copy of a job, ``max_job_count * i + parent_id``.

    Ids are unique, and none is a parent's, exactly where ``0 <= parent_id < max_job_count``: then the copy and the
    parent are quotient and remainder of the id.

    Parameters
    ----------
    parent_id : int
    i : int
        From 1.
    max_job_count : int
        Most jobs that are there at once.

    Raises
    ------
    InputError
        If the parent's id is not in that range, or the copy's number is below 1.

    Examples
    --------
    >>> from dlsched.algorithms import hadar_e
    >>> hadar_e.copy_id(parent_id=2, i=1, max_job_count=10)
    12
    >>> hadar_e.origin(12, max_job_count=10)
    (2, 1)
    """
    at_least(1, i=i, max_job_count=max_job_count)
    if not 0 <= parent_id < max_job_count:
        raise InputError(
            f"parent_id: {parent_id} is not in 0..{max_job_count - 1}, so that ids of copies would not be unique"
        )
    return max_job_count * i + parent_id


@checked
def origin(id: int, max_job_count: int) -> tuple[int, int]:
    """Return the parent's id and the number of the copy that has an id.

    Raises
    ------
    InputError
        If no copy has that id.

    Examples
    --------
    >>> from dlsched.algorithms import hadar_e
    >>> [hadar_e.origin(id, max_job_count=10) for id in (10, 21, 32)]
    [(0, 1), (1, 2), (2, 3)]
    """
    at_least(1, max_job_count=max_job_count)
    if id < max_job_count:
        raise InputError(f"id: {id} is no copy's; those begin with {max_job_count}")
    i, parent_id = divmod(id, max_job_count)
    return parent_id, i


@checked
def fork(parent_ids: Sequence[int], copies: int, max_job_count: int) -> dict[int, tuple[int, ...]]:
    """Return the ids of the copies of each job, by the parent's id.

    Raises
    ------
    InputError
        As `copy_id`, and if two jobs have the same id.

    Examples
    --------
    >>> from dlsched.algorithms import hadar_e
    >>> hadar_e.fork([0, 1, 2], copies=3, max_job_count=10)
    {0: (10, 20, 30), 1: (11, 21, 31), 2: (12, 22, 32)}
    """
    at_least(1, copies=copies)
    if len(set(parent_ids)) < len(parent_ids):
        raise InputError("parent_ids: two jobs have the same id, so that ids of copies would not be unique")
    return {parent: tuple(copy_id(parent, i, max_job_count) for i in range(1, copies + 1)) for parent in parent_ids}
