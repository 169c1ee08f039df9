"""``python -m dlsched``: the command."""

from dlsched.cli.main import process

if __name__ == "__main__":
    process()
