"""Runs: the one loop that answers a strategy, with everything a run needs around it."""
