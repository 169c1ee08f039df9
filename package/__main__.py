"""``python -m dlsched``: the command."""

import sys

from dlsched.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
