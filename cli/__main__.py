"""``python -m dlsched.cli``: the command `dlsched`."""

import sys

from dlsched.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
