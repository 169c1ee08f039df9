"""What own methods reach, beside other solvers, in one run: ``python -m benchmarks --help``."""
