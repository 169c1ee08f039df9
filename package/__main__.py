"""The command, as ``python -m dlsched`` and as the script of that name."""

from __future__ import annotations

from typing import NoReturn

from dlsched.cli import interrupt


def process() -> NoReturn:
    """Run the command as a process of its own, which Ctrl-C ends in a line from its first moments on."""
    interrupt.end_at_once()
    from dlsched.cli import main

    main.process()


if __name__ == "__main__":
    process()
