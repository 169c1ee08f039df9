"""Whether items fit the machines in a slot: rooms as integers, and best fit."""

from __future__ import annotations

import numpy as np
import pytest

from dlsched.algorithms.exact.dmlrs.packing import Coding


@pytest.mark.parametrize("seed", range(20))
def test_an_item_is_placed_where_every_resource_suffices_and_nowhere_else(seed: int) -> None:
    rng = np.random.default_rng(seed)
    machines, resources = rng.integers(1, [6, 5])
    capacity = rng.integers(0, rng.choice([2, 9, 70_000]), (machines, resources))
    # Among them some of exactly what a machine has, of one more, and of far more than all have.
    needs = np.concatenate([capacity, capacity + rng.integers(0, 2, capacity.shape), 1_000 * capacity])
    for first in range(resources):
        coding = Coding(capacity, first)
        homes, rooms = coding.place_all(np.repeat(coding.rooms[None], len(needs), axis=0), coding.code(needs)[:, None])
        for need, home, room in zip(needs, homes[:, 0], coding.read(rooms), strict=True):
            hosts = np.flatnonzero((need <= capacity).all(axis=1))
            assert home in hosts if len(hosts) else home == -1
            if home >= 0:
                assert (room[home] == capacity[home] - need).all()


def test_more_machines_need_no_longer_integers() -> None:
    assert Coding(np.full((10_000, 4), 12_000)).dtype == Coding(np.full((1, 4), 12_000)).dtype == np.int64
