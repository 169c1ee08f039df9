"""Deep-learning training jobs and their schedules: models, exact optima, algorithms, executable theorems.

Data flows one way, and each room imports only rooms before it: `dlsched.solvers`, `dlsched.models`,
`dlsched.relaxations`, `dlsched.rounding`, `dlsched.algorithms`, `dlsched.bounds`, `dlsched.figures`, `dlsched.traces`,
`dlsched.cli`. What stands in `dlsched` itself (`halt`, `errors`, `arguments`, `arithmetic`, ...) serves all rooms.
"""

from __future__ import annotations

import pkgutil

__path__ = pkgutil.extend_path(__path__, __name__)


def __getattr__(name: str) -> str:
    if name != "__version__":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib.metadata import version

    return version(__name__)
