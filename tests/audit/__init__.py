"""The audit: instances on ordinary and badly scaled floats against exhaustive search, and mutated inputs."""
