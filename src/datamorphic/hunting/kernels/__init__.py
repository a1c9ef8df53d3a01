"""The computations of generators and selectors, compiled if numba is installed."""
