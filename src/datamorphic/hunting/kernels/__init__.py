"""What generators and selectors compute, step by step: compiled where numba is installed, the same without it."""
