"""Adequacy of test sets by trees: the capabilities `cover` and `select`."""
