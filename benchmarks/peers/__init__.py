"""Benchmarks against other tools, each installed in an environment of its own: `make bench-peers`."""
