"""Random DDLJS instances as JSON, with links that change or are half duplex, and workers with places of their own."""

from __future__ import annotations

from typing import Any

import numpy as np

from dlsched.models.ddljs import random


def draw(seed: int, **sizes: Any) -> dict[str, Any]:
    """A random instance's JSON; with one job in three bound to servers of its own."""
    rng = np.random.default_rng(seed)
    data = random(rng, varying=seed % 2 == 0, half=seed % 3 == 0, **sizes).dump()
    servers = [node["name"] for node in data["nodes"] if any(node.get("capacity", {}).values())]
    for one in data["jobs"]:
        if servers and rng.random() < 1 / 3:
            one["placement"] = [
                sorted(rng.choice(servers, size=int(rng.integers(1, len(servers) + 1)), replace=False).tolist())
                for _ in range(one["max_workers"])
            ]
    return data
