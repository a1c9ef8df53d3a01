"""Runs: the loop that answers flows, and the store that keeps runs."""
